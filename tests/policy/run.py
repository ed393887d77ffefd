"""Asks two servers each, over files or endpoints: of a graph under a policy, and of what the policy leaves of it."""

import asyncio
import random
import re
import tempfile
from argparse import ArgumentParser, Namespace
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final, Literal, get_args
from urllib.parse import quote

from mcp import Client, MCPError
from mcp.server import Server
from mcp_types import PromptReference, ResourceTemplateReference

from gateway.api import link_graphs, open_gateway
from gateway.server.gateway_opener import GatewayOpener
from gateway.server.graph_handlers import server_of_all
from gateway.server.graph_set import CallsByGraph, GraphSet, ServedGraph
from gateway.settings.endpoint import EndpointSettings
from gateway.settings.hidden import HiddenSettings
from gateway.settings.profile import Profile, ServerSettings, ShapeName
from gateway.settings.vocabulary import EvidenceSettings, TypeSettings
from gateway.tools.gateway import Gateway
from tests.harness.kind import Kind, Say
from tests.harness.report import Judgement, Report, Verdict
from tests.harness.stores import store_with
from tests.policy.drawn_graph import HIDDEN, OPEN_GRAPH, DrawnGraph, drawn_graph
from tests.policy.questions import Question, drawn_questions
from tests.policy.visible import RDFS
from tests.server.graphs.conftest import connected, served_over_http

SEEN = "seen"
"""The name of the graph that is asked."""

_BYTES = re.compile(r"['\\\"]*bytes['\\\"]*: ?[0-9]+")
"""How long the answers of the engine were: its labels of blank nodes are random, and some are longer."""

_QUERIES = re.compile(r"""\}\]\}\}|(?:\}, ?|\[)\{[\\'"]*template[\\'"]*: ?""")
"""What stands between the queries of `explain`, and around them."""

_CAPPED = "edges_capped"
"""The cause in an answer with some of the edges of a node: which these are, an engine decides."""

_SAMPLED = "sampled: "
"""Before the range of values of which not all were read in time."""

_HUSHED = re.compile(r"hush[0-9]+", re.IGNORECASE)


def profile(*, hides: bool, shape: ShapeName = "compact") -> Profile:
    """Return the profile of one of the two servers; they differ in what they hide only."""
    hidden = HiddenSettings(
        types=HIDDEN.types, predicates=HIDDEN.predicates, graphs=HIDDEN.graphs, literals=HIDDEN.literals
    )
    return Profile(
        types=TypeSettings(subclass_of=(f"{RDFS}subClassOf",)),
        server=ServerSettings(explain=True, shape=shape, completion_seconds=60),
        hidden=hidden if hides else HiddenSettings(),
    )


@asynccontextmanager
async def two_clients(
    graph: DrawnGraph, folder: Path, shape: ShapeName, *, over_http: bool = False, hides: bool = True
) -> AsyncIterator[tuple[Client, Client]]:
    """Connect to a server of a graph under a policy, and to one of what is left of it.

    Over HTTP, the former serves the whole graph to others too, and the client's token may not see that one. A server
    that hides nothing shows what a comparison of the two finds.
    """
    whole, left = graph.write(folder)
    async with (
        opened(profile(hides=hides, shape=shape), whole) as hiding,
        opened(profile(hides=False, shape=shape), left) as plain,
        opened(profile(hides=False, shape=shape), whole) as everything,
        Client(_server(_set(plain))) as expected,
    ):
        if not over_http:
            async with Client(_server(_set(hiding))) as asked:
                yield asked, expected
            return
        link_graphs({SEEN: hiding, "all": everything})
        several = GraphSet([*_set(hiding).all, ServedGraph("all", "All of it.", GatewayOpener.over(everything))])
        async with (
            served_over_http(several, closing=False) as url,
            connected(f"{url}/mcp", "auto", f"only={SEEN}") as asked,
        ):
            yield asked, expected


