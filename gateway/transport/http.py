"""Queries sent to a SPARQL endpoint over HTTP, as the SPARQL 1.1 Protocol section 2.1 has it.

Why a form POST: docs/notes/endpoints.md, "HTTP requests" (one engine cuts a GET near 10 kB and hangs on a raw POST).
A short GET is sent where an endpoint takes nothing else. `verdict` says what a response means.
"""

from __future__ import annotations

import asyncio
import contextlib
import io
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from http import HTTPStatus
from typing import TypeVar
from urllib.parse import quote, urlencode, urlsplit
from uuid import uuid4

import aiohttp
import yarl

from gateway.errors import BrokenAnswer, Fault, NoQueryEndpoint, QueryTooLong
from gateway.graph.deadline import Deadline
from gateway.settings.endpoint import EndpointSettings, Method
from gateway.settings.urls import without_query
from gateway.transport.base import ProbeResponse
from gateway.transport.body import excerpt, whole_body
from gateway.transport.credentials import Access
from gateway.transport.failures import RAISED, within
from gateway.transport.quota import Asked, Quota
from gateway.transport.timeout_policy import TimeoutPolicy
from gateway.transport.verdict import JSON, Reply

_log = logging.getLogger(__name__)

_Result = TypeVar("_Result")

_FORM = "application/x-www-form-urlencoded"
_LONG = 1 << 20
_LONGEST_URL = 7000
"""Bytes of a URL with a query in it; near 10,000 Virtuoso cuts it and answers what is left of the query."""

_CANCEL_SECONDS = 2.0


