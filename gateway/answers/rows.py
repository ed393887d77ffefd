"""Rows of a page: nodes with the values that are asked for (docs/values.md), predicates of values, and shapes of types.

What stands in the graph is quoted, escaped and cut.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from math import inf
from typing import Any

from gateway.answers.page import MemberHeader, PageGroups, PageNode, PageShape, PageShapeRow, PageValuePredicate
from gateway.answers.values import Shortener
from gateway.errors import counted, quoted
from gateway.graph.call import Call
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
from gateway.graph.store import GraphStore
from gateway.graph.values import Iri
from gateway.graph.walks import NAMES, End, Ends, Step, Walk
from gateway.members.figures import Grouped
from gateway.members.ordering import in_one_language, value_key
from gateway.members.reading import Column, MemberQuestion, MemberReader, NodeNames, Places, Show
from gateway.schema.types import TypeChooser
from gateway.schema.view import LONGEST_LABEL
from gateway.settings.limits import SizeSettings
from gateway.terms.literals import JsonScalar, Literal
from gateway.terms.names import cut
from gateway.terms.prefixes import PrefixMap, listed_ids

MOST_GROUPS = 100
"""Groups on a page unless the caller says how many."""

_BLANK = "_:"
"""Stands for a blank node that has no ID."""


def row_columns(question: MemberQuestion) -> tuple[Column, ...]:
    """Return the columns whose cells are read: the name needs none where it stands for the node."""
    columns = question.columns or ()
    return tuple(one for one in columns if one.walk != NAMES or question.show == "id")


def titles(question: MemberQuestion) -> list[str]:
    """Return the titles of the cells behind what stands for a node."""
    return [column.title for column in row_columns(question)]


def fit_groups(header: MemberHeader, found: Grouped, offset: int, is_too_large: Callable[[int | None], bool]) -> None:
    """Leave as many of the first groups of a page as fit, and note how many behind them have the same value.

    Args:
        header: What has the groups.
        found: All groups.
        offset: How many of them stand before this page.
        is_too_large: Takes where the next page begins, and returns whether an answer with it is too large.
    """
    groups = header.groups
    if groups is None:
        return
    while True:
        end = offset + len(groups.rows)
        header.tied = found.tied(end)
        is_last = groups.count is None or end >= groups.count
        if not is_too_large(None if is_last else end) or len(groups.rows) <= 1:
            return
        groups.rows = groups.rows[: max(1, len(groups.rows) * 3 // 4)]


class RowWriter:
    """Writes nodes of one graph as rows."""

    def __init__(self, store: GraphStore, size: SizeSettings, prefixes: PrefixMap) -> None:
        self._reader = MemberReader(store)
        self._size = size
        self._prefixes = prefixes

    async def add_to(
        self, nodes: Sequence[PageNode], question: MemberQuestion, header: MemberHeader, call: Call
    ) -> list[str]:
        """Make nodes rows, note in a header whether every value is shown, and return what a reader should know."""
        columns = row_columns(question)
        iris = [node.iri for node in nodes]
        with call.tally.stage("metadata"):
            walks = [column.walk for column in columns if column.walk != NAMES]
            ends, places = await self._reader.ends_and_places(iris, walks, call)
            targets = [
                end for found in ends.values() for one in found.values() for end in one.ends if isinstance(end, str)
            ]
            has_names = question.show != "id" or len(walks) < len(columns)
            names = await self._reader.names([*iris, *targets], call) if has_names else NodeNames()
        cells = self._cells(names, question, call)
        for node in nodes:
            before, cells.other_languages = cells.left_out, Counter()
            row: list[Any] = [cells.node(node.iri)]
            node.failed = node.failed or node.iri in names.unread
            for column in columns:
                if column.walk == NAMES:
                    row.append(cells.name(node.iri))
                    continue
                one = ends[column.walk][node.iri]
                node.failed = node.failed or not one.mark.whole or not names.unread.keys().isdisjoint(one.ends)
                row.append(cells.cell(one, places[column.walk].get(node.iri, {})))
            node.set_row(row, cells.left_out - before)
            node.ends = {walk: of_nodes[node.iri] for walk, of_nodes in ends.items()}
            node.other_languages = cells.other_languages
        if cells.left_out or any(node.failed for node in nodes):
            header.are_values_complete = False
        return [not_in_pairs(titles) for titles in _not_in_pairs(columns, ends, iris)]

    def _cells(self, names: NodeNames, question: MemberQuestion, call: Call | None) -> _Cells:
        """Return what writes cells: in the languages of a call, or without one those of groups."""
        languages = None if call is not None and call.in_every_language else question.languages
        only = call.language if call is not None and call.in_no_other_language else ""
        return _Cells(self._size, self._prefixes, names.found, question.show, languages, only)

    async def add_groups(
        self, header: MemberHeader, found: Grouped, question: MemberQuestion, offset: int, limit: int, call: Call
    ) -> PageGroups:
        """Add some groups as rows to a header, or the figures over all nodes, and return them."""
        grouping = question.grouping
        if grouping is None:
            raise ValueError("no groups were asked for")
        shown = found.groups[offset : offset + limit] if grouping.by is not None else found.groups
        targets = [end for group in shown for end in (group.end, *group.figures) if isinstance(end, str)]
        names = await self._reader.names(targets, call) if question.show != "id" else NodeNames()
        cells = self._cells(names, question, None)
        figures = [[cells.of_group(end) for end in group.figures] for group in shown]
        columns = [figure.title for figure in grouping.figures]
        if grouping.by is None:
            groups = PageGroups(columns, figures, None)
        else:
            rows = [[cells.of_group(group.end), *row] for group, row in zip(shown, figures, strict=True)]
            groups = PageGroups([grouping.title, *columns], rows, len(found.groups))
        header.groups = groups
        header.other_languages = found.other_languages
        header.are_values_complete = not (cells.left_out or names.unread)
        return groups


def _not_in_pairs(
    columns: Sequence[Column], ends: Mapping[Walk, Mapping[Iri, Ends]], nodes: Sequence[Iri]
) -> Iterator[list[str]]:
    """Yield the titles of columns through the same nodes, of which a row has several values each."""
    through: dict[Step, list[Column]] = {}
    for column in columns:
        if len(column.walk) > 1:
            through.setdefault(column.walk[0], []).append(column)
    for beside in through.values():
        several = (sum(len(ends[column.walk][node].ends) > 1 for column in beside) for node in nodes)
        if any(count > 1 for count in several):
            yield [column.title for column in beside]


class _Cells:
    """Writes values as JSON.

    Args:
        size: How much a cell has.
        prefixes: Shortens IRIs.
        names: The names of nodes.
        show: What stands for a node.
        languages: The languages in which texts are shown, the best first; None for all, each with its tag.
        only: The language outside of which no text is shown; empty for none.

    Attributes:
        left_out: How many values were shortened or left out so far.
        other_languages: How many texts are not shown because others say the same, by language.
    """

    def __init__(
        self,
        size: SizeSettings,
        prefixes: PrefixMap,
        names: Mapping[Iri, str],
        show: Show,
        languages: Sequence[str] | None,
        only: str,
    ) -> None:
        self._size = size
        self._prefixes = prefixes
        self._names = names
        self._show = show
        self._languages = languages
        self._only = only
        self.left_out = 0
        self.other_languages: Counter[str] = Counter()

    def node(self, iri: Iri) -> str:
        """Return what stands for a node."""
        name = self.name(iri)
        if self._show == "name" and name:
            return name
        short = self._prefixes.shorten(iri)
        return f"{short} {name}" if self._show == "both" and name else short

    def name(self, iri: Iri) -> str | None:
        """Return the name of a node; None where it has none."""
        return cut(self._names.get(iri, ""), LONGEST_LABEL) or None

    def cell(self, ends: Ends, places: Places) -> Any:
        """Return one value, a list of several, or None; ends that have a place in a list stand first, in its order."""
        shown = list(ends.ends) if self._languages is None else in_one_language(ends.ends, self._languages, self._only)
        if len(shown) < len(ends.ends):
            written = {end.value for end in shown if isinstance(end, Literal)}
            others = {end for end in ends.ends if isinstance(end, Literal) and end.value not in written}
            self.other_languages.update(end.language for end in others)
        shown.sort(key=lambda end: (places.get(end, inf), *self._place(end)))
        write = self._tagged if self._languages is None else self._value
        values = [write(end) for end in shown[: self._size.cell_values]]
        values += [_BLANK] * (ends.blank > 0)
        self.left_out += max(0, len(shown) - self._size.cell_values)
        return values[0] if len(values) == 1 else values or None

    def of_group(self, end: End | None) -> JsonScalar | None:
        """Return one value of a group, a text with its language; None for none."""
        return None if end is None else self._tagged(end)

    def _tagged(self, end: End) -> JsonScalar:
        value = self._value(end)
        return f"{value}@{end.language}" if isinstance(end, Literal) and end.language else value

    def _value(self, end: End) -> JsonScalar:
        if not isinstance(end, Literal):
            return self.node(end)
        value = end.json
        if not isinstance(value, str):
            return value
        shortener = Shortener(self._size.cell_characters, 1)
        text = shortener(value)
        self.left_out += shortener.shortened
        return text

    def _place(self, end: End) -> tuple[bool, Any, str]:
        key = value_key(end, self._names)
        return (key is None, key or (), end.value if isinstance(end, Literal) else end)


_LONGEST_EXAMPLE = 40
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
        name = f" {quoted(cut(fact.name, _LONGEST_EXAMPLE))}" if fact is not None and fact.name else ""
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
    text = cut(str(literal.json), _LONGEST_EXAMPLE)
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


# --- sentences that a model reads ---


def not_in_pairs(titles: Sequence[str]) -> str:
    """Return a warning: columns through the same nodes are lists of their own."""
    return (
        f"Each cell is sorted by itself, so rows do not say which values of {listed_ids(titles, 5)} belong together. "
        "bfs_query from these nodes, one hop with the first step in only_predicates and the others in values, has a "
        "row for each node between."
    )
