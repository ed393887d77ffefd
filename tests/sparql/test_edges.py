"""Edges: what the rows of a hop must have, which edges are selected, and how the edges of many nodes are counted."""

import asyncio
import itertools
import json
from collections import Counter
from collections.abc import Awaitable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

import pyoxigraph
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gateway.errors import EdgesCapped, QueryRefused
from gateway.graph.call import Call, Deadline, Spend, unpaid
from gateway.graph.values import ALL_EDGES, Degree, Edge, EdgeSelection, Mark, Neighbourhood
from gateway.settings.profile import Profile
from gateway.sparql import degrees
from gateway.sparql.store import SparqlStore
from gateway.sparql.table import UnexpectedRows
from tests.columns import Column
from tests.examples import examples, tried_on_each_engine
from tests.oracle import RDF_TYPE, OracleGraph
from tests.random_graphs import EDGE_PREDICATES, TRAP_PREDICATES, corpus
from tests.random_session import Corpus
from tests.small import Watched

ASKED_NODE = "urn:node"
IRI = {"type": "uri", "value": ASKED_NODE}
OTHER = {"type": "uri", "value": "urn:other"}
BLANK = {"type": "bnode", "value": "b0"}
TEXT = {"type": "literal", "value": "a text"}
PLAIN = Profile.model_validate({"endpoint": {"lateral": False}, "edges": {"evidence_nodes": False}})


class OneRow:
    """A transport whose every answer has one row."""

    def __init__(self, row: Mapping[str, Any]) -> None:
        self._row = row

    async def select(self, _query: str, _deadline: Deadline, _spend: Spend = unpaid, /) -> bytes:
        """Return the row."""
        return json.dumps({"head": {"vars": [*"spo"]}, "results": {"bindings": [self._row]}}).encode()

    async def close(self) -> None:
        """Let go of nothing."""


def around(row: Mapping[str, Any]) -> Neighbourhood:
    async def ask() -> Neighbourhood:
        store = SparqlStore(OneRow(row), PLAIN)
        return (await store.edges([ASKED_NODE], Call(Deadline.after(60), 100, 1_000, 1_000)))[ASKED_NODE]

    return asyncio.run(ask())


def test_a_row_of_three_iris_is_an_edge() -> None:
    assert around({"s": IRI, "p": OTHER, "o": OTHER}) == Neighbourhood((Edge(ASKED_NODE, "urn:other", "urn:other"),))


@pytest.mark.parametrize("row", [{"s": IRI, "p": OTHER, "o": BLANK}, {"s": BLANK, "p": OTHER, "o": IRI}])
def test_a_blank_node_at_an_end_is_counted(row: Mapping[str, Any]) -> None:
    assert around(row) == Neighbourhood((), blank_edges=1)


@pytest.mark.parametrize("missing", ["s", "p", "o"])
def test_a_row_that_lacks_a_term_is_a_fault(missing: str) -> None:
    answer = around({variable: IRI for variable in "spo" if variable != missing})
    assert isinstance(answer.mark.fault, UnexpectedRows)


@pytest.mark.parametrize("bound", [BLANK, TEXT], ids=["blank", "literal"])
def test_a_predicate_is_an_iri(bound: Mapping[str, str]) -> None:
    assert isinstance(around({"s": IRI, "p": bound, "o": IRI}).mark.fault, UnexpectedRows)


def test_a_row_about_another_node_is_a_fault() -> None:
    assert isinstance(around({"s": OTHER, "p": OTHER, "o": OTHER}).mark.fault, UnexpectedRows)


Answers = TypeVar("Answers")

ROWS = (10, 100_000)
"""Rows of one query: so few that nodes are read in pages, and more than any has."""


@dataclass(frozen=True)
class Question:
    """Nodes, and which of their edges are asked for.

    Attributes:
        nodes: The nodes.
        selection: Their edges.
        bound: Edges of a node at most, and up to how many are counted.
        rows: Rows of one query at most.
        lateral: Whether LATERAL is used where the engine has it.
    """

    nodes: tuple[str, ...]
    selection: EdgeSelection
    bound: int
    rows: int
    lateral: bool


