from collections.abc import Sequence
from datetime import date
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.errors import DeadlinePassed
from gateway.graph.values import WHOLE, Mark
from gateway.graph.walks import ANY_LITERAL, Condition, End, Ends, Nodes, Operator, OtherWalk
from gateway.members.conditions import resolved
from gateway.members.deciding import Decider, Verdict
from gateway.terms.iri import XSD
from gateway.terms.literals import Literal
from tests.members.known_names import EX, read, walk

CUT = Mark(DeadlinePassed("The time is over."), at_least=1)
A, B = EX + "a", EX + "b"
ENTITIES = {"A": frozenset({A}), "B": frozenset({B})}


def of(*values: str | float | Decimal | date, blank: int = 0, cut: bool = False) -> Ends:
    """Return ends: of numbers and dates literals, of texts in angle brackets nodes, of other texts literals."""
    return Ends(tuple(map(end_of, values)), blank, CUT if cut else WHOLE)


def end_of(value: str | float | Decimal | date) -> End:
    match value:
        case int():
            return Literal(str(value), f"{XSD}integer")
        case float():
            return Literal({"inf": "INF", "nan": "NaN"}.get(str(value), str(value)), f"{XSD}double")
        case Decimal():
            return Literal(f"{value:f}", f"{XSD}decimal")
        case date():
            return Literal(value.isoformat(), f"{XSD}date")
        case str():
            text, _, datatype = value.partition("^^")
            return value[1:-1] if value.startswith("<") else Literal(text, datatype and f"{XSD}{datatype}")


def verdict(text: str, ends: Ends, other: Ends = Ends()) -> Verdict:  # noqa: B008 - it is frozen
    asked = read(text)
    kind = "nodes" if any(value.text in ENTITIES for value in asked.values) else "literals"
    return Decider(resolved(asked, "nodes" if kind == "nodes" else "literals", ENTITIES)).decided(ends, other)


@pytest.mark.parametrize(
    ("text", "ends", "holds"),
    [
        ("x < 50", of(49), True),
        ("x < 50", of(50), False),
        ("x <= 50", of(Decimal("50.000")), True),
        ("x < 50", of(70, 20), True),
        ("x > 50", of(float("inf")), True),
        ("x < INF", of(10**300), True),
        ("x = 0.1", of(0.1), True),
        ("x = 0.1", of(Decimal("0.10")), True),
        ("x = 1e2", of("0100^^byte"), True),
        ("x = 1", of("1^^boolean"), False),
        ("x = 1990", of("1990^^date"), True),
        ("x = true", of("1^^boolean"), True),
        ("x != 50", of(50, 60), False),
        ("x != 50", of(60), True),
        ("x != 50", of(), False),
        ("x != 50", of("abc"), False),
        ("x < 50", of(), False),
        ("x > PT10M", of("PT9M^^duration"), False),
        ("x < PT10M", of("PT9M^^duration"), True),
        ("x > PT10M", of("PT1H^^dayTimeDuration"), True),
        ("x <= PT60M", of("PT1H^^duration"), True),
        ("x = PT60M", of("PT1H^^duration"), True),
        ("x in PT1M, PT60M", of("PT1H^^duration"), True),
        ("x != PT60M", of("PT1H^^duration"), False),
        ("x != P30D", of("P1M^^duration"), True),
        ("x < P30D", of("P1M^^duration"), False),
        ("x >= P30D", of("P1M^^duration"), False),
        ("x starts pt9", of("PT9M^^duration"), True),
        ('x = "PT9M"', of("PT9M^^duration"), False),
        ("x = P2D", of("p2d"), True),
        ("x > PT10M", of("PT9M"), False),
        ("x > PT10M", of("PT1H"), True),
        ("x = PT60M", of("PT1H"), True),
        ("x != PT60M", of("PT1H"), False),
        ("x in red, PT60M", of("PT1H"), True),
        ('x > "PT10M"', of("PT9M"), True),
        ("x > PT10M", of("unknown"), False),
        ("x < PT10M", of("P-1M^^duration"), False),
        ("x > PT10M", of("P-1M^^duration"), False),
        ("x = PT5M", of("pt5m^^duration"), False),
        ("x != PT10M", of("+PT5M^^duration"), False),
        ('x = "+PT5M"', of("+PT5M^^duration"), True),
        ("x = 1990", of("1990-05^^gYearMonth"), True),
        ("x = 1990", of(1990), True),
        ("x = 1990", of("1990-12-31T23:59:59.999Z^^dateTime"), True),
        ("x = 1990", of("1991-01-01T00:00:00Z^^dateTime"), False),
        ("x = 1990", of("1991-01-01T00:00:00+01:00^^dateTime"), True),
        ("x < 1990", of("-0044-03-15^^date"), True),
        ("x > 1990", of(date(1991, 1, 1)), True),
        ("x > 1990", of(date(1990, 12, 31)), False),
        ("x >= 1990", of(date(1990, 12, 31)), True),
        ("x <= 1990-05", of("1990^^gYear"), False),
        ("x != 1990-05", of("1990^^gYear"), True),
        ("x in 1990-05, 1991", of(date(1991, 2, 3)), True),
        ("x = Cafe\u0301", of("CAFÉ"), True),
        ("x = cafe", of("café"), False),
        ("x contains cafe", of("un café"), False),
        ("x contains AF", of("un café"), True),
        ("x starts UN", of("un café"), True),
        ("x contains 05", of(date(1990, 5, 1)), True),
        ("x < b", of("A"), True),
        ("x in 1, two", of("TWO"), True),
        ("x in 1, two", of(3), False),
        ("x exists", of(float("nan")), True),
        ("x exists", of(blank=1), True),
        ("x exists", of(), False),
        ("x missing", of(), True),
        ("x missing", of(blank=1), False),
        ("x = A", of("<http://example.org/a>"), True),
        ("x != A", of("<http://example.org/b>"), True),
        ("x != A", of(blank=1), True),
        ("x = A", of(blank=1), False),
        ("x in A, B", of("<http://example.org/b>"), True),
        ("type = A", of("<http://example.org/a>", "<http://example.org/b>"), True),
        ("type missing", of(), True),
    ],
)
def test_a_condition_holds_if_one_value_fulfils_it(text: str, ends: Ends, *, holds: bool) -> None:
    assert verdict(text, ends).holds is holds


