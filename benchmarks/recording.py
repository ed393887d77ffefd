"""A transport that notes what passes through it."""

from __future__ import annotations

import builtins
import json
import math
import time
from collections.abc import Awaitable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from operator import itemgetter
from typing import Literal

from gateway.flow.control import FlowControl
from gateway.graph.call import Deadline, Spend, unpaid
from gateway.transport.base import Format, ProbeResponse, TimeoutPolicy
from gateway.transport.http import Http


@dataclass(frozen=True, slots=True)
class Request:
    """One query as it was sent.

    Attributes:
        query: Its text.
        after: How many answers had come when it was asked for: it may depend on those, and on no others.
        wanted: The format that it was asked for in.
        graphs: The graphs that it named.
    """

    query: str
    after: int
    wanted: Format = "json"
    graphs: tuple[str, ...] = ()


@dataclass(slots=True)
class Recording:
    """What a contender sent and got.

    Attributes:
        requests: The queries in the order they were asked for.
        rows: Rows of all answers.
        bytes: Bytes of all answers, unpacked.
        answers: Answers that came whole.
        bodies: The requests that were answered, each with the body of its answer.
        spans: When each request began and ended, those without a query among them.
    """

    requests: list[Request] = field(default_factory=list)
    rows: int = 0
    bytes: int = 0
    answers: int = 0
    bodies: list[tuple[Request, builtins.bytes]] = field(default_factory=list)
    spans: list[tuple[float, float]] = field(default_factory=list)

    @property
    def rounds(self) -> int:
        """How many requests the longest chain has, in which each began after the one before had ended."""
        count, ended = 0, -math.inf
        for began, until in sorted(self.spans, key=itemgetter(1)):
            if began >= ended:
                count, ended = count + 1, until
        return count


class RecordingTransport:
    """Passes everything on to an endpoint, and notes queries while it is told to: counting rows means decoding twice.

    It has all that the gateway looks for in a transport. Without one of these, the engine stays unknown, and what is
    measured is not what users run.
    """

    def __init__(self, transport: Http, noting: list[Recording] | None = None) -> None:
        self._transport = transport
        self._noting = [] if noting is None else noting

    @contextmanager
    def recording(self) -> Iterator[Recording]:
        """Note what passes until the block ends."""
        noted = Recording()
        self._noting.append(noted)
        try:
            yield noted
        finally:
            self._noting.remove(noted)

    @property
    def flow(self) -> FlowControl:
        """See `Remote.flow`."""
        return self._transport.flow

    @property
    def timeout_policy(self) -> TimeoutPolicy:
        """See `Remote.timeout_policy`."""
        return self._transport.timeout_policy

    @timeout_policy.setter
    def timeout_policy(self, policy: TimeoutPolicy) -> None:
        self._transport.timeout_policy = policy

    @property
    def path(self) -> str:
        """See `Remote.path`."""
        return self._transport.path

    async def look(self, accept: str, deadline: Deadline, parameters: str = "", path: str = "") -> ProbeResponse:
        """Ask for the endpoint itself; see `Remote.look`."""
        with self._timed():
            return await self._transport.look(accept, deadline, parameters, path)

    def over_all_graphs(self) -> RecordingTransport:
        """Return a transport that names no graphs, and notes to the same recording; see `OverGraphs`."""
        return RecordingTransport(self._transport.over_all_graphs(), self._noting)

    def send_by(self, way: Literal["post", "direct"]) -> bool:
        """Send queries in a way from now on; see `InWays`."""
        return self._transport.send_by(way)

    async def select_beside(self, query: str, deadline: Deadline) -> bytes:
        """Run a query beside others, which is not noted: the gateway asks for itself; see `Beside`."""
        return await self._transport.select_beside(query, deadline)

    async def select(self, query: str, deadline: Deadline, spend: Spend = unpaid, /) -> bytes:
        """Run a query; see `Transport.select`."""
        return await self.select_in("json", query, deadline, spend)

    async def select_in(self, wanted: Format, query: str, deadline: Deadline, spend: Spend = unpaid, /) -> bytes:
        """Run a query for an answer in a format; see `InFormats.select_in`."""
        return await self._noted(wanted, query, self._transport.select_in(wanted, query, deadline, spend))

    async def select_bound(
        self, bindings: Mapping[str, str], query: str, deadline: Deadline, spend: Spend = unpaid, /
    ) -> bytes:
        """Run a query with what is bound beside it; see `WithBindings.select_bound`."""
        return await self._noted("json", query, self._transport.select_bound(bindings, query, deadline, spend))

    async def _noted(self, wanted: Format, query: str, answer: Awaitable[bytes]) -> bytes:
        noting = list(self._noting)
        sent = [Request(query, noted.answers, wanted, self._transport.graphs) for noted in noting]
        for noted, request in zip(noting, sent, strict=True):
            noted.requests.append(request)
        with self._timed():
            body = await answer
        for noted, request in zip(noting, sent, strict=True):
            noted.answers += 1
            noted.bytes += len(body)
            noted.rows += _rows_in(body, wanted)
            noted.bodies.append((request, body))
        return body

    @contextmanager
    def _timed(self) -> Iterator[None]:
        noting, began = list(self._noting), time.perf_counter()
        try:
            yield
        finally:
            for noted in noting:
                noted.spans.append((began, time.perf_counter()))

    async def close(self) -> None:
        """Close the transport behind."""
        await self._transport.close()


def _rows_in(body: bytes, written: Format) -> int:
    """Count the rows of an answer; each ends a line of TSV, in which a line end within a literal is escaped."""
    if written == "tsv":
        return body.count(b"\n") - 1
    return len(json.loads(body)["results"]["bindings"])
