"""More edges than one query may return: packed by degree, read in pages, asked from the other end."""

import asyncio
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.errors import EdgesCapped
from gateway.graph.call import Call, Deadline
from gateway.graph.values import Edge
from gateway.settings.endpoint import EndpointSettings
from gateway.settings.limits import LimitSettings
from gateway.settings.profile import Profile
from gateway.sparql.store import SparqlStore
from gateway.transport.inprocess import InProcess
from tests.small import ROOM, Watched, X, engine, ids, over

pytestmark = pytest.mark.anyio

LEAVES = 15
STAR = " ".join(f"x:hub x:p x:leaf{n:02} . x:leaf{n:02} x:q x:end{n:02} ." for n in range(LEAVES))


class Queries:
    """Counts queries by what they ask."""

    def __init__(self) -> None:
        self.sent: list[str] = []

    async def __call__(self, query: str) -> None:
        """Remember a query."""
        self.sent.append(query)

    def with_text(self, pattern: str) -> list[str]:
        """Return the queries that a pattern is found in."""
        return [query for query in self.sent if re.search(pattern, query)]


def rows_at_most(rows: int) -> Profile:
    return Profile(size=ROOM, limits=LimitSettings(query_rows=rows))


async def test_a_batch_with_too_many_edges_is_packed_by_degree_after_one_count() -> None:
    queries = Queries()
    async with over(Watched(engine(STAR), queries), rows_at_most(20)) as gateway:
        answer = await gateway.bfs_query(["x:hub"], 2, topology_only=True)
    assert answer.complete
    assert answer.edge_count == 2 * LEAVES
    assert len(queries.with_text(r"AS \?degree")) == 1
    # Fifteen leaves of two edges each: ten, five, and the batch that was too much.
    parts = [
        query for query in queries.with_text(r"SELECT \?s \?p \?o WHERE") if "leaf" in query and "ORDER" not in query
    ]
    assert len(parts) == 3


async def test_an_intersection_asks_for_nodes_first_and_for_the_edges_of_what_is_common_alone() -> None:
    queries = Queries()
    graph = STAR + " x:other x:p x:leaf00 . x:other x:p x:leaf01 ."
    async with over(Watched(engine(graph), queries)) as gateway:
        answer = await gateway.intersect_subgraphs(["x:hub", "x:other"], 2, topology_only=True, via=False)
    assert answer.complete
    assert {"x:hub", "x:other", "x:leaf00", "x:leaf01"} <= set(ids(answer))
    assert len(queries.with_text(r"SELECT DISTINCT \?n WHERE")) == 4
    (edges,) = queries.with_text(r"^SELECT \?s \?p \?o")
    assert "x/end" not in edges or "x/end00" in edges
    assert "leaf14>" not in edges


async def test_an_intersection_through_blank_nodes_falls_back_to_edges_and_counts_them() -> None:
    queries = Queries()
    graph = "x:a x:p x:m, [] . x:b x:p x:m ; x:p [] ."
    async with over(Watched(engine(graph), queries)) as gateway:
        answer = await gateway.intersect_subgraphs(["x:a", "x:b"], 2, topology_only=True)
        queries.sent.clear()
        gateway.forget()
        await gateway.intersect_subgraphs(["x:a", "x:b"], 2, topology_only=True)
        assert not queries.with_text(r"SELECT DISTINCT \?n WHERE")
    assert [(gap.cause, gap.ids) for gap in answer.incomplete or ()] == [("blank_nodes", ["x:a", "x:b"])]
    assert ids(answer) == ["x:a", "x:b", "x:m"]
    assert answer.blank_node_edges == 2


async def test_shared_literals_are_no_way_from_one_node_to_another() -> None:
    async with over("x:a x:born 1950 ; x:p x:m . x:b x:born 1950 ; x:p x:n .") as gateway:
        answer = await gateway.intersect_subgraphs(["x:a", "x:b"], 2, topology_only=True)
    assert answer.complete
    assert answer.nodes == []


