"""What is left out of a file that is not valid, where the operator asked for the rest."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import IO, TYPE_CHECKING, cast

import pyoxigraph

if TYPE_CHECKING:
    from typing_extensions import Buffer

MOST_SHOWN = 10
_LONGEST = 200
"""Characters of what is said about one."""

_BLOCK = 1 << 16


@dataclass(slots=True)
class Skips:
    """Terms, lines and parts of files that are left out.

    Attributes:
        count: How many; the rest of a file counts as one.
        shown: What is said about the first of them.
        within: What stands before that: which file of an archive it is.
    """

    within: str = ""
    count: int = 0
    shown: list[str] = field(default_factory=list)

    def add(self, reason: str, line: int | None = None) -> None:
        """Note one."""
        self.count += 1
        if len(self.shown) < MOST_SHOWN:
            text = reason if len(reason) <= _LONGEST else f"{reason[:_LONGEST]}…"
            self.shown.append(self.within + (text if line is None else f"line {line}: {text}"))

    def add_all(self, count: int, shown: Sequence[str]) -> None:
        """Note those of a file."""
        self.count += count
        self.shown += [self.within + text for text in shown[: MOST_SHOWN - len(self.shown)]]


class Lines(io.RawIOBase):
    """A stream that gives no more than a line at once, so that it is known how far its reader is.

    Attributes:
        number: The number of the line that was given last.
    """

    def __init__(self, stream: IO[bytes]) -> None:
        super().__init__()
        self._stream = stream
        self._is_at_start = True
        self.number = 0

    def readable(self) -> bool:
        """Return True."""
        return True

    def readinto(self, buffer: Buffer, /) -> int:
        """Read a line, or a part of one."""
        view = memoryview(buffer).cast("B")
        part = self._stream.readline(len(view))
        if part:
            self.number += self._is_at_start
            self._is_at_start = part.endswith(b"\n")
        view[: len(part)] = part
        return len(part)


class ValidLines(io.RawIOBase):
    """The valid lines of N-Triples or N-Quads; the others are empty lines."""

    def __init__(self, stream: IO[bytes], form: pyoxigraph.RdfFormat, skips: Skips) -> None:
        super().__init__()
        self._stream = stream
        self._form = form
        self._skips = skips
        self._number = 0
        self._rest = memoryview(b"")

    def readable(self) -> bool:
        """Return True."""
        return True

    def readinto(self, buffer: Buffer, /) -> int:
        """Read some of them."""
        view = memoryview(buffer).cast("B")
        while not self._rest and (lines := self._stream.readlines(_BLOCK)):
            self._rest = memoryview(b"".join(self._checked(lines)))
        part = self._rest[: len(view)]
        self._rest = self._rest[len(part) :]
        view[: len(part)] = part
        return len(part)

    def _checked(self, lines: list[bytes]) -> Iterator[bytes]:
        is_valid = not self._problem(b"".join(lines))
        for line in lines:
            self._number += 1
            problem = "" if is_valid else self._problem(line)
            if problem:
                self._skips.add(problem, self._number)
            yield b"\n" if problem else line

    def _problem(self, lines: bytes) -> str:
        """Return what is wrong with some lines; empty if nothing is."""
        try:
            for _ in pyoxigraph.parse(lines, self._form):
                pass
        except SyntaxError as error:
            # Its place is that in the line.
            return re.sub(r"^Parser error .*?\d: ", "", str(error.msg))
        except MemoryError:
            return "a term in it is longer than 16 MiB"
        return ""


def problem_of(term: object) -> str:
    """Return why a term that was read without being checked is no RDF; empty where it is."""
    try:
        match term:
            case pyoxigraph.NamedNode():
                pyoxigraph.NamedNode(term.value)
            case pyoxigraph.Literal():
                if term.language is not None:
                    pyoxigraph.Literal(term.value, language=term.language)
                else:
                    pyoxigraph.NamedNode(term.datatype.value)
            case pyoxigraph.Triple():
                return next(filter(None, map(problem_of, cast("Iterator[object]", iter(term)))), "")
    except ValueError as error:
        return f"{error} ({str(term)[:_LONGEST]})"
    return ""
