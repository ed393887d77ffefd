from fractions import Fraction

import pytest

from tests.values.comparing import Kind, Right, fold, holds, kind_of, number_of, pair_holds, read_number, read_period
from tests.values.terms import Literal, text, typed


def _holds(left: Literal, operator: str, right: str) -> bool | None:
    return holds(left, operator, [Right(right)])


@pytest.mark.parametrize(
    "spelling",
    [typed("49", "integer"), typed("49.0", "decimal"), typed("4.9e1", "double"), typed("49", "float"), text(" 49 ")],
)
def test_a_number_equals_one_of_another_datatype_and_spelling(spelling: Literal) -> None:
    assert _holds(spelling, "=", "49") is True
    assert _holds(spelling, "!=", "49.00") is False
    assert _holds(spelling, "<", "5e1") is True


def test_long_numbers_are_compared_exactly() -> None:
    assert _holds(typed("9007199254740993", "integer"), ">", "9007199254740992") is True
    assert _holds(typed("0.1234567890123456789", "decimal"), "=", "0.1234567890123456788") is False
    assert _holds(typed("0.1", "double"), "=", "0.1") is True


def test_nan_is_not_comparable_and_inf_is() -> None:
    for operator in ("=", "!=", "<", "<=", ">", ">="):
        assert _holds(typed("NaN", "double"), operator, "50") is None
    assert _holds(typed("INF", "double"), ">", "1e300") is True
    assert _holds(typed("-INF", "float"), "<", "-1e300") is True
    assert _holds(typed("INF", "double"), "=", "INF") is True
    assert _holds(typed("1e400", "double"), "<", "INF") is True


def test_a_text_that_reads_as_a_number_is_one_where_a_number_is_asked_for() -> None:
    assert _holds(text("7", "en"), "<", "50") is True
    assert _holds(text("forty"), "<", "50") is None
    assert _holds(text("forty"), "!=", "50") is None
    assert _holds(text("7"), "<", "fifty") is True, "two texts"
    assert number_of(text("1,50")) is read_number("--5") is None
    assert number_of(typed("1.5", "integer")) == Fraction(3, 2)
    assert kind_of(typed("1.5", "integer")) is Kind.TEXT
    assert kind_of(typed("abc", "integer")) is Kind.TEXT


def test_a_quoted_number_is_a_text() -> None:
    assert holds(text("49"), "=", [Right("49", is_text=True)]) is True
    assert holds(text("49.0"), "=", [Right("49", is_text=True)]) is False
    assert holds(typed("49", "integer"), "=", [Right("49", is_text=True)]) is None


@pytest.mark.parametrize(
    ("value", "right", "operators"),
    [
        (typed("1990-05-31", "date"), "1990", {"=", "<=", ">="}),
        (typed("1990-05-31", "date"), "1990-05", {"=", "<=", ">="}),
        (typed("1990-05-31", "date"), "1990-06", {"<", "<=", "!="}),
        (typed("1989-12-31", "date"), "1990", {"<", "<=", "!="}),
        (typed("1991-01-01", "date"), "1990", {">", ">=", "!="}),
        (typed("1990", "gYear"), "1990-05", {"!="}),
        (typed("1990-05-01T00:00:00", "dateTime"), "1990-05-01", {"=", "<=", ">="}),
        (typed("1990-05-01T24:00:00", "dateTime"), "1990-05-02", {"=", "<=", ">="}),
        (typed("1990-05-01T01:30:00+02:00", "dateTime"), "1990-04", {"=", "<=", ">="}),
        (typed("1990-05-01T01:30:00+02:00", "dateTime"), "1990-04-30T23:30:00Z", {"=", "<=", ">="}),
        (typed("1990-05-01T00:00:00.5Z", "dateTime"), "1990-05-01T00:00:00Z", {">", ">=", "!="}),
        (typed("1990-05-01+14:00", "date"), "1990-04-30", {"!="}),
        (typed("1990-05-01+14:00", "date"), "1990-05", {"!="}),
        (typed("1990-05-01+14:00", "date"), "1990", {"=", "<=", ">="}),
        (typed("-0044-03-15", "date"), "-0044", {"=", "<=", ">="}),
        (typed("-0044-03-15", "date"), "-0043", {"<", "<=", "!="}),
        (typed("-0044-03-15", "date"), "0001", {"<", "<=", "!="}),
        (typed("12345-06-07", "date"), "9999", {">", ">=", "!="}),
        (typed("2000-02-29", "date"), "2000-02", {"=", "<=", ">="}),
    ],
)
def test_a_date_compares_as_a_period_in_utc(value: Literal, right: str, operators: set[str]) -> None:
    every = ("=", "!=", "<", "<=", ">", ">=")
    assert {operator for operator in every if _holds(value, operator, right)} == operators


