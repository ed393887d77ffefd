"""Several graphs in one server: chosen by an argument or by a path, and shown only to those who may see them."""

import asyncio
import json
import sys
import threading
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any, Literal

import httpx2
import jsonschema
import pytest
from mcp import Client, MCPError, StdioServerParameters
from mcp.client.client import ConnectMode
from mcp_types import PromptReference, ResourceTemplateReference, TextContent, TextResourceContents, Tool

from gateway import resources
from gateway.api import open_gateway
from gateway.arguments import BY_TOOL
from gateway.errors import ConfigurationError
from gateway.server.calls import MOST_RUNNING, SHARE
from gateway.server.client import Client as Authenticated
from gateway.server.gateway_opener import GatewayOpener, OnFileRead
from gateway.server.graph_handlers import INSTRUCTIONS, published_for, server_of_all
from gateway.server.graph_set import CallsByGraph, ChosenBy, GraphSet, ServedGraph
from gateway.server.tools import LIMIT
from gateway.settings.graphs_file import LONGEST_LINE, LONGEST_NAME, MOST_GRAPHS
from gateway.settings.profile import Profile, ServerSettings
from gateway.settings.vocabulary import IdentitySettings
from gateway.tools.gateway import Gateway
from tests.calls import PATIENT_SERVER
from tests.cases import await_each, check_each
from tests.server.graphs.conftest import connected, graphs, served_over_http
from tests.servers.loopback import HOST, free_port, listening
from tests.shared_data import shared_data

pytestmark = pytest.mark.anyio

NAMES = ["pills", "films", "gone"]
WARFARIN = {"seeds": ["drug:warfarin"], "max_hops": 1}


def text_of(result: Any) -> str:
    (content,) = result.content
    assert isinstance(content, TextContent)
    return content.text


def size_of(tools: Sequence[Tool]) -> int:
    written = [tool.model_dump(mode="json", by_alias=True, exclude_none=True) for tool in tools]
    return len(json.dumps(written, ensure_ascii=False, separators=(",", ":")))


async def test_each_tool_takes_the_graph_and_the_first_one_says_what_each_is_about(era: ConnectMode) -> None:
    async with graphs() as several, Client(server_of_all(several, CallsByGraph(several)), mode=era) as client:
        tools = (await client.list_tools()).tools
    assert [tool.name for tool in tools] == list(BY_TOOL)
    for tool in tools:
        assert next(iter(tool.input_schema["properties"])) == "graph"
        assert tool.input_schema["properties"]["graph"]["enum"] == NAMES
        assert ("graph" in tool.input_schema.get("required", ())) is (tool.name != "describe_schema")
        assert len(tool.description or "") <= LIMIT
    about = tools[0].input_schema["properties"]["graph"]["description"]
    assert "pills: Drugs, diseases and genes; films: Films and who made them" in about
    assert len(INSTRUCTIONS) <= LIMIT


async def test_nothing_of_a_graph_is_in_a_description(era: ConnectMode) -> None:
    async with graphs() as several, Client(server_of_all(several, CallsByGraph(several)), mode=era) as client:
        await client.call_tool("describe_schema", {"graph": "pills"})
        tools = (await client.list_tools()).tools
    written = json.dumps([tool.model_dump(mode="json") for tool in tools])
    assert "m:Disease" not in written
    assert "warfarin" not in written


def test_the_list_of_tools_takes_few_characters_however_many_graphs_there_are() -> None:
    line = "x" * LONGEST_LINE

    def check(case: tuple[int, int]) -> None:
        count, length = case
        names = [f"{'n' * (length - 2)}{number:02}" for number in range(count)]
        tools = published_for(tuple((name, line) for name in names), "compact", explain=False)
        assert size_of(tools) <= 17_000
        assert all(len(tool.description or "") <= LIMIT for tool in tools)
        assert all("graph" in tool.input_schema["properties"] for tool in tools)

    check_each([(1, 5), (3, 8), (5, 20), (12, 12), (20, 20), (MOST_GRAPHS, LONGEST_NAME), (0, 2)], check)


