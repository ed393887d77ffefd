"""Whether an answer about values is right, and whether it says so where it is not whole."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any, TypeAlias

from tests.harness.report import Judgement, Verdict
from tests.values.answers import Expand, Told, items_of, whole
from tests.values.comparing import Period, is_nan, number_of, period_of, read_number, read_period, text_of
from tests.values.oracle import Expected
from tests.values.questions import Question
from tests.values.terms import XSD, End, Literal, is_blank

FLOAT = XSD + "float"
_ID = re.compile(r"[A-Za-z][\w.-]*:")

_Form: TypeAlias = tuple[str, Any]


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
    told = [(item, _forms_of_item(item, expand)) for item in items]
    right = [(end, _forms_of_end(end)) for end in ends]
    if strange := [item for item, forms in told if not any(_is_one(forms, other) for _, other in right)]:
        return f"{strange[:2]} is none of {_some(ends)}"
    # Of texts in several languages the best may be shown.
    missing = [
        end
        for end, forms in right
        if not any(_is_one(other, forms) for _, other in told) and not (isinstance(end, Literal) and end.language)
    ]
    if is_whole and (missing or (ends and not items)):
        return f"{_some(missing or list(ends))} is missing"
    return ""


def _is_one(told: set[_Form], right: set[_Form]) -> bool:
    if told & right:
        return True
    cut = [form[1][:-1] for form in told if form[0] == "text" and form[1].endswith("\u2026")]
    return any(form[0] == "text" and form[1].startswith(beginning) for beginning in cut for form in right)


def _forms_of_item(item: Any, expand: Expand) -> set[_Form]:
    """Return all that a value of a cell may mean."""
    if isinstance(item, bool):
        return {("text", str(item).lower())}
    if isinstance(item, int | float):
        return {("number", float(item))}
    if isinstance(item, dict):
        # A text with its language, or the content of a blank node.
        return {("text", str(value)) for value in item.values()} | {("blank", "")}
    forms: set[_Form] = {("text", str(item)), *_of_number(read_number(str(item), infinite=True))}
    period = read_period(str(item))
    forms |= _of_period(period)
    identifier = str(item).partition(" ")[0]
    if identifier.startswith("_:"):
        forms.add(("blank", ""))
    elif _ID.match(identifier) and period is None:
        forms.add(("node", whole(identifier, expand)))
    return forms


def _forms_of_end(end: End) -> set[_Form]:
    if isinstance(end, str):
        return {("blank", "")} if is_blank(end) else {("node", end)}
    if is_nan(end):
        return {("text", "NaN")}
    # A number beyond the doubles may be written as its text, and a float by the digits that tell it from others.
    forms: set[_Form] = {("text", end.text), *_of_number(number_of(end)), *_of_period(period_of(end))}
    if end.datatype == FLOAT and (number := number_of(end)) is not None:
        forms.add(("number", float(f"{float(number):.7g}")))
    if (value := text_of(end)) is not None:
        forms.add(("text", value))
    return forms


def _of_number(number: Fraction | float | None) -> set[_Form]:
    if number is None:
        return set()
    try:
        return {("number", float(number))}
    except OverflowError:
        return {("number", float("inf") if number > 0 else float("-inf"))}


def _of_period(period: Period | None) -> set[_Form]:
    return set() if period is None else {("period", (period.start, period.end))}


def _place(node: str) -> str:
    return "_:" if is_blank(node) else node


def _some(ends: frozenset[End] | list[End]) -> str:
    return str([one if isinstance(one, str) else one.text for one in ends][:3])
