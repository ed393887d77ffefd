"""Whether an answer about values, in the compact shape, is right, and whether it says so where it is not whole."""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Final, TypeAlias

from tests.answers.compact_decoder import sets
from tests.harness.report import Judgement, Verdict
from tests.values.comparing import Period, is_nan, number_of, period_of, read_number, read_period, text_of
from tests.values.oracle import Expected
from tests.values.questions import Question
from tests.values.terms import XSD, End, Literal, is_blank

Json: TypeAlias = Mapping[str, Any]

Expand: TypeAlias = Callable[[str], str]
"""Returns the whole IRI of an ID."""

_READ_AS_NUMBERS: Final = re.compile(r"where: (?P<count>\d[\d,]*) texts? that reads?")
_NO_PART: Final = re.compile(r"\.0+(?=Z|[+-]|$)")
_UNCOMPARABLE: Final = re.compile(r"where: (?P<count>\d[\d,]*) values? cannot be compared")


@dataclass(frozen=True)
class Told:
    """What the pages of an answer tell of a set.

    Attributes:
        nodes: The members and what stays for them, in the order of the answer; blank nodes as `_:` and their IDs.
        is_ordered: Whether the order of the nodes is that of the answer; lists by type lose it.
        hides_blank_nodes: Whether blank nodes may stand in edges and not among the nodes.
        cells: The cells of the nodes that have some.
        found: How many there are.
        tied: How many more have the value of the last.
        alone: How many each condition alone lets through, where the answer says so.
        complete: Whether it says that it is complete.
        values_complete: Whether all values of the columns are shown.
        read_as_numbers: How many texts were read as numbers, by its warnings.
        uncomparable: How many values could not be compared, by its warnings.
        seeds_left_out: Seeds of an intersection that qualify.
    """

    nodes: tuple[str, ...]
    is_ordered: bool = True
    hides_blank_nodes: bool = False
    cells: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    found: int | None = None
    tied: int = 0
    alone: tuple[int, ...] | None = None
    complete: bool = True
    values_complete: bool = True
    read_as_numbers: int = 0
    uncomparable: int = 0
    seeds_left_out: int | None = None


def told(pages: Sequence[Json], expand: Expand) -> Told:
    """Read the pages of an answer, in which keys are left out that say nothing (docs/contract.md has them)."""
    first, nodes, cells = pages[0], [], {}
    for page in pages:
        for identifier, row in _rows(page):
            node = whole(identifier, expand)
            nodes.append(node)
            cells[node] = row
        if "columns" not in page:
            nodes += [whole(identifier, expand) for identifier in _listed(page)]
    warnings, alone = first.get("warnings", ()), first.get("alone")
    has_table = "columns" in first
    return Told(
        tuple(nodes),
        is_ordered=has_table or isinstance(first.get("result", first.get("edges", [])), list),
        hides_blank_nodes=not has_table and "edges" in first,
        cells=cells,
        found=first.get("found"),
        tied=pages[-1].get("tied", 0),
        alone=None if alone is None else tuple(alone.values() if isinstance(alone, Mapping) else alone),
        complete=all(page.get("complete", True) for page in pages),
        values_complete=all(page.get("values_complete", True) for page in pages),
        read_as_numbers=_counted(_READ_AS_NUMBERS, warnings),
        uncomparable=_counted(_UNCOMPARABLE, warnings),
        seeds_left_out=first.get("seeds_left_out"),
    )


def _rows(page: Json) -> Iterator[tuple[str, Sequence[Any]]]:
    """Yield the rows of a page, each with the ID of its node; empty cells at the end may be left out."""
    columns = page.get("columns", ())
    for row in page.get("rows", ()):
        first, *cells = row if isinstance(row, list) else [row]
        yield _identifier(first), [*cells, *[None] * (len(columns) - len(cells))]


def _listed(page: Json) -> Iterator[str]:
    """Yield the IDs of a page without rows: the hits of a search, or nodes by type, or nodes in order."""
    if "result" not in page and isinstance(page.get("edges"), Mapping):
        # What is marked as a step alone is told to be no member.
        steps = sets({"edges": {}, "nodes": page.get("on_the_way", {}), "node_count": 0})[0]
        yield from sorted(sets(page)[0] - steps)
        return
    listed = page.get("result", page.get("nodes", ()))
    for group in listed.values() if isinstance(listed, Mapping) else [listed]:
        for entry in group:
            if isinstance(entry, Mapping):
                yield from map(_identifier, entry)
            else:
                yield _identifier(entry[0] if isinstance(entry, list) else entry)


