"""When the garbage collector looks at all objects, and how often threads of a server let each other compute."""

import gc
import sys

import pytest

from gateway.server.calls import Calls
from gateway.server.run import (
    DUE,
    OVERDUE,
    SECONDS,
    FullCollections,
    collected_between_calls,
    short_switch_interval,
)

pytestmark = pytest.mark.anyio


class Server:
    """A server that is idle or not, and notes full collections."""

    def __init__(self) -> None:
        self.is_idle = True
        self.collected = 0
        self.frozen_after: list[int] = []
        self.collections = FullCollections(lambda: self.is_idle, self.collect, self.freeze)

    def collect(self) -> None:
        """Note a full collection."""
        self.collected += 1

    def freeze(self) -> None:
        """Note after which full collection objects are frozen."""
        self.frozen_after.append(self.collected)

    def grow_old(self, times: int) -> None:
        """Let objects become old so many times, and look after each."""
        for _ in range(times):
            for generation in (0, 1):
                self.collections.note("start", {"generation": generation})
                self.collections.note("stop", {"generation": generation})
            self.collections.collect_if_due()


def test_all_objects_are_looked_at_once_enough_have_become_old() -> None:
    server = Server()
    server.grow_old(DUE - 1)
    assert server.collected == 0
    server.grow_old(1)
    assert server.collected == 1
    server.grow_old(2 * DUE)
    assert server.collected == 3


def test_during_calls_they_wait_until_no_call_runs() -> None:
    server = Server()
    server.is_idle = False
    server.grow_old(OVERDUE - 1)
    assert server.collected == 0
    server.is_idle = True
    server.collections.collect_if_due()
    assert server.collected == 1


def test_they_do_not_wait_for_ever() -> None:
    server = Server()
    server.is_idle = False
    server.grow_old(OVERDUE)
    assert server.collected == 1


def test_what_the_first_collection_without_calls_leaves_is_frozen_once() -> None:
    server = Server()
    server.is_idle = False
    server.grow_old(OVERDUE)
    assert (server.collected, server.frozen_after) == (1, [])
    server.is_idle = True
    server.grow_old(3 * DUE)
    assert (server.collected, server.frozen_after) == (4, [2])


async def test_a_server_leaves_the_collector_as_it_was() -> None:
    before, callbacks = gc.get_threshold(), list(gc.callbacks)
    async with collected_between_calls(lambda: True):
        assert gc.get_threshold() != before
        assert gc.isenabled()
        # A server that is never idle does not look at its modules during calls either.
        assert gc.get_freeze_count() > 0
    assert (gc.get_threshold(), gc.callbacks) == (before, callbacks)
    assert gc.get_freeze_count() == 0


async def test_calls_are_idle_until_one_begins_and_again_when_it_has_ended() -> None:
    calls = Calls(60.0)
    assert calls.is_idle

    async def work() -> bool:
        return calls.is_idle

    assert not await calls.run(work)
    assert calls.is_idle


async def test_threads_switch_often_while_a_server_runs_and_as_before_afterwards() -> None:
    before = sys.getswitchinterval()
    async with short_switch_interval():
        assert sys.getswitchinterval() == pytest.approx(min(before, SECONDS), rel=0.1)
    assert sys.getswitchinterval() == pytest.approx(before)


async def test_an_interval_that_is_shorter_already_stays() -> None:
    before = sys.getswitchinterval()
    sys.setswitchinterval(SECONDS / 5)
    try:
        async with short_switch_interval():
            assert sys.getswitchinterval() == pytest.approx(SECONDS / 5, rel=0.1)
    finally:
        sys.setswitchinterval(before)
