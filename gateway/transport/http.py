"""Queries sent to a SPARQL endpoint over HTTP, as the SPARQL 1.1 Protocol section 2.1.2 has it (form POST).

Why a form POST and nothing else: field notes, ``sparql-endpoints.md`` 6.7 (a GET is cut near 10 kB by one engine,
a raw POST hangs another). What an answer must look like to be believed: section 2 there.
"""

from __future__ import annotations

import asyncio
import logging
import math
import zlib
from collections.abc import Mapping, Sequence
from http import HTTPStatus

import aiohttp

from gateway.errors import AnswerCut, EndpointFault, Fault, NetworkFault, QueryRefused
from gateway.graph.budget import Deadline, deadline_passed

_log = logging.getLogger(__name__)

_JSON = "application/sparql-results+json"
_BELIEVED_TYPES = frozenset({_JSON, "application/json"})
_CONNECT_SECONDS = 10.0
_CHUNK = 1 << 16
_GZIP_WINDOW = 31
"""What zlib calls a gzip header and trailer around the largest window."""

_TYPE_NAMES: Mapping[str, str] = {
    "text/html": "HTML",
    "application/xhtml+xml": "HTML",
    "text/plain": "plain text",
    "application/sparql-results+xml": "SPARQL XML",
    "text/csv": "CSV",
}
"""Words for a content type, because a model must not read what an endpoint writes into a header."""

_STATUS: Mapping[int, tuple[type[Fault], str]] = {
    400: (QueryRefused, "The endpoint refused a query; an ID in it may be no IRI by the endpoint's rules."),
    401: (EndpointFault, "The endpoint asks for credentials."),
    403: (EndpointFault, "The endpoint refuses this gateway."),
    404: (EndpointFault, "There is no SPARQL query endpoint at the configured URL."),
    405: (
        EndpointFault,
        "The configured URL takes no queries by POST; it may be a page and not the query endpoint.",
    ),
    408: (EndpointFault, "The endpoint gave up on a query after its own time limit."),
    413: (QueryRefused, "The endpoint finds a query too long."),
    414: (QueryRefused, "The endpoint finds a query too long."),
    415: (EndpointFault, "The configured URL takes no queries; it may not be the query endpoint."),
    422: (QueryRefused, "The endpoint does not allow a query."),
    429: (EndpointFault, "The endpoint is throttling, or gave up on a query."),
    503: (EndpointFault, "The endpoint is overloaded, or gave up on a query after its own time limit."),
    504: (EndpointFault, "A proxy gave up waiting for the endpoint."),
}
_OPERATOR = "Whoever runs this gateway should check the endpoint's URL."
_LATER = "Ask for fewer seeds or hops, or try again later."


class Http:
    """A transport to a SPARQL endpoint."""

    def __init__(
        self,
        url: str,
        *,
        max_bytes: int,
        concurrency: int = 4,
        timeout_parameter: str = "",
        graphs: Sequence[str] = (),
    ) -> None:
        self._url = url
        self._max_bytes = max_bytes
        self._timeout_parameter = timeout_parameter
        self._graphs = tuple(graphs)
        self._slots = asyncio.Semaphore(concurrency)
        self._session: aiohttp.ClientSession | None = None

    async def select(self, query: str, deadline: Deadline) -> bytes:
        """Send a query; see `Transport.select`."""
        try:
            async with asyncio.timeout(deadline.seconds_left), self._slots:
                try:
                    return await self._round_trip(query, deadline)
                except aiohttp.ServerDisconnectedError:
                    # The server closed an idle connection just as it was used again; nothing was answered.
                    return await self._round_trip(query, deadline)
        except aiohttp.ConnectionTimeoutError as error:
            raise NetworkFault("The endpoint could not be reached.", next_step=_OPERATOR) from error
        except TimeoutError as error:
            raise deadline_passed() from error
        except aiohttp.ClientResponseError as error:
            raise EndpointFault("The endpoint's answer is no valid HTTP.", next_step=_LATER) from error
        except aiohttp.ClientPayloadError as error:
            raise _broken_off() from error
        except aiohttp.InvalidURL as error:
            raise EndpointFault("The configured endpoint is no valid URL.", next_step=_OPERATOR) from error
        except (aiohttp.ClientError, OSError) as error:
            _log.warning("no answer from the endpoint: %s", type(error).__name__)
            raise NetworkFault("The endpoint could not be reached.", next_step=_OPERATOR) from error

    async def _round_trip(self, query: str, deadline: Deadline) -> bytes:
        deadline.check()
        async with self._open_session().post(
            self._url,
            data=self._form(query, deadline),
            # A redirect would send the query to an address that the operator did not configure.
            allow_redirects=False,
            # No total: the deadline around this call is the one clock, so that a time-out here is the connection's.
            timeout=aiohttp.ClientTimeout(total=None, sock_connect=_CONNECT_SECONDS),
        ) as response:
            _refuse_bad_head(response)
            return await self._body(response)

    def _form(self, query: str, deadline: Deadline) -> list[tuple[str, str]]:
        form = [("query", query), *(("default-graph-uri", graph) for graph in self._graphs)]
        if self._timeout_parameter:
            form.append((self._timeout_parameter, str(max(1, math.ceil(deadline.seconds_left)))))
        return form

    async def _body(self, response: aiohttp.ClientResponse) -> bytes:
        body = _Gunzipped(self._max_bytes) if _is_zipped(response) else _Plain(self._max_bytes)
        async for chunk in response.content.iter_chunked(_CHUNK):
            body.add(chunk)
        return body.whole()

    def _open_session(self) -> aiohttp.ClientSession:
        if self._session is None:
            self._session = aiohttp.ClientSession(
                headers={"Accept": _JSON, "Accept-Encoding": "gzip", "User-Agent": "bfsql-gateway"},
                cookie_jar=aiohttp.DummyCookieJar(),
                # aiohttp takes a gzip body that lacks its end for a whole one.
                auto_decompress=False,
            )
        return self._session

    async def close(self) -> None:
        """Close the connections."""
        if self._session is not None:
            await self._session.close()
            self._session = None