def _identifier(entry: str) -> str:
    """Return the ID of `ID name`; no ID has a blank."""
    return entry.partition(" ")[0]


def next_page(page: Json) -> Mapping[str, Any] | None:
    """Return the arguments of the next page, None on the last."""
    if "next_offset" not in page:
        return None
    further = {"offset": page["next_offset"], "edge_offset": page.get("next_edge"), "snapshot": page.get("snapshot")}
    return {name: value for name, value in further.items() if value is not None}


def items_of(cell: Any) -> list[Any]:
    """Return the values in a cell: none, one, or a list."""
    if cell is None:
        return []
    return cell if isinstance(cell, list) else [cell]


def whole(identifier: str, expand: Expand) -> str:
    """Return the IRI of an ID, or the ID of a blank node."""
    return identifier if identifier.startswith("_:") else expand(identifier)


def _counted(pattern: re.Pattern[str], warnings: Sequence[str]) -> int:
    found = (pattern.search(warning) for warning in warnings)
    return sum(int(one["count"].replace(",", "")) for one in found if one is not None)


FLOAT = XSD + "float"
_ID = re.compile(r"[A-Za-z][\w.-]*:")

Form: TypeAlias = tuple[str, Any]


def judge(question: Question, expected: Expected, answer: Told, expand: Expand) -> Judgement:
    """Compare an answer with what is right, and say how it differs.

    Args:
        question: What was asked.
        expected: What the oracle says.
        answer: What the pages of the answer tell: all of them, or the first if the question has a limit.
        expand: Returns the whole IRI of an ID.
    """
    untrue = [*_strange(expected, answer), *_of_cells(expected, answer, expand)]
    if not answer.complete:
        untrue += _too_many(expected, answer)
        return (Verdict.UNTRUE, "; ".join(untrue)) if untrue else (Verdict.MARKED, "")
    shown = expected.members[: question["limit"]] if "limit" in question else expected.members
    wrong = [*untrue, *_of_nodes(shown, expected, answer), *_of_counts(question, expected, answer)]
    if wrong:
        return Verdict.WRONG, "; ".join(wrong)
    if claims := list(_claims(expected, answer)):
        return Verdict.UNTRUE, "; ".join(claims)
    return Verdict.RIGHT, ""


def _strange(expected: Expected, answer: Told) -> Iterator[str]:
    """Say which nodes are none of the set, and stay for none."""
    possible = {*expected.members, *expected.on_the_way}
    strange = [node for node in answer.nodes if not is_blank(node) and node not in possible]
    if strange:
        yield f"{len(strange)} nodes that are none: {sorted(strange)[:3]}"
    if twice := [node for node, count in Counter(answer.nodes).items() if count > 1]:
        yield f"nodes told twice: {sorted(twice)[:3]}"


def _too_many(expected: Expected, answer: Told) -> Iterator[str]:
    if answer.found is not None and answer.found > expected.found:
        yield f"found {answer.found}, not {expected.found}"


def _of_nodes(shown: Sequence[str], expected: Expected, answer: Told) -> Iterator[str]:
    """Say which members are missing, which are not the first, and which stand in another order."""
    # Where there is no table, a node before the last stays where it leads to a member.
    others = set() if answer.cells else set(expected.on_the_way) - set(shown)
    told = [node for node in answer.nodes if is_blank(node) or node not in others]
    missing = [node for node in shown if not is_blank(node) and node not in set(told)]
    if missing:
        yield f"{len(missing)} nodes missing: {missing[:3]}"
    if added := [node for node in told if not is_blank(node) and node not in set(shown)]:
        yield f"{len(added)} nodes that are not the first: {added[:3]}"
    blank, right = sum(map(is_blank, told)), sum(map(is_blank, shown))
    stay = sum(map(is_blank, others))
    if not answer.hides_blank_nodes and not right <= blank <= right + stay:
        yield f"{blank} blank nodes, not {right}"
    if not (missing or added) and expected.keys and answer.is_ordered and not stay:
        # Blank nodes have other IDs here; where one stands is compared.
        order = [_place(node) for node in shown]
        if [_place(node) for node in told] != order:
            yield f"another order: {told[:6]}, not {list(shown[:6])}"


def _of_counts(question: Question, expected: Expected, answer: Told) -> Iterator[str]:
    if answer.found is not None and answer.found != expected.found:
        yield f"found {answer.found}, not {expected.found}"
    if "limit" in question and expected.tied is not None and answer.tied != expected.tied:
        yield f"tied {answer.tied}, not {expected.tied}"
    alone = tuple(tally.fulfilled for tally in expected.tallies)
    if answer.alone is not None and answer.alone != alone:
        yield f"each condition alone lets {answer.alone} through, not {alone}"
    if answer.seeds_left_out is not None and answer.seeds_left_out != expected.seeds_left_out:
        yield f"seeds_left_out {answer.seeds_left_out}, not {expected.seeds_left_out}"


