"""No answer that lacks something is called complete, whatever requests meet and whatever changes between calls."""

import asyncio
import functools
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import pyoxigraph
import pytest
from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st

from gateway.answers.models import BfsResult, IntersectionResult
from gateway.answers.values import EdgeSurvey
from gateway.errors import AnswerCut, EndpointFault, Fault, GatewayError, InputError, NetworkFault, QueryRefused
from gateway.files.loading import LoadedGraph, load_files
from gateway.flow.control import FlowControl
from gateway.graph.call import Call, Deadline, Spend, deadline_passed, unpaid
from gateway.settings.limits import LimitSettings
from gateway.settings.profile import Profile
from gateway.sparql.store import SparqlStore
from gateway.terms.prefixes import PrefixMap
from gateway.tools.description import Surveyor
from gateway.tools.gateway import Gateway
from gateway.transport.base import Transport
from gateway.transport.inprocess import InProcess
from tests.examples import examples
from tests.oracle import OracleGraph, bfs, edge_counts, intersect
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
from tests.searches import is_exhaustive
from tests.small import PREFIXES, ROOM, Watched, X, engine, ids, over

pytestmark = pytest.mark.anyio

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


TITLES = "".join(f'x:n{number} x:title "Thing number {number} of a list" .\n' for number in range(30))
UNTRUSTED = {"endpoint": {"trusted": False}}


def profile(**tables: object) -> Profile:
    return Profile.model_validate({"size": ROOM, **tables})


async def test_a_search_before_the_names_were_found_out_is_not_complete() -> None:
    # That is too little time for seeing what names the nodes.
    found = await over(TITLES, profile(limits={"schema_seconds": 0.000_1})).search_entities("Thing number 7")
    assert (found.result, found.complete) == ([], False)
    assert "could not be found out" in (found.warnings or [""])[0]
    assert (await over(TITLES, profile()).search_entities("Thing number 7")).result[0].id == "x:n7"


async def test_names_that_the_profile_pins_need_not_be_found_out() -> None:
    pinned = profile(roles={"name": (f"{X}title",)}, limits={"schema_seconds": 0.000_1})
    found = await over(TITLES, pinned).search_entities("unheard")
    assert (found.result, found.complete) == ([], True)


async def test_nothing_about_an_endpoint_that_cuts_without_a_sign_is_complete() -> None:
    gateway = over(TITLES, profile(**UNTRUSTED))
    found = await gateway.search_entities("unheard")
    assert (found.result, found.complete, is_exhaustive(found)) == ([], False, False)
    with pytest.raises(InputError, match="so it may exist"):
        await gateway.describe_entity("x:absent")
    with pytest.raises(InputError, match="so they may exist"):
        await gateway.bfs_query(["x:absent"], 1)
    one, several = await gateway.describe_entity("x:n1"), await gateway.describe_entities(["x:n1", "x:absent"])
    assert (one.complete, several.complete, several.not_found) == (False, False, ["x:absent"])
    for answer in (found, one, several):
        assert any("known to cut answers" in warning for warning in answer.warnings or ())


async def test_a_node_whose_mentions_were_read_in_part_is_not_removed() -> None:
    many = ", ".join(str(number) for number in (1_000, *range(1, 20)))
    graph = f"x:a x:p x:b . x:b x:mentions {many} ."
    answer = await over(graph, profile(limits={"query_rows": 10})).bfs_query(["x:a"], 1, min_mentions=500)
    assert [node.id for node in answer.nodes] == ["x:a", "x:b"]
    assert "it was not removed" in (answer.warnings or [""])[0]
    assert (answer.node_count, answer.undecided) == (2, {"min_mentions": 1})


async def test_counts_say_that_they_may_be_too_large_where_mentions_could_not_be_read() -> None:
    async def failing(query: str) -> None:
        if "mentions" in query:
            raise EndpointFault("The endpoint failed.")

    graph = engine("x:a x:p x:b , x:c ; x:mentions 1 . x:b x:mentions 1 . x:c x:mentions 9 .")
    async with over(graph, profile(roles={"mentions": (f"{X}mentions",)})) as gateway:
        known = await gateway.bfs_query(["x:a"], 1, min_mentions=5)
        assert (known.node_count, known.undecided) == (2, None)
    async with over(Watched(graph, failing), profile(roles={"mentions": (f"{X}mentions",)})) as gateway:
        unknown = await gateway.bfs_query(["x:a"], 1, min_mentions=5, topology_only=True)
        # The seed stays in any case.
        assert (unknown.node_count, unknown.complete, unknown.undecided) == (3, True, {"min_mentions": 2})
        assert any("may be too large" in warning for warning in unknown.warnings or ())


