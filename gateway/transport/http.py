"""Queries sent to a SPARQL endpoint over HTTP, as the SPARQL 1.1 Protocol section 2.1.2 has it (form POST).

Why a form POST: field notes, ``sparql-endpoints.md`` 6.7 (a GET is cut near 10 kB by one engine, a raw POST hangs
another). A short GET is sent where an endpoint takes nothing else. `verdict` says what a response means.
"""

from __future__ import annotations

import asyncio
import io
import logging
from collections.abc import Sequence
from urllib.parse import urlencode

import aiohttp

from gateway.errors import Fault
from gateway.graph.budget import Deadline, deadline_passed
from gateway.transport.body import excerpt, whole_body
from gateway.transport.failures import RAISED, fault_of
from gateway.transport.manners import Manners
from gateway.transport.verdict import JSON, Reply

_log = logging.getLogger(__name__)

_FORM = "application/x-www-form-urlencoded"
_CONNECT_SECONDS = 10.0
_LONG = 1 << 20


class Http:
    """A transport to a SPARQL endpoint.

    Attributes:
        manners: How the endpoint wants to be asked; whoever recognises the engine may replace it.
    """

    def __init__(
        self,
        url: str,
        *,
        max_bytes: int,
        concurrency: int = 4,
        manners: Manners | None = None,
        graphs: Sequence[str] = (),
    ) -> None:
        self.manners = manners or Manners()
        self._url = url
        self._max_bytes = max_bytes
        self._graphs = tuple(graphs)
        self._slots = asyncio.Semaphore(concurrency)
        self._session: aiohttp.ClientSession | None = None

    async def select(self, query: str, deadline: Deadline) -> bytes:
        """Send a query; see `Transport.select`."""
        outcome = await self._outcome(query, deadline)
        if isinstance(outcome, Fault):
            # Raised here and not where it was caught: an error of aiohttp holds the request's headers, which are
            # secret, and would hang on this one as its context.
            raise outcome
        return outcome

    async def _outcome(self, query: str, deadline: Deadline) -> bytes | Fault:
        try:
            async with asyncio.timeout(deadline.seconds_left), self._slots:
                try:
                    return await self._round_trip(query, deadline)
                except aiohttp.ServerDisconnectedError:
                    # The server closed an idle connection just as it was used again; nothing was answered.
                    return await self._round_trip(query, deadline)
        except Fault as fault:
            return fault
        except aiohttp.ConnectionTimeoutError as error:
            return fault_of(error)
        except TimeoutError:
            return deadline_passed()
        except RAISED as error:
            _log.warning("no answer from the endpoint: %s", type(error).__name__)
            return fault_of(error)

    async def _round_trip(self, query: str, deadline: Deadline) -> bytes:
        deadline.check()
        form = urlencode(self._form(query, deadline)).encode()
        async with self._open_session().post(
            self._url,
            # aiohttp warns of long bytes, because it would write them at one go.
            data=form if len(form) < _LONG else io.BytesIO(form),
            headers={"Content-Type": _FORM, **self.manners.headers(deadline)},
            # A redirect would send the query to an address that the operator did not configure.
            allow_redirects=False,
            # No total: the deadline around this call is the one clock, so that a time-out here is the connection's.
            timeout=aiohttp.ClientTimeout(total=None, sock_connect=_CONNECT_SECONDS),
        ) as response:
            reply = Reply(response.status, response.headers, response.content_type, len(form))
            if reply.is_believed:
                return await whole_body(response, self._max_bytes)
            raise reply.fault(await excerpt(response))

    def _form(self, query: str, deadline: Deadline) -> list[tuple[str, str]]:
        return [
            ("query", query),
            *(("default-graph-uri", graph) for graph in self._graphs),
            *self.manners.fields(deadline),
        ]

    def _open_session(self) -> aiohttp.ClientSession:
        if self._session is None:
            self._session = aiohttp.ClientSession(
                headers={"Accept": JSON, "Accept-Encoding": "gzip", "User-Agent": "bfsql-gateway"},
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