@pytest.mark.parametrize(
    ("text", "ends", "holds"),
    [
        ("x < 50", of(49, cut=True), True),
        ("x < 50", of(51, cut=True), None),
        ("x != 50", of(50, cut=True), False),
        ("x != 50", of(51, cut=True), None),
        ("x exists", of(51, cut=True), True),
        ("x exists", of(cut=True), None),
        ("x missing", of(51, cut=True), False),
        ("x missing", of(blank=1, cut=True), False),
        ("x missing", of(cut=True), None),
    ],
)
def test_it_is_not_decided_by_what_is_missing(text: str, ends: Ends, *, holds: bool | None) -> None:
    assert verdict(text, ends).holds is holds


@pytest.mark.parametrize(
    ("text", "ends", "numbers", "others"),
    [
        ("x < 50", of("49", " 51 ", 7, "many"), 2, 1),
        ("x = 50", of("49", float("nan"), date(1990, 1, 1)), 1, 2),
        ("x < 50", of("12^^string", "<http://example.org/a>", blank=2), 1, 3),
        ("x = fifty", of(50, "50"), 0, 1),
        ("x = A", of("a", "<http://example.org/a>", blank=1), 0, 1),
        ("x < 1990-05", of("1990-04", 3), 0, 2),
        ("x contains 5", of(5, "<http://example.org/a>"), 0, 1),
        ("x exists", of(float("nan")), 0, 0),
        ("any < 50", of("49", "many", float("nan")), 1, 0),
    ],
)
def test_it_counts_texts_read_as_numbers_and_what_cannot_be_compared(
    text: str, ends: Ends, numbers: int, others: int
) -> None:
    found = verdict(text, ends)
    assert (found.read_as_numbers, found.not_comparable) == (numbers, others)


