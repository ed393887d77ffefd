"""What values and shapes are by the triples, computed without this software."""

import math
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from typing import Final

import pyoxigraph

RDF_TYPE: Final = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"
XSD: Final = "http://www.w3.org/2001/XMLSchema#"
NUMBERS: Final = {
    f"{XSD}{name}" for name in ("integer", "int", "long", "nonNegativeInteger", "decimal", "double", "float")
}
DATES: Final = {f"{XSD}{name}" for name in ("date", "dateTime", "gYear", "gYearMonth")}

Triple = tuple[str, str, str | pyoxigraph.Literal]
"""A triple of IRIs, whose object may be a literal."""


def triples_of(store: Iterable[pyoxigraph.Quad]) -> list[Triple]:
    """Return the triples between IRIs, and from IRIs to literals."""
    found: dict[Triple, None] = {}
    for quad in store:
        if isinstance(quad.subject, pyoxigraph.NamedNode):
            if isinstance(quad.object, pyoxigraph.Literal):
                found[quad.subject.value, quad.predicate.value, quad.object] = None
            elif isinstance(quad.object, pyoxigraph.NamedNode):
                found[quad.subject.value, quad.predicate.value, quad.object.value] = None
    return list(found)


def kind(literal: pyoxigraph.Literal) -> str:
    """Return the kind of a literal."""
    datatype = literal.datatype.value
    if literal.language:
        return "language text"
    if datatype in NUMBERS:
        return "number" if _is_number(literal.value) else "text"
    return "date" if datatype in DATES else "boolean" if datatype == f"{XSD}boolean" else "text"


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return "_" not in text


def nodes_by_value_predicate(triples: Iterable[Triple]) -> dict[str, int]:
    """Return how many nodes have a literal, by predicate."""
    nodes: dict[str, set[str]] = {}
    for subject, predicate, value in triples:
        if isinstance(value, pyoxigraph.Literal):
            nodes.setdefault(predicate, set()).add(subject)
    return {predicate: len(having) for predicate, having in nodes.items()}


def kinds_by_value_predicate(triples: Iterable[Triple]) -> dict[str, set[str]]:
    """Return the kinds of literals by predicate."""
    kinds: dict[str, set[str]] = {}
    for _, predicate, value in triples:
        if isinstance(value, pyoxigraph.Literal):
            kinds.setdefault(predicate, set()).add(kind(value))
    return kinds


def number_range(triples: Iterable[Triple], predicate: str) -> tuple[Decimal, Decimal] | None:
    """Return the smallest and the largest number of a predicate."""
    found = [
        Decimal(value.value)
        for _, of, value in triples
        if of == predicate and isinstance(value, pyoxigraph.Literal) and kind(value) == "number"
    ]
    found = [number for number in found if not math.isnan(number)]
    return (min(found), max(found)) if found else None


class Row:
    """What the instances of a type have by one predicate in one direction."""

    def __init__(self, share: float, has_several: bool, kinds: set[str]) -> None:
        self.share = share
        self.has_several = has_several
        self.kinds = kinds


def shape(triples: Sequence[Triple], classes: Iterable[str]) -> Mapping[str, Row]:
    """Return what instances of some classes have, by predicate; `^` before one whose edges come in."""
    wanted = set(classes)
    types: dict[str, set[str]] = {}
    for subject, predicate, value in triples:
        if predicate == RDF_TYPE and isinstance(value, str):
            types.setdefault(subject, set()).add(value)
    instances = {node for node, of in types.items() if of & wanted}
    having: dict[str, dict[str, int]] = {}
    kinds: dict[str, set[str]] = {}

    def note(node: str, name: str, what: Iterable[str]) -> None:
        counts = having.setdefault(name, {})
        counts[node] = counts.get(node, 0) + 1
        kinds.setdefault(name, set()).update(what)

    for subject, predicate, value in triples:
        if predicate == RDF_TYPE:
            continue
        if subject in instances:
            what = {kind(value)} if isinstance(value, pyoxigraph.Literal) else types.get(value) or {"untyped"}
            note(subject, predicate, what)
        if isinstance(value, str) and value in instances:
            note(value, f"^{predicate}", types.get(subject) or {"untyped"})
    return {
        name: Row(len(counts) / len(instances), max(counts.values()) > 1, kinds[name])
        for name, counts in having.items()
    }
