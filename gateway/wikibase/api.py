"""One request to the API of a Wikibase.

It is another server than the SPARQL endpoint: requests carry `User-Agent` and no credentials. It answers most errors
with status 200 (`error` in the object), some of them with Retry-After
(https://www.mediawiki.org/wiki/API:Errors_and_warnings, https://www.mediawiki.org/wiki/Manual:Maxlag_parameter).
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from http import HTTPStatus
from typing import Any, Protocol
from urllib.parse import quote, urlencode

import aiohttp
import anyio
import yarl

from gateway.errors import BrokenAnswer, DeadlinePassed, EndpointFault, Fault, GaveUp, QueryRefused, Throttled
from gateway.flow.control import FlowControl
from gateway.flow.quota import Sleep
from gateway.graph.call import Call, Deadline, Spend, unpaid
from gateway.settings.endpoint import RequestSettings
from gateway.telemetry.tally import Clock, QueryTimer
from gateway.transport.base import loads
from gateway.transport.credentials import Access
from gateway.transport.exchange import CaughtFault, excerpt, whole_body
from gateway.transport.response_verdict import LATER, seconds_to_wait

_log = logging.getLogger(__name__)

_JSON = "application/json"

_API = "the Wikibase API"
"""What errors of the parts that all transports share call it."""

_MOST_BYTES = 1 << 23
"""Bytes of one answer: MediaWiki's own bound on what it sends ($wgAPIMaxResultSize)."""

_MOST_BRACKETS = 200_000
"""Objects and lists of one answer: 50 entities in all languages have some 50,000."""

SETTING = "The operator of this gateway should check search.api in its profile."
_CONTACT = "The operator of this gateway should check endpoint.contact in its profile, and ask less."
_LANGUAGE = "The operator of this gateway should check search.api_language in its profile."

_BUSY = frozenset({"maxlag", "ratelimited", "actionthrottledtext", "cirrussearch-too-busy-error"})
"""Codes of errors that mean: later."""

_BROKEN = frozenset({"cirrussearch-backend-error", "internal_api_error_dberror", "internal_api_error_dbqueryerror"})
"""Codes of errors of what is behind the API."""

_BAD_LANGUAGE = frozenset({"badvalue", "unknown_language", "unrecognizedvalue"})
"""Codes of errors about a value; the language is the only one that an operator or a caller chooses."""

_LATER = frozenset({429, 503})
"""Statuses of a server that refuses for now."""

_BY_STATUS: Mapping[int, tuple[type[Fault], str, str]] = {
    401: (EndpointFault, "The Wikibase API refuses this gateway.", _CONTACT),
    403: (EndpointFault, "The Wikibase API refuses this gateway.", _CONTACT),
    404: (EndpointFault, "There is no Wikibase API at the URL of search.api.", SETTING),
    408: (GaveUp, "The Wikibase API gave up on a request.", LATER),
    414: (QueryRefused, "The Wikibase API finds a request too long.", "Ask with fewer words."),
    500: (BrokenAnswer, "The Wikibase API failed with HTTP status 500.", LATER),
    502: (BrokenAnswer, "The Wikibase API failed with HTTP status 502.", LATER),
    504: (GaveUp, "The Wikibase API gave up on a request.", LATER),
}


class ValueRefused(QueryRefused):
    """The API refuses a value of a request, such as a language that the wiki does not know."""


@dataclass(frozen=True, slots=True)
class ApiAnswer:
    """The JSON object that came, which has no `error`, and its bytes, unpacked."""

    content: Mapping[str, Any]
    size: int


def query_of(fields: Sequence[tuple[str, str]]) -> str:
    """Return the query of the URL that requests these fields."""
    return urlencode(fields, quote_via=quote)


class WikibaseApi:
    """A way to the API of one Wikibase.

    Attributes:
        url: The URL of its `api.php`; for the operator alone.
    """

    def __init__(self, url: str, *, max_bytes: int, access: Access | None = None) -> None:
        self.url = url
        self._max_bytes = min(max_bytes, _MOST_BYTES)
        self._access = access or Access()
        self._session: aiohttp.ClientSession | None = None

    async def get(self, fields: Sequence[tuple[str, str]], deadline: Deadline, spend: Spend = unpaid, /) -> ApiAnswer:
        """Send a request and return its answer; see `Transport.select` for deadline, spending and faults."""
        with CaughtFault(_API) as caught:
            async with asyncio.timeout(deadline.seconds_left):
                deadline.check()
                with contextlib.suppress(aiohttp.ServerDisconnectedError):
                    return await self._round_trip(fields)
                # The server closed an idle connection just as it was used again; nothing was answered.
                spend()
                return await self._round_trip(fields)
        raise caught.fault

    async def _round_trip(self, fields: Sequence[tuple[str, str]]) -> ApiAnswer:
        async with self._open_session().get(
            yarl.URL(f"{self.url}?{query_of(fields)}", encoded=True), **self._access.options()
        ) as response:
            wait = seconds_to_wait(response.headers.get("Retry-After", ""), response.headers.get("Date", ""))
            if response.status != HTTPStatus.OK or response.content_type != _JSON:
                await excerpt(response)
                raise _no_answer(response.status, wait)
            body = await whole_body(response, self._max_bytes, _API)
        return ApiAnswer(_object(body, wait), len(body))

    def _open_session(self) -> aiohttp.ClientSession:
        if self._session is None:
            self._session = self._access.session(_JSON)
        return self._session

    async def close(self) -> None:
        """Close the connections."""
        if self._session is not None:
            await self._session.close()
            self._session = None