@pytest.mark.parametrize(
    ("text", "ends", "other", "holds"),
    [
        ("x > @pv:city", of(1, 9), of(8, 20), True),
        ("x > @pv:city", of(1, 2), of(8, 20), False),
        ("x > @pv:city", of("9"), of("10"), False),
        ("x > @pv:city", of("9"), of("1a"), True),
        ("x < @pv:city", of("b", 3), of("A", 2), False),
        ("x <= @pv:city", of(Decimal("2.0")), of("2"), True),
        ("x = @pv:city", of("<http://example.org/a>"), of("<http://example.org/a>"), True),
        ("x != @pv:city", of("<http://example.org/a>"), of("<http://example.org/b>"), True),
        ("x != @pv:city", of(1, 2), of(2, 3), False),
        ("x != @pv:city", of(1), of("b"), False),
        ("x != @pv:city", of(1), of(), False),
        ("x != @pv:city", of(1), of(2), True),
        ("x < @pv:city", of("PT9M^^duration"), of("PT10M^^duration"), True),
        ("x > @pv:city", of("PT9M^^duration"), of("PT10M^^duration"), False),
        ("x >= @pv:city", of("P1M^^duration"), of("P30D^^duration", "P12M^^duration"), False),
        ("x = @pv:city", of("PT60M^^duration"), of("PT1H^^duration"), True),
        ("x != @pv:city", of("P1M^^duration"), of("P30D^^duration"), True),
        ("x = @pv:city", of(date(1990, 5, 1)), of("1990^^gYear"), True),
        ("x = @pv:city", of("1990^^gYear"), of(date(1990, 5, 1)), False),
        ("x < @pv:city", of(date(1990, 5, 1)), of(date(1990, 5, 2), 3), True),
        ("x = @pv:city", of(blank=1), of(blank=1), None),
        ("x != @pv:city", of(blank=1), of(blank=1), None),
        ("x = @pv:city", of(blank=1), of("<http://example.org/a>"), False),
        ("x != @pv:city", of(blank=1), of("<http://example.org/a>"), True),
        ("x > @pv:city", of(1, cut=True), of(), False),
        ("x > @pv:city", of(1, cut=True), of(2), None),
        ("x > @pv:city", of(3, cut=True), of(2, cut=True), True),
        ("x != @pv:city", of(3, cut=True), of(3), False),
        ("x != @pv:city", of(3), of(4, cut=True), None),
    ],
)
def test_any_pair_of_two_walks_fulfils_a_condition(text: str, ends: Ends, other: Ends, *, holds: bool | None) -> None:
    assert verdict(text, ends, other).holds is holds


def test_ends_of_two_walks_that_cannot_be_compared_are_counted() -> None:
    found = verdict("x < @pv:city", of(1, "2", "b", float("nan"), date(1990, 1, 1)), of(7))
    assert found == Verdict(holds=True, read_as_numbers=1, not_comparable=3)


def test_durations_without_an_order_are_counted_as_what_cannot_be_compared() -> None:
    assert verdict("x < P30D", of("P1M^^duration", "P2M^^duration")) == Verdict(holds=False, not_comparable=1)
    assert verdict("x < PT1H", of(5, "abc", "PT2H^^duration")) == Verdict(holds=False, not_comparable=2)
    assert verdict("x < 5", of("PT2H^^duration")) == Verdict(holds=False, not_comparable=1)
    assert verdict("x < @pv:city", of("P1M^^duration"), of("P30D^^duration")) == Verdict(False, not_comparable=1)
    assert verdict("x < @pv:city", of("P2M^^duration"), of("P30D^^duration")) == Verdict(holds=False)


def test_what_is_typed_as_a_duration_and_is_none_is_counted_as_what_cannot_be_compared() -> None:
    broken = of("P-1M^^duration", "+PT5M^^duration", "PT1.5M^^dayTimeDuration", f"P{'1' * 1000}D^^duration")
    for condition in ("x < PT10M", "x > PT10M", "x = PT10M", "x != PT10M", "x in PT10M, PT5M"):
        assert verdict(condition, broken) == Verdict(holds=False, not_comparable=4)
    for condition in ("x < @pv:city", "x >= @pv:city", "x = @pv:city", "x != @pv:city"):
        assert verdict(condition, broken, of("PT10M^^duration", "zebra")) == Verdict(holds=False, not_comparable=4)


def test_texts_that_read_as_durations_are_compared_as_durations_and_counted() -> None:
    assert verdict("x > PT10M", of("PT1H", "PT9M", "PT2H^^duration")) == Verdict(holds=True, read_as_durations=2)
    assert verdict("any = PT60M", of("PT1H", "PT9M", "red")) == Verdict(holds=True, read_as_durations=2)
    assert verdict("x < P30D", of("P1M")) == Verdict(holds=False, not_comparable=1)
    assert verdict("x < @pv:city", of("PT9M"), of("PT10M^^duration")) == Verdict(holds=True, read_as_durations=1)
    assert verdict("x > @pv:city", of("PT9M"), of("PT10M")) == Verdict(holds=False, read_as_durations=2)
    assert verdict("x < @pv:city", of("PT9M"), of("red", "5")) == Verdict(holds=True)
    assert verdict("x = @pv:city", of("PT60M"), of("PT1H")) == Verdict(holds=True, read_as_durations=2)
    assert verdict("x = @pv:city", of("PT60M"), of("red")) == Verdict(holds=False)


# --- against an independent reading, where Python can express it ---

NUMBERS = st.lists(st.integers(-3, 3) | st.decimals(-3, 3, places=1), max_size=4)
DAYS = st.lists(st.dates(date(1990, 1, 1), date(1990, 1, 4)), max_size=4)
OPERATORS = st.sampled_from(["=", "!=", "<", "<=", ">", ">="])


