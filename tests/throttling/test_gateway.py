"""A gateway before a service that counts what it is asked: many clients, each over MCP, and one budget."""

import asyncio
import contextlib
import itertools
import random
import re
from collections.abc import Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass

import pytest
from mcp import Client

from gateway.api import load_profile
from gateway.errors import Banned, Fault, Throttled
from gateway.server.app import build
from gateway.settings.endpoint import QuotaSettings, RequestSettings
from gateway.settings.limits import CacheSettings, SnapshotSettings
from gateway.settings.load import with_contact
from gateway.settings.profile import Profile
from gateway.settings.section import Section
from tests.throttling.service import Refill, Service, gateway_at, now, running

pytestmark = [pytest.mark.anyio, pytest.mark.slow]

CONTACT = "ops@example.org"
CLIENTS, CALLS = 8, 25
AGAIN = re.compile(r"again in (\d+) s")


def profile(**groups: Section) -> Profile:
    """Return the profile for Wikidata, over a graph that answers nothing from memory."""
    given = with_contact(load_profile("wikidata"), CONTACT)
    return given.model_copy(
        update={
            "endpoint": given.endpoint.model_copy(update=groups),
            # Names are found by the service as well, and nothing is asked of anybody else.
            "search": given.search.model_copy(update={"api": ""}),
            "cache": CacheSettings(megabytes=0),
            "snapshots": SnapshotSettings(ttl_seconds=0.001),
        }
    )


def heavy(query: str) -> float:
    """Return the seconds that a query takes: most are quick, some take a good part of a minute."""
    return random.Random(query).choice((0.1, 0.2, 0.3, 0.5, 1.0) * 9 + (8.0, 30.0, 70.0))  # noqa: S311 - no secret


@dataclass(frozen=True, slots=True)
class Called:
    """What became of a call: how long it took, and what was told; nothing where it was answered."""

    seconds: float
    told: str


Call = tuple[str, dict[str, object]]

SEEDS = ("wd:Q42", "wd:Q7251", "wd:Q692", "wd:Q535", "wd:Q350", "wd:Q145", "wd:Q5")


def next_call(dice: random.Random) -> Call:
    """Return the next call of a client."""
    seeds = dice.sample(SEEDS, 2)
    possible: tuple[Call, ...] = (
        ("bfs_query", {"seeds": seeds, "max_hops": dice.randint(1, 3)}),
        ("intersect_subgraphs", {"seeds": seeds, "k": dice.randint(1, 2)}),
        ("describe_entity", {"id": seeds[0]}),
        ("describe_entities", {"ids": seeds}),
        ("search_entities", {"query": dice.choice(("Douglas Adams", "Berlin", "nobody at all"))}),
        ("describe_schema", {}),
    )
    return dice.choice(possible)


async def all_called(
    url: str, settings: Profile, service: Service, until: Callable[[], bool] = lambda: False
) -> list[Called]:
    """Have some clients of one server call tools, each one after the other; they come back when they are told to.

    Args:
        url: The service's.
        settings: The gateway's.
        service: The service.
        until: Whether no more calls need to be made.
    """
    became: list[Called] = []

    async def work(client: Client, number: int) -> None:
        dice = random.Random(number)  # noqa: S311 - no secret
        for _ in range(CALLS):
            if until():
                return
            tool, arguments = next_call(dice)
            began = now()
            result = await client.call_tool(tool, arguments)
            told = result.content[0].text if result.is_error else ""  # type: ignore[union-attr]  # answers are one text
            became.append(Called(now() - began, told))
            wait = AGAIN.search(told)
            await asyncio.sleep(float(wait[1]) if wait else 1.0)

    async with AsyncExitStack() as stack:
        gateway = await stack.enter_async_context(gateway_at(url, settings, service))
        server = await build(gateway)
        clients = [await stack.enter_async_context(Client(server)) for _ in range(CLIENTS)]
        gateway.start()
        await asyncio.gather(*map(work, clients, range(CLIENTS)))
    return became


@pytest.mark.parametrize(("concurrency", "refill"), [(1, "evenly"), (4, "at one go")])
async def test_two_hundred_calls_are_answered_or_get_the_time_to_come_back(concurrency: int, refill: Refill) -> None:
    service = Service(cost=heavy, refill=refill)
    settings = profile(requests=RequestSettings(concurrency=concurrency))
    async with running(service) as endpoint:
        became = await all_called(endpoint.url, settings, service)
    assert len(became) == CLIENTS * CALLS
    # 500 is what the service answers to a query that ran into its limit of time.
    assert {seen.status for seen in service.seen} <= {200, 400, 500}
    assert min(seen.seconds for seen in service.seen) > 0
    assert min(seen.errors for seen in service.seen) > 0
    assert max(seen.under_way for seen in service.seen) < 50
    told = [call.told for call in became if call.told]
    assert len(became) - len(told) > 50
    assert sum("What the endpoint grants" in text for text in told) > 10
    assert [text for text in told if not AGAIN.search(text)] == []
    assert max(call.seconds for call in became) <= settings.limits.deadline_seconds + 1


async def test_the_same_calls_are_refused_where_nobody_counts() -> None:
    service = Service(cost=heavy)
    settings = profile(requests=RequestSettings(concurrency=4), quota=QuotaSettings(time_limit_seconds=60))

    def refused() -> bool:
        return any(seen.status == 429 and seen.seconds <= 0 for seen in service.seen)

    async with running(service) as endpoint:
        await all_called(endpoint.url, settings, service, until=refused)
    assert refused()