class Http:
    """A transport to a SPARQL endpoint.

    Attributes:
        url: The endpoint's URL; it holds no secret, but is for the operator alone.
        timeout_policy: How the endpoint wants to be asked; whoever recognises the engine may replace it.
        quota: What the endpoint grants this gateway; every request waits for it and is charged to it.
    """

    def __init__(
        self,
        url: str,
        *,
        max_bytes: int,
        concurrency: int = 4,
        method: Method = "auto",
        timeout_policy: TimeoutPolicy | None = None,
        access: Access | None = None,
        graphs: Sequence[str] = (),
        quota: Quota | None = None,
    ) -> None:
        self.url = url
        self.timeout_policy = timeout_policy or TimeoutPolicy()
        self.quota = quota or Quota(EndpointSettings())
        self._max_bytes = max_bytes
        self._concurrency = concurrency
        self._method: Method = method
        self._has_taken_post = False
        self._access = access or Access()
        self._graphs = tuple(graphs)
        self._slots = asyncio.Semaphore(concurrency)
        self._session: aiohttp.ClientSession | None = None
        self._cancelling: set[asyncio.Task[None]] = set()
        self._others: list[Http] = []

    def at(self, url: str) -> Http:
        """Return a transport to another URL of the same server, which is asked in the same way, by one method alone.

        Raises:
            ValueError: It is a URL of another server, which these credentials are not for.
        """
        if _origin(url) != _origin(self.url):
            raise ValueError("another server")
        return self._like(url, "get" if self._method == "get" else "post", self._graphs)

    def by(self, method: Method) -> Http:
        """Return a transport to the same endpoint that sends queries by this method."""
        return self._like(self.url, method, self._graphs)

    def over_all_graphs(self) -> Http:
        """Return a transport to the same endpoint that names no graphs, so that the server's own default holds.

        It is closed with this one.
        """
        other = self._like(self.url, self._method, ())
        self._others.append(other)
        return other

    def _like(self, url: str, method: Method, graphs: Sequence[str]) -> Http:
        return Http(
            url,
            max_bytes=self._max_bytes,
            concurrency=self._concurrency,
            method=method,
            timeout_policy=self.timeout_policy,
            access=self._access,
            graphs=graphs,
            quota=self.quota,
        )

    @property
    def access(self) -> Access:
        """What every request carries."""
        return self._access

    @property
    def graphs(self) -> Sequence[str]:
        """The graphs that every query names."""
        return self._graphs

    @property
    def method(self) -> Method:
        """How queries are sent; `auto` until GET turned out to be the only way, or no way."""
        return self._method

    async def select(self, query: str, deadline: Deadline) -> bytes:
        """Send a query; see `Transport.select`."""
        return await self._within(deadline, lambda: self._by_post_or_get(query, deadline))

    async def look(self, accept: str, deadline: Deadline, parameters: str = "") -> ProbeResponse:
        """Ask for the URL itself, without a query; see `Remote.look`."""
        url = with_parameters(self.url, parameters) if parameters else self.url
        return await self._within(deadline, lambda: self._glimpse(url, accept, deadline))

    async def _glimpse(self, url: str, accept: str, deadline: Deadline) -> ProbeResponse:
        async with self._asking(deadline) as asked, self._send("GET", url, b"", {"Accept": accept}) as response:
            headers = {name.lower(): value for name, value in response.headers.items()}
            text = await excerpt(response)
            has_failed = response.status >= HTTPStatus.BAD_REQUEST
            asked.answered(failed=has_failed)
            if has_failed:
                self.quota.heard(Reply(response.status, response.headers, response.content_type, 0).fault(text))
            return ProbeResponse(response.status, headers, text.decode("utf-8", "replace"))

    @contextlib.asynccontextmanager
    async def _asking(self, deadline: Deadline) -> AsyncIterator[Asked]:
        """Wait until the endpoint may be asked, and charge the request that the block sends."""
        async with self.quota.asking(deadline) as asked:
            try:
                yield asked
            except RAISED:
                # It was not reached, or it hung up: it has nothing more to do for this request.
                asked.answered(failed=True)
                raise

    async def _within(self, deadline: Deadline, work: Callable[[], Awaitable[_Result]]) -> _Result:
        async def in_turn() -> _Result:
            async with self._slots:
                return await work()

        return await within(deadline, in_turn, whom=f"the endpoint {without_query(self.url)}")

    async def _by_post_or_get(self, query: str, deadline: Deadline) -> bytes:
        if self._method == "get":
            return await self._twice("GET", query, deadline)
        try:
            body = await self._twice("POST", query, deadline)
        except NoQueryEndpoint as fault:
            refused = fault
        else:
            # An endpoint that took one POST takes them all: a later refusal passes, and a GET must be short.
            self._has_taken_post = True
            return body
        if self._has_taken_post:
            raise refused
        if self._method != "auto" or not refused.get_may_do:
            raise refused
        deadline.resend()
        try:
            body = await self._twice("GET", query, deadline)
        except QueryTooLong:
            raise refused from None
        except NoQueryEndpoint:
            self._method = "post"
            raise refused from None
        self._method = "get"
        return body

    async def _twice(self, method: str, query: str, deadline: Deadline) -> bytes:
        try:
            return await self._round_trip(method, query, deadline)
        except aiohttp.ServerDisconnectedError:
            # The server closed an idle connection just as it was used again; nothing was answered.
            deadline.resend()
            return await self._round_trip(method, query, deadline)

    async def _round_trip(self, method: str, query: str, deadline: Deadline) -> bytes:
        deadline.check()
        query_id = str(uuid4()) if self.timeout_policy.cancel_by_id else ""
        fields = self._fields(query, query_id, deadline)
        url = self._with_query(fields) if method == "GET" else self.url
        form = b"" if method == "GET" else _form(fields)
        has_ended = False
        try:
            async with (
                self._asking(deadline) as asked,
                self._send(method, url, form, self.timeout_policy.headers(deadline)) as response,
            ):
                reply = Reply(response.status, response.headers, response.content_type, len(form))
                if not reply.is_believed:
                    has_ended = True
                    raise await self._refused(reply, response, asked)
                body = await self._body(response, asked)
                has_ended = True
                return body
        finally:
            # Where requests are counted, one that only cancels another may be the one too many.
            if query_id and not has_ended and not self.quota.is_limited:
                self._cancel_later(query_id)

    async def _refused(self, reply: Reply, response: aiohttp.ClientResponse, asked: Asked) -> Fault:
        fault = reply.fault(await excerpt(response))
        asked.answered(failed=True)
        self.quota.heard(fault)
        return fault

    async def _body(self, response: aiohttp.ClientResponse, asked: Asked) -> bytes:
        try:
            body = await whole_body(response, self._max_bytes)
        except BrokenAnswer:
            asked.answered(failed=True)
            raise
        asked.answered(failed=False)
        return body

    def _fields(self, query: str, query_id: str, deadline: Deadline) -> list[tuple[str, str]]:
        return [
            ("query", query),
            *(("default-graph-uri", graph) for graph in self._graphs),
            *self.timeout_policy.fields(deadline),
            *((("queryId", query_id),) if query_id else ()),
        ]

    def _with_query(self, fields: Sequence[tuple[str, str]]) -> str:
        text = urlencode(fields, quote_via=quote)
        whole = with_parameters(self.url, text)
        if len(whole) >= _LONGEST_URL:
            raise QueryTooLong(
                "The endpoint takes queries in the URL only, and this one is too long for that.",
                next_step="Ask for fewer seeds or hops.",
            )
        return whole

    def _send(
        self, method: str, url: str, form: bytes, headers: dict[str, str]
    ) -> contextlib.AbstractAsyncContextManager[aiohttp.ClientResponse]:
        form_type = {"Content-Type": _FORM} if method == "POST" else {}
        return self._open_session().request(
            method,
            url,
            # aiohttp warns of long bytes, because it would write them at one go.
            data=io.BytesIO(form) if len(form) > _LONG else form or None,
            headers={**self._access.headers, **form_type, **headers},
            proxy=self._access.proxy or None,
            proxy_headers=self._access.proxy_headers or None,
            # A redirect would send the query to an address that the operator did not configure.
            allow_redirects=False,
            # No total: the deadline around this call is the one clock, so that a time-out here is the connection's.
            timeout=aiohttp.ClientTimeout(total=None, sock_connect=self._access.connect_seconds),
        )

    def _cancel_later(self, query_id: str) -> None:
        """Have a query cancelled, without keeping waiting who gave it up."""
        task = asyncio.create_task(self._cancel(query_id))
        self._cancelling.add(task)
        task.add_done_callback(self._cancelling.discard)

    async def _cancel(self, query_id: str) -> None:
        form = _form([("cancelQuery", ""), ("queryId", query_id)])
        with contextlib.suppress(*RAISED):
            async with asyncio.timeout(_CANCEL_SECONDS), self._send("POST", self.url, form, {}):
                pass

    def _open_session(self) -> aiohttp.ClientSession:
        if self._session is None:
            self._session = aiohttp.ClientSession(
                # No credentials: aiohttp shows a session's headers to the proxy as well.
                headers={"Accept": JSON, "Accept-Encoding": "gzip"},
                cookie_jar=aiohttp.DummyCookieJar(),
                connector=aiohttp.TCPConnector(ssl=self._access.tls or True),
                middlewares=self._access.middlewares(),
                # aiohttp takes a gzip body that lacks its end for a whole one.
                auto_decompress=False,
            )
        return self._session

    async def close(self) -> None:
        """Close the connections, once the queries that were given up are cancelled."""
        await asyncio.gather(*self._cancelling, *(other.close() for other in self._others))
        self._others.clear()
        if self._session is not None:
            await self._session.close()
            self._session = None


def with_parameters(url: str, text: str) -> str:
    """Return a URL with parameters after it, beside those that it has."""
    before, _, _ = url.partition("#")
    return f"{before}{'&' if '?' in before else '?'}{text}"


def _form(fields: Sequence[tuple[str, str]]) -> bytes:
    """Return fields as a form; yarl writes one in a tenth of the time of `urlencode`, and shorter."""
    return yarl.URL.build(query=fields).raw_query_string.encode()


def _origin(url: str) -> tuple[str, str | None, int | None]:
    parts = urlsplit(url)
    return parts.scheme, parts.hostname, parts.port or {"http": 80, "https": 443}.get(parts.scheme)
