"""The six tools as a client sees them, in both protocol eras, and notifications that they changed."""

import asyncio
import json
import re
from collections.abc import AsyncIterator, Sequence
from typing import Any, cast

import anyio
import jsonschema
import pytest
from mcp import Client
from mcp.client.client import ConnectMode
from mcp.server.subscriptions import InMemorySubscriptionBus
from mcp_types import NotificationParams

from gateway import resources
from gateway.answers.models import SchemaBasis, SchemaResult
from gateway.api import open_gateway
from gateway.arguments import BY_TOOL
from gateway.server import tools as texts
from gateway.server.app import build
from gateway.server.client import Context
from gateway.server.resources import ChangeNotifier
from gateway.server.tools import compact_schema, generated_schemas, published, stored_schemas
from gateway.settings.profile import Profile, ServerSettings, ShapeName
from gateway.tools.gateway import Gateway
from tests.cases import await_each

pytestmark = pytest.mark.anyio

NAMES = [
    "describe_schema",
    "search_entities",
    "bfs_query",
    "describe_entity",
    "describe_entities",
    "intersect_subgraphs",
]


@pytest.fixture
async def gateway() -> AsyncIterator[Gateway]:
    async with open_gateway(resources.folder("fixtures") / "medical.ttl") as opened:
        yield opened


async def error_of(client: Client, tool: str, **arguments: Any) -> str:
    result = await client.call_tool(tool, arguments)
    assert result.is_error
    assert result.structured_content is None
    (content,) = result.content
    text: str = content.text  # type: ignore[union-attr]  # errors are text
    return text


def test_the_stored_schemas_are_those_of_the_models() -> None:
    # Where this fails: `python -m gateway.server.tools`, and read what changed.
    assert stored_schemas() == generated_schemas()


async def test_the_six_tools_are_listed_with_titles_and_honest_annotations(gateway: Gateway, era: ConnectMode) -> None:
    async with Client(await build(gateway), mode=era) as client:
        tools = (await client.list_tools()).tools
    assert [tool.name for tool in tools] == NAMES == list(BY_TOOL)
    for tool in tools:
        assert tool.title
        assert tool.annotations is not None
        assert tool.annotations.read_only_hint is True
        assert tool.annotations.idempotent_hint is True
        assert tool.annotations.open_world_hint is True
        assert tool.annotations.destructive_hint is False
        assert tool.input_schema["additionalProperties"] is False
        assert tool.output_schema is not None
        assert tool.output_schema["type"] == "object"


async def test_descriptions_and_instructions_stay_below_what_clients_cut(gateway: Gateway, era: ConnectMode) -> None:
    async with Client(await build(gateway), mode=era) as client:
        tools = (await client.list_tools()).tools
        instructions = client.instructions or ""
    assert "describe_schema" in instructions
    for text in (instructions, *(tool.description or "" for tool in tools)):
        assert 0 < len(text) <= texts.LIMIT


SHAPES: Sequence[ShapeName] = ("compact", "reference")


@pytest.mark.parametrize(("graph", "first"), [("medical.ttl", "m:Disease"), ("films.ttl", ":Person")])
async def test_the_list_of_tools_takes_few_characters(era: ConnectMode, graph: str, first: str) -> None:
    # 3,900 tokens of o200k, which are 4.1 characters each here: descriptions are prose, and schemas repeat themselves.
    most = 16_000
    profile = Profile(server=ServerSettings(shape="compact"))
    async with (
        open_gateway(resources.folder("fixtures") / graph, profile=profile) as gateway,
        Client(await build(gateway), mode=era) as client,
    ):
        tools = (await client.list_tools()).tools
    assert f"entity types: {first}" in (tools[2].description or "")
    written = [tool.model_dump(mode="json", by_alias=True, exclude_none=True) for tool in tools]
    assert len(json.dumps(written, ensure_ascii=False, separators=(",", ":"))) <= most


