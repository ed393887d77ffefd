"""A query service on loopback that throttles as Wikidata's does, by the time of its event loop.

The rules are those of wikimedia/wikidata-query-rdf (``ThrottlingFilter``, ``ThrottlingState``, ``BanThrottler``,
``RequestConcurrencyFilter``); docs/notes/wikimedia.md, "The quota of the query service". It shares no line with the
gateway's own model.

Time passes in the loop only while nothing else is to be done: an hour of sleeps takes a second. Sockets on loopback
and threads work as ever. What is on its way through the kernel is waited for before time goes on; who uses the loop
says whether there is something.
"""

import asyncio
import io
import math
import selectors
import time
from collections.abc import AsyncIterator, Callable
from concurrent.futures import Executor
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Literal, Protocol, TypeVar, TypeVarTuple, cast

import pyoxigraph
from aiohttp import web

from gateway import resources
from gateway.flow.quota import ChargedRequest, Quota
from gateway.graph.call import Deadline
from gateway.settings.profile import Profile
from gateway.stores.endpoints import connect, store_over
from gateway.terms.prefixes import PrefixMap
from gateway.tools.gateway import Gateway
from tests.transport.fake_endpoint import JSON, FakeEndpoint, fake_endpoint

_Arguments = TypeVarTuple("_Arguments")
_Result = TypeVar("_Result")

_A_MOMENT = 0.0002
"""Real seconds that are waited for what nobody knows of, such as the end of a connection."""

_LOST = 0.5
"""Real seconds after which what is on its way is given up; nothing takes so long on loopback."""

_Ready = list[tuple[selectors.SelectorKey, int]]


class Traffic(Protocol):
    """What is sent on sockets."""

    @property
    def on_its_way(self) -> bool:
        """Whether something was sent and has not arrived."""
        ...

    def lost(self) -> None:
        """Note that what is on its way never arrives."""
        ...


class _Selector(selectors.DefaultSelector):
    """Waits for sockets, and lets time pass where none is ready."""

    def __init__(self) -> None:
        super().__init__()
        self.now = 0.0
        self.traffic: Traffic | None = None
        self.threads = 0

    def select(self, timeout: float | None = None) -> _Ready:
        ready = super().select(0)
        if ready or (timeout is not None and timeout <= 0):
            return ready
        if timeout is None:
            return super().select(None)
        if self.threads:
            # It wakes the loop at its end.
            return super().select(None)
        if self.traffic is None:
            ready = []
        elif self.traffic.on_its_way:
            ready = super().select(_LOST)
            if not ready:
                self.traffic.lost()
        else:
            # A selector waits for whole milliseconds; a test has thousands of moments.
            time.sleep(_A_MOMENT)
            ready = super().select(0)
        if not ready:
            self.now += timeout
        return ready


class VirtualTimeLoop(asyncio.SelectorEventLoop):
    """An event loop with a time of its own, which begins at 0."""

    def __init__(self) -> None:
        self._in_between = _Selector()
        super().__init__(self._in_between)

    def watch(self, traffic: Traffic) -> None:
        """Let no time pass while something is on its way."""
        self._in_between.traffic = traffic

    def run_in_executor(
        self, executor: Executor | None, func: Callable[[*_Arguments], _Result], *args: *_Arguments
    ) -> "asyncio.Future[_Result]":
        """Let no time pass while a thread works."""
        self._in_between.threads += 1
        future = super().run_in_executor(executor, func, *args)
        future.add_done_callback(self._returned)
        return future

    def _returned(self, _: object) -> None:
        self._in_between.threads -= 1

    def time(self) -> float:
        """Return the seconds that have passed."""
        return self._in_between.now


Refill = Literal["at one go", "evenly"]
"""As the service's source has it, whose buckets are never in debt; or as its documentation reads, with debts."""

Refusal = tuple[int, bytes, dict[str, str]]

_EPOCH = 1_800_000_000.0
"""Seconds since 1970 when the loop's time was 0, for the instants that it names."""

_TIMED_OUT = b"SPARQL-QUERY: queryStr=...\njava.util.concurrent.TimeoutException\n"


