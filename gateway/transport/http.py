"""Queries sent to a SPARQL endpoint over HTTP, as the SPARQL 1.1 Protocol section 2.1 has it.

Why a form POST: docs/notes/endpoints.md, "HTTP requests" (one engine cuts a GET near 10 kB and hangs on a raw POST).
A short GET is sent where an endpoint takes nothing else. `verdict` says what a response means.
"""

from __future__ import annotations

import asyncio
import contextlib
import io
from collections.abc import Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from http import HTTPStatus
from urllib.parse import quote, urlencode, urlsplit
from uuid import uuid4

import aiohttp
import yarl

from gateway.errors import BrokenAnswer, NoQueryEndpoint, QueryTooLong
from gateway.flow.control import FlowControl
from gateway.flow.quota import ChargedRequest
from gateway.graph.call import Spend, unpaid
from gateway.graph.deadline import Deadline
from gateway.settings.endpoint import Method, RequestSettings
from gateway.settings.urls import without_query
from gateway.transport.base import ProbeResponse, TimeoutPolicy
from gateway.transport.body import excerpt, whole_body
from gateway.transport.credentials import Access
from gateway.transport.formats import ACCEPT, Format
from gateway.transport.network_errors import RAISED, CaughtFault
from gateway.transport.response_verdict import Reply

_FORM = "application/x-www-form-urlencoded"
_LONG = 1 << 20
"""Bytes above which aiohttp wants a stream: it warns of longer bytes, which it would write at one go."""

_LONGEST_URL = 7000
"""Bytes of a URL with a query in it; near 10,000 Virtuoso cuts it and answers what is left of the query."""

_CANCEL_SECONDS = 2.0
"""Time for the request that cancels a query; no call waits for it."""


@dataclass(frozen=True, slots=True)
class _Question:
    """A query, and what `InFormats.select_in` was given with it."""

    query: str
    wanted: Format
    deadline: Deadline
    spend: Spend


