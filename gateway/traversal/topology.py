"""The whole answer to a question, before filters and pages: nodes and edges in their order, and paths to the seeds.

Pages of one question are cut from one such answer, which is stored until then (docs/contract.md, "Pages").
"""

from __future__ import annotations

import hashlib
from array import array
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, islice
from sys import getsizeof
from typing import NamedTuple

from cachetools import TTLCache

from gateway.cache.memory import memory_size
from gateway.graph.call import Deadline, Epoch, Freshness
from gateway.graph.computing import computed_once
from gateway.graph.values import (
    Degree,
    Edge,
    EdgeSelection,
    Iri,
    Neighbourhood,
    NodeFacts,
    Schema,
    all_terms,
    other_end,
)
from gateway.telemetry.tally import Clock
from gateway.terms.prefixes import PrefixMap
from gateway.traversal.breadth_first import Exploration
from gateway.traversal.edge_table import EdgeTable
from gateway.traversal.gaps import Gap


class PathStep(NamedTuple):
    """One step of a path.

    Attributes:
        predicate: The predicate of the edge.
        is_inverse: Whether the edge leads against the step, which is written `^p`.
        node: Where the step ends.
    """

    predicate: Iri
    is_inverse: bool
    node: Iri


Path = tuple[PathStep, ...]
"""The steps from a node to a seed; none for the seed itself."""

OnNodes = Callable[[Sequence[Iri]], object]
"""Takes the nodes of a topology in order, before its edges are."""

_FACTS_BYTES = getsizeof(NodeFacts())

_OWN_BYTES = 2_400
"""Bytes of a topology that has no node: of itself, its table of edges, and what is computed once for both."""

_ROUNDED = 8
"""Bytes that an object takes beyond its size, because memory comes in pieces of 16."""

_FEW_NODES = 50
"""Nodes whose edges, which may be many, are looked at between two looks at the clock."""

_AT_ONCE = 10_000
"""Terms that are sorted, and edges whose IRIs are hashed, while no other thread can run: some milliseconds."""


