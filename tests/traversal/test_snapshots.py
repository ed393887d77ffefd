"""What is stored between the pages of one answer (docs/contract.md, "Pages")."""

import asyncio
import gc
import itertools
import tracemalloc

import pytest
from pyoxigraph import NamedNode, Quad

from gateway.errors import EndpointFault
from gateway.graph.call import Deadline, Freshness
from gateway.graph.values import Edge, NodeFacts, Schema
from gateway.traversal.edge_table import EdgeTable
from gateway.traversal.expander import HubRule
from gateway.traversal.steering import PredicateChoice, Steering
from gateway.traversal.topology import Snapshots, Topology
from tests.small import Watched, X, engine, ids, over

MEGABYTE = 1 << 20
STAR = " ".join(f"x:hub x:p x:n{number} ." for number in range(6))

pytestmark = pytest.mark.anyio


def topology(nodes: int, iri: str = "urn:n:") -> Topology:
    """Return an answer of so many nodes in a row."""
    names = [f"{iri}{number}" for number in range(nodes)]
    between = [Edge(one, "urn:p", other) for one, other in itertools.pairwise(names)]
    edges = EdgeTable.of(names, between, Deadline.after(60.0))
    return Topology((names[0],), dict.fromkeys(names, 1), edges, dict.fromkeys(names, NodeFacts()), (), (), 0)


def test_snapshots_are_bounded_and_the_oldest_go_first() -> None:
    snapshots = Snapshots(1, 60.0, lambda: 0.0)
    answers = {question: topology(800) for question in range(10)}
    for question, answer in answers.items():
        snapshots.put(question, answer, snapshots.epoch)
    left = [question for question in answers if snapshots.get(question, Freshness(), continues=False) is not None]
    assert 0 < len(left) < 10
    assert left == list(range(10 - len(left), 10))
    assert sum(answers[question].size_bytes for question in left) <= MEGABYTE


def test_an_answer_that_is_larger_than_the_bound_is_not_stored_and_displaces_none() -> None:
    snapshots = Snapshots(1, 60.0, lambda: 0.0)
    snapshots.put("small", topology(2), snapshots.epoch)
    snapshots.put("large", topology(10_000), snapshots.epoch)
    assert snapshots.get("large", Freshness(), continues=True) is None
    assert snapshots.get("small", Freshness(), continues=True) is not None


def test_the_bytes_counted_for_an_answer_are_no_fewer_than_its_own_iris_take() -> None:
    answer = topology(100, iri="urn:" + "l" * 2_000)
    assert answer.size_bytes >= sum(len(node) for node in answer.nodes)


def test_the_bytes_counted_for_an_answer_are_no_fewer_than_its_names_take() -> None:
    names = [f"urn:n:{number}" for number in range(100)]
    facts = {name: NodeFacts(name=f"{name} {'n' * 5_000}") for name in names}
    answer = Topology(
        (names[0],), dict.fromkeys(names, 1), EdgeTable.of(names, (), Deadline.after(60.0)), facts, (), (), 0
    )
    assert answer.size_bytes >= sum(len(one.name) for one in facts.values())


@pytest.mark.large
@pytest.mark.parametrize("predicates", [0, 50])
@pytest.mark.parametrize("nodes", [1, 2, 30, 1_000])
def test_what_is_counted_is_no_less_than_is_allocated_and_no_more_than_twice_that(nodes: int, predicates: int) -> None:
    snapshots = Snapshots(1_000, 60.0, lambda: 0.0)
    # Whatever is made at first use is made before the count begins.
    snapshots.put("first", topology(3), snapshots.epoch)
    before = snapshots.bytes
    gc.collect()
    tracemalloc.start()
    try:
        for number in range(100):
            namespace = f"https://example.org/a/namespace/of/ordinary/length/{number}/"
            answer = topology(nodes, iri=namespace)
            followed = tuple(PredicateChoice(f"{namespace}predicate-{each}") for each in range(predicates))
            question = ("bfs_query", answer.seeds, 2, HubRule(100), Steering((followed,)))
            snapshots.put(question, answer, snapshots.epoch)
        gc.collect()
        allocated, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert allocated <= snapshots.bytes - before <= 2 * allocated