def test_what_is_no_date_is_not_comparable_with_one() -> None:
    for value in (typed("1990-02-30", "date"), typed("1990-05-01", "dateTime"), text("1990-05-01"), text("n.d.")):
        assert _holds(value, "<", "1990-06") is None
    assert _holds(typed("1990-05-01", "date"), "<", "50") is None
    assert _holds(typed("1990", "integer"), "=", "1990") is True
    assert _holds(typed("1990", "integer"), "=", "1990-05") is None
    assert read_period("1990-05-01T25:00:00") is read_period("02021") is read_period("1990-05-01+15:00") is None


def test_periods_are_counted_from_the_year_1() -> None:
    first = read_period("0001-01-01")
    assert first is not None
    assert (int(first.start), int(first.end)) == (0, 86_400)
    epoch = read_period("1970-01-01T00:00:00Z")
    assert epoch is not None
    assert epoch.start == epoch.end == 62_135_596_800
    before = read_period("0000")
    assert before is not None
    assert (int(before.start), int(before.end)) == (-366 * 86_400, 0)


def test_texts_compare_without_regard_to_case_and_unicode_form() -> None:
    assert fold("CAF\u00c9") == fold("cafe\u0301") == "caf\u00e9"
    assert holds(text("Caf\u00e9 Noir"), "contains", [Right("cafe")]) is False
    assert holds(text("Caf\u00e9 Noir"), "starts", [Right("CAFE\u0301")]) is True
    assert holds(text("STRASSE", "de"), "=", [Right("stra\u00dfe")]) is True
    assert holds(text("\u212aelvin"), "starts", [Right("kel")]) is True
    assert holds(text("Berlin"), "<", [Right("cairo")]) is True
    assert holds(typed("1", "boolean"), "=", [Right("true")]) is True


def test_what_a_literal_contains_is_asked_of_its_text_whatever_its_datatype() -> None:
    assert holds(typed("1990-05-01", "date"), "starts", [Right("1990-05")]) is True
    assert holds(typed("49.99", "decimal"), "contains", [Right(".9")]) is True


def test_a_member_of_several_needs_to_be_equal() -> None:
    rights = [Right("49"), Right("red"), Right("1990-05")]
    assert holds(typed("49.0", "decimal"), "in", rights) is True
    assert holds(text("RED", "en"), "in", rights) is True
    assert holds(typed("1990-05-04", "date"), "in", rights) is True
    assert holds(text("blue"), "in", rights) is False
    assert holds(typed("NaN", "double"), "in", rights) is None


def test_nodes_are_equal_or_not_and_nothing_else() -> None:
    rights = [Right("Toulouse", nodes=frozenset({"urn:a", "urn:b"}))]
    assert holds("urn:a", "=", rights) is True
    assert holds("urn:c", "!=", rights) is True
    assert holds("urn:c", "in", rights) is False
    assert holds("urn:a", "<", rights) is None
    assert holds("urn:a", "starts", rights) is None


def test_two_properties_of_a_node_compare_by_their_kinds() -> None:
    assert pair_holds(typed("2", "integer"), "<", typed("10.5", "decimal")) is True
    assert pair_holds(text("2"), "<", typed("10.5", "decimal")) is True
    assert pair_holds(text("2"), "<", text("10")) is True, "two texts that read as numbers"
    assert pair_holds(typed("1990-05-01", "date"), "<", typed("1991", "gYear")) is True
    assert pair_holds(typed("1990", "gYear"), "=", typed("1990", "integer")) is None
    assert pair_holds(typed("NaN", "double"), "!=", typed("1", "integer")) is None
    assert pair_holds("urn:a", "=", "urn:a") is True
    assert pair_holds("urn:a", "=", text("urn:a")) is None
