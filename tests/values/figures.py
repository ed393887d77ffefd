"""The right groups and figures over a set, by exact fractions, and whether an answer has them."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from itertools import zip_longest
from typing import Any, Final, TypeAlias

from tests.harness.report import Judgement, Verdict
from tests.values.comparing import Kind, Number, fold, is_nan, kind_of, number_of, period_of, text_of
from tests.values.judge import Expand, Json, forms_of_end, forms_of_item, is_one
from tests.values.oracle import Arguments, Key, are_tied, value_key
from tests.values.terms import XSD, End, Literal, is_content
from tests.values.walks import Graph

_DOUBLES: Final = {XSD + "double", XSD + "float"}


@dataclass(frozen=True)
class Sum:
    """A sum or an average: exact, or what is next to it among the doubles; None where there is none."""

    exact: Number | None
    is_rounded: bool = False


Value: TypeAlias = int | Sum | frozenset[End]
"""A count, a sum, or all ends that are the smallest or the largest; an empty set where there is none."""


@dataclass(frozen=True)
class Group:
    """A group: its ends, which have the same value, its figures, and what it is ordered by."""

    ends: frozenset[End]
    figures: tuple[Value, ...]
    key: Key | None


def groups_of(graph: Graph, members: Iterable[str], question: Arguments) -> list[Group]:
    """Return the groups of some members in their order; one where they are all together."""
    compute = question.get("compute") or ["count"]
    inside: dict[Any, list[str]] = defaultdict(list)
    ends: dict[Any, set[End]] = defaultdict(set)
    for node in members:
        every = _group_ends(graph, node, question.get("group_by"))
        found = {end for end in every if not is_content(end)}
        if every and not found:
            # An expression is no value, and not the lack of one.
            continue
        for same in {_same(end) for end in found} or {None}:
            inside[same].append(node)
        for end in found:
            ends[_same(end)].add(end)
    if "group_by" not in question:
        inside = {None: list(members)}
    groups = []
    for same, nodes in inside.items():
        figures = tuple(_figure(graph, nodes, text) for text in compute)
        groups.append(Group(frozenset(ends[same]), figures, _key(graph, ends[same], figures, question, compute)))
    descending = question.get("sort_by", "-").startswith("-")
    ordered: list[Group] = []
    for kind in Kind:
        of_kind = [(group.key[1], place) for place, group in enumerate(groups) if group.key and group.key[0] is kind]
        of_kind.sort(key=lambda pair: pair[0], reverse=descending)
        ordered += [groups[place] for _, place in of_kind]
    return ordered + [group for group in groups if group.key is None]


def _group_ends(graph: Graph, node: str, by: str | None) -> set[End]:
    if by is None:
        return set()
    return set(graph.types.get(node, ())) if by == "type" else graph.ends(node, graph.walk(by))


def _same(end: End) -> Any:
    """Return what an end has in common with those of the same value."""
    if isinstance(end, str):
        return "node", end
    if kind_of(end) is Kind.NUMBER and not is_nan(end):
        return "number", number_of(end)
    if (period := period_of(end)) is not None:
        return "date", period.start, period.end
    if end.datatype == XSD + "boolean":
        return "boolean", fold(text_of(end) or "")
    return "text", end


def _key(
    graph: Graph, ends: Iterable[End], figures: Sequence[Value], question: Arguments, compute: Sequence[str]
) -> Key | None:
    """Return what a group is ordered by: its own value, or a figure."""
    by = question.get("sort_by", "").removeprefix("-") or compute[0]
    if by == question.get("group_by"):
        if any(str(end).startswith("(") for end in ends):
            # The type of blank nodes without one has an ID of this gateway's own, a URN.
            return Kind.NODE, ("urn:", "urn:")
        return min((key for end in ends if (key := value_key(graph, end)) is not None), default=None)
    figure = figures[list(compute).index(by)]
    match figure:
        case int():
            return Kind.NUMBER, Fraction(figure)
        case Sum():
            return None if figure.exact is None else (Kind.NUMBER, figure.exact)
        case _:
            return min((key for end in figure if (key := value_key(graph, end)) is not None), default=None)


def _rounded(exact: Number) -> Number:
    try:
        near = float(exact)
    except OverflowError:
        return float("inf") if exact > 0 else float("-inf")
    return near if near in {float("inf"), float("-inf")} else Fraction(near)


def _figure(graph: Graph, nodes: Iterable[str], text: str) -> Value:
    if text == "count":
        return len(list(nodes))
    kind, _, by = text.partition(" ")
    walk = graph.walk(by)
    every: Counter[End] = sum((graph.ways(node, walk) for node in nodes), Counter[End]())
    every = Counter({end: ways for end, ways in every.items() if not is_content(end)})
    match kind:
        case "distinct":
            return len({_same(end) for end in every})
        case "min" | "max":
            keys = {end: key for end in every if (key := value_key(graph, end)) is not None}
            if not keys:
                return frozenset()
            first = min(key[0] for key in keys.values())
            of_kind = [key for key in keys.values() if key[0] is first]
            extreme = max(of_kind) if kind == "max" else min(of_kind)
            return frozenset(end for end, key in keys.items() if key == extreme)
        case _:
            return _sum(every, is_average=kind == "avg")


def _sum(every: Counter[End], *, is_average: bool) -> Sum:
    numbers = [
        (number, ways, end.datatype)
        for end, ways in every.items()
        if isinstance(end, Literal) and not is_nan(end) and (number := number_of(end)) is not None
    ]
    count = sum(ways for _, ways, _ in numbers)
    if is_average and not count:
        return Sum(None)
    infinite = {number for number, _, _ in numbers if isinstance(number, float)}
    if infinite:
        return Sum(infinite.pop() if len(infinite) == 1 else None)
    total = sum((Fraction(number) * ways for number, ways, _ in numbers), Fraction(0))
    return Sum(total / count if is_average else total, any(datatype in _DOUBLES for _, _, datatype in numbers))


def judge_groups(
    question: Arguments, expected: Sequence[Group], found: int, pages: Sequence[Json], expand: Expand
) -> Judgement:
    """Compare the groups or figures of an answer with the right ones.

    Args:
        question: What was asked.
        expected: The groups, in order.
        found: How many members there are.
        pages: All pages, or the first if the question has a limit.
        expand: Returns the whole IRI of an ID.
    """
    rows = _rows(pages)
    if not all(page["complete"] for page in pages):
        # A figure over a set that lacks something is never shown.
        return (
            (Verdict.UNTRUE, "figures of an answer that is not complete") if rows is not None else (Verdict.MARKED, "")
        )
    if rows is None:
        return Verdict.WRONG, "complete without figures"
    wrong = [f"found {page['found']}, not {found}" for page in pages if page.get("found") != found]
    limit = question.get("limit", len(expected)) if "group_by" in question else 1
    if len(rows) != min(limit, len(expected)):
        wrong.append(f"{len(rows)} groups, not {min(limit, len(expected))}")
    if "group_by" in question and pages[0].get("group_count") != len(expected):
        wrong.append(f"group_count {pages[0].get('group_count')}, not {len(expected)}")
    matched = _matched(rows, expected, expand)
    if None in matched:
        row = rows[matched.index(None)]
        wrong.append(f"no group is {row}, of {[_shown(one) for one in expected][:8]}")
    elif not wrong:
        keys = [expected[place].key for place in matched if place is not None]
        if any(not _is_same_place(key, group.key) for key, group in zip(keys, expected, strict=False)):
            wrong.append(f"another order: {rows[:6]}")
        tied, last = 0, keys[-1] if keys else None
        if "limit" in question and last is not None and "group_by" in question:
            tied = sum(are_tied(group.key, last) for group in expected[limit:])
        if "limit" in question and pages[-1].get("tied", 0) != tied:
            wrong.append(f"tied {pages[-1].get('tied', 0)}, not {tied}")
    return (Verdict.WRONG, "; ".join(wrong)) if wrong else (Verdict.RIGHT, "")


def _rows(pages: Sequence[Json]) -> list[Sequence[Any]] | None:
    """Return the rows of groups, or one row of figures without a group before them; None where there are none."""
    if "computed" in pages[0]:
        return [[None, *pages[0]["computed"].values()]]
    return [row for page in pages for row in page["groups"]] if "groups" in pages[0] else None


def _is_same_place(key: Key | None, other: Key | None) -> bool:
    return key is other if key is None or other is None else are_tied(key, other)


def _matched(rows: Sequence[Sequence[Any]], expected: Sequence[Group], expand: Expand) -> list[int | None]:
    """Return for each row the group that it is, each group once; None for a row that is none.

    Two groups may be shown alike, as decimals that are one double: then the row is the one that belongs at its place.
    """
    fits = []
    for row, own in zip_longest(rows, expected[: len(rows)]):
        places = [place for place, group in enumerate(expected) if _is_group(row, group, expand)]
        elsewhere = {place for place in places if own is None or not _is_same_place(expected[place].key, own.key)}
        fits.append(sorted(places, key=elsewhere.__contains__))
    of_group: dict[int, int] = {}

    def placed(row: int, seen: set[int]) -> bool:
        for place in fits[row]:
            if place in seen:
                continue
            seen.add(place)
            if place not in of_group or placed(of_group[place], seen):
                of_group[place] = row
                return True
        return False

    for row in range(len(rows)):
        placed(row, set())
    found: Mapping[int, int] = {row: place for place, row in of_group.items()}
    return [found.get(row) for row in range(len(rows))]


def _is_group(row: Sequence[Any], group: Group, expand: Expand) -> bool:
    key, *cells = row
    if len(cells) != len(group.figures) or not _is_end(key, group.ends, expand):
        return False
    return all(_is_figure(cell, figure, expand) for cell, figure in zip(cells, group.figures, strict=True))


def _is_end(cell: Any, ends: frozenset[End], expand: Expand) -> bool:
    if not ends or cell is None:
        return not ends and cell is None
    if str(cell).startswith("("):
        # The type of blank nodes without one.
        return f"({expand(cell[1:-1])})" in ends
    told = forms_of_item(cell, expand)
    for end in ends:
        if isinstance(end, Literal) and end.language:
            text, _, language = str(cell).rpartition("@")
            if language.lower() == end.language.lower() and is_one({("text", text)}, {("text", end.text)}):
                return True
        elif is_one(told, forms_of_end(end)):
            return True
    return False


def _is_figure(cell: Any, figure: Value, expand: Expand) -> bool:
    match figure:
        case int():
            return bool(cell == figure)
        case Sum(exact=None):
            return cell is None
        case Sum():
            return _is_number(cell, figure)
        case _:
            return _is_end(cell, figure, expand)


def _is_number(cell: Any, figure: Sum) -> bool:
    if figure.exact is None or cell is None or isinstance(cell, bool):
        return False
    if isinstance(cell, str):
        try:
            told = Fraction(Decimal(cell))
        except (InvalidOperation, OverflowError, ValueError):
            return cell in {"INF", "-INF"} and float(cell) == figure.exact
        # What is beyond the doubles has as many digits as they have.
        is_near = isinstance(figure.exact, Fraction) and abs(told - figure.exact) <= abs(figure.exact) / 10**16
        return is_near if abs(told) > 10**300 else told in {figure.exact, _rounded(figure.exact)}
    if isinstance(cell, int) and not figure.is_rounded and isinstance(figure.exact, Fraction):
        return figure.exact == cell
    return Fraction(cell) == _rounded(figure.exact) if cell not in {float("inf"), float("-inf")} else False


def _shown(group: Group) -> str:
    ends = [end if isinstance(end, str) else end.text for end in group.ends]
    return f"{ends[:2]}: {[one if not isinstance(one, Sum) else one.exact for one in group.figures]}"