def test_an_answer_lives_for_its_time_and_no_longer() -> None:
    now = 0.0
    snapshots = Snapshots(1, 60.0, lambda: now)
    snapshots.put("question", topology(2), snapshots.epoch)
    now = 59.0
    assert snapshots.get("question", Freshness(), continues=False) is not None
    now = 61.0
    assert snapshots.get("question", Freshness(), continues=True) is None


def test_clearing_drops_all() -> None:
    snapshots = Snapshots(1, 60.0, lambda: 0.0)
    snapshots.put("question", topology(2), snapshots.epoch)
    snapshots.clear()
    assert snapshots.get("question", Freshness(), continues=True) is None


def test_an_answer_that_was_begun_before_all_were_dropped_is_not_stored() -> None:
    snapshots = Snapshots(1, 60.0, lambda: 0.0)
    began = snapshots.epoch
    snapshots.clear()
    snapshots.put("question", topology(2), began)
    assert snapshots.get("question", Freshness(), continues=True) is None


@pytest.mark.parametrize(
    "later", [Schema(exact=True, version="2", names=("urn:n",)), Schema(exact=True, version="1", names=("urn:m",))]
)
def test_an_answer_from_before_another_schema_only_serves_its_next_pages(later: Schema) -> None:
    snapshots = Snapshots(1, 60.0, lambda: 0.0)
    first = Schema(exact=True, version="1", names=("urn:n",))
    snapshots.compare(first)
    began = snapshots.epoch
    snapshots.put("question", topology(2), began)
    snapshots.compare(first)
    # A sample has another version each time, and a schema without names does not say that there are none.
    snapshots.compare(Schema(exact=False, version="3"))
    assert snapshots.get("question", Freshness(), continues=False) is not None
    snapshots.compare(later)
    assert snapshots.get("question", Freshness(), continues=False) is None
    assert snapshots.get("question", Freshness(), continues=True) is not None
    snapshots.put("other", topology(2), began)
    assert snapshots.get("other", Freshness(), continues=True) is None
    snapshots.put("question", topology(2), snapshots.epoch)
    assert snapshots.get("question", Freshness(), continues=False) is not None


async def test_what_is_being_traversed_when_all_is_forgotten_does_not_answer_the_next_question() -> None:
    asked, go_on = asyncio.Event(), asyncio.Event()

    async def hook(query: str) -> None:
        if "UNION" in query and "n5>" in query:
            asked.set()
            await go_on.wait()

    graph = engine(STAR)
    async with over(Watched(graph, hook)) as gateway:
        await gateway.describe_schema()
        first = asyncio.create_task(gateway.bfs_query(["x:hub"], 2, topology_only=True))
        await asked.wait()
        gateway.forget()
        graph.add(Quad(*(NamedNode(X + name) for name in ("hub", "p", "n7"))))
        go_on.set()
        assert (await first).node_count == 7
        assert (await gateway.bfs_query(["x:hub"], 2, topology_only=True)).node_count == 8


async def test_a_complete_answer_is_asked_for_once() -> None:
    asked: list[str] = []

    async def hook(query: str) -> None:
        if "UNION" in query:
            asked.append(query)

    async with over(Watched(engine(STAR), hook)) as gateway:
        first = await gateway.bfs_query(["x:hub"], 1, topology_only=True)
        before = len(asked)
        second = await gateway.bfs_query(["x:hub"], 1, topology_only=True, exclude_node_types=["untyped"])
        third = await gateway.bfs_query(["x:hub"], 1, topology_only=True)
        assert len(asked) == before
        await gateway.bfs_query(["x:hub"], 2, topology_only=True)
        assert len(asked) > before
    assert first == third
    assert ids(second) == ["x:hub"]


