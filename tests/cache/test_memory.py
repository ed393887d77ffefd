"""The bytes counted for an answer are no fewer than Python allocates, and at most twice as many."""

import asyncio
import gc
import tracemalloc
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

import pyoxigraph
import pytest

from gateway.cache.memory import MemoryCache, memory_size
from gateway.cache.store import CachedStore
from gateway.graph.call import Call, Deadline, Freshness
from gateway.graph.values import Edge, EdgeSelection, Hit, Hits, Reach
from gateway.settings.profile import Profile
from gateway.sparql.store import SparqlStore
from gateway.transport.inprocess import InProcess

pytestmark = pytest.mark.large

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
def engine() -> pyoxigraph.Store:
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


def allocated_and_counted(engine: pyoxigraph.Store, primitive: Primitive, megabytes: int) -> tuple[int, int]:
    """Return what is allocated for what a cache stores about all nodes, and the bytes that it counts."""

    async def measure() -> tuple[int, int]:
        profile = Profile()
        store = CachedStore(
            SparqlStore(InProcess(engine, max_bytes=1 << 28), profile), megabytes=megabytes, ttl_seconds=1_000
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


@pytest.mark.parametrize("primitive", PRIMITIVES.values(), ids=PRIMITIVES)
def test_what_is_counted_is_no_less_than_is_allocated_and_no_more_than_twice_that(
    engine: pyoxigraph.Store, primitive: Primitive
) -> None:
    allocated, counted = allocated_and_counted(engine, primitive, megabytes=64)
    assert allocated <= counted <= 2 * allocated


@pytest.mark.parametrize("primitive", PRIMITIVES.values(), ids=PRIMITIVES)
def test_the_bound_holds_for_what_is_allocated(engine: pyoxigraph.Store, primitive: Primitive) -> None:
    allocated, counted = allocated_and_counted(engine, primitive, megabytes=1)
    assert counted <= 1 << 20
    assert allocated <= 1 << 20


def nodes_reached(number: int) -> Reach:
    return Reach({f"{NAMESPACE}{number}/{place}": 1 for place in range(number % 300)})


def names_found(number: int) -> Hits:
    hits = (Hit(f"{NAMESPACE}{number}/{place}", "a name " * (place % 9), False) for place in range(number % 300))
    return Hits(tuple(hits), truncated=False, how=f"names with {number}")


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


def test_counting_stops_soon_above_the_bound() -> None:
    answer = nodes_reached(299)
    assert 1_000 < memory_size(answer, at_most=1_000) < 20_000 < memory_size(answer)


def test_what_is_larger_than_the_cache_is_not_stored() -> None:
    memory = MemoryCache(10_000, 60.0, lambda: 0.0)
    memory.put("question", {"large": nodes_reached(299), "small": nodes_reached(3)}, memory.sizes())
    assert memory.get(("question", "large"), Freshness()) is None
    assert memory.get(("question", "small"), Freshness()) == nodes_reached(3)