@pytest.mark.slow
async def test_a_call_is_answered_by_the_graph_that_it_names_as_its_own_server_would(era: ConnectMode) -> None:
    async with (
        served_over_http(graphs()) as url,
        connected(f"{url}/mcp", era) as together,
        connected(f"{url}/mcp/pills", era) as alone,
    ):
        calls: list[tuple[str, dict[str, Any]]] = [
            ("describe_schema", {"all": True}),
            ("search_entities", {"query": "warfarin"}),
            ("bfs_query", WARFARIN),
            ("describe_entity", {"id": "drug:warfarin"}),
            ("describe_entities", {"ids": ["drug:warfarin", "drug:none"]}),
            ("intersect_subgraphs", {"seeds": ["drug:warfarin", "drug:aspirin"], "k": 1}),
        ]
        schemas = {tool.name: tool.output_schema or {} for tool in (await together.list_tools()).tools}

        async def check(case: tuple[str, dict[str, Any]]) -> None:
            tool, arguments = case
            answer = await together.call_tool(tool, {"graph": "pills", **arguments})
            assert not answer.is_error, text_of(answer)
            assert answer.content == (await alone.call_tool(tool, arguments)).content
            jsonschema.validate(answer.structured_content, schemas[tool])

        await await_each(calls, check)


async def test_a_graph_under_its_own_path_has_the_tools_of_a_server_of_one_graph(era: ConnectMode) -> None:
    async with served_over_http(graphs()) as url, connected(f"{url}/mcp/pills", era) as client:
        tools = (await client.list_tools()).tools
        answer = await client.call_tool("bfs_query", WARFARIN)
        refused = await client.call_tool("bfs_query", {"graph": "pills", **WARFARIN})
        schema = await client.read_resource("bfs-ql://schema")
    assert all("graph" not in tool.input_schema["properties"] for tool in tools)
    assert "m:Disease" in (tools[2].description or "")
    assert size_of(tools) <= 16_000
    assert not answer.is_error
    assert "no argument 'graph'" in text_of(refused)
    assert schema.contents


@pytest.mark.slow
async def test_the_operator_may_serve_one_way_alone() -> None:
    ways: list[tuple[ChosenBy, str, int]] = [
        ("argument", "/mcp/pills", 404),
        ("path", "/mcp", 404),
        ("path", "/mcp/nothing", 404),
        ("path", "/mcp/sills/", 404),
        # It is served, and this is no request to it.
        ("path", "/mcp/pills/", 400),
        ("both", "/mcp/nothing", 404),
        ("both", "/else", 404),
    ]

    async def check(case: tuple[ChosenBy, str, int]) -> None:
        way, path, status = case
        async with served_over_http(graphs(way)) as url, httpx2.AsyncClient() as http:
            assert (await http.post(url + path, json={})).status_code == status

    await await_each(ways, check)


async def test_answers_in_the_reference_shape_fit_their_schemas() -> None:
    profile = Profile(server=ServerSettings(shape="reference"))
    source = resources.folder("fixtures") / "medical.ttl"
    opener = GatewayOpener(profile, lambda _: open_gateway(source, profile=profile))
    async with (
        GraphSet([ServedGraph("pills", "Drugs.", opener)]) as several,
        Client(server_of_all(several, CallsByGraph(several))) as client,
    ):
        schemas = {tool.name: tool.output_schema or {} for tool in (await client.list_tools()).tools}
        listed = await client.call_tool("describe_schema", {})
        schema = await client.call_tool("describe_schema", {"graph": "pills"})
        answer = await client.call_tool("bfs_query", {"graph": "pills", **WARFARIN})
    for result, tool in ((listed, "describe_schema"), (schema, "describe_schema"), (answer, "bfs_query")):
        jsonschema.validate(result.structured_content, schemas[tool])
    assert isinstance((answer.structured_content or {})["nodes"], list)


async def test_describe_schema_without_a_graph_lists_them_and_says_which_cannot_be_opened(era: ConnectMode) -> None:
    async with graphs() as several, Client(server_of_all(several, CallsByGraph(several)), mode=era) as client:
        failed = await client.call_tool("describe_schema", {"graph": "gone"})
        listed = await client.call_tool("describe_schema", {})
        schema = (await client.list_tools()).tools[0].output_schema or {}
        wrong = await client.call_tool("describe_schema", {"al": True})
        other = await client.call_tool("bfs_query", {"graph": "pills", **WARFARIN})
    assert "gone.ttl: there is no such file." in text_of(failed)
    answer = listed.structured_content or {}
    assert answer["graphs"] == {
        "pills": "Drugs, diseases and genes.",
        "films": "Films and who made them.",
        "gone": "What is not there.",
    }
    assert list(answer["unavailable"]) == ["gone"]
    assert answer["complete"] is True
    jsonschema.validate(answer, schema)
    assert "no argument 'al'" in text_of(wrong)
    assert not other.is_error