async def test_an_incomplete_answer_serves_its_next_page_and_no_fresh_question() -> None:
    failing = True

    async def hook(query: str) -> None:
        if failing and "isBlank(?o)" in query and "x/n0>" in query:
            raise EndpointFault("Down.")

    async with over(Watched(engine(f"{STAR} x:n0 x:p x:far ."), hook)) as gateway:
        first = await gateway.bfs_query(["x:hub"], 2, limit=3, topology_only=True)
        assert first.complete is False
        failing = False
        second = await gateway.bfs_query(["x:hub"], 2, limit=3, topology_only=True, offset=3, snapshot=first.snapshot)
        by_offset = await gateway.bfs_query(["x:hub"], 2, limit=3, topology_only=True, offset=3)
        fresh = await gateway.bfs_query(["x:hub"], 2, topology_only=True)
    assert (second.complete, second.snapshot, second.result_changed) == (False, first.snapshot, None)
    assert by_offset == second
    assert len({*ids(first), *ids(second)}) == 6
    assert fresh.complete is True
    assert "x:far" in ids(fresh)


async def test_a_call_that_fails_leaves_nothing_behind() -> None:
    failing = True

    async def hook(query: str) -> None:
        if failing and "isBlank(?o)" in query:
            raise EndpointFault("Down.")

    async with over(Watched(engine(STAR), hook)) as gateway:
        with pytest.raises(EndpointFault):
            await gateway.bfs_query(["x:hub"], 1)
        failing = False
        answer = await gateway.bfs_query(["x:hub"], 1)
    assert answer.complete is True
    assert answer.node_count == 7


@pytest.mark.parametrize("part", ["GROUP BY", "isBlank(?o)", "isLiteral(?v)", "rdf:reifies"])
async def test_a_call_that_is_cancelled_leaves_the_gateway_usable(part: str) -> None:
    waiting = asyncio.Event()
    patient = True

    async def hook(query: str) -> None:
        if patient and part in query:
            waiting.set()
            await asyncio.Event().wait()

    async with over(Watched(engine(f"{STAR} x:hub x:q x:n0 {{| x:confidence 0.5 |}} ."), hook)) as gateway:
        calls = [asyncio.create_task(gateway.bfs_query(["x:hub"], 2)) for _ in range(3)]
        await waiting.wait()
        for call in calls:
            call.cancel()
        ended = await asyncio.gather(*calls, return_exceptions=True)
        patient = False
        answer = await gateway.bfs_query(["x:hub"], 2)
        schema = await gateway.describe_schema()
    assert all(isinstance(one, asyncio.CancelledError) for one in ended)
    assert answer.complete is True
    assert (answer.node_count, answer.edge_count) == (7, 7)
    assert answer.degraded is None
    assert schema.comprehensive is True


async def test_cancelling_one_of_two_calls_does_not_disturb_the_other() -> None:
    waiting, go_on = asyncio.Event(), asyncio.Event()

    async def hook(query: str) -> None:
        if "GROUP BY" in query:
            waiting.set()
            await go_on.wait()

    async with over(Watched(engine(STAR), hook)) as gateway:
        one = asyncio.create_task(gateway.bfs_query(["x:hub"], 1))
        other = asyncio.create_task(gateway.bfs_query(["x:hub"], 1))
        await waiting.wait()
        one.cancel()
        go_on.set()
        answer = await other
        with pytest.raises(asyncio.CancelledError):
            await one
    assert answer.complete is True
    assert answer.node_count == 7


async def test_a_cancelled_query_of_the_embedded_engine_frees_its_slot() -> None:
    async with over(STAR) as gateway:
        for _ in range(5):
            call = asyncio.create_task(gateway.bfs_query(["x:hub"], 1))
            await asyncio.sleep(0)
            call.cancel()
            await asyncio.gather(call, return_exceptions=True)
        assert (await gateway.bfs_query(["x:hub"], 1)).node_count == 7
