"""Draws questions, and asks two servers each: of a graph under a policy, and of what the policy leaves of it."""

import random
import re
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
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
from tests.harness.report import Judgement, Report, Verdict
from tests.policy.drawn_graph import HIDDEN, HIDDEN_PREDICATES, HIDDEN_TYPES, OPEN_GRAPH, PREDICATES, TYPES, DrawnGraph
from tests.policy.value_questions import ValueArguments
from tests.policy.visible import RDFS
from tests.server.graphs.conftest import connected, served_over_http

Question = tuple[str, dict[str, Any]]
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


def drawn_questions(graph: DrawnGraph, dice: random.Random, count: int) -> Iterator[Question]:
    """Draw questions to the tools, half of them about values, and to completions, resources and prompts."""
    for _ in range(count):
        yield _QuestionMaker(graph, dice).make()


class _QuestionMaker:
    def __init__(self, graph: DrawnGraph, dice: random.Random) -> None:
        self._graph = graph
        self._dice = dice
        self._values = ValueArguments(graph, dice)

    def make(self) -> Question:
        """Draw one, half of the time about values."""
        return self._about_values() if self._dice.random() < 0.5 else self._plain()

    def _about_values(self) -> Question:
        dice, values = self._dice, self._values
        values.begin()
        kinds: Sequence[Callable[[], Question]] = (
            lambda: ("search_entities", {"node_types": values.types(), **values.draw()}),
            lambda: ("search_entities", {"query": self._text(), **values.draw()}),
            lambda: (
                "bfs_query",
                {"seeds": self._nodes(1, 3), "max_hops": 1, **self._walked([values.steps()]), **self._about_nodes()},
            ),
            lambda: (
                "bfs_query",
                {"seeds": self._nodes(1, 2), "max_hops": 2, **self._walked(values.steps(2)), **self._about_nodes()},
            ),
            lambda: (
                "intersect_subgraphs",
                {
                    "seeds": self._nodes(2, 2),
                    "k": 1,
                    "only_predicates": [values.steps(), values.steps()],
                    **self._about_nodes(),
                },
            ),
            lambda: ("describe_schema", {"node_types": values.types()}),
        )
        name, given = dice.choices(kinds, weights=(4, 1, 2, 1, 2, 1))[0]()
        if name != "describe_schema" and dice.random() < 0.5:
            given["limit"] = dice.randint(1, 6)
        return name, self._explained(given)

    def _about_nodes(self) -> dict[str, Any]:
        return (self._values.draw() if self._dice.random() < 0.8 else {}) | self._values.nodes_only()

    def _walked(self, steps: Sequence[Any]) -> dict[str, Any]:
        return {"only_predicates": list(steps)} if self._dice.random() < 0.8 else {}

    def _plain(self) -> Question:
        dice = self._dice
        kinds: Sequence[Callable[[], Question]] = (
            lambda: ("bfs_query", self._with_filters({"seeds": self._nodes(1, 3), "max_hops": dice.randint(1, 3)})),
            lambda: (
                "intersect_subgraphs",
                self._with_filters({"seeds": self._nodes(2, 3), "k": dice.randint(1, 2)}),
            ),
            lambda: (
                "search_entities",
                self._explained({"query": self._text(), **self._some(node_types=self._types())}),
            ),
            lambda: ("describe_entity", self._explained({"id": dice.choice([self._node(), self._text()])})),
            lambda: ("describe_entities", self._explained({"ids": self._nodes(1, 4)})),
            lambda: ("describe_schema", self._explained(self._some(all=True) | self._some(node_types=self._types()))),
            lambda: (dice.choice(("entity", "schema", "id", "name", "prompt", "lists")), {"text": self._text()}),
        )
        return dice.choices(kinds, weights=(2, 1, 2, 1, 1, 1, 1))[0]()

    def _with_filters(self, given: dict[str, Any]) -> dict[str, Any]:
        predicates = [node.value for node in self._dice.sample([*PREDICATES, *HIDDEN_PREDICATES], 2)]
        return self._explained(
            given
            | self._some(only_predicates=predicates)
            | self._some(predicates=predicates)
            | self._some(only_node_types=self._types())
            | self._some(exclude_node_types=self._types())
            | self._some(direction=self._dice.choice(("out", "in", "both")))
            | self._some(limit=self._dice.randint(1, 5))
            | self._some(max_edges_per_node=self._dice.randint(1, 5))
            | self._some(max_degree=self._dice.randint(1, 9))
        )

    def _some(self, **given: Any) -> dict[str, Any]:
        return given if self._dice.random() < 0.25 else {}

    def _explained(self, given: dict[str, Any]) -> dict[str, Any]:
        return given | self._some(explain=True)

    def _types(self) -> list[str]:
        return [node.value for node in self._dice.sample([*TYPES, *HIDDEN_TYPES], 2)]

    def _node(self) -> str:
        return self._dice.choice(self._graph.nodes)

    def _nodes(self, least: int, most: int) -> list[str]:
        return self._dice.sample(self._graph.nodes, self._dice.randint(least, most))

    def _text(self) -> str:
        name = self._dice.choice([*self._graph.names, *HIDDEN.types, *HIDDEN.predicates, "hush", "person", "nobody"])
        return name[: self._dice.randint(2, len(name))] if self._dice.random() < 0.3 else name


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
        opened(whole, profile(hides=hides, shape=shape)) as hiding,
        opened(left, profile(hides=False, shape=shape)) as plain,
        opened(whole, profile(hides=False, shape=shape)) as everything,
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
        opened_at(whole, at_endpoint(profile(hides=True, shape=shape))) as hiding,
        opened_at(left, under_policy(at_endpoint(profile(hides=False, shape=shape)))) as plain,
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


@asynccontextmanager
async def opened_at(url: str, settings: Profile) -> AsyncIterator[Gateway]:
    """Open a gateway of an endpoint, with a schema."""
    async with open_gateway(endpoint=url, profile=settings, clock=lambda: 0.0, wall_clock=lambda: 0.0) as gateway:
        await gateway.wait_until_ready()
        yield gateway


def _set(gateway: Gateway) -> GraphSet:
    return GraphSet([ServedGraph(SEEN, "What may be seen.", GatewayOpener.over(gateway))])


def _server(graphs: GraphSet) -> Server[Any]:
    return server_of_all(graphs, CallsByGraph(graphs))


@asynccontextmanager
async def opened(file: Path, settings: Profile) -> AsyncIterator[Gateway]:
    """Open a gateway with a schema, by clocks that stand still: durations are no part of what is compared."""
    async with open_gateway(file, profile=settings, clock=lambda: 0.0, wall_clock=lambda: 0.0) as gateway:
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
            # Prefixes are coined by what was answered before, so both are asked the same.
            await answer(expected, question)
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
