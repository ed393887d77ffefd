"""What an engine computes itself over the nodes of some types, where its own answer shows that it is right."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction

from gateway.errors import EndpointFault
from gateway.graph.values import WHOLE, Iri, Mark
from gateway.graph.walks import End, Step, Walk
from gateway.terms.literals import Literal


@dataclass(frozen=True, slots=True)
class Aggregate:
    """One thing to compute over the nodes that have one of some types.

    Attributes:
        types: The types.
        by: The step by whose ends the nodes are in groups; None where they are all in one.
        walk: The walk over whose ends something is computed, once for each way; None: how many nodes there are.
        is_of_rest: Whether it is about the nodes alone from which `by` leads nowhere.
    """

    types: tuple[Iri, ...]
    by: Step | None = None
    walk: Walk | None = None
    is_of_rest: bool = False


@dataclass(frozen=True, slots=True)
class Totals:
    """What was computed over one group.

    Attributes:
        count: How many nodes there are, or how many ways lead to ends of the walk, all of which are exact numbers.
        sum: The sum of the ends.
        least: The smallest end; None without any.
        most: The largest.
    """

    count: int
    sum: Fraction = Fraction(0)
    least: Literal | None = None
    most: Literal | None = None


@dataclass(frozen=True, slots=True)
class Aggregated:
    """What was computed over each group.

    Attributes:
        groups: By the end of the step; of None for all nodes in one, and for those from which it leads nowhere.
        mark: Whether it is proven.
    """

    groups: Mapping[End | None, Totals] = field(default_factory=dict)
    mark: Mark = WHOLE


NOTHING_AGGREGATED = Aggregated()


class FigureUnproven(EndpointFault):
    """What an engine computed does not show that it is right, or nothing could show it."""

    cause = "budget"

    def __init__(self) -> None:
        super().__init__(
            "There are more entities than are read, and no answer of the engine proves the figures over all of them.",
            next_step="Add a condition, or group by something with fewer values.",
        )


UNPROVEN = Aggregated(mark=Mark(FigureUnproven()))
