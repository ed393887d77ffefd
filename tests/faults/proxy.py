"""A proxy on loopback that stands before SPARQL servers and injects faults by a plan."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import aiohttp
from aiohttp import web

from tests.faults.catalogue import InjectedFault
from tests.faults.reply import Answer, Ending, Reply, Wire
from tests.servers.loopback import HOST
from tests.transport.fake_endpoint import sending

_FRAMING = frozenset(
    {"connection", "content-length", "content-encoding", "date", "keep-alive", "transfer-encoding", "vary"}
)
"""Headers that are about one connection, or about a packing that the proxy has undone."""

_CANCELS = b"cancelQuery="
"""What Blazegraph is sent to end a query."""

_PASSED_ON = ("Accept", "Content-Type", "User-Agent")


@dataclass(frozen=True)
class Planned:
    """A fault and when it is due.

    Attributes:
        at: The request of the plan, counted from 0, that it happens to; where it cannot be done to that one, to the
            next that it can be done to.
        fault: What happens.
    """

    at: int
    fault: InjectedFault


@dataclass
class Plan:
    """What happens to the requests of one call.

    Attributes:
        due: The faults to come, in order.
        always: What happens to each request for which nothing else is due.
        asked: Requests that came.
        injected: The names of the faults that happened.
    """

    due: list[Planned] = field(default_factory=list)
    always: InjectedFault | None = None
    asked: int = 0
    injected: list[str] = field(default_factory=list)

    def next(self) -> tuple[Planned | None, InjectedFault | None]:
        """Count a request, and return what is due and what happens to it."""
        at, self.asked = self.asked, self.asked + 1
        if self.due and self.due[0].at <= at:
            planned = self.due.pop(0)
            return planned, planned.fault
        return None, self.always

    def put_back(self, planned: Planned) -> None:
        """Let the next request have a fault that could not be done to this one."""
        self.due.insert(0, planned)


def each(fault: InjectedFault | None) -> Plan:
    """Return the plan under which one thing happens to every request."""
    return Plan(always=fault)


def at(*faults: tuple[int, InjectedFault]) -> Plan:
    """Return a plan by the numbers of requests."""
    return Plan([Planned(number, fault) for number, fault in sorted(faults, key=lambda one: one[0])])


class FaultProxy:
    """A running proxy. Its plan is that of one call at a time.

    Attributes:
        port: Its port.
        busy: Set while requests are being served.
        idle: Set while none is.
        upstream_failures: Requests that the server behind did not answer; no fault was planned for them.
    """

    def __init__(self, routes: Mapping[str, str]) -> None:
        """Prepare a proxy.

        Args:
            routes: The URL of a query endpoint by the path, without a slash, under which it is served.
        """
        self.port = 0
        self.busy = asyncio.Event()
        self.idle = asyncio.Event()
        self.idle.set()
        self.upstream_failures = 0
        self._routes = dict(routes)
        self._plan = Plan()
        self._active = 0
        self._session: aiohttp.ClientSession | None = None
        self._server = web.Server(self._handle, handler_cancellation=True)
        self._runner = web.ServerRunner(self._server, shutdown_timeout=1.0)
        self._site: web.TCPSite | None = None

    def url(self, route: str = "") -> str:
        """Return the address under which an endpoint is served."""
        return f"http://{HOST}:{self.port}/{route}"

    @property
    def connections(self) -> int:
        """Connections that clients hold open."""
        return len(self._server.connections)

    async def begin(self, plan: Plan) -> Plan:
        """Follow another plan from the next request on; a refused port listens again."""
        self._plan = plan
        await self._listen()
        return plan

    async def start(self) -> None:
        """Listen on a free port."""
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=0), timeout=aiohttp.ClientTimeout(total=None)
        )
        await self._runner.setup()
        await self._listen()

    async def stop(self) -> None:
        """Close everything."""
        await self._runner.cleanup()
        if self._session is not None:
            await self._session.close()

    async def _listen(self) -> None:
        if self._site is None:
            self._site = web.TCPSite(self._runner, HOST, self.port)
            await self._site.start()
            self.port = self._runner.addresses[0][1]

    async def _refuse(self) -> None:
        if self._site is not None:
            site, self._site = self._site, None
            await site.stop()

    async def _handle(self, request: web.BaseRequest) -> web.StreamResponse:
        self._count(1)
        try:
            return await self._send(request, await self._reply(request))
        finally:
            self._count(-1)

    def _count(self, more: int) -> None:
        self._active += more
        begins, ends = (self.busy, self.idle) if self._active else (self.idle, self.busy)
        begins.set()
        ends.clear()

    async def _reply(self, request: web.BaseRequest) -> Reply:
        if request.path.removeprefix("/") not in self._routes:
            # A client that looks for the query endpoint asks elsewhere too; that is no query.
            return Answer(b"there is nothing", 404, {"Content-Type": "text/plain"})
        if _CANCELS in await request.read():
            # It is sent behind a call's back, for a query that was given up: no query, and no request of the plan.
            return await self._asked(request)
        plan = self._plan
        planned, fault = plan.next()
        answer = await self._asked(request) if fault is None or fault.asks else Answer()
        if fault is None:
            return answer
        reply = fault.spoil(answer)
        if reply is not None:
            plan.injected.append(fault.name)
            return reply
        if planned is not None:
            plan.put_back(planned)
        return answer

    async def _asked(self, request: web.BaseRequest) -> Answer:
        """Return what the server behind answers."""
        assert self._session is not None
        headers = {name: request.headers[name] for name in _PASSED_ON if name in request.headers}
        try:
            async with self._session.request(
                request.method,
                self._routes[request.path.removeprefix("/")],
                params=request.query,
                # An empty body would be given a type, and some servers take no query that has one.
                data=await request.read() or None,
                headers={**headers, "Accept-Encoding": "identity"},
            ) as response:
                kept = {name: text for name, text in response.headers.items() if name.lower() not in _FRAMING}
                return Answer(await response.read(), response.status, kept)
        except aiohttp.ClientError:
            self.upstream_failures += 1
            return Answer(b"the server behind the proxy did not answer", 502, {"Content-Type": "text/plain"})

    async def _send(self, request: web.BaseRequest, reply: Reply) -> web.StreamResponse:
        if isinstance(reply, Answer):
            return web.Response(body=reply.body, status=reply.status, headers=dict(reply.headers))
        return await self._write(request, reply)

    async def _write(self, request: web.BaseRequest, wire: Wire) -> web.StreamResponse:
        if wire.ending is Ending.STALLED:
            assert request.transport is not None
            request.transport.write(wire.data)
            # Until the client is gone, which cancels this.
            await asyncio.Event().wait()
        if wire.ending is Ending.REFUSED:
            await self._refuse()
        return await sending(wire.data, reset=wire.ending is Ending.RESET)(request)


@asynccontextmanager
async def fault_proxy(routes: Mapping[str, str] | str, plan: Plan | None = None) -> AsyncIterator[FaultProxy]:
    """Run a proxy before one endpoint, or before several by path."""
    proxy = FaultProxy({"": routes} if isinstance(routes, str) else routes)
    await proxy.start()
    try:
        await proxy.begin(plan or Plan())
        yield proxy
    finally:
        await proxy.stop()
