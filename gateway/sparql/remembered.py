"""Whether a graph has something, as an endpoint said: remembered for a call, and for no longer than answers are."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Hashable
from math import inf
from typing import Final
from weakref import WeakKeyDictionary

from gateway.errors import Fault
from gateway.graph.call import Call, Requester
from gateway.settings.limits import CacheSettings
from gateway.telemetry.tally import Clock

_SECONDS: Final = 300.0
"""How long something is remembered at most."""

_MOST: Final = 10_000
"""Questions of which the answer is remembered: clients name predicates, as many as they like."""


class Remembered:
    """Remembers answers to questions of yes and no about the content of a graph.

    Args:
        cache: How long the answers of the gateway are kept, if they are.
        clock: The clock.
    """

    def __init__(self, cache: CacheSettings, clock: Clock) -> None:
        self._seconds = 0.0 if cache.megabytes == 0 else min(_SECONDS, cache.ttl_seconds)
        self._clock = clock
        self._known: dict[Hashable, tuple[float, bool]] = {}
        self._of_calls: WeakKeyDictionary[Requester, dict[Hashable, bool]] = WeakKeyDictionary()
        self._asking: WeakKeyDictionary[Requester, dict[Hashable, asyncio.Lock]] = WeakKeyDictionary()

    async def ask(self, question: Hashable, call: Call, is_there: Callable[[], Awaitable[bool]]) -> bool:
        """Return the answer to a question, which the parts of a call that wait for it ask once.

        Args:
            question: What is asked.
            call: The call that asks.
            is_there: Asks the endpoint.

        Returns:
            The answer; True where the endpoint could not be asked.
        """
        # Other calls do not wait: their deadline may be nearer.
        async with self._asking.setdefault(call.requester, {}).setdefault(question, asyncio.Lock()):
            known = self.answer(question, call)
            if known is None:
                try:
                    known = await is_there()
                except Fault:
                    return True
                self.add(question, call, answer=known)
            return known

    def answer(self, question: Hashable, call: Call) -> bool | None:
        """Return the answer to a question; None where it is not known, or not any more."""
        known = self._of_calls.get(call.requester, {}).get(question)
        if known is not None:
            return known
        until, answer = self._known.get(question, (-inf, False))
        return answer if self._clock() < until else None

    def add(self, question: Hashable, call: Call, *, answer: bool) -> None:
        """Remember the answer to a question that was asked just now."""
        self._of_calls.setdefault(call.requester, {})[question] = answer
        if not self._seconds:
            return
        if len(self._known) >= _MOST:
            self._known.clear()
        self._known[question] = (self._clock() + self._seconds, answer)

    def forget(self) -> None:
        """Forget all answers, but those of calls that are under way."""
        self._known.clear()
