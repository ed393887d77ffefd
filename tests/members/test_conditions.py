from fractions import Fraction
from random import Random

import pytest

from gateway.errors import InputError
from gateway.graph.walks import (
    ANY_LITERAL,
    NAMES,
    TYPES,
    Alternatives,
    Condition,
    Nodes,
    Operand,
    Operator,
    OtherWalk,
    Step,
    Walk,
)
from gateway.members.conditions import EndKind, read_conditions, resolved, written
from gateway.members.sides import LONGEST_TEXT, MOST_MEMBERS, ValueText
from gateway.terms.comparable import Number, Period, Text, period_in, year_in
from tests.members.known_names import EX, KnownNames, read, reader, walk

TOULOUSE, ERNEST, GENE = EX + "Toulouse", EX + "Ernest", EX + "Gene"
KNOWN = {"Toulouse": frozenset({TOULOUSE}), "Ernest": frozenset({ERNEST}), "Gene": frozenset({GENE})}


def number(value: int | str, *, year: str = "") -> Number:
    return Number(Fraction(value), year_in(year))


def day(text: str) -> Period:
    period = period_in(text)
    assert period is not None
    return period


def meant(text: str, ends: EndKind = "literals") -> Condition:
    return resolved(read(text), ends, KNOWN)


@pytest.mark.parametrize(
    ("text", "left", "operator", "operand"),
    [
        ("pv:weight_g < 50", walk("weight_g"), "<", number(50)),
        ("pv:weight_g >= -1.50e2", walk("weight_g"), ">=", number(-150)),
        ("pv:weight_g = 1990", walk("weight_g"), "=", number(1990, year="1990")),
        ("pv:weight_g != INF", walk("weight_g"), "!=", Number("INF")),
        ("pv:price/pv:amount = 1990-05", walk("price", "amount"), "=", day("1990-05")),
        ("pv:price = 1990-05-01T12:00:00+02:00", walk("price"), "=", day("1990-05-01T10:00:00Z")),
        ('pv:price = "1990-05"', walk("price"), "=", Text("1990-05")),
        ("pv:price = '50'", walk("price"), "=", Text("50")),
        ("pv:city = Toulouse", walk("city"), "=", Text("toulouse")),
        ("pv:city   =   La Rochelle ", walk("city"), "=", Text("la rochelle")),
        ("name starts U", NAMES, "starts", Text("u")),
        ("name = 1984", NAMES, "=", Text("1984")),
        ("name CONTAINS Cafe\u0301", NAMES, "contains", Text("caf\u00e9")),
        ("name contains 5", NAMES, "contains", Text("5")),
        ("pv:manager missing", walk("manager"), "missing", None),
        ("pv:manager exists", walk("manager"), "exists", None),
        ("any = Toulouse", ANY_LITERAL, "=", Text("toulouse")),
        ("any = exists", ANY_LITERAL, "=", Text("exists")),
        ("pv:width_mm > @pv:height_mm", walk("width_mm"), ">", OtherWalk(walk("height_mm"))),
        ("pv:city = @name", walk("city"), "=", OtherWalk(NAMES)),
        ('pv:city = "@home"', walk("city"), "=", Text("@home")),
        ('"a = b" > 5', walk("ab"), ">", number(5)),
        ('pv:price/"a = b" > 5', walk("price", "ab"), ">", number(5)),
        ('x = "1 = 1"', walk("x"), "=", Text("1 = 1")),
        (r'x = "say \"no\" \\ "', walk("x"), "=", Text(r'say "no" \ ')),
        ("x = 's-Hertogenbosch", walk("x"), "=", Text("'s-hertogenbosch")),
        ("x in 1, 2", walk("x"), "in", Alternatives((number(1), number(2)))),
        ('x in red, "dark, blue"', walk("x"), "in", Alternatives((Text("red"), Text("dark, blue")))),
        ("x in (1990-05-01, a)", walk("x"), "in", Alternatives((day("1990-05-01"), Text("a")))),
        ("x in one", walk("x"), "in", Alternatives((Text("one"),))),
        ("type = Gene", TYPES, "=", Nodes(frozenset({GENE}))),
        ("type missing", TYPES, "missing", None),
    ],
)
def test_a_condition_means_what_is_written(text: str, left: Walk, operator: Operator, operand: Operand | None) -> None:
    assert meant(text) == Condition(left, operator, operand)


def test_where_a_walk_ends_at_nodes_its_value_is_an_id_or_a_name() -> None:
    assert read("pv:city in Toulouse, Ernest").entity_names == ("Toulouse", "Ernest")
    assert meant("pv:city = Toulouse", "nodes").operand == Nodes(frozenset({TOULOUSE}))
    both = Alternatives((Nodes(frozenset({TOULOUSE})), Nodes(frozenset({ERNEST}))))
    assert meant("pv:city in Toulouse, Ernest", "nodes").operand == both


