"""No answer is both wrong and complete, whatever the endpoint does to each single request."""

import asyncio
import functools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import pytest
from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st

from gateway.answers.models import BfsResult, IntersectionResult
from gateway.answers.values import EdgeSurvey
from gateway.errors import AnswerCut, EndpointFault, Fault, GatewayError, NetworkFault, QueryRefused
from gateway.files.loading import LoadedGraph, load_files
from gateway.flow.control import FlowControl
from gateway.graph.call import Call, Deadline, Spend, deadline_passed, unpaid
from gateway.settings.limits import LimitSettings, SizeSettings
from gateway.settings.profile import Profile
from gateway.sparql.store import SparqlStore
from gateway.terms.prefixes import PrefixMap
from gateway.tools.description import Surveyor
from gateway.tools.gateway import Gateway
from gateway.transport.base import Transport
from gateway.transport.inprocess import InProcess
from tests.examples import examples
from tests.oracle import OracleGraph, bfs, intersect
from tests.random_graphs import (
    IntersectionQuestion,
    Question,
    RandomGraph,
    corpus,
    corpus_triples,
    intersections,
    questions,
    write_corpus,
)
from tests.survey_oracle import edge_counts

ROOM = SizeSettings(max_tokens=10_000_000, ceiling_tokens=10_000_000)

