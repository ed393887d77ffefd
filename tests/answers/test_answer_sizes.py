"""Drawn graphs of long and many terms: no answer of any tool, in either shape, is larger than `max_tokens` allows.

Nothing is lost on the way: the pages of a traversal have each node and each edge of the oracle once, each page goes on
from the one before, and what is left out is counted (docs/contract.md, "Size" and "Pages").
"""

import asyncio
import functools
import json
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyoxigraph
import pytest
import rdflib
from hypothesis import HealthCheck, Phase, event, example, given, settings
from hypothesis import strategies as st

from gateway import expand, messages
from gateway.escaping import json_text
from gateway.settings.limits import SizeSettings
from gateway.settings.profile import Profile, ServerSettings
from gateway.settings.vocabulary import NameSettings
from gateway.sparql.store import SparqlStore
from gateway.terms.coined_prefixes import CoinedPrefixes
from gateway.terms.prefixes import PrefixMap
from gateway.tools.gateway import Gateway
from gateway.transport.inprocess import InProcess
from tests.examples import examples
from tests.oracle import OracleGraph, Term, bfs, intersect
from tests.small import PREFIXES, ROOM, X

pytestmark = pytest.mark.slow

Json = dict[str, Any]

HEAD, EXPLANATION, CAUSE = 800, 220, 120
"""Bytes of the smallest answer beside its IDs, its explanation, and a further cause (docs/contract.md, "Size")."""

SMALL, USUAL = (200, 250, 300, 400, 700, 1_000), (2_000, 4_000, 8_000, 12_000)
UNITS = ("word ", "é", "日本", "\u202e\u200bx", '"\\', "\n\t z", "😀")

TYPE = pyoxigraph.NamedNode(f"{PREFIXES['rdf']}type")
REIFIES = pyoxigraph.NamedNode(f"{PREFIXES['rdf']}reifies")
LABEL = pyoxigraph.NamedNode(f"{PREFIXES['rdfs']}label")
ALIAS = pyoxigraph.NamedNode(f"{PREFIXES['skos']}altLabel")
SOURCE = pyoxigraph.NamedNode(f"{PREFIXES['dct']}source")
CONFIDENCE = pyoxigraph.NamedNode(f"{X}confidence")
NEGATED = pyoxigraph.NamedNode(f"{X}negated")