def test_where_it_ends_at_both_a_value_is_read_both_ways() -> None:
    assert meant("pv:city = Toulouse", "both") == Condition(
        walk("city"), "=", Alternatives((Nodes(frozenset({TOULOUSE})), Text("toulouse")))
    )
    assert meant("pv:city = Paris", "both").operand == Text("paris")
    season = resolved(read("pv:city = 2019-20"), "both", {"2019-20": frozenset({TOULOUSE})})
    assert season.operand == Alternatives((Nodes(frozenset({TOULOUSE})), Text("2019-20")))


@pytest.mark.parametrize(
    ("text", "ends", "expected"),
    [
        ("pv:weight_g < 50", "literals", "pv:weight_g < 50 (number)"),
        ("pv:weight_g = 1990-05", "literals", "pv:weight_g = 1990-05 (date)"),
        ("given name = Ernest", "nodes", "given name = ex:Ernest"),
        ("given name in Ernest, Toulouse", "nodes", "given name in ex:Ernest, ex:Toulouse"),
        ("given name in Ernest, Paul", "both", "given name in ex:Ernest, Ernest (text), Paul (text)"),
        ("x in 1, b", "literals", "x in 1 (number), b (text)"),
        ("pv:width_mm > @pv:height_mm", "literals", "pv:width_mm > @pv:height_mm (property)"),
        ("x missing", "literals", "x missing"),
    ],
)
def test_an_answer_says_what_a_condition_was_taken_for(text: str, ends: EndKind, expected: str) -> None:
    assert written(read(text), meant(text, ends), lambda iri: iri.replace(EX, "ex:")) == expected


def test_a_name_of_many_entities_is_cut() -> None:
    known = {"Ernest": frozenset(f"{EX}{place}" for place in range(9))}
    asked = read("given name = Ernest")
    assert written(asked, resolved(asked, "nodes", known), lambda iri: iri.replace(EX, "ex:")) == (
        "given name = ex:0 or ex:1 or ex:2 or 6 more"
    )


def test_a_reserved_word_hides_a_predicate_and_says_so() -> None:
    names = KnownNames({"name": (EX + "name",)})
    (hidden,) = read_conditions(["name = a"], type(reader())(names, "where", union=True))
    assert (hidden.walk, hidden.hides_predicate) == (NAMES, True)
    assert not read("any = a").hides_predicate


def test_names_that_fit_several_predicates_are_told_on_both_sides() -> None:
    asked = read("weight > @weight")
    assert [name for name, _ in asked.ambiguous] == ["weight", "weight"]


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("", "has no operator"),
        ("pv:weight_g<50", "has no operator"),
        ("= 5", "has no operator"),
        ("x exists 5", "has no operator"),
        ("x =", "nothing stands behind"),
        ("colour = 5", "'colour' is no predicate"),
        ("colour = a > b", "what stands before none of them is a walk"),
        ("x > y = 5", "can be read as"),
        ("x = = = = = = = = = = = 5", "has 11 operators"),
        ("x = @colour", "'colour' is no predicate"),
        ("x contains @pv:city", "compares with no other property"),
        ("x in @pv:city", "compares with no other property"),
        ('x = "a', "is not closed"),
        ('x = "a" b', "behind the closing quote"),
        ("x in a,,b", "is empty"),
        ("x in " + ",".join("1" * (MOST_MEMBERS + 1)), "has 201 members"),
        ('x contains ""', "has an empty text"),
        ("type contains Gene", "does not compare"),
        ("type > Gene", "does not compare"),
        ("x = " + "a" * LONGEST_TEXT, "has 1,004 characters"),
    ],
)
def test_a_condition_that_says_nothing_is_told_what_to_write(text: str, wrong: str) -> None:
    with pytest.raises(InputError, match=wrong) as caught:
        read(text)
    assert caught.value.valid or caught.value.next_step
    assert len(str(caught.value)) < 800


@pytest.mark.parametrize(
    ("text", "ends", "wrong"),
    [
        ("pv:city = Paris", "nodes", "is no entity of this graph"),
        ("type = Protein", "literals", "is no type of this graph"),
        ("pv:city < Toulouse", "nodes", "ends at nodes, which < does not compare"),
        ("pv:city contains Tou", "nodes", "ends at nodes, which contains does not compare"),
        ("x = 1990-02-30", "literals", "is no date"),
        ("x = 1990-5-1", "literals", "is no date"),
        ("x = 1e999999999", "literals", "too long to be compared"),
    ],
)
def test_a_value_that_cannot_be_meant_is_told_what_can(text: str, ends: EndKind, wrong: str) -> None:
    with pytest.raises(InputError, match=wrong) as caught:
        meant(text, ends)
    assert caught.value.valid or caught.value.next_step


def test_an_operator_in_a_name_shows_both_readings() -> None:
    with pytest.raises(InputError) as caught:
        read("x > y = 5")
    assert "[x] > [y = 5]" in caught.value.wrong
    assert "[x > y] = [5]" in caught.value.wrong
    assert read('"x > y" = 5').walk == walk("xy")
    assert read('x > "y = 5"').values == (ValueText("y = 5", is_quoted=True),)


