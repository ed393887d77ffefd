from fractions import Fraction
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.errors import DeadlinePassed
from gateway.graph.values import Mark
from gateway.graph.walks import NAMES, End, Ends, Order
from gateway.members.ordering import in_order, value_key, value_of
from gateway.terms.iri import BLANK_NODE, XSD
from gateway.terms.literals import Literal
from tests.members.known_names import EX, walk

PRICE = walk("price")
NAMED = {EX + "u": "Ulm", EX + "v": "Valence"}


def literal(value: str, datatype: str = "") -> Literal:
    return Literal(value, f"{XSD}{datatype}" if datatype else "")


def ends(**values: list[End]) -> dict[str, Ends]:
    return {EX + name: Ends(tuple(found)) for name, found in values.items()}


def names_of(nodes: tuple[str, ...]) -> list[str]:
    return [node.removeprefix(EX) for node in nodes]


def test_numbers_stand_before_dates_before_durations_before_texts_before_nodes() -> None:
    ascending: list[End] = [
        literal("-INF", "double"),
        literal("-3", "integer"),
        literal("0.5", "decimal"),
        literal("7"),
        literal("9007199254740992", "integer"),
        literal("9007199254740993", "integer"),
        literal("1e400", "double"),
        literal("1e401", "double"),
        literal("INF", "float"),
        literal("-0044-03-15", "date"),
        literal("1990-01-01T00:00:00Z", "dateTime"),
        literal("1990-01-01", "date"),
        literal("1990", "gYear"),
        literal("-P1Y", "duration"),
        literal("PT9M", "duration"),
        literal("PT10M", "duration"),
        literal("PT1H", "dayTimeDuration"),
        literal("P1M", "yearMonthDuration"),
        literal("P400D", "duration"),
        literal("Abc"),
        literal("abc"),
        literal("abd", "integer"),
        literal("true", "boolean"),
        EX + "u",
        EX + "v",
    ]
    keys = [value_key(end, NAMED) for end in ascending]
    assert None not in keys
    known = [key for key in keys if key is not None]
    assert known == sorted(known)
    assert len(set(known)) == len(known)


def test_nodes_are_ordered_by_their_smallest_value_or_by_their_largest_descending() -> None:
    one, two, three, nine = (literal(str(value), "integer") for value in (1, 2, 3, 9))
    found = ends(a=[two], b=[nine, one], c=[], d=[three])
    nodes = [EX + name for name in "dcba"]
    assert names_of(in_order(nodes, Order(PRICE), found, {}).nodes) == ["b", "a", "d", "c"]
    assert names_of(in_order(nodes, Order(PRICE, descending=True), found, {}).nodes) == ["b", "d", "a", "c"]


@pytest.mark.parametrize("descending", [False, True])
def test_equal_values_stand_by_iri_and_blank_nodes_last(*, descending: bool) -> None:
    one = Ends((literal("1.0", "decimal"),))
    nodes = [BLANK_NODE + "a", EX + "z", EX + "y", BLANK_NODE + "0"]
    order = Order(PRICE, descending=descending)
    expected = (EX + "y", EX + "z", BLANK_NODE + "0", BLANK_NODE + "a")
    assert in_order(nodes, order, dict.fromkeys(nodes, one), {}).nodes == expected
    assert in_order(nodes, order, {}, {}).nodes == expected


def test_the_order_says_how_many_more_have_the_last_value() -> None:
    one, also_one, two = literal("1", "integer"), literal("1.0"), literal("2", "integer")
    ordered = in_order(
        [EX + name for name in "abcdef"], Order(PRICE), ends(a=[one], b=[also_one], c=[one], d=[two], e=[], f=[]), {}
    )
    assert [ordered.tied(until) for until in range(8)] == [0, 2, 1, 0, 0, 0, 0, 0]
    assert ordered.read_as_numbers == 1


def test_texts_that_differ_in_case_alone_are_tied() -> None:
    ordered = in_order([EX + "a", EX + "b"], Order(PRICE), ends(a=[literal("b")], b=[literal("B")]), {})
    assert names_of(ordered.nodes) == ["b", "a"]
    assert ordered.tied(1) == 1


def test_by_name_is_by_the_display_name() -> None:
    nodes = [EX + name for name in "abcd"]
    names = {EX + "a": "beta", EX + "b": "Alpha", EX + "c": "", EX + "d": "10"}
    assert names_of(in_order(nodes, Order(NAMES), {}, names).nodes) == ["d", "b", "a", "c"]
    assert names_of(in_order(nodes, Order(NAMES, descending=True), {}, names).nodes) == ["a", "b", "d", "c"]


