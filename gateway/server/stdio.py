"""The server over stdio: a JSON text on each line.

The transport of the SDK reads in a thread that the interpreter joins: Ctrl-C takes effect only after the next line of
the client. It also reads lines of any length, and raises an error when the client closes its end.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextlib
import json
import logging
import os
import queue
import re
import sys
import threading
from collections.abc import AsyncIterator, Coroutine, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.shared.message import SessionMessage
from mcp_types import INVALID_REQUEST, PARSE_ERROR, ErrorData, JSONRPCError, JSONRPCMessage, jsonrpc_message_adapter
from pydantic import ValidationError

from gateway.errors import ConfigurationError
from gateway.escaping import in_json

MAX_BYTES = 1 << 20
"""Of one message of a client; 200 IDs of 1,000 characters, the longest useful message, take a fifth of it."""

_EDGE = 2_000
"""Bytes at each end of a line that is too long; the ID of the request is searched in them."""

_MEMBER = rb'"(?:jsonrpc|method)"\s*:\s*"[^"\\]*"'
_ID = rb'"id"\s*:\s*(-?[0-9]{1,18}|"[^"\\]{0,200}")'
_AT_BEGIN = re.compile(rb"\s*\{\s*(?:" + _MEMBER + rb"\s*,\s*){0,2}" + _ID + rb"\s*[,}]")
_AT_END = re.compile(_ID + rb"(?:\s*,\s*" + _MEMBER + rb"){0,2}\s*\}\s*$")
"""Matches only members of the message itself: those of nested objects are followed by two braces."""


class LineSplitter:
    """Splits a stream of bytes into lines; of one above `max_bytes` only the beginning and the end are returned."""

    def __init__(self, max_bytes: int = MAX_BYTES) -> None:
        self._max_bytes = max_bytes
        self._line = bytearray()
        self._dropped = 0

    def feed(self, chunk: bytes) -> Iterator[tuple[bytes, int]]:
        """Return the lines that end in a chunk, each with the number of bytes that were dropped from it."""
        *ended, rest = chunk.split(b"\n")
        for part in ended:
            self._add(part)
            yield self._take()
        self._add(rest)

    def rest(self) -> Iterator[tuple[bytes, int]]:
        """Return the last line, if it has no line break."""
        if self._line:
            yield self._take()

    def _add(self, part: bytes) -> None:
        self._line += part
        excess = len(self._line) - (self._max_bytes if not self._dropped else 2 * _EDGE)
        if excess > 0:
            edges = self._line[:_EDGE] + self._line[-_EDGE:]
            self._dropped += len(self._line) - len(edges)
            self._line = edges

    def _take(self) -> tuple[bytes, int]:
        line = bytes(self._line), self._dropped
        self._line, self._dropped = bytearray(), 0
        return line


def message_of(line: bytes, dropped: int) -> SessionMessage | JSONRPCError | None:
    """Return the message of a line, the error to answer it with, or None for a blank line.

    `dropped` is the number of bytes that were dropped from the line.
    """
    if not line.strip():
        return None
    if dropped:
        return _refusal(
            line,
            INVALID_REQUEST,
            f"The message has {len(line) + dropped:,} bytes; the maximum is {MAX_BYTES:,}.",
        )
    try:
        message: JSONRPCMessage = jsonrpc_message_adapter.validate_json(line.decode("utf-8", "replace"), by_name=False)
    except ValidationError:
        return _refusal(line, PARSE_ERROR, "The message is not a JSON-RPC message.")
    return SessionMessage(message)


def _refusal(line: bytes, code: int, text: str) -> JSONRPCError:
    found = _AT_BEGIN.match(line[:_EDGE]) or _AT_END.search(line[-_EDGE:])
    identifier = json.loads(found[1].decode("utf-8", "replace")) if found else None
    return JSONRPCError(jsonrpc="2.0", id=identifier, error=ErrorData(code=code, message=text))


_log = logging.getLogger(__name__)

_CHUNK = 65_536
_MAX_UNSENT = 256
"""Messages that wait for a client that does not read."""

_LAST_SECONDS = 2.0
"""The time in which the client must read the last messages."""


@dataclass(frozen=True, slots=True)
class Wire:
    """The streams between a server and its client.

    Attributes:
        reading: The messages of the client.
        writing: The messages to the client.
        inbox: The other end of `reading`; to close it ends the session.
    """

    reading: MemoryObjectReceiveStream[SessionMessage | Exception]
    writing: MemoryObjectSendStream[SessionMessage]
    inbox: MemoryObjectSendStream[SessionMessage | Exception]


@asynccontextmanager
async def stdio_wire() -> AsyncIterator[Wire]:
    """Connect the standard streams of this process to a server, inside the block.

    Meanwhile standard input is empty for all other code, and what it prints goes to standard error.

    Raises:
        ConfigurationError: Standard input or output is closed.
    """
    source, sink = _take_over_streams()
    inbox, reading = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    writing, outbox = anyio.create_memory_object_stream[SessionMessage](_MAX_UNSENT)
    reader = _Reader(source, inbox, writing, asyncio.get_running_loop())
    threading.Thread(target=reader.run, name="stdin", daemon=True).start()
    sender = asyncio.create_task(_send_all(outbox, _Writer(sink), inbox))
    try:
        yield Wire(reading, writing, inbox)
    finally:
        inbox.close()
        reading.close()
        writing.close()
        await asyncio.wait([sender], timeout=_LAST_SECONDS)
        sender.cancel()
        os.dup2(source, 0)
        os.dup2(sink, 1)


def _take_over_streams() -> tuple[int, int]:
    if sys.stdin is None or sys.stdout is None:
        raise ConfigurationError(
            f"Standard {'input' if sys.stdin is None else 'output'} is closed, so no client can be served over stdio.",
            next_step="Start it from an MCP client, or serve over HTTP with --http.",
        )
    source, sink = os.dup(0), os.dup(1)
    nowhere = os.open(os.devnull, os.O_RDWR)
    os.dup2(nowhere, 0)
    os.dup2(nowhere if sys.stderr is None else 2, 1)
    os.close(nowhere)
    return source, sink


class _Reader:
    """Reads messages in a thread; each is accepted before the next is read."""

    def __init__(
        self,
        source: int,
        inbox: MemoryObjectSendStream[SessionMessage | Exception],
        writing: MemoryObjectSendStream[SessionMessage],
        loop: asyncio.AbstractEventLoop,
    ) -> None:
        self._source = source
        self._inbox = inbox
        self._writing = writing
        self._loop = loop

    def run(self) -> None:
        """Read until the client closes its end, or the server closes the session."""
        lines = LineSplitter()
        with contextlib.suppress(anyio.ClosedResourceError, anyio.BrokenResourceError, _LoopClosedError):
            try:
                while chunk := os.read(self._source, _CHUNK):
                    for line, dropped in lines.feed(chunk):
                        self._take(line, dropped)
            except OSError as error:
                _log.info("the client cannot be read: %s", error)
            for line, dropped in lines.rest():
                self._take(line, dropped)
            self._run_in_loop(self._end())

    def _take(self, line: bytes, dropped: int) -> None:
        match message_of(line, dropped):
            case SessionMessage() as message:
                self._run_in_loop(self._inbox.send(message))
            case JSONRPCError() as refusal:
                _log.info("a message of the client is refused: %s", refusal.error.message)
                self._run_in_loop(self._writing.send(SessionMessage(refusal)))

    async def _end(self) -> None:
        self._inbox.close()

    def _run_in_loop(self, work: Coroutine[Any, Any, None]) -> None:
        try:
            future = asyncio.run_coroutine_threadsafe(work, self._loop)
        except RuntimeError:
            work.close()
            raise _LoopClosedError from None
        try:
            future.result()
        except concurrent.futures.CancelledError:
            # The loop cancels what is left at its end.
            raise _LoopClosedError from None


class _LoopClosedError(Exception):
    """The event loop of the server is closed, or about to be."""


class _Writer:
    """Writes bytes in a thread, because a client that does not read would block the event loop."""

    def __init__(self, sink: int) -> None:
        self._sink = sink
        self._loop = asyncio.get_running_loop()
        self._waiting: queue.SimpleQueue[tuple[bytes, asyncio.Future[None]]] = queue.SimpleQueue()
        threading.Thread(target=self._run, name="stdout", daemon=True).start()

    async def write(self, data: bytes) -> None:
        """Write bytes, and return when all are written.

        Raises:
            OSError: The client closed its end.
        """
        written = self._loop.create_future()
        self._waiting.put((data, written))
        await written

    def _run(self) -> None:
        while True:
            data, written = self._waiting.get()
            failure: OSError | None = None
            try:
                while data:
                    data = data[os.write(self._sink, data) :]
            except OSError as error:
                failure = error
            try:
                self._loop.call_soon_threadsafe(_settle, written, failure)
            except RuntimeError:  # the event loop is closed
                return


def _settle(written: asyncio.Future[None], failure: OSError | None) -> None:
    if written.done():
        return
    if failure is None:
        written.set_result(None)
    else:
        written.set_exception(failure)


async def _send_all(
    outbox: MemoryObjectReceiveStream[SessionMessage],
    writer: _Writer,
    inbox: MemoryObjectSendStream[SessionMessage | Exception],
) -> None:
    async with outbox:
        async for message in outbox:
            text = message.message.model_dump_json(by_alias=True, exclude_unset=True)
            try:
                await writer.write(f"{in_json(text)}\n".encode())
            except OSError as error:
                _log.info("the client went away: %s", error.strerror or error)
                inbox.close()
                return
