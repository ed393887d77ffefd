"""What lives as long as a gateway is bounded in bytes, and no fewer are counted than Python allocates."""

import asyncio
import gc
import tracemalloc
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

import pyoxigraph
import pytest

from gateway.cache.memory import MemoryCache, memory_size
from gateway.cache.store import CachedStore
from gateway.errors import AnswerCut, EdgesCapped, Fault
from gateway.flow.control import FlowControl
from gateway.graph.call import Call, Deadline, Freshness
from gateway.graph.values import Degree, Edge, EdgeSelection, Existence, Hit, Hits, Mark, NodeFacts, Reach
from gateway.settings.limits import SnapshotSettings
from gateway.settings.profile import Profile
from gateway.sparql.client import SparqlClient
from gateway.sparql.store import SparqlStore
from gateway.terms.bounded_map import BoundedMap
from gateway.terms.prefixes import PrefixMap
from gateway.tools.gateway import Gateway
from gateway.transport.inprocess import InProcess
from tests.small import PREFIXES, engine

pytestmark = pytest.mark.anyio

NODES = 600
NAMESPACE = "https://example.org/a/namespace/of/ordinary/length/"


def iri(number: int) -> str:
    """Return a node; most are only pointed to, as most neighbours are not asked about in the same batch."""
    return f"{NAMESPACE}node-{number % (10 * NODES):06}"


def triples(number: int) -> list[str]:
    """Return what is said of one node: a few edges or, of one in fifty, many; a type, names, texts, a blank node."""
    node = f"<{iri(number)}>"
    edges = 100 if number % 50 == 0 else number % 7
    return [
        *(f"{node} <{NAMESPACE}predicate-{step % 5}> <{iri(number * 31 + step * 17)}>" for step in range(edges)),
        f"{node} <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <{NAMESPACE}Class{number % 9}>",
        f'{node} <http://www.w3.org/2000/01/rdf-schema#label> "The name of number {number}"@en',
        f'{node} <http://www.w3.org/2000/01/rdf-schema#comment> "{"a description, " * (number % 20)}"',
        f"{node} <{NAMESPACE}count> {number}",
        f"{node} <{NAMESPACE}inside> _:b{number}",
        f'_:b{number} <{NAMESPACE}says> "something {number}"',
        f"_:r{number} <http://www.w3.org/1999/02/22-rdf-syntax-ns#subject> {node}",
        f"_:r{number} <http://www.w3.org/1999/02/22-rdf-syntax-ns#predicate> <{NAMESPACE}predicate-0>",
        f"_:r{number} <http://www.w3.org/1999/02/22-rdf-syntax-ns#object> <{iri(number * 31)}>",
        f"_:r{number} a <http://www.w3.org/1999/02/22-rdf-syntax-ns#Statement>",
        f"_:r{number} <{NAMESPACE}confidence> 0.{number}",
    ]


@pytest.fixture(scope="module")
def large_values() -> pyoxigraph.Store:
    store = pyoxigraph.Store()
    text = " .\n".join(line for number in range(NODES) for line in triples(number))
    store.load(f"{text} .".encode(), pyoxigraph.RdfFormat.TURTLE)
    return store


def _of_predicates(count: int) -> EdgeSelection:
    """Return a selection that comes with its call, as every one does."""
    predicates = tuple(f"{NAMESPACE}predicate-{number}" for number in range(count))
    return EdgeSelection(predicates, predicates)


def allowance() -> Call:
    return Call(Deadline.after(120), 10_000, 10_000_000, 10_000_000)


Primitive = Callable[[CachedStore, Sequence[str]], Awaitable[Mapping[Any, Any]]]