def test_at_most_twenty_conditions_are_read() -> None:
    assert len(read_conditions(["x = 1"] * 20, reader())) == 20
    with pytest.raises(InputError, match="21 conditions"):
        read_conditions(["x = 1"] * 21, reader())


_ATOMS = (
    "x", "pv:city", "name", "type", "any", "a = b", "x > y", "weight", " ", "  ", "\t", "\n", "\0", "/", "^", "@", "<",
    ">", "<=", ">=", "=", "!=", " = ", " != ", " < ", " in ", " contains ", " starts ", " exists", " missing", " IN ",
    '"', "'", "\\", '\\"', ",", "(", ")", "[", "]", "?v", "}", "{", "FILTER(", "#", "'''", "<http://a/b>", "1990-05",
    "1990-02-30", "-0001", "24:00:00", "1e999999999", "0" * 400, "9" * 900, ".", "-", "+", "INF", "NaN", "\u0345",
    "\u0f73" * 300, "a" + "\u0301\u0316" * 200, "\ud800", "\U0010ffff", "ß", "İ", "\u202e", "Toulouse", "true", "5",
)  # fmt: skip


def _drawn(random: Random) -> str:
    text = "".join(random.choices(_ATOMS, k=random.randint(1, 14)))
    start = random.choice(("", "", "x = ", "x in ", "name contains ", "pv:city != ", "type = "))
    return start + (text * random.choice((1, 1, 1, 50)))[: LONGEST_TEXT + 5]


@pytest.mark.slow
@pytest.mark.parametrize("chunk", range(10))
def test_hostile_texts_are_read_or_refused_and_ask_for_few_names(chunk: int) -> None:
    random = Random(chunk)  # noqa: S311 - a repeatable draw
    names = KnownNames()
    walks = type(reader())(names, "where", union=True)
    read_ones = 0
    for _ in range(10_000):
        text, names.asked = _drawn(random), 0
        try:
            (asked,) = read_conditions([text], walks)
            condition = resolved(asked, random.choice(("nodes", "literals", "both")), KNOWN)
            assert len(written(asked, condition, str)) <= 300
            read_ones += 1
        except InputError as error:
            assert error.valid or error.next_step, text  # noqa: PT017 - each error is looked at, not one that is expected
            assert len(str(error)) < 1_000, text  # noqa: PT017 - the same
        assert names.asked < 200, text
    assert read_ones > 1_000


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("pv:city", walk("city")),
        ("^pv:city", walk("^city")),
        ("pv:price/pv:amount", walk("price", "amount")),
        (" pv:price / ^ pv:amount ", walk("price", "^amount")),
        ("^pv:manager/^pv:city/pv:city/pv:price", walk("^manager", "^city", "city", "price")),
        (f"pv:price/<{EX}p/q>", walk("price", "p/q")),
        (f"^<{EX}p/q>/pv:city", walk("^p/q", "city")),
        (f"{EX}p/q", walk("p/q")),
        (f"^{EX}p/q", walk("^p/q")),
        ("located in/on physical feature", walk("P706")),
        ("^located in/on physical feature", walk("^P706")),
        ('"located in/on physical feature"/pv:city', walk("P706", "city")),
        ("a/b", walk("slash")),
        ("a = b", walk("ab")),
        ('"a = b"', walk("ab")),
    ],
)
def test_a_text_names_a_walk(text: str, expected: Walk) -> None:
    named = reader().walk(text)
    assert named is not None
    assert (named.walk, named.ambiguous) == (expected, ())


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("", "without a name"),
        ("/", "without a name"),
        ("pv:city/", "without a name"),
        ("^", "without a name"),
        ("pv:city//pv:price", "without a name"),
        ("<http://example.org", "without a name"),
        ('"pv:city', "without a name"),
        ('pv:price/"a"b"', "without a name"),
        ("/".join(["pv:city"] * 5), "5 steps"),
        ("pv:city/colour", "'colour' is no predicate"),
        ("x" * (LONGEST_TEXT + 1), "longer than 1,000 characters"),
        ("pv:city/" * 10_000, "longer than 1,000 characters"),
    ],
)
def test_a_text_that_names_none_is_told_what_is_wrong(text: str, wrong: str) -> None:
    assert reader().walk(text) is None
    with pytest.raises(InputError, match=wrong) as caught:
        reader().required(text)
    assert caught.value.valid
    assert len(str(caught.value)) < 500


def test_a_name_that_fits_several_predicates_means_all_where_a_union_is_allowed() -> None:
    named = reader().required("pv:price/^weight")
    assert named.walk == (*walk("price"), Step((EX + "gross", EX + "net"), is_inverse=True))
    assert named.ambiguous == (("weight", (EX + "gross", EX + "net")),)


def test_elsewhere_the_error_lists_them() -> None:
    with pytest.raises(InputError, match="'weight' fits 2 predicates") as caught:
        reader(union=False).walk("pv:price/weight")
    assert f"{EX}gross, {EX}net" in caught.value.valid
