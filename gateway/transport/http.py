"""Queries sent to a SPARQL endpoint over HTTP, as the SPARQL 1.1 Protocol section 2.1 has it.

Why a form POST: docs/notes/endpoints.md, "HTTP requests" (one engine cuts a GET near 10 kB and hangs on a raw POST).
Where an endpoint does not take it, the query itself is posted, and then a short GET is sent; the way that worked is the
only one from then on. `verdict` says what a response means.
"""

from __future__ import annotations

import asyncio
import contextlib
import io
import math
import re
from collections.abc import Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from http import HTTPStatus
from typing import Literal
from urllib.parse import urlsplit, urlunsplit
from uuid import uuid4

import aiohttp
import yarl

from gateway.errors import BrokenAnswer, NoQueryEndpoint, QueryRefused, QueryTooLong, WrongFormat
from gateway.flow.control import FlowControl
from gateway.flow.quota import ChargedRequest
from gateway.graph.call import Deadline, Spend, unpaid
from gateway.settings.endpoint import RequestSettings, SendingMethod
from gateway.settings.urls import without_query
from gateway.transport.base import ACCEPT, ANY_JSON, Format, ProbeResponse, TimeoutPolicy
from gateway.transport.credentials import Access
from gateway.transport.exchange import RAISED, CaughtFault, excerpt, whole_body
from gateway.transport.response_verdict import Reply

_PIECE = re.compile(
    r'("""(?:[^\\]|\\.)*?"""'
    r"|'''(?:[^\\]|\\.)*?'''"
    r'|"(?:[^"\\\r\n]|\\.)*"'
    r"|'(?:[^'\\\r\n]|\\.)*'"
    r'|<[^\x00-\x20<>"{}|^`\\]*>'
    r"|#[^\r\n]*[\r\n]?"
    r"|\\.)"
    r"|[ \t\r\n]+",
    re.DOTALL,
)
"""A string, an IRI, a comment, a sign that a name escapes (SPARQL 1.1 Query, 19.8), or white space outside of them.

A comment goes on to the end of its line, so that end stays. White space is what the grammar calls so.
"""


def collapsed(query: str) -> str:
    """Return a query that says the same with one blank for each white space between its tokens."""
    return _PIECE.sub(lambda piece: piece[1] or " ", query)


_FORM = "application/x-www-form-urlencoded; charset=UTF-8"
_QUERY = "application/sparql-query; charset=UTF-8"
"""With the character set, because Tomcat else takes both for Latin-1, and an IRI for another one."""

_LONG = 1 << 20
"""Bytes above which aiohttp wants a stream: it warns of longer bytes, which it would write at one go."""

_LONGEST_URL = 7000
"""Bytes of a URL with a query in it; near 10,000 Virtuoso cuts it and answers what is left of the query."""

_REFUSED_SECONDS = 60.0
"""For so long, a URL that took a query in no way is sent each next one in one way alone: it may be no endpoint, or one
that is starting."""

_CANCEL_SECONDS = 2.0
"""Time for the request that cancels a query; no call waits for it."""


Fields = Sequence[tuple[str, str]]
"""Names and values of a form, or of a query string."""


@dataclass(frozen=True, slots=True)
class _Question:
    """A query, and what `InFormats.select_in` or `WithBindings.select_bound` was given with it."""

    query: str
    wanted: Format
    deadline: Deadline
    spend: Spend
    beside: Fields = ()


@dataclass(frozen=True, slots=True)
class _Message:
    """What is sent of a request beside its headers: a GET where it has no body."""

    url: str
    body: bytes = b""
    content_type: str = _FORM