PRIMITIVES: dict[str, Primitive] = {
    "edges": lambda store, ids: store.edges(ids, allowance()),
    "some edges": lambda store, ids: store.edges(ids, allowance(), per_id=2),
    "edges of one predicate": lambda store, ids: store.edges(ids, allowance(), selection=_of_predicates(1)),
    "edges of many predicates": lambda store, ids: store.edges(ids, allowance(), selection=_of_predicates(200)),
    "degrees of many predicates": lambda store, ids: store.degrees(ids, 5, allowance(), selection=_of_predicates(200)),
    "degrees": lambda store, ids: store.degrees(ids, 50, allowance()),
    "edge counts": lambda store, ids: store.edge_counts(ids, allowance()),
    "existing": lambda store, ids: store.existing(ids, allowance()),
    "types": lambda store, ids: store.nodes(ids, allowance(), names=False),
    "names": lambda store, ids: store.nodes(ids, allowance(), names=True),
    "metadata": lambda store, ids: store.node_metadata(ids, allowance(), blank_nodes=True),
    "evidence": lambda store, ids: store.edge_metadata(
        [Edge(node, f"{NAMESPACE}predicate-0", iri(number * 31)) for number, node in enumerate(ids)], allowance()
    ),
}


def allocated_and_counted(large_values: pyoxigraph.Store, primitive: Primitive, megabytes: int) -> tuple[int, int]:
    """Return what is allocated for what a cache stores about all nodes, and the bytes that it counts."""

    async def measure() -> tuple[int, int]:
        profile = Profile()
        store = CachedStore(
            SparqlStore(InProcess(large_values, max_bytes=1 << 28), profile), megabytes=megabytes, ttl_seconds=1_000
        )
        # Whatever is made at first use is made before the count begins.
        await primitive(store, [iri(0), iri(1)])
        store.forget()
        gc.collect()
        tracemalloc.start()
        try:
            # Keys come with each call: they are the cache's to pay for.
            await primitive(store, [iri(number) for number in range(NODES)])
            gc.collect()
            allocated, _ = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
        return allocated, store.statistics().bytes

    return asyncio.run(measure())


@pytest.mark.large
@pytest.mark.parametrize("primitive", PRIMITIVES.values(), ids=PRIMITIVES)
def test_what_is_counted_is_no_less_than_is_allocated_and_no_more_than_twice_that(
    large_values: pyoxigraph.Store, primitive: Primitive
) -> None:
    allocated, counted = allocated_and_counted(large_values, primitive, megabytes=64)
    assert allocated <= counted <= 2 * allocated


@pytest.mark.large
@pytest.mark.parametrize("primitive", PRIMITIVES.values(), ids=PRIMITIVES)
def test_the_bound_holds_for_what_is_allocated(large_values: pyoxigraph.Store, primitive: Primitive) -> None:
    allocated, counted = allocated_and_counted(large_values, primitive, megabytes=1)
    assert counted <= 1 << 20
    assert allocated <= 1 << 20


def nodes_reached(number: int) -> Reach:
    return Reach({f"{NAMESPACE}{number}/{place}": 1 for place in range(number % 300)})


def names_found(number: int) -> Hits:
    hits = (Hit(f"{NAMESPACE}{number}/{place}", "a name " * (place % 9), False) for place in range(number % 300))
    return Hits(tuple(hits), truncated=False, how=f"names with {number}")


@pytest.mark.large
@pytest.mark.parametrize("made", [nodes_reached, names_found])
def test_an_answer_of_many_parts_is_counted_by_its_parts(made: Callable[[int], object]) -> None:
    memory = MemoryCache(1 << 30, 60.0, lambda: 0.0)
    tracemalloc.start()
    try:
        for number in range(200):
            memory.put("question", {str(number): made(number)}, memory.sizes())
        allocated, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert allocated <= memory.bytes <= 2 * allocated


@pytest.mark.large
def test_counting_stops_soon_above_the_bound() -> None:
    answer = nodes_reached(299)
    assert 1_000 < memory_size(answer, at_most=1_000) < 20_000 < memory_size(answer)


@pytest.mark.large
def test_what_is_larger_than_the_cache_is_not_stored() -> None:
    memory = MemoryCache(10_000, 60.0, lambda: 0.0)
    memory.put("question", {"large": nodes_reached(299), "small": nodes_reached(3)}, memory.sizes())
    assert memory.get(("question", "large"), Freshness()) is None
    assert memory.get(("question", "small"), Freshness()) == nodes_reached(3)


