"""IRIs and literals: which are taken, and what is made of them."""

import io
import itertools
import json
import math
from random import Random
from typing import cast

import pyoxigraph
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from gateway.sparql.table import LiteralTerm, literal_of
from gateway.terms.iri import (
    MAX_IRI,
    XSD,
    are_ordinary,
    is_iri,
    is_plain_iri,
    is_sendable,
    local_name,
    may_be_rewritten,
    not_sendable,
)
from gateway.terms.literals import (
    JsonScalar,
    Literal,
    are_translations,
    in_best_language,
    language_order,
    language_rank,
    sorted_values,
)
from tests.examples import examples
from tests.tables import decoded

ANY_CHARACTER = st.characters(exclude_categories=())
ANY_TEXT = st.text(ANY_CHARACTER, max_size=30)

# SPARQL 1.1, 19.8, IRIREF; RFC 3987 leaves out the controls of Latin-1 and the two non-characters as well.
DELIMITERS = set('<>"{}|^`\\')


def may_stand_in_an_iri(character: str) -> bool:
    code = ord(character)
    return (
        code > 0x20
        and character not in DELIMITERS
        and not 0x7F <= code <= 0x9F
        and not 0xD800 <= code <= 0xDFFF
        and code not in {0xFFFE, 0xFFFF}
    )


def the_engine_takes(iri: str) -> bool:
    try:
        pyoxigraph.NamedNode(iri)
    except ValueError:
        return False
    return True


def test_every_character_of_the_basic_plane_is_judged_by_the_grammar() -> None:
    wrong = [code for code in range(0x10000) if is_iri(f"a:{chr(code)}") != may_stand_in_an_iri(chr(code))]
    assert wrong == []


@given(ANY_TEXT)
@settings(deadline=None)
def test_one_bad_character_anywhere_spoils_an_iri(text: str) -> None:
    assert is_iri(f"http://example.org/{text}") == all(may_stand_in_an_iri(character) for character in text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "http",
        "/path",
        "//host/path",
        "#fragment",
        ":local",
        "1http://a",
        "-a:b",
        "h ttp://a",
        "\u00e9:a",
        " a:b",
        "a:b\n",
    ],
)
def test_text_without_a_scheme_in_front_is_no_iri(text: str) -> None:
    assert not is_iri(text)


@pytest.mark.parametrize(
    "text",
    ["http://a", "urn:uuid:1", "a:", "tag:x,2026:y", "svn+ssh://a", "http://example.org/\u00e9", "a:%zz", "a:\ue000"],
)
def test_an_absolute_iri_is_one_even_where_some_engines_are_stricter(text: str) -> None:
    assert is_iri(text)


@given(st.one_of(ANY_TEXT, ANY_TEXT.map(lambda text: f"http://example.org/{text}")))
@settings(deadline=None)
def test_whatever_the_engine_takes_can_be_asked_for(text: str) -> None:
    assert is_iri(text) or not the_engine_takes(text) or ":" not in text


PLAIN = st.from_regex(r"[a-z][a-z0-9+.\-]{0,4}:(//)?[A-Za-z0-9\-._~:/?#@!$&'()*+,;=%]{0,12}", fullmatch=True)


@given(PLAIN)
@example("http://host:port/")
@example("http://one@two@three/")
@example("http://example.org/#one#two")
@settings(deadline=None, max_examples=examples(500))
def test_the_engine_has_no_reason_to_refuse_a_plain_iri(text: str) -> None:
    assert the_engine_takes(text) or not is_plain_iri(text)


@given(st.one_of(ANY_TEXT, PLAIN))
@settings(deadline=None)
def test_a_plain_iri_is_an_iri(text: str) -> None:
    assert is_iri(text) or not is_plain_iri(text)


@pytest.mark.parametrize("text", ["http://example.org/a_b-c~d", "urn:isbn:0451450523", "http://e.org/?q=1&r=%2F#x"])
def test_everyday_iris_are_plain(text: str) -> None:
    assert is_plain_iri(text)


