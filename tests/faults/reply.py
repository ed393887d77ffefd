"""What a server said, in JSON or in lines of TSV, and what a client is made to see instead."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum, auto
from functools import cached_property
from http import HTTPStatus
from typing import Any, Final

from tests.transport.fake_endpoint import JSON, TSV

_INTEGER: Final = "http://www.w3.org/2001/XMLSchema#integer"
_AROUND: Final = {"<": ">", '"': '"'}

Row = Mapping[str, Mapping[str, str]]


def _results_of(body: bytes) -> dict[str, Any] | None:
    """Return lines as JSON of the same rows, so that what cuts one cuts the other too; None where they are none.

    A term has `before` and `behind` it what the engine writes around its value. Its `type` and `datatype` are those of
    JSON for IRIs and whole numbers alone.
    """
    header, *lines, end = body.decode().split("\n")
    if end or not header:
        return None
    names = [name.strip('?"') for name in header.split("\t")]
    rows = [dict(zip(names, line.split("\t"), strict=True)) for line in lines]
    found = [{name: _term(field) for name, field in row.items() if field} for row in rows]
    return {"head": {"vars": names, "line": header}, "results": {"bindings": found}}


def _body_of(results: Mapping[str, Any], rows: Sequence[Row]) -> bytes:
    """Return rows as lines below a head."""
    names = results["head"]["vars"]
    line = results["head"].get("line", "")
    mark = '"{}"' if line.startswith('"') else "?{}"
    lines = ["\t".join(_field(row[name]) if name in row else "" for name in names) for row in rows]
    return "".join(f"{line}\n" for line in ["\t".join(map(mark.format, names)), *lines]).encode()


def _term(field: str) -> dict[str, str]:
    behind = _AROUND.get(field[0], "")
    if behind and field[-1] == behind and (field[0] == "<" or field.startswith('"http')):
        return {"type": "uri", "value": field[1:-1], "before": field[0], "behind": behind}
    number = {"datatype": _INTEGER} if field.isdecimal() else {}
    return {"type": "literal", "value": field, "before": "", "behind": "", **number}


def _field(term: Mapping[str, str]) -> str:
    return f"{term['before']}{term['value']}{term['behind']}"


@dataclass(frozen=True)
class Answer:
    """A whole HTTP answer.

    Attributes:
        body: Its body.
        status: Its status.
        headers: Its headers, without those that frame the body.
    """

    body: bytes = b""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=lambda: {"Content-Type": JSON})

    @property
    def is_tsv(self) -> bool:
        """Whether this is an answer in TSV."""
        return self.headers.get("Content-Type", "").startswith(TSV)

    @cached_property
    def results(self) -> dict[str, Any] | None:
        """The SPARQL JSON object, or what is the same in TSV; None where this is no whole answer."""
        if self.status != HTTPStatus.OK:
            return None
        try:
            if self.is_tsv:
                return _results_of(self.body)
            parsed = json.loads(self.body)
        except ValueError:
            return None
        return parsed if isinstance(parsed, dict) and "results" in parsed else None

    @property
    def rows(self) -> list[dict[str, Any]]:
        """The rows; none where this is no whole answer."""
        return [] if self.results is None else list(self.results["results"]["bindings"])

    def with_rows(self, rows: list[dict[str, Any]], **further: object) -> "Answer":
        """Return the answer with other rows, and with further keys beside them."""
        written = {**(self.results or {}), "results": {"bindings": rows}, **further}
        if self.is_tsv:
            return Answer(_body_of(written, rows), self.status, self.headers)
        return Answer(_json(written), self.status, self.headers)

    def with_headers(self, **headers: str) -> "Answer":
        """Return the answer with further headers; an underscore in a name stands for a hyphen."""
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return Answer(self.body, self.status, {**self.headers, **named})

    def begun(self, count: int) -> bytes:
        """Return the body as far as the end of so many rows, without what would close it.

        Lines are closed by nothing: these have their line end, with which they look most like a whole answer.
        """
        if self.is_tsv:
            return _body_of(self.results or {}, self.rows[:count])
        head = _json({key: value for key, value in (self.results or {}).items() if key != "results"})
        rows = b",".join(map(_json, self.rows[:count]))
        return head[:-1] + b',"results":{"bindings":[' + rows


class Ending(Enum):
    """What happens to a connection after the last byte."""

    CLOSED = auto()
    RESET = auto()
    STALLED = auto()
    REFUSED = auto()
    """It is closed, and so is the port: whoever comes again is refused."""


@dataclass(frozen=True)
class Wire:
    """What is written to a connection as it is, and how the connection ends.

    Attributes:
        data: The bytes, with the head of an HTTP answer or without.
        ending: What comes after them.
    """

    data: bytes
    ending: Ending


Reply = Answer | Wire


def on_the_wire(answer: Answer, body: bytes, framing: str, ending: Ending) -> Wire:
    """Return the head of an answer with another framing, and the bytes that follow it."""
    lines = [f"HTTP/1.1 {answer.status} {HTTPStatus(answer.status).phrase}"]
    lines += [f"{name}: {value}" for name, value in answer.headers.items()]
    return Wire("\r\n".join([*lines, framing, "", ""]).encode() + body, ending)


def _json(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()