class Http:
    """A transport to a SPARQL endpoint.

    Attributes:
        url: The endpoint's URL; it holds no secret, but is for the operator alone.
        timeout_policy: How the endpoint gets the time left; the engine detector may replace it.
        method: How queries are sent; `auto` until the endpoint took one.
        access: What every request carries.
        graphs: The graphs that every query names.
        flow: The endpoint's flow control; every request waits for it and is charged to it.
    """

    def __init__(
        self,
        url: str,
        *,
        max_bytes: int,
        method: SendingMethod = "auto",
        timeout_policy: TimeoutPolicy | None = None,
        access: Access | None = None,
        graphs: Sequence[str] = (),
        flow: FlowControl | None = None,
    ) -> None:
        self.url = url
        self.timeout_policy = timeout_policy or TimeoutPolicy()
        self.flow = flow or FlowControl(RequestSettings())
        self._max_bytes = max_bytes
        self.method: SendingMethod = method
        self._may_choose = method == "auto"
        self._finding_way = asyncio.Lock()
        self._refused_until = -math.inf
        self._json = ACCEPT["json"]
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
        return self._like(url, self._way, self.graphs)

    def by(self, method: SendingMethod) -> Http:
        """Return a transport to the same endpoint that sends queries by this method."""
        return self._like(self.url, method, self.graphs)

    def send_by(self, way: Literal["post", "direct"]) -> bool:
        """Send queries in a way from now on, unless the profile names one or only GET does; see `InWays`."""
        if not self._may_choose or self.method in {way, "get"}:
            return False
        self.method = way
        return True

    def over_all_graphs(self) -> Http:
        """Return a transport to the same endpoint that names no graphs; the server uses its own default.

        It is closed with this one.
        """
        other = self._like(self.url, self.method, ())
        self._others.append(other)
        return other

    def _like(self, url: str, method: SendingMethod, graphs: Sequence[str]) -> Http:
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
        return await self._answer_to(_Question(query, wanted, deadline, spend))

    async def select_bound(
        self, bindings: Mapping[str, str], query: str, deadline: Deadline, spend: Spend = unpaid, /
    ) -> bytes:
        """Send a query with what is bound beside it; see `WithBindings.select_bound`."""
        beside = [(f"${variable}", f"_:{label}") for variable, label in bindings.items()]
        return await self._answer_to(_Question(query, "json", deadline, spend, beside))

    async def _answer_to(self, question: _Question) -> bytes:
        with self._caught_fault() as caught:
            async with asyncio.timeout(question.deadline.seconds_left), self.flow.connections:
                try:
                    body = await self._in_format(self._way, question)
                except NoQueryEndpoint as refused:
                    # An endpoint that took one query takes them all in that way: a later refusal passes.
                    if self.method != "auto" or not refused.other_ways:
                        raise
                    refusal = refused
                else:
                    self.method = self._way
                    return body
                return await self._in_another_way(question, refusal)
        raise caught.fault

    async def select_beside(self, query: str, deadline: Deadline) -> bytes:
        """Send a query beside those under way, by the method that they use; see `Beside.select_beside`."""
        question = _Question(query, "json", deadline, unpaid)
        with self._caught_fault() as caught:
            async with asyncio.timeout(deadline.seconds_left):
                return await self._in_format(self._way, question)
        raise caught.fault

    @property
    def _way(self) -> SendingMethod:
        """How a query is sent at first."""
        return "post" if self.method == "auto" else self.method

    async def _in_another_way(self, question: _Question, refusal: NoQueryEndpoint) -> bytes:
        """Send a query that was refused in the ways that are left, and learn which one the endpoint takes."""
        async with self._finding_way:
            # Another query may have found the way meanwhile, or that there is none.
            ways = refusal.other_ways if self.method == "auto" else (self.method,)
            if self.flow.clock() < self._refused_until:
                ways = ()
            is_page = bool(ways)
            for way in ways:
                question.spend()
                try:
                    body = await self._in_format(way, question)
                except NoQueryEndpoint:
                    continue
                except QueryRefused:
                    # Whether it refused the way or the query, a short query will show.
                    is_page = False
                    continue
                self.method = way
                return body
            if is_page:
                self._refused_until = self.flow.clock() + _REFUSED_SECONDS
        raise refusal

    async def _in_format(self, way: SendingMethod, question: _Question) -> bytes:
        """Send a query; once more, for any JSON, if the endpoint does not know SPARQL JSON by its own name."""
        if question.wanted != "json":
            return await self._sent(way, question, ACCEPT[question.wanted])
        try:
            return await self._sent(way, question, self._json)
        except WrongFormat:
            if self._json == ANY_JSON:
                raise
        question.spend()
        body = await self._sent(way, question, ANY_JSON)
        self._json = ANY_JSON
        return body

    async def _sent(self, way: SendingMethod, question: _Question, accept: str) -> bytes:
        with contextlib.suppress(aiohttp.ServerDisconnectedError):
            return await self._round_trip(way, question, accept)
        # The server closed an idle connection just as it was used again; nothing was answered.
        question.spend()
        return await self._round_trip(way, question, accept)

    async def _round_trip(self, way: SendingMethod, question: _Question, accept: str) -> bytes:
        deadline = question.deadline
        deadline.check()
        query_id = str(uuid4()) if self.timeout_policy.cancel_by_id else ""
        message = self._message(way, question.query, [*self._fields(query_id, deadline), *question.beside])
        has_ended = False
        try:
            async with (
                self.flow.sending(deadline, ends=RAISED) as request,
                self._request(message, {"Accept": accept, **self.timeout_policy.headers(deadline)}) as response,
            ):
                reply = Reply(
                    response.status, response.headers, response.content_type, len(message.body), question.wanted
                )
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

    @property
    def path(self) -> str:
        """The path of the URL; see `Remote.path`."""
        return urlsplit(self.url).path

    async def look(self, accept: str, deadline: Deadline, parameters: str = "", path: str = "") -> ProbeResponse:
        """Ask for the URL itself, without a query; see `Remote.look`."""
        url = at_path(self.url, path) if path else self.url
        url = with_parameters(url, parameters) if parameters else url
        with self._caught_fault() as caught:
            async with (
                asyncio.timeout(deadline.seconds_left),
                self.flow.connections,
                self.flow.sending(deadline, ends=RAISED) as request,
                self._request(_Message(url), {"Accept": accept}) as response,
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
        return CaughtFault(url=without_query(self.url))

    def _fields(self, query_id: str, deadline: Deadline) -> Fields:
        """Return what is sent beside a query."""
        return [
            *(("default-graph-uri", graph) for graph in self.graphs),
            *self.timeout_policy.fields(deadline),
            *((("queryId", query_id),) if query_id else ()),
        ]

    def _message(self, way: SendingMethod, query: str, fields: Fields) -> _Message:
        match way:
            case "get":
                return _Message(self._with_fields([("query", collapsed(query)), *fields]))
            case "direct":
                return _Message(self._with_fields(fields) if fields else self.url, query.encode(), _QUERY)
            case _:
                return _Message(self.url, _form([("query", query), *fields]))

    def _with_fields(self, fields: Fields) -> str:
        whole = with_parameters(self.url, _form(fields).decode())
        if len(whole) >= _LONGEST_URL:
            raise QueryTooLong(
                "The endpoint takes queries in the URL only, and this one is too long for that.",
                next_step="Ask for fewer seeds or hops.",
            )
        return whole

    def _request(
        self, message: _Message, headers: Mapping[str, str]
    ) -> AbstractAsyncContextManager[aiohttp.ClientResponse]:
        """Send a request: a body by POST, or a GET where there is none."""
        if self._session is None:
            self._session = self.access.session(ACCEPT["json"])
        body = message.body
        if not body:
            return self._session.get(message.url, **self.access.options(headers))
        data = io.BytesIO(body) if len(body) > _LONG else body
        options = self.access.options({"Content-Type": message.content_type, **headers})
        return self._session.post(message.url, data=data, **options)

    def _cancel_later(self, query_id: str) -> None:
        """Cancel a query in a task; the caller does not wait for it."""
        task = asyncio.create_task(self._cancel(query_id))
        self._cancelling.add(task)
        task.add_done_callback(self._cancelling.discard)

    async def _cancel(self, query_id: str) -> None:
        message = _Message(self.url, _form([("cancelQuery", ""), ("queryId", query_id)]))
        with contextlib.suppress(*RAISED):
            async with asyncio.timeout(_CANCEL_SECONDS), self._request(message, {}):
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


def at_path(url: str, path: str) -> str:
    """Return the URL of another resource of the same server."""
    return urlunsplit(urlsplit(url)._replace(path=path, query="", fragment=""))


def _form(fields: Fields) -> bytes:
    """Return fields as a form; yarl writes one in a tenth of the time of `urlencode`, and shorter.

    It escapes what has a meaning in a query string or must not stand there, and writes a blank as `+`.
    """
    return yarl.URL.build(query=fields).raw_query_string.encode()


def _origin(url: str) -> tuple[str, str | None, int | None]:
    parts = urlsplit(url)
    return parts.scheme, parts.hostname, parts.port or {"http": 80, "https": 443}.get(parts.scheme)