@pytest.mark.parametrize("text", ["a:%zz", "a:%", "a:\u00e9", "a:\ue000", "http://[::1]/", "no-scheme"])
def test_an_iri_that_some_engine_may_refuse_is_not_plain(text: str) -> None:
    assert not is_plain_iri(text)


def test_an_iri_that_has_a_composed_form_may_be_rewritten() -> None:
    assert may_be_rewritten("http://example.org/cafe\u0301")
    assert not may_be_rewritten("http://example.org/caf\u00e9")


@pytest.mark.parametrize(
    ("iri", "name"),
    [
        ("http://example.org/vocabulary#treats", "treats"),
        ("http://example.org/Drug", "Drug"),
        ("http://example.org/Drug/", "Drug"),
        ("http://example.org/v#", "v"),
        ("urn:uuid:42", "42"),
        ("mailto:someone@example.org", "someone@example.org"),
        ("http://example.org/a#b/c", "c"),
    ],
)
def test_the_local_name_is_the_last_part(iri: str, name: str) -> None:
    assert local_name(iri) == name


@given(ANY_TEXT.map(lambda text: f"urn:{text}"))
@settings(deadline=None)
def test_a_local_name_is_never_empty_and_always_a_part_of_the_iri(iri: str) -> None:
    name = local_name(iri)
    assert name
    assert name in iri


NEARLY_IRIS = st.builds(
    "".join,
    st.tuples(
        st.sampled_from(["", "http:", "http://", "https://", "HTTP://", "https:///", "urn:"]),
        st.sampled_from(["", "a", "example.org", "Example.org", "a.b:80", "u@h"]),
        st.sampled_from(["", "/", "/.", "/./", "/.a", "/a/B", "?Q", "#F/."]),
        st.text(st.sampled_from('aZ0/.\n<>"{}|^`\\ %#?[]@$~\x7f\u00e9\u212b'), max_size=3) | ANY_TEXT,
    ),
)


@given(st.lists(NEARLY_IRIS, max_size=4))
@settings(deadline=None, max_examples=examples(1_000))
def test_texts_that_are_ordinary_are_each_an_iri_that_no_engine_rewrites(texts: list[str]) -> None:
    if are_ordinary(texts):
        assert all(is_iri(text) and not may_be_rewritten(text) for text in texts)


@given(st.lists(NEARLY_IRIS, max_size=4), st.booleans())
@settings(deadline=None, max_examples=examples(300))
def test_what_is_not_sendable_is_judged_alike_alone_and_among_others(texts: list[str], is_long: bool) -> None:
    texts = [*texts, f"http://a/{'b' * MAX_IRI}"] if is_long else texts
    assert not_sendable(texts) == {text for text in texts if not is_sendable(text)}


def test_one_odd_text_is_found_among_thousands() -> None:
    many = [f"http://www.wikidata.org/entity/Q{number}" for number in range(12_000)]
    assert are_ordinary(many)
    for odd in ("http://a/b\nhttp://c/d", "http://a/b\n", "", "Q1", "http://a/ b", "http://a/../b", "http://a/\u00e9"):
        assert not are_ordinary([*many, odd])
        assert not are_ordinary([odd, *many])
    for alike in (["http://a", "http://aB/c"], ["http://a/", "http://A/"], ["http://a/", "http://"]):
        assert not are_ordinary(alike)


def test_everyday_iris_are_ordinary() -> None:
    everyday = [
        "http://a",
        "https://a/",
        "http://purl.obolibrary.org/obo/GO_1",
        "https://a/b?c=D&e=[1]#f",
        "http://a:1/%20",
    ]
    assert are_ordinary(everyday)
    assert are_ordinary([])


INTEGERS = (
    "integer", "int", "long", "short", "byte", "nonNegativeInteger", "positiveInteger", "nonPositiveInteger",
    "negativeInteger", "unsignedLong", "unsignedInt", "unsignedShort", "unsignedByte",
)  # fmt: skip
REALS = ("decimal", "double", "float")
DATES = ("date", "dateTime", "dateTimeStamp", "time", "gYear", "gYearMonth", "gMonth", "gMonthDay", "gDay")