@asynccontextmanager
async def two_clients_at(whole: str, left: str, shape: ShapeName) -> AsyncIterator[tuple[Client, Client]]:
    """Connect to a server of an endpoint under a policy, and to one of an endpoint that has what is left."""
    async with (
        opened(at_endpoint(profile(hides=True, shape=shape)), endpoint=whole) as hiding,
        opened(under_policy(at_endpoint(profile(hides=False, shape=shape))), endpoint=left) as plain,
        Client(_server(_set(hiding))) as asked,
        Client(_server(_set(plain))) as expected,
    ):
        yield asked, expected


def at_endpoint(settings: Profile) -> Profile:
    """Return a profile that reads the open graph of an endpoint."""
    return settings.model_copy(update={"endpoint": EndpointSettings(graphs=(OPEN_GRAPH,))})


def under_policy(settings: Profile) -> Profile:
    """Return a profile by which as much is asked as under a policy: no evidence."""
    return settings.model_copy(update={"evidence": EvidenceSettings(ways=())})


def _set(gateway: Gateway) -> GraphSet:
    return GraphSet([ServedGraph(SEEN, "What may be seen.", GatewayOpener.over(gateway))])


def _server(graphs: GraphSet) -> Server[Any]:
    return server_of_all(graphs, CallsByGraph(graphs))


@asynccontextmanager
async def opened(settings: Profile, file: Path | None = None, *, endpoint: str | None = None) -> AsyncIterator[Gateway]:
    """Open a gateway with a schema, by clocks that stand still: durations are no part of what is compared."""
    opening = open_gateway(file, endpoint=endpoint, profile=settings, clock=lambda: 0.0, wall_clock=lambda: 0.0)
    async with opening as gateway:
        await gateway.wait_until_ready()
        yield gateway


async def compare(
    asked: Client, expected: Client, questions: Iterator[Question], report: Report, *, engine: str = "files"
) -> None:
    """Ask both, and count what differs (wrong) and what tells a hidden word that its question has not (untrue).

    Which edges of a node come first is the choice of an endpoint, and so are then the queries that follow: its answers
    with some of the edges are only searched for hidden words, and so is what `explain` says. So is a schema with values
    of some nodes where there was no time to count all.
    """
    for name, given in questions:
        question = name, given
        if engine != "files" and "explain" in given:
            text = await answer(asked, question)
            if words := _hushed(text, question):
                report.add(engine, name, question, (Verdict.UNTRUE, f"{sorted(words)} in {text}"))
            question = name, {key: value for key, value in given.items() if key != "explain"}
        text, wanted = await answer(asked, question), await answer(expected, question)
        worth: Judgement = Verdict.RIGHT, ""
        if words := _hushed(text, question):
            worth = Verdict.UNTRUE, f"{sorted(words)} in {text}"
        elif _comparable(text) != _comparable(wanted) and (engine == "files" or not _is_of_some(name, text, wanted)):
            worth = Verdict.WRONG, f"{text}, not {wanted}"
        report.add(engine, name, question, worth)


def _is_of_some(name: str, given: str, expected: str) -> bool:
    """Return whether a difference may be that of which edges or nodes were looked at."""
    if _CAPPED in given and _CAPPED in expected:
        return True
    return name in {"describe_schema", "schema"} and (_SAMPLED in given or _SAMPLED in expected)


def _hushed(text: str, question: Question) -> frozenset[str]:
    """Return the hidden words of an answer that its question has not; messages cut what they repeat of that."""
    asked = tuple(_HUSHED.findall(str(question)))
    return frozenset(word for word in _HUSHED.findall(text) if not any(one.startswith(word) for one in asked))