class _Plain:
    """Collects a body as it comes."""

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._bytes = bytearray()

    def add(self, chunk: bytes) -> None:
        self._keep(chunk)

    def whole(self) -> bytes:
        return bytes(self._bytes)

    @property
    def _room(self) -> int:
        """Bytes to take at most: one more than may be kept shows that there are too many."""
        return self._max_bytes + 1 - len(self._bytes)

    def _keep(self, chunk: bytes) -> None:
        self._bytes += chunk
        if len(self._bytes) > self._max_bytes:
            raise EndpointFault("One answer is larger than this gateway reads.", next_step=_LATER)


class _Gunzipped(_Plain):
    """Collects a gzip body, never unpacking more than may be kept."""

    def __init__(self, max_bytes: int) -> None:
        super().__init__(max_bytes)
        self._member = zlib.decompressobj(_GZIP_WINDOW)

    def add(self, chunk: bytes) -> None:
        try:
            while chunk:
                if self._member.eof:
                    self._member = zlib.decompressobj(_GZIP_WINDOW)
                self._keep(self._member.decompress(chunk, self._room))
                chunk = self._member.unused_data
        except zlib.error as error:
            raise EndpointFault("The endpoint sent a damaged gzip body.", next_step=_LATER) from error

    def whole(self) -> bytes:
        if not self._member.eof:
            raise _broken_off()
        return super().whole()


def _broken_off() -> EndpointFault:
    return EndpointFault("The endpoint broke off in the middle of an answer.", next_step=_LATER)


def _is_zipped(response: aiohttp.ClientResponse) -> bool:
    encoding = response.headers.get("Content-Encoding", "identity").strip().lower()
    if encoding not in {"identity", "gzip", "x-gzip"}:
        raise EndpointFault("The endpoint packed its answer in a way that it was not asked for.", next_step=_OPERATOR)
    return encoding != "identity"


def _refuse_bad_head(response: aiohttp.ClientResponse) -> None:
    """Raise unless status and headers are those of a whole SPARQL JSON answer."""
    if (
        response.status == HTTPStatus.PARTIAL_CONTENT
        or "X-SPARQL-MaxRows" in response.headers
        or "X-SQL-State" in response.headers
    ):
        raise AnswerCut("The endpoint sent only a part of an answer and said so.", next_step=_LATER)
    if HTTPStatus.MULTIPLE_CHOICES <= response.status < HTTPStatus.BAD_REQUEST:
        raise EndpointFault("The configured URL redirects elsewhere.", next_step=_OPERATOR)
    if response.status != HTTPStatus.OK:
        kind, wrong = _STATUS.get(
            response.status, (EndpointFault, f"The endpoint failed with HTTP status {response.status}.")
        )
        raise kind(wrong, next_step=_OPERATOR if response.status in {401, 403, 404, 405, 415} else _LATER)
    if response.content_type not in _BELIEVED_TYPES:
        came = _TYPE_NAMES.get(response.content_type, "another content type")
        raise EndpointFault(
            f"The endpoint answered with {came} and not with SPARQL JSON; "
            "the configured URL may be a web page and not the query endpoint.",
            next_step=_OPERATOR,
        )