def test_texts_name_only_tools_arguments_and_fields_that_exist() -> None:
    known = set(BY_TOOL)
    for tool, schemas in stored_schemas().items():
        known |= {*schemas["input"]["properties"], *schemas["output"]["properties"]}
        known |= set(compact_schema(tool, explain=False)["properties"])
    descriptions = [texts.description(tool, None, shape) for tool in BY_TOOL for shape in SHAPES]
    for text in (texts.instructions(None), *descriptions):
        assert set(re.findall(r"[a-z]+_[a-z_]+", text)) <= known, text


def test_a_description_says_how_to_read_compact_answers_only_where_answers_are_compact() -> None:
    for tool in BY_TOOL:
        reference, compact = (texts.description(tool, None, shape) for shape in reversed(SHAPES))
        assert compact.startswith(reference)
        assert " read" in compact.removeprefix(reference)
        assert len(compact) <= texts.LIMIT


def test_schemas_of_arguments_have_no_titles_references_or_nulls() -> None:
    for tool in published(None, "compact", explain=True):
        text = json.dumps(tool.input_schema)
        assert not [word for word in ('"title"', "$defs", "$ref", "null") if word in text], tool.name
        assert all(argument.get("description") for argument in tool.input_schema["properties"].values())


def test_the_schemas_of_compact_answers_are_short() -> None:
    written = [
        json.dumps(tool.output_schema, separators=(",", ":")) for tool in published(None, "compact", explain=False)
    ]
    assert sum(map(len, written)) <= 2_600


async def test_the_server_answers_in_the_shape_of_its_profile(gateway: Gateway) -> None:
    question = {"seeds": ["drug:warfarin"], "max_hops": 1}
    shapes: dict[ShapeName, type] = {"compact": dict, "reference": list}
    for shape, kind in shapes.items():
        async with Client(await build(gateway, shape)) as client:
            answer = await client.call_tool("bfs_query", question)
            schemas = {tool.name: tool.output_schema for tool in (await client.list_tools()).tools}
        written = answer.structured_content or {}
        assert isinstance(written["nodes"], kind)
        jsonschema.validate(written, schemas["bfs_query"])


async def test_required_arguments_are_published_first_and_limits_as_json_schema(gateway: Gateway) -> None:
    async with Client(await build(gateway)) as client:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
    schema = tools["bfs_query"].input_schema
    assert list(schema["properties"])[:2] == ["seeds", "max_hops"] == schema["required"]
    assert schema["properties"]["max_hops"] == {
        "description": schema["properties"]["max_hops"]["description"],
        "type": "integer",
        "minimum": 1,
        "maximum": 5,
    }
    assert schema["properties"]["seeds"]["maxItems"] == 50
    assert "null" not in json.dumps(schema)


async def test_explain_is_published_only_where_the_operator_allows_it(gateway: Gateway, era: ConnectMode) -> None:
    allowed = open_gateway(profile=Profile(server=ServerSettings(explain=True)))
    async with allowed, Client(await build(gateway), mode=era) as plain, Client(await build(allowed), mode=era) as rich:
        without = (await plain.list_tools()).tools
        with_it = (await rich.list_tools()).tools
        unknown = await error_of(plain, "search_entities", query="insulin", explain=True)
        asked = await rich.call_tool("search_entities", {"query": "insulin", "explain": True})
        not_asked = await rich.call_tool("search_entities", {"query": "insulin"})
    assert "explain" not in json.dumps([tool.model_dump(mode="json") for tool in without]).lower()
    for before, after in zip(without, with_it, strict=True):
        assert list(after.input_schema["properties"]) == [*before.input_schema["properties"], "explain"]
        assert after.input_schema["properties"]["explain"]["type"] == "boolean"
        assert after.output_schema is not None
        assert after.output_schema["properties"]["explain"] != {}
    assert "has no argument 'explain'" in unknown
    assert asked.structured_content is not None
    assert asked.structured_content["explain"]["sent"][0]["sparql"].startswith("SELECT")
    assert "explain" not in (not_asked.structured_content or {"explain": None})