class DrawnGraph:
    """A graph whose every measure is drawn, made from one number: hypothesis would need thousands of draws for it."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)  # noqa: S311 - no secret
        pick = self._random.choice
        self.store = pyoxigraph.Store()
        self._namespaces = [
            pick(("http://data.example.org/{}/", f"{X}{{}}", "urn:ex:{}:", "http://例え.example/{}#")).format(
                f"n{number}{'x' * pick((0, 0, 5, 40, 150))}"
            )
            for number in range(pick((1, 1, 3, 12, 40)))
        ]
        self._longest, self._padding = pick((0, 0, 20, 100, 300, 900)), pick("pé日")
        self.nodes = self._iris("n", pick((1, 2, 3, 8, 14)))
        self.types = self._iris("T", pick((1, 3, 40, 150)))
        self.predicates = self._iris("p", pick((1, 3, 20, 120)))
        self._properties = self._iris("k", pick((1, 10, 100, 300)))
        self._documents = self._iris("d", 8)
        is_rich = self._random.random() < 0.7
        for number, node in enumerate(self.nodes):
            self._describe(node, is_rich=is_rich)
            if number:
                self._connect(self.nodes[self._random.randrange(number)], node)
            for _ in range(pick((0, 0, 0, 1, 5, 50))):
                self._connect(node, pick(self.nodes))
        for term in (*self.types, *self.predicates, *self._properties):
            if self._random.random() < 0.3:
                self._add(term, LABEL, self._text())

    def _iris(self, kind: str, count: int) -> list[pyoxigraph.NamedNode]:
        pick = self._random.choice
        bases = [f"{pick(self._namespaces)}{kind}{number}" for number in range(count)]
        return [
            pyoxigraph.NamedNode(base + self._padding * pick((0, 0, max(0, min(self._longest, 990 - len(base))))))
            for base in bases
        ]

    def _add(self, subject: Any, predicate: pyoxigraph.NamedNode, value: Any) -> None:
        self.store.add(pyoxigraph.Quad(subject, predicate, value))

    def _text(self) -> pyoxigraph.Literal:
        length, unit = self._random.choice((0, 3, 10, 40, 90, 250, 1_500, 4_000)), self._random.choice(UNITS)
        return pyoxigraph.Literal((unit * (length // len(unit) + 1))[:length])

    def _describe(self, node: Any, *, is_rich: bool) -> None:
        pick = self._random.choice
        # Without a triple it would be no node.
        self._add(node, CONFIDENCE, pyoxigraph.Literal(1))
        for _ in range(pick((0, 1, 1, 2, 30))):
            self._add(node, TYPE, pick(self.types))
        for _ in range(pick((0, 1, 1, 2, 20))):
            self._add(node, pick((LABEL, ALIAS)), self._text())
        most = len(self._properties)
        for key in self._random.sample(self._properties, min(pick((0, 0, 2, 20, most)), most)) if is_rich else ():
            value = pick(("text", "text", "text", "number", "blank"))
            if value == "text":
                self._add(node, key, self._text())
            elif value == "number":
                self._add(node, key, pyoxigraph.Literal(self._random.randint(0, 1_000_000)))
            else:
                below = pyoxigraph.BlankNode()
                self._add(node, key, below)
                self._add(below, pick(self._properties), self._text())

    def _connect(self, subject: pyoxigraph.NamedNode, target: pyoxigraph.NamedNode) -> None:
        pick = self._random.choice
        predicate = pick(self.predicates)
        self._add(subject, predicate, target)
        for _ in range(pick((0, 0, 1, 2, 20))):
            reifier = pyoxigraph.BlankNode()
            self._add(reifier, REIFIES, pyoxigraph.Triple(subject, predicate, target))
            for key in self._random.choices((SOURCE, CONFIDENCE, NEGATED, None, None), k=pick((0, 1, 3, 30))):
                if key is SOURCE:
                    self._add(reifier, key, pick(self._documents))
                elif key is None:
                    self._add(reifier, pick(self._properties), self._text())
                else:
                    self._add(reifier, key, pyoxigraph.Literal(True if key is NEGATED else self._random.random()))

    @functools.cached_property
    def oracle(self) -> OracleGraph:
        """The graph as the oracle reads it."""
        return OracleGraph((_term(quad.subject), _term(quad.predicate), _term(quad.object)) for quad in self.store)


def _term(term: Any) -> Term:
    if isinstance(term, pyoxigraph.NamedNode):
        return rdflib.URIRef(term.value)
    if isinstance(term, pyoxigraph.BlankNode):
        return rdflib.BNode(term.value)
    if isinstance(term, pyoxigraph.Literal):
        return rdflib.Literal(term.value)
    return (_term(term.subject), _term(term.predicate), _term(term.object))


@dataclass(frozen=True)
class Question:
    """A graph, how it is asked, and how large an answer may be."""

    seed: int
    max_tokens: int
    shape: Any
    opaque: bool
    coins: bool
    explain: bool

    @property
    def graph(self) -> DrawnGraph:
        """The graph, made again."""
        return DrawnGraph(self.seed)

    def gateway(self, graph: DrawnGraph, size: SizeSettings | None = None) -> Gateway:
        """Open a gateway over the graph."""
        own = SizeSettings(max_tokens=self.max_tokens, ceiling_tokens=max(self.max_tokens, 12_000))
        profile = Profile(
            size=size or own, names=NameSettings(on_stubs=self.opaque), server=ServerSettings(explain=True)
        )
        prefixes = PrefixMap({} if self.coins else PREFIXES, CoinedPrefixes() if self.coins else None)
        return Gateway(SparqlStore(InProcess(graph.store, max_bytes=1 << 26), profile), profile, prefixes)

    async def ask(self, gateway: Gateway, tool: str, arguments: Mapping[str, Any]) -> Json:
        """Return an answer in the reference shape, after a look at its size as it is sent."""
        answer = await gateway.call(tool, {**arguments, "explain": self.explain}, shape=self.shape)
        sent: Json = json.loads(json_text(answer.as_json()))
        expanded = expand(sent)
        size, limit = len(json_text(sent).encode()), 4 * self.max_tokens
        told = messages.LARGER_THAN_ASKED in expanded.get("warnings", ())
        if size > limit:
            assert told, (tool, size)
            causes = CAUSE * max(0, len(expanded.get("incomplete", ())) - 1)
            ids = bytes_of_ids(expanded) + len(json_text(sent.get("continued", "")).encode())
            assert size <= HEAD + EXPLANATION * self.explain + causes + ids, (tool, size)
            assert_smallest(expanded)
        elif told:
            # The rest is the explanation.
            assert self.explain
        return expanded


def questions() -> st.SearchStrategy[Question]:
    """Draw questions."""
    return st.builds(
        Question,
        seed=st.integers(0, 100_000),
        max_tokens=st.sampled_from([*SMALL, *USUAL]),
        shape=st.sampled_from(["reference", "compact"]),
        opaque=st.booleans(),
        coins=st.booleans(),
        explain=st.sampled_from([False, False, False, True]),
    )


drawn = settings(
    max_examples=examples(25),
    deadline=None,
    phases=[Phase.explicit, Phase.generate],  # a number that makes a graph has no simpler form
    suppress_health_check=[HealthCheck.too_slow],
)


def bytes_of_ids(answer: Json) -> int:
    """Count the bytes of the IDs without which an answer would not be one, and of the prefixes that these have."""
    records = [answer, *answer.get("nodes", ()), *answer.get("result", ()), *answer.get("guesses", ())]
    found = [record.get(key, "") for record in records for key in ("id", "iri", "entity_type")]
    found += [edge[end] for edge in edges_of(answer) for end in ("subject", "predicate", "object")]
    found += [text for pair in answer.get("prefixes", {}).items() for text in pair]
    return sum(len(json_text(text).encode()) for text in found)


def edges_of(answer: Json) -> list[Json]:
    """Return the edges of a traversal; what could be followed from an entity is no list."""
    edges = answer.get("edges", ())
    return list(edges) if isinstance(edges, list) else []


def assert_smallest(answer: Json) -> None:
    """Check that nothing more could be left out of an answer."""
    records = [*answer.get("nodes", ()), *answer.get("result", ()), *answer.get("guesses", ())]
    assert len(records) <= 1
    assert len(edges_of(answer)) <= 1
    assert not [record for record in records if record.get("metadata") or record.get("via") or record.get("edges")]
    assert not [edge for edge in edges_of(answer) if set(edge.get("metadata", ())) - {"negated"}]
    assert not answer.get("labels")
    if "nodes" in answer:
        assert not [node for node in answer["nodes"] if "name" in node]


async def pages_of(question: Question, gateway: Gateway, tool: str, arguments: Mapping[str, Any]) -> list[Json]:
    """Read all pages of a traversal, each of which must bring something."""
    pages: list[Json] = []
    place: Json = {}
    while True:
        page = await question.ask(gateway, tool, {**arguments, "max_tokens": question.max_tokens, **place})
        pages.append(page)
        assert page["nodes"] or page["edges"] or not page["node_count"]
        assert (page["node_count"], page["edge_count"]) == (pages[0]["node_count"], pages[0]["edge_count"])
        if "next_offset" not in page:
            return pages
        place = {
            "offset": page["next_offset"],
            "edge_offset": page.get("next_edge", 0),
            "snapshot": page["snapshot"],
        }


@drawn
@given(question=questions(), topology_only=st.booleans(), limit=st.sampled_from([None, None, 1, 3]), via=st.booleans())
def test_the_pages_of_a_traversal_fit_and_have_each_node_and_each_edge_of_the_oracle_once(
    question: Question, topology_only: bool, limit: int | None, via: bool
) -> None:
    graph = question.graph
    seeds = [node.value for node in graph.nodes[:2]]
    more = {"topology_only": topology_only, **({} if limit is None else {"limit": limit})}
    asked: list[tuple[str, Json]] = [("bfs_query", {"seeds": seeds[:1], "max_hops": 2, **more})]
    if len(seeds) > 1:
        asked.append(("intersect_subgraphs", {"seeds": seeds, "k": 2, "via": via, **more}))

    async def check() -> None:
        async with question.gateway(graph) as gateway, question.gateway(graph, ROOM) as roomy:
            for tool, arguments in asked:
                pages = await pages_of(question, gateway, tool, arguments)
                event(f"{min(len(pages), 9)} pages")
                nodes = [gateway.prefixes.expand(node["id"]) for page in pages for node in page["nodes"]]
                edges = [triple(edge, gateway) for page in pages for edge in page["edges"]]
                wanted, connected = expected(graph, tool, seeds)
                assert sorted(nodes) == sorted(wanted)
                assert sorted(edges) == sorted(connected)
                assert (len(nodes), len(edges)) == (pages[0]["node_count"], pages[0]["edge_count"])
                whole = (await roomy.call(tool, {**arguments, "limit": None})).as_json()
                assert_counted(pages, gateway, whole, roomy, topology_only=topology_only)

    asyncio.run(check())


def triple(edge: Json, gateway: Gateway) -> tuple[str, str, str]:
    """Return an edge as IRIs."""
    expand_ = gateway.prefixes.expand
    return expand_(edge["subject"]), expand_(edge["predicate"]), expand_(edge["object"])


def expected(graph: DrawnGraph, tool: str, seeds: Sequence[str]) -> tuple[list[str], list[tuple[str, str, str]]]:
    """Return the nodes and edges of the oracle."""
    if tool == "bfs_query":
        found = bfs(graph.oracle, seeds[:1], 2)
        return list(found.distance), list(found.edges)
    near = intersect(graph.oracle, seeds, 2)
    return list(near.nodes), list(near.edges)


def assert_counted(
    pages: Sequence[Json], gateway: Gateway, whole: Json, roomy: Gateway, *, topology_only: bool
) -> None:
    """Check that each page counts what it lacks of an answer that has room for everything."""
    nodes = {roomy.prefixes.expand(node["id"]): node.get("metadata") for node in whole["nodes"]}
    edges = {triple(edge, roomy): edge.get("metadata") for edge in whole["edges"]}
    for page in pages:
        degraded = page.get("degraded", {})
        stubs = [node for node in page["nodes"] if "metadata" not in node]
        bare = [
            edge for edge in page["edges"] if len(edge.get("metadata", ())) < len(edges[triple(edge, gateway)] or ())
        ]
        shown = [item["metadata"] for item in [*page["nodes"], *page["edges"]] if "metadata" in item]
        assert degraded.get("nodes_as_stubs", 0) == (0 if topology_only else len(stubs))
        # Of edges whose evidence was not asked for, because there is no room for it, nobody knows which have some.
        assert topology_only or degraded.get("edges_bare", 0) >= len(bare)
        assert degraded.get("values_shortened", 0) >= sum(map(cut_texts, shown))
        for node in page["nodes"] if "values_shortened" not in degraded else ():
            if "metadata" in node:
                assert len(node["metadata"]) == len(nodes[gateway.prefixes.expand(node["id"])])


def cut_texts(value: Any) -> int:
    """Count the texts that were cut; no drawn text ends so by itself."""
    if isinstance(value, dict):
        return sum(map(cut_texts, value.values()))
    if isinstance(value, list):
        return sum(map(cut_texts, value))
    return isinstance(value, str) and value.endswith("…")


@drawn
@given(question=questions())
def test_descriptions_fit_and_list_each_entity_once_with_a_count_of_what_they_lack(question: Question) -> None:
    graph = question.graph
    known = [node.value for node in graph.nodes]
    absent = [f"{X}absent{number}{'z' * 400 * (number % 2)}" for number in range(question.seed % 40)]

    async def check() -> None:
        async with question.gateway(graph) as gateway, question.gateway(graph, ROOM) as roomy:
            whole = {entity.iri: entity.as_json() for entity in (await roomy.describe_entities(known)).result}
            left, found = [*known, *absent], []
            while left:
                page = await question.ask(
                    gateway, "describe_entities", {"ids": left, "max_tokens": question.max_tokens}
                )
                assert page["result"] or not set(left) & set(known)
                for entity in page["result"]:
                    found.append(entity["iri"])
                    assert_lacks_no_more_than_is_counted(entity["metadata"], whole[entity["iri"]]["metadata"], page)
                rest = [iri for iri in known if iri not in found]
                not_listed = len(rest) - len(page.get("remaining_ids", ()))
                not_told = len(set(left) & set(absent)) - len(page["not_found"])
                assert page.get("degraded", {}).get("ids_not_listed", 0) == not_listed + not_told
                assert page["complete"] is (not not_told)
                left = rest
            assert sorted(found) == sorted(known)
            one = await question.ask(gateway, "describe_entity", {"id": known[0], "max_tokens": question.max_tokens})
            assert one["iri"] == known[0]

    asyncio.run(check())


def assert_lacks_no_more_than_is_counted(said: Json, whole: Json, page: Json) -> None:
    """Check the metadata of one of the entities on a page."""
    degraded = page.get("degraded", {})
    lacking = len(whole) - len(said)
    assert 0 <= lacking <= degraded.get("properties_left_out", 0)
    if "values_shortened" not in degraded:
        assert cut_texts(said) == 0


LONG_DIFFERENCE = Question(seed=1724, max_tokens=250, shape="compact", opaque=True, coins=False, explain=False)


@drawn
@given(question=questions())
@example(question=LONG_DIFFERENCE)
def test_searches_and_schemas_fit_and_say_how_much_there_is(question: Question) -> None:
    graph = question.graph
    types = [term.value for term in graph.types[:3]]

    async def check() -> None:
        async with question.gateway(graph) as gateway, question.gateway(graph, ROOM) as roomy:
            schema = await question.ask(gateway, "describe_schema", {"all": bool(question.seed % 2)})
            known = (await roomy.describe_schema(all=True)).as_json()
            for terms in ("entity_types", "predicates"):
                total = f"{terms}_total"
                assert schema.get(total, len(schema[terms])) == known[total]
            asked: list[Json] = [{"query": "word", "limit": 100}, {"query": "日本"}]
            asked += [{"node_types": [one], "limit": 100} for one in types if graph.oracle.instances[one]]
            for arguments in asked:
                page = await question.ask(gateway, "search_entities", arguments)
                whole = (await roomy.call("search_entities", arguments)).as_json()
                shown = len(page["result"])
                assert page.get("found", shown) == whole.get("found", len(whole["result"]))
                assert bool(shown) == bool(whole["result"])
                assert page["complete"] == whole["complete"]

    asyncio.run(check())


TWO_CAUSES = Question(seed=168, max_tokens=200, shape="reference", opaque=False, coins=False, explain=False)


@drawn
@given(question=questions(), wild=st.booleans())
@example(question=TWO_CAUSES, wild=True)
def test_long_arguments_do_not_make_an_answer_larger(question: Question, wild: bool) -> None:
    graph = question.graph
    nodes, long = [node.value for node in graph.nodes], "z" * (900 if wild else 30)
    seeds = [*nodes[:10], *(f"{X}absent{number}{long}" for number in range(40))]
    names = [*map(str, graph.predicates[:100]), *(f"<{X}nothing{number}{long}>" for number in range(90))]

    def calls() -> Iterator[tuple[str, Json]]:
        yield "bfs_query", {"seeds": seeds, "max_hops": 1, "limit": 1}
        yield "bfs_query", {"seeds": nodes[:1], "max_hops": 2, "only_predicates": names, "limit": 2}
        yield "bfs_query", {"seeds": nodes[:1], "max_hops": 2, "only_predicates": [names[:50], []], "limit": 2}
        yield "bfs_query", {"seeds": seeds, "max_hops": 2, "max_degree": 1, "limit": 2}
        yield "intersect_subgraphs", {"seeds": seeds, "k": 1}

    async def check() -> None:
        async with question.gateway(graph) as gateway:
            for tool, arguments in calls():
                page = await question.ask(gateway, tool, {**arguments, "max_tokens": question.max_tokens})
                if names in (arguments.get("only_predicates"), None):
                    shown = page.get("only_predicates", ())
                    assert len(shown) == len(names) or not shown
                    assert bool(shown) or page["degraded"]["ids_not_listed"] >= len(names)

    asyncio.run(check())
