"""Writes values and shapes as the rows of a page: what stands in the graph is quoted, escaped and cut."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from gateway.answers.page import PageShape, PageShapeRow, PageValuePredicate
from gateway.errors import counted, quoted
from gateway.graph.shapes import (
    KINDS,
    Direction,
    Kind,
    PredicateTally,
    ReadShape,
    TypeShape,
    ValuePredicate,
    ValuePredicates,
    ValueTally,
)
from gateway.schema.view import TypeChooser
from gateway.terms.literals import Literal
from gateway.terms.names import cut
from gateway.terms.prefixes import PrefixMap

_LONGEST = 40
"""Characters of a text that is an example."""

_TYPES = 3
"""Types at the other ends of edges that a row names."""

_SUBCLASSES = 8
"""Subclasses that a shape names."""

_WITH_RANGE: frozenset[Kind] = frozenset({"number", "date"})


class ShapeWriter:
    """Writes values and shapes.

    Args:
        chooser: Chooses the type that a node shows.
        prefixes: Shortens IRIs.
    """

    def __init__(self, chooser: TypeChooser, prefixes: PrefixMap) -> None:
        self._chooser = chooser
        self._prefixes = prefixes

    def value_predicate(self, one: ValuePredicate, found: ValuePredicates) -> PageValuePredicate:
        """Return a predicate of literals as a row."""
        return PageValuePredicate(
            self._prefixes.shorten(one.iri),
            one.nodes,
            found.counted,
            ", ".join(_kinds(one.tally.kinds)),
            [*_texts(one.tally, is_sample=not one.is_whole)],
        )

    def shape(self, read: ReadShape) -> PageShape:
        """Return the shape of a type as rows."""
        shape = read.shape
        rows = [self._row(direction, tally, read) for direction, tally in shape.in_order()]
        subclasses = self._prefixes.listed(shape.subclasses, _SUBCLASSES)
        return PageShape(self._prefixes.shorten(shape.iri), _read(shape), subclasses, rows, len(rows))

    def _row(self, direction: Direction, tally: PredicateTally, read: ReadShape) -> PageShapeRow:
        predicate, is_incoming = direction
        ends, example = self._ends(tally, read), [*self._example(tally, read)]
        kinds = [*_kinds(tally.values.kinds), *ends]
        kinds += ["IRI"] if tally.iris else []
        kinds += ["blank node"] if tally.blank else []
        return PageShapeRow(
            self._prefixes.shorten(predicate),
            is_incoming,
            _share(tally.having, read.shape, is_incoming=is_incoming),
            tally.has_several,
            ", ".join(kinds),
            [*_texts(tally.values, is_sample=False), *example],
            [*ends, *(text.partition(" ")[0] for text in example)],
        )

    def _ends(self, tally: PredicateTally, read: ReadShape) -> list[str]:
        """Return the types at the other ends, the most frequent first, and whether there may be others."""
        seen = [read.facts[node] for node in tally.ends if node in read.facts]
        counts = Counter(map(self._chooser.shown, seen))
        types = sorted(counts, key=lambda text: (-counts[text], text))
        has_more = len(types) > _TYPES or len(seen) < len(tally.ends)
        return [*types[:_TYPES], *(["…"] if has_more else [])]

    def _example(self, tally: PredicateTally, read: ReadShape) -> Iterator[str]:
        if not tally.ends:
            return
        node = min(tally.ends)
        fact = read.facts.get(node)
        name = f" {quoted(cut(fact.name, _LONGEST))}" if fact is not None and fact.name else ""
        yield f"{self._prefixes.shorten(node)}{name}"


def _kinds(kinds: Counter[Kind]) -> list[str]:
    return [kind for kind in KINDS if kinds[kind]]


def _texts(tally: ValueTally, *, is_sample: bool) -> Iterator[str]:
    """Return the range of numbers and of dates, and two texts."""
    for kind, (first, last) in ((kind, tally.extremes[kind]) for kind in KINDS if kind in tally.extremes):
        written = list(dict.fromkeys(_written(literal, kind) for literal in (first, last)))
        if kind in _WITH_RANGE:
            yield f"{'sampled: ' * is_sample}{' to '.join(written)}"
        else:
            yield from written


def _written(literal: Literal, kind: Kind) -> str:
    text = cut(str(literal.json), _LONGEST)
    return text if kind in _WITH_RANGE else quoted(text)


def _share(having: int, shape: TypeShape, *, is_incoming: bool) -> str:
    """Return the share of the instances that have a predicate; at least that where some do not show all edges."""
    share = 100 * having / shape.read
    if having == shape.read:
        return "100%"
    written = f"{min(99, round(share))}%" if share >= 1 else "<1%"
    return f">={written}" if shape.uncut[is_incoming] < shape.read and share >= 1 else written


def _read(shape: TypeShape) -> str:
    if shape.counted:
        return f"counted: all {counted(shape.read, 'instance')}" if shape.read != 1 else "counted: the only instance"
    of = f" of {shape.total:,}" if shape.total is not None else " of more"
    cut_ones = shape.read - min(shape.uncut)
    cut_text = f"; {cut_ones:,} of these with some of their edges only" if cut_ones else ""
    return f"sampled: {shape.read:,}{of} instances{cut_text}"
