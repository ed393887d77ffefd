"""What goes wrong between the gateway and a database is an error or an incomplete answer, never a wrong one."""

import asyncio
import os
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from pathlib import Path

import asyncpg
import pytest

from gateway.api import open_gateway
from gateway.errors import (
    ConfigurationError,
    DeadlinePassed,
    EndpointFault,
    Fault,
    NetworkFault,
    QueryRefused,
    Throttled,
)
from gateway.graph.call import Deadline
from gateway.postgres.connection import Address, Pool
from gateway.settings.endpoint import AccessSettings
from gateway.settings.load import load_profile
from tests.databases.chain import STOPPED_SECONDS, around, check_stopped, near
from tests.databases.proxy import PostgresMessages, running_proxy
from tests.postgres.database import CHAIN, Database, opened, running_database
from tests.servers.loopback import HOST, free_port
from tests.servers.postgres import PASSWORD, USER
from tests.servers.unavailable import ServerUnavailable, skip_or_fail

pytestmark = [pytest.mark.anyio, pytest.mark.server]


@pytest.fixture
def url(database: Database) -> str:
    """Return the URL of a database with a chain of 61 nodes."""
    return database.make_database("chain", CHAIN)


@asynccontextmanager
async def locked(address: Address) -> AsyncIterator[None]:
    """Lock the table of edges, so that nobody can read it."""
    connection = await asyncpg.connect(**address.arguments)
    try:
        async with connection.transaction():
            await connection.execute("LOCK TABLE relationship IN ACCESS EXCLUSIVE MODE")
            yield
    finally:
        await connection.close()


async def test_a_wrong_password_is_told_and_not_shown(url: str, tmp_path: Path) -> None:
    (tmp_path / "wrong").write_text("no such password", encoding="utf-8")
    access = AccessSettings(user=USER, password=f"file:{tmp_path / 'wrong'}")
    async with opened(url, access) as gateway:
        with pytest.raises(EndpointFault, match="refused the user or the password") as caught:
            await around(gateway, 1)
    assert "no such" not in str(caught.value)


async def test_a_database_that_is_not_there_is_told(database: Database) -> None:
    async with opened(database.url("nowhere"), database.access()) as gateway:
        with pytest.raises(EndpointFault, match="no database of that name"):
            await around(gateway, 1)


async def test_a_server_that_is_not_there_is_told(database: Database) -> None:
    async with opened(f"postgresql://127.0.0.1:{free_port()}/chain", database.access()) as gateway:
        with pytest.raises(Fault, match="could not be reached"):
            await around(gateway, 1)