def _claims(expected: Expected, answer: Told) -> Iterator[str]:
    """Say which numbers in warnings are too large: an engine that selects leaves some of the values unread."""
    texts = sum(tally.texts for tally in expected.tallies)
    if answer.read_as_numbers > texts:
        yield f"{answer.read_as_numbers} texts read as numbers, not {texts}"
    uncomparable = sum(tally.uncomparable for tally in expected.tallies)
    if answer.uncomparable > uncomparable:
        yield f"{answer.uncomparable} values could not be compared, not {uncomparable}"


def _of_cells(expected: Expected, answer: Told, expand: Expand) -> Iterator[str]:
    """Say which cells differ; a value is known by what it means, since JSON has one kind of number."""
    whole_cells = answer.complete and answer.values_complete
    for node, cells in answer.cells.items():
        right = expected.cells.get(node)
        if right is None:
            continue
        if len(cells) != len(right):
            yield f"{len(cells)} cells of {node}, not {len(right)}"
            continue
        for place, (cell, ends) in enumerate(zip(cells, right, strict=True)):
            if wrong := _differing(items_of(cell), ends, expand, is_whole=whole_cells):
                yield f"cell {place} of {node}: {wrong}"


def _differing(items: Sequence[Any], ends: frozenset[End], expand: Expand, *, is_whole: bool) -> str:
    told = [(item, forms_of_item(item, expand)) for item in items]
    right = [(end, forms_of_end(end)) for end in ends]
    if strange := [item for item, forms in told if not any(is_one(forms, other) for _, other in right)]:
        return f"{strange[:2]} is none of {_some(ends)}"
    # Of texts in several languages the best may be shown.
    missing = [
        end
        for end, forms in right
        if not any(is_one(other, forms) for _, other in told) and not (isinstance(end, Literal) and end.language)
    ]
    if is_whole and (missing or (ends and not items)):
        return f"{_some(missing or list(ends))} is missing"
    return ""


def is_one(told: set[Form], right: set[Form]) -> bool:
    if told & right:
        return True
    cut = [form[1][:-1] for form in told if form[0] == "text" and form[1].endswith("\u2026")]
    return any(form[0] == "text" and form[1].startswith(beginning) for beginning in cut for form in right)


def forms_of_item(item: Any, expand: Expand) -> set[Form]:
    """Return all that a value of a cell may mean."""
    if isinstance(item, bool):
        return {("text", str(item).lower())}
    if isinstance(item, int | float):
        return {("number", float(item))}
    if isinstance(item, dict):
        # A text with its language, or the content of a blank node.
        return {("text", str(value)) for value in item.values()} | {("blank", "")}
    forms: set[Form] = {("text", str(item)), *_of_number(read_number(str(item), infinite=True))}
    period = read_period(str(item))
    forms |= _of_period(period)
    identifier = str(item).partition(" ")[0]
    if identifier.startswith("_:"):
        forms.add(("blank", ""))
    elif _ID.match(identifier) and period is None:
        forms.add(("node", whole(identifier, expand)))
    return forms


def forms_of_end(end: End) -> set[Form]:
    if isinstance(end, str):
        return {("blank", "")} if is_blank(end) else {("node", end)}
    if is_nan(end):
        return {("text", "NaN")}
    # A number beyond the doubles may be written as its text, and a float by the digits that tell it from others.
    forms: set[Form] = {("text", end.text), *_of_number(number_of(end)), *_of_period(period_of(end))}
    if end.datatype == FLOAT and (number := number_of(end)) is not None:
        forms.add(("number", float(f"{float(number):.7g}")))
    if (value := text_of(end)) is not None:
        forms.add(("text", value))
    if end.datatype == XSD + "time":
        # Blazegraph adds milliseconds in `STR()` alone.
        forms.add(("text", _NO_PART.sub("", end.text)))
    return forms


def _of_number(number: Fraction | float | None) -> set[Form]:
    if number is None:
        return set()
    try:
        return {("number", float(number))}
    except OverflowError:
        return {("number", float("inf") if number > 0 else float("-inf"))}


def _of_period(period: Period | None) -> set[Form]:
    return set() if period is None else {("period", (period.start, period.end))}


def _place(node: str) -> str:
    return "_:" if is_blank(node) else node


def _some(ends: frozenset[End] | list[End]) -> str:
    return str([one if isinstance(one, str) else one.text for one in ends][:3])