def typed(value: str, datatype: str) -> JsonScalar:
    return Literal(value, f"{XSD}{datatype}").json


def as_the_engine_keeps_it(value: str, datatype: str) -> Literal:
    """Store a literal in the embedded engine, which canonicalises it, and read it back."""
    thing = pyoxigraph.NamedNode("http://example.org/a")
    stored = pyoxigraph.Literal(value, datatype=pyoxigraph.NamedNode(f"{XSD}{datatype}"))
    engine = pyoxigraph.Store()
    engine.add(pyoxigraph.Quad(thing, thing, stored))
    output = io.BytesIO()
    cast("pyoxigraph.QuerySolutions", engine.query("SELECT ?v { ?s ?p ?v }")).serialize(
        output, pyoxigraph.QueryResultsFormat.JSON
    )
    (row,) = decoded(output.getvalue(), "v")
    assert isinstance(row["v"], LiteralTerm)
    return literal_of(row["v"])


def exactly(value: object) -> tuple[type, object]:
    """Tell 1 from 1.0 and from True."""
    return type(value), value


@pytest.mark.parametrize("datatype", INTEGERS)
@pytest.mark.parametrize(("text", "number"), [("1", 1), ("+5", 5), ("01", 1), ("-0", 0), (" 7\n", 7), ("-12", -12)])
def test_every_integer_type_is_a_json_integer_whatever_its_form(datatype: str, text: str, number: int) -> None:
    assert exactly(typed(text, datatype)) == (int, number)


@pytest.mark.parametrize("datatype", REALS)
@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("0.95", 0.95),
        ("0.950", 0.95),
        (".95", 0.95),
        ("1", 1.0),
        ("1.0", 1.0),
        ("1.", 1.0),
        ("+1.5", 1.5),
        ("-2", -2.0),
    ],
)
def test_every_real_type_is_a_json_number_whatever_its_form(datatype: str, text: str, number: float) -> None:
    assert exactly(typed(text, datatype)) == (float, number)


@pytest.mark.parametrize("datatype", ["double", "float"])
@pytest.mark.parametrize(
    ("text", "number"), [("0.95e0", 0.95), ("9.5E-1", 0.95), ("1e3", 1000.0), ("1.0E0", 1.0), ("-1e+2", -100.0)]
)
def test_a_number_with_an_exponent_is_the_same_number(datatype: str, text: str, number: float) -> None:
    assert exactly(typed(text, datatype)) == (float, number)


@pytest.mark.parametrize("text", ["-0", "-0.0", "0", "0.0"])
def test_zero_has_no_sign(text: str) -> None:
    value = typed(text, "double")
    assert isinstance(value, float)
    assert (value, math.copysign(1, value)) == (0.0, 1.0)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("9007199254740991", 9007199254740991),
        ("-9007199254740991", -9007199254740991),
        ("9007199254740992", "9007199254740992"),
        ("+9007199254740993", "9007199254740993"),
        ("009007199254740993", "9007199254740993"),
        ("-9007199254740992", "-9007199254740992"),
        ("12345678901234567890123", "12345678901234567890123"),
    ],
)
def test_an_integer_is_a_number_below_two_to_the_53rd_and_text_from_there_on(text: str, value: int | str) -> None:
    assert exactly(typed(text, "integer")) == exactly(value)


@pytest.mark.parametrize("digits", [41, 5000])
def test_an_integer_too_long_to_compute_with_is_still_its_digits(digits: int) -> None:
    assert typed("7" * digits, "integer") == "7" * digits


@pytest.mark.parametrize("text", ["+" + "7" * 45, "0" + "7" * 45, "7" * 45])
def test_a_long_integer_has_one_form_too(text: str) -> None:
    assert typed(text, "integer") == "7" * 45


