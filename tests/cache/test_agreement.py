"""The cache in front of an engine answers as the graph does, whatever was asked before; who gets one."""

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyoxigraph
import pytest
from aiohttp import web
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gateway.api import open_gateway
from gateway.cache.store import CachedStore
from gateway.errors import EdgesCapped, InputError
from gateway.graph.call import Call, Deadline, Spend, unpaid
from gateway.graph.store import OnAnswers
from gateway.graph.values import ALL_EDGES, Degree, Edge, EdgeSelection, Iri, Neighbourhood
from gateway.settings.limits import CacheSettings, SizeSettings
from gateway.settings.profile import Profile
from gateway.sparql.store import SparqlStore
from gateway.stores.endpoints import store_over
from gateway.terms.prefixes import PrefixMap
from gateway.tools.gateway import Gateway
from gateway.transport.base import Transport
from tests.cache.fake_store import FakeStore, call, capped
from tests.columns import Column
from tests.examples import examples
from tests.oracle import bfs, intersect
from tests.random_graphs import IntersectionQuestion, Question, intersections, questions
from tests.random_session import Corpus
from tests.small import PREFIXES, Watched, X, engine
from tests.transport.fake_endpoint import JSON, fake_endpoint

pytestmark = pytest.mark.anyio

# The cache stands above the port, and the engines differ below it: test_oracle_agreement has them all.
on_two_servers = pytest.mark.parametrize(
    "engine",
    ["in-process", *(pytest.param(name, marks=pytest.mark.server) for name in ("oxigraph", "fuseki"))],
    indirect=True,
)

WHOLE = Profile(size=SizeSettings(max_tokens=10_000_000, ceiling_tokens=10_000_000))