MEGABYTE = 1 << 20
DOUBTFUL = "https://example.org/x/./"
"""How IRIs begin that an engine may rewrite, and about which it is asked."""


def in_process() -> InProcess:
    return InProcess(engine("x:a x:p x:b ."), max_bytes=1 << 26)


def test_what_is_remembered_is_bounded_and_what_is_known_stays_right() -> None:
    remembered: BoundedMap[str, int] = BoundedMap(10_000)
    for number in range(10_000):
        remembered.add(str(number), number, 100)
        assert remembered.known[str(number)] == number
        assert len(remembered) <= 10_000 // 220
    remembered.add("large", 1, 2_000)
    assert "large" not in remembered.known


async def test_how_iris_are_read_is_remembered_in_few_bytes() -> None:
    client = SparqlClient(in_process(), Profile(), FlowControl(Profile().endpoint.requests))
    padding = "x" * 20_000
    await client.rewritten([f"{DOUBTFUL}first"], allowance())
    gc.collect()
    tracemalloc.start()
    try:
        for number in range(20):
            iris = [f"{DOUBTFUL}{number}/{place}/{padding}" for place in range(40)]
            await client.rewritten(iris, allowance())
        gc.collect()
        held, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert held < 8 * MEGABYTE


def frames_of(fault: Fault) -> list[object]:
    return [held for held in (fault.__traceback__, fault.__context__, fault.__cause__) if held is not None]


def test_a_mark_does_not_hold_what_was_read_when_its_fault_was_raised() -> None:
    def read(text: str) -> None:
        try:
            int(text)
        except ValueError as error:
            raise AnswerCut("The endpoint sent only a part.") from error

    with pytest.raises(AnswerCut) as caught:
        read("x")
    assert frames_of(caught.value)
    mark = Mark(caught.value)
    assert mark.fault is not None
    assert not frames_of(mark.fault)


LONG = "\u4e00" * 100_000


@pytest.mark.parametrize(
    "answer",
    [
        NodeFacts(description=LONG),
        NodeFacts(name=LONG),
        NodeFacts(types=(LONG,)),
        NodeFacts(mark=Mark(EdgesCapped(LONG))),
        Degree(mark=Mark(EdgesCapped(LONG))),
        Existence(mark=Mark(EdgesCapped(LONG))),
    ],
    ids=["description", "name", "types", "mark of facts", "mark of a degree", "mark of an existence"],
)
def test_all_texts_of_an_answer_are_counted(answer: object) -> None:
    assert memory_size(answer) >= 2 * len(LONG)


def test_the_bound_holds_for_answers_that_are_mostly_descriptions() -> None:
    memory = MemoryCache(MEGABYTE, 60.0, lambda: 0.0)
    tracemalloc.start()
    try:
        for number in range(200):
            memory.put("nodes", {str(number): NodeFacts(description=f"{number} {'x' * 50_000}")}, memory.sizes())
        held, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert held <= MEGABYTE
    assert memory.evicted


@pytest.mark.large
async def test_a_thousand_different_questions_leave_no_more_memory_than_the_bounds_say() -> None:
    graph = engine(" ".join(f"x:n{number} x:p x:n{number + 1} ." for number in range(100)))
    profile = Profile(snapshots=SnapshotSettings(megabytes=1))
    store = CachedStore(SparqlStore(InProcess(graph, max_bytes=1 << 26), profile), megabytes=1, ttl_seconds=1_000)
    padding = "x" * 900
    sent = 0
    async with Gateway(store, profile, PrefixMap(PREFIXES)) as gateway:
        await gateway.bfs_query(["x:n1"], 1)
        gc.collect()
        tracemalloc.start()
        try:
            for number in range(1_000):
                unknown = [f"{DOUBTFUL}{number}/{place}/{padding}" for place in range(40)]
                sent += sum(map(len, unknown))
                await gateway.bfs_query([f"x:n{number % 100}", *unknown], 1, topology_only=True)
            gc.collect()
            held, _ = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
    # 32 MB of short forms, 4 MB each of how IRIs are read and of nodes near blank ones, 1 MB each of answers.
    assert sent > 30 * MEGABYTE
    assert held < 43 * MEGABYTE