def test_a_long_run_of_zeros_does_not_make_a_small_integer_text() -> None:
    assert typed("0" * 50 + "5", "integer") == 5


@pytest.mark.parametrize(
    ("text", "value"),
    [("INF", "INF"), ("+INF", "INF"), ("-INF", "-INF"), ("NaN", "NaN"), ("1e400", "INF"), ("-1e400", "-INF")],
)
def test_what_no_json_number_can_say_is_text(text: str, value: str) -> None:
    assert typed(text, "double") == value


@pytest.mark.parametrize(("text", "value"), [("Infinity", "INF"), ("-Infinity", "-INF")])
def test_infinity_as_java_writes_it_is_that_of_xml_schema(text: str, value: str) -> None:
    assert typed(text, "double") == value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("9007199254740991", 9007199254740991),
        ("9007199254740993", "9007199254740993"),
        ("-9007199254740993.0", "-9007199254740993"),
        ("+12345678901234567890123", "12345678901234567890123"),
        ("9007199254740993.5", 9007199254740993.5),
    ],
)
def test_a_large_decimal_without_a_fraction_keeps_its_digits(text: str, value: object) -> None:
    assert typed(text, "decimal") == value


def test_a_decimal_beyond_every_double_is_its_digits_and_not_infinite() -> None:
    assert typed("1" * 400, "decimal") == "1" * 400


@pytest.mark.parametrize(
    ("text", "value"), [("true", True), ("1", True), ("false", False), ("0", False), (" true ", True)]
)
def test_a_boolean_is_one_in_each_of_its_forms(text: str, value: bool) -> None:
    assert exactly(typed(text, "boolean")) == (bool, value)


@pytest.mark.parametrize(
    ("text", "datatype"),
    [
        *(
            (text, name)
            for name in INTEGERS
            for text in ("", "x", "1.0", "1e2", "--1", "0x1F", "1 2", "\u0661", "1_000")
        ),
        *((text, name) for name in REALS for text in ("", "x", "1,5", "e5", ".", "inf", "nan", "1_0.0", "\u0661")),
        *((text, "boolean") for text in ("", "True", "yes", "2", "TRUE")),
        *((text, name) for name in DATES for text in ("", "yesterday", "1/2/2020")),
    ],
)
def test_an_ill_typed_literal_is_its_text(text: str, datatype: str) -> None:
    assert exactly(typed(text, datatype)) == (str, text)


@pytest.mark.parametrize("datatype", DATES)
@pytest.mark.parametrize("offset", ["Z", "+00:00", "-00:00"])
def test_every_date_type_writes_utc_as_z(datatype: str, offset: str) -> None:
    text = {"time": "12:30:00", "gYear": "2020", "gDay": "---05", "dateTime": "2020-01-02T12:30:00"}.get(
        datatype, "2020-01-02"
    )
    assert typed(f"{text}{offset}", datatype) == f"{text}Z"


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("2020-01-02T03:04:05.000Z", "2020-01-02T03:04:05Z"),
        ("2020-01-02T03:04:05.120+00:00", "2020-01-02T03:04:05.12Z"),
        ("2020-01-02T03:04:05.0", "2020-01-02T03:04:05"),
        ("2020-01-02T03:04:05.100", "2020-01-02T03:04:05.1"),
        ("2020-01-02T03:04:05.010+05:30", "2020-01-02T03:04:05.01+05:30"),
        ("2020-01-02T03:04:05.000-08:00", "2020-01-02T03:04:05-08:00"),
        ("2020-01-02T03:04:00", "2020-01-02T03:04:00"),
        (" 2020-01-02T03:04:05Z ", "2020-01-02T03:04:05Z"),
    ],
)
def test_a_time_is_lexical_without_empty_fractions(text: str, value: str) -> None:
    assert typed(text, "dateTime") == value


@pytest.mark.parametrize("text", ["2000", "-0044", "12000"])
def test_a_year_stays_as_it_is_written(text: str) -> None:
    assert typed(text, "gYear") == text