def compared(operator: Operator, one: object, two: object) -> bool:
    key = {"=": "__eq__", "<": "__lt__", "<=": "__le__", ">": "__gt__", ">=": "__ge__"}[operator]
    return bool(getattr(one, key)(two))


def expected(operator: Operator, some: Sequence[object], others: Sequence[object]) -> bool:
    if operator == "!=":
        return bool(some and others) and not expected("=", some, others)
    return any(compared(operator, one, two) for one in some for two in others)


def decimals(values: Sequence[int | Decimal]) -> list[Decimal]:
    return [Decimal(value) for value in values]


@given(NUMBERS, st.decimals(-3, 3, places=1), OPERATORS)
def test_numbers_compare_as_decimals_do(values: list[int | Decimal], bound: Decimal, operator: Operator) -> None:
    assert verdict(f"x {operator} {bound:f}", of(*values)).holds is expected(operator, decimals(values), [bound])


@given(DAYS, st.dates(date(1990, 1, 1), date(1990, 1, 4)), OPERATORS)
def test_days_compare_as_dates_do(values: list[date], bound: date, operator: Operator) -> None:
    assert verdict(f"x {operator} {bound.isoformat()}", of(*values)).holds is expected(operator, values, [bound])


@given(NUMBERS, NUMBERS, DAYS, DAYS, OPERATORS)
def test_pairs_compare_by_kind(
    some: list[int | Decimal], others: list[int | Decimal], days: list[date], more: list[date], operator: Operator
) -> None:
    found = verdict(f"x {operator} @pv:city", of(*some, *days), of(*others, *more)).holds
    if operator == "!=":
        is_equal = expected("=", decimals(some), decimals(others)) or expected("=", days, more)
        assert found is (bool((some and others) or (days and more)) and not is_equal)
    else:
        assert found is (expected(operator, decimals(some), decimals(others)) or expected(operator, days, more))


PERIODS = st.lists(
    st.sampled_from(
        ["1990^^gYear", "1991^^gYear", "1990-05^^gYearMonth", "1990-05-01^^date", "1990-05-31+02:00^^date"]
        + [f"{moment}^^dateTime" for moment in ("1990-01-01T00:00:00", "1990-05-01T00:00:00", "1991-01-01T00:00:00")]
        + ["1990-12-31T24:00:00^^dateTime", "1990-05-01T12:00:00.5Z^^dateTime"]
    ),
    max_size=5,
)
TEXTS = st.lists(st.sampled_from(["a", "B", "b", "1", "2", "10", "1.0", "é", "7^^integer", "abc^^integer"]), max_size=5)


@given(PERIODS | TEXTS, PERIODS | TEXTS, OPERATORS)
def test_all_pairs_at_once_are_decided_as_each_pair_alone(
    some: list[str], others: list[str], operator: Operator
) -> None:
    decider = Decider(Condition(walk("x"), operator, OtherWalk(walk("city"))))
    alone = [decider.decided(of(one), of(two)).holds for one in some for two in others]
    if operator == "!=":
        equal = Decider(Condition(walk("x"), "=", OtherWalk(walk("city"))))
        is_equal = any(equal.decided(of(one), of(two)).holds for one in some for two in others)
        assert decider.decided(of(*some), of(*others)).holds is (any(alone) and not is_equal)
    else:
        assert decider.decided(of(*some), of(*others)).holds is any(alone)


@given(PERIODS, st.sampled_from(["1990", "1990-05", "1990-05-01", "1991-01-01T00:00:00Z"]))
def test_no_date_is_before_within_and_after_one_period_at_once(values: list[str], bound: str) -> None:
    for value in values:
        found = [verdict(f"x {operator} {bound}", of(value)).holds for operator in ("<", "=", ">")]
        assert found.count(True) <= 1
        assert verdict(f"x <= {bound}", of(value)).holds is (found[0] or found[1])
        assert verdict(f"x >= {bound}", of(value)).holds is (found[2] or found[1])
        assert verdict(f"x != {bound}", of(value)).holds is not found[1]


@given(
    PERIODS | TEXTS,
    st.lists(
        st.sampled_from(["1990", "1990-05", "1990-05-01T00:00:00Z", "1991-01-01", "7", "1", '"1"', "b"]), min_size=1
    ),
)
def test_in_holds_where_one_member_is_equal(values: list[str], members: list[str]) -> None:
    each = [verdict(f"x = {member}", of(value)).holds for member in members for value in values]
    assert verdict(f"x in {', '.join(members)}", of(*values)).holds is any(each)


def test_any_literal_does_not_count_other_kinds() -> None:
    condition = Condition(ANY_LITERAL, "=", Nodes(frozenset({A})))
    assert Decider(condition).decided(of("a")).not_comparable == 0