WRONG: Sequence[tuple[object, str]] = [
    (None, "The argument graph is missing. The graphs are pills, films, gone."),
    ("", "The argument graph is missing."),
    ("Pills", "There is no graph 'Pills'. The graphs are pills, films, gone."),
    ("films ", "There is no graph 'films '."),
    (["films"], "There is no graph ['films']."),
    (7, "There is no graph 7."),
    ("x" * 10_000, "There is no graph"),
]


async def test_a_wrong_graph_is_an_error_that_says_which_there_are(era: ConnectMode) -> None:
    async with graphs() as several, Client(server_of_all(several, CallsByGraph(several)), mode=era) as client:

        async def check(case: tuple[object, str]) -> None:
            given, expected = case
            result = await client.call_tool("bfs_query", {"graph": given, **WARFARIN})
            assert result.is_error
            assert expected in text_of(result)
            assert "describe_schema without graph" in text_of(result)
            assert len(text_of(result)) < 600

        await await_each(WRONG, check)
        assert "There is no tool 'bfs'" in text_of(await client.call_tool("bfs", {"graph": "films"}))


async def test_a_graph_that_may_not_be_seen_reads_as_one_that_is_not_there(era: ConnectMode) -> None:
    films = {"films": "Films and who made them."}
    async with served_over_http(graphs()) as url, connected(f"{url}/mcp", era, "one") as client:
        tools = (await client.list_tools()).tools
        listed = await client.call_tool("describe_schema", {})
        errors = [
            text_of(await client.call_tool("bfs_query", {"graph": name, **WARFARIN})) for name in ("pills", "sills")
        ]
        uris = [resource.uri for resource in (await client.list_resources()).resources]
        template = ResourceTemplateReference(type="ref/resource", uri="bfs-ql://{graph}/entity/{id}")
        proposed = await client.complete(template, {"name": "graph", "value": ""})
        hidden = await client.complete(template, {"name": "id", "value": "drug:warf"}, {"graph": "pills"})
        read = []
        for name in ("pills", "sills"):
            with pytest.raises(MCPError) as raised:
                await client.read_resource(f"bfs-ql://{name}/schema")
            read.append(str(raised.value))
        prompted = []
        for name in ("pills", "sills"):
            with pytest.raises(MCPError) as raised:
                await client.get_prompt("explore", {"graph": name, "name": "warfarin"})
            prompted.append(str(raised.value))
        instructions = client.instructions or ""
    assert all(tool.input_schema["properties"]["graph"]["enum"] == ["films"] for tool in tools)
    assert (listed.structured_content or {})["graphs"] == films
    for one, other in (errors, read, prompted):
        assert one.replace("pills", "sills") == other
        assert "The graphs are films." in one
    assert uris == ["bfs-ql://films/schema"]
    assert proposed.completion.values == ["films"]
    assert hidden.completion.values == []
    seen = json.dumps([tool.model_dump(mode="json") for tool in tools]) + text_of(listed) + instructions
    assert "pills" not in seen
    assert "Drugs" not in seen


async def test_the_path_of_a_hidden_graph_is_that_of_an_unknown_one() -> None:
    async with served_over_http(graphs()) as url, httpx2.AsyncClient() as http:
        answers = []
        for path in ("pills", "sills", "pills/", "sills/"):
            for method in ("GET", "POST", "DELETE", "OPTIONS"):
                answer = await http.request(method, f"{url}/mcp/{path}", headers={"Authorization": "one"})
                answers.append((method, answer.status_code, answer.text, answer.headers.get("content-type")))
        seen = await http.get(f"{url}/mcp/films", headers={"Authorization": "one"})
    assert len({answer[1:] for answer in answers}) == 1
    assert answers[0][1] == 404
    assert seen.status_code != 404


