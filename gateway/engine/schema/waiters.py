"""The calls that wait for a reading of the schema."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from gateway.graph.call import Call
from gateway.graph.deadline import Clock
from gateway.settings.profile import Profile


class Waiters:
    """Lets calls wait until the first lists are there, and a little longer for better ones."""

    def __init__(self, profile: Profile, clock: Clock) -> None:
        self._longest_seconds = profile.limits.schema_seconds
        self._patience_seconds = profile.orientation.patience_seconds
        self._clock = clock
        self._patient_until = 0.0
        self._has_lists = asyncio.Event()
        self._count = 0

    def reading_began(self, *, has_lists: bool) -> None:
        """Let calls wait for the first result of a reading, unless there are lists from before."""
        self._patient_until = self._clock() + self._patience_seconds
        if not has_lists:
            self._has_lists = asyncio.Event()

    def lists_changed(self) -> None:
        """Wake the calls that have nothing to work with."""
        self._has_lists.set()

    async def wait(self, reading: asyncio.Task[None], call: Call, is_abandonable: Callable[[], bool]) -> None:
        """Wait for the first lists, and for the end of the reading no longer than the profile's patience.

        Args:
            reading: The reading.
            call: The call that waits, no longer than it has time.
            is_abandonable: Returns whether the reading stops when the last call that waits for it is cancelled.
        """
        left = min(call.deadline.seconds_left, self._longest_seconds)
        has_lists = asyncio.ensure_future(self._has_lists.wait())
        self._count += 1
        with call.tally.waiting():
            try:
                await asyncio.wait({reading, has_lists}, timeout=left, return_when=asyncio.FIRST_COMPLETED)
                patience = min(call.deadline.seconds_left, self._patient_until - self._clock())
                if patience > 0:
                    await asyncio.wait({reading}, timeout=patience)
            except asyncio.CancelledError:
                if self._count == 1 and is_abandonable():
                    reading.cancel()
                    # The record of the caller is written after this, so it includes what became of the query.
                    await asyncio.wait({reading})
                raise
            finally:
                self._count -= 1
                has_lists.cancel()
