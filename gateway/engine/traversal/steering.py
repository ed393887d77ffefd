"""Which edges a traversal follows: chosen predicates and directions, the same everywhere or one choice a hop or seed.

docs/contract.md, "Steering".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from gateway.graph.values import EdgeSelection, Iri

Direction = Literal["both", "out", "in"]


@dataclass(frozen=True, slots=True)
class PredicateChoice:
    """One predicate of `only_predicates`.

    Attributes:
        predicate: The predicate.
        is_inverse: Whether it was written `^p`: its incoming edges only.
    """

    predicate: Iri
    is_inverse: bool = False


@dataclass(frozen=True, slots=True)
class Steering:
    """What a question says about the edges to follow.

    Attributes:
        lists: The predicates: one list for all hops and seeds, or one a hop, or one a seed; an empty list is any.
        direction: The direction of predicates that are not written `^p`, as seen from the node that is expanded.
        is_listed: Whether there is one list a hop or seed.
    """

    lists: tuple[tuple[PredicateChoice, ...], ...] = ((),)
    direction: Direction = "both"
    is_listed: bool = False

    @property
    def is_off(self) -> bool:
        """Whether every edge is followed in both directions."""
        return self.direction == "both" and not self.is_listed and not self.lists[0]

    @property
    def selections(self) -> tuple[EdgeSelection, ...]:
        """What each list selects."""
        return tuple(self._selection(followed) for followed in self.lists)

    @property
    def selection(self) -> EdgeSelection:
        """What the one list selects that holds everywhere."""
        return self.selections[0]

    @property
    def is_symmetric(self) -> bool:
        """Whether an edge that is followed from one end is followed from the other end too."""
        return len(self.lists) == 1 and self.selection.outgoing == self.selection.incoming

    @property
    def predicates(self) -> tuple[Iri, ...] | None:
        """All predicates that are named, sorted; None if some list is any."""
        if not all(self.lists):
            return None
        return tuple(sorted({one.predicate for followed in self.lists for one in followed}))

    def _selection(self, followed: Sequence[PredicateChoice]) -> EdgeSelection:
        either, out, into = self.direction == "both", self.direction == "out", self.direction == "in"
        if not followed:
            return EdgeSelection(() if into else None, () if out else None)
        outgoing = {one.predicate for one in followed if not one.is_inverse and (either or out)}
        incoming = {one.predicate for one in followed if one.is_inverse or either or into}
        return EdgeSelection(tuple(sorted(outgoing)), tuple(sorted(incoming)))


UNSTEERED = Steering()


def reverse(selection: EdgeSelection) -> EdgeSelection | None:
    """Return what the other direction would select that a selection does not; None if that is nothing."""
    turned = EdgeSelection(
        _without(selection.incoming, selection.outgoing), _without(selection.outgoing, selection.incoming)
    )
    return None if turned == EdgeSelection((), ()) else turned


def _without(predicates: tuple[Iri, ...] | None, others: tuple[Iri, ...] | None) -> tuple[Iri, ...] | None:
    """Return the predicates that are not among others, where None is every predicate."""
    if others is None:
        return ()
    return None if predicates is None else tuple(one for one in predicates if one not in others)