async def test_structured_content_is_the_text_and_the_text_is_compact(gateway: Gateway, era: ConnectMode) -> None:
    async with Client(await build(gateway), mode=era) as client:
        result = await client.call_tool("bfs_query", {"seeds": ["drug:warfarin"], "max_hops": 1})
    (content,) = result.content
    text: str = content.text  # type: ignore[union-attr]  # one text
    assert json.loads(text) == result.structured_content
    assert text == json.dumps(json.loads(text), ensure_ascii=False, separators=(",", ":"))
    assert '":null' not in text


async def test_a_traversal_reports_its_progress_hop_by_hop(gateway: Gateway, era: ConnectMode) -> None:
    reports: list[tuple[float, float | None]] = []

    async def note(progress: float, total: float | None, message: str | None) -> None:  # noqa: ARG001 - the callback's shape
        reports.append((progress, total))

    async with Client(await build(gateway), mode=era) as client:
        await client.call_tool("bfs_query", {"seeds": ["drug:warfarin"], "max_hops": 3}, progress_callback=note)
    assert reports == [(1, 4), (2, 4), (3, 4), (4, 4)]


WRONG: Sequence[tuple[dict[str, Any], str]] = [
    ({"seeds": ["drug:warfarin"], "max_hops": 1, "limitt": 5}, "no argument 'limitt'. Did you mean limit?"),
    ({"max_hops": 1}, "needs the argument seeds"),
    ({"seeds": [], "max_hops": 1}, "seeds has 0 entries, but it needs at least 1"),
    ({"seeds": [], "max_hops": 1}, "Call search_entities to find the ID of a name."),
    ({"seeds": ["drug:x"] * 51, "max_hops": 1}, "seeds has 51 entries, but it takes 50 at most"),
    ({"seeds": "", "max_hops": 1}, "seeds has 0 entries, but it needs at least 1"),
    ({"seeds": {"id": "drug:warfarin"}, "max_hops": 1}, "it must be a list of texts"),
    ({"seeds": [["drug:warfarin"]], "max_hops": 1}, "seeds[0] has 1 entry, but it must be text"),
    ({"seeds": "[" * 20_000, "max_hops": 1}, "characters at most"),
    ({"seeds": [7], "max_hops": 1}, "seeds[0]: '7' is not an ID"),
    ({"seeds": [10**19], "max_hops": 1}, "seeds[0] is 10000000000000000000, but it must be text"),
    ({"seeds": [True], "max_hops": 1}, "seeds[0] is True, but it must be text"),
    ({"seeds": ["not an id"], "max_hops": 1}, "seeds[0]: 'not an id' is not an ID"),
    ({"seeds": ["drug:warfarin drug:aspirin"], "max_hops": 1}, "is not an ID"),
    ({"seeds": ["http://x/a http://x/b"], "max_hops": 1}, "is not an ID"),
    ({"seeds": ["<http://x/> . } INSERT"], "max_hops": 1}, "is not an ID"),
    ({"seeds": ["http://x/\n} INSERT"], "max_hops": 1}, "is not an ID"),
    ({"seeds": ["http://example.org/%3E"], "max_hops": 1}, "None of the seeds exists"),
    ({"seeds": ["http://example.org/\uff1e"], "max_hops": 1}, "None of the seeds exists"),
    ({"seeds": ["drug:warfarin"], "max_hops": 0}, "max_hops is 0, but it must be at least 1"),
    ({"seeds": ["drug:warfarin"], "max_hops": 6}, "max_hops is 6, but it must be at most 5"),
    ({"seeds": ["drug:warfarin"], "max_hops": "two"}, "max_hops is 'two', but it must be a whole number"),
    ({"seeds": ["drug:warfarin"], "max_hops": True}, "max_hops is True, but it must be a whole number"),
    ({"seeds": ["drug:warfarin"], "max_hops": "1.5"}, "max_hops is '1.5', but it must be a whole number"),
    ({"seeds": ["drug:warfarin"], "max_hops": 1.5}, "max_hops is 1.5, but it must be a whole number"),
    ({"seeds": ["drug:warfarin"], "max_hops": ""}, "max_hops is '', but it must be a whole number"),
    ({"seeds": ["drug:warfarin"], "max_hops": "9" * 5_000}, "but it must be a smaller number"),
    (
        {"seeds": ["drug:warfarin"], "max_hops": 1, "topology_only": "perhaps"},
        "'perhaps', but it must be true or false",
    ),
    ({"seeds": ["drug:warfarin"], "max_hops": 1, "limit": -1}, "limit is -1, but it must be at least 1"),
    ({"seeds": ["drug:warfarin"], "max_hops": 1, "offset": -1}, "offset is -1, but it must be at least 0"),
    ({"seeds": ["drug:warfarin"], "max_hops": 1, "node_types": ["drugz"]}, "no type of this graph is called"),
    ({"seeds": ["drug:warfarin"], "max_hops": 1, "predicates": ["treat"]}, "Nearest: TREATS"),
    ({"seeds": ["drug:nothing", "drug:none"], "max_hops": 1}, "'drug:nothing', 'drug:none'"),
]