async def test_a_node_whose_types_could_not_be_read_is_undecided_and_one_with_a_type_to_remove_is_not() -> None:
    async def failing(query: str) -> None:
        if f"{X}b>" in query and "22-rdf-syntax-ns#type" in query:
            raise EndpointFault("The endpoint failed.")

    graph = engine("x:a x:p x:b , x:c . x:b a x:T . x:c a x:T .")
    settings = profile(limits={"facts_batch": 1}, orientation={"vouched": False})
    async with over(Watched(graph, failing), settings) as gateway:
        answer = await gateway.bfs_query(["x:a"], 1, exclude_node_types=["x:T"], topology_only=True)
    assert [node.id for node in answer.nodes] == ["x:a", "x:b"]
    assert answer.undecided == {"exclude_node_types": 1}
    assert [gap.cause for gap in answer.incomplete or ()] == ["types_failed"]


async def test_a_type_whose_subclasses_could_not_be_read_leaves_typed_nodes_undecided() -> None:
    async def failing(query: str) -> None:
        if f"{X}below" in query and "VALUES" in query:
            raise EndpointFault("The endpoint failed.")

    graph = engine("x:a x:p x:b , x:c . x:b a x:T . x:c a x:U . x:U x:below x:T .")
    settings = profile(types={"subclass_of": (f"{X}below",)})
    async with over(Watched(graph, failing), settings) as gateway:
        answer = await gateway.bfs_query(["x:a"], 1, exclude_node_types=["x:T"], topology_only=True)
    assert [node.id for node in answer.nodes] == ["x:a", "x:c"]
    assert answer.undecided == {"exclude_node_types": 1}


@pytest.mark.parametrize("iri", ["http://e/a%2", "http://e/[b]", "http://e/a%zz"])
async def test_an_iri_that_the_engine_refuses_is_named(iri: str) -> None:
    async with over("x:a x:p x:b .") as gateway:
        for asked in (gateway.describe_entity(iri), gateway.bfs_query([iri, "http://e/c%2"], 1)):
            with pytest.raises(QueryRefused, match=re.escape(repr(iri))):
                await asked
        answer = await gateway.bfs_query(["x:a", iri], 1)
        assert [(gap.ids, repr(iri) in gap.detail) for gap in answer.incomplete or ()] == [([iri], True)]
        several = await gateway.describe_entities(["x:a", iri])
        assert (several.failed, several.complete) == ([iri], False)


async def test_one_entity_with_too_many_rows_gets_no_advice_to_ask_for_fewer() -> None:
    many = ", ".join(str(number) for number in range(40))
    async with over(f"x:a x:v {many} .", profile(limits={"query_rows": 10})) as gateway:
        with pytest.raises(Fault, match="One entity has more rows") as refused:
            await gateway.describe_entity("x:a")
    assert "fewer" not in str(refused.value)


async def test_a_seed_that_was_merged_more_often_than_is_followed_is_listed_though_it_has_edges() -> None:
    chain = "".join(f"x:r{number} x:went x:r{number + 1} ; x:p x:e{number} .\n" for number in range(9))
    answer = await over(chain, profile(edges={"redirects": (f"{X}went",)})).bfs_query(["x:r0"], 1)
    assert not answer.complete
    assert any("more steps than are followed" in gap.detail for gap in answer.incomplete or ())


async def test_words_that_were_not_looked_for_may_have_been_all_of_a_name() -> None:
    graph = 'x:c rdfs:label "C" . x:z rdfs:label "zebra" .'
    found = await over(graph).search_entities("a1 b2 c3 d4 e5 f6 g7 h8 i9 j10 k11 l12 zebra")
    assert (found.complete, is_exhaustive(found)) == (False, False)
    looked_for = await over(graph).search_entities("C alpha")
    assert [hit.id for hit in looked_for.guesses or ()] == ["x:c"]
    assert (looked_for.complete, is_exhaustive(looked_for)) == (True, True)


CITY = (
    b"<https://example.org/x/c> a <https://example.org/x/City> ; <https://example.org/x/in> <https://example.org/x/b> ."
)


class Switch:
    """A hook that fails the queries with a given text while it is on."""

    def __init__(self, text: str, *, on: bool) -> None:
        self.text = text
        self.on = on

    async def __call__(self, query: str) -> None:
        """Fail a query, or let it pass."""
        if self.on and self.text in query:
            raise EndpointFault("The endpoint failed.")


