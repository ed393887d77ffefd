"""Queries sent to a SPARQL endpoint over HTTP, as the SPARQL 1.1 Protocol section 2.1.2 has it (form POST).

Why a form POST and nothing else: field notes, ``sparql-endpoints.md`` 6.7 (a GET is cut near 10 kB by one engine,
a raw POST hangs another). What an answer must look like to be believed: section 2 there.
"""

from __future__ import annotations

import asyncio
import logging
import math
from collections.abc import Mapping
from http import HTTPStatus
from typing import Literal

import aiohttp

from gateway.errors import AnswerCut, EndpointFault, Fault, NetworkFault, QueryRefused
from gateway.graph.budget import Deadline, deadline_passed

_log = logging.getLogger(__name__)

_JSON = "application/sparql-results+json"
_BELIEVED_TYPES = frozenset({_JSON, "application/json"})
_CONNECT_SECONDS = 10.0
_CHUNK = 1 << 16

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
        graphs: Literal["default"] | tuple[str, ...] = "default",
    ) -> None:
        self._url = url
        self._max_bytes = max_bytes
        self._timeout_parameter = timeout_parameter
        self._graphs = () if graphs == "default" else graphs
        self._slots = asyncio.Semaphore(concurrency)
        self._session: aiohttp.ClientSession | None = None

    async def select(self, query: str, deadline: Deadline) -> bytes:
        """Send a query; see `Transport.select`."""
        try:
            async with asyncio.timeout(deadline.seconds_left), self._slots:
                return await self._round_trip(query, deadline)
        except TimeoutError as error:
            raise deadline_passed() from error
        except aiohttp.ClientResponseError as error:
            raise EndpointFault("The endpoint's answer is no valid HTTP.", next_step=_LATER) from error
        except aiohttp.ClientPayloadError as error:
            raise EndpointFault("The endpoint broke off in the middle of an answer.", next_step=_LATER) from error
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
            timeout=aiohttp.ClientTimeout(total=deadline.seconds_left, sock_connect=_CONNECT_SECONDS),
        ) as response:
            _refuse_bad_head(response)
            return await self._body(response)

    def _form(self, query: str, deadline: Deadline) -> list[tuple[str, str]]:
        form = [("query", query), *(("default-graph-uri", graph) for graph in self._graphs)]
        if self._timeout_parameter:
            form.append((self._timeout_parameter, str(max(1, math.ceil(deadline.seconds_left)))))
        return form

    async def _body(self, response: aiohttp.ClientResponse) -> bytes:
        body = bytearray()
        async for chunk in response.content.iter_chunked(_CHUNK):
            body += chunk
            if len(body) > self._max_bytes:
                raise EndpointFault("One answer is larger than this gateway reads.", next_step=_LATER)
        return bytes(body)

    def _open_session(self) -> aiohttp.ClientSession:
        if self._session is None:
            self._session = aiohttp.ClientSession(
                headers={"Accept": _JSON, "Accept-Encoding": "gzip", "User-Agent": "bfsql-gateway"},
                cookie_jar=aiohttp.DummyCookieJar(),
            )
        return self._session

    async def close(self) -> None:
        """Close the connections."""
        if self._session is not None:
            await self._session.close()
            self._session = None


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
        raise EndpointFault(
            f"The endpoint answered with {response.content_type} and not with SPARQL JSON; "
            "the configured URL may be a web page and not the query endpoint.",
            next_step=_OPERATOR,
        )
