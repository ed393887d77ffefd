"""Cuts connections that are slow to ask: who holds many open without asking must not keep others out.

uvicorn bounds the time between two requests, not that of the first line and the headers of one.
"""

from __future__ import annotations

import asyncio
from functools import partial
from typing import Any, cast

from uvicorn.protocols.http.h11_impl import H11Protocol, RequestResponseCycle

HEADER_SECONDS = 10.0
"""The time in which the first line and the headers of a request must arrive."""

MOST_WAITING = 128
"""Connections without a whole request: beyond that, the one that has waited for longest is cut."""

MOST_CONNECTIONS = 384
"""All connections: beyond that, requests are answered with 503."""


def bounded_connections() -> type[asyncio.Protocol]:
    """Return the protocol of the connections of one server."""
    waiting: dict[_Connection, None] = {}
    return cast("type[asyncio.Protocol]", partial(_Connection, waiting))


class _Connection(H11Protocol):
    """A connection whose request must come soon.

    Args:
        waiting: The connections of the server that are without a whole request, in the order in which they came to be.
        given: What uvicorn gives to each connection.
    """

    def __init__(self, waiting: dict[_Connection, None], **given: Any) -> None:
        super().__init__(**given)
        self._waiting = waiting
        self._timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as in uvicorn
        """Begin to wait for a request."""
        super().connection_made(transport)
        self._begin_timer()
        self._update()

    def data_received(self, data: bytes) -> None:
        """Read a part of a request; the first part of one begins its time."""
        if self._is_between_requests:
            self._begin_timer()
        super().data_received(data)
        self._update()

    def on_response_complete(self) -> None:
        """Wait for the next request."""
        super().on_response_complete()
        self._update()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the connection."""
        self._end_timer()
        self._waiting.pop(self, None)
        super().connection_lost(exc)

    @property
    def _is_between_requests(self) -> bool:
        # uvicorn says that it is one, and begins with None.
        cycle = cast("RequestResponseCycle | None", self.cycle)
        return cycle is None or cycle.response_complete

    def _update(self) -> None:
        """Note whether a whole request has come, and make room if too many connections are without one."""
        if not self._is_between_requests:
            self._end_timer()
        if not (self._is_between_requests or self.cycle.more_body):
            self._waiting.pop(self, None)
            return
        self._waiting.setdefault(self)
        while len(self._waiting) > MOST_WAITING:
            oldest = next(iter(self._waiting))
            del self._waiting[oldest]
            oldest.transport.abort()

    def _begin_timer(self) -> None:
        if self._timer is None:
            self._timer = self.loop.call_later(HEADER_SECONDS, self.transport.abort)

    def _end_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
