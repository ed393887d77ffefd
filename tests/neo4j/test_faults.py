"""What goes wrong between the gateway and Neo4j is an error or an incomplete answer, never a wrong one."""

import asyncio
import random
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from gateway.api import open_gateway
from gateway.errors import ConfigurationError, DeadlinePassed, EndpointFault, Fault, NetworkFault, QueryRefused
from gateway.graph.call import Deadline
from gateway.neo4j.connection import Address, DriverPool, fault_of
from gateway.settings.databases import NodesInNeo4j
from gateway.settings.load import load_profile
from tests.databases.chain import STOPPED_SECONDS, around, check_stopped, near, outcome
from tests.databases.proxy import running_proxy
from tests.neo4j.database import access, opened, own_database
from tests.servers.loopback import free_port
from tests.servers.unavailable import ServerUnavailable, skip_or_fail

pytestmark = [pytest.mark.anyio, pytest.mark.server]

LINKS = NodesInNeo4j(labels=("Link",))


@pytest.fixture
def port(address: Address) -> int:
    return urlsplit(address.url).port or 0


async def test_a_wrong_password_is_told_and_not_shown(port: int, tmp_path: Path) -> None:
    async with opened(port, access(tmp_path, "no such password"), LINKS) as gateway:
        with pytest.raises(EndpointFault, match="refused the user or the password") as caught:
            await around(gateway, 1)
    assert "no such" not in str(caught.value)


async def test_a_database_that_is_not_there_is_told(port: int, tmp_path: Path) -> None:
    async with opened(port, access(tmp_path), LINKS, database="nowhere") as gateway:
        with pytest.raises(EndpointFault, match="no database of that name"):
            await around(gateway, 1)


async def test_a_server_that_is_not_there_is_told(tmp_path: Path) -> None:
    async with opened(free_port(), access(tmp_path), LINKS) as gateway:
        with pytest.raises(Fault, match="could not be reached"):
            await around(gateway, 1)


def test_a_time_out_is_that_of_the_call_only_where_its_time_is_up() -> None:
    assert isinstance(fault_of(TimeoutError(), Deadline.after(0)), DeadlinePassed)
    assert isinstance(fault_of(TimeoutError(), Deadline.after(60)), NetworkFault)


async def test_a_query_that_takes_too_long_ends_with_its_call(port: int, tmp_path: Path) -> None:
    async with (
        running_proxy(port) as proxy,
        opened(proxy.port, access(tmp_path), LINKS) as patient,
        opened(proxy.port, access(tmp_path), LINKS, seconds=0.5) as hasty,
    ):
        assert await around(patient, 1) == (True, near(1))
        proxy.flows.clear()
        with pytest.raises(DeadlinePassed):
            await around(hasty, 2)
        proxy.flows.set()
        assert await around(patient, 2) == (True, near(2))


async def test_a_call_that_finds_every_connection_busy_ends_in_time(port: int, tmp_path: Path) -> None:
    async with (
        running_proxy(port) as proxy,
        opened(proxy.port, access(tmp_path), LINKS, seconds=0.5, concurrency=1) as hasty,
    ):
        proxy.flows.clear()
        answers = await asyncio.gather(*(around(hasty, node) for node in range(5)), return_exceptions=True)
        assert all(isinstance(answer, DeadlinePassed) for answer in answers)
        proxy.flows.set()
        await hasty.check_reachable(20)


async def test_a_query_whose_call_has_ended_is_ended_at_the_server(address: Address) -> None:
    pool, running = (
        DriverPool(address, 2),
        "SHOW TRANSACTIONS YIELD currentQuery RETURN collect([currentQuery]) AS rows, count(*) AS total",
    )
    slow = "UNWIND range(1, 100000) AS a UNWIND range(1, 100000) AS b RETURN [[sum(a * b)]] AS rows, 1 AS total"
    try:
        with pytest.raises(DeadlinePassed):
            await pool.fetch(slow, [1], Deadline.after(0.2))
        async with asyncio.timeout(20):
            while any(slow in text for (text,) in await pool.fetch(running, [1], Deadline.after(10))):
                pass
    finally:
        await pool.close()


async def test_a_statement_that_would_write_is_refused_by_the_database(address: Address) -> None:
    pool = DriverPool(address, 1)
    try:
        with pytest.raises(QueryRefused, match="AccessMode"):
            await pool.fetch("MATCH (n) DETACH DELETE n RETURN [] AS rows", [1], Deadline.after(10))
    finally:
        await pool.close()