class Http:
    """A transport to a SPARQL endpoint.

    Attributes:
        url: The endpoint's URL; it holds no secret, but is for the operator alone.
        timeout_policy: How the endpoint gets the time left; the engine detector may replace it.
        method: How queries are sent; `auto` until GET turned out to be the only way, or no way.
        access: What every request carries.
        graphs: The graphs that every query names.
        flow: The endpoint's flow control; every request waits for it and is charged to it.
    """

    def __init__(
        self,
        url: str,
        *,
        max_bytes: int,
        method: Method = "auto",
        timeout_policy: TimeoutPolicy | None = None,
        access: Access | None = None,
        graphs: Sequence[str] = (),
        flow: FlowControl | None = None,
    ) -> None:
        self.url = url
        self.timeout_policy = timeout_policy or TimeoutPolicy()
        self.flow = flow or FlowControl(RequestSettings())
        self._max_bytes = max_bytes
        self.method: Method = method
        self._has_taken_post = False
        self.access = access or Access()
        self.graphs = tuple(graphs)
        self._session: aiohttp.ClientSession | None = None
        self._cancelling: set[asyncio.Task[None]] = set()
        self._others: list[Http] = []

    def at(self, url: str) -> Http:
        """Return a transport to another URL of the same server, with the same settings, by one method alone.

        Raises:
            ValueError: It is a URL of another server, which these credentials are not for.
        """
        if _origin(url) != _origin(self.url):
            raise ValueError("another server")
        return self._like(url, "get" if self.method == "get" else "post", self.graphs)

    def by(self, method: Method) -> Http:
        """Return a transport to the same endpoint that sends queries by this method."""
        return self._like(self.url, method, self.graphs)

    def over_all_graphs(self) -> Http:
        """Return a transport to the same endpoint that names no graphs; the server uses its own default.

        It is closed with this one.
        """
        other = self._like(self.url, self.method, ())
        self._others.append(other)
        return other

    def _like(self, url: str, method: Method, graphs: Sequence[str]) -> Http:
        return Http(
            url,
            max_bytes=self._max_bytes,
            method=method,
            timeout_policy=self.timeout_policy,
            access=self.access,
            graphs=graphs,
            flow=self.flow,
        )

    async def select(self, query: str, deadline: Deadline, spend: Spend = unpaid, /) -> bytes:
        """Send a query; see `Transport.select`."""
        return await self.select_in("json", query, deadline, spend)

    async def select_in(self, wanted: Format, query: str, deadline: Deadline, spend: Spend = unpaid, /) -> bytes:
        """Send a query for an answer in a format; see `InFormats.select_in`."""
        question = _Question(query, wanted, deadline, spend)
        with self._caught_fault() as caught:
            async with asyncio.timeout(deadline.seconds_left), self.flow.connections:
                if self.method == "get":
                    return await self._sent("GET", question)
                try:
                    body = await self._sent("POST", question)
                except NoQueryEndpoint as refused:
                    # An endpoint that took one POST takes them all: a later refusal passes, and a GET must be short.
                    if self._has_taken_post or self.method != "auto" or not refused.get_may_do:
                        raise
                    refusal = refused
                else:
                    self._has_taken_post = True
                    return body
                return await self._by_get_instead(question, refusal)
        raise caught.fault

    async def select_beside(self, query: str, deadline: Deadline) -> bytes:
        """Send a query beside those under way, by the method that they use; see `Beside.select_beside`."""
        question = _Question(query, "json", deadline, unpaid)
        with self._caught_fault() as caught:
            async with asyncio.timeout(deadline.seconds_left):
                return await self._sent("GET" if self.method == "get" else "POST", question)
        raise caught.fault

    async def _by_get_instead(self, question: _Question, refusal: NoQueryEndpoint) -> bytes:
        """Send a query by GET after a POST was refused, and learn which method the endpoint takes."""
        question.spend()
        try:
            body = await self._sent("GET", question)
        except QueryTooLong:
            raise refusal from None
        except NoQueryEndpoint:
            self.method = "post"
            raise refusal from None
        self.method = "get"
        return body

    async def _sent(self, method: str, question: _Question) -> bytes:
        with contextlib.suppress(aiohttp.ServerDisconnectedError):
            return await self._round_trip(method, question)
        # The server closed an idle connection just as it was used again; nothing was answered.
        question.spend()
        return await self._round_trip(method, question)

    async def _round_trip(self, method: str, question: _Question) -> bytes:
        deadline, wanted = question.deadline, question.wanted
        deadline.check()
        query_id = str(uuid4()) if self.timeout_policy.cancel_by_id else ""
        fields = self._fields(question.query, query_id, deadline)
        url = self._with_query(fields) if method == "GET" else self.url
        form = b"" if method == "GET" else _form(fields)
        has_ended = False
        try:
            async with (
                self.flow.sending(deadline, ends=RAISED) as request,
                self._request(
                    url, {"Accept": ACCEPT[wanted], **self.timeout_policy.headers(deadline)}, form
                ) as response,
            ):
                reply = Reply(response.status, response.headers, response.content_type, len(form), wanted)
                if not reply.is_believed:
                    has_ended = True
                    fault = reply.fault(await excerpt(response))
                    request.answered(failed=True)
                    raise fault
                body = await self._body(response, request)
                has_ended = True
                return body
        finally:
            # Where requests are counted, one that only cancels another may be the one too many.
            if query_id and not has_ended and not self.flow.quota.is_limited:
                self._cancel_later(query_id)

    async def _body(self, response: aiohttp.ClientResponse, request: ChargedRequest) -> bytes:
        try:
            body = await whole_body(response, self._max_bytes)
        except BrokenAnswer:
            request.answered(failed=True)
            raise
        request.answered(failed=False)
        return body

    async def look(self, accept: str, deadline: Deadline, parameters: str = "") -> ProbeResponse:
        """Ask for the URL itself, without a query; see `Remote.look`."""
        url = with_parameters(self.url, parameters) if parameters else self.url
        with self._caught_fault() as caught:
            async with (
                asyncio.timeout(deadline.seconds_left),
                self.flow.connections,
                self.flow.sending(deadline, ends=RAISED) as request,
                self._request(url, {"Accept": accept}) as response,
            ):
                headers = {name.lower(): value for name, value in response.headers.items()}
                text = await excerpt(response)
                has_failed = response.status >= HTTPStatus.BAD_REQUEST
                request.answered(failed=has_failed)
                if has_failed:
                    self.flow.quota.obey(Reply(response.status, response.headers, response.content_type, 0).fault(text))
                return ProbeResponse(response.status, headers, text.decode("utf-8", "replace"))
        raise caught.fault

    def _caught_fault(self) -> CaughtFault:
        return CaughtFault(f"the endpoint {without_query(self.url)}")

    def _fields(self, query: str, query_id: str, deadline: Deadline) -> list[tuple[str, str]]:
        return [
            ("query", query),
            *(("default-graph-uri", graph) for graph in self.graphs),
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

    def _request(
        self, url: str, headers: Mapping[str, str], form: bytes = b""
    ) -> AbstractAsyncContextManager[aiohttp.ClientResponse]:
        """Send a request: a form by POST, or a GET where there is none."""
        if self._session is None:
            self._session = self.access.session(ACCEPT["json"])
        if not form:
            return self._session.get(url, **self.access.options(headers))
        data = io.BytesIO(form) if len(form) > _LONG else form
        return self._session.post(url, data=data, **self.access.options({"Content-Type": _FORM, **headers}))

    def _cancel_later(self, query_id: str) -> None:
        """Cancel a query in a task; the caller does not wait for it."""
        task = asyncio.create_task(self._cancel(query_id))
        self._cancelling.add(task)
        task.add_done_callback(self._cancelling.discard)

    async def _cancel(self, query_id: str) -> None:
        form = _form([("cancelQuery", ""), ("queryId", query_id)])
        with contextlib.suppress(*RAISED):
            async with asyncio.timeout(_CANCEL_SECONDS), self._request(self.url, {}, form):
                pass

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
