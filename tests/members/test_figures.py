from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.errors import EndpointFault
from gateway.graph.values import WHOLE, Mark
from gateway.graph.walks import End, Ends
from gateway.members.figures import Figure, FigureKind, Grouped, Grouping, grouped
from gateway.terms.iri import XSD
from gateway.terms.literals import JsonScalar, Literal
from tests.members.known_names import EX, walk

CITY, PRICE = walk("city"), walk("price")
NODES = [EX + name for name in "abcdef"]


def literal(value: str, datatype: str = "", language: str = "") -> Literal:
    return Literal(value, f"{XSD}{datatype}" if datatype else "", language)


def integer(value: object) -> Literal:
    return literal(str(value), "integer")


def of_prices(kind: FigureKind, *prices: Ends) -> Grouped:
    grouping = Grouping(None, "", (Figure(kind, PRICE, kind),))
    return grouped(NODES[: len(prices)], grouping, {PRICE: dict(zip(NODES, prices, strict=False))}, {}, {})


def figure(kind: FigureKind, *values: End) -> JsonScalar | None:
    (group,) = of_prices(kind, *(Ends((value,)) for value in values)).groups
    (found,) = group.figures
    return found.json if isinstance(found, Literal) else found


def by_city(*cities: Ends, descending: bool = True, place: int | None = 0) -> Grouped:
    grouping = Grouping(CITY, "city", (Figure("count", None, "count"),), place, descending)
    return grouped(NODES[: len(cities)], grouping, {CITY: dict(zip(NODES, cities, strict=False))}, {}, {})


def shown(found: Grouped) -> list[tuple[End | None, int]]:
    return [(group.end, int(one.value)) for group in found.groups for one in group.figures if isinstance(one, Literal)]


def test_sums_of_decimals_are_exact_and_whole_ones_are_whole() -> None:
    assert figure("sum", literal("0.1", "decimal"), literal("0.2", "decimal")) == 0.3
    assert figure("sum", literal("0.5", "decimal"), literal("1.5", "decimal")) == 2
    assert isinstance(figure("sum", literal("0.5", "decimal"), literal("1.5", "decimal")), int)
    assert figure("sum", integer(2**64), integer(1)) == str(2**64 + 1)


def test_doubles_are_added_exactly_and_rounded_once() -> None:
    assert figure("sum", literal("1e16", "double"), integer(1), integer(1)) == 1e16 + 2


def test_an_average_without_an_end_is_the_nearest_double() -> None:
    assert figure("avg", integer(10), integer(0), integer(0)) == 10 / 3
    assert figure("avg", integer(1), integer(2)) == 1.5


def test_of_no_number_the_sum_is_zero_and_there_is_no_average() -> None:
    assert figure("sum", literal("red")) == 0
    assert figure("avg", literal("red")) is None
    assert figure("min", literal("NaN", "double")) is None
    assert figure("distinct") == 0


def test_infinite_numbers_make_an_infinite_sum_and_both_of_them_none() -> None:
    assert figure("sum", integer(1), literal("-INF", "double")) == "-INF"
    assert figure("avg", literal("INF", "double"), literal("-INF", "double")) is None


def test_a_number_beyond_the_doubles_is_rounded_and_not_infinite() -> None:
    assert figure("avg", literal("1e400", "double"), integer(0)) == "5E+399"


def test_texts_that_read_as_numbers_count_and_are_told_and_so_are_others() -> None:
    found = of_prices("sum", Ends((literal("5"), integer(1))), Ends((literal("red"),)))
    assert found.groups[0].figures == (integer(6),)
    assert found.warnings == [
        "compute: 1 text that read as a number was taken for one in 'sum'.",
        "compute: 1 value that is no number left out of 'sum'.",
    ]


def test_texts_that_read_as_durations_are_the_smallest_by_length_and_are_told() -> None:
    found = of_prices("min", Ends((literal("PT10M"), literal("PT9M"))), Ends((literal("PT1H", "duration"),)))
    assert found.groups[0].figures == (literal("PT9M"),)
    assert found.warnings == ["compute: 2 texts that read as a duration were taken for one in 'min'."]


def test_a_value_counts_once_for_each_way_to_it() -> None:
    found = of_prices("sum", Ends((integer(5), integer(1)), ways={integer(5): 3}))
    assert found.groups[0].figures == (integer(16),)


