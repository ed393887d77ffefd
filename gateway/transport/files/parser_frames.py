"""The messages between the process that parses a file and the one that started it.

Everything that the parser's process imports is paid for at each file, so the messages are named tuples: `dataclasses`
takes longer to import than a small file takes to parse.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import NamedTuple

HEADER = struct.Struct(">cI")
"""Of a frame: its kind, and the bytes that follow."""

POSITION = struct.Struct(">QQ")
"""The content of a frame of progress: bytes read, and the size of the file."""

TRIPLES, PROGRESS, RESULT, REFUSAL = b"T", b"P", b"R", b"E"

Send = Callable[[bytes, bytes], None]
"""Takes one frame: its kind and its content."""


class Request(NamedTuple):
    """What to parse, and what that may take.

    Attributes:
        suffix: The suffix of the file's format, without that of gzip.
        zipped: Whether it is a gzip file.
        base_iri: What relative IRIs are resolved against.
        memory_megabytes: Memory of this process.
        cpu_seconds: Processor time for each 100 MB, unpacked.
        growth: How many times larger than the file its content and its triples may be.
    """

    suffix: str
    zipped: bool
    base_iri: str
    memory_megabytes: int
    cpu_seconds: int
    growth: int


class Result(NamedTuple):
    """What was parsed.

    Attributes:
        prefixes: What the file declares.
        size: Of the file, in bytes, from before it was read.
        times: When its content and when its state changed, in nanoseconds since the epoch.
        opened_ns: When it was opened, in nanoseconds since the epoch.
        sha256: The hash of what was read, in hexadecimal.
        is_empty: Whether it has no triples.
    """

    prefixes: dict[str, str]
    size: int
    times: tuple[int, int]
    opened_ns: int
    sha256: str
    is_empty: bool


class RefusedError(Exception):
    """The file is refused.

    Args:
        wrong: What is wrong with it.
        place: Its line and column, each after a colon.
        valid: What would be valid.
        next_step: What to do next.
    """

    def __init__(self, wrong: str, *, place: str = "", valid: str = "", next_step: str = "") -> None:
        super().__init__(wrong)
        self.content = {"wrong": wrong, "place": place, "valid": valid, "next_step": next_step}