@pytest.mark.parametrize("datatype", ["", f"{XSD}anyURI", f"{XSD}duration", "http://example.org/kilogram"])
@pytest.mark.parametrize("text", ["5", "true", " 5 ", "2020-01-01+00:00", ""])
def test_any_other_literal_is_its_text_unchanged(text: str, datatype: str) -> None:
    assert exactly(Literal(text, datatype).json) == (str, text)


DIGITS = st.text("0123456789", min_size=1, max_size=25)
SIGNS = st.sampled_from(["", "+", "-"])
NUMBERS = st.one_of(
    st.tuples(st.builds("{}{}".format, SIGNS, DIGITS), st.sampled_from(INTEGERS)),
    st.tuples(st.builds("{}{}.{}".format, SIGNS, DIGITS, DIGITS), st.sampled_from(["decimal", "double"])),
    st.tuples(st.builds("{}{}".format, SIGNS, DIGITS), st.sampled_from(["decimal", "double"])),
    st.tuples(st.builds("{}{}.{}e{}".format, SIGNS, DIGITS, DIGITS, st.integers(-350, 350)), st.just("double")),
    st.tuples(st.sampled_from(["INF", "+INF", "-INF", "NaN", " 5 ", "x", ""]), st.sampled_from([*INTEGERS, *REALS])),
    st.tuples(st.sampled_from(["true", "1", "false", "0", "yes"]), st.just("boolean")),
)
OFFSETS = st.sampled_from(["", "Z", "+00:00", "-00:00", "+05:30", "-08:00", "+14:00"])
FRACTIONS = st.one_of(st.just(""), st.text("0123456789", min_size=1, max_size=9).map(".{}".format))
MOMENTS = st.one_of(
    st.tuples(
        st.builds(
            "{:%Y-%m-%dT%H:%M:%S}{}{}".format, st.datetimes().filter(lambda at: at.year >= 1000), FRACTIONS, OFFSETS
        ),
        st.just("dateTime"),
    ),
    st.tuples(st.builds("{:%H:%M:%S}{}{}".format, st.times(), FRACTIONS, OFFSETS), st.just("time")),
    st.tuples(st.builds("{}{}".format, st.dates(), OFFSETS), st.just("date")),
    st.tuples(st.builds("{:04}{}".format, st.integers(1, 9999), OFFSETS), st.just("gYear")),
    st.tuples(
        st.builds("{:04}-{:02}{}".format, st.integers(1, 9999), st.integers(1, 12), OFFSETS), st.just("gYearMonth")
    ),
    st.tuples(st.builds("--{:02}{}".format, st.integers(1, 12), OFFSETS), st.just("gMonth")),
    st.tuples(
        st.builds("--{:02}-{:02}{}".format, st.integers(1, 12), st.integers(1, 28), OFFSETS), st.just("gMonthDay")
    ),
    st.tuples(st.builds("---{:02}{}".format, st.integers(1, 28), OFFSETS), st.just("gDay")),
)


@given(st.one_of(NUMBERS, MOMENTS))
@settings(deadline=None, max_examples=examples(300))
def test_a_literal_has_the_same_json_after_an_engine_made_it_canonical(case: tuple[str, str]) -> None:
    value, datatype = case
    assert exactly(as_the_engine_keeps_it(value, datatype).json) == exactly(typed(value, datatype))


@given(st.floats(width=32, allow_nan=False, allow_infinity=False).map(repr))
@example("16777217")
@example("0.1")
@example("1e-50")
@settings(deadline=None)
def test_a_single_precision_number_has_the_same_json_after_an_engine_made_it_canonical(text: str) -> None:
    assert exactly(as_the_engine_keeps_it(text, "float").json) == exactly(typed(text, "float"))


@pytest.mark.slow
@given(
    st.one_of(st.text(max_size=20), NUMBERS.map(lambda case: case[0])),
    st.sampled_from([*INTEGERS, *REALS, *DATES, "boolean", "string"]),
)
@settings(deadline=None)
def test_every_value_can_be_written_as_strict_json_and_comes_back(text: str, datatype: str) -> None:
    value = typed(text, datatype)
    assert exactly(json.loads(json.dumps(value, allow_nan=False))) == exactly(value)


