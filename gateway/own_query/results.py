"""The answer to a query, as the formats of the W3C write it."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any, Final

import msgspec
import pyoxigraph

from gateway.errors import ConfigurationError
from gateway.escaping import json_text, printable, visible, without_formula
from gateway.own_query.process import Head, Row
from gateway.sparql.table import BlankTerm, IriTerm, LiteralTerm, Term, TripleTerm

OF_ROWS: Final = ("csv", "tsv", "json")
OF_GRAPHS: Final = ("turtle", "ntriples")

_ESCAPES = str.maketrans({"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t"})
_PARTS = ("subject", "predicate", "object")
_XSD = "http://www.w3.org/2001/XMLSchema#"
_DOUBLE = f"{_XSD}double"
_NUMBERS = {
    f"{_XSD}integer": re.compile(r"[+-]?[0-9]+"),
    f"{_XSD}decimal": re.compile(r"[+-]?[0-9]*\.[0-9]+"),
    _DOUBLE: re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?"),
}
"""How Turtle writes numbers of a type in short (Turtle 1.1, 6.5), and doubles without an exponent, as engines do."""
_term = msgspec.json.Decoder(Term)


def check_format(wanted: str, kind: str) -> None:
    """Refuse a format in which the answer to a kind of query is not written.

    Raises:
        ConfigurationError: It is not.
    """
    valid = OF_GRAPHS if kind in {"construct", "describe"} else OF_ROWS
    if wanted not in valid:
        raise ConfigurationError(
            f"The answer to {kind.upper()} is not written as {wanted}.", valid=f"Formats are {', '.join(valid)}."
        )


class Labels:
    """Labels of the blank nodes of one answer, in the place of those that the engine has."""

    def __init__(self) -> None:
        self._of: dict[str, str] = {}

    def of(self, label: str) -> str:
        """Return the label of a blank node."""
        return self._of.setdefault(label, f"b{len(self._of)}")


def as_text(term: Term, labels: Labels) -> str:
    """Return a term as Turtle and SPARQL write it, with hidden characters as escapes."""
    match term:
        case IriTerm():
            return printable(f"<{term.value}>")
        case BlankTerm():
            return f"_:{labels.of(term.value)}"
        case LiteralTerm():
            text = printable(f'"{term.value.translate(_ESCAPES)}"')
            if term.language:
                return f"{text}@{printable(term.language)}"
            return f"{text}^^<{printable(term.datatype)}>" if term.datatype else text
        case TripleTerm():
            return f"<<( {' '.join(as_text(part, labels) for part in _parts(term))} )>>"


def _in_tsv(term: Term, labels: Labels) -> str:
    """Return a term as Turtle writes it, numbers in short, so that `sort -n` and the like read them."""
    if isinstance(term, LiteralTerm) and (number := _NUMBERS.get(term.datatype or "")) and number.fullmatch(term.value):
        # Without an exponent it would be an integer, or a decimal.
        is_short = term.datatype == _DOUBLE and "e" not in term.value.lower()
        return f"{term.value}e0" if is_short else term.value
    return as_text(term, labels)


def _parts(triple: TripleTerm) -> Iterator[Term]:
    parts = json.loads(bytes(triple.value))
    for name in _PARTS:
        yield _term.decode(json.dumps(parts[name]))


def written(
    head: Head, rows: Iterable[Iterable[Row]], wanted: str, prefixes: Mapping[str, str], **how: bool
) -> Iterator[str]:
    """Yield an answer in a format, in pieces.

    Args:
        head: How it begins.
        rows: Its rows.
        wanted: One of `OF_ROWS` or `OF_GRAPHS`.
        prefixes: Namespaces by prefix, for Turtle.
        **how: What `_csv` takes.
    """
    if head.kind == "ask":
        yield f'{{"head":{{}},"boolean":{_boolean(head)}}}\n' if wanted == "json" else f"{_boolean(head)}\n"
        return
    labels = Labels()
    each = chain.from_iterable(rows)
    match wanted:
        case "csv":
            yield from _csv(head.variables, each, labels, **how)
        case "tsv":
            yield "\t".join(f"?{name}" for name in head.variables) + "\n"
            for row in each:
                yield "\t".join("" if term is None else _in_tsv(term, labels) for term in row) + "\n"
        case "json":
            yield from _json(head.variables, each, labels)
        case "ntriples":
            for row in each:
                yield " ".join(as_text(term, labels) for term in row if term is not None) + " .\n"
        case _:
            yield from _turtle(rows, labels, prefixes)


def _boolean(head: Head) -> str:
    return "true" if head.is_true else "false"


def _csv(
    variables: Sequence[str],
    rows: Iterable[Row],
    labels: Labels,
    *,
    guard_formulas: bool = False,
    is_terminal: bool = False,
) -> Iterator[str]:
    output = io.StringIO()
    # A row of one empty value would be an empty line.
    writer = csv.writer(output, lineterminator="\r\n")
    for row in chain([variables], (["" if term is None else value_of(term, labels) for term in row] for row in rows)):
        values: Iterable[str] = map(visible, row) if is_terminal else row
        values = map(without_formula, values) if guard_formulas else values
        writer.writerow([*values])
        yield output.getvalue()
        output.seek(0)
        output.truncate()


def value_of(term: Term, labels: Labels) -> str:
    """Return the value of a term, without its datatype or language."""
    match term:
        case IriTerm() | LiteralTerm():
            return term.value
        case _:
            return as_text(term, labels)


def _json(variables: Sequence[str], rows: Iterable[Row], labels: Labels) -> Iterator[str]:
    yield f'{{"head":{{"vars":{json_text(list(variables))}}},"results":{{"bindings":['
    before = "\n"
    for row in rows:
        bound = {name: _object(term, labels) for name, term in zip(variables, row, strict=True) if term is not None}
        yield f"{before}{json_text(bound)}"
        before = ",\n"
    yield "\n]}}\n"


def _object(term: Term, labels: Labels) -> dict[str, Any]:
    match term:
        case BlankTerm():
            return {"type": "bnode", "value": labels.of(term.value)}
        case LiteralTerm(value, datatype, language):
            literal = {"type": "literal", "value": value}
            if language:
                tag, _, direction = language.partition("--")
                return {**literal, "xml:lang": tag, **({"its:dir": direction} if direction else {})}
            return {**literal, "datatype": datatype} if datatype else literal
        case TripleTerm():
            parts = zip(_PARTS, _parts(term), strict=True)
            return {"type": "triple", "value": {name: _object(part, labels) for name, part in parts}}
        case _:
            return {"type": "uri", "value": term.value}


def _turtle(rows: Iterable[Iterable[Row]], labels: Labels, prefixes: Mapping[str, str]) -> Iterator[str]:
    """Yield Turtle, of some rows together: what it begins with is there once, because it is the same for all."""
    start = ""
    for some in rows:
        triples = (pyoxigraph.Triple(*(_node(term, labels) for term in row if term is not None)) for row in some)
        content = pyoxigraph.serialize(triples, format=pyoxigraph.RdfFormat.TURTLE, prefixes=dict(prefixes))
        text = (content or b"").decode()
        declared = "".join(line for line in text.splitlines(keepends=True) if line.startswith("@prefix "))
        yield text.removeprefix(start)
        start = declared


def _node(term: Term, labels: Labels) -> Any:
    match term:
        case IriTerm():
            return pyoxigraph.NamedNode(term.value)
        case BlankTerm():
            return pyoxigraph.BlankNode(labels.of(term.value))
        case LiteralTerm(value, datatype, language):
            if language:
                tag, _, direction = language.partition("--")
                if direction:
                    return pyoxigraph.Literal(value, language=tag, direction=pyoxigraph.BaseDirection(direction))
                return pyoxigraph.Literal(value, language=tag)
            return pyoxigraph.Literal(value, datatype=None if datatype is None else pyoxigraph.NamedNode(datatype))
        case TripleTerm():
            return pyoxigraph.Triple(*(_node(part, labels) for part in _parts(term)))
