"""What goes wrong between the gateway and a database is an error or an incomplete answer, never a wrong one."""

import asyncio
import os
import random
import signal
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractContextManager, asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import urlsplit

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
from gateway.neo4j.connection import Address as Neo4jAddress
from gateway.neo4j.connection import DriverPool, fault_of
from gateway.postgres.connection import Address as PostgresAddress
from gateway.postgres.connection import Pool
from gateway.settings.databases import NodesInNeo4j
from gateway.settings.endpoint import AccessSettings
from gateway.settings.load import load_profile
from gateway.tools.gateway import Gateway
from tests.databases.chain import STOPPED_SECONDS, around, check_stopped, near, outcome
from tests.databases.proxy import PostgresMessages, running_proxy
from tests.neo4j.database import UNCLOSED, access, own_database
from tests.neo4j.database import opened as opened_neo4j
from tests.postgres.database import CHAIN, Database, running_database
from tests.postgres.database import opened as opened_postgres
from tests.servers import neo4j as neo4j_server
from tests.servers import postgres as postgres_server
from tests.servers.loopback import HOST, free_port
from tests.servers.process import Running
from tests.servers.unavailable import ServerUnavailable, skip_or_fail

pytestmark = [pytest.mark.anyio, pytest.mark.server]

LINKS = NodesInNeo4j(labels=("Link",))

# Both databases


@dataclass(frozen=True, slots=True)
class _Chained:
    """A database with a chain of 61 nodes, and gateways over it or nearly so, each opened with a login.

    Attributes:
        user: Who may read it.
        password: That user's.
        there: Opens one over it.
        absent: Opens one over a database that is not there.
        unreachable: Opens one over a server that is not there.
    """

    user: str
    password: str
    there: Callable[[AccessSettings], Gateway]
    absent: Callable[[AccessSettings], Gateway]
    unreachable: Callable[[AccessSettings], Gateway]


def _tables(request: pytest.FixtureRequest) -> _Chained:
    database: Database = request.getfixturevalue("database")
    url = database.make_database("chain", CHAIN)
    return _Chained(
        postgres_server.USER,
        postgres_server.PASSWORD,
        lambda login: opened_postgres(url, login),
        lambda login: opened_postgres(database.url("nowhere"), login),
        lambda login: opened_postgres(f"postgresql://{HOST}:{free_port()}/chain", login),
    )


def _nodes(request: pytest.FixtureRequest) -> _Chained:
    address: Neo4jAddress = request.getfixturevalue("address")
    port = urlsplit(address.url).port or 0
    return _Chained(
        neo4j_server.USER,
        neo4j_server.PASSWORD,
        lambda login: opened_neo4j(port, login, LINKS),
        lambda login: opened_neo4j(port, login, LINKS, database="nowhere"),
        lambda login: opened_neo4j(free_port(), login, LINKS),
    )


@pytest.fixture(params=[_tables, _nodes], ids=["postgresql", "neo4j"])
def chained(request: pytest.FixtureRequest) -> _Chained:
    """Run the test on each database."""
    found: _Chained = request.param(request)
    return found


@pytest.fixture
def login(chained: _Chained, tmp_path: Path) -> AccessSettings:
    """The right user and password."""
    return access(tmp_path, chained.password).model_copy(update={"user": chained.user})


async def test_a_wrong_password_is_told_and_not_shown(chained: _Chained, tmp_path: Path) -> None:
    wrong = access(tmp_path, "no such password").model_copy(update={"user": chained.user})
    async with chained.there(wrong) as gateway:
        with pytest.raises(EndpointFault, match="refused the user or the password") as caught:
            await around(gateway, 1)
    assert "no such" not in str(caught.value)


async def test_a_database_that_is_not_there_is_told(chained: _Chained, login: AccessSettings) -> None:
    async with chained.absent(login) as gateway:
        with pytest.raises(EndpointFault, match="no database of that name"):
            await around(gateway, 1)


