"""Whether a graph has something, as an endpoint said: remembered for a call, and for no longer than answers are."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Hashable
from math import inf
from typing import Final
from weakref import WeakKeyDictionary

from gateway.errors import Fault
from gateway.graph.call import Call, Requester
from gateway.graph.kept import FORGOTTEN, WEEK, KeptFacts
from gateway.telemetry.tally import Clock

_OF_GRAPH: Final = "graph "
"""Begins the names of facts about the content of a graph."""

_MOST: Final = 10_000
"""Questions of which the answer is remembered: clients name predicates, as many as they like."""


class Remembered:
    """Remembers answers to questions of yes and no about the content of a graph.

    Args:
        kept: What earlier processes found out, and for how long it is used.
        clock: The clock.
    """

    def __init__(self, kept: KeptFacts, clock: Clock) -> None:
        self._kept = kept
        self._clock = clock
        self._known: dict[Hashable, tuple[float, bool]] = {}
        self._of_calls: WeakKeyDictionary[Requester, dict[Hashable, bool]] = WeakKeyDictionary()
        self._asking: WeakKeyDictionary[Requester, dict[Hashable, asyncio.Lock]] = WeakKeyDictionary()

    @property
    def seconds(self) -> float:
        """For how long something is remembered, or since everything was forgotten, if that is shorter ago."""
        forgotten = self._kept.known(FORGOTTEN, bool, seconds=WEEK)
        return self._kept.seconds if forgotten is None else min(self._kept.seconds, forgotten[1])

    async def ask(self, question: str, call: Call, is_there: Callable[[], Awaitable[bool]]) -> bool:
        """Return the answer to a question, which the parts of a call that wait for it ask once.

        It outlives the process, too.

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
            if known is None and (kept := self._kept.known(_OF_GRAPH + question, bool)) is not None:
                known, age = kept
                self._add(question, call, answer=known, age=age)
            if known is None:
                try:
                    known = await is_there()
                except Fault:
                    return True
                self.add(question, call, answer=known)
                self._kept.keep(_OF_GRAPH + question, known)
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
        self._add(question, call, answer=answer, age=0.0)

    def _add(self, question: Hashable, call: Call, *, answer: bool, age: float) -> None:
        self._of_calls.setdefault(call.requester, {})[question] = answer
        seconds = self._kept.seconds - age
        if seconds <= 0:
            return
        if len(self._known) >= _MOST:
            self._known.clear()
        self._known[question] = (self._clock() + seconds, answer)

    def forget(self, *further: str) -> None:
        """Forget all answers, but those of calls that are under way, and what is kept under `further` names."""
        self._known.clear()
        self._kept.forget(_OF_GRAPH, *further)