async def test_edges_from_a_node_with_too_many_to_few_others_are_asked_from_the_other_end() -> None:
    queries = Queries()
    graph = STAR + " x:left x:p x:mid . x:right x:p x:mid . x:mid x:p x:hub . x:hub x:r x:left ."
    async with over(Watched(engine(graph), queries), rows_at_most(10)) as gateway:
        answer = await gateway.intersect_subgraphs(["x:left", "x:right"], 2, topology_only=True, max_degree=5)
    assert ids(answer) == ["x:left", "x:right", "x:mid", "x:hub"]
    assert ("x:hub", "x:r", "x:left") in {(edge.subject, edge.predicate, edge.object) for edge in answer.edges}
    assert [entry.cause for entry in answer.incomplete or ()] == ["hub_not_expanded"]


async def test_an_endpoint_that_is_not_trusted_never_gives_a_complete_answer() -> None:
    profile = Profile(size=ROOM, endpoint=EndpointSettings(trusted=False))
    async with over("x:a x:p x:b .", profile) as gateway:
        traversal = await gateway.bfs_query(["x:a"], 1, topology_only=True)
        common = await gateway.intersect_subgraphs(["x:a", "x:b"], 2, topology_only=True)
    for answer in (traversal, common):
        assert answer.complete is False
        (gap,) = answer.incomplete or []
        assert gap.cause == "server_truncated"
        assert "cut answers without a sign" in gap.detail
        assert "x:a" in gap.ids


@pytest.mark.parametrize(
    ("cap", "shown", "complete"), [(9, 9, False), (10, 10, False), (11, 11, False), (15, 15, True)]
)
async def test_a_cap_above_the_rows_of_one_query_is_put_on_pages(cap: int, shown: int, complete: bool) -> None:
    graph = " ".join(f"x:a x:p x:b{number} ." for number in range(15))
    async with over(Watched(engine(graph), Queries()), rows_at_most(10)) as gateway:
        answer = await gateway.bfs_query(["x:a"], 1, max_edges_per_node=cap, topology_only=True)
    assert (answer.edge_count, answer.complete) == (shown, complete)
    assert [gap.cause for gap in answer.incomplete or ()] == ([] if complete else ["edges_capped"])


@pytest.mark.parametrize(("cap", "pages"), [(10, 2), (19, 2), (20, 3), (59, 6), (60, 7)])
async def test_of_a_node_above_a_cap_no_page_is_read_that_its_shown_edges_do_not_need(cap: int, pages: int) -> None:
    queries = Queries()
    graph = " ".join(f"x:a x:p x:b{number:02} ." for number in range(61))
    async with over(Watched(engine(graph), queries), rows_at_most(10)) as gateway:
        answer = await gateway.bfs_query(["x:a"], 1, max_edges_per_node=cap, topology_only=True)
    assert (answer.edge_count, answer.complete) == (cap, False)
    assert len(queries.with_text(r"ORDER BY STR")) == pages
    # Their number is asked for only where they are to be all.
    assert not queries.with_text(r"SELECT \?kind")


@given(
    outgoing=st.integers(0, 40),
    incoming=st.integers(0, 15),
    loops=st.integers(0, 1),
    blank=st.integers(0, 25),
    rows=st.integers(10, 20),
    most=st.integers(1, 60),
)
def test_some_edges_of_a_node_are_as_many_as_asked_for_or_all_however_few_rows_a_query_returns(
    outgoing: int, incoming: int, loops: int, blank: int, rows: int, most: int
) -> None:
    graph = " ".join(
        [
            *(f"x:a x:p x:b{number} ." for number in range(outgoing)),
            *(f"x:c{number} x:p x:a ." for number in range(incoming)),
            *(["x:a x:p x:a ."] * loops),
            *(["x:a x:p [] ."] * blank),
        ]
    )
    store = SparqlStore(InProcess(engine(graph), max_bytes=1 << 24), rows_at_most(rows))
    call = Call(Deadline.after(60), 1_000, 100_000, 100_000)
    found = asyncio.run(store.edges([f"{X}a"], call, per_id=most))[f"{X}a"]
    ends = [("a", f"b{number}") for number in range(outgoing)] + [(f"c{number}", "a") for number in range(incoming)]
    ends += [("a", "a")] * loops
    there = {Edge(f"{X}{subject}", f"{X}p", f"{X}{target}") for subject, target in ends}
    assert len(found.edges) == len(set(found.edges)) == min(most, len(there))
    assert set(found.edges) <= there
    if len(there) <= most:
        assert (found.mark.whole, found.blank_edges) == (True, blank)
    else:
        assert isinstance(found.mark.fault, EdgesCapped)