@dataclass(frozen=True)
class Topology:
    """Nodes, edges and what is missing; a snapshot stores it.

    Attributes:
        seeds: The seeds that are among the nodes, in the order given.
        nodes: Every node with its distance: the seeds as given, then by distance, then by code points of the ID.
        edges: Edges by subject, predicate and object, by code points of the IDs.
        facts: Types, and names where it `has_names`.
        missing: Seeds that do not exist.
        gaps: Why the topology is not whole; empty when it is.
        blank_edges: Triples left out because their other end is a blank node.
        paths: For an intersection: a shortest path to each seed, from all nodes or some.
        via: Whether paths were asked for: from all nodes, from none, or, if None, from the first.
        partial: Nodes that were reached and are no part of it, because no walk through all hops leads over them.
        other_way: For seeds without an edge that was followed: what the other direction selects, and how many edges.
        has_names: Whether the names of all nodes were read with their types.
    """

    seeds: tuple[Iri, ...]
    nodes: Mapping[Iri, int]
    edges: EdgeTable
    facts: Mapping[Iri, NodeFacts]
    missing: tuple[Iri, ...]
    gaps: tuple[Gap, ...]
    blank_edges: int
    paths: Mapping[Iri, tuple[Path, ...]] = field(default_factory=dict)
    via: bool | None = False
    partial: int = 0
    other_way: Mapping[Iri, tuple[EdgeSelection, Degree]] = field(default_factory=dict)
    has_names: bool = False

    @property
    def complete(self) -> bool:
        """Whether nothing was cut."""
        return not self.gaps

    @computed_once
    def order(self) -> Sequence[Iri]:
        """Every node in order."""
        return list(self.nodes)

    @computed_once
    def kinds(self) -> Mapping[tuple[tuple[Iri, ...], bool], int]:
        """How many nodes have the same types, and whether these are known; nodes are alike in great numbers."""
        return Counter([(facts.types, facts.are_types_known) for facts in self.facts.values()])

    @computed_once
    def types(self) -> frozenset[Iri]:
        """The types that its nodes have."""
        return frozenset(iri for types, _ in self.kinds for iri in types)

    @computed_once
    def reached_types(self) -> frozenset[Iri]:
        """The types that nodes have which are no seeds."""
        distinct = {facts.types for node, facts in self.facts.items() if self.nodes[node]}
        return frozenset(chain.from_iterable(distinct))

    @property
    def predicates(self) -> Collection[Iri]:
        """The predicates that its edges have."""
        return self.edges.predicate_counts.keys()

    @computed_once
    def levels(self) -> Sequence[int]:
        """How many nodes there are by distance."""
        return levels_of(self.nodes.values())

    @property
    def is_hashed(self) -> bool:
        """Whether its hash is known."""
        return "content" in vars(self)

    @computed_once
    def content(self) -> str:
        """A hash of nodes, edges and gaps; only an answer of several pages needs it."""
        digest = hashlib.sha256()
        # No IRI has a line break, and every edge has three, so two topologies never read alike.
        for part in (self.nodes, map(str, self.nodes.values()), self.edges.terms()):
            for begun, some in enumerate(_in_slices(part)):
                digest.update(("\n" * bool(begun) + "\n".join(some)).encode())
            digest.update(b"\n\n")
        for gap in self.gaps:
            digest.update(f"{gap.cause} {sorted(gap.ids)}\n".encode())
        return digest.hexdigest()[:12]

    @computed_once
    def size_bytes(self) -> int:
        """The bytes that it takes, or somewhat more: each object once, IRIs as if no other answer had them.

        What each page needs of the whole topology is made for it, and stays.
        """
        iris = {*self.nodes, *self.missing, *self.types, *self.predicates}
        # Thousands of nodes share the same facts.
        distinct = {id(facts): facts for facts in self.facts.values()}.values()
        texts = (text for facts in distinct for text in (facts.name, facts.description) if text)
        containers: list[object] = [self.nodes, self.order, self.facts, self.paths, self.levels, self.reached_types]
        containers += [facts.types for facts in distinct if facts.types]
        containers += [path for paths in self.paths.values() for path in (paths, *paths)]
        containers += [step for paths in self.paths.values() for path in paths for step in path]
        containers += [part for gap in self.gaps for part in (gap.ids, gap.degrees)]
        objects = [*iris, *texts, *containers]
        parts = (_FACTS_BYTES + _ROUNDED) * len(distinct) + self.edges.size_bytes
        return _OWN_BYTES + parts + sum(map(getsizeof, objects)) + _ROUNDED * len(objects)


def levels_of(distances: Iterable[int]) -> list[int]:
    """Return how many nodes there are by distance."""
    counts = Counter(distances)
    return [counts[steps] for steps in range(max(counts, default=-1) + 1)]


def _in_slices(items: Iterable[str]) -> Iterator[Sequence[str]]:
    iterator = iter(items)
    while some := list(islice(iterator, _AT_ONCE)):
        yield some


def in_order(
    seeds: Sequence[Iri],
    distance: Mapping[Iri, int],
    found: Exploration,
    prefixes: PrefixMap,
    deadline: Deadline,
    among: Iterable[Neighbourhood] | None = None,
    on_nodes: OnNodes | None = None,
) -> tuple[dict[Iri, int], EdgeTable]:
    """Return nodes and edges in their order, which is always the same for the same graph and question.

    No other thread may change them meanwhile. Without `among`, these are all edges found; with it, the edges of both
    that have both ends among the nodes. `on_nodes` is called with the nodes as soon as they are in order.

    Raises:
        DeadlinePassed: The time was not enough.
    """
    parts: list[Iterable[Edge]] = [neighbourhood.edges for neighbourhood in found.known.values()]
    if among is not None:
        edges = deadline.checking(chain.from_iterable((*parts, *(neighbourhood.edges for neighbourhood in among))))
        parts = [[edge for edge in edges if edge.subject in distance and edge.object in distance]]
    # Every IRI is placed once: then nodes need no further comparison, and an edge becomes numbers, which sort in half
    # the time of its three texts.
    terms = set(distance)
    for part in deadline.checking(parts, _FEW_NODES):
        terms.update(all_terms(part))
    short = prefixes.declared_forms(deadline.checking(terms))
    ordered = _sorted(short, deadline)
    nodes = {seed: distance[seed] for seed in seeds if seed in distance}
    by_distance: dict[int, list[Iri]] = defaultdict(list)
    for node in ordered:
        if node in distance:
            by_distance[distance[node]].append(node)
    for steps in sorted(by_distance):
        # A seed stays where it is.
        nodes |= dict.fromkeys(by_distance[steps], steps)
    if on_nodes is not None:
        on_nodes(list(nodes))
    return nodes, _edges_in_order(chain.from_iterable(parts), ordered, nodes, deadline)