_predicates = st.none() | st.lists(
    st.sampled_from((*EDGE_PREDICATES, *TRAP_PREDICATES[:2], RDF_TYPE, "urn:unheard-of")), unique=True, max_size=5
).map(lambda some: tuple(sorted(some)))


@st.composite
def questions(draw: st.DrawFn) -> Question:
    graph = draw(st.sampled_from(corpus()))
    nodes = draw(st.lists(st.sampled_from((*graph.nodes, *graph.evidence)), min_size=1, max_size=8, unique=True))
    selection = EdgeSelection(draw(_predicates), draw(_predicates))
    return Question(
        tuple(nodes), selection, draw(st.integers(1, 12)), draw(st.sampled_from(ROWS)), lateral=draw(st.booleans())
    )


class Session:
    """Stores over the random graphs, on an event loop that lasts for all examples of a test."""

    def __init__(self, column: Column, runner: asyncio.Runner) -> None:
        self.column = column
        self.oracle: OracleGraph = Corpus(column).oracle
        self._runner = runner
        self._stores = {
            (rows, lateral): self._store(rows, lateral) for rows, lateral in itertools.product(ROWS, (False, True))
        }

    def _store(self, rows: int, lateral: bool) -> SparqlStore:
        profile = Profile.model_validate(
            {"limits": {"query_rows": rows}, "endpoint": {"lateral": "auto" if lateral else False}}
        )
        return SparqlStore(self.column.transport("random"), self.column.settle("random", profile))

    @property
    def is_here(self) -> bool:
        """Whether the engine runs in this process."""
        return self.column.is_here

    def as_stored(self, question: Question) -> Question:
        """Return a question with its IRIs as the engine was given them."""

        def stored(iris: tuple[str, ...]) -> tuple[str, ...]:
            return tuple(sorted({self.column.as_stored(iri) for iri in iris}))

        selection = EdgeSelection(
            *(given and stored(given) for given in (question.selection.outgoing, question.selection.incoming))
        )
        return Question(stored(question.nodes), selection, question.bound, question.rows, question.lateral)

    def edges(self, question: Question, per_id: int | None = None) -> dict[str, Neighbourhood]:
        """Ask for edges."""
        store = self._stores[question.rows, question.lateral]
        asked = store.edges(question.nodes, call(), selection=question.selection, per_id=per_id)
        return dict(self._runner.run(awaited(asked)))

    def degrees(self, question: Question) -> dict[str, Degree]:
        """Count edges."""
        store = self._stores[question.rows, question.lateral]
        asked = store.degrees(question.nodes, question.bound, call(), selection=question.selection)
        return dict(self._runner.run(awaited(asked)))

    def among(self, question: Question, inside: frozenset[str]) -> dict[str, Neighbourhood]:
        """Ask for outgoing edges into a set."""
        store = self._stores[question.rows, question.lateral]
        asked = store.edges_among(question.nodes, inside, call(), predicates=question.selection.outgoing)
        return dict(self._runner.run(awaited(asked)))

    def selected(self, node: str, selection: EdgeSelection) -> set[Edge]:
        """Return the edges of a node that are selected, by looking at each."""
        return {Edge(*edge) for edge in self.oracle.edges_of(node) if _selects(selection, node, *edge)}

    def blank_triples(self, node: str, selection: EdgeSelection) -> int:
        """Count the triples with blank nodes that are selected, by looking at each."""
        return sum(_selects(selection, node, *map(str, triple)) for triple in self.oracle.blank_triples_of(node))

    def cannot_page(self, answer: Neighbourhood) -> bool:
        """Return whether pages say that they lack edges: Virtuoso takes a text that is not ASCII for another one."""
        return self.column.name == "virtuoso" and "do not add up" in (
            answer.mark.fault.wrong if answer.mark.fault else ""
        )

    def close(self) -> None:
        """Close the stores."""
        for store in self._stores.values():
            self._runner.run(store.close())