async def test_a_server_that_is_not_there_is_told(chained: _Chained, login: AccessSettings) -> None:
    async with chained.unreachable(login) as gateway:
        with pytest.raises(Fault, match="could not be reached"):
            await around(gateway, 1)


@contextmanager
def _own_tables(_: pytest.FixtureRequest, folder: Path) -> Iterator[tuple[Running, Gateway]]:
    with running_database(folder) as database:
        where = database.make_database("chain", CHAIN)
        yield database.server.process, opened_postgres(where, database.access(), seconds=STOPPED_SECONDS)


@contextmanager
def _own_nodes(request: pytest.FixtureRequest, folder: Path) -> Iterator[tuple[Running, Gateway]]:
    with own_database(folder, request.getfixturevalue("files")) as server:
        yield server.process, opened_neo4j(server.port, access(folder), LINKS, seconds=STOPPED_SECONDS)


@pytest.mark.parametrize("own", [_own_tables, pytest.param(_own_nodes, marks=UNCLOSED)], ids=["postgresql", "neo4j"])
async def test_calls_to_a_server_that_has_stopped_end_in_time_and_it_is_found_again(
    own: Callable[[pytest.FixtureRequest, Path], AbstractContextManager[tuple[Running, Gateway]]],
    request: pytest.FixtureRequest,
    tmp_path: Path,
) -> None:
    try:
        with own(request, tmp_path) as (server, opened):
            async with opened as gateway:
                await check_stopped(gateway, server)
    except ServerUnavailable as error:
        skip_or_fail(error)


