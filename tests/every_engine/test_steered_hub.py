"""A hub of 100,000 edges costs few rows, on every engine: three where three are asked for, one for each count."""

from collections.abc import Awaitable, Callable, Iterator
from typing import TypeVar

import pytest

from gateway.graph.call import Call, Deadline
from gateway.graph.values import Degree, Edge, EdgeSelection
from gateway.settings.limits import LimitSettings
from gateway.settings.profile import Profile
from gateway.sparql.store import SparqlStore
from gateway.terms.prefixes import PrefixMap
from gateway.tools.description import EDGES_READ, Surveyor
from tests.columns import BEHIND_HTTP, Column
from tests.servers.engines import ColumnName

pytestmark = [pytest.mark.anyio, pytest.mark.large]

NAMESPACE = "https://example.org/hub/"
HUB, WANTED = f"{NAMESPACE}hub", f"{NAMESPACE}wanted"
OTHERS = tuple(f"{NAMESPACE}other-{number}" for number in range(4))
EDGES = 100_000
SMALL = tuple(f"{NAMESPACE}small-{number}" for number in range(100))

OUT, IN, LOOP = Edge(HUB, WANTED, SMALL[0]), Edge(SMALL[1], WANTED, HUB), Edge(HUB, WANTED, HUB)
BOTH = EdgeSelection((WANTED,), (WANTED,))
"""Of the hub, these three."""

MANY = tuple(sorted((WANTED, *(f"{NAMESPACE}unheard-of-{number}" for number in range(199)))))
"""As many predicates as a caller may name."""

REQUESTS, ROWS = 2, 10

PATIENT = Profile(limits=LimitSettings(deadline_seconds=960))
"""Time is not what this is about: machines of any speed run it. The edges of hubs are counted in a quarter of it."""

Answer = TypeVar("Answer")


def lines() -> Iterator[str]:
    """Yield the triples: half of the edges lead out of the hub, half into it."""
    for edge in (OUT, IN, LOOP):
        yield f"<{edge.subject}> <{edge.predicate}> <{edge.object}> ."
    for number in range(EDGES):
        end, predicate = f"{NAMESPACE}end-{number}", OTHERS[number % 4]
        subject, target = (HUB, end) if number % 2 else (end, HUB)
        yield f"<{subject}> <{predicate}> <{target}> ."


@pytest.fixture(scope="module", params=["in-process", *BEHIND_HTTP])
def hub(request: pytest.FixtureRequest, small_graphs: Callable[[ColumnName], Column]) -> Column:
    return small_graphs(request.param)


def allowance() -> Call:
    return Call(Deadline.after(240), 100, 1_000_000, 1_000_000)


async def cost(asked: Awaitable[Answer], call: Call) -> tuple[Answer, int, int]:
    """Return an answer, and the requests and rows that it took."""
    rows = call.rows
    answer = await asked
    return answer, call.sent, rows - call.rows


async def test_the_selected_edges_of_a_hub_cost_as_much_as_they_are(hub: Column) -> None:
    store = SparqlStore(hub.transport("hub"), hub.settle("hub", Profile()))
    try:
        # What is to be known of the engine and of the graph is found out once.
        await store.edges(SMALL[5:6], allowance(), per_id=5)
        await store.degrees(SMALL[5:6], 5, allowance())
        for nodes in ([HUB], [HUB, *SMALL]):
            expected = (
                {HUB: {OUT, IN, LOOP}} if len(nodes) == 1 else {HUB: {OUT, IN, LOOP}, SMALL[0]: {OUT}, SMALL[1]: {IN}}
            )
            for per_id in (None, 50):
                call = allowance()
                answers, requests, rows = await cost(store.edges(nodes, call, selection=BOTH, per_id=per_id), call)
                assert {node: set(answer.edges) for node, answer in answers.items() if answer.edges} == expected
                assert all(answer.mark.whole for answer in answers.values())
                if len(nodes) == 1:
                    assert requests <= REQUESTS
                    assert rows <= ROWS
            call = allowance()
            degrees, requests, rows = await cost(store.degrees(nodes, 200, call, selection=BOTH), call)
            assert degrees[HUB] == Degree(3)
        call = allowance()
        among, requests, rows = await cost(
            store.edges_among([HUB], frozenset([HUB, *SMALL]), call, predicates=(WANTED,)), call
        )
        assert set(among[HUB].edges) == {OUT, LOOP}
        assert requests <= REQUESTS
        assert rows <= ROWS
    finally:
        await store.close()


