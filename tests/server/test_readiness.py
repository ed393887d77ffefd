"""Whether a graph is said to be ready, while its endpoint comes and goes."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from gateway import resources
from gateway.api import load_profile, open_gateway
from gateway.errors import ConfigurationError, Fault, Resting
from gateway.server.gateway_opener import GatewayOpener, ignore_progress
from gateway.server.observe.readiness import AGAIN_SECONDS, AGAIN_WITH_QUOTA_SECONDS, Readiness
from gateway.settings.profile import Profile
from tests.clocks import Clock
from tests.server.test_metrics import Switched, switched_endpoint

pytestmark = pytest.mark.anyio


@asynccontextmanager
async def watched(switched: Switched, clock: Clock, profile: Profile | None = None) -> AsyncIterator[Readiness]:
    """Open a gateway over the endpoint, and wait until its schema is read or is known to be unreadable."""
    gateway = open_gateway(endpoint=switched.url, profile=profile or load_profile("local"), clock=clock)
    opener = GatewayOpener.over(gateway)
    async with opener:
        await opener.gateway(ignore_progress)
        await gateway.wait_for_schema()
        yield Readiness(opener, clock)


async def settled(readiness: Readiness) -> None:
    """Wait until no schema is being read."""
    gateway = readiness._opener.opened  # noqa: SLF001 - what it reads in the background has no other sign
    assert gateway is not None
    await gateway.wait_for_schema()


async def test_a_graph_in_this_process_is_ready_once_it_is_open() -> None:
    opener = GatewayOpener.over(open_gateway(resources.folder("fixtures") / "films.ttl"))
    readiness = Readiness(opener)
    before = await readiness.state()
    async with opener:
        gateway = await opener.gateway(ignore_progress)
        await gateway.wait_for_schema()
        after = await readiness.state()
    assert (before, after) == ("opening", "ready")


async def test_a_graph_that_cannot_be_opened_is_not_ready_and_says_so() -> None:
    def refuse(_: object) -> None:
        raise ConfigurationError("There is no such file.")

    opener = GatewayOpener(load_profile("local"), refuse)  # type: ignore[arg-type]
    async with opener:
        with pytest.raises(Exception, match="cannot be opened"):
            await opener.gateway(ignore_progress)
        assert await Readiness(opener).state() == "not_opened"


async def test_it_goes_red_when_the_endpoint_stops_answering_and_back_by_itself() -> None:
    clock = Clock()
    async with switched_endpoint() as switched, watched(switched, clock) as readiness:
        seen = [await readiness.state()]
        switched.is_on = False
        clock.now += AGAIN_SECONDS
        seen.append(await readiness.state())
        switched.is_on = True
        clock.now += AGAIN_SECONDS
        seen.append(await readiness.state())
    assert seen == ["ready", "unreachable", "ready"]


async def test_an_endpoint_that_was_away_at_the_start_is_ready_without_a_call_once_it_is_back() -> None:
    clock = Clock()
    async with switched_endpoint(is_on=False) as switched, watched(switched, clock) as readiness:
        clock.now += AGAIN_SECONDS
        seen = [await readiness.state()]
        switched.is_on = True
        clock.now += AGAIN_SECONDS
        await readiness.state()
        await settled(readiness)
        seen.append(await readiness.state())
    assert seen == ["unreachable", "ready"]


async def test_the_endpoint_is_asked_once_however_many_ask_and_how_often() -> None:
    clock = Clock()
    async with switched_endpoint() as switched, watched(switched, clock) as readiness:
        clock.now += 3_600
        asked = switched.asked
        for _ in range(3):
            await asyncio.gather(*(readiness.state() for _ in range(20)))
            clock.now += AGAIN_SECONDS / 3 - 0.01
    assert switched.asked - asked == 1


async def test_an_endpoint_that_has_just_answered_a_call_is_not_asked() -> None:
    clock = Clock()
    async with switched_endpoint() as switched, watched(switched, clock) as readiness:
        asked = switched.asked
        assert await readiness.state() == "ready"
    assert switched.asked == asked


async def test_who_goes_away_does_not_end_the_question_of_the_others() -> None:
    clock = Clock()
    async with switched_endpoint() as switched, watched(switched, clock) as readiness:
        clock.now += 3_600
        first, second = (asyncio.create_task(readiness.state()) for _ in range(2))
        await asyncio.sleep(0)
        first.cancel()
        assert await second == "ready"


async def test_where_requests_are_counted_it_is_asked_less_often() -> None:
    clock = Clock()
    async with switched_endpoint() as switched, watched(switched, clock, with_errors_counted()) as readiness:
        clock.now += 3_600
        asked = switched.asked
        await readiness.state()
        clock.now += AGAIN_WITH_QUOTA_SECONDS - 1
        await readiness.state()
    assert switched.asked - asked == 1


async def test_an_endpoint_that_names_a_pause_stays_as_it_was() -> None:
    clock = Clock()
    async with switched_endpoint() as switched, watched(switched, clock) as readiness:
        await readiness.state()
        switched.is_on, switched.retry_after = False, "30"
        clock.now += AGAIN_SECONDS
        assert await readiness.state() == "ready"


def with_errors_counted() -> Profile:
    local = load_profile("local")
    quota = local.endpoint.quota.model_copy(update={"errors_per_minute": 100.0, "errors_burst": 200.0})
    return local.model_copy(update={"endpoint": local.endpoint.model_copy(update={"quota": quota})})


@pytest.mark.parametrize("profile", [load_profile("local"), with_errors_counted()], ids=["own", "public"])
async def test_an_endpoint_that_is_busy_with_slow_queries_is_reachable(profile: Profile) -> None:
    clock = Clock()
    async with switched_endpoint() as switched, watched(switched, clock, profile) as readiness:
        gateway = readiness._opener.opened  # noqa: SLF001 - the one whose connections are taken
        assert gateway is not None
        switched.is_slow = True
        at_once = profile.endpoint.requests.concurrency
        calls = [
            asyncio.create_task(
                gateway.bfs_query([f"https://example.org/x/n{number % 4}", f"https://no.where/{number}"], 1)
            )
            for number in range(3 * at_once)
        ]
        for _ in range(at_once):
            await switched.unanswered.get()
        clock.now += AGAIN_WITH_QUOTA_SECONDS
        asked = switched.asked
        state = await readiness.state()
        for call in calls:
            call.cancel()
        await asyncio.gather(*calls, return_exceptions=True)
    assert state == "ready"
    assert switched.asked - asked == (0 if profile.endpoint.quota.is_limited else 1)


async def test_calls_go_on_at_once_when_the_question_finds_the_endpoint_back() -> None:
    clock = Clock()
    async with switched_endpoint() as switched, watched(switched, clock) as readiness:
        gateway = readiness._opener.opened  # noqa: SLF001 - the one whose circuit is broken
        assert gateway is not None
        switched.is_on = False
        for node in range(8):
            with pytest.raises(Fault):
                await gateway.bfs_query([f"https://example.org/x/n{node}"], max_hops=1)
        switched.is_on = True
        with pytest.raises(Resting):
            await gateway.bfs_query(["https://example.org/x/n0"], max_hops=1)
        clock.now += AGAIN_SECONDS
        await readiness.state()
        answer = await gateway.bfs_query(["https://example.org/x/n0"], max_hops=1)
    assert answer.complete