async def awaited(asked: Awaitable[Answers]) -> Answers:
    return await asked


def _selects(selection: EdgeSelection, node: str, subject: str, predicate: str, target: str) -> bool:
    outgoing = selection.outgoing is None or predicate in selection.outgoing
    incoming = selection.incoming is None or predicate in selection.incoming
    return (subject == node and outgoing) or (target == node and incoming)


def call() -> Call:
    return Call(Deadline.after(120), 10_000, 10_000_000, 10_000_000)


@pytest.fixture
def session(engine: Column) -> Iterator[Session]:
    with asyncio.Runner() as runner:
        session = Session(engine, runner)
        yield session
        session.close()


@tried_on_each_engine(200, at_a_server=30, question=questions())
def test_all_selected_edges_come_and_no_others(session: Session, question: Question) -> None:
    question = session.as_stored(question)
    answers = session.edges(question)
    assert answers.keys() == set(question.nodes)
    for node, answer in answers.items():
        if session.cannot_page(answer):
            continue
        assert answer.mark.whole
        assert set(answer.edges) == session.selected(node, question.selection)
        assert len(answer.edges) == len(set(answer.edges))
        assert answer.blank_edges == session.blank_triples(node, question.selection)


@tried_on_each_engine(200, at_a_server=30, question=questions())
def test_a_cap_is_on_the_selected_edges(session: Session, question: Question) -> None:
    question = session.as_stored(question)
    for node, answer in session.edges(question, per_id=question.bound).items():
        expected = session.selected(node, question.selection)
        if session.cannot_page(answer):
            assert set(answer.edges) <= expected
        elif len(expected) > question.bound:
            assert isinstance(answer.mark.fault, EdgesCapped)
            assert len(set(answer.edges)) == question.bound
            assert set(answer.edges) < expected
        else:
            assert answer.mark.whole
            assert set(answer.edges) == expected
            assert answer.blank_edges == session.blank_triples(node, question.selection)


@tried_on_each_engine(200, at_a_server=30, question=questions())
def test_a_degree_counts_the_selected_edges(session: Session, question: Question) -> None:
    question = session.as_stored(question)
    counts = {node: len(session.selected(node, question.selection)) for node in question.nodes}
    assert session.degrees(question) == {
        node: Degree(min(count, question.bound + 1), count <= question.bound) for node, count in counts.items()
    }


@tried_on_each_engine(200, at_a_server=30, question=questions(), places=st.sets(st.integers(0, 99)))
def test_edges_into_a_set_are_those_of_the_selected_predicates(
    session: Session, question: Question, places: set[int]
) -> None:
    question = session.as_stored(question)
    near = sorted({end for node in question.nodes for edge in session.oracle.edges_of(node) for end in edge[::2]})
    inside = frozenset(near[place % len(near)] for place in places) if near else frozenset[str]()
    for node, answer in session.among(question, inside).items():
        outgoing = session.selected(node, EdgeSelection(question.selection.outgoing, ()))
        assert answer.mark.whole
        assert set(answer.edges) == {edge for edge in outgoing if edge.object in inside}


def test_the_random_graphs_have_self_loops_and_blank_nodes(embedded: Column) -> None:
    oracle = Corpus(embedded).oracle
    assert sum(edge[0] == edge[2] for edge in oracle.edges) > 20
    assert sum(oracle.blank_node_edges_of(node) for node in oracle.nodes) > 20


# What is sent, and what may come back

NODE, P, Q = "urn:node", "urn:p", "urn:q"
LOOP = Edge(NODE, P, NODE)