def _sorted(short: Mapping[Iri, str], deadline: Deadline) -> list[Iri]:
    """Return IRIs by their short forms; sorted in slices, between which other threads run, and merged by one sort."""
    terms = list(short)
    starts = range(0, len(terms), _AT_ONCE)
    slices = (sorted(terms[at : at + _AT_ONCE], key=short.__getitem__) for at in deadline.checking(starts, at_once=1))
    runs = list(chain.from_iterable(slices))
    if len(starts) > 1:
        runs.sort(key=short.__getitem__)
    return runs


def _edges_in_order(
    edges: Iterable[Edge], ordered: Sequence[Iri], nodes: Mapping[Iri, int], deadline: Deadline
) -> EdgeTable:
    """Return distinct edges by subject, predicate and object, as their IRIs are ordered."""
    many = len(ordered)
    place = dict(zip(ordered, range(many), strict=True))
    by_subject: dict[int, set[int]] = defaultdict(set)
    for some in deadline.slices(edges):
        for edge in some:
            by_subject[place[edge.subject]].add(place[edge.predicate] * many + place[edge.object])
    position = {place[node]: at for at, node in enumerate(nodes)}
    numbers: dict[int, int] = {}
    columns = array("I"), array("I"), array("I")
    subjects, predicates, objects = (column.append for column in columns)
    for start in deadline.checking(sorted(by_subject), _FEW_NODES):
        subject_at = position.setdefault(start, len(position))
        for key in sorted(by_subject[start]):
            number, end = divmod(key, many)
            subjects(subject_at)
            predicates(numbers.setdefault(number, len(numbers)))
            objects(position.setdefault(end, len(position)))
    terms = [ordered[one] for one in position]
    table = EdgeTable(terms, len(nodes), [ordered[number] for number in numbers], columns)
    table.prepare_pages()
    return table


def paths_to_seeds(nodes: Iterable[Iri], found: Exploration, deadline: Deadline) -> dict[Iri, tuple[Path, ...]]:
    """Return one shortest path from each node to each seed.

    Of several shortest paths it is the one whose steps come first by IRI, counted from the node. Every seed reaches the
    nodes.

    Raises:
        DeadlinePassed: The time was not enough.
    """
    wanted = list(nodes)
    distinct = {id(part): part for part in found.parts}
    neighbours = {key: part.neighbours(deadline) for key, part in distinct.items()}
    to_each = [
        _paths_to_seed(wanted, distance, part, neighbours[id(part)], deadline)
        for distance, part in zip(found.distances, found.parts, strict=True)
    ]
    return {node: tuple(paths[node] for paths in to_each) for node in wanted}


def _paths_to_seed(
    nodes: Sequence[Iri],
    distance: Mapping[Iri, int],
    found: Exploration,
    neighbours: Mapping[Iri, Collection[Iri]],
    deadline: Deadline,
) -> dict[Iri, Path]:
    nearer = _nearer(distance, neighbours, deadline)
    pairs: set[tuple[Iri, Iri]] = set()
    for node in deadline.checking(nodes):
        far = node
        while far in nearer and (pair := (far, nearer[far])) not in pairs:
            pairs.add(pair)
            far = nearer[far]
    steps = _edges_between(pairs, found, deadline)
    return {node: path_of(node, steps) for node in nodes}


def path_of(node: Iri, steps: Mapping[Iri, PathStep]) -> Path:
    """Return the path from a node as far as the first steps of nodes are known."""
    path: list[PathStep] = []
    while node in steps:
        path.append(steps[node])
        node = steps[node].node
    return tuple(path)