async def test_a_wrong_argument_is_an_error_that_says_what_is_valid(gateway: Gateway, era: ConnectMode) -> None:
    async with Client(await build(gateway), mode=era) as client:

        async def check(case: tuple[dict[str, Any], str]) -> None:
            arguments, expected = case
            text = await error_of(client, "bfs_query", **arguments)
            assert expected in text
            assert "pydantic" not in text
            assert "Traceback" not in text
            assert len(text) < 600

        await await_each(WRONG, check)


async def test_errors_of_the_other_tools_are_as_clear(gateway: Gateway) -> None:
    async with Client(await build(gateway)) as client:
        assert "must not be empty" in await error_of(client, "search_entities", query="")
        assert "no letter, digit or symbol" in await error_of(client, "search_entities", query="_ -")
        assert "There is no tool 'bfs'" in await error_of(client, "bfs")
        unknown = await error_of(client, "describe_entity", id="drug:warfarine")
        nearest = await error_of(client, "describe_entity", id="disease:stroke_ischemic")
        one = await error_of(client, "intersect_subgraphs", seeds=["drug:warfarin"], k=1)
        one_argument = await error_of(client, "describe_schema", verbose=True)
    assert "no entity 'drug:warfarine'" in unknown
    assert "search_entities" in unknown
    assert "disease:stroke" in nearest
    assert "seeds has 1 entry, but it needs at least 2" in one
    assert "Its arguments are all, node_types, query, language." in one_argument


MEANT: Sequence[tuple[dict[str, Any], dict[str, Any]]] = [
    ({"node_types": None, "min_mentions": None, "limit": "", "predicates": [], "snapshot": ""}, {}),
    ({"seeds": "drug:warfarin"}, {}),
    ({"seeds": '["drug:warfarin"]'}, {}),
    ({"seeds": ' ["drug:warfarin", "drug:aspirin"]'}, {"seeds": ["drug:warfarin", "drug:aspirin"]}),
    ({"max_hops": "1"}, {}),
    ({"max_hops": 1.0}, {}),
    ({"max_hops": "1.0", "limit": " 3 "}, {"limit": 3}),
    ({"topology_only": "true"}, {"topology_only": True}),
    ({"topology_only": "False"}, {}),
    ({"exclude_node_types": "Paper"}, {"exclude_node_types": ["Paper"]}),
    ({"node_types": "[]", "predicates": " []", "exclude_node_types": ""}, {}),
    ({"seeds": ["drug:warfarin warfarin"]}, {}),
    ({"node_types": ["m:Drug a drug: any"]}, {"node_types": ["m:Drug"]}),
    ({"only_predicates": ["m:TREATS treats"]}, {"only_predicates": ["m:TREATS"]}),
    ({"only_predicates": ["^m:TREATS treats"]}, {"only_predicates": ["^m:TREATS"]}),
]
"""Arguments as models write them, and what they mean; what is in neither is as in the first call."""


async def test_arguments_are_accepted_for_what_they_mean(gateway: Gateway, era: ConnectMode) -> None:
    usual = {"seeds": ["drug:warfarin"], "max_hops": 1}
    async with Client(await build(gateway), mode=era) as client:

        async def check(case: tuple[dict[str, Any], dict[str, Any]]) -> None:
            given, meant = case
            results = [await client.call_tool("bfs_query", {**usual, **arguments}) for arguments in (given, meant)]
            assert not results[0].is_error, results[0].content
            assert results[0].content == results[1].content

        await await_each(MEANT, check)