async def test_a_text_that_no_database_takes_is_refused_and_the_connection_stays(address: Address) -> None:
    pool = DriverPool(address, 1)
    try:
        with pytest.raises(QueryRefused, match="takes no such text"):
            await pool.fetch("RETURN [[$1]] AS rows, 1 AS total", ["\ud800"], Deadline.after(10))
        assert await pool.fetch("RETURN [[$1]] AS rows, 1 AS total", ["ok"], Deadline.after(10)) == [["ok"]]
    finally:
        await pool.close()


async def test_answers_while_connections_are_cut_are_whole_or_say_what_is_missing(port: int, tmp_path: Path) -> None:
    chance = random.Random("2026 cuts")  # noqa: S311 - a test
    async with running_proxy(port) as proxy, opened(proxy.port, access(tmp_path), LINKS) as gateway:
        outcomes = []
        for node in range(61):
            proxy.remaining, proxy.left = chance.randrange(2_000), chance.randrange(3)
            outcomes.append(await outcome(gateway, node))
        assert proxy.cuts > 10
        # What broke off was asked again.
        assert outcomes.count("complete") > 50
        proxy.left = 1_000
        assert await outcome(gateway, 1) == "error"


async def test_a_server_that_is_killed_in_the_middle_is_told(tmp_path: Path, files: dict[str, list[Path]]) -> None:
    try:
        with own_database(tmp_path, files) as server:
            # No label is named: those of the database are read.
            async with opened(server.port, access(tmp_path)) as gateway:
                assert await around(gateway, 1) == (True, near(1))
                asking = [asyncio.create_task(outcome(gateway, node)) for node in range(10)]
                await asyncio.wait(asking, return_when=asyncio.FIRST_COMPLETED)
                server.process.kill()
                await asyncio.gather(*asking)
                # One that nothing has asked about: what came before the kill is kept.
                with pytest.raises(Fault):
                    await around(gateway, 20)
    except ServerUnavailable as error:
        skip_or_fail(error)


# The driver leaves a socket to the interpreter where a call ends while it connects: tests/neo4j/test_faulted.py.
@pytest.mark.filterwarnings("ignore:unclosed <socket:ResourceWarning")
async def test_calls_to_a_server_that_has_stopped_end_in_time_and_it_is_found_again(
    tmp_path: Path, files: dict[str, list[Path]]
) -> None:
    try:
        with own_database(tmp_path, files) as server:
            async with opened(server.port, access(tmp_path), LINKS, seconds=STOPPED_SECONDS) as gateway:
                await check_stopped(gateway, server.process)
    except ServerUnavailable as error:
        skip_or_fail(error)


@pytest.mark.parametrize(
    ("url", "wrong"),
    [
        ("neo4j://reader:hunter2@127.0.0.1/graph", "contains a password"),
        ("bolt://127.0.0.1/graph?policy=x", "of the form"),
        ("neo4j+s://127.0.0.1:99999/graph", "of the form"),
        ("neo4j:///graph", "of the form"),
        ("bolt://127.0.0.1/a/b", "of the form"),
    ],
)
def test_a_url_that_is_wrong_is_refused_without_being_repeated(url: str, wrong: str) -> None:
    with pytest.raises(ConfigurationError, match=wrong) as caught:
        open_gateway(url)
    assert "hunter2" not in str(caught.value)


def test_a_password_does_not_go_over_a_network_unencrypted(tmp_path: Path) -> None:
    profile = load_profile("bfsql-neo4j")
    endpoint = profile.endpoint.model_copy(update={"access": access(tmp_path)})
    with pytest.raises(ConfigurationError, match="unencrypted"):
        open_gateway("neo4j://db.example.org", profile=profile.model_copy(update={"endpoint": endpoint}))


def test_what_a_profile_hides_is_not_served_from_a_database() -> None:
    profile = load_profile("bfsql-neo4j")
    hidden = profile.hidden.model_copy(update={"predicates": ("urn:x-bfsql:term:SALARY",)})
    with pytest.raises(ConfigurationError, match="hides something"):
        open_gateway("bolt://127.0.0.1", profile=profile.model_copy(update={"hidden": hidden}))