async def test_a_client_that_may_see_no_graph_is_told_so(era: ConnectMode) -> None:
    async with served_over_http(graphs()) as url, connected(f"{url}/mcp", era, "none") as client:
        tools = (await client.list_tools()).tools
        listed = await client.call_tool("describe_schema", {})
        refused = await client.call_tool("search_entities", {"graph": "films", "query": "x"})
    assert len(tools) == len(BY_TOOL)
    assert "enum" not in tools[1].input_schema["properties"]["graph"]
    assert (listed.structured_content or {})["graphs"] == {}
    assert text_of(refused) == "There is no graph 'films'. You may see no graph."


async def test_resources_and_prompts_name_their_graph(era: ConnectMode) -> None:
    explore = PromptReference(type="ref/prompt", name="explore")
    async with graphs() as several, Client(server_of_all(several, CallsByGraph(several)), mode=era) as client:
        listed = (await client.list_resources()).resources
        templates = (await client.list_resource_templates()).resource_templates
        schema = await client.read_resource("bfs-ql://pills/schema")
        entity = await client.read_resource("bfs-ql://pills/entity/drug%3Awarfarin")
        answer = await client.call_tool("describe_entity", {"graph": "pills", "id": "drug:warfarin"})
        prompts = (await client.list_prompts()).prompts
        proposed = await client.complete(explore, {"name": "name", "value": "warf"}, {"graph": "pills"})
        nothing = await client.complete(explore, {"name": "name", "value": "warf"})
        graph = await client.complete(explore, {"name": "graph", "value": "fi"})
        prompt = await client.get_prompt("explore", {"graph": "pills", "name": "warfarin"})
        for uri in ("bfs-ql://schema", "bfs-ql://pills/nothing", "bfs-ql://pills", "http://pills/schema"):
            with pytest.raises(MCPError, match="There is no resource") as refused:
                await client.read_resource(uri)
            assert refused.value.data == {"uri": uri}
        with pytest.raises(MCPError, match="no entity") as refused:
            await client.read_resource("bfs-ql://pills/entity/drug%3Awarfarine")
        assert refused.value.data == {"uri": "bfs-ql://pills/entity/drug%3Awarfarine"}
    assert [resource.uri for resource in listed] == [f"bfs-ql://{name}/schema" for name in NAMES]
    assert [template.uri_template for template in templates] == ["bfs-ql://{graph}/entity/{id}"]
    assert [content.uri for content in schema.contents] == ["bfs-ql://pills/schema"]
    (content,) = entity.contents
    assert isinstance(content, TextResourceContents)
    assert content.uri == "bfs-ql://pills/entity/drug%3Awarfarin"
    assert json.loads(content.text) == answer.structured_content
    assert all(next(argument.name for argument in each.arguments or ()) == "graph" for each in prompts)
    assert proposed.completion.values[0] == "warfarin"
    assert nothing.completion.values == []
    assert graph.completion.values == ["films"]
    assert isinstance(prompt.messages[0].content, TextContent)
    assert prompt.messages[0].content.text.endswith('Give each tool the argument graph="pills".')


async def test_a_graph_that_keeps_calls_waiting_leaves_the_others_alone(era: ConnectMode) -> None:
    release = threading.Event()

    def wait(_: OnFileRead) -> Gateway:
        release.wait()
        raise ConfigurationError("It took too long.")

    slow = ServedGraph("slow", "Slow.", GatewayOpener(Profile(), wait))
    several = GraphSet([slow, *graphs().all])
    async with several, Client(server_of_all(several, CallsByGraph(several, SHARE)), mode=era) as client:
        waiting = [
            asyncio.create_task(client.call_tool("describe_schema", {"graph": "slow"})) for _ in range(2 * MOST_RUNNING)
        ]
        answer = await client.call_tool("bfs_query", {"graph": "pills", **WARFARIN})
        ended = [task.done() for task in waiting]
        release.set()
        failed = await asyncio.gather(*waiting)
    assert not answer.is_error
    assert not any(ended)
    assert all("It took too long." in text_of(result) for result in failed)


def test_a_client_sees_the_graphs_of_its_token_in_the_order_of_the_operator() -> None:
    several = graphs()
    assert [graph.name for graph in several.visible(None)] == NAMES
    assert [graph.name for graph in several.visible(Authenticated("x", frozenset({"gone", "pills"})))] == [
        "pills",
        "gone",
    ]


