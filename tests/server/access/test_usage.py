"""What a client may still use."""

from dataclasses import dataclass

from hypothesis import given
from hypothesis import strategies as st

from gateway.server.access.client_access import Sessions
from gateway.server.access.usage import Bucket, Usages
from gateway.settings.serving import ClientLimits


@dataclass
class Clock:
    """A clock that is set."""

    now: float = 0.0

    def __call__(self) -> float:
        """Return the time that was set."""
        return self.now


@given(st.integers(1, 100), st.lists(st.floats(0, 30), max_size=200))
def test_no_minute_gives_more_than_twice_what_flows_in(a_minute: int, pauses: list[float]) -> None:
    clock = Clock()
    bucket = Bucket(a_minute, clock)
    taken: list[float] = []
    for pause in pauses:
        clock.now += pause
        if bucket.seconds_until(1) == 0:
            bucket.take(1)
            taken.append(clock.now)
    for first in taken:
        # A full bucket at once, and what flows in during the minute.
        assert sum(first <= each < first + 60 for each in taken) <= 2 * a_minute + 1


def test_what_is_owed_must_flow_in_first() -> None:
    clock = Clock()
    bucket = Bucket(60, clock)
    bucket.take(180)
    assert bucket.seconds_until(1) == 121
    clock.now = 121
    assert bucket.seconds_until(1) == 0


def test_a_client_with_all_its_requests_under_way_must_wait() -> None:
    usage = Usages().of("alice", ClientLimits(under_way=2))
    usage.under_way = 2
    assert usage.pause() == 1
    usage.under_way = 1
    assert usage.pause() == 0


def test_new_limits_begin_anew_with_the_requests_that_are_under_way() -> None:
    usages = Usages()
    before = usages.of("alice", ClientLimits(requests_a_minute=1))
    before.requests.take(1)
    before.under_way = 3
    after = usages.of("alice", ClientLimits(requests_a_minute=2))
    assert (after.requests.seconds_until(1), after.under_way) == (0, 3)


def test_sessions_are_counted_by_client_until_they_end_or_are_idle() -> None:
    clock = Clock()
    sessions = Sessions(clock)
    for name, client in (("1", "alice"), ("2", "alice"), ("3", "bob")):
        sessions.use(name, client)
    assert (sessions.count("alice"), sessions.count("bob"), sessions.count("eve")) == (2, 1, 0)
    for client, path in (("bob", ""), ("alice", "/other")):
        sessions.end("1", client, path)
        assert sessions.count("alice") == 2
    sessions.end("1", "alice")
    assert sessions.count("alice") == 1
    clock.now = 1_801
    assert sessions.count("alice") == 0
