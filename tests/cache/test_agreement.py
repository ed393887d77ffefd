"""The cache in front of an engine: cold and warm, every question has the oracle's answer, and is asked once."""

import asyncio
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

from gateway.cache.store import CachedStore
from gateway.errors import InputError
from gateway.graph.call import Deadline, Spend, unpaid
from gateway.settings.limits import SizeSettings
from gateway.settings.profile import Profile
from gateway.sparql.store import SparqlStore
from gateway.terms.prefixes import PrefixMap
from gateway.tools.gateway import Gateway
from gateway.transport.base import Transport
from tests.columns import Column
from tests.examples import examples
from tests.oracle import bfs, intersect
from tests.random_graphs import IntersectionQuestion, Question, intersections, questions
from tests.random_session import Corpus

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