async def answer(client: Client, question: Question) -> str:
    """Return all that a client is told."""
    name, given = question
    try:
        match name:
            case "entity":
                answered: Any = await client.read_resource(f"bfs-ql://{SEEN}/entity/{quote(given['text'], safe='')}")
            case "schema":
                answered = await client.read_resource(f"bfs-ql://{SEEN}/schema")
            case "id":
                template = ResourceTemplateReference(type="ref/resource", uri="bfs-ql://{graph}/entity/{id}")
                answered = await client.complete(template, {"name": "id", "value": given["text"]}, {"graph": SEEN})
            case "name":
                prompt = PromptReference(type="ref/prompt", name="explore")
                answered = await client.complete(prompt, {"name": "name", "value": given["text"]}, {"graph": SEEN})
            case "prompt":
                answered = await client.get_prompt("explore", {"name": given["text"], "graph": SEEN})
            case "lists":
                listed = [await client.list_tools(), await client.list_resources(), await client.list_prompts()]
                return str([each.model_dump(mode="json") for each in listed])
            case _:
                answered = await client.call_tool(name, {**given, "graph": SEEN})
    except MCPError as error:
        return f"error: {error}"
    return str(answered.model_dump(mode="json"))


def _comparable(text: str) -> Sequence[str]:
    """Return an answer without what chance decides; `explain` shows queries in the order of their answers."""
    return sorted(_QUERIES.split(_BYTES.sub("bytes", text)))


PolicyEngine = Literal["oxigraph", "fuseki"]
"""An engine that is shown to keep a policy."""

_EACH: Final = 50
"""Questions about one graph."""


async def ask_file(
    seed: int, shape: ShapeName, questions: int, report: Report, *, over_http: bool = False, hides: bool = True
) -> None:
    """Draw a graph and questions, and compare the answers; over HTTP the client has a token."""
    graph = drawn_graph(seed)
    with tempfile.TemporaryDirectory() as folder:
        async with two_clients(graph, Path(folder), shape, over_http=over_http, hides=hides) as (asked, expected):
            drawn = drawn_questions(graph, random.Random(seed), questions)  # noqa: S311 - questions, no secret
            await compare(asked, expected, drawn, report)


async def ask_endpoints(engine: PolicyEngine, seeds: Sequence[int], questions: int, report: Report) -> None:
    """Draw graphs and questions, and compare the answers of endpoints: of each whole graph, and of what is left."""
    graphs = {seed: drawn_graph(seed) for seed in seeds}
    with tempfile.TemporaryDirectory() as folder:
        files: dict[str, list[Path]] = {}
        for seed, graph in graphs.items():
            place = Path(folder) / str(seed)
            place.mkdir()
            whole, left = graph.write_for_endpoints(place)
            files |= {f"whole{seed}": [whole], f"left{seed}": [left]}
        with store_with(engine, Path(folder), files) as column:
            for seed, graph in graphs.items():
                at = column.url(f"whole{seed}"), column.url(f"left{seed}")
                async with two_clients_at(*at, shape_for(seed)) as (asked, expected):
                    drawn = drawn_questions(graph, random.Random(seed), questions)  # noqa: S311 - no secret
                    await compare(asked, expected, drawn, report, engine=engine)


def shape_for(seed: int) -> ShapeName:
    """Return the shape of the answers about a graph."""
    return "compact" if seed % 2 else "reference"


def _options(parser: ArgumentParser) -> None:
    parser.add_argument("--http", action="store_true", help="by a token that may not see the whole graph")


def _run(options: Namespace, say: Say) -> Report:
    report = Report()
    seeds = range(options.seed, options.seed - (-options.questions // _EACH))
    for engine in options.engine or ():
        asyncio.run(ask_endpoints(engine, seeds, _EACH, report))
    for seed in () if options.engine else seeds:
        asyncio.run(ask_file(seed, shape_for(seed), _EACH, report, over_http=options.http))
    say(f"{len(seeds)} graphs")
    return report


KIND: Final = Kind(
    "drawn questions under a policy, compared to the byte with the graph without what is hidden",
    _run,
    questions=2_000,
    counted="in all, 50 about each graph; of a file where no engine is named",
    engines=get_args(PolicyEngine),
    options=_options,
)