def test_languages_go_by_preference_then_untagged_then_mul_then_english_then_the_first_tag() -> None:
    order = ["fr", "fr-ca", "de", "", "mul", "en", "en-us", "aa", "ja", "zh"]
    for tags in (order, order[::-1], sorted(order)):
        assert sorted(tags, key=lambda tag: language_rank(tag, language_order(["fr", "de"]))) == order


@pytest.mark.parametrize(
    ("tags", "preferred", "best"),
    [
        (["en", "", "mul"], [], ""),
        (["en", "mul", "aa"], [], "mul"),
        (["aa", "en"], [], "en"),
        (["zh", "aa"], [], "aa"),
        (["en-gb", "de"], [], "en-gb"),
        (["en", "en-gb"], [], "en"),
        (["", "fr"], ["fr"], "fr"),
        (["", "fr-ca"], ["fr"], "fr-ca"),
        (["fro", "en"], ["fr"], "en"),
        (["de", "fr"], ["fr", "de"], "fr"),
        (["en", "en-us"], ["en-us", "en"], "en-us"),
    ],
)
def test_only_the_text_in_the_best_language_is_returned(tags: list[str], preferred: list[str], best: str) -> None:
    for order in itertools.permutations(tags):
        best_texts = in_best_language(
            [Literal(f"text in {tag}", language=tag) for tag in order], language_order(preferred)
        )
        assert best_texts == [Literal(f"text in {best}", language=best)]


def test_all_texts_of_the_best_language_and_all_other_values_are_returned_in_order() -> None:
    number = Literal("5", f"{XSD}integer")
    texts = [Literal("one", language="en"), number, Literal("eins", language="de"), Literal("first", language="en")]
    assert in_best_language(texts, language_order([])) == [texts[0], number, texts[3]]
    assert in_best_language([number], language_order([])) == [number]
    assert in_best_language([], language_order([])) == []


VALUES = st.lists(
    st.one_of(st.booleans(), st.integers(-5, 5), st.sampled_from([0.0, 1.0, 2.5, -1.5]), st.text("ab1", max_size=2)),
    max_size=8,
)


@given(VALUES, st.randoms(use_true_random=False))
@settings(deadline=None)
def test_values_are_sorted_the_same_from_whatever_order_they_came_in(values: list[JsonScalar], random: Random) -> None:
    shuffled = values[:]
    random.shuffle(shuffled)
    assert [exactly(value) for value in sorted_values(shuffled)] == [exactly(value) for value in sorted_values(values)]


@given(VALUES)
@settings(deadline=None)
def test_sorting_returns_each_distinct_value_once_with_its_type(values: list[JsonScalar]) -> None:
    found = [exactly(value) for value in sorted_values(values)]
    assert len(found) == len(set(found))
    assert set(found) == {exactly(value) for value in values}


def test_booleans_come_before_numbers_and_numbers_before_text_by_code_points() -> None:
    assert sorted_values(["b", 10, "B", 2.5, True, "", False, 3]) == [False, True, 2.5, 3, 10, "", "B", "b"]


@pytest.mark.parametrize(
    ("one", "other", "are_so"),
    [
        (("12 Uhr", "de"), ("MMMM shirt", "en"), False),
        (("19. Jh.", "de"), ("XIX sec.", "it"), True),
        (("CO₂ H₂O", "en"), ("Wasser", "de"), True),
        (("a", "en"), ("b", "und-latn"), False),
        (("a", "en"), ("b", "de-ch"), True),
    ],
)
def test_texts_with_figures_or_without_a_language_are_no_translations(
    one: tuple[str, str], other: tuple[str, str], are_so: bool
) -> None:
    assert are_translations(Literal(text, language=tag) for text, tag in (one, other)) is are_so