def asked(
    edges: list[Edge], selection: EdgeSelection, *, nodes: int = 1, per_id: int | None = None
) -> tuple[Neighbourhood, list[str]]:
    """Ask for the edges of `NODE`, with other nodes; return them, and the queries."""
    engine = pyoxigraph.Store()
    engine.extend([pyoxigraph.Quad(*map(pyoxigraph.NamedNode, edge.triple)) for edge in edges])
    sent: list[str] = []

    async def hook(query: str) -> None:
        if "?s ?p ?o" in query:
            sent.append(query)

    async def ask() -> Neighbourhood:
        store = SparqlStore(Watched(engine, hook), PLAIN)
        ids = [NODE, *(f"urn:other:{number}" for number in range(nodes - 1))]
        return (await store.edges(ids, call(), selection=selection, per_id=per_id))[NODE]

    return asyncio.run(ask()), sent


@pytest.mark.parametrize("per_id", [None, 5])
@pytest.mark.parametrize(
    ("selection", "comes"),
    [
        (EdgeSelection((P,), ()), True),
        (EdgeSelection((), (P,)), True),
        (EdgeSelection((P,), (P,)), True),
        (EdgeSelection((Q,), None), True),
        (EdgeSelection(None, (Q,)), True),
        (EdgeSelection((Q,), (P,)), True),
        (EdgeSelection((Q,), (Q,)), False),
        (EdgeSelection((), ()), False),
    ],
)
def test_a_self_loop_is_an_edge_of_either_direction_and_comes_once(
    selection: EdgeSelection, comes: bool, per_id: int | None
) -> None:
    answer, _ = asked([LOOP], selection, per_id=per_id)
    assert answer == Neighbourhood((LOOP,) if comes else ())


def test_an_edge_between_two_nodes_of_a_batch_belongs_to_the_one_that_selects_it() -> None:
    towards = Edge("urn:other:0", P, NODE)
    assert asked([towards], EdgeSelection((P,), ()), nodes=2)[0].edges == ()
    assert asked([towards], EdgeSelection((), (P,)), nodes=2)[0].edges == (towards,)


def test_a_question_about_all_edges_is_sent_as_ever() -> None:
    answer, sent = asked([LOOP], ALL_EDGES)
    assert answer.edges == (LOOP,)
    assert not any("VALUES ?p" in query for query in sent)


def test_no_query_has_more_terms_than_an_engine_takes() -> None:
    many = tuple(f"urn:p:{number:03}" for number in range(200))
    for per_id in (None, 5):
        _, sent = asked([LOOP], EdgeSelection(many, many), nodes=400, per_id=per_id)
        assert len(sent) > 1
        assert all(query.count("<urn:") <= 4_100 for query in sent)


class Renaming(Watched):
    """An engine that writes a predicate otherwise than it was asked."""

    async def select(self, query: str, deadline: Deadline, spend: Spend = unpaid, /) -> bytes:
        """Run a query, and write another predicate into its answer."""
        return (await super().select(query, deadline, spend)).replace(b"urn:p", b"urn:P")


def test_a_predicate_that_comes_back_as_another_is_a_fault_and_no_absence() -> None:
    engine = pyoxigraph.Store()
    engine.add(pyoxigraph.Quad(*map(pyoxigraph.NamedNode, LOOP.triple)))

    async def ignore(_: str) -> None: ...

    async def ask() -> Neighbourhood:
        store = SparqlStore(Renaming(engine, ignore), PLAIN)
        return (await store.edges([NODE], call(), selection=EdgeSelection((P,), ())))[NODE]

    assert isinstance(asyncio.run(ask()).mark.fault, UnexpectedRows)


DECOMPOSED = "urn:cafe\u0301"


class Composing(Watched):
    """An engine that composes letters and their accents."""

    async def select(self, query: str, deadline: Deadline, spend: Spend = unpaid, /) -> bytes:
        """Run a query as the engine reads it."""
        return await super().select(query.replace(DECOMPOSED, "urn:caf\u00e9"), deadline, spend)


