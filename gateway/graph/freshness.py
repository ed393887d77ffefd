"""How long an answer that was made from stored answers alone is as fresh as they are."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from gateway.telemetry.tally import Clock


@dataclass(eq=False, slots=True)
class Epoch:
    """The time until a store forgets all that it has.

    Attributes:
        is_over: Whether the store has forgotten it.
    """

    is_over: bool = False


@dataclass(eq=False, slots=True)
class Freshness:
    """What a call has read, and until when that holds.

    Attributes:
        is_of_stored: Whether all of it was stored; false once anything was asked of the graph.
    """

    is_of_stored: bool = True
    _until: dict[Clock, float] = field(default_factory=dict)
    _epochs: set[Epoch] = field(default_factory=set)

    def used(self, until: float, clock: Clock, epoch: Epoch) -> None:
        """Note a stored answer that expires at a time of a clock, or when its epoch is over."""
        self._until[clock] = min(until, self._until.get(clock, math.inf))
        self._epochs.add(epoch)

    def asked(self) -> None:
        """Note that something was asked of the graph, or awaited from another call that does."""
        self.is_of_stored = False

    def holds(self) -> bool:
        """Return whether all of it was stored and would be found again now."""
        return (
            self.is_of_stored
            and all(clock() < until for clock, until in self._until.items())
            and not any(epoch.is_over for epoch in self._epochs)
        )