thorough = settings(
    max_examples=examples(100),
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


@dataclass
class Counted:
    """A transport that records what was sent."""

    inner: Transport
    sent: list[str] = field(default_factory=list)

    async def select(self, query: str, deadline: Deadline, spend: Spend = unpaid, /) -> bytes:
        """Run a query."""
        self.sent.append(query)
        return await self.inner.select(query, deadline, spend)

    async def close(self) -> None:
        """Close the transport."""
        await self.inner.close()


@dataclass(frozen=True)
class Session:
    """A gateway with a cache over the random graphs, on an event loop that lasts for all examples of a test."""

    runner: asyncio.Runner
    gateway: Gateway
    transport: Counted
    corpus: Corpus

    def ask(self, question: Question | IntersectionQuestion) -> tuple[Mapping[str, Any] | None, list[str]]:
        """Ask a question that was not asked before, as far as pages go; return what a reader gets, and what was sent.

        There is no answer where no seed exists.
        """
        self.gateway.forget_snapshots()
        del self.transport.sent[:]
        try:
            if isinstance(question, Question):
                answer = self.runner.run(self.gateway.bfs_query(question.seeds, question.max_hops)).as_json()
            else:
                answer = self.runner.run(self.gateway.intersect_subgraphs(question.seeds, question.k)).as_json()
        except InputError as error:
            if "None of the seeds exists" in error.wrong:
                return None, list(self.transport.sent)
            raise
        return answer, list(self.transport.sent)


@contextmanager
def opened(column: Column) -> Iterator[Session]:
    """Open a gateway over the random graphs, whose schema is known."""
    transport = Counted(column.transport("random"))
    store = CachedStore(SparqlStore(transport, WHOLE), megabytes=64, ttl_seconds=3_600)
    with asyncio.Runner() as runner:
        gateway = Gateway(store, WHOLE, PrefixMap({}))
        runner.run(gateway.describe_schema())
        runner.run(gateway.wait_for_schema())
        yield Session(runner, gateway, transport, Corpus(column))
        runner.run(gateway.close())


@pytest.fixture
def session(engine: Column) -> Iterator[Session]:
    with opened(engine) as session:
        yield session


@pytest.fixture
def embedded_session(embedded: Column) -> Iterator[Session]:
    with opened(embedded) as session:
        yield session


def triples(answer: Mapping[str, Any]) -> set[tuple[str, str, str]]:
    return {(edge["subject"], edge["predicate"], edge["object"]) for edge in answer["edges"]}


def causes(answer: Mapping[str, Any]) -> set[str]:
    """Return why an answer is not complete."""
    found = {gap["cause"] for gap in answer.get("incomplete", ())}
    assert answer["complete"] is not bool(found)
    return found


@on_two_servers
@thorough
@given(question=questions())
def test_a_traversal_is_asked_once_and_answered_alike_cold_and_warm(session: Session, question: Question) -> None:
    question, oracle = session.corpus.as_stored(question), session.corpus.oracle
    session.gateway.forget()
    cold, sent = session.ask(question)
    warm, sent_again = session.ask(question)
    assert sent
    assert sent_again == []
    assert warm == cold
    expected = bfs(oracle, question.seeds, question.max_hops)
    assert (cold is None) == (not expected.distance)
    if cold is not None:
        assert causes(cold) == ({"blank_nodes"} if expected.blank_node_edges else set())
        assert {node["id"] for node in cold["nodes"]} == expected.distance.keys()
        assert triples(cold) == expected.edges


@on_two_servers
@thorough
@given(question=intersections())
def test_an_intersection_is_answered_alike_cold_and_warm_and_expands_no_node_again(
    session: Session, question: IntersectionQuestion
) -> None:
    question, oracle = session.corpus.as_stored(question), session.corpus.oracle
    session.gateway.forget()
    cold, sent = session.ask(question)
    warm, sent_again = session.ask(question)
    assert sent
    # A set of nodes that a blank node spoils is no whole answer, so it is asked for again as well.
    assert not any("SELECT ?s ?p ?o" in query and "UNION" in query for query in sent_again)
    assert warm == cold
    expected = intersect(oracle, question.seeds, question.k)
    if cold is None:
        assert len(expected.missing) == len(set(question.seeds))
        return
    assert causes(cold) == ({"blank_nodes"} if "blank_node_edges" in cold else set())
    assert {node["id"] for node in cold["nodes"]} == expected.nodes
    assert triples(cold) == expected.edges


@thorough
@given(question=questions(), other=intersections())
def test_what_earlier_questions_left_behind_changes_no_answer(
    embedded_session: Session, question: Question, other: IntersectionQuestion
) -> None:
    oracle = embedded_session.corpus.oracle
    # Nothing is forgotten: each question meets whatever those before it have left.
    answer, _ = embedded_session.ask(question)
    expected = bfs(oracle, question.seeds, question.max_hops)
    assert (answer is None) == (not expected.distance)
    if answer is not None:
        assert causes(answer) == ({"blank_nodes"} if expected.blank_node_edges else set())
        assert {node["id"] for node in answer["nodes"]} == expected.distance.keys()
        assert triples(answer) == expected.edges
    common, _ = embedded_session.ask(other)
    if common is not None:
        among = intersect(oracle, other.seeds, other.k)
        assert causes(common) == ({"blank_nodes"} if "blank_node_edges" in common else set())
        assert {node["id"] for node in common["nodes"]} == among.nodes
        assert triples(common) == among.edges


NODES = ("urn:a", "urn:b", "urn:c")
PREDICATES = ("urn:p", "urn:q", "urn:r")
BLANK = "_:blank"

Triples = frozenset[tuple[str, str, str]]
drawn_triples = st.frozensets(
    st.tuples(st.sampled_from(NODES), st.sampled_from(PREDICATES), st.sampled_from((*NODES, BLANK))), max_size=12
)
some_predicates = st.none() | st.sets(st.sampled_from(PREDICATES), max_size=2).map(lambda some: tuple(sorted(some)))
selections = st.just(ALL_EDGES) | st.builds(EdgeSelection, some_predicates, some_predicates)


@dataclass(frozen=True)
class Asks:
    """One question: edges, degrees or edges among nodes."""

    primitive: str
    nodes: tuple[str, ...]
    selection: EdgeSelection
    bound: int | None


steered_questions = st.builds(
    Asks,
    st.sampled_from(["edges", "degrees", "among"]),
    st.lists(st.sampled_from(NODES), min_size=1, max_size=3, unique=True).map(tuple),
    selections,
    st.none() | st.integers(1, 3),
)


class Naive(FakeStore):
    """A store that looks at each of its triples."""

    def __init__(self, known: Triples) -> None:
        super().__init__()
        self._known = sorted(known)

    def selected(self, node: str, selection: EdgeSelection) -> list[tuple[str, str, str]]:
        """Return the triples that are selected."""
        found = []
        for subject, predicate, target in self._known:
            is_out = subject == node and (selection.outgoing is None or predicate in selection.outgoing)
            is_in = target == node and (selection.incoming is None or predicate in selection.incoming)
            if is_out or is_in:
                found.append((subject, predicate, target))
        return found

    async def edges(
        self,
        ids: Sequence[Iri],
        call: Call,
        *,
        selection: EdgeSelection = ALL_EDGES,
        per_id: int | None = None,
        on_answers: OnAnswers | None = None,
    ) -> Mapping[Iri, Neighbourhood]:
        """Return the edges that are selected."""
        await super().edges(ids, call, selection=selection, per_id=per_id, on_answers=on_answers)
        return {node: self.neighbourhood(node, selection, per_id) for node in ids}

    def neighbourhood(self, node: str, selection: EdgeSelection, per_id: int | None) -> Neighbourhood:
        """Return the edges that are selected, of one node."""
        found = self.selected(node, selection)
        edges = tuple(Edge(*one) for one in found if one[2] != BLANK)
        if per_id is not None and len(edges) > per_id:
            return Neighbourhood(edges[:per_id], mark=capped(per_id))
        return Neighbourhood(edges, len(found) - len(edges))

    async def degrees(
        self, ids: Sequence[Iri], at_most: int, call: Call, *, selection: EdgeSelection = ALL_EDGES
    ) -> Mapping[Iri, Degree]:
        """Count the edges that are selected."""
        await super().degrees(ids, at_most, call, selection=selection)
        return {node: self.degree(node, selection, at_most) for node in ids}

    def degree(self, node: str, selection: EdgeSelection, at_most: int) -> Degree:
        """Count the edges that are selected, of one node."""
        count = sum(target != BLANK for _, _, target in self.selected(node, selection))
        return Degree(min(count, at_most + 1), count <= at_most)

    async def edges_among(
        self, ids: Sequence[Iri], inside: frozenset[Iri], call: Call, *, predicates: tuple[Iri, ...] | None = None
    ) -> Mapping[Iri, Neighbourhood]:
        """Return the outgoing edges that are selected."""
        await super().edges_among(ids, inside, call, predicates=predicates)
        return {node: self.among(node, inside, predicates) for node in ids}

    def among(self, node: str, inside: frozenset[str], predicates: tuple[str, ...] | None) -> Neighbourhood:
        """Return the outgoing edges that are selected, of one node."""
        found = self.selected(node, EdgeSelection(predicates, ()))
        return Neighbourhood(tuple(Edge(*one) for one in found if one[2] in inside))


async def check(store: CachedStore, graph: Naive, asks: Asks) -> None:
    """Ask a question, and compare each answer."""
    bound, selection = asks.bound, asks.selection
    if asks.primitive == "degrees":
        degrees = await store.degrees(asks.nodes, bound or 2, call(), selection=selection)
        assert degrees == {node: graph.degree(node, selection, bound or 2) for node in asks.nodes}
    elif asks.primitive == "among":
        inside = frozenset(NODES[:2])
        among = await store.edges_among(asks.nodes, inside, call(), predicates=selection.outgoing)
        assert among == {node: graph.among(node, inside, selection.outgoing) for node in asks.nodes}
    else:
        edges = await store.edges(asks.nodes, call(), selection=selection, per_id=bound)
        for node in asks.nodes:
            expected = graph.neighbourhood(node, selection, bound)
            assert set(edges[node].edges) == set(expected.edges)
            assert edges[node].blank_edges == expected.blank_edges
            assert isinstance(edges[node].mark.fault, EdgesCapped) == isinstance(expected.mark.fault, EdgesCapped)


@settings(max_examples=examples(500))
@given(drawn_triples, st.lists(steered_questions, min_size=2, max_size=8))
def test_every_answer_is_the_naive_one_whatever_was_asked_before(known: Triples, asked: list[Asks]) -> None:
    async def ask() -> None:
        graph = Naive(known)
        store = CachedStore(graph, megabytes=1, ttl_seconds=60.0, clock=lambda: 0.0)
        for asks in asked:
            await check(store, graph, asks)
        before = len([name for name, _ in graph.asked if name[0] != "edges_among"])
        for asks in asked:
            await check(store, graph, asks)
        assert len([name for name, _ in graph.asked if name[0] != "edges_among"]) == before

    asyncio.run(ask())


@pytest.mark.anyio
async def test_calls_that_ask_for_other_edges_at_the_same_time_do_not_share_an_answer() -> None:
    inner = FakeStore(waits=True)
    store = CachedStore(inner, megabytes=1, ttl_seconds=60.0)
    both = EdgeSelection(("urn:p",), ("urn:p",))
    asked = [ALL_EDGES, both, EdgeSelection(("urn:p",), ()), EdgeSelection(("urn:p",), ("urn:p",))]
    tasks = [asyncio.create_task(store.edges(["urn:a"], call(), selection=selection)) for selection in asked]
    for _ in range(25):
        await asyncio.sleep(0)
    for fetch in inner.under_way:
        fetch.answer()
    answers = [(await task)["urn:a"] for task in tasks]
    assert len(inner.fetches) == 3
    assert answers[1] is answers[3]
    assert len({answer.edges for answer in answers}) == 3


STAR = " ".join(f"x:hub x:p x:n{number} ." for number in range(6))


async def answering(request: web.BaseRequest) -> web.StreamResponse:
    """Answer as an engine does that holds a star."""
    query = str((await request.post())["query"])
    solutions = engine(STAR).query(query)
    assert isinstance(solutions, pyoxigraph.QuerySolutions)
    body = solutions.serialize(format=pyoxigraph.QueryResultsFormat.JSON)
    return web.Response(body=body, content_type=JSON)


async def queries_of_a_repeated_question(profile: Profile) -> tuple[int, int, int]:
    """Ask twice, and once more after all was forgotten; return how many queries each needed."""
    async with (
        asyncio.timeout(60),
        fake_endpoint(answering) as endpoint,
        open_gateway(endpoint=endpoint.url, profile=profile, prefixes=PREFIXES) as gateway,
    ):
        await gateway.describe_schema()
        needed = []
        for forget in (gateway.forget_snapshots, gateway.forget_snapshots, gateway.forget):
            forget()
            before = len(endpoint.queries)
            assert (await gateway.bfs_query(["x:hub"], 1)).node_count == 7
            needed.append(len(endpoint.queries) - before)
    first, second, third = needed
    return first, second, third


async def test_what_was_read_of_an_endpoint_is_not_asked_for_again_until_it_is_forgotten() -> None:
    first, second, third = await queries_of_a_repeated_question(Profile())
    assert first >= third > 0
    assert second == 0


async def test_a_profile_can_do_without_a_cache() -> None:
    _, second, third = await queries_of_a_repeated_question(Profile(cache=CacheSettings(megabytes=0)))
    assert second == third > 0


@pytest.mark.parametrize("megabytes", [None, 0, 8])
async def test_a_graph_in_this_process_has_the_same_answers_with_and_without(
    megabytes: int | None, tmp_path: Path
) -> None:
    path = tmp_path / "star.nt"
    engine(STAR).dump(path, pyoxigraph.RdfFormat.N_TRIPLES, from_graph=pyoxigraph.DefaultGraph())
    profile = Profile(cache=CacheSettings(megabytes=megabytes), prefixes=PREFIXES)
    async with open_gateway(path, profile=profile) as gateway:
        first = await gateway.bfs_query(["x:hub"], 2)
        gateway.forget_snapshots()
        assert await gateway.bfs_query(["x:hub"], 2) == first
        assert first.node_count == 7


async def test_names_that_were_being_read_when_other_predicates_became_names_are_not_stored() -> None:
    held, go_on = asyncio.Event(), asyncio.Event()

    async def hook(query: str) -> None:
        if f"{X}n0>" in query and not held.is_set():
            held.set()
            await go_on.wait()

    titled = " ".join(f"x:n{number} x:title 'Person number {number}' ; x:knows x:n0 ." for number in range(30))
    store = store_over(Watched(engine(titled), hook), Profile())

    def call() -> Call:
        return Call(Deadline.after(60.0), 1_000, 1_000_000, 1_000_000)

    async def name() -> str:
        return (await store.nodes([f"{X}n0"], call(), names=True))[f"{X}n0"].name

    try:
        first = asyncio.create_task(name())
        await held.wait()
        assert (await store.quick_schema(call())).names == (f"{X}title",)
        go_on.set()
        assert await first == ""
        assert await name() == "Person number 0"
    finally:
        await store.close()