@pytest.mark.parametrize(
    ("url", "wrong"),
    [
        ("postgresql://reader:hunter2@127.0.0.1/graph", "contains a password"),
        ("postgresql://reader@127.0.0.1/graph?password=hunter2", "contains a password"),
        ("postgresql://127.0.0.1", "names no database"),
        (
            "postgresql://127.0.0.1/graph?options=hunter2",
            "option options is not taken: make such settings at the database",
        ),
        (
            "postgresql://127.0.0.1/graph?sslrootcert=hunter2",
            "sslrootcert is not taken: give the file as endpoint.access.ca",
        ),
        ("postgresql://127.0.0.1/graph?keepalives=1", "option keepalives is not taken: leave it out"),
        ("postgresql://127.0.0.1/graph?hunter2=1", "option that it has is not taken: leave it out"),
        ("postgresql://127.0.0.1/graph?sslmode=allow", "sslmode=allow, by which the server decides whether"),
        ("postgresql://127.0.0.1/graph?sslmode=prefer", "sslmode=prefer, by which the server decides whether"),
        ("postgresql://127.0.0.1/graph?sslmode=hunter2", "sslmode is not taken: write sslmode=verify-full"),
        ("postgresql://127.0.0.1/graph?channel_binding=hunter2", "channel_binding is not taken: write one of disable"),
        ("postgresql://127.0.0.1/graph?channel_binding=require&sslmode=disable", "exclude each other"),
        *(
            (f"postgresql://127.0.0.1/graph?connect_timeout={seconds}", "a number of seconds from 1 to 600")
            for seconds in ("0", "-1", "601", "99999999999", "1.5", "\u0663", "hunter2", "")
        ),
        ("postgresql://127.0.0.1:99999/graph", "of the form"),
        ("postgresql://127.0.0.1/graph", "names no user"),
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


@pytest.mark.parametrize(
    ("name", "url"),
    [
        ("bfsql-postgres", "postgresql://db.example.org/graph?sslmode=disable"),
        ("bfsql-neo4j", "neo4j://db.example.org"),
    ],
)
def test_a_password_does_not_go_over_a_network_unencrypted(name: str, url: str, tmp_path: Path) -> None:
    profile = load_profile(name)
    endpoint = profile.endpoint.model_copy(update={"access": access(tmp_path)})
    with pytest.raises(ConfigurationError, match="unencrypted"):
        open_gateway(url, profile=profile.model_copy(update={"endpoint": endpoint}))


@pytest.mark.parametrize(
    ("name", "url"),
    [("bfsql-postgres", "postgresql://reader@127.0.0.1/graph"), ("bfsql-neo4j", "bolt://127.0.0.1")],
)
def test_what_a_profile_hides_is_not_served_from_a_database(name: str, url: str) -> None:
    profile = load_profile(name)
    hidden = profile.hidden.model_copy(update={"predicates": ("urn:x-bfsql:term:SALARY",)})
    with pytest.raises(ConfigurationError, match="hides something"):
        open_gateway(url, profile=profile.model_copy(update={"hidden": hidden}))


# PostgreSQL


@pytest.fixture
def url(database: Database) -> str:
    """Return the URL of a database with a chain of 61 nodes."""
    return database.make_database("chain", CHAIN)


@asynccontextmanager
async def _locked(address: PostgresAddress) -> AsyncIterator[None]:
    """Lock the table of edges, so that nobody can read it."""
    connection = await asyncpg.connect(**address.arguments)
    try:
        async with connection.transaction():
            await connection.execute("LOCK TABLE relationship IN ACCESS EXCLUSIVE MODE")
            yield
    finally:
        await connection.close()


async def test_a_server_that_does_not_answer_is_told_before_the_time_of_the_call_is_up() -> None:
    ends = asyncio.Event()

    async def silent(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await ends.wait()
        writer.close()

    async with await asyncio.start_server(silent, HOST, 0) as server:
        port = server.sockets[0].getsockname()[1]
        pool = Pool(PostgresAddress(HOST, port, "chain", postgres_server.USER, tls=False, connect_seconds=0.2), 1)
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
    async with opened_postgres(gone, database.access()) as gateway:
        assert await around(gateway, 1) == (True, near(1))
        database.execute("DROP TABLE relationship", "gone")
        with pytest.raises(EndpointFault, match="A table or column of the graph is not there any more"):
            await around(gateway, 1)


async def test_a_query_of_tables_that_takes_too_long_ends_with_its_call(database: Database, url: str) -> None:
    async with opened_postgres(url, database.access(), seconds=1) as gateway:
        assert await around(gateway, 1) == (True, near(1))
        async with _locked(database.address_of("chain")):
            with pytest.raises(DeadlinePassed):
                await around(gateway, 2)
        assert await around(gateway, 2) == (True, near(2))


async def test_a_call_about_tables_that_finds_every_connection_busy_ends_in_time(database: Database, url: str) -> None:
    async with opened_postgres(url, database.access(), seconds=1, concurrency=1) as gateway:
        assert await around(gateway, 1) == (True, near(1))
        async with _locked(database.address_of("chain")):
            answers = await asyncio.gather(*(around(gateway, node) for node in range(5)), return_exceptions=True)
        assert all(isinstance(answer, DeadlinePassed) for answer in answers)
        assert await around(gateway, 3) == (True, near(3))


async def test_a_database_without_a_free_connection_is_told(database: Database, url: str) -> None:
    database.execute(f"CREATE ROLE busy LOGIN PASSWORD '{postgres_server.PASSWORD}' CONNECTION LIMIT 0", "chain")
    access = AccessSettings(user="busy", password=database.access().password)
    async with opened_postgres(url, access, seconds=2) as gateway:
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


async def test_a_statement_that_would_write_tables_is_refused_by_the_database(database: Database, url: str) -> None:
    assert url
    pool = Pool(database.address_of("chain"), 1)
    try:
        with pytest.raises(QueryRefused, match="25006"):
            await pool.fetch("DELETE FROM relationship RETURNING 1", [], Deadline.after(10))
    finally:
        await pool.close()


async def test_a_connection_is_opened_with_no_setting_that_a_pooler_before_the_database_refuses(
    database: Database,
) -> None:
    pool = Pool(database.address, 1)
    # PgBouncer takes these and a few others (its manual, `ignore_startup_parameters`).
    taken = {"application_name", "client_encoding"}
    names = "SELECT name FROM pg_settings WHERE source = $1"
    try:
        assert {name for (name,) in await pool.fetch(names, ["client"], Deadline.after(10))} <= taken
        later = {name for (name,) in await pool.fetch(names, ["session"], Deadline.after(10))}
        assert later >= {"default_transaction_read_only", "jit", "plan_cache_mode", "statement_timeout"}
    finally:
        await pool.close()


async def test_answers_about_tables_while_connections_are_cut_are_whole_or_say_what_is_missing(
    database: Database, url: str
) -> None:
    async def cut(connection: asyncpg.Connection) -> None:
        while True:
            await connection.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'bfsql-gateway'"
            )
            await asyncio.sleep(0)

    connection = await asyncpg.connect(**database.address_of("chain").arguments)
    outcomes: list[str] = []
    async with opened_postgres(url, database.access()) as gateway:
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
            gateway = opened_postgres(where, first.access())
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


async def test_a_query_of_tables_whose_call_has_ended_is_ended_at_the_server(database: Database, url: str) -> None:
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


# Neo4j


@pytest.fixture
def port(address: Neo4jAddress) -> int:
    return urlsplit(address.url).port or 0


def test_a_time_out_is_that_of_the_call_only_where_its_time_is_up() -> None:
    assert isinstance(fault_of(TimeoutError(), Deadline.after(0)), DeadlinePassed)
    assert isinstance(fault_of(TimeoutError(), Deadline.after(60)), NetworkFault)


async def test_a_query_of_nodes_that_takes_too_long_ends_with_its_call(port: int, tmp_path: Path) -> None:
    async with (
        running_proxy(port) as proxy,
        opened_neo4j(proxy.port, access(tmp_path), LINKS) as patient,
        opened_neo4j(proxy.port, access(tmp_path), LINKS, seconds=0.5) as hasty,
    ):
        assert await around(patient, 1) == (True, near(1))
        proxy.flows.clear()
        with pytest.raises(DeadlinePassed):
            await around(hasty, 2)
        proxy.flows.set()
        assert await around(patient, 2) == (True, near(2))


async def test_a_call_about_nodes_that_finds_every_connection_busy_ends_in_time(port: int, tmp_path: Path) -> None:
    async with (
        running_proxy(port) as proxy,
        opened_neo4j(proxy.port, access(tmp_path), LINKS, seconds=0.5, concurrency=1) as hasty,
    ):
        proxy.flows.clear()
        answers = await asyncio.gather(*(around(hasty, node) for node in range(5)), return_exceptions=True)
        assert all(isinstance(answer, DeadlinePassed) for answer in answers)
        proxy.flows.set()
        await hasty.check_reachable(20)


async def test_a_query_of_nodes_whose_call_has_ended_is_ended_at_the_server(address: Neo4jAddress) -> None:
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


async def test_a_statement_that_would_write_nodes_is_refused_by_the_database(address: Neo4jAddress) -> None:
    pool = DriverPool(address, 1)
    try:
        with pytest.raises(QueryRefused, match="AccessMode"):
            await pool.fetch("MATCH (n) DETACH DELETE n RETURN [] AS rows", [1], Deadline.after(10))
    finally:
        await pool.close()


async def test_a_text_that_no_database_takes_is_refused_and_the_connection_stays(address: Neo4jAddress) -> None:
    pool = DriverPool(address, 1)
    try:
        with pytest.raises(QueryRefused, match="takes no such text"):
            await pool.fetch("RETURN [[$1]] AS rows, 1 AS total", ["\ud800"], Deadline.after(10))
        assert await pool.fetch("RETURN [[$1]] AS rows, 1 AS total", ["ok"], Deadline.after(10)) == [["ok"]]
    finally:
        await pool.close()


async def test_answers_about_nodes_while_connections_are_cut_are_whole_or_say_what_is_missing(
    port: int, tmp_path: Path
) -> None:
    chance = random.Random("2026 cuts")  # noqa: S311 - a test
    async with running_proxy(port) as proxy, opened_neo4j(proxy.port, access(tmp_path), LINKS) as gateway:
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
            async with opened_neo4j(server.port, access(tmp_path)) as gateway:
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
