"""Connections to Neo4j: where, how, what comes, and what went wrong.

Texts of the database are never passed on: they may hold data of the graph, and addresses.
"""

from __future__ import annotations

import asyncio
import base64
import math
import ssl
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import unquote, urlsplit

import neo4j
from neo4j import spatial, time
from neo4j._exceptions import BoltError
from neo4j.exceptions import ConnectionAcquisitionTimeoutError, DriverError, Neo4jError
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
from gateway.settings.endpoint import EndpointSettings, distrusted, trusting
from gateway.settings.secrets import read, revealed
from gateway.settings.urls import is_loopback, neo4j_url_problem
from gateway.terms.iri import XSD
from gateway.terms.literals import Literal

_ASK_OPERATOR = "Tell the operator of this gateway."
_DATABASE = "the database"
_LATER = "Try again later."

_TIMED_OUT = "Neo.ClientError.Transaction.TransactionTimedOut"

_KNOWN: tuple[tuple[str, type[Fault], str, str], ...] = (
    (
        "Neo.ClientError.Security.AuthenticationRateLimit",
        EndpointFault,
        "The database was given a wrong password too often, and refuses this gateway for a time.",
        _ASK_OPERATOR,
    ),
    (
        "Neo.ClientError.Security",
        EndpointFault,
        "The database refused the user or the password of this gateway.",
        _ASK_OPERATOR,
    ),
    ("Neo.ClientError.Database", EndpointFault, "There is no database of that name at the server.", _ASK_OPERATOR),
    (
        "Neo.ClientError.Statement.AccessMode",
        QueryRefused,
        "The database refused a statement that would write; this gateway only reads.",
        "",
    ),
    (_TIMED_OUT, GaveUp, "The database cancelled the query.", "Ask for fewer seeds or hops."),
    ("Neo.ClientError.Transaction", GaveUp, "The database cancelled the query.", "Ask for fewer seeds or hops."),
    ("Neo.ClientError", QueryRefused, "The database refused a query of this gateway.", _ASK_OPERATOR),
    ("Neo.TransientError.General.DatabaseUnavailable", NetworkFault, "The database is starting or stopping.", _LATER),
    ("Neo.TransientError.Database", NetworkFault, "The database is starting or stopping.", _LATER),
    (
        "Neo.TransientError.General",
        GaveUp,
        "The database has too little memory for this query.",
        "Ask for fewer seeds or hops.",
    ),
    ("Neo.TransientError.Request", Throttled, "The database has too many requests.", _LATER),
    ("Neo.TransientError", BrokenAnswer, "The database broke the query off.", "Try again."),
)
"""Faults by the beginning of the code (Neo4j's status codes); the first that fits counts."""

_UNREADABLE: Final = (
    ArithmeticError,
    AssertionError,
    AttributeError,
    BoltError,
    LookupError,
    MemoryError,
    RuntimeError,
    TypeError,
    ValueError,
)
"""What the driver raises where a message of the server is damaged: it reads markers, sizes and texts without a check.

An unknown marker, or a text that is not UTF-8, is a `ValueError`, a list where a map should be an `AttributeError` or
a `TypeError`, a list in a thousand others a `RecursionError`, and a message of an unknown kind a `BoltError`, which is
no `DriverError`.
"""

RAISED: Final = (OSError, DriverError, Neo4jError, *_UNREADABLE)
"""What the driver raises."""


def fault_of(error: Exception, deadline: Deadline) -> Fault:
    """Return the fault that an error of a query means.

    Args:
        error: One of `RAISED`.
        deadline: Of the query.
    """
    code = (error.code or "") if isinstance(error, Neo4jError) else ""
    # The operating system, too, ends connections by a TimeoutError, which may come long before.
    if deadline.is_over and (isinstance(error, TimeoutError) or code.startswith(_TIMED_OUT)):
        return deadline_passed()
    return _fault_of_server(code) if isinstance(error, Neo4jError) else _fault_of_driver(error)


def _fault_of_server(code: str) -> Fault:
    for beginning, kind, wrong, next_step in _KNOWN:
        if code.startswith(beginning):
            return kind(f"{wrong} ({beginning})", next_step=next_step)
    return EndpointFault("The database failed to answer.", next_step=_ASK_OPERATOR)


