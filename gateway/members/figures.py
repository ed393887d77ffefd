"""Groups of nodes by where a walk ends, and figures over their values (docs/values.md, "Groups and figures").

Figures are computed exactly from values that were all read, and rounded once where one of them is a double.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Context, Decimal
from fractions import Fraction
from operator import itemgetter
from typing import Final
from typing import Literal as Literal_

from gateway.errors import EndpointFault, counted, quoted
from gateway.graph.values import WHOLE, Iri, Mark
from gateway.graph.walks import NAMES, Aggregated, End, Ends, Totals, Walk
from gateway.members.ordering import (
    Key,
    ReadAs,
    durations_unordered,
    durations_without_order,
    extreme,
    in_kinds,
    is_extreme,
    number_key,
    placed,
    value_of,
    were,
)
from gateway.terms.comparable import Duration, Number, Period, Text, comparable, number_in
from gateway.terms.iri import XSD
from gateway.terms.literals import Literal

FigureKind = Literal_["count", "sum", "avg", "min", "max", "distinct"]
"""Nodes, or of the values of a walk the sum, the average, the smallest, the largest, or how many different ones."""

_INTEGER, _DECIMAL, _DOUBLE = f"{XSD}integer", f"{XSD}decimal", f"{XSD}double"
_INEXACT = frozenset({_DOUBLE, f"{XSD}float"})
_BOOLEAN = f"{XSD}boolean"

_MOST_PLACES = 40
_MOST_DIGITS = 300
"""Digits behind the point, and in all, of a figure that is written exactly."""

_ROUNDED = Context(prec=17)
"""As many digits as a double has, for what is too large for one."""


@dataclass(frozen=True, slots=True)
class Figure:
    """One figure over the nodes of a group.

    Attributes:
        kind: What is computed.
        walk: The walk whose ends it is about; None for `count`.
        title: What is asked for, with the IDs of predicates.
    """

    kind: FigureKind
    walk: Walk | None
    title: str

    @property
    def is_of_ways(self) -> bool:
        """Whether an end counts once for each way that leads to it."""
        return self.kind in {"sum", "avg"}


@dataclass(frozen=True, slots=True)
class Grouping:
    """What is computed over nodes.

    Attributes:
        by: The walk by whose ends nodes are in groups; None where they are all in one.
        title: What the groups are, with the IDs of predicates.
        figures: What is computed over each group.
        place: The figure by which groups are ordered; None for their own value.
        descending: Whether the largest stand first.
    """

    by: Walk | None
    title: str
    figures: tuple[Figure, ...]
    place: int | None = 0
    descending: bool = True

    @property
    def walks(self) -> list[Walk]:
        """All walks whose ends are read."""
        every = [self.by, *(one.walk for one in self.figures)]
        return list(dict.fromkeys(walk for walk in every if walk is not None))


@dataclass(frozen=True, slots=True)
class Group:
    """The nodes that have one end in common.

    Attributes:
        end: The end; None for those without one.
        figures: The figures; None for one that there is none of.
        rank: What groups have in common that have the same place in the order; None for those behind all others.
    """

    end: End | None
    figures: tuple[End | None, ...]
    rank: Hashable = None


@dataclass(frozen=True, slots=True)
class Grouped:
    """Groups in an order.

    Attributes:
        groups: The groups; none where some value could not be read, because each figure might be another one.
        mark: Whether all values were read.
        warnings: What a reader should know about the values.
        is_shown: Whether no node is missing either, as far as is known.
        other_languages: How many texts have no part in them because others say the same, by language.
    """

    groups: tuple[Group, ...] = ()
    mark: Mark = WHOLE
    warnings: list[str] = field(default_factory=list)
    is_shown: bool = True
    other_languages: Mapping[str, int] = field(default_factory=dict)

    def tied(self, until: int) -> int:
        """Return how many groups behind the first so many have the same value as the last of these."""
        if not 0 < until < len(self.groups) or self.groups[until - 1].rank is None:
            return 0
        rank, behind = self.groups[until - 1].rank, self.groups[until:]
        return next((place for place, group in enumerate(behind) if group.rank != rank), len(behind))


def may_be_aggregated(grouping: Grouping) -> bool:
    """Return whether an engine may compute figures itself.

    How many different values there are is for us to say: engines count 1 and 1.0 as two. So is which name a node shows.
    """
    has_names = NAMES in grouping.walks
    return not has_names and len(grouping.by or ()) <= 1 and all(one.kind != "distinct" for one in grouping.figures)


def of_aggregates(
    grouping: Grouping, members: Aggregated, totals: Mapping[Walk, Aggregated], names: Mapping[Iri, str]
) -> Grouped | None:
    """Return groups of what an engine computed; None where these are not the groups that there are.

    Two have the same value, and so are one; or something was computed over a group without members, because the graph
    has changed, or the engine chose another of two equal terms.

    Args:
        grouping: What is computed.
        members: How many nodes there are in each group.
        totals: What was computed over the ends of each walk.
        names: The names of ends that are nodes.
    """
    values = _Values(names)
    ends = {end: None if end is None else values.of(end) for end in members.groups}
    if len({None if one is None else one.same for one in ends.values()}) < len(ends):
        return None
    if any(not one.groups.keys() <= members.groups.keys() for one in totals.values()):
        return None
    found = []
    for end, value in ends.items():
        none = Totals(0)
        computed = [
            _of_totals(one.kind, members.groups[end] if one.walk is None else totals[one.walk].groups.get(end, none))
            for one in grouping.figures
        ]
        found.append(_placed_group(grouping, end, None if value is None else value.key, computed))
    return Grouped(tuple(_in_order(found, grouping)))


def _of_totals(kind: FigureKind, totals: Totals) -> _Computed:
    match kind:
        case "sum":
            return _number(totals.sum)
        case "avg":
            return _number(totals.sum / totals.count) if totals.count else _Computed()
        case "min" | "max":
            end = totals.least if kind == "min" else totals.most
            return _Computed() if end is None else _Computed(end, placed(end, {})[0])
        case _:
            return _number(Fraction(totals.count))


_NO_ENDS: Final = Ends()
WalkEnds = Mapping[Walk, Mapping[Iri, Ends]]


def grouped(
    nodes: Sequence[Iri], grouping: Grouping, ends: WalkEnds, names: Mapping[Iri, str], unnamed: Mapping[Iri, Mark]
) -> Grouped:
    """Return groups of nodes with their figures.

    Args:
        nodes: The nodes.
        grouping: What is computed.
        ends: Where its walks end, by node, with the ways to each end.
        names: The names of ends that are nodes.
        unnamed: Those of them whose names could not be read, with the marks that say why.
    """
    doubt = _doubt(nodes, grouping, ends, unnamed)
    if not doubt.whole:
        return Grouped(mark=doubt)
    values = _Values(names)
    members = _members(nodes, grouping, ends, values)
    of_figures = {one.walk for one in grouping.figures}
    read = {walk: values.of_nodes(nodes, ends[walk]) for walk in grouping.walks if walk in of_figures}
    found = []
    for end, inside in members:
        figures = [_figure(one, inside, read) for one in grouping.figures]
        found.append(_placed_group(grouping, end, None if end is None else values.of(end).key, figures))
    warnings = [warning for one in grouping.figures for warning in _about(one, read)]
    with_content = sum(any(of.get(node, _NO_ENDS).content for of in ends.values()) for node in nodes)
    warnings += [content_left_out(with_content)] if with_content else []
    by_average = durations_without_order(key for _, key, _ in found if key is not None)
    warnings += [durations_unordered(by_average)] if by_average else []
    return Grouped(tuple(_in_order(found, grouping)), WHOLE, list(dict.fromkeys(warnings)))


def _placed_group(
    grouping: Grouping, end: End | None, of_end: Key | None, figures: Sequence[_Computed]
) -> tuple[Key | None, Key | None, Group]:
    """Return a group behind what orders it: its own value, and the value by which groups are sorted."""
    key = of_end if grouping.place is None else figures[grouping.place].key
    rank = None if key is None else value_of(key)
    return of_end, key, Group(end, tuple(one.end for one in figures), rank)


def _doubt(nodes: Sequence[Iri], grouping: Grouping, ends: WalkEnds, unnamed: Mapping[Iri, Mark]) -> Mark:
    """Return why some figure might be another one."""
    ordered = {one.walk for one in grouping.figures if one.kind in {"min", "max"}}
    for walk, by_node in ends.items():
        for node in nodes:
            one = by_node.get(node, _NO_ENDS)
            if not one.mark.whole:
                return one.mark
            if one.blank > one.content:
                return Mark(EndpointFault(_BLANK))
            if unnamed and walk in ordered:
                mark = next((unnamed[end] for end in one.ends if isinstance(end, str) and end in unnamed), WHOLE)
                if not mark.whole:
                    return mark
    return WHOLE


@dataclass(frozen=True, slots=True)
class _Value:
    """An end as figures see it.

    Attributes:
        end: It.
        same: What it has in common with ends of the same value.
        key: What orders it; None where it has no place in an order.
        number: The number that it is, or reads as; None for others.
        read_as: What it was read as, if it is a text that is ordered as something else.
        is_inexact: Whether it is a double or a float.
    """

    end: End
    same: Hashable
    key: Key | None
    number: Fraction | float | None
    read_as: ReadAs
    is_inexact: bool


_OfNode = Sequence[tuple[_Value, int]]
"""The values of a node by one walk, each with the number of ways that lead to it."""


class _Values:
    """Reads ends, each once."""

    def __init__(self, names: Mapping[Iri, str]) -> None:
        self._names = names
        self._known: dict[End, _Value] = {}

    def of(self, end: End) -> _Value:
        """Return an end as figures see it."""
        found = self._known.get(end)
        if found is None:
            found = self._known[end] = self._read(end)
        return found

    def of_nodes(self, nodes: Iterable[Iri], ends: Mapping[Iri, Ends]) -> dict[Iri, _OfNode]:
        """Return the values of each node."""
        return {
            node: [(self.of(end), one.ways.get(end, 1)) for end in one.ends]
            for node in nodes
            for one in (ends.get(node, _NO_ENDS),)
        }

    def _read(self, end: End) -> _Value:
        key, read_as = placed(end, self._names)
        if not isinstance(end, Literal):
            return _Value(end, ("node", end), key, None, None, is_inexact=False)
        number: Fraction | float | None = None
        same: Hashable
        match comparable(end):
            case Number() as read:
                number, same = read.key, ("number", read.key)
            case Period(start, until):
                same = ("date", start, until)
            case Duration(seconds):
                same = ("duration", seconds)
            case Text(text) if end.datatype == _BOOLEAN:
                same = ("boolean", text)
            case _:
                same = ("text", end.value, end.language, end.datatype)
                in_text = number_in(end.value) if read_as == "number" else None
                number = None if in_text is None else in_text.key
        return _Value(end, same, key, number, read_as, is_inexact=end.datatype in _INEXACT)


def _members(
    nodes: Sequence[Iri], grouping: Grouping, ends: WalkEnds, values: _Values
) -> list[tuple[End | None, list[Iri]]]:
    """Return the nodes of each group, with the end that stands for it: the shortest of those of the same value."""
    if grouping.by is None:
        return [(None, list(nodes))]
    inside: dict[Hashable, list[Iri]] = defaultdict(list)
    shown: dict[Hashable, End] = {}
    without: list[Iri] = []
    for node in nodes:
        found = [values.of(end) for end in ends[grouping.by].get(node, _NO_ENDS).ends]
        for one in found:
            shown[one.same] = min(shown.get(one.same, one.end), one.end, key=_length)
        for same in dict.fromkeys(one.same for one in found):
            inside[same].append(node)
        if not found and not ends[grouping.by].get(node, _NO_ENDS).content:
            without.append(node)
    groups: list[tuple[End | None, list[Iri]]] = [(shown[same], members) for same, members in inside.items()]
    return groups + ([(None, without)] if without else [])


def _length(end: End) -> tuple[int, str, str]:
    return (len(end), end, "") if isinstance(end, str) else (len(end.value), end.value, end.datatype)


@dataclass(frozen=True, slots=True)
class _Computed:
    """A figure as it is shown, and what orders it; both None where there is none."""

    end: End | None = None
    key: Key | None = None


def _figure(figure: Figure, nodes: Sequence[Iri], read: Mapping[Walk, Mapping[Iri, _OfNode]]) -> _Computed:
    if figure.walk is None:
        return _number(Fraction(len(nodes)))
    values = [one for node in nodes for one in read[figure.walk][node]]
    match figure.kind:
        case "distinct":
            return _number(Fraction(len({value.same for value, _ in values})))
        case "min" | "max":
            # Of equal ones the shortest is shown.
            by_length = sorted((value for value, _ in values), key=lambda value: _length(value.end), reverse=True)
            ends = {value.key: value.end for value in by_length if value.key is not None}
            if not ends:
                return _Computed()
            key = extreme(list(ends), largest=figure.kind == "max")
            return _Computed(ends[key], key) if is_extreme(key, ends) else _Computed()
        case _:
            return _sum(values, is_average=figure.kind == "avg")


def _sum(values: Sequence[tuple[_Value, int]], *, is_average: bool) -> _Computed:
    """Return the sum of the numbers among some values, or their average, of which there is none of no number."""
    total, count, is_inexact, infinite = Fraction(0), 0, False, set[float]()
    for value, ways in values:
        if value.number is None:
            continue
        count += ways
        is_inexact |= value.is_inexact
        if isinstance(value.number, float):
            infinite.add(value.number)
        else:
            total += value.number * ways
    if infinite:
        # Of both infinities there is no sum.
        return _number(infinite.pop()) if len(infinite) == 1 else _Computed()
    if is_average and not count:
        return _Computed()
    return _number(total / count if is_average else total, is_inexact=is_inexact)


def _number(value: Fraction | float, *, is_inexact: bool = False) -> _Computed:
    key = number_key(value)
    if isinstance(value, float):
        return _Computed(Literal("INF" if value > 0 else "-INF", _DOUBLE), key)
    return _Computed(_rounded(value) if is_inexact else _exact(value), key)


def _rounded(value: Fraction) -> Literal:
    try:
        return Literal(repr(float(value)), _DOUBLE)
    except OverflowError:
        near = _ROUNDED.divide(Decimal(value.numerator), Decimal(value.denominator))
        return Literal(str(near.normalize()))


def _exact(value: Fraction) -> Literal:
    """Return a number as it is; one without an end, or with very many digits, rounded."""
    if abs(value.numerator) >= 10**_MOST_DIGITS:
        return _rounded(value)
    if value.denominator == 1:
        return Literal(str(value.numerator), _INTEGER)
    places, rest = 0, value.denominator
    while rest > 1 and places <= _MOST_PLACES:
        rest = rest // 10 if rest % 10 == 0 else rest // 5 if rest % 5 == 0 else rest // 2 if rest % 2 == 0 else 0
        places += 1
    if rest != 1:
        return _rounded(value)
    digits = str(abs(value.numerator) * 10**places // value.denominator).rjust(places + 1, "0")
    sign = "-" if value < 0 else ""
    return Literal(f"{sign}{digits[:-places]}.{digits[-places:]}", _DECIMAL)


def _in_order(found: Sequence[tuple[Key | None, Key | None, Group]], grouping: Grouping) -> Iterator[Group]:
    """Yield groups by their keys, and those of one by their own values: these are before each, own value first."""
    by_text = sorted(found, key=lambda one: _text_of(one[2].end))
    by_value = in_kinds(by_text, itemgetter(0), descending=False)
    for _, _, group in in_kinds(by_value, itemgetter(1), descending=grouping.descending):
        yield group


def _text_of(end: End | None) -> tuple[bool, str, str, str]:
    if isinstance(end, Literal):
        return (False, end.value, end.datatype, end.language)
    return (end is None, end or "", "", "")


# --- sentences that a model reads ---

_BLANK = "A walk ends at blank nodes, which have no ID here: it cannot be told which are the same, or what lists hold."

NOT_SHOWN = "No group and no figure is shown: each might be another one with what is missing."


def content_left_out(nodes: int) -> str:
    """Return a warning: class expressions say something by a walk that is no value, so it has no part in figures."""
    what = "1 node has" if nodes == 1 else f"{nodes:,} nodes have"
    return f"{what} content of class expressions there, which is no value: it is in no group and in no figure."


def _about(figure: Figure, read: Mapping[Walk, Mapping[Iri, _OfNode]]) -> Iterator[str]:
    """Yield warnings about the values that a figure rests on."""
    if figure.walk is None or figure.kind == "distinct":
        return
    said = Counter[str]()
    for one in read[figure.walk].values():
        for value, _ in one:
            if (value.number if figure.is_of_ways else value.key) is None:
                said["other"] += 1
            elif value.read_as is not None:
                said[value.read_as] += 1
    title = quoted(figure.title)
    for kind in ("number", "duration"):
        if said[kind]:
            texts = counted(said[kind], "text")
            yield f"compute: {texts} that read as a {kind} {were(said[kind])} taken for one in {title}."
    if figure.kind in {"min", "max"} and durations_without_order(_keys(read[figure.walk])):
        yield f"compute: a month and 30 days have no order, so {title} is null where they would decide."
    if said["other"]:
        no_number = "that is no number" if said["other"] == 1 else "that are no numbers"
        what = no_number if figure.is_of_ways else "without a place in an order"
        yield f"compute: {counted(said['other'], 'value')} {what} left out of {title}."


def _keys(read: Mapping[Iri, _OfNode]) -> Iterator[Key]:
    return (value.key for values in read.values() for value, _ in values if value.key is not None)
