import pytest

from gateway.errors import DeadlinePassed, EndpointFault, NetworkFault, QueryRefused, Resting
from gateway.flow.breaker import Breaker
from gateway.graph.call import Deadline

pytestmark = pytest.mark.anyio

DOWN = NetworkFault("The endpoint could not be reached.")
SOON = Deadline(60.0, lambda: 0.0)
"""It never comes: its clock stands still."""


class Endpoint:
    """An endpoint that is down or not, and counts probes."""

    def __init__(self) -> None:
        self.down = True
        self.probes = 0

    async def probe(self, _deadline: Deadline) -> None:
        """Answer, or not."""
        self.probes += 1
        if self.down:
            raise DOWN


async def test_it_asks_again_after_the_rest_and_only_then() -> None:
    now = 0.0
    endpoint = Endpoint()
    breaker = Breaker(2, 15.0, lambda: now)
    for _ in range(2):
        await breaker.admit(endpoint.probe, SOON)
        breaker.failed(DOWN)
    for _ in range(3):
        with pytest.raises(Resting, match=r"could not be reached.*2 times.*15 s"):
            await breaker.admit(endpoint.probe, SOON)
    assert endpoint.probes == 1
    now = 15.0
    endpoint.down = False
    await breaker.admit(endpoint.probe, SOON)
    await breaker.admit(endpoint.probe, SOON)
    assert endpoint.probes == 2


async def test_an_answer_forgives_the_failures_before_it() -> None:
    endpoint = Endpoint()
    breaker = Breaker(2, 15.0)
    for _ in range(5):
        breaker.failed(EndpointFault("Odd."))
        breaker.answered()
        await breaker.admit(endpoint.probe, SOON)
    assert endpoint.probes == 0


async def test_a_hanging_endpoint_counts_as_one_that_fails_and_a_refused_query_does_not() -> None:
    endpoint = Endpoint()
    breaker = Breaker(2, 15.0)
    breaker.failed(DeadlinePassed("Over."))
    breaker.failed(QueryRefused("No."))
    await breaker.admit(endpoint.probe, SOON)
    breaker.failed(DeadlinePassed("Over."))
    with pytest.raises(Resting):
        await breaker.admit(endpoint.probe, SOON)


class Now:
    """A clock that goes on when it is told to."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def __call__(self) -> float:
        """Return the seconds that have passed."""
        return self.seconds


@pytest.mark.parametrize("server", ["the endpoint", "the Wikibase API"])
async def test_a_probe_that_is_not_answered_in_its_time_is_reported_as_silence_and_not_as_the_end_of_the_call(
    server: str,
) -> None:
    now = Now()

    async def hang(deadline: Deadline) -> None:
        now.seconds = deadline.at
        deadline.check()

    breaker = Breaker(1, 15.0, now, server=server)
    breaker.failed(DOWN)
    with pytest.raises(DeadlinePassed):
        await breaker.admit(hang, Deadline(now.seconds + 1.0, now))
    with pytest.raises(Resting) as caught:
        await breaker.admit(hang, Deadline(now.seconds + 30.0, now))
    assert caught.value.wrong.startswith(f"The{server[3:]} did not answer a harmless request within 3 s. It failed")