def _no_answer(status: int, wait: float | None) -> Fault:
    """Return what a status means, or a success that is no JSON."""
    if status in _LATER:
        return _throttled(wait)
    if status in _BY_STATUS:
        kind, wrong, next_step = _BY_STATUS[status]
        return kind(wrong, next_step=next_step)
    if status < HTTPStatus.MULTIPLE_CHOICES:
        return EndpointFault("The Wikibase API answered with something that is no JSON.", next_step=SETTING)
    if status < HTTPStatus.BAD_REQUEST:
        return EndpointFault("The URL of search.api redirects elsewhere, and is not followed.", next_step=SETTING)
    return EndpointFault(f"The Wikibase API failed with HTTP status {status}.", next_step=LATER)


def _object(body: bytes, wait: float | None) -> Mapping[str, Any]:
    if body.count(b"{") + body.count(b"[") > _MOST_BRACKETS:
        raise EndpointFault("The Wikibase API answered with more than was asked for.", next_step=SETTING)
    try:
        content = loads(body)
    except (ValueError, RecursionError) as error:
        raise BrokenAnswer("The Wikibase API broke off in the middle of an answer.", next_step=LATER) from error
    if not isinstance(content, dict):
        raise EndpointFault("The Wikibase API answered with JSON that is no object.", next_step=SETTING)
    if "error" in content:
        raise _fault_of(content["error"], wait)
    return content


def _fault_of(error: object, wait: float | None) -> Fault:
    """Return the fault that an error of the API means; its own words are for the log."""
    code = str(error.get("code")) if isinstance(error, dict) else ""
    _log.warning("the Wikibase API tells an error: %r", code[:80])
    if code in _BUSY:
        return _throttled(wait)
    if code in _BROKEN:
        return BrokenAnswer("What is behind the Wikibase API failed.", next_step=LATER)
    if code in _BAD_LANGUAGE:
        return ValueRefused("The Wikibase API refuses a value, maybe the language.", next_step=_LANGUAGE)
    return QueryRefused("The Wikibase API refused a request.", next_step="Ask with other words.")


def _throttled(wait: float | None) -> Throttled:
    return Throttled("The Wikibase API is throttling: it wants fewer requests.", next_step=LATER, retry_after=wait)


Field = tuple[str, str]


class Api(Protocol):
    """A way to the API of a Wikibase; see `gateway.wikibase.api`."""

    async def get(self, fields: Sequence[Field], deadline: Deadline, spend: Spend, /) -> ApiAnswer:
        """Send a request and return its answer."""
        ...

    async def close(self) -> None:
        """Close the connections."""
        ...


_SECONDS = 10.0
"""Time for one answer: a search usually takes less than one, and what is left of a call's time is for the graph."""

_FIRST_PAUSE = 0.5
"""Seconds before a request is sent again, at first."""

_PROBE = (("action", "query"), ("meta", "siteinfo"), ("siprop", "general"), ("format", "json"))
"""The cheapest request that every MediaWiki answers."""


def api_flow(requests: RequestSettings, *, clock: Clock = time.monotonic, sleep: Sleep = anyio.sleep) -> FlowControl:
    """Return the flow control of an API: one request at a time, and the endpoint's setting for retries."""
    settings = RequestSettings(concurrency=1, retries=requests.retries)
    return FlowControl(settings, server=_API, first_pause=_FIRST_PAUSE, clock=clock, sleep=sleep)


class ApiClient:
    """Sends requests to one API under its flow control."""

    def __init__(self, api: Api, flow: FlowControl) -> None:
        self._api = api
        self._flow = flow

    async def ask(self, name: str, fields: Sequence[Field], call: Call) -> Mapping[str, Any]:
        """Send a request and return the JSON object that came; it has no `error`.

        Args:
            name: What is asked for, as a call's record names it.
            fields: Names and values of the parameters, but the format.
            call: The call, which pays for it.

        Raises:
            Fault: The API did not give an answer. Its text speaks of the API.
        """
        whole = [*fields, ("format", "json")]
        try:
            with call.tally.query_timer(f"api/{name}", query_of(whole)) as timer:
                send = partial(self._answer, whole, call, timer)
                return (await self._flow.run(call, send, partial(self._probe, call))).content
        except DeadlinePassed:
            # Its time is not that of the call, which goes on without the API.
            raise DeadlinePassed("The Wikibase API did not answer in time.", next_step="Try again later.") from None

    async def _answer(self, fields: Sequence[Field], call: Call, timer: QueryTimer) -> ApiAnswer:
        deadline = call.deadline.within(_SECONDS)
        with timer.sending():
            async with self._flow.sending(deadline):
                answer = await self._api.get(fields, deadline, call.spend_request)
            timer.received(answer.size)
        return answer

    async def _probe(self, call: Call, deadline: Deadline) -> None:
        with call.tally.query_timer("api/siteinfo", query_of(_PROBE)) as timer, timer.sending():
            async with self._flow.sending(deadline):
                answer = await self._api.get(_PROBE, deadline, unpaid)
            timer.received(answer.size)

    async def close(self) -> None:
        """Close the connections."""
        await self._api.close()