async def test_a_server_that_does_not_answer_is_told_before_the_time_of_the_call_is_up() -> None:
    ends = asyncio.Event()

    async def silent(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await ends.wait()
        writer.close()

    async with await asyncio.start_server(silent, HOST, 0) as server:
        port = server.sockets[0].getsockname()[1]
        pool = Pool(Address(HOST, port, "chain", USER, tls=False, connect_seconds=0.2), 1)
        try:
            with pytest.raises(NetworkFault, match="could not be reached"):
                await pool.fetch("SELECT 1", [], Deadline.after(60))
            with pytest.raises(DeadlinePassed):
                await pool.fetch("SELECT 1", [], Deadline.after(0.01))
        finally:
            await pool.close()
            ends.set()


async def test_a_table_that_is_gone_is_told(database: Database) -> None:
    gone = database.make_database("gone", CHAIN)
    async with opened(gone, database.access()) as gateway:
        assert await around(gateway, 1) == (True, near(1))
        database.execute("DROP TABLE relationship", "gone")
        with pytest.raises(EndpointFault, match="A table or column of the graph is not there any more"):
            await around(gateway, 1)


async def test_a_query_that_takes_too_long_ends_with_its_call(database: Database, url: str) -> None:
    async with opened(url, database.access(), seconds=1) as gateway:
        assert await around(gateway, 1) == (True, near(1))
        async with locked(database.address_of("chain")):
            with pytest.raises(DeadlinePassed):
                await around(gateway, 2)
        assert await around(gateway, 2) == (True, near(2))


async def test_a_call_that_finds_every_connection_busy_ends_in_time(database: Database, url: str) -> None:
    async with opened(url, database.access(), seconds=1, concurrency=1) as gateway:
        assert await around(gateway, 1) == (True, near(1))
        async with locked(database.address_of("chain")):
            answers = await asyncio.gather(*(around(gateway, node) for node in range(5)), return_exceptions=True)
        assert all(isinstance(answer, DeadlinePassed) for answer in answers)
        assert await around(gateway, 3) == (True, near(3))


async def test_a_database_without_a_free_connection_is_told(database: Database, url: str) -> None:
    database.execute(f"CREATE ROLE busy LOGIN PASSWORD '{PASSWORD}' CONNECTION LIMIT 0", "chain")
    access = AccessSettings(user="busy", password=database.access().password)
    async with opened(url, access, seconds=2) as gateway:
        with pytest.raises(Throttled, match="no free connection"):
            await around(gateway, 1)


@pytest.mark.parametrize(
    "head", [b"\0\0\0\0\x20", b"D\xff\xff\xff\xfb", b"D\0\0\0\x03"], ids=["type", "below zero", "short"]
)
async def test_a_head_that_no_message_has_ends_the_connection_and_not_the_process(
    database: Database, url: str, head: bytes
) -> None:
    assert url
    async with running_proxy(database.server.port, PostgresMessages) as proxy:
        pool = Pool(replace(database.address_of("chain"), port=proxy.port), 1)
        try:
            assert await pool.fetch("SELECT 'x'", [], Deadline.after(10)) == [("x",)]
            proxy.damaged = lambda _, message: head + message[5:] if message.startswith(b"D") else message
            with pytest.raises(NetworkFault, match="closed the connection"):
                await pool.fetch("SELECT 'x'", [], Deadline.after(10))
            proxy.damaged = None
            assert await pool.fetch("SELECT 'x'", [], Deadline.after(10)) == [("x",)]
        finally:
            await pool.close()


async def test_a_statement_that_would_write_is_refused_by_the_database(database: Database, url: str) -> None:
    assert url
    pool = Pool(database.address_of("chain"), 1)
    try:
        with pytest.raises(QueryRefused, match="25006"):
            await pool.fetch("DELETE FROM relationship RETURNING 1", [], Deadline.after(10))
    finally:
        await pool.close()


async def test_answers_while_connections_are_cut_are_whole_or_say_what_is_missing(database: Database, url: str) -> None:
    async def cut(connection: asyncpg.Connection) -> None:
        while True:
            await connection.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'bfsql-gateway'"
            )
            await asyncio.sleep(0)

    connection = await asyncpg.connect(**database.address_of("chain").arguments)
    outcomes: list[str] = []
    async with opened(url, database.access()) as gateway:
        cutting = asyncio.create_task(cut(connection))
        # What is cut is asked for again, so many questions may be answered before one shows it.
        while len(outcomes) < 60 or (set(outcomes) == {"complete"} and len(outcomes) < 3_000):
            node = len(outcomes) % 60
            try:
                complete, nodes = await around(gateway, node)
            except Fault:
                outcomes.append("error")
                continue
            outcomes.append("complete" if complete else "incomplete")
            assert nodes <= near(node)
            assert nodes == near(node) or not complete
        cutting.cancel()
        with suppress(asyncio.CancelledError):
            await cutting
    await connection.close()
    assert set(outcomes) != {"complete"}, "nothing was cut"


async def test_a_server_that_is_killed_is_told_and_found_again(tmp_path: Path) -> None:
    port = free_port()
    try:
        with running_database(tmp_path, port) as first:
            where = first.make_database("chain", CHAIN)
            gateway = opened(where, first.access())
            assert await around(gateway, 1) == (True, near(1))
            # What is committed is written late here, to be quick.
            first.execute("CHECKPOINT", "chain")
            os.kill(first.server.process.pid, signal.SIGKILL)
            first.server.process.wait()
            with pytest.raises(Fault):
                await around(gateway, 2)
        with running_database(tmp_path, port):
            await gateway.check_reachable(20)
            assert await around(gateway, 2) == (True, near(2))
        await gateway.close()
    except ServerUnavailable as error:
        skip_or_fail(error)


async def test_calls_to_a_server_that_has_stopped_end_in_time_and_it_is_found_again(tmp_path: Path) -> None:
    try:
        with running_database(tmp_path) as database:
            where = database.make_database("chain", CHAIN)
            async with opened(where, database.access(), seconds=STOPPED_SECONDS) as gateway:
                await check_stopped(gateway, database.server.process)
    except ServerUnavailable as error:
        skip_or_fail(error)


