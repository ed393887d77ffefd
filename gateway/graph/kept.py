"""What an endpoint taught an earlier process, each fact with its age.

What could make an answer say more than is true is used for no longer than answers are stored, because then it is no
older than they may be. What is known of an engine by its name and version is used for a week, and that an endpoint is
fast too. Where no answers are stored, nothing is used.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import inf
from typing import Final, Protocol, TypeVar

from gateway.settings.limits import CacheSettings
from gateway.telemetry.tally import Clock

LONGEST_SECONDS: Final = 300.0
"""How long something that answers depend on is used at most."""

WEEK: Final = 7 * 86_400.0
"""How long something is used that does not depend on the graph."""

MOST_FACTS: Final = 1_000
"""Facts that are kept of one endpoint."""

FORGOTTEN: Final = "forgotten"
"""When facts were forgotten, itself among the facts."""

Fact = bool | float | str | tuple[str, ...]
_Fact = TypeVar("_Fact", bool, float, str, tuple[str, ...])


class FactStorage(Protocol):
    """Stores facts between runs, each with the seconds since the epoch when it was found out."""

    def load(self) -> Mapping[str, tuple[float, Fact]]:
        """Return the facts that are stored."""
        ...

    def save(self, facts: Mapping[str, tuple[float, Fact]]) -> None:
        """Store these in place of those before; where that fails, those before stay."""
        ...


def answer_seconds(cache: CacheSettings) -> float:
    """Return for how long something that answers depend on is used; for none where no answers are stored."""
    return 0.0 if cache.megabytes == 0 else min(LONGEST_SECONDS, cache.ttl_seconds)


class KeptFacts:
    """Facts about one endpoint that outlive the process; no call fails because of them.

    Args:
        storage: Where they are stored; None where nothing is.
        cache: How long answers are stored.
        wall_clock: Seconds since the epoch.

    Attributes:
        seconds: For how long those are used that answers depend on.
    """

    def __init__(self, storage: FactStorage | None, cache: CacheSettings, wall_clock: Clock) -> None:
        self.seconds = answer_seconds(cache)
        self._storage = storage if self.seconds else None
        self._wall_clock = wall_clock
        self._facts: dict[str, tuple[float, Fact]] | None = None
        self._forgotten_at: dict[str, float] = {}

    def known(self, name: str, kind: type[_Fact], *, seconds: float | None = None) -> tuple[_Fact, float] | None:
        """Return a fact and how many seconds ago it was found out; None where it is not known, or too old.

        Args:
            name: What it is about.
            kind: The type of its value.
            seconds: How old it may be; as old as a stored answer by default.
        """
        at, value = self._loaded().get(name, (0.0, ""))
        age = self._wall_clock() - at
        # One from the future says that a clock was set.
        if not isinstance(value, kind) or not 0 <= age < (self.seconds if seconds is None else seconds):
            return None
        return value, age

    def keep(self, name: str, value: Fact) -> None:
        """Keep a fact that was found out just now."""
        if self._storage is None:
            return
        # Another process may have stored more meanwhile.
        self._facts = None
        facts = self._loaded()
        facts[name] = (self._wall_clock(), value)
        while len(facts) > MOST_FACTS:
            del facts[min(facts.keys() - {FORGOTTEN}, key=lambda one: facts[one][0])]
        self._storage.save(facts)

    def forget(self, *beginnings: str) -> None:
        """Forget the facts whose names begin with one of some texts, and keep when that was.

        Those that are stored stay forgotten in this process where they cannot be replaced.
        """
        self._forgotten_at |= dict.fromkeys(beginnings, self._wall_clock())
        self.keep(FORGOTTEN, value=True)

    def _loaded(self) -> dict[str, tuple[float, Fact]]:
        if self._facts is None:
            stored = {} if self._storage is None else self._storage.load()
            self._facts = {name: fact for name, fact in stored.items() if self._is_usable(name, fact[0])}
            last = max(self._forgotten_at.values(), default=-inf)
            if self._facts.get(FORGOTTEN, (-inf, True))[0] < last:
                self._facts[FORGOTTEN] = (last, True)
        return self._facts

    def _is_usable(self, name: str, at: float) -> bool:
        """Return whether a stored fact is neither from the future, after a clock was set, nor forgotten."""
        is_forgotten = any(name.startswith(text) and at <= since for text, since in self._forgotten_at.items())
        return at <= self._wall_clock() and not is_forgotten
