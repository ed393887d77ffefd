"""Reads which types are subclasses of which: of several types, a node shows one that is no superclass of another."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence

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