RAISED: tuple[Fault, ...] = (
    EndpointFault("The endpoint failed."),
    NetworkFault("No answer."),
    QueryRefused("Refused."),
    AnswerCut("Cut."),
    deadline_passed(),
)
SPOILT: Mapping[str, Callable[[bytes], bytes]] = {
    "cut in the middle": lambda body: body[: len(body) // 2],
    "error text after the rows": lambda body: body + b"\n##  Query cancelled due to timeout during execution   ##\n",
    "a page of HTML": lambda _: b"<html><body>Bad gateway</body></html>",
    "another JSON": lambda _: b'{"exception": "Operation timed out", "status": "ERROR"}',
    "nothing": lambda _: b"",
}
WHOLE = "whole"
HAPPENS: tuple[Fault | str, ...] = (*RAISED, *SPOILT, WHOLE, WHOLE, WHOLE, WHOLE)


@dataclass
class Unreliable:
    """A transport that does to each request what the plan says, and is whole when the plan is over."""

    inner: Transport
    plan: Sequence[Fault | str] = ()
    asked: int = field(default=0)

    async def select(self, query: str, deadline: Deadline, spend: Spend = unpaid, /) -> bytes:
        """Run a query, or not."""
        happens = self.plan[self.asked] if self.asked < len(self.plan) else WHOLE
        self.asked += 1
        if isinstance(happens, Fault):
            raise happens
        body = await self.inner.select(query, deadline, spend)
        return body if happens == WHOLE else SPOILT[happens](body)

    async def close(self) -> None:
        """Close the transport."""
        await self.inner.close()


@dataclass
class Session:
    """A gateway over the random graphs through an unreliable transport."""

    runner: asyncio.Runner
    gateway: Gateway
    transport: Unreliable
    store: SparqlStore
    profile: Profile

    def survey(self, nodes: Sequence[str], edges_read: int) -> Mapping[str, EdgeSurvey]:
        """Survey nodes, reading so many edges of each at most."""
        surveyor = Surveyor(self.store, self.profile, PrefixMap({}), edges_read)
        return self.runner.run(surveyor.survey(nodes, Call(Deadline.after(120), 1_000, 1_000_000, 1_000_000)))

    def ask(
        self, question: Question | IntersectionQuestion, plan: Sequence[Fault | str]
    ) -> BfsResult | IntersectionResult | None:
        """Ask under a plan; None where the answer is an error, which is honest."""
        self.gateway.forget_snapshots()
        self.transport.plan, self.transport.asked = plan, 0
        try:
            if isinstance(question, Question):
                return self.runner.run(self.gateway.bfs_query(question.seeds, question.max_hops, topology_only=True))
            return self.runner.run(self.gateway.intersect_subgraphs(question.seeds, question.k, topology_only=True))
        except GatewayError:
            return None


async def at_once(_seconds: float) -> None:
    """Pause before a retry for no time at all."""


@functools.cache
def oracle() -> OracleGraph:
    return OracleGraph(corpus_triples())


@pytest.fixture(scope="module")
def graph(tmp_path_factory: pytest.TempPathFactory) -> LoadedGraph:
    path = tmp_path_factory.mktemp("corpus") / "random.nt"
    write_corpus(path)
    return load_files([path], blank_types=None)


@pytest.fixture(params=[50_000, 12])
def session(request: pytest.FixtureRequest, graph: LoadedGraph) -> Iterator[Session]:
    """Open a gateway; one that reads so few rows a query that batches are split and nodes overflow."""
    profile = Profile(size=ROOM, limits=LimitSettings(query_rows=request.param, batch=7, facts_batch=5, requests=5_000))
    with asyncio.Runner() as runner:
        transport = Unreliable(InProcess(graph.engine, max_bytes=1 << 24))
        store = SparqlStore(transport, profile, FlowControl(profile.endpoint.requests, sleep=at_once))
        gateway = Gateway(store, profile, PrefixMap({}))
        runner.run(gateway.describe_schema())
        # On a busy machine the reading goes on, and would take the faults that are planned for a question.
        runner.run(gateway.wait_for_schema())
        yield Session(runner, gateway, transport, store, profile)
        runner.run(gateway.close())


plans = st.lists(st.sampled_from(HAPPENS), max_size=12)
unreliable = settings(
    max_examples=examples(300),
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


@unreliable
@given(question=questions(), plan=plans)
def test_a_traversal_that_says_complete_is_the_oracles(
    session: Session, question: Question, plan: Sequence[Fault | str]
) -> None:
    answer = session.ask(question, plan)
    expected = bfs(oracle(), question.seeds, question.max_hops)
    if answer is None:
        event("error")
        return
    event("complete" if answer.complete else "incomplete")
    nodes = {node.id for node in answer.nodes}
    edges = {(edge.subject, edge.predicate, edge.object) for edge in answer.edges}
    assert nodes <= expected.distance.keys()
    assert edges <= expected.edges
    assert set(answer.missing_seeds or ()) <= set(expected.missing)
    if answer.complete:
        assert nodes == expected.distance.keys()
        assert edges == expected.edges
        assert (answer.missing_seeds or []) == expected.missing
        assert (answer.blank_node_edges or 0) == expected.blank_node_edges
        assert "unknown" not in {node.entity_type for node in answer.nodes}
    else:
        assert answer.incomplete


@unreliable
@given(question=intersections(), plan=plans)
def test_an_intersection_that_says_complete_is_the_oracles(
    session: Session, question: IntersectionQuestion, plan: Sequence[Fault | str]
) -> None:
    answer = session.ask(question, plan)
    expected = intersect(oracle(), question.seeds, question.k)
    if answer is None:
        event("error")
        return
    event("complete" if answer.complete else "incomplete")
    nodes = {node.id for node in answer.nodes}
    edges = {(edge.subject, edge.predicate, edge.object) for edge in answer.edges}
    assert nodes <= expected.nodes or expected.missing
    if answer.complete:
        assert nodes == expected.nodes
        assert edges == expected.edges
        assert (answer.missing_seeds or []) == expected.missing
    else:
        assert answer.incomplete


def test_a_failed_batch_leaves_the_rest_of_the_answer_and_says_what_is_missing(session: Session) -> None:
    question = Question(_connected(), _connected().nodes[:1], 2)
    answer = session.ask(question, [WHOLE, EndpointFault("The endpoint failed.")])
    assert answer is not None
    assert answer.complete is False
    (gap,) = [entry for entry in answer.incomplete or () if entry.cause == "endpoint_failed"]
    assert gap.count == len(gap.ids) > 0
    assert gap.detail == "The endpoint failed."
    assert answer.node_count > 1


def test_an_endpoint_that_fails_for_every_seed_is_an_error_and_no_empty_answer(session: Session) -> None:
    question = Question(_connected(), _connected().nodes[:2], 1)
    assert session.ask(question, [NetworkFault("No answer.")] * 50) is None


def test_types_that_could_not_be_fetched_are_unknown_and_make_the_answer_incomplete(session: Session) -> None:
    seed = _connected().nodes[0]
    answer = session.ask(Question(_connected(), (seed,), 1), [WHOLE, *([EndpointFault("No types.")] * 50)])
    assert answer is not None
    assert answer.complete is False
    assert {"types_failed", "server_truncated"} >= {entry.cause for entry in answer.incomplete or ()}
    assert "unknown" in {node.entity_type for node in answer.nodes}


def _connected() -> RandomGraph:
    """Return a graph whose first node has a second neighbourhood."""
    return next(
        graph
        for graph in corpus()
        if len(bfs(oracle(), graph.nodes[:1], 2).levels) > 2 and len(bfs(oracle(), graph.nodes[:1], 1).levels) == 2
    )


@unreliable
@given(
    nodes=st.lists(st.sampled_from([node for graph in corpus() for node in graph.nodes]), min_size=1, max_size=4),
    edges_read=st.integers(1, 12),
    plan=plans,
)
def test_a_survey_of_edges_that_says_nothing_failed_is_the_oracles(
    session: Session, nodes: list[str], edges_read: int, plan: Sequence[Fault | str]
) -> None:
    session.transport.plan, session.transport.asked = plan, 0
    surveys = session.survey(list(dict.fromkeys(nodes)), edges_read)
    for node, survey in surveys.items():
        event("failed" if survey.failed else "whole")
        expected = edge_counts(oracle(), node)
        rows = {(row.predicate, row.incoming): row.count for row in survey.rows}
        if survey.failed is None:
            assert rows == expected
            assert survey.blank_edges == oracle().blank_node_edges_of(node)
        else:
            assert not survey.is_exact
            assert all(count <= expected[kind] for kind, count in rows.items())
            assert survey.blank_edges <= oracle().blank_node_edges_of(node)
