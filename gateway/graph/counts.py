"""Edges of a node and terms of a graph, counted."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from gateway.errors import Fault
from gateway.graph.call import Call, Deadline, together
from gateway.graph.computing import FEW_FOR_A_THREAD, in_thread
from gateway.graph.values import WHOLE, Basis, Iri, Mark, Neighbourhood, NodeFacts, Schema, Term
from gateway.terms.iri import GENERIC_TYPES, MAX_IRI, SCHEMA_TERM_CLASSES, is_entity_type, is_sendable


@dataclass(frozen=True, slots=True)
class EdgeCount:
    """The edges of one node that have the same predicate and direction.

    Attributes:
        predicate: Their predicate.
        incoming: Whether they lead to the node; otherwise they lead from it. A self loop does both.
        count: How many there are.
        neighbours: The nodes at their other ends, sorted by IRI: all where the edges were read, else some.
    """

    predicate: Iri
    incoming: bool
    count: int
    neighbours: tuple[Iri, ...] = ()


@dataclass(frozen=True, slots=True)
class EdgeCounts:
    """The edges of one node by predicate and direction.

    Attributes:
        counts: One entry for each predicate and direction, the most frequent first, then by predicate. A self loop is
            counted in both directions.
        blank_edges: Triples left out because their other end is a blank node.
        left_out: Edges or entries left out because one of their terms is not an IRI, or is too long for an ID.
        mark: Whether all edges were counted; if not, counts are lower bounds, and entries may be missing.
    """

    counts: tuple[EdgeCount, ...] = ()
    blank_edges: int = 0
    left_out: int = 0
    mark: Mark = WHOLE

    @classmethod
    def of(cls, node: Iri, neighbourhood: Neighbourhood, *, with_ends_only: bool = False) -> EdgeCounts:
        """Return the counts of the edges of a node that were read, under their mark.

        Args:
            node: The node.
            neighbourhood: Its edges.
            with_ends_only: Whether each count has its first and last neighbour, as a query counts them.
        """
        found: dict[tuple[Iri, bool], list[Iri]] = {}
        for edge in neighbourhood.edges:
            if edge.subject == node:
                found.setdefault((edge.predicate, False), []).append(edge.object)
            if edge.object == node:
                found.setdefault((edge.predicate, True), []).append(edge.subject)
        counts = (
            EdgeCount(
                predicate,
                incoming,
                len(others),
                ends(min(others), max(others)) if with_ends_only else tuple(sorted(others)),
            )
            for (predicate, incoming), others in found.items()
        )
        return cls(in_order(counts), neighbourhood.blank_edges, len(neighbourhood.left_out), neighbourhood.mark)

    def covers(self, read: EdgeCounts) -> bool:
        """Return whether these are at least the counts of edges that were read."""
        counts = {(one.predicate, one.incoming): one.count for one in self.counts}
        return all(counts.get((one.predicate, one.incoming), 0) >= one.count for one in read.counts)


def ends(first: Iri, last: Iri) -> tuple[Iri, ...]:
    """Return the first and the last neighbour, or the only one."""
    return tuple(dict.fromkeys((first, last)))


def in_order(counts: Iterable[EdgeCount]) -> tuple[EdgeCount, ...]:
    """Return counts, the highest first, then by predicate, outgoing edges before incoming ones."""
    return tuple(sorted(counts, key=lambda one: (-one.count, one.predicate, one.incoming)))


ReadNames = Callable[[Sequence[Iri], Sequence[Iri], Call], Awaitable[Mapping[Iri, NodeFacts]]]
"""Returns the names and synonyms of types and predicates."""


@dataclass(slots=True)
class TermCounts:
    """Types and predicates in the order in which they are listed.

    Attributes:
        types: Types, with the number of nodes if that is known.
        predicates: Predicates, with the number of edges if that is known.
        is_cut: Whether the graph has more than were read, or some could not be read.
    """

    types: dict[Iri, int | None] = field(default_factory=dict)
    predicates: dict[Iri, int | None] = field(default_factory=dict)
    is_cut: bool = False

    def __bool__(self) -> bool:
        return bool(self.types or self.predicates)

    def followed_by(self, other: TermCounts) -> TermCounts:
        """Return these terms and then those that only the other has; counts of the other replace these."""
        return TermCounts(
            {**self.types, **other.types}, {**self.predicates, **other.predicates}, self.is_cut or other.is_cut
        )


def entity_types(counts: Mapping[Iri, int]) -> dict[Iri, int]:
    """Return the types of entities with their counts; see `is_entity_type`."""
    return {iri: count for iri, count in counts.items() if is_entity_type(iri)}


def by_frequency(counts: Mapping[Iri, int]) -> dict[Iri, int | None]:
    """Return terms with their counts, the most frequent first; types of schema terms stand behind all others."""
    return {iri: counts[iri] for iri in sorted(counts, key=lambda iri: (iri in SCHEMA_TERM_CLASSES, -counts[iri], iri))}


def without_counts(seen: Mapping[Iri, int]) -> dict[Iri, int | None]:
    """Return the terms of a sample in the order of their frequency there, which is not that in the graph."""
    return dict.fromkeys(by_frequency(seen))


HUB_EDGES = 100
"""Edges that make a node a hub: the `max_degree` that the tools advise."""

MOST_HUBS = 20
"""Hubs whose types are read; the largest come first, so others are not missed."""


class FactsReader(Protocol):
    """Reads the types of nodes."""

    async def facts(self, ids: Sequence[Iri], call: Call, *, names: bool) -> Mapping[Iri, NodeFacts]:
        """Return what `GraphStore.nodes` returns."""
        ...


async def types_of_hubs(
    find: Callable[[], Awaitable[Mapping[Iri, int]]], reader: FactsReader, call: Call
) -> tuple[Iri, ...]:
    """Return the types of hubs, those of the largest first: a few, without types that say nothing of a node.

    Args:
        find: Returns the nodes with the most edges, and how many these are.
        reader: Reads their types.
        call: The call that asks.

    Returns:
        The types; none if the graph could not be asked.
    """
    try:
        hubs = await find()
        facts = await reader.facts(list(hubs), call, names=False)
    except Fault:
        return ()
    weights: Counter[Iri] = Counter()
    for hub, count in hubs.items():
        for iri in set(facts[hub].types) - SCHEMA_TERM_CLASSES - GENERIC_TYPES:
            if is_sendable(iri):
                weights[iri] += count
    return tuple(sorted(weights, key=lambda iri: (-weights[iri], iri)))[:_TYPES_OF_HUBS]


_TYPES_OF_HUBS = 5
"""Types of hubs that a schema lists."""

_NOT_SENDABLE = f"types and predicates are left out ({{:,}}): they are no IRIs, or have more than {MAX_IRI} characters"


async def schema_of(
    found: TermCounts,
    basis: Basis,
    reason: str,
    read_names: ReadNames,
    call: Call,
    *,
    left_out: int = 0,
    superclasses: Mapping[Iri, tuple[Iri, ...]] | None = None,
    broader: ReadBroader | None = None,
) -> Schema:
    """Return the schema of some terms, with the labels and synonyms that the graph has.

    Args:
        found: The terms; those that no query can name are left out.
        basis: How they were found.
        reason: Why these may not be all; empty if they are.
        read_names: Reads the labels and synonyms.
        call: Pays for them.
        left_out: Terms that were left out before.
        superclasses: The superclasses of the types, as far as they were read.
        broader: Reads these beside the labels, if they were not read.
    """
    are_few = len(found.types) + len(found.predicates) <= FEW_FOR_A_THREAD
    types, predicates = await in_thread(
        call, lambda _: (_sendable(found.types), _sendable(found.predicates)), unless=are_few
    )
    left_out += len(found.types) - len(types) + len(found.predicates) - len(predicates)
    if left_out:
        reason = "; ".join(filter(None, [reason, _NOT_SENDABLE.format(left_out)]))
    async with together() as tasks:
        rising = None if broader is None else tasks.create_task(superclasses_of(list(found.types), broader, call))
        facts = await read_names(list(types), list(predicates), call)
    above = superclasses or {} if rising is None else rising.result()

    def with_labels(_: Deadline) -> Schema:
        content = (
            sorted(types.items()),
            sorted(predicates.items()),
            *([sorted(above.items())] if above else ()),
        )
        return Schema(
            types=_terms(types, facts),
            predicates=_terms(predicates, facts),
            exact=not reason,
            labelled=all(fact.mark.whole for fact in facts.values()),
            reason=reason,
            version=hashlib.sha256(repr(content).encode()).hexdigest()[:12],
            basis=basis,
            left_out=left_out,
            is_cut=bool(left_out) or found.is_cut,
            superclasses=above,
        )

    return await in_thread(call, with_labels, unless=are_few)


def _sendable(terms: Mapping[Iri, int | None]) -> dict[Iri, int | None]:
    return {iri: count for iri, count in terms.items() if is_sendable(iri)}


def _terms(counts: Mapping[Iri, int | None], facts: Mapping[Iri, NodeFacts]) -> tuple[Term, ...]:
    named = ((iri, count, facts.get(iri, _NO_FACTS)) for iri, count in counts.items())
    return tuple(Term(iri, count, one.name, one.aliases) for iri, count, one in named)


_NO_FACTS = NodeFacts()


ReadBroader = Callable[[Sequence[Iri], Call], Awaitable[Mapping[Iri, tuple[Iri, ...]]]]
"""Returns the direct superclasses of each class."""

_LEVELS = 3
"""Levels of superclasses that are read, each with one batched request."""

_MOST = 5_000
"""Classes whose superclasses are read at most; of more types, the most frequent."""


async def superclasses_of(types: Sequence[Iri], broader: ReadBroader, call: Call) -> dict[Iri, tuple[Iri, ...]]:
    """Return the direct superclasses of types, and those of these, as far as they could be read.

    A class about which the graph could not be asked has none here; then more types of a node are left to choose from.

    Args:
        types: The types, the most frequent first.
        broader: Reads the superclasses.
        call: Pays for it.
    """
    found: dict[Iri, tuple[Iri, ...]] = {}
    frontier = list(filter(is_sendable, types))
    for _ in range(_LEVELS):
        frontier = frontier[: _MOST - len(found)]
        if not frontier:
            break
        found |= await broader(frontier, call)
        above = dict.fromkeys(iri for child in frontier for iri in found[child])
        frontier = [iri for iri in above if iri not in found and is_sendable(iri)]
    return {child: parents for child, parents in found.items() if parents}


class ClassHierarchy:
    """Which classes are above which: each is read once, and no class is compared with every other."""

    def __init__(self, superclasses: Mapping[Iri, tuple[Iri, ...]]) -> None:
        # Classes that are subclasses of each other are one group. None is above a group with a higher number.
        self._groups = _groups(superclasses)
        self._above: dict[int, set[int]] = {}
        for child, parents in superclasses.items():
            self._above.setdefault(self._groups[child], set()).update(self._groups[parent] for parent in parents)

    def above_others(self, classes: Collection[Iri]) -> set[Iri]:
        """Return those of some classes that are superclasses of another, direct or not, and not subclasses of it."""
        groups = {iri: self._groups[iri] for iri in classes if iri in self._groups}
        if len(groups) <= 1:
            return set()
        frontier, last, reached = [*set(groups.values())], max(groups.values()), set[int]()
        while frontier:
            group = frontier.pop()
            above = {one for one in self._above.get(group, ()) if group < one <= last and one not in reached}
            reached |= above
            frontier += above
        return {iri for iri, group in groups.items() if group in reached}


def _groups(superclasses: Mapping[Iri, tuple[Iri, ...]]) -> dict[Iri, int]:
    """Return the strongly connected components, numbered from subclasses to superclasses (Kosaraju and Sharir)."""
    below: dict[Iri, list[Iri]] = {}
    for child, parents in superclasses.items():
        for parent in parents:
            below.setdefault(parent, []).append(child)
    groups: dict[Iri, int] = {}
    for number, first in enumerate(reversed(_superclasses_first(superclasses))):
        frontier = [first]
        while frontier:
            if (iri := frontier.pop()) not in groups:
                groups[iri] = number
                frontier += below.get(iri, ())
    return groups


def _superclasses_first(superclasses: Mapping[Iri, tuple[Iri, ...]]) -> list[Iri]:
    """Return all classes in the order in which a depth-first search leaves them."""
    met: set[Iri] = set()
    left: list[Iri] = []
    stack = [(iri, False) for iri in superclasses]
    while stack:
        iri, is_left = stack.pop()
        if is_left:
            left.append(iri)
        elif iri not in met:
            met.add(iri)
            stack.append((iri, True))
            stack += [(parent, False) for parent in superclasses.get(iri, ())]
    return left
