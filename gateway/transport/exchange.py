"""The body of a response within bounds, and the faults of a network."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import logging
import zlib
from http import HTTPStatus
from typing import Self

import aiohttp

from gateway.errors import ENDPOINT, AnswerCut, BrokenAnswer, EndpointFault, Fault, NetworkFault, as_beginning
from gateway.graph.call import deadline_passed
from gateway.settings.endpoint import distrusted
from gateway.transport.response_verdict import LATER, check_url

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


async def whole_body(response: aiohttp.ClientResponse, max_bytes: int, server: str = ENDPOINT) -> bytes:
    """Return the body of an answer, unpacked; errors call the server so.

    Raises:
        BrokenAnswer: It broke off, or is damaged.
        AnswerCut: It is larger than allowed.
        EndpointFault: It is packed in a way that was not asked for, or far more densely than an answer is.
    """
    body = (_Gunzipped if _is_zipped(response, server) else _Plain)(max_bytes, server)
    if not await _all_read(response, body):
        raise body.broken_off()
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

    def __init__(self, max_bytes: int, server: str) -> None:
        self._max_bytes = max_bytes
        self._server = server
        self._bytes = bytearray()

    def add(self, chunk: bytes) -> None:
        self._keep(chunk)

    def whole(self) -> bytes:
        return bytes(self._bytes)

    def broken_off(self) -> BrokenAnswer:
        return BrokenAnswer(f"{as_beginning(self._server)} broke off in the middle of an answer.", next_step=LATER)

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

    def __init__(self, max_bytes: int, server: str) -> None:
        super().__init__(max_bytes, server)
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
            raise BrokenAnswer(f"{as_beginning(self._server)} sent a damaged gzip body.", next_step=LATER) from error

    def _check_density(self) -> None:
        if len(self._bytes) > max(_MANY_BYTES, _DENSE * self._packed):
            raise EndpointFault(
                f"{as_beginning(self._server)} sent a small body that unpacks to far more than an answer.",
                next_step=check_url(self._server),
            )

    def whole(self) -> bytes:
        if not self._member.eof:
            raise self.broken_off()
        return super().whole()


def _is_zipped(response: aiohttp.ClientResponse, server: str) -> bool:
    encoding = response.headers.get("Content-Encoding", "identity").strip().lower()
    if encoding not in {"identity", "gzip", "x-gzip"}:
        raise EndpointFault(
            f"{as_beginning(server)} packed its answer in a way that it was not asked for.", next_step=check_url(server)
        )
    return encoding != "identity"


_log = logging.getLogger(__name__)

RAISED = (aiohttp.ClientError, OSError)
"""All that a request may raise; the deadline's `TimeoutError` is one of these."""

_PROXY = "The operator of this gateway should check its proxy settings."


class CaughtFault:
    """Catches what a request raises in a block, as the fault that is then raised after the block.

    Not in the block: an error of aiohttp holds the request's headers, which are secret, and would hang on the fault as
    its context.

    Args:
        server: What the fault calls the server.
        url: Its URL, for the log alone.
    """

    def __init__(self, server: str = ENDPOINT, url: str = "") -> None:
        self._server = server
        self._url = url
        self._fault: Fault | None = None

    @property
    def fault(self) -> Fault:
        """The fault; there is one where the block has not returned."""
        assert self._fault is not None  # noqa: S101 - a block that neither returns nor raises is a bug
        return self._fault

    def __enter__(self) -> Self:
        """Begin the block."""
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: object) -> bool:
        """Catch what is no fault yet."""
        if isinstance(error, aiohttp.ConnectionTimeoutError):
            self._fault = fault_of(error, self._server)
        elif isinstance(error, TimeoutError):
            self._fault = deadline_passed()
        elif isinstance(error, RAISED):
            self._fault = fault_of(error, self._server)
            _log.warning("no answer from %s: %s", f"{self._server} {self._url}".rstrip(), self._fault.wrong)
        return self._fault is not None


def fault_of(error: BaseException, server: str = ENDPOINT) -> Fault:
    """Return the fault that an error of aiohttp or of a socket means; it calls the server so."""
    fault: Fault
    match error:
        case aiohttp.ClientProxyConnectionError():
            fault = NetworkFault("The proxy could not be reached.", next_step=_PROXY)
        case aiohttp.ClientHttpProxyError():
            fault = _proxy_refused(error.status, server)
        case aiohttp.ClientConnectorCertificateError():
            fault = distrusted(server)
        case aiohttp.ClientSSLError():
            fault = EndpointFault(f"No secure connection to {server} could be made.", next_step=check_url(server))
        case aiohttp.ClientResponseError():
            fault = EndpointFault(f"{as_beginning(server)}'s answer is no valid HTTP.", next_step=LATER)
        case aiohttp.InvalidURL():
            fault = EndpointFault(f"What is configured for {server} is no valid URL.", next_step=check_url(server))
        case _:
            fault = _unreachable(error, server)
    return fault


def _proxy_refused(status: int, server: str) -> Fault:
    if status == HTTPStatus.PROXY_AUTHENTICATION_REQUIRED:
        return EndpointFault(f"The proxy before {server} asks for credentials.", next_step=_PROXY)
    if status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        return NetworkFault(f"The proxy could not reach {server}.", next_step=check_url(server))
    return EndpointFault(f"The proxy before {server} refuses to connect to it.", next_step=_PROXY)


def _unreachable(error: BaseException, server: str) -> Fault:
    """Return why there was no answer; no address is in it, because a model reads it."""
    why = ""
    if isinstance(error, aiohttp.ClientConnectorDNSError):
        why = "its host name is unknown"
    elif isinstance(error, OSError) and error.errno == errno.ECONNREFUSED:
        why = "the connection was refused"
    elif isinstance(error, OSError) and error.errno in {errno.ENETUNREACH, errno.EHOSTUNREACH}:
        why = "its network is unreachable"
    elif isinstance(error, TimeoutError):
        why = "no connection was made in time"
    elif isinstance(error, aiohttp.ServerDisconnectedError | ConnectionResetError | aiohttp.ClientPayloadError):
        why = "it closed the connection without an answer"
    reason = why and f": {why}"
    return NetworkFault(f"{as_beginning(server)} could not be reached{reason}.", next_step=check_url(server))
