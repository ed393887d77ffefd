"""Connections to PostgreSQL: where, how, and what went wrong.

Texts of the database are never passed on: they may hold data of the graph, and addresses.
"""

from __future__ import annotations

import asyncio
import math
import ssl
import struct
from collections.abc import AsyncIterator, Awaitable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import parse_qsl, unquote, urlsplit

import asyncpg
from asyncpg import connect_utils
from asyncpg.pgproto import pgproto
from pydantic import SecretStr

from gateway.databases.client import Row, check_whole
from gateway.errors import (
    BrokenAnswer,
    ConfigurationError,
    EndpointFault,
    Fault,
    GaveUp,
    NetworkFault,
    QueryRefused,
    Throttled,
)
from gateway.graph.call import Deadline, deadline_passed
from gateway.settings.endpoint import AccessSettings, EndpointSettings, distrusted, trusting
from gateway.settings.secrets import read, revealed
from gateway.settings.urls import is_loopback, postgres_url_problem

_ASK_OPERATOR = "Tell the operator of this gateway."
_DATABASE = "the database"

_KNOWN: tuple[tuple[tuple[str, ...], type[Fault], str, str], ...] = (
    (("28",), EndpointFault, "The database refused the user or the password of this gateway.", _ASK_OPERATOR),
    (("3D000",), EndpointFault, "There is no database of that name at the server.", _ASK_OPERATOR),
    (("42501",), EndpointFault, "The user of this gateway may not read a table of the graph.", _ASK_OPERATOR),
    (
        ("42P01", "42703", "3F000"),
        EndpointFault,
        "A table or column of the graph is not there any more.",
        _ASK_OPERATOR,
    ),
    (("25006",), QueryRefused, "The database refused a statement that would write; this gateway only reads.", ""),
    (("53300",), Throttled, "The database has no free connection for this gateway.", "Try again later."),
    (("57P03",), NetworkFault, "The database is starting or stopping.", "Try again later."),
    (("57P", "08"), NetworkFault, "The database closed the connection.", "Try again later."),
    (
        ("53", "54"),
        GaveUp,
        "The database has too little memory for this query.",
        "Ask for fewer seeds or hops.",
    ),
    (("57014",), GaveUp, "The database cancelled the query.", "Ask for fewer seeds or hops."),
    (("40",), BrokenAnswer, "The database broke the query off, in favour of another one.", "Try again."),
    (("22", "42"), QueryRefused, "The database refused a query of this gateway.", _ASK_OPERATOR),
)
"""Faults by the beginning of the SQLSTATE (PostgreSQL's documentation, appendix A); the first that fits counts."""

_UNREADABLE: Final = (
    pgproto.BufferError,
    ArithmeticError,
    AssertionError,
    AttributeError,
    BufferError,
    LookupError,
    MemoryError,
    SystemError,
    TypeError,
    ValueError,
)
"""What asyncpg raises where a message of the server is damaged: it reads lengths, types and texts without a check.

A length below zero is a `SystemError` of CPython, one of gigabytes a `MemoryError`, a text that is not UTF-8 a
`ValueError`, and a message that is missing an `AttributeError` of None.
"""

_UNENCRYPTED: Final = "rejected SSL upgrade"
"""In the text of asyncpg's error where a server does not encrypt connections; it has no kind of its own."""

RAISED: Final = (OSError, asyncpg.PostgresError, asyncpg.InterfaceError, asyncpg.InternalClientError, *_UNREADABLE)
"""What asyncpg raises."""


def fault_of(error: Exception, deadline: Deadline) -> Fault:
    """Return the fault that an error of a query means.

    Args:
        error: One of `RAISED`.
        deadline: Of the query.
    """
    # A connection has a time-out of its own, which may come long before.
    if deadline.is_over and isinstance(error, (TimeoutError, asyncpg.QueryCanceledError)):
        return deadline_passed()
    return _fault_of_server(error) if isinstance(error, asyncpg.PostgresError) else _fault_of_driver(error)


