"""Connections and packings that break, and endpoints that keep silent."""

import gzip
from collections.abc import Callable
from typing import Final

from tests.faults.injected import InjectedFault, Spoil
from tests.faults.reply import Answer, Ending, Wire, on_the_wire

_GZIP_TRAILER: Final = 8
"""Bytes of the check sum and the length at the end of a gzip body."""

_NETWORK: Final = 'any server or network; docs/notes/endpoints.md, "Errors after status 200"'
_PROXY: Final = 'any proxy; docs/notes/endpoints.md, "Errors after status 200"'


def _half(answer: Answer) -> bytes:
    return answer.body[: len(answer.body) // 2]


def _chunked(answer: Answer) -> Wire:
    half = _half(answer)
    chunk = f"{len(half):x}\r\n".encode() + half + b"\r\n"
    return on_the_wire(answer, chunk, "Transfer-Encoding: chunked", Ending.CLOSED)


def _short_of_its_length(ending: Ending) -> Callable[[Answer], Wire]:
    return lambda answer: on_the_wire(answer, _half(answer), f"Content-Length: {len(answer.body)}", ending)


def _packed(answer: Answer, packed: bytes) -> Answer:
    return Answer(packed, answer.status, {**answer.headers, "Content-Encoding": "gzip"})


def _gzip_cut(answer: Answer) -> Answer:
    packed = gzip.compress(answer.body)
    return _packed(answer, packed[: len(packed) // 2])


def _gzip_without_its_trailer(answer: Answer) -> Answer:
    return _packed(answer, gzip.compress(answer.body)[:-_GZIP_TRAILER])


def _gzip_with_a_false_sum(answer: Answer) -> Answer | None:
    """Pack an answer that lacks a row, and is whole JSON, under the check sum of the whole one."""
    if not answer.rows:
        return None
    shorter = answer.with_rows(answer.rows[:-1])
    sums = gzip.compress(answer.body)[-_GZIP_TRAILER:]
    return _packed(answer, gzip.compress(shorter.body)[:-_GZIP_TRAILER] + sums)


def _silence(ending: Ending) -> Spoil:
    return lambda _: Wire(b"", ending)


BREAKING: Final = (
    InjectedFault("broken-off-in-chunks", f"{_NETWORK} (QLever, RDF4J)", _chunked),
    InjectedFault("broken-off-short-of-length", _NETWORK, _short_of_its_length(Ending.CLOSED)),
    InjectedFault("reset-in-the-body", f"{_NETWORK} (Blazegraph)", _short_of_its_length(Ending.RESET)),
    InjectedFault("gzip-cut", _PROXY, _gzip_cut),
    InjectedFault("gzip-without-trailer", _PROXY, _gzip_without_its_trailer),
    InjectedFault("gzip-with-false-sum", _PROXY, _gzip_with_a_false_sum),
    InjectedFault("closed-before-an-answer", _NETWORK, _silence(Ending.CLOSED), asks=False),
    InjectedFault("reset-before-an-answer", _NETWORK, _silence(Ending.RESET), asks=False),
    InjectedFault("refused", _NETWORK, _silence(Ending.REFUSED), asks=False),
    InjectedFault("stall-before-the-head", _NETWORK, _silence(Ending.STALLED), asks=False, stalls=True),
    InjectedFault("stall-in-the-body", _NETWORK, _short_of_its_length(Ending.STALLED), stalls=True),
)
