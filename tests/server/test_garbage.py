"""The garbage collector of a server looks at few objects at once, and at all of them rarely."""

import gc
import weakref

import pytest

from gateway.server.calls import Calls
from gateway.server.garbage import (
    COUNTED_EVERY,
    DUE,
    MORE_FROZEN,
    MOST_LEFT,
    MUCH_MORE_FROZEN,
    OVERDUE,
    TOO_MANY,
    Collector,
    OldCollections,
    collected_between_calls,
)

pytestmark = pytest.mark.anyio


class Noted(Collector):
    """A collector that notes what it is to do."""

    def __init__(self) -> None:
        self.done: list[str] = []
        self.objects_left = 0
        self.objects_frozen = 0

    def collect(self) -> None:
        """Note it."""
        self.done.append("collect")

    def left(self) -> int:
        """Return what the test says."""
        return self.objects_left

    def frozen(self) -> int:
        """Return what the test says."""
        return self.objects_frozen

    def freeze(self) -> None:
        """Note it."""
        self.done.append("freeze")

    def unfreeze(self) -> None:
        """Note it."""
        self.done.append("unfreeze")


class Server:
    """A server that is idle or not."""

    def __init__(self, *, is_idle: bool = True, collector: Noted | None = None) -> None:
        self.is_idle = is_idle
        self.collector = collector or Noted()
        self.collections = OldCollections(lambda: self.is_idle, self.collector)

    @property
    def collected(self) -> int:
        """How often old objects were looked at."""
        return self.collector.done.count("collect")

    def grow_old(self, times: int) -> None:
        """Let objects become old so many times, and look after each."""
        for _ in range(times):
            for generation in (0, 1):
                self.collections.note("start", {"generation": generation})
                self.collections.note("stop", {"generation": generation})
            self.collections.collect_if_due()


def test_old_objects_are_looked_at_once_there_are_enough_new_ones() -> None:
    server = Server()
    server.grow_old(DUE - 1)
    assert server.collected == 0
    server.grow_old(1)
    assert server.collected == 1
    server.grow_old(2 * DUE)
    assert server.collected == 3


def test_during_calls_they_wait_until_no_call_runs() -> None:
    server = Server(is_idle=False)
    server.grow_old(OVERDUE - 1)
    assert server.collected == 0
    server.is_idle = True
    server.collections.collect_if_due()
    assert server.collected == 1


def test_they_do_not_wait_for_ever() -> None:
    server = Server(is_idle=False)
    server.grow_old(OVERDUE)
    assert server.collected == 1


def test_what_a_collection_without_calls_leaves_is_kept_out_of_the_next_ones() -> None:
    server = Server()
    server.grow_old(2 * DUE)
    assert server.collector.done == ["collect", "freeze", "collect", "freeze"]


def test_during_calls_it_is_kept_out_only_where_it_is_much() -> None:
    server = Server(is_idle=False)
    server.collector.objects_left = MOST_LEFT - 1
    server.grow_old(OVERDUE)
    server.collector.objects_left = MOST_LEFT
    server.grow_old(OVERDUE)
    assert server.collector.done == ["collect", "collect", "freeze"]


def test_during_calls_too_many_objects_are_kept_out_without_a_look() -> None:
    server = Server(is_idle=False)
    server.collector.objects_left = TOO_MANY
    server.grow_old(OVERDUE)
    assert server.collector.done == ["freeze"]
    server.is_idle = True
    server.grow_old(DUE)
    assert server.collector.done == ["freeze", "collect", "freeze"]


@pytest.mark.parametrize(
    ("is_idle", "every", "most"), [(True, DUE, 150 + MORE_FROZEN), (False, OVERDUE, 300 + MUCH_MORE_FROZEN)]
)
def test_all_objects_are_looked_at_where_many_more_are_frozen_than_after_the_last_such_look(
    is_idle: bool, every: int, most: int
) -> None:
    collector = Noted()
    collector.objects_frozen = 100
    server = Server(is_idle=is_idle, collector=collector)
    collector.objects_frozen = most
    server.grow_old(every * COUNTED_EVERY)
    assert "unfreeze" not in collector.done
    collector.objects_frozen = most + 1
    server.grow_old(every * COUNTED_EVERY)
    assert collector.done[-3:] == ["unfreeze", "collect", "freeze"]
    # What is left is in use, and no reason to look again.
    server.grow_old(every * COUNTED_EVERY)
    assert collector.done.count("unfreeze") == 1


def test_objects_are_left_until_they_are_frozen() -> None:
    collector = Collector()
    collector.freeze()
    objects: list[list[object]] = [[] for _ in range(5_000)]
    try:
        collector.collect()
        assert len(objects) <= collector.left() < 2 * len(objects)
        collector.freeze()
        assert collector.left() < len(objects)
    finally:
        collector.unfreeze()


def test_what_was_garbage_when_it_was_frozen_is_collected_when_frozen_objects_are_looked_at() -> None:
    class Node:
        pass

    def garbage() -> weakref.ref[Node]:
        node = Node()
        node.itself = node  # type: ignore[attr-defined]
        return weakref.ref(node)

    collector = Collector()
    dropped = garbage()
    try:
        collector.freeze()
        collector.collect()
        assert dropped() is not None
    finally:
        collector.unfreeze()
    collector.collect()
    assert dropped() is None


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
