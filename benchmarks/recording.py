"""A transport that notes what passes through it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from gateway.graph.call import Spend, unpaid
from gateway.graph.deadline import Deadline
from gateway.transport.base import Transport


@dataclass(frozen=True, slots=True)
class Request:
    """One query as it was sent.

    Attributes:
        query: Its text.
        after: How many answers had come when it was asked for: it may depend on those, and on no others.
    """

    query: str
    after: int


@dataclass(slots=True)
class Recording:
    """What a contender sent and got.

    Attributes:
        requests: The queries in the order they were asked for.
        rows: Rows of all answers.
        bytes: Bytes of all answers, unpacked.
        answers: Answers that came whole.
    """

    requests: list[Request] = field(default_factory=list)
    rows: int = 0
    bytes: int = 0
    answers: int = 0


class RecordingTransport:
    """Passes queries on, and notes them while it is told to: counting rows means decoding an answer twice."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport
        self._recording: Recording | None = None

    @contextmanager
    def recording(self) -> Iterator[Recording]:
        """Note what passes until the block ends."""
        self._recording = noted = Recording()
        try:
            yield noted
        finally:
            self._recording = None

    async def select(self, query: str, deadline: Deadline, spend: Spend = unpaid, /) -> bytes:
        """Run a query; see `Transport.select`."""
        noted = self._recording
        if noted is None:
            return await self._transport.select(query, deadline, spend)
        noted.requests.append(Request(query, noted.answers))
        body = await self._transport.select(query, deadline, spend)
        noted.answers += 1
        noted.bytes += len(body)
        noted.rows += len(json.loads(body)["results"]["bindings"])
        return body

    async def close(self) -> None:
        """Close the transport behind."""
        await self._transport.close()