def test_the_smallest_is_of_the_first_kind_and_so_is_the_largest() -> None:
    values = [literal("2000-01-01", "date"), literal("zebra"), integer(7), literal("12")]
    assert figure("min", *values) == 7
    assert figure("max", *values) == "12"
    assert figure("max", *values[:2]) == "2000-01-01"


def test_the_shortest_duration_is_the_smallest_and_there_is_none_where_that_depends_on_the_month() -> None:
    values = [literal(value, "duration") for value in ("PT9M", "PT2H", "PT1H")]
    assert (figure("min", *values), figure("max", *values)) == ("PT9M", "PT2H")
    assert figure("distinct", literal("PT60M", "duration"), *values) == 3
    months = [literal(value, "duration") for value in ("P30D", "P1M", "P1D", "P30D")]
    assert (figure("min", *months), figure("max", *months)) == ("P1D", None)
    (warning,) = of_prices("max", *(Ends((value,)) for value in months)).warnings
    assert "a month and 30 days have no order" in warning


def test_groups_whose_durations_have_no_order_are_told() -> None:
    found = by_city(*(Ends((literal(value, "duration"),)) for value in ("P1M", "P30D", "P1D", "PT24H")), place=None)
    assert [(group.end, group.rank is None) for group in found.groups][-1] == (literal("P1D", "duration"), False)
    assert len(found.groups) == 3
    assert "1 duration stands by average length" in found.warnings[0]


def test_equal_values_are_one_group_and_the_shortest_spelling_stands_for_it() -> None:
    cities = [Ends((literal("1.0", "decimal"),)), Ends((literal("1", "integer"), literal("01", "integer"))), Ends()]
    assert shown(by_city(*cities)) == [(literal("1", "integer"), 2), (None, 1)]


def test_texts_are_one_group_only_with_the_same_letters_and_language() -> None:
    texts = [literal("Ulm"), literal("ulm"), literal("Ulm", language="de")]
    assert len(by_city(*(Ends((text,)) for text in texts)).groups) == 3


def test_a_node_with_two_values_is_in_both_groups() -> None:
    cities = [Ends((EX + "u", EX + "v")), Ends((EX + "u",))]
    assert shown(by_city(*cities)) == [(EX + "u", 2), (EX + "v", 1)]
    assert shown(by_city(*cities, descending=False)) == [(EX + "v", 1), (EX + "u", 2)]
    assert shown(by_city(*cities, place=None)) == [(EX + "v", 1), (EX + "u", 2)]


def test_groups_with_the_same_figure_are_tied() -> None:
    found = by_city(Ends((EX + "u",)), Ends((EX + "v",)), Ends((EX + "w",)))
    assert [found.tied(place) for place in range(4)] == [0, 2, 1, 0]


UNREAD = Mark(EndpointFault("The endpoint failed."))


@pytest.mark.parametrize(
    ("kind", "ends", "names"),
    [
        ("sum", Ends((integer(1),), mark=UNREAD), {}),
        ("distinct", Ends((integer(1),), blank=1), {}),
        ("min", Ends((EX + "u",)), {EX + "u": UNREAD}),
    ],
)
def test_there_is_no_figure_where_it_might_be_another_one(kind: FigureKind, ends: Ends, names: dict[str, Mark]) -> None:
    grouping = Grouping(None, "", (Figure(kind, PRICE, kind),))
    found = grouped(NODES[:1], grouping, {PRICE: {NODES[0]: ends}}, {}, names)
    assert not found.groups
    assert not found.mark.whole


def test_blank_nodes_without_ids_are_no_groups() -> None:
    assert not by_city(Ends(blank=1)).mark.whole


NUMBERS = st.fractions(min_value=-(10**6), max_value=10**6, max_denominator=1000).map(
    lambda value: Fraction(round(value * 100), 100)
)


@given(st.lists(NUMBERS, min_size=1, max_size=3))
def test_sums_and_averages_are_those_of_fractions(values: list[Fraction]) -> None:
    prices = [Ends((literal(f"{float(value):.2f}", "decimal"),)) for value in values]
    for kind, expected in (("sum", sum(values)), ("avg", sum(values) / len(values))):
        found = of_prices("sum" if kind == "sum" else "avg", *prices)
        assert found.mark == WHOLE
        (one,) = found.groups[0].figures
        assert isinstance(one, Literal)
        near = Fraction(one.value) if one.datatype != f"{XSD}double" else Fraction(float(one.value))
        assert near == expected or float(near) == float(expected)
