"""The bytes of a response: a whole answer, or enough of an error's text to classify it."""

from __future__ import annotations

import asyncio
import contextlib
import zlib

import aiohttp

from gateway.errors import AnswerCut, BrokenAnswer, EndpointFault
from gateway.transport.response_verdict import LATER, OPERATOR

_CHUNK = 1 << 16
"""Bytes read from a connection at once."""

_GZIP_WINDOW = 31
"""What zlib calls a gzip header and trailer around the largest window."""

_PIECE = 1 << 20
"""Bytes unpacked at once."""

_DENSE = 300
_MANY_BYTES = 1 << 22
"""From so many bytes on, an answer is no more than so many times as long as it was packed: 20 is usual, 1,000 is all
that gzip can do."""

_ERROR_BYTES = 1 << 20
"""Of an error's text, more is not read: Blazegraph repeats the whole query before it says what was wrong."""

_HEAD = 1 << 12
_TAIL = 1 << 14
"""Bytes at both ends of an error's text that are used: engines put the reason first or last."""

_ERROR_SECONDS = 2.0
"""An error whose text does not come is still an error."""


async def whole_body(response: aiohttp.ClientResponse, max_bytes: int) -> bytes:
    """Return the body of an answer, unpacked.

    Raises:
        BrokenAnswer: It broke off, or is damaged.
        AnswerCut: It is larger than allowed.
        EndpointFault: It is packed in a way that was not asked for, or far more densely than an answer is.
    """
    body = _Gunzipped(max_bytes) if _is_zipped(response) else _Plain(max_bytes)
    if not await _all_read(response, body):
        raise _broken_off()
    return body.whole()


async def _all_read(response: aiohttp.ClientResponse, body: _Plain) -> bool:
    try:
        async for chunk in response.content.iter_chunked(_CHUNK):
            body.add(chunk)
    except (aiohttp.ClientError, OSError):
        return False
    return True


async def excerpt(response: aiohttp.ClientResponse) -> bytes:
    """Return the first and the last few KB of what was sent instead of an answer; it is for us and for no reader."""
    packed = bytearray()
    with contextlib.suppress(aiohttp.ClientError, OSError, TimeoutError):
        async with asyncio.timeout(_ERROR_SECONDS):
            async for chunk in response.content.iter_chunked(_CHUNK):
                packed += chunk
                if len(packed) >= _ERROR_BYTES:
                    break
    text = _unpacked(bytes(packed))
    return text if len(text) <= _HEAD + _TAIL else text[:_HEAD] + b"\n" + text[-_TAIL:]


def _unpacked(text: bytes) -> bytes:
    try:
        return zlib.decompressobj(_GZIP_WINDOW).decompress(text, _ERROR_BYTES)
    except zlib.error:
        return text


class _Plain:
    """Collects a body as it comes."""

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._bytes = bytearray()

    def add(self, chunk: bytes) -> None:
        self._keep(chunk)

    def whole(self) -> bytes:
        return bytes(self._bytes)

    @property
    def _room(self) -> int:
        """Bytes to take at most: one more than allowed shows that there are too many."""
        return self._max_bytes + 1 - len(self._bytes)

    def _keep(self, chunk: bytes) -> None:
        self._bytes += chunk
        if len(self._bytes) > self._max_bytes:
            raise AnswerCut("One answer is larger than this gateway reads.", next_step=LATER)


class _Gunzipped(_Plain):
    """Collects a gzip body, and never unpacks more than allowed."""

    def __init__(self, max_bytes: int) -> None:
        super().__init__(max_bytes)
        self._member = zlib.decompressobj(_GZIP_WINDOW)
        self._packed = 0

    def add(self, chunk: bytes) -> None:
        self._packed += len(chunk)
        try:
            while chunk:
                if self._member.eof:
                    self._member = zlib.decompressobj(_GZIP_WINDOW)
                self._keep(self._member.decompress(chunk, min(self._room, _PIECE)))
                self._check_density()
                chunk = self._member.unconsumed_tail or self._member.unused_data
        except zlib.error as error:
            raise BrokenAnswer("The endpoint sent a damaged gzip body.", next_step=LATER) from error

    def _check_density(self) -> None:
        if len(self._bytes) > max(_MANY_BYTES, _DENSE * self._packed):
            raise EndpointFault(
                "The endpoint sent a small body that unpacks to far more than an answer.", next_step=OPERATOR
            )

    def whole(self) -> bytes:
        if not self._member.eof:
            raise _broken_off()
        return super().whole()


def _broken_off() -> BrokenAnswer:
    return BrokenAnswer("The endpoint broke off in the middle of an answer.", next_step=LATER)


def _is_zipped(response: aiohttp.ClientResponse) -> bool:
    encoding = response.headers.get("Content-Encoding", "identity").strip().lower()
    if encoding not in {"identity", "gzip", "x-gzip"}:
        raise EndpointFault("The endpoint packed its answer in a way that it was not asked for.", next_step=OPERATOR)
    return encoding != "identity"