@dataclass(slots=True)
class Bucket:
    """A token bucket.

    Attributes:
        capacity: Tokens at most.
        a_period: Tokens that come back in a period.
        refill: How they come back.
        phase: When, in a period, for `at one go`.
        period: Seconds.
    """

    capacity: float
    a_period: float
    refill: Refill
    phase: float = 0.0
    period: float = 60.0
    _level: float = field(default=math.inf)
    _at: float = 0.0

    def level(self, now: float) -> float:
        """Return how many there are."""
        if self.refill == "evenly":
            came = (now - self._at) * self.a_period / self.period
        else:
            came = (self._periods(now) - self._periods(self._at)) * self.a_period
        self._level, self._at = min(self.capacity, self._level + came), now
        return self._level

    def take(self, tokens: float, now: float) -> None:
        """Take some, or what there is."""
        left = self.level(now) - tokens
        self._level = left if self.refill == "evenly" else max(0.0, left)

    def seconds_until_some(self, now: float) -> float:
        """Return when there will be some again."""
        if self.level(now) > 0:
            return 0.0
        if self.refill == "evenly":
            return -self._level * self.period / self.a_period
        return (self._periods(now) + 1) * self.period + self.phase - now

    def _periods(self, now: float) -> int:
        return math.floor((now - self.phase) / self.period)


@dataclass(frozen=True, slots=True)
class Seen:
    """A request as it came.

    Attributes:
        at: When.
        agent: Its `User-Agent`.
        seconds: Query time that its client had left.
        errors: Errors that it had left.
        under_way: Requests that were being answered.
        status: What it was answered with; 0 while it is not.
    """

    at: float
    agent: str
    seconds: float
    errors: float
    under_way: int
    status: int


@dataclass(slots=True)
class _Client:
    """What the service knows of one address and User-Agent."""

    seconds: Bucket
    errors: Bucket
    refusals: Bucket
    banned_until: float = 0.0


@dataclass(slots=True)
class Service:
    """The service.

    Attributes:
        cost: How many seconds a query takes.
        refill: How the buckets are refilled.
        phase: When, in a minute.
        limit: Seconds after which a query is ended.
        wants_contact: Whether a `User-Agent` must have one.
        refusing: Says at a time what every request gets; None: what is due.
        seen: The requests, in order.
        asleep: Requests whose client waits for an answer that is not there yet.
        left: Requests whose client did not wait for the answer.
    """

    cost: Callable[[str], float] = lambda _query: 0.1
    refill: Refill = "at one go"
    phase: float = 17.0
    limit: float = 60.0
    wants_contact: bool = True
    refusing: Callable[[float], Refusal | None] = lambda _now: None
    seen: list[Seen] = field(default_factory=list)
    asleep: int = 0
    left: int = 0
    _clients: dict[tuple[str, str], _Client] = field(default_factory=dict)
    _store: pyoxigraph.Store = field(default_factory=pyoxigraph.Store)
    _under_way: int = 0
    _work: set[asyncio.Task[web.Response]] = field(default_factory=set)

    def __post_init__(self) -> None:
        """Load the graph."""
        graph = resources.folder("fixtures") / "wikidata-slice.ttl"
        self._store.load(path=str(graph), format=pyoxigraph.RdfFormat.TURTLE)

    async def __call__(self, request: web.BaseRequest) -> web.StreamResponse:
        """Answer a request, or refuse it."""
        now = asyncio.get_running_loop().time()
        agent = request.headers.get("User-Agent", "")
        key = (request.remote or "", agent)
        if key not in self._clients:
            self._clients[key] = self._new_client()
        client = self._clients[key]
        levels = client.seconds.level(now), client.errors.level(now)
        refusal = self._refusal(client, agent, now)
        if refusal is not None:
            status, text, headers = refusal
            self.seen.append(Seen(now, agent, *levels, self._under_way, status))
            return web.Response(status=status, body=text, headers=headers)
        place = len(self.seen)
        self.seen.append(Seen(now, agent, *levels, self._under_way, 0))
        query = str((await request.post()).get("query", ""))
        # It goes on with a query whose client has left, as Blazegraph does.
        work = asyncio.create_task(self._answered(client, query, place))
        self._work.add(work)
        work.add_done_callback(self._work.discard)
        self.asleep += 1
        try:
            return await asyncio.shield(work)
        except asyncio.CancelledError:
            self.left += 1
            raise
        finally:
            self.asleep -= 1

    def ban(self, seconds: float) -> None:
        """Shut out everybody who has asked so far."""
        for client in self._clients.values():
            client.banned_until = asyncio.get_running_loop().time() + seconds

    async def finished(self) -> None:
        """Wait until nothing is under way."""
        if self._work:
            await asyncio.wait(self._work)

    def _new_client(self) -> _Client:
        return _Client(
            Bucket(120, 60, self.refill, self.phase),
            Bucket(60, 30, self.refill, self.phase),
            Bucket(200, 200, "at one go", self.phase, 20 * 60),
        )

    def _refusal(self, client: _Client, agent: str, now: float) -> Refusal | None:
        if self.wants_contact and "(" not in agent:
            return 403, b"Please set a user-agent and respect our robot policy", {}
        if now < client.banned_until:
            until = datetime.fromtimestamp(_EPOCH + client.banned_until, UTC).isoformat().replace("+00:00", "Z")
            text = f"You have been banned until {until}, please respect throttling and retry-after headers."
            date = datetime.fromtimestamp(_EPOCH + now, UTC).strftime("%a, %d %b %Y %H:%M:%S GMT")
            return 403, text.encode(), {"Date": date}
        if client.seconds.level(now) <= 0 or client.errors.level(now) <= 0:
            wait = math.floor(max(client.seconds.seconds_until_some(now), client.errors.seconds_until_some(now)))
            if client.refusals.level(now) < 1:
                client.banned_until = now + 24 * 3600
            client.refusals.take(1, now)
            text = f"Too Many Requests - Please retry in {wait} seconds."
            return 429, text.encode(), {"Retry-After": str(wait)}
        if self._under_way >= 50:
            return 429, b"Too many concurrent requests", {"Retry-After": "120"}
        return self.refusing(now)

    async def _answered(self, client: _Client, query: str, place: int) -> web.Response:
        loop = asyncio.get_running_loop()
        began = loop.time()
        self._under_way += 1
        try:
            await asyncio.sleep(min(self.cost(query), self.limit))
            response = self._response(query)
        finally:
            self._under_way -= 1
            client.seconds.take(loop.time() - began, loop.time())
        if response.status >= 400:
            client.errors.take(1, loop.time())
        before = self.seen[place]
        self.seen[place] = Seen(
            before.at, before.agent, before.seconds, before.errors, before.under_way, response.status
        )
        return response

    def _response(self, query: str) -> web.Response:
        if self.cost(query) > self.limit:
            return web.Response(status=500, body=_TIMED_OUT, content_type="text/plain")
        try:
            found = cast("pyoxigraph.QuerySolutions", self._store.query(query))
        except SyntaxError:
            return web.Response(status=400, body=b"Malformed query", content_type="text/plain")
        body = io.BytesIO()
        found.serialize(body, pyoxigraph.QueryResultsFormat.JSON)
        return web.Response(body=body.getvalue(), headers={"Content-Type": JSON})