def _fault_of_driver(error: Exception) -> Fault:
    if isinstance(error, ConnectionAcquisitionTimeoutError):
        return Throttled("The database has no free connection for this gateway.", next_step=_LATER)
    if _is_about_a_certificate(error):
        return distrusted(_DATABASE)
    if isinstance(error, (DriverError, OSError)):
        return NetworkFault("The database could not be reached, or the connection broke.", next_step=_LATER)
    if isinstance(error, UnicodeEncodeError):
        return QueryRefused("The database takes no such text in a query.", next_step="Ask without it.")
    return BrokenAnswer("The database sent a message that cannot be read.", next_step="Try again.")


def _is_about_a_certificate(error: BaseException) -> bool:
    """Return whether an error comes from a certificate that is not trusted; the driver raises others because of it."""
    found, unread = set[int](), [error]
    while unread and len(found) < _CAUSES:
        error = unread.pop()
        if isinstance(error, ssl.SSLCertVerificationError):
            return True
        if id(error) not in found:
            found.add(id(error))
            unread += error.exceptions if isinstance(error, BaseExceptionGroup) else ()
            unread += filter(None, (error.__cause__, error.__context__))
    return False


_CAUSES: Final = 100
"""So many errors are looked at; the driver has one for each address of a server."""

_WKT: Final = "http://www.opengis.net/ont/geosparql#wktLiteral"
"""A place as text (GeoSPARQL 1.1, section 8.5.1)."""


def plain(properties: Mapping[str, Any]) -> dict[str, Any]:
    """Return properties with numbers, times, places and bytes as literals."""
    return {name: _plain(value) for name, value in properties.items()}


def _plain(value: Any) -> Any:
    if value is None or isinstance(value, (str, bool)):
        return value
    if isinstance(value, list):
        return [_plain(inner) for inner in value]
    for kind, datatype, text in _LITERALS:
        if isinstance(value, kind):
            return Literal(text(value), datatype)
    return str(value)


def _real(number: float) -> str:
    """Return a number as `xsd:double` has it."""
    if math.isfinite(number):
        return repr(number)
    return "NaN" if math.isnan(number) else "INF" if number > 0 else "-INF"


def _duration(value: time.Duration) -> str:
    """Return a duration as `xsd:duration` has it, with one sign; as Neo4j writes it where its parts have several."""
    text = value.iso_format()
    # Parts with several signs are no `xsd:duration`: they are shown, and compared with none.
    return text if max(value) > 0 or not any(value) else f"-{text.replace('-', '')}"


_LITERALS: Final[Sequence[tuple[type[Any], str, Callable[[Any], str]]]] = (
    (int, f"{XSD}integer", str),
    (float, f"{XSD}double", _real),
    (time.DateTime, f"{XSD}dateTime", time.DateTime.iso_format),
    (time.Date, f"{XSD}date", time.Date.iso_format),
    (time.Time, f"{XSD}time", time.Time.iso_format),
    (time.Duration, f"{XSD}duration", _duration),
    (spatial.Point, _WKT, lambda point: f"POINT ({' '.join(map(_real, point))})"),
    (bytes, f"{XSD}base64Binary", lambda content: base64.b64encode(content).decode()),
)
"""The datatype of each kind of value, and its text."""


_CLOSE_SECONDS = 2.0
"""Time for closing idle connections in good order."""

_GRACE_SECONDS = 1.0
"""After this time beyond the deadline the server ends a query by itself, should its cancelling be lost."""

_RECORDS = 100
"""Records that are fetched at once; each has up to 500 rows (`queries/neo4j/parts/chunks.cypher`)."""

_IN_ORDER = (Neo4jError, UnicodeEncodeError)
"""Errors after which a connection may be used again: the server's own, and that of a parameter that was not sent."""


@dataclass(frozen=True, slots=True)
class Address:
    """A database, and how to log in.

    Attributes:
        url: The URL of the server, `bolt:` or `neo4j:`, without user and database.
        database: Its name; None for the one that the server gives this user.
        user: The user; empty where the server asks for none.
        password: The password.
        tls: How the connection is encrypted; None: it is not.
        connect_seconds: Time allowed for connecting.
    """

    url: str
    database: str | None = None
    user: str = ""
    password: SecretStr | None = None
    tls: ssl.SSLContext | None = field(default=None, repr=False)
    connect_seconds: float = 10.0