async def test_a_page_whose_mentions_could_not_be_fetched_does_not_fit_to_one_whose_could() -> None:
    graph = engine("x:a x:p x:b, x:c, x:d . x:b x:mentions 1 . x:c x:mentions 9 . x:d x:mentions 1 .")
    switch = Switch("mentions", on=True)
    async with over(Watched(graph, switch)) as gateway:
        first = await gateway.bfs_query(["x:a"], 1, min_mentions=5, limit=2)
        switch.on = False
        second = await gateway.bfs_query(
            ["x:a"], 1, min_mentions=5, limit=2, offset=first.next_offset or 0, snapshot=first.snapshot
        )
        again = await gateway.bfs_query(["x:a"], 1, min_mentions=5)
    assert "could not all be fetched" in " ".join(first.warnings or ())
    assert second.result_changed is True
    assert ids(again) == ["x:a", "x:c"]


async def test_a_label_that_could_not_be_fetched_does_not_make_a_filter_unknown() -> None:
    graph = engine("x:a a x:Q5 ; x:p x:b . x:Q5 rdfs:label 'human' .")
    # The labels of the schema, and not the names of hits: a question about the type itself.
    switch = Switch("<https://example.org/x/Q5>", on=True)
    now = 0.0
    async with over(Watched(graph, switch), clock=lambda: now) as gateway:
        unsure = await gateway.bfs_query(["x:a"], 1, node_types=["human"])
        switch.on = False
        now = 61.0
        sure = await gateway.bfs_query(["x:a"], 1, node_types=["human"])
    assert "'human'" in " ".join(unsure.warnings or ())
    assert sure.nodes[0].metadata is not None
    assert sure.warnings is None


async def test_a_type_that_came_into_the_graph_later_is_a_filter_after_a_minute() -> None:
    graph = engine("x:a a x:Town ; x:in x:b .")
    now = 0.0
    async with over(graph, clock=lambda: now) as gateway:
        await gateway.describe_schema()
        graph.load(CITY, pyoxigraph.RdfFormat.TURTLE)
        now = 61.0
        answer = await gateway.bfs_query(["x:b"], 1, node_types=["City"])
    assert [node.id for node in answer.nodes if node.metadata is not None] == ["x:c"]


async def test_describe_schema_answers_as_soon_as_the_endpoint_does() -> None:
    switch = Switch("COUNT", on=True)
    async with over(Watched(engine("x:a a x:T ; x:p x:b ."), switch)) as gateway:
        with pytest.raises(EndpointFault):
            await gateway.describe_schema()
        switch.on = False
        assert (await gateway.describe_schema()).entity_types == ["x:T"]


class Saying:
    """An endpoint that answers everything with the same rows."""

    def __init__(self, variables: list[str], rows: Sequence[Mapping[str, object]], **more: object) -> None:
        self._body = json.dumps({"head": {"vars": variables}, "results": {"bindings": rows}, **more}).encode()

    async def select(self, _query: str, _deadline: Deadline, _spend: Spend = unpaid, /) -> bytes:
        """Answer."""
        return self._body

    async def close(self) -> None:
        """Let go of nothing."""


FOREIGN = {"x": {"type": "literal", "value": "1"}}
ALL = ["s", "p", "o", "n", "v", "t", "k", "r", "b", "q", "w", "kind", "count", "x"]


@pytest.mark.parametrize("endpoint", [Saying(["x"], []), Saying(["x"], [FOREIGN]), Saying(ALL, [FOREIGN])])
async def test_an_answer_to_another_question_is_no_schema_and_no_absence(endpoint: Saying) -> None:
    async with over(endpoint) as gateway:
        with pytest.raises(EndpointFault):
            await gateway.describe_schema()
        with pytest.raises(EndpointFault):
            await gateway.describe_entity("x:a")
        with pytest.raises(EndpointFault):
            await gateway.bfs_query(["x:a"], 1)


async def test_an_engine_that_says_that_there_are_more_rows_is_believed() -> None:
    edge = {name: {"type": "uri", "value": PREFIXES["x"] + value} for name, value in zip("spo", "apb", strict=True)}
    async with over(Saying(ALL, [edge], meta={"result-size-total": 5})) as gateway:
        with pytest.raises(EndpointFault, match="only a part"):
            await gateway.bfs_query(["x:a"], 1)


async def test_a_filter_that_no_graph_ever_had_is_still_an_error() -> None:
    async with over("x:a a x:T ; x:p x:b .") as gateway:
        with pytest.raises(InputError, match="'Tee'"):
            await gateway.bfs_query(["x:a"], 1, node_types=["Tee"])