async def test_a_number_is_accepted_as_text(gateway: Gateway) -> None:
    async with Client(await build(gateway)) as client:
        results = [await client.call_tool("search_entities", {"query": query}) for query in (2, "2")]
    assert not results[0].is_error
    assert results[0].content == results[1].content


async def test_a_tool_without_arguments_ignores_what_clients_put_in_their_place(gateway: Gateway) -> None:
    async with Client(await build(gateway)) as client:
        result = await client.call_tool("describe_schema", {"random_string": "x"})
        refused = await error_of(client, "search_entities", query="warfarin", random_string="x")
    assert not result.is_error
    assert "no argument 'random_string'" in refused


async def test_an_unexpected_failure_is_a_plain_sentence(gateway: Gateway, monkeypatch: pytest.MonkeyPatch) -> None:
    async def broken(*_: object) -> None:
        raise ZeroDivisionError("secret detail")

    server = await build(gateway)
    monkeypatch.setattr(gateway, "call", broken)
    async with Client(server) as client:
        text = await error_of(client, "describe_schema")
    assert "secret" not in text
    assert "log" in text


def _schema(types: int, predicates: int, *, comprehensive: bool = True) -> SchemaResult:
    return SchemaResult(
        graph_description="",
        complete=comprehensive,
        comprehensive=comprehensive,
        entity_types=[f"m:type{number}" for number in range(types)],
        predicates=[f"m:predicate{number}" for number in range(predicates)],
        entity_types_total=types,
        predicates_total=predicates,
        counts={},
        names=[],
        basis=SchemaBasis(methods=["enumerated"]),
        prefixes={"m": "https://example.org/m/"},
        schema_version="",
        next_steps="",
        tool_usage_notes="",
    )


@pytest.mark.parametrize(
    ("types", "predicates", "comprehensive", "injected"),
    [(20, 30, True, True), (21, 30, True, False), (20, 31, True, False), (3, 3, False, False), (0, 0, True, False)],
)
def test_a_schema_is_injected_only_if_it_is_small_and_whole(
    types: int, predicates: int, comprehensive: bool, injected: bool
) -> None:
    schema = _schema(types, predicates, comprehensive=comprehensive)
    assert ("type0" in texts.description("bfs_query", schema, "compact")) is injected
    assert "type0" not in texts.description("search_entities", schema, "compact")


def test_a_schema_that_is_listed_in_part_is_not_injected() -> None:
    schema = _schema(20, 30)
    schema.predicates_total = 31
    assert texts.description("bfs_query", schema, "compact") == texts.description("bfs_query", None, "compact")


def test_a_schema_with_long_names_is_not_injected_in_part() -> None:
    schema = _schema(20, 30)
    schema.entity_types = [f"http://example.org/{'x' * 80}/{number}" for number in range(20)]
    assert texts.description("bfs_query", schema, "compact") == texts.description("bfs_query", None, "compact")


class Session:
    """A session that counts notifications, or whose client has disconnected."""

    def __init__(self, *, is_gone: bool) -> None:
        self._is_gone = is_gone
        self.notified = 0

    async def send_tool_list_changed(self) -> None:
        """Hear of it."""
        await asyncio.sleep(0)
        if self._is_gone:
            raise anyio.ClosedResourceError
        self.notified += 1


async def test_a_disconnected_client_does_not_stop_two_notifications_at_once() -> None:
    notifier = ChangeNotifier(InMemorySubscriptionBus())
    gone, there = Session(is_gone=True), Session(is_gone=False)
    before = asyncio.all_tasks()
    for session in (gone, there):
        context: Any = type("Its", (), {"session": session})
        await notifier.add(cast("Context", context), NotificationParams())
    notifier.tools_changed()
    notifier.tools_changed()
    await asyncio.gather(*(asyncio.all_tasks() - before))
    assert there.notified == 2