def _fault_of_server(error: asyncpg.PostgresError) -> Fault:
    state = error.sqlstate or ""
    for beginnings, kind, wrong, next_step in _KNOWN:
        if state.startswith(beginnings):
            return kind(f"{wrong} (SQLSTATE {state})", next_step=next_step)
    return EndpointFault(f"The database failed to answer. (SQLSTATE {state})", next_step=_ASK_OPERATOR)


def _fault_of_driver(error: Exception) -> Fault:
    # It is a ValueError, too.
    if isinstance(error, ssl.SSLCertVerificationError):
        return distrusted(_DATABASE)
    if isinstance(error, ConnectionError) and _UNENCRYPTED in str(error):
        return EndpointFault(
            "The database does not encrypt connections.",
            next_step="The operator of this gateway should have it encrypt them, or add `sslmode=disable` to its URL, "
            "after which others on the network can read them.",
        )
    if isinstance(error, asyncpg.InterfaceError) and isinstance(error, ValueError):
        return QueryRefused("The database takes no such text in a query.", next_step="Ask without it.")
    if isinstance(error, (asyncpg.ProtocolError, *_UNREADABLE)):
        return BrokenAnswer("The database sent a message that cannot be read.", next_step="Try again.")
    return NetworkFault("The database could not be reached, or the connection broke.", next_step="Try again later.")


_CLOSE_SECONDS = 2.0
"""Time for closing idle connections in good order."""

_CANCEL_SECONDS = 2.0
"""Time for telling the server that a query has no reader any more."""

_IN_ORDER = (asyncpg.PostgresError, asyncpg.DataError)
"""Errors after which a connection may be used again: the server's own, which asyncpg reads up to the end of the query,
and that of a parameter that was not sent."""

_NAMED: Final = {"application_name": "bfsql-gateway"}
"""What a connection says of itself when it is opened. PgBouncer refuses one that says more than it knows."""

_SETTINGS: Final = (
    # A plan for any parameters reads a hub as it reads a leaf.
    "SET plan_cache_mode = force_custom_plan;"
    # Compiling takes longer than the queries of one batch.
    "SET jit = off;"
    "SET default_transaction_read_only = on;"
    # A connection that is idle in a transaction would be a fault of this program; it must not block others.
    "SET idle_in_transaction_session_timeout = 60000;"
)
"""Settings of each connection, made before its first query."""


@dataclass(frozen=True, slots=True)
class Address:
    """A database, and how to log in.

    Attributes:
        host: Its host, or the folder of its socket.
        port: Its port.
        database: Its name.
        user: The user.
        password: The password; None where the server asks for none.
        tls: asyncpg's `ssl`: a mode of libpq, or a context.
        connect_seconds: Time allowed for connecting.
    """

    host: str
    port: int
    database: str
    user: str
    password: SecretStr | None = None
    tls: Any = field(default="prefer", repr=False)
    connect_seconds: float = 10.0

    @property
    def arguments(self) -> dict[str, Any]:
        """It, as asyncpg takes it."""
        return {
            "host": self.host,
            "port": self.port,
            "database": self.database,
            "user": self.user,
            # Without one, asyncpg would look for one in files of the user.
            "password": self.password.get_secret_value() if self.password else "",
            "ssl": self.tls,
            "timeout": self.connect_seconds,
        }


_HEAD = struct.Struct("!Bi")
"""The type and the length of a message ("Message Formats"); the length counts itself, and not the type."""

_SHORTEST = 4
"""The length of a message that is about nothing."""


class _Framed(asyncio.Protocol):
    """Hands on what a server sends, and cuts the connection where a message has a head that none can have.

    asyncpg (0.32) checks neither: it reads memory before a message whose length is below zero, and a message of type 0
    again and again. The process would end or hang.
    """

    def __init__(self, inner: asyncio.Protocol, transport: asyncio.Transport) -> None:
        self._transport = transport
        self._receive = inner.data_received
        self.connection_lost = inner.connection_lost  # type: ignore[method-assign]
        self.pause_writing = inner.pause_writing  # type: ignore[method-assign]
        self.resume_writing = inner.resume_writing  # type: ignore[method-assign]
        self._head = b""
        self._ahead = 0

    def data_received(self, data: bytes) -> None:
        """Look at the heads of all messages that begin in a block, and hand it on."""
        block = self._head + data if self._head else data
        at, last = self._ahead, len(block) - _HEAD.size
        # A row is a message, so this is done for each.
        read = _HEAD.unpack_from
        while at <= last:
            kind, length = read(block, at)
            if length < _SHORTEST or not kind:
                self._transport.abort()
                return
            at += 1 + length
        self._head, self._ahead = block[at:], max(0, at - len(block))
        self._receive(data)


