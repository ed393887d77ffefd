"""SPARQL TSV as the JSON of the same rows, so that what cuts one cuts the other too."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

_INTEGER: Final = "http://www.w3.org/2001/XMLSchema#integer"
_AROUND: Final = {"<": ">", '"': '"'}

Row = Mapping[str, Mapping[str, str]]


def results_of(body: bytes) -> dict[str, Any] | None:
    """Return the head and the rows of lines; None where they are none.

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


def body_of(results: Mapping[str, Any], rows: Sequence[Row]) -> bytes:
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
