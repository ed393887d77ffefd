import pytest

from gateway.errors import BrokenAnswer, Fault, GaveUp, NetworkFault, QueryRefused, Throttled
from gateway.flow.control import RetryPolicy
from gateway.graph.call import Deadline

POLICY = RetryPolicy(retries=10, first_pause=0.2)


def deadline(seconds: float = 60.0) -> Deadline:
    return Deadline(seconds, lambda: 0.0)


@pytest.mark.parametrize(("attempt", "longest"), [(1, 0.2), (2, 0.4), (3, 0.8), (6, 5.0), (9, 5.0)])
def test_pauses_grow_to_five_seconds_with_full_jitter(attempt: int, longest: float) -> None:
    pauses = [POLICY.pause_after(NetworkFault("Reset."), attempt, deadline()) for _ in range(300)]
    assert all(pause is not None and 0 <= pause <= longest for pause in pauses)
    assert min(pause or 0.0 for pause in pauses) < longest / 4
    assert max(pause or 0.0 for pause in pauses) > longest * 3 / 4


def test_a_retry_after_is_taken_as_it_is() -> None:
    assert POLICY.pause_after(Throttled("Fewer.", retry_after=17.5), 1, deadline()) == 17.5
    assert POLICY.pause_after(Throttled("Fewer.", retry_after=0.0), 1, deadline()) == 0.0


@pytest.mark.parametrize("left", [0.0, 17.0, 17.5])
def test_a_pause_as_long_as_the_call_is_not_worth_waiting_for(left: float) -> None:
    assert POLICY.pause_after(Throttled("Fewer.", retry_after=17.5), 1, deadline(left)) is None


def test_a_request_is_sent_again_as_often_as_the_profile_says() -> None:
    policy = RetryPolicy(retries=2, first_pause=0.2)
    fault = BrokenAnswer("Broke off.")
    assert [policy.pause_after(fault, attempt, deadline()) is None for attempt in (1, 2, 3)] == [False, False, True]
    assert RetryPolicy(retries=0, first_pause=0.2).pause_after(fault, 1, deadline()) is None


@pytest.mark.parametrize("fault", [QueryRefused("No."), GaveUp("Too slow.")])
def test_a_fault_that_stays_is_no_reason_to_send_again(fault: Fault) -> None:
    assert POLICY.pause_after(fault, 1, deadline()) is None