async def test_one_request_at_a_time_is_what_the_profile_says() -> None:
    service = Service()
    async with running(service) as endpoint, gateway_at(endpoint.url, profile(), service) as gateway:
        await asyncio.gather(*(gateway.bfs_query([seed], 2) for seed in SEEDS))
    assert max(seen.under_way for seen in service.seen) == 0


async def test_a_retry_after_holds_for_every_call_and_not_only_for_the_one_that_met_it() -> None:
    service = Service(refusing=lambda at: (429, b"", {"Retry-After": "20"}) if 5 <= at < 25 else None)
    async with running(service) as endpoint, gateway_at(endpoint.url, profile(), service) as gateway:
        await asyncio.sleep(5)
        await asyncio.gather(*(gateway.describe_entity(seed) for seed in SEEDS))
    refused = [seen.at for seen in service.seen if seen.status == 429]
    assert len(refused) == 1
    assert min(seen.at for seen in service.seen if seen.at > refused[0]) >= refused[0] + 20


async def test_a_pause_that_is_longer_than_a_call_is_reported_at_once_with_its_length() -> None:
    service = Service(refusing=lambda _at: (429, b"", {"Retry-After": "300"}))
    async with running(service) as endpoint, gateway_at(endpoint.url, profile(), service) as gateway:
        for _ in range(3):
            with pytest.raises(Throttled, match=r"again in 30[01] s"):
                await gateway.describe_entity("wd:Q42")
            assert now() < 1
        assert len(service.seen) == 1
        await asyncio.sleep(150)
        with pytest.raises(Throttled, match=r"again in 15[01] s"):
            await gateway.describe_entity("wd:Q42")
    assert len(service.seen) == 1


async def test_overload_is_met_with_pauses_that_grow() -> None:
    service = Service(refusing=lambda at: (503, b"Service is overloaded", {}) if at < 100 else None)
    async with running(service) as endpoint, gateway_at(endpoint.url, profile(), service) as gateway:
        for _ in range(30):
            with contextlib.suppress(Fault):
                await gateway.describe_entity("wd:Q42")
            await asyncio.sleep(10)
    refused = [seen.at for seen in service.seen if seen.status == 503]
    pauses = [round(later - earlier) for earlier, later in itertools.pairwise(refused)]
    assert pauses == sorted(pauses)
    assert len(refused) <= 6
    assert service.seen[-1].status == 200


async def test_a_ban_is_obeyed_to_its_end_and_reported_to_every_call() -> None:
    service = Service()
    async with running(service) as endpoint, gateway_at(endpoint.url, profile(), service) as gateway:
        await gateway.describe_entity("wd:Q42")
        service.ban(3 * 3600.0)
        before = len(service.seen)
        for _ in range(4):
            with pytest.raises(Banned, match=r"nothing is sent to it for \d+ s"):
                await gateway.search_entities("Ada")
        assert [seen.status for seen in service.seen[before:]] == [403]
        await asyncio.sleep(3 * 3600.0 - 60)
        with pytest.raises(Banned, match=r"again in \d\d? s"):
            await gateway.search_entities("Ada")
        assert len(service.seen) == before + 1
        await asyncio.sleep(62)
        assert (await gateway.search_entities("Ada")).result


async def test_what_is_given_up_is_charged_as_if_it_ran_to_the_end() -> None:
    service = Service(cost=lambda query: 59.0 if "Q42" in query else 0.1)
    settings = profile(requests=RequestSettings(concurrency=4))
    async with running(service) as endpoint, gateway_at(endpoint.url, settings, service) as gateway:
        for _ in range(6):
            calls = [asyncio.create_task(gateway.describe_entity("wd:Q42")) for _ in range(4)]
            await asyncio.sleep(3)
            for call in calls:
                call.cancel()
            await asyncio.wait(calls)
        await asyncio.sleep(300)
        with contextlib.suppress(Fault):
            await gateway.describe_entity("wd:Q7251")
    assert min(seen.seconds for seen in service.seen) > 0
    assert 429 not in {seen.status for seen in service.seen}


@pytest.mark.parametrize("seconds", [0.2, 1.0, 3.0, 20.0, 70.0])
async def test_the_start_of_a_server_costs_little(seconds: float) -> None:
    service = Service(cost=lambda _query: seconds)
    async with running(service) as endpoint, gateway_at(endpoint.url, profile(), service) as gateway:
        gateway.start()
        await asyncio.sleep(60)
        await gateway.wait_for_schema()
        # The look at what is there, a sample, the names, and the labels of what was found.
        assert len(service.seen) <= 8
        # What is given up is charged as if it ran to the end.
        assert service.left <= (0 if seconds <= 1 else 2)
        await asyncio.sleep(3600)
    assert len(service.seen) <= 8
    assert min(seen.seconds for seen in service.seen) > 40


async def test_a_schema_that_cannot_be_read_is_asked_for_less_and_less_often() -> None:
    service = Service(cost=lambda query: 70.0 if "OFFSET" in query else 0.1)
    async with running(service) as endpoint, gateway_at(endpoint.url, profile(), service) as gateway:
        for _ in range(120):
            with contextlib.suppress(Fault):
                await gateway.bfs_query(["wd:Q42"], 1, topology_only=True)
            await asyncio.sleep(60)
    samples = [seen for seen in service.seen if seen.status == 500]
    assert 2 <= len(samples) <= 12