SECONDS = 240
"""How long anything here may take before it counts as hung; wd50k is parsed meanwhile."""
REFERENCES = {"medlit": "medlit.ttl.gz", "movies": "movies.ttl.gz", "wd50k": "wd50k.nt.gz"}

QUESTIONS: list[tuple[str, str, dict[str, Any], tuple[int, int]]] = [
    ("medlit", "bfs_query", {"seeds": ["RxNorm:3251"], "max_hops": 2}, (84, 99)),
    ("medlit", "intersect_subgraphs", {"seeds": ["RxNorm:3251", "MeSH:D003480"], "k": 2}, (70, 97)),
    ("movies", "intersect_subgraphs", {"seeds": ["person:Tom_Hanks", "person:Meg_Ryan"], "k": 2}, (16, 18)),
    ("wd50k", "bfs_query", {"seeds": ["wd:Q83338"], "max_hops": 1}, (78, 91)),
    ("wd50k", "bfs_query", {"seeds": ["wd:Q1025401"], "max_hops": 2}, (130, 153)),
]
"""Questions with the numbers of nodes and edges in `../shared/data`, which were counted without the gateway."""


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file that names the three graphs, and parsed files that all tests share."""
    folder = tmp_path_factory.mktemp("graphs")
    lines = []
    for name, graph in REFERENCES.items():
        profile = "wikidata-local" if name == "wd50k" else "local"
        lines += [f"[graphs.{name}]", f'about = "The graph {name}."', f"graph = {json.dumps(str(shared_data(graph)))}"]
        lines += [f'profile = "{profile}"', 'store = "stored"', f"limits = {{ deadline_seconds = {SECONDS} }}"]
    path = folder / "graphs.toml"
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


@asynccontextmanager
async def clients(way: Literal["argument", "path"], wire: str, era: ConnectMode, file: Path) -> AsyncIterator[Any]:
    """Start a server process, and yield a function that calls a tool about a graph."""
    command = ["-m", "gateway", "serve", "--graphs", str(file)]
    async with AsyncExitStack() as stack:
        if wire == "stdio":
            parameters = StdioServerParameters(command=sys.executable, args=command)
            one = await stack.enter_async_context(Client(parameters, mode=era))
            by_name = dict.fromkeys(REFERENCES, one)
        else:
            port = free_port()
            process = await asyncio.create_subprocess_exec(
                *(sys.executable, *command, "--http", "--port", str(port), "--graphs-by", way),
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.DEVNULL,
                stderr=asyncio.subprocess.DEVNULL,
            )
            stack.push_async_callback(_ended, process)
            await listening(port)
            url = f"http://{HOST}:{port}/mcp"
            if way == "argument":
                by_name = dict.fromkeys(REFERENCES, await stack.enter_async_context(Client(url, mode=era)))
            else:
                by_name = {
                    name: await stack.enter_async_context(Client(f"{url}/{name}", mode=era)) for name in REFERENCES
                }

        async def call(graph: str, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
            chosen = {"graph": graph} if way == "argument" else {}
            result = await by_name[graph].call_tool(tool, {**chosen, **arguments})
            assert not result.is_error, result.content
            answer: dict[str, Any] = result.structured_content or {}
            return answer

        yield call


async def _ended(process: asyncio.subprocess.Process) -> None:
    if process.returncode is None:
        process.terminate()
    await asyncio.wait_for(process.wait(), SECONDS)


@pytest.mark.server
@pytest.mark.large
@pytest.mark.data
@pytest.mark.parametrize(("way", "wire"), [("argument", "stdio"), ("argument", "http"), ("path", "http")])
async def test_three_graphs_answer_as_their_known_answers_say(
    way: Literal["argument", "path"], wire: str, era: ConnectMode, file: Path
) -> None:
    async with asyncio.timeout(SECONDS), clients(way, wire, era, file) as call:
        for graph, tool, arguments, expected in QUESTIONS:
            answer = await call(graph, tool, {**arguments, "topology_only": True})
            assert (answer["node_count"], answer["edge_count"]) == expected, (graph, arguments)
            assert answer["complete"] is True
        found = await call("movies", "search_entities", {"query": "Tom Hanks"})
        described = await call("medlit", "describe_entity", {"id": "MeSH:D003480"})
    assert found["result"][0][0].startswith("person:Tom_Hanks")
    assert described["entity_type"] == "m:disease"


FILES = {"authors": "authors.ttl", "library": "library.ttl", "films": "films.ttl"}
IDENTITY = IdentitySettings(
    same_as=("http://www.w3.org/2002/07/owl#sameAs", "http://www.w3.org/2004/02/skos/core#exactMatch"),
    formatters={"https://authors.example.org/terms/shelfMark": "https://library.example.org/item/$1"},
)
UNKNOWN = "atlas"

CALLS: Sequence[tuple[str, dict[str, Any]]] = [
    ("describe_schema", {}),
    ("search_entities", {"query": "Joyce"}),
    ("bfs_query", {"seeds": ["https://library.example.org/item/p-11"], "max_hops": 1}),
    ("describe_entity", {"id": "https://authors.example.org/person/Joyce"}),
    ("describe_entities", {"ids": ["https://places.example.org/Dublin", "https://authors.example.org/book/Ulysses"]}),
    ("intersect_subgraphs", {"seeds": ["http://example.org/films/x", "https://places.example.org/Dublin"], "k": 1}),
    ("no_tool", {}),
]


@pytest.fixture
async def all_graphs() -> AsyncIterator[dict[str, ServedGraph]]:
    """All graphs, open."""
    folder = resources.folder("fixtures")
    found = {}
    for name, file in FILES.items():
        gateway = open_gateway(folder / file, profile=Profile(identity=IDENTITY, server=PATIENT_SERVER))
        await gateway.wait_until_ready()
        found[name] = ServedGraph(name, f"The graph {name}.", GatewayOpener.over(gateway))
    yield found
    for graph in found.values():
        await graph.opener.close()


async def everything(client: Client) -> list[str]:
    """Return all that a client is told, whatever it asks."""

    async def told(asking: Any) -> str:
        try:
            return str((await asking).model_dump(mode="json"))
        except MCPError as error:
            return f"error: {error}"

    names = [*FILES, UNKNOWN, ""]
    template = ResourceTemplateReference(type="ref/resource", uri="bfs-ql://{graph}/entity/{id}")
    explore = PromptReference(type="ref/prompt", name="explore")
    answers = [
        str(client.instructions),
        await told(client.list_tools()),
        await told(client.list_resources()),
        await told(client.list_resource_templates()),
        await told(client.list_prompts()),
        await told(client.call_tool("describe_schema", {})),
        await told(client.complete(template, {"name": "graph", "value": ""})),
    ]
    for name in names:
        answers += [await told(client.call_tool(tool, {**given, "graph": name})) for tool, given in CALLS]
        answers += [
            await told(client.read_resource(f"bfs-ql://{name}/schema")),
            await told(client.read_resource(f"bfs-ql://{name}/entity/place%3ADublin")),
            await told(client.get_prompt("explore", {"graph": name, "name": "x"})),
            await told(client.complete(template, {"name": "graph", "value": name[:2]})),
            await told(client.complete(template, {"name": "id", "value": "au:Joyce"}, {"graph": name})),
            await told(client.complete(explore, {"name": "name", "value": "Joyce"}, {"graph": name})),
        ]
    return answers


@pytest.mark.slow
async def test_what_is_hidden_reads_as_if_it_were_not_there(
    all_graphs: dict[str, ServedGraph], era: ConnectMode
) -> None:
    several = GraphSet(list(all_graphs.values()))
    # Those that see one graph each are every pair of a graph that is seen and one that is not.
    subsets = [(), *((name,) for name in FILES), tuple(FILES)]
    async with served_over_http(several, closing=False) as url:
        for seen in subsets:
            alone = GraphSet([all_graphs[name] for name in seen])
            async with Client(server_of_all(alone, CallsByGraph(alone)), mode=era) as client:
                expected = await everything(client)
            async with connected(f"{url}/mcp", era, f"only={','.join(seen)}") as client:
                given = await everything(client)
            assert given == expected, seen
            # A name is repeated only to the client that wrote it.
            listed = " ".join(given[:7])
            assert not [name for name in FILES if name not in seen and f"'{name}'" in listed]