def test_a_node_whose_values_are_not_all_known_is_told() -> None:
    cut = Ends((literal("1"),), mark=Mark(DeadlinePassed("The time is over."), at_least=1))
    ordered = in_order([EX + "a", EX + "b"], Order(PRICE), {EX + "a": cut}, {})
    assert ordered.unsure == (EX + "a",)


def test_what_has_no_place_is_left_out_and_counted() -> None:
    found = ends(a=[literal("NaN", "double")], b=[literal("NaN", "double"), literal("5")])
    ordered = in_order([EX + "a", EX + "b"], Order(PRICE), found, {})
    assert names_of(ordered.nodes) == ["b", "a"]
    assert ordered.not_comparable == 2


def test_durations_without_an_order_stand_by_average_length_and_are_told() -> None:
    found = ends(
        a=[literal("P31D", "duration")],
        b=[literal("P1M", "duration")],
        c=[literal("P30D", "duration")],
        d=[literal("P1Y", "duration")],
    )
    ordered = in_order([EX + name for name in "abcd"], Order(PRICE), found, {})
    assert names_of(ordered.nodes) == ["b", "c", "a", "d"]
    assert ordered.by_average == 2
    assert "2 durations stand by average length" in ordered.warnings[0]
    del found[EX + "b"]
    assert in_order([EX + name for name in "abcd"], Order(PRICE), found, {}).warnings == []


def test_texts_that_read_as_durations_stand_among_these_and_are_told() -> None:
    found = ends(a=[literal("PT1H")], b=[literal("PT9M")], c=[literal("PT10M", "duration")], d=[literal("P")])
    ordered = in_order([EX + name for name in "abcd"], Order(PRICE), found, {})
    assert names_of(ordered.nodes) == ["b", "c", "a", "d"]
    assert ordered.warnings == ["sort_by: 2 texts that read as a duration were ordered as one."]


LITERALS = st.builds(
    literal,
    st.sampled_from(
        ["1", "01", "1.0", "-1", "1e0", "abc", "ABC", "", "1990", "1990-05-01", "INF", "é", "e\u0301", "P1M", "P30D"]
    )
    | st.text(max_size=4),
    st.sampled_from(["", "integer", "decimal", "double", "date", "gYear", "boolean", "string", "duration"]),
)
ENDS = LITERALS | st.sampled_from([EX + "u", EX + "v", EX + "w"])


@given(st.lists(ENDS, max_size=12))
def test_the_order_of_values_is_total(drawn: list[End]) -> None:
    in_any_order = [key for end in drawn if (key := value_key(end, NAMED)) is not None]
    backwards = in_any_order[::-1]
    keys = sorted(in_any_order)
    assert keys == sorted(backwards)
    # Those with the same value stand beside each other, so that those behind a page can be counted.
    values = [value_of(key) for key in keys]
    changes = sum(one != two for one, two in pairwise(values))
    assert not values or changes == len(set(values)) - 1


@given(st.dictionaries(st.sampled_from([EX + name for name in "abcdefgh"]), st.lists(ENDS, max_size=3)), st.booleans())
def test_the_order_of_nodes_does_not_depend_on_the_order_in_which_they_come(
    found: dict[str, list[End]],
    descending: bool,
) -> None:
    given_ends = {node: Ends(tuple(values)) for node, values in found.items()}
    backwards = {node: Ends(tuple(reversed(values))) for node, values in reversed(found.items())}
    order = Order(PRICE, descending=descending)
    ordered = in_order([*given_ends], order, given_ends, NAMED)
    assert ordered.nodes == in_order([*backwards], order, backwards, NAMED).nodes
    assert sorted(ordered.nodes) == sorted(found)
    for until in range(1, len(ordered.nodes)):
        value = ordered.values.get(ordered.nodes[until - 1])
        behind = [ordered.values.get(node) for node in ordered.nodes[until:]]
        assert ordered.tied(until) == (0 if value is None else behind.count(value))


def test_equal_numbers_of_other_spelling_have_one_key() -> None:
    spellings = [literal("1", "integer"), literal("01", "int"), literal("1.0", "decimal"), literal("1e0", "double")]
    assert {value_key(end, {}) for end in spellings} == {(0, 1.0, Fraction(1))}
