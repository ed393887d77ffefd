"""Splits bytes into lines of a limited length, and decodes the JSON-RPC message of a line."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from mcp.shared.message import SessionMessage
from mcp_types import INVALID_REQUEST, PARSE_ERROR, ErrorData, JSONRPCError, JSONRPCMessage, jsonrpc_message_adapter
from pydantic import ValidationError

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