class _Limited(asyncpg.Connection):  # type: ignore[misc]  # asyncpg has no types
    """A connection that remembers its `statement_timeout`, so that it is set seldom."""

    __slots__ = ("_limit",)

    def __init__(self, protocol: Any, transport: Any, *arguments: Any) -> None:
        try:
            super().__init__(protocol, transport, *arguments)
        except RAISED:
            # What the server said of itself cannot be read, and asyncpg would leave the connection open.
            protocol.abort()
            raise
        # TLS checks every byte by itself.
        if transport.get_extra_info("ssl_object") is None:
            transport.set_protocol(_Framed(protocol, transport))

    async def fetch_within(self, seconds: float, query: str, arguments: Sequence[object]) -> Sequence[Row]:
        """Return the rows of a query, which the server ends by itself a while after so many seconds."""
        # The next power of two, because a call's time shrinks from query to query.
        limit = 1000 << max(0, math.ceil(math.log2(max(seconds, 1.0))))
        known = getattr(self, "_limit", None)
        if known != limit:
            # A number of ours; SET takes no parameters.
            changed = f"SET statement_timeout = {limit:d}"
            await self.execute(changed if known else f"{_SETTINGS}{changed}", timeout=seconds)
            self._limit = limit
        self._check_open()
        # As `fetch` does it, with the tag of the command, which says how many rows were sent.
        rows: Sequence[Row]
        rows, tag, _ = await self._execute(query, arguments, 0, seconds, return_status=True)
        check_whole(rows, _number_in(tag))
        return rows

    def cancelling(self) -> Awaitable[None]:
        """Return what asks the server, by a connection of its own, to end the query that it runs for this one."""
        # asyncpg's own request is given up when the connection is terminated, and would hold it until then.
        cancelling: Awaitable[None] = connect_utils._cancel(  # noqa: SLF001 - asyncpg has no other way
            loop=asyncio.get_running_loop(),
            addr=self._addr,
            params=self._params,
            backend_pid=self._protocol.backend_pid,
            backend_secret=self._protocol.backend_secret,
        )
        return cancelling


def _number_in(tag: bytes | None) -> int | None:
    """Return how many rows a command has sent, by its tag: `SELECT 25` ("Message Formats", CommandComplete)."""
    number = (tag or b"").rpartition(b" ")[2]
    return int(number) if number.isdigit() else None


class Pool:
    """Connections to one database, opened when they are needed, so many at most."""

    def __init__(self, address: Address, size: int) -> None:
        self._address = address
        self._size = size
        self._pool: Any = None
        self._opening = asyncio.Lock()
        self._cancelling: set[asyncio.Task[None]] = set()

    async def fetch(self, query: str, arguments: Sequence[object], deadline: Deadline) -> Sequence[Row]:
        """Return the rows of a query.

        Raises:
            Fault: They did not all come.
        """
        try:
            async with asyncio.timeout(deadline.seconds_left):
                pool = await self._opened()
                async with pool.acquire() as connection:
                    with self._ended_unless_in_order(connection):
                        rows: Sequence[Row] = await connection.fetch_within(deadline.seconds_left, query, arguments)
                        return rows
        except RAISED as error:
            # Its text may hold data of the graph.
            raise fault_of(error, deadline) from None

    @contextmanager
    def _ended_unless_in_order(self, connection: Any) -> Iterator[None]:
        """End a connection that the block leaves in the middle of an answer: no other query may read the rest of it.

        The pool would wait for what the server has to say, which may have stopped.
        """
        try:
            yield
        except _IN_ORDER:
            raise
        except BaseException as error:
            if isinstance(error, (TimeoutError, asyncio.CancelledError)) and not connection.is_closed():
                self._cancel_later(connection.cancelling())
            connection.terminate()
            raise

    def _cancel_later(self, cancelling: Awaitable[None]) -> None:
        """Have the server end a query in a task; the caller does not wait for it."""
        task = asyncio.create_task(_cancelled(cancelling))
        self._cancelling.add(task)
        task.add_done_callback(self._cancelling.discard)

    async def _opened(self) -> Any:
        async with self._opening:
            if self._pool is None:
                self._pool = await asyncpg.create_pool(
                    **self._address.arguments,
                    min_size=0,
                    max_size=self._size,
                    connection_class=_Limited,
                    server_settings=_NAMED,
                    reset=_nothing_to_reset,
                )
            return self._pool

    async def close(self) -> None:
        """Close all connections; those that do not close in time are cut."""
        if self._pool is None:
            return
        try:
            async with asyncio.timeout(_CLOSE_SECONDS):
                await asyncio.gather(self._pool.close(), *self._cancelling)
        except RAISED:
            self._pool.terminate()