async def test_a_survey_of_a_hub_costs_a_row_for_each_count_and_what_is_read_of_any_node(hub: Column) -> None:
    profile = hub.settle("hub", PATIENT)
    store = SparqlStore(hub.transport("hub"), profile)
    surveyor = Surveyor(store, profile, PrefixMap({}))
    try:
        await surveyor.survey(SMALL[5:6], allowance())
        call = allowance()
        surveys, requests, rows = await cost(surveyor.survey([HUB, *SMALL[:2]], call), call)
    finally:
        await store.close()
    assert [(row.predicate, row.incoming, row.count) for row in surveys[SMALL[1]].rows] == [(WANTED, False, 1)]
    found = {(row.predicate, row.incoming): row.count for row in surveys[HUB].rows}
    a_quarter = {(predicate, number % 2 == 0): EDGES // 4 for number, predicate in enumerate(OTHERS)}
    assert found == a_quarter | {(WANTED, False): 2, (WANTED, True): 2}
    assert surveys[HUB].failed is None
    assert requests == 2
    assert rows <= EDGES_READ + 20


async def test_as_many_predicates_as_a_caller_may_name_are_taken_by_every_engine(hub: Column) -> None:
    store = SparqlStore(hub.transport("hub"), hub.settle("hub", Profile()))
    nodes, selection = [HUB, *SMALL[:30]], EdgeSelection(MANY, MANY)
    try:
        for per_id in (None, 50):
            answers = await store.edges(nodes, allowance(), selection=selection, per_id=per_id)
            assert all(answer.mark.whole for answer in answers.values())
            assert set(answers[HUB].edges) == {OUT, IN, LOOP}
            assert sum(len(answer.edges) for answer in answers.values()) == 5
        degrees = await store.degrees(nodes, 200, allowance(), selection=selection)
        assert [degrees[node] for node in nodes[:4]] == [Degree(3), Degree(1), Degree(1), Degree(0)]
        among = await store.edges_among(nodes, frozenset(nodes), allowance(), predicates=MANY)
        assert {edge for answer in among.values() for edge in answer.edges} == {OUT, IN, LOOP}
    finally:
        await store.close()


ABOUT_EDGES = ("edges", "degrees", "lateral/degrees", "lateral/edges")
"""How the names of templates begin that read or count edges."""


@pytest.mark.parametrize("rule", [{}, {"max_degree": 10}, {"max_degree": 10, "max_edges_per_node": 5}], ids=str)
async def test_a_steered_hop_over_a_hub_costs_two_requests_and_ten_rows_under_a_hub_rule_too(
    hub: Column, rule: dict[str, int]
) -> None:
    async with hub.open("hub", PATIENT) as gateway:
        only = [f"<{WANTED}>"]
        await gateway.bfs_query([f"<{SMALL[1]}>"], 1, only_predicates=only, topology_only=True, **rule)  # type: ignore[arg-type]
        answer = await gateway.bfs_query(
            [f"<{HUB}>"],
            1,
            only_predicates=only,
            topology_only=True,
            explain=True,
            **rule,  # type: ignore[arg-type]
        )
        beyond = await gateway.bfs_query([f"<{SMALL[0]}>"], 2, only_predicates=only, topology_only=True, **rule)  # type: ignore[arg-type]
    assert answer.complete, answer.incomplete
    assert answer.edge_count == 3
    assert answer.explain is not None
    sent = [query for query in answer.explain.sent if query.template.startswith(ABOUT_EDGES)]
    assert 1 <= len(sent) <= REQUESTS
    assert sum(query.rows for query in sent) <= ROWS
    # The rule counts the edges that are followed, so the hub is none.
    assert beyond.complete, beyond.incomplete
    assert beyond.edge_count == 3
