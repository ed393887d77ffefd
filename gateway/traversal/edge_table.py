"""The edges of a topology in their order, as numbers in arrays: a page reads those that end on it, and no others.

An edge as an object takes three times the memory, and the garbage collector looks at each.
"""

from __future__ import annotations

from array import array
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import accumulate, chain, starmap
from sys import getsizeof
from typing import overload

from gateway.graph.call import Deadline
from gateway.graph.computing import computed_once
from gateway.graph.values import Edge, Iri

_POSITION = "I"
"""The type code of a position: four bytes, so there may be four thousand million nodes."""

Numbers = Sequence[int]


class EdgeTable(Sequence[Edge]):
    """Edges between nodes that have an order of their own.

    The position of a node is its place in that order. An edge ends where the later of its two ends is, and begins
    where the earlier is.

    Attributes:
        nodes: The nodes in their order; then the ends of edges that are none of them.
        node_count: How many of these are nodes.
    """

    def __init__(
        self, nodes: Sequence[Iri], node_count: int, predicates: Sequence[Iri], columns: tuple[array[int], ...]
    ) -> None:
        """Take edges as they are.

        Args:
            nodes: The nodes in their order, and further ends of edges.
            node_count: How many are nodes.
            predicates: The predicates, each once.
            columns: For each edge, in order, the position of its subject, the number of its predicate, and the position
                of its object.
        """
        self.nodes = nodes
        self.node_count = node_count
        self._predicates = predicates
        self._subjects, self._numbers, self._objects = columns

    @classmethod
    def of(cls, nodes: Iterable[Iri], edges: Iterable[Edge], deadline: Deadline) -> EdgeTable:
        """Return a table of distinct edges that are in order already.

        Raises:
            DeadlinePassed: The time was not enough.
        """
        terms = dict.fromkeys(nodes)
        position = dict(zip(terms, range(len(terms)), strict=True))
        count = len(position)
        numbers: dict[Iri, int] = {}
        columns = array(_POSITION), array(_POSITION), array(_POSITION)
        subjects, predicates, objects = (column.append for column in columns)
        for edge in deadline.checking(edges):
            subjects(position.setdefault(edge.subject, len(position)))
            predicates(numbers.setdefault(edge.predicate, len(numbers)))
            objects(position.setdefault(edge.object, len(position)))
        return cls(list(position), count, list(numbers), columns)

    def __len__(self) -> int:
        return len(self._subjects)

    @overload
    def __getitem__(self, place: int) -> Edge: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[Edge]: ...
    def __getitem__(self, place: int | slice) -> Edge | Sequence[Edge]:
        """Return the edge at a place, or those of a slice."""
        if isinstance(place, slice):
            return [self[one] for one in range(*place.indices(len(self)))]
        nodes = self.nodes
        return Edge(nodes[self._subjects[place]], self._predicates[self._numbers[place]], nodes[self._objects[place]])

    def __iter__(self) -> Iterator[Edge]:
        return starmap(Edge, self._texts())

    def terms(self) -> Iterator[Iri]:
        """Return subject, predicate and object of each edge, one after the other."""
        return chain.from_iterable(self._texts())

    def _texts(self) -> Iterator[tuple[Iri, Iri, Iri]]:
        node, predicate = self.nodes.__getitem__, self._predicates.__getitem__
        return zip(map(node, self._subjects), map(predicate, self._numbers), map(node, self._objects), strict=True)

    def __eq__(self, other: object) -> bool:
        """Return whether another sequence has the same edges in the same order."""
        if not isinstance(other, Sequence) or len(self) != len(other):
            return False
        return all(one == another for one, another in zip(self, other, strict=True))

    __hash__ = None  # type: ignore[assignment]

    @computed_once
    def predicate_counts(self) -> Mapping[Iri, int]:
        """How many edges have each predicate."""
        counts = [0] * len(self._predicates)
        for number in self._numbers:
            counts[number] += 1
        return {predicate: count for predicate, count in zip(self._predicates, counts, strict=True) if count}

    @computed_once
    def subjects(self) -> Collection[Iri]:
        """The nodes with outgoing edges."""
        return {self.nodes[position] for position in set(self._subjects)}

    def prepare_pages(self) -> None:
        """Compute what every page needs of the whole table, so that no page has to."""
        _ = self.predicate_counts, self._by_end, self._begun_before

    @property
    def size_bytes(self) -> int:
        """The memory that it takes beside its IRIs; what pages need is made for it."""
        arrays = (self._subjects, self._numbers, self._objects, *self._by_end, self._begun_before)
        return sum(map(getsizeof, (self.nodes, self._predicates, *arrays)))

    def ending(self, start: int, stop: int) -> Iterator[tuple[int, Numbers]]:
        """Generate, for each position from `start` to `stop`, the places of the edges that end there, in order."""
        places, before = self._by_end
        for position in range(start, stop):
            yield position, places[before[position] : before[position + 1]]

    def begun_in(self, start: int, stop: int) -> int:
        """Return how many edges begin at positions from `start` to `stop` and end after them."""
        places, before = self._by_end
        inside = places[before[start] : before[stop]]
        subjects, objects = self._subjects, self._objects
        begun_and_ended = sum(subjects[place] >= start and objects[place] >= start for place in inside)
        return self._begun_before[stop] - self._begun_before[start] - begun_and_ended

    def has_any_at(self, position: int) -> bool:
        """Return whether an edge begins or ends at a position."""
        _, ending_before = self._by_end
        return any(before[position + 1] > before[position] for before in (ending_before, self._begun_before))

    def without(self, removed: Collection[Iri], deadline: Deadline) -> EdgeTable:
        """Return the edges between the other nodes.

        Raises:
            DeadlinePassed: The time was not enough.
        """
        position: list[int] = []
        nodes: list[Iri] = []
        gone, node_count = -1, 0
        for at, node in enumerate(deadline.checking(self.nodes)):
            position.append(gone if node in removed else len(nodes))
            if node not in removed:
                nodes.append(node)
                node_count += at < self.node_count
        columns = array(_POSITION), array(_POSITION), array(_POSITION)
        subjects, predicates, objects = (column.append for column in columns)
        for subject, number, target in deadline.checking(
            zip(self._subjects, self._numbers, self._objects, strict=True)
        ):
            start, end = position[subject], position[target]
            if gone not in (start, end):
                subjects(start)
                predicates(number)
                objects(end)
        return EdgeTable(nodes, node_count, self._predicates, columns)

    def reordered(self, nodes: Sequence[Iri], deadline: Deadline) -> EdgeTable:
        """Return the same edges over the same nodes in another order.

        Raises:
            DeadlinePassed: The time was not enough.
        """
        place = {node: at for at, node in enumerate(nodes)}
        position = [place[node] if at < self.node_count else at for at, node in enumerate(self.nodes)]
        columns = (
            array(_POSITION, (position[at] for at in deadline.checking(self._subjects))),
            self._numbers,
            array(_POSITION, (position[at] for at in deadline.checking(self._objects))),
        )
        return EdgeTable([*nodes, *self.nodes[self.node_count :]], self.node_count, self._predicates, columns)

    @computed_once
    def _by_end(self) -> tuple[array[int], array[int]]:
        """The places of edges by the position where they end, then in order; and how many end before each position."""
        # Counted and not sorted: a sort of all lets no other thread run.
        ends = array(_POSITION, map(max, self._subjects, self._objects))
        counts = [0] * len(self.nodes)
        for end in ends:
            counts[end] += 1
        before = list(accumulate(counts, initial=0))
        places, free = array(_POSITION, bytes(ends.itemsize * len(ends))), before.copy()
        for place, end in enumerate(ends):
            places[free[end]] = place
            free[end] += 1
        return places, array(_POSITION, before)

    @computed_once
    def _begun_before(self) -> array[int]:
        """How many edges begin before each position."""
        counts = [0] * len(self.nodes)
        for begin in map(min, self._subjects, self._objects):
            counts[begin] += 1
        return array(_POSITION, accumulate(counts, initial=0))