async def _cancelled(cancelling: Awaitable[None]) -> None:
    # Where the server cannot be told, its `statement_timeout` ends the query.
    with suppress(*RAISED):
        async with asyncio.timeout(_CANCEL_SECONDS):
            await cancelling


async def _nothing_to_reset(_: object) -> None:
    """Send nothing when a connection is returned: each query is a transaction of its own, and changes no setting."""


@asynccontextmanager
async def connected(address: Address) -> AsyncIterator[Any]:
    """Open one connection that may write, and close it after the block."""
    connection = await asyncpg.connect(**address.arguments, server_settings=_NAMED)
    try:
        yield connection
    finally:
        await connection.close(timeout=_CLOSE_SECONDS)


_PORT = 5432


def address_of(url: str, endpoint: EndpointSettings) -> Address:
    """Return the address of a database.

    Raises:
        ConfigurationError: The URL is wrong or holds a password, no user is named, a secret or certificate cannot be
            read, or a password would go unencrypted over a network. The text holds no secret.
    """
    if problem := postgres_url_problem(url):
        raise ConfigurationError(f"The endpoint is wrong: {problem}.")
    parts, access = urlsplit(url), endpoint.access
    options = dict(parse_qsl(parts.query))
    host = options.get("host") or parts.hostname or ""
    user = revealed(access.user or options.get("user") or unquote(parts.username or ""), "endpoint.access.user")
    if not user:
        raise ConfigurationError(
            "The URL of the database names no user.",
            valid="postgresql://user@host/database, or endpoint.access.user in a profile, or --user.",
            next_step="Give a user who may only read.",
        )
    return Address(
        host=host,
        port=parts.port or _PORT,
        database=unquote(parts.path).strip("/"),
        user=user,
        password=read(access.password, "endpoint.access.password") if access.password else None,
        tls=_encryption(host, options, access),
        connect_seconds=float(options.get("connect_timeout", endpoint.requests.connect_seconds)),
    )


def _encryption(host: str, options: Mapping[str, str], access: AccessSettings) -> Any:
    """Return asyncpg's `ssl`: off on this machine, and a checked certificate elsewhere, unless the URL says otherwise.

    asyncpg (0.32) binds no channel, so where the URL requires that, the certificate is checked: either finds out who
    stands between.

    Raises:
        ConfigurationError: A password would go unencrypted over a network.
    """
    is_here = host.startswith("/") or is_loopback(host)
    mode = "verify-full" if options.get("channel_binding") == "require" else options.get("sslmode", "")
    if mode == "disable" or (not mode and is_here):
        if access.password and not is_here and not access.credentials_over_http:
            raise ConfigurationError(
                "The password of the database would go unencrypted over a network.",
                valid="Leave out sslmode=disable, or set endpoint.access.credentials_over_http = true in the profile.",
            )
        return False
    context = trusting(access.ca_bundle, is_checked=mode != "require")
    # The system's authorities sign for whoever asks, so without its own the name counts (as libpq has it).
    context.check_hostname = context.check_hostname and not (mode == "verify-ca" and access.ca_bundle)
    return context