_BACKENDS = (
    "SELECT pid::bigint FROM pg_stat_activity WHERE application_name = 'bfsql-gateway' AND pid <> pg_backend_pid()"
)


async def test_a_pool_has_all_its_connections_after_its_server_had_stopped(tmp_path: Path) -> None:
    try:
        with running_database(tmp_path) as database:
            pool = Pool(database.address, 3)
            asked = "SELECT pg_backend_pid()::bigint, pg_sleep(1) IS NULL"

            async def backends() -> set[int]:
                answers = [pool.fetch(asked, [], Deadline.after(20)) for _ in range(3)]
                return {pid for ((pid, _),) in await asyncio.gather(*answers)}

            assert len(await backends()) == 3
            with database.server.process.stopped():
                async with asyncio.timeout(20):
                    for seconds in (0.5, 0.2):
                        late = [pool.fetch(asked, [], Deadline.after(seconds)) for _ in range(12)]
                        errors = await asyncio.gather(*late, return_exceptions=True)
                        assert {*map(type, errors)} == {DeadlinePassed}
            assert len(await backends()) == 3
            await pool.close()
            async with asyncio.timeout(20):
                while await asyncio.to_thread(database.rows, _BACKENDS):
                    pass
    except ServerUnavailable as error:
        skip_or_fail(error)


async def test_a_pool_is_closed_while_its_server_is_stopped(tmp_path: Path) -> None:
    try:
        with running_database(tmp_path) as database:
            pool = Pool(database.address, 3)
            await pool.fetch("SELECT 1", [], Deadline.after(20))
            with database.server.process.stopped():
                asking = asyncio.create_task(pool.fetch("SELECT 1", [], Deadline.after(60)))
                await asyncio.sleep(0)
                async with asyncio.timeout(20):
                    await pool.close()
                    with pytest.raises(NetworkFault):
                        await asking
    except ServerUnavailable as error:
        skip_or_fail(error)


async def test_a_query_whose_call_has_ended_is_ended_at_the_server(database: Database, url: str) -> None:
    assert url
    pool, slow = Pool(database.address_of("chain"), 2), "SELECT pg_sleep(50) IS NULL"
    running = "SELECT query FROM pg_stat_activity WHERE state = 'active' AND pid <> pg_backend_pid()"
    try:
        with pytest.raises(DeadlinePassed):
            await pool.fetch(slow, [], Deadline.after(0.5))
        async with asyncio.timeout(20):
            while [slow] in [[*row] for row in await pool.fetch(running, [], Deadline.after(10))]:
                pass
    finally:
        await pool.close()


@pytest.mark.parametrize(
    ("url", "wrong"),
    [
        ("postgresql://reader:hunter2@127.0.0.1/graph", "contains a password"),
        ("postgresql://reader@127.0.0.1/graph?password=hunter2", "contains a password"),
        ("postgresql://127.0.0.1", "names no database"),
        ("postgresql://127.0.0.1/graph?options=-csearch_path%3Dx", "of the form"),
        ("postgresql://127.0.0.1/graph?sslmode=maybe", "of the form"),
        ("postgresql://127.0.0.1:99999/graph", "of the form"),
        ("postgresql://127.0.0.1/graph", "names no user"),
    ],
)
def test_a_url_that_is_wrong_is_refused_without_being_repeated(url: str, wrong: str) -> None:
    with pytest.raises(ConfigurationError, match=wrong) as caught:
        open_gateway(url)
    assert "hunter2" not in str(caught.value)


def test_a_password_does_not_go_over_a_network_unencrypted(database: Database) -> None:
    with pytest.raises(ConfigurationError, match="unencrypted"):
        opened("postgresql://db.example.org/graph?sslmode=disable", database.access())


def test_what_a_profile_hides_is_not_served_from_a_database() -> None:
    profile = load_profile("bfsql-postgres")
    hidden = profile.hidden.model_copy(update={"predicates": ("urn:x-bfsql:term:SALARY",)})
    with pytest.raises(ConfigurationError, match="hides something"):
        open_gateway("postgresql://reader@127.0.0.1/graph", profile=profile.model_copy(update={"hidden": hidden}))