def _edges_between(pairs: Collection[tuple[Iri, Iri]], found: Exploration, deadline: Deadline) -> dict[Iri, PathStep]:
    """Return the first edge that was followed between each node and its neighbour one step nearer to a seed.

    An edge that a capped node leaves out may be among the edges of its other end.
    """
    steps: dict[Iri, PathStep] = {}
    both = found.selection.is_all
    ends = {end for pair in pairs for end in pair[not both :]}
    for end in deadline.checking(ends & found.known.keys()):
        for edge in found.known[end].edges:
            other = other_end(end, edge)
            for pair in ((other, end), (end, other)) if both else ((other, end),):
                if pair in pairs:
                    step = PathStep(edge.predicate, edge.subject == pair[1], pair[1])
                    steps[pair[0]] = min(step, steps.get(pair[0], step))
    # There is one for each pair, or a path would end before the seed without a sign.
    return {far: steps[far] for far, _ in pairs}


def _nearer(
    distance: Mapping[Iri, int], neighbours: Mapping[Iri, Collection[Iri]], deadline: Deadline
) -> dict[Iri, Iri]:
    """Return, for each node, its first expanded neighbour that is one step nearer to the seed."""
    first: dict[Iri, Iri] = {}
    for node, others in deadline.checking(neighbours.items()):
        steps = distance.get(node)
        if steps is None:
            continue
        for other in others:
            if distance.get(other) == steps + 1 and node < first.get(other, "\U0010ffff"):
                first[other] = node
    return first


_Stored = tuple[Topology, float, int]
"""A topology, when it expires on the clock, and the bytes of both it and its question."""

_ENTRY_BYTES = 600
"""Bytes of an entry beside its topology and its question."""


class Snapshots:
    """Stores topologies by normalised question, bounded in bytes, each for one time to live.

    `tests/traversal/test_snapshots.py` compares the bytes counted with what Python allocates.
    """

    def __init__(self, megabytes: int, ttl_seconds: float, clock: Clock) -> None:
        self._topologies: TTLCache[Hashable, _Stored] = TTLCache(
            maxsize=megabytes << 20,
            ttl=ttl_seconds,
            timer=clock,
            getsizeof=lambda stored: stored[2],
        )
        self._ttl = ttl_seconds
        self._clock = clock
        self._epoch = Epoch()
        self._outdated: set[Hashable] = set()
        self._version = ""
        self._names: tuple[Iri, ...] | None = None

    @property
    def epoch(self) -> Epoch:
        """The time until snapshots are dropped or become outdated; `put` takes it as it was before the traversal."""
        return self._epoch

    @property
    def bytes(self) -> int:
        """Bytes in use."""
        return int(self._topologies.currsize)

    def get(self, question: Hashable, freshness: Freshness, *, continues: bool) -> Topology | None:
        """Return the stored topology, and note until when it holds; None where there is none that may be used.

        Only a caller that asks for a later page may use one that is outdated or has gaps: the failure may have passed.
        """
        stored = self._topologies.get(question)
        if stored is None:
            return None
        topology, until, _ = stored
        if not continues and (not topology.complete or question in self._outdated):
            return None
        freshness.used(until, self._clock, self._epoch)
        return topology

    def put(self, question: Hashable, topology: Topology, epoch: Epoch) -> None:
        """Store a topology, unless it alone is larger than the bound, or was begun in another epoch."""
        size = _ENTRY_BYTES + topology.size_bytes + memory_size(question)
        if size <= self._topologies.maxsize and epoch is self._epoch:
            self._topologies[question] = (topology, self._clock() + self._ttl, size)
            self._outdated.discard(question)

    def compare(self, schema: Schema) -> None:
        """Outdate all snapshots where a schema shows another graph, or other predicates that name its nodes.

        Outdated snapshots are used for their next pages only.
        """
        is_new = (schema.exact and self._version not in {"", schema.version}) or schema.names not in {None, self._names}
        self._version = schema.version if schema.exact else self._version
        self._names = self._names if schema.names is None else schema.names
        if is_new:
            self._begin_epoch()
            self._outdated = set(self._topologies)

    def clear(self) -> None:
        """Drop all snapshots."""
        self._begin_epoch()
        self._topologies.clear()
        self._outdated.clear()

    def _begin_epoch(self) -> None:
        self._epoch.is_over = True
        self._epoch = Epoch()
