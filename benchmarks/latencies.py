"""How long calls took: percentiles of many."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Latencies:
    """Seconds that calls took, in the order in which they ended."""

    seconds: list[float] = field(default_factory=list)

    @contextmanager
    def timed(self) -> Iterator[None]:
        """Note how long the block takes, if it raises nothing."""
        began = time.perf_counter()
        yield
        self.seconds.append(time.perf_counter() - began)

    def percentile(self, share: float) -> float:
        """Return the smallest of them that is at least as long as so large a share of all (nearest rank).

        Raises:
            ValueError: There are none.
        """
        ordered: Sequence[float] = sorted(self.seconds)
        if not ordered:
            raise ValueError("no call has ended")
        return ordered[max(0, math.ceil(share * len(ordered)) - 1)]

    @property
    def p50(self) -> float:
        """The median."""
        return self.percentile(0.5)

    @property
    def p99(self) -> float:
        """What 99 of 100 stay below."""
        return self.percentile(0.99)
