"""Lines of bytes of a bounded length, and the JSON-RPC messages in them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from mcp.shared.message import SessionMessage
from mcp_types import INVALID_REQUEST, PARSE_ERROR, ErrorData, JSONRPCError, JSONRPCMessage, jsonrpc_message_adapter
from pydantic import ValidationError

MOST_BYTES = 1 << 20
"""Of one message of a client. The longest that makes sense, 200 IDs of 1,000 characters, is a fifth of that."""

_EDGE = 2_000
"""Bytes at the beginning and the end of a line that are kept to find the ID of a request."""

_MEMBER = rb'"(?:jsonrpc|method)"\s*:\s*"[^"\\]*"'
_ID = rb'"id"\s*:\s*(-?[0-9]{1,18}|"[^"\\]{0,200}")'
_AT_BEGIN = re.compile(rb"\s*\{\s*(?:" + _MEMBER + rb"\s*,\s*){0,2}" + _ID + rb"\s*[,}]")
_AT_END = re.compile(_ID + rb"(?:\s*,\s*" + _MEMBER + rb"){0,2}\s*\}\s*$")
"""Only members of the message itself stand so: what is inside of it ends in two braces at least."""


class Lines:
    """Cuts bytes into lines, of which no more than `most` bytes are kept.

    Args:
        most: Bytes of a line; of a longer one only the beginning and the end are returned.
    """

    def __init__(self, most: int = MOST_BYTES) -> None:
        self._most = most
        self._line = bytearray()
        self._dropped = 0

    def fed(self, chunk: bytes) -> Iterator[tuple[bytes, int]]:
        """Return the lines that end in a chunk, each with how many of its bytes were dropped."""
        *ended, rest = chunk.split(b"\n")
        for part in ended:
            self._add(part)
            yield self._taken()
        self._add(rest)

    def rest(self) -> Iterator[tuple[bytes, int]]:
        """Return the last line, where it has no end."""
        if self._line:
            yield self._taken()

    def _add(self, part: bytes) -> None:
        self._line += part
        excess = len(self._line) - (self._most if not self._dropped else 2 * _EDGE)
        if excess > 0:
            kept = self._line[:_EDGE] + self._line[-_EDGE:]
            self._dropped += len(self._line) - len(kept)
            self._line = kept

    def _taken(self) -> tuple[bytes, int]:
        taken = bytes(self._line), self._dropped
        self._line, self._dropped = bytearray(), 0
        return taken


def message_of(line: bytes, dropped: int) -> SessionMessage | JSONRPCError | None:
    """Return the message of a line, the error to answer it with, or None for a blank line.

    Args:
        line: The line.
        dropped: How many bytes of it are missing.
    """
    if not line.strip():
        return None
    if dropped:
        return _refusal(
            line,
            INVALID_REQUEST,
            f"The message has {len(line) + dropped:,} bytes; a message has {MOST_BYTES:,} at most.",
        )
    try:
        message: JSONRPCMessage = jsonrpc_message_adapter.validate_json(line.decode("utf-8", "replace"), by_name=False)
    except ValidationError:
        return _refusal(line, PARSE_ERROR, "The message is no JSON-RPC message.")
    return SessionMessage(message)


def _refusal(line: bytes, code: int, text: str) -> JSONRPCError:
    found = _AT_BEGIN.match(line[:_EDGE]) or _AT_END.search(line[-_EDGE:])
    identifier = json.loads(found[1].decode("utf-8", "replace")) if found else None
    return JSONRPCError(jsonrpc="2.0", id=identifier, error=ErrorData(code=code, message=text))