def test_a_predicate_that_the_endpoint_reads_as_another_cannot_be_asked_for() -> None:
    engine = pyoxigraph.Store()
    engine.add(pyoxigraph.Quad(*map(pyoxigraph.NamedNode, LOOP.triple)))

    async def ignore(_: str) -> None: ...

    async def ask() -> dict[str, Mark]:
        store = SparqlStore(Composing(engine, ignore), PLAIN)
        selection = EdgeSelection((DECOMPOSED,), ())
        return {
            "edges": (await store.edges([NODE], call(), selection=selection))[NODE].mark,
            "some edges": (await store.edges([NODE], call(), selection=selection, per_id=5))[NODE].mark,
            "degree": (await store.degrees([NODE], 5, call(), selection=selection))[NODE].mark,
            "among": (await store.edges_among([NODE], frozenset([NODE]), call(), predicates=(DECOMPOSED,)))[NODE].mark,
        }

    for mark in asyncio.run(ask()).values():
        assert isinstance(mark.fault, QueryRefused)
        assert "reads" in str(mark.fault)


X = "http://example.org/"
WITHOUT_LATERAL = Profile.model_validate({"endpoint": {"lateral": False}})
_NAMES = st.integers(0, 11).map("n{}".format)


def counted(edges: set[tuple[str, str]], ids: list[str], at_most: int) -> tuple[dict[str, Degree], Counter[str]]:
    """Count the edges of nodes, and the queries that this takes, by the shape of the query."""
    engine = pyoxigraph.Store()
    p = pyoxigraph.NamedNode(f"{X}p")
    engine.extend([pyoxigraph.Quad(pyoxigraph.NamedNode(X + s), p, pyoxigraph.NamedNode(X + o)) for s, o in edges])
    sent: Counter[str] = Counter()

    async def hook(query: str) -> None:
        if "?degree" in query:
            sent["each" if "AS ?n)" in query else "together"] += 1

    async def ask() -> dict[str, Degree]:
        store = SparqlStore(Watched(engine, hook), WITHOUT_LATERAL)
        found = await store.degrees(
            [X + name for name in ids], at_most, Call(Deadline.after(60.0), 1_000, 1_000_000, 1_000_000)
        )
        return {iri.removeprefix(X): degree for iri, degree in found.items()}

    return asyncio.run(ask()), sent


def naive(edges: set[tuple[str, str]], node: str, at_most: int) -> tuple[int, bool]:
    """Count the edges of a node up to a bound, by looking at each."""
    count = sum(node in edge for edge in edges)
    return min(count, at_most + 1), count <= at_most


@given(st.sets(st.tuples(_NAMES, _NAMES)), st.integers(1, 6), st.integers(1, 30))
@settings(deadline=None, max_examples=examples(100))
def test_every_degree_is_the_naive_one_however_few_edges_are_read_at_once(
    edges: set[tuple[str, str]], at_most: int, scan: int
) -> None:
    ids = [f"n{number}" for number in range(12)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(degrees, "_SCAN", scan)
        found, _ = counted(edges, ids, at_most)
    assert {name: (degree.count, degree.exact) for name, degree in found.items()} == {
        name: naive(edges, name, at_most) for name in ids
    }
    assert all(degree.mark.whole for degree in found.values())


HUB = {("hub", f"n{number}") for number in range(50)}
SMALL = {(f"s{number}", f"n{number}") for number in range(40)}


def test_nodes_with_few_edges_are_counted_by_one_query() -> None:
    _, sent = counted(HUB | SMALL, [f"s{number}" for number in range(40)], 10)
    assert sent == {"together": 1}


def test_a_hub_does_not_have_the_others_counted_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(degrees, "_SCAN", 45)
    found, sent = counted(HUB | SMALL, ["hub", *(f"s{number}" for number in range(40))], 10)
    assert found["hub"] == Degree(11, exact=False)
    assert sent == {"together": 2}


def test_nodes_between_several_hubs_are_counted_each(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(degrees, "_SCAN", 12)
    hubs = {(f"hub{one}", f"n{other}") for one in range(9) for other in range(12)}
    found, sent = counted(hubs | SMALL, [*(f"hub{one}" for one in range(9)), "s1"], 10)
    assert found["s1"] == Degree(1)
    assert sent["each"] == 1