class DriverPool:
    """Connections to one database, opened when they are needed, so many at most; see `Pool`."""

    def __init__(self, address: Address, size: int) -> None:
        self._address = address
        self._size = size
        self._driver: neo4j.AsyncDriver | None = None

    async def fetch(self, query: str, arguments: Sequence[object], deadline: Deadline) -> Sequence[Row]:
        """Return the rows of a query, whose column `rows` has lists of them, and whose column `total` their number.

        Raises:
            Fault: They did not all come.
        """
        try:
            async with asyncio.timeout(deadline.seconds_left):
                return await self._rows(query, arguments, deadline)
        except RAISED as error:
            # Its text may hold data of the graph.
            raise fault_of(error, deadline) from None

    async def _rows(self, query: str, arguments: Sequence[object], deadline: Deadline) -> Sequence[Row]:
        # The text is one of `queries/neo4j/`: nothing of a caller is in it.
        limited = neo4j.Query(query, timeout=deadline.seconds_left + _GRACE_SECONDS)
        parameters = {str(number): value for number, value in enumerate(arguments, 1)}
        rows: list[Row] = []
        total: int | None = None
        async with self._session() as session:
            async for record in await session.run(limited, parameters):
                rows += [[plain(cell) if isinstance(cell, dict) else cell for cell in row] for row in record["rows"]]
                total = record["total"]
            check_whole(rows, total)
        return rows

    @asynccontextmanager
    async def _session(self) -> AsyncIterator[neo4j.AsyncSession]:
        """Give a session, and end its connection where the block leaves it in the middle of an answer.

        No other query may read the rest of that answer, and the pool would never have the place back.
        """
        session = self._opened().session(
            database=self._address.database, default_access_mode=neo4j.READ_ACCESS, fetch_size=_RECORDS
        )
        try:
            try:
                yield session
            except _IN_ORDER:
                await session.close()
                raise
            await session.close()
        finally:
            # Without a connection, closing waits for nothing; after the first `close` neither does anything.
            session.cancel()
            await session.close()

    def _opened(self) -> neo4j.AsyncDriver:
        if self._driver is None:
            address = self._address
            password = address.password.get_secret_value() if address.password else ""
            encryption: dict[str, Any] = {"ssl_context": address.tls} if address.tls else {}
            self._driver = neo4j.AsyncGraphDatabase.driver(
                address.url,
                auth=(address.user, password) if address.user else None,
                max_connection_pool_size=self._size,
                connection_timeout=address.connect_seconds,
                connection_acquisition_timeout=address.connect_seconds * 2,
                notifications_min_severity="OFF",
                telemetry_disabled=True,
                user_agent="bfsql-gateway",
                **encryption,
            )
        return self._driver

    async def close(self) -> None:
        """Close all connections; those that do not close in time are left to the operating system."""
        if self._driver is None:
            return
        with suppress(*RAISED):
            await asyncio.wait_for(self._driver.close(), _CLOSE_SECONDS)


_PORT = 7687


def address_of(url: str, endpoint: EndpointSettings) -> Address:
    """Return the address of a database.

    Raises:
        ConfigurationError: The URL is wrong or holds a password, a secret or certificate cannot be read, or a password
            would go unencrypted over a network. The text holds no secret.
    """
    if problem := neo4j_url_problem(url):
        raise ConfigurationError(f"The endpoint is wrong: {problem}.")
    parts, access = urlsplit(url), endpoint.access
    host = parts.hostname or ""
    user = revealed(access.user or unquote(parts.username or ""), "endpoint.access.user")
    scheme, _, encryption = parts.scheme.partition("+")
    if not encryption and access.password and not is_loopback(host) and not access.credentials_over_http:
        raise ConfigurationError(
            "The password of the database would go unencrypted over a network.",
            valid=f"Write {scheme}+s://, or set endpoint.access.credentials_over_http = true in the profile.",
        )
    if not encryption and is_loopback(host):
        # With `neo4j:` the server says where its databases are, which may be on another machine.
        scheme = "bolt"
    place = f"[{host}]" if ":" in host else host
    return Address(
        url=f"{scheme}://{place}:{parts.port or _PORT}",
        database=unquote(parts.path).strip("/") or None,
        user=user,
        password=read(access.password, "endpoint.access.password") if access.password else None,
        tls=trusting(access.ca_bundle, is_checked=encryption == "s") if encryption else None,
        connect_seconds=endpoint.requests.connect_seconds,
    )
