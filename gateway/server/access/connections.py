"""Cuts connections that are slow to ask, and requests without an end: neither must keep others out.

uvicorn bounds the time between two requests, not that of the first line and the headers of one. And it goes on to read,
and drops, what comes of a request that was answered before its end.
"""

from __future__ import annotations

import asyncio
import logging
from functools import partial
from typing import Any, cast

from uvicorn.protocols.http.h11_impl import H11Protocol, RequestResponseCycle

from gateway.server.stdio import MAX_BYTES

_log = logging.getLogger(__name__)

HEADER_SECONDS = 10.0
"""The time in which the first line and the headers of a request must arrive."""

MOST_WAITING = 128
"""Connections on which no request was answered yet, and as many between two requests: beyond that, the one that has
waited for longest is cut."""

MOST_CONNECTIONS = 384
"""All connections: beyond that, requests are answered with 503."""


_MOST_BYTES = 2 * MAX_BYTES
"""Bytes that are read of one request, with the lines between the chunks of its body: one that is a little too long
hears that, and one without an end is cut."""


def bounded_connections() -> type[asyncio.Protocol]:
    """Return the protocol of the connections of one server."""
    return cast("type[asyncio.Protocol]", partial(_Connection, _Waiting()))


class _Waiting:
    """The connections of a server that are without a whole request, in the order in which they came to be.

    New ones and those that were answered before have room of their own, so that many of the first cut none of the
    second.
    """

    def __init__(self) -> None:
        self._new: dict[_Connection, None] = {}
        self._known: dict[_Connection, None] = {}

    def add(self, connection: _Connection) -> None:
        """Note a connection, and cut the oldest if there are too many."""
        group = self._known if connection.has_answered else self._new
        group.setdefault(connection)
        while len(group) > MOST_WAITING:
            oldest = next(iter(group))
            del group[oldest]
            oldest.transport.abort()

    def remove(self, connection: _Connection) -> None:
        """Note that the request of a connection has come, or that it is closed."""
        self._new.pop(connection, None)
        self._known.pop(connection, None)


class _Connection(H11Protocol):
    """A connection whose request must come soon.

    Args:
        waiting: The connections of the server that are without a whole request.
        given: What uvicorn gives to each connection.

    Attributes:
        has_answered: Whether a request of it was answered.
    """

    def __init__(self, waiting: _Waiting, **given: Any) -> None:
        super().__init__(**given)
        self.has_answered = False
        self._waiting = waiting
        self._timer: asyncio.TimerHandle | None = None
        self._read_of: RequestResponseCycle | None = None
        self._read = 0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as in uvicorn
        """Begin to wait for a request."""
        super().connection_made(transport)
        self._begin_timer()
        self._update()

    def data_received(self, data: bytes) -> None:
        """Read a part of a request; the first part of one begins its time."""
        if self._read_of is not self.cycle:
            self._read_of, self._read = self.cycle, 0
        self._read += len(data)
        if self._read > _MOST_BYTES:
            _log.info("a request of more than %d bytes was cut", _MOST_BYTES)
            self.transport.abort()
            return
        if self._is_between_requests:
            self._begin_timer()
        super().data_received(data)
        self._update()

    def on_response_complete(self) -> None:
        """Wait for the next request."""
        super().on_response_complete()
        self.has_answered = True
        self._update()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the connection."""
        self._end_timer()
        self._waiting.remove(self)
        super().connection_lost(exc)
        # uvicorn leaves the timer where the client broke off, and with it this object, its buffers and its request.
        self._unset_keepalive_if_required()

    @property
    def _is_between_requests(self) -> bool:
        # uvicorn says that it is one, and begins with None.
        cycle = cast("RequestResponseCycle | None", self.cycle)
        return cycle is None or cycle.response_complete

    def _update(self) -> None:
        """Note whether a whole request has come."""
        if not self._is_between_requests:
            self._end_timer()
        if not (self._is_between_requests or self.cycle.more_body):
            self._waiting.remove(self)
        elif not self.transport.is_closing():
            self._waiting.add(self)

    def _begin_timer(self) -> None:
        if self._timer is None:
            self._timer = self.loop.call_later(HEADER_SECONDS, self.transport.abort)

    def _end_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