@asynccontextmanager
async def running(service: Service) -> AsyncIterator[FakeEndpoint]:
    """Run it."""
    async with fake_endpoint(service) as endpoint:
        try:
            yield endpoint
        finally:
            await service.finished()


def now() -> float:
    """Return the time of the running loop."""
    return asyncio.get_running_loop().time()


class _Watched(Quota):
    """A quota that knows what is on its way to the service and back."""

    service: Service
    under_way = 0
    given_up = 0

    @asynccontextmanager
    async def charging(self, deadline: Deadline) -> AsyncIterator[ChargedRequest]:
        """Count a request."""
        async with super().charging(deadline) as request:
            self.under_way += 1
            try:
                yield request
            finally:
                self.under_way -= 1
                self.given_up += not request.has_ended

    @property
    def on_its_way(self) -> bool:
        """Whether a request, an answer, or word that nobody waits for it any more has not arrived."""
        return self.under_way > self.service.asleep or self.given_up > self.service.left

    def lost(self) -> None:
        """Let time go on: who gives up before it is connected leaves no trace at the service."""
        self.given_up = self.service.left


@asynccontextmanager
async def gateway_at(url: str, profile: Profile, service: Service) -> AsyncIterator[Gateway]:
    """Open a gateway, as `open_gateway` does."""
    http = connect(url, profile, now)
    quota = _Watched(profile.endpoint.quota, clock=now)
    quota.service = service
    http.flow.quota = quota
    loop = asyncio.get_running_loop()
    assert isinstance(loop, VirtualTimeLoop)
    loop.watch(quota)
    store = store_over(http, profile, now)
    async with Gateway(store, profile, PrefixMap(profile.prefixes), now) as gateway:
        yield gateway
