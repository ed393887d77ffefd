"""Reads which types are subclasses of which: of several types, a node shows one that is no superclass of another."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence

from gateway.graph.call import Call
from gateway.graph.values import Iri
from gateway.terms.iri import is_sendable

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
