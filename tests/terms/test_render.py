"""How terms become text: of SPARQL, of patterns, and folded for a search."""

import functools
import io
import re
import sys
import unicodedata
from collections.abc import Callable
from typing import cast

import pyoxigraph
import pytest
import rdflib
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from gateway.errors import InputError
from gateway.sparql.table import IriTerm, LiteralTerm, Term
from gateway.terms import render
from gateway.terms.iri import is_iri
from gateway.terms.names import compact, fold, fold_accents, fold_letters, fold_marks, folded_words, patterns
from tests import name_oracle as oracle
from tests.examples import examples
from tests.name_oracle import Fit
from tests.tables import decoded

SENDABLE = st.characters(exclude_categories=["Cs"], exclude_characters="\x00")
FRAGMENTS = st.sampled_from(
    [
        "\\", "u", "U", "0022", "005c", "000a", "00000022", "\\u0022", "\\U00000022", "\\u005C", '"', '"""', "'", "\n",
        "\r", "\t", "\b", "\f", "\x0b", "\x7f", "\x85", "\u2028", "#", "?_rows", "$x", ">", "<", "}", ". } INSERT", " ",
        "\ufffe", "\U0001f600", "a", "@en", "^^", "%22",
    ]
)  # fmt: skip
TEXT = st.one_of(st.text(SENDABLE, max_size=30), st.lists(FRAGMENTS, max_size=8).map("".join))
IRI = st.one_of(
    st.text(st.characters(exclude_categories=()), max_size=30),
    st.text(st.characters(exclude_categories=()), max_size=20).map(lambda text: f"http://example.org/{text}"),
    st.lists(FRAGMENTS, max_size=5).map(lambda parts: "a:" + "".join(parts)),
    st.from_regex(r"[a-z]{1,4}:(//)?[!-~\u00a0-\uffef]{0,12}", fullmatch=True),
).filter(is_iri)

ONE_STRING_TOKEN = re.compile(r'"(?:[^"\\\n\r]|\\[tbnrf"\'\\]|\\u[0-9A-Fa-f]{4}|\\U[0-9A-Fa-f]{8})*"')

ENGINE = pyoxigraph.Store()


def the_only_binding(query: str) -> Term:
    """Run a query whose answer must be one row with the one variable ?x."""
    answer = cast("pyoxigraph.QuerySolutions", ENGINE.query(query))
    output = io.BytesIO()
    answer.serialize(output, pyoxigraph.QueryResultsFormat.JSON)
    (row,) = decoded(output.getvalue(), "x")
    assert row.keys() == {"x"}
    return row["x"]


def as_rdflib_reads(rendered: str) -> rdflib.term.Node:
    ((term,),) = cast(
        "list[tuple[rdflib.term.Node]]", list(rdflib.Graph().query(f"SELECT ?x {{ VALUES ?x {{ {rendered} }} }}"))
    )
    return term


@given(IRI)
@example("http://example.org/%3E%20.%20%7D")
@settings(deadline=None, max_examples=examples(200))
def test_an_accepted_iri_comes_back_identical_or_the_engine_refuses_the_query(iri: str) -> None:
    try:
        binding = the_only_binding(f"SELECT ({render.iri(iri)} AS ?x) {{}}")
    except SyntaxError:
        return
    assert binding == IriTerm(iri)


@given(IRI)
@settings(deadline=None, max_examples=examples(100))
def test_an_accepted_iri_is_one_iri_to_an_engine_that_does_not_check_it(iri: str) -> None:
    assert as_rdflib_reads(render.iri(iri)) == rdflib.URIRef(iri)


@given(IRI)
@settings(deadline=None)
def test_an_accepted_iri_is_a_single_token_of_the_grammar(iri: str) -> None:
    assert re.fullmatch(r"<[^\x00-\x20<>\"{}|^`\\]*>", render.iri(iri))


@pytest.mark.parametrize(
    "text",
    [
        "http://e.org/a> . } INSERT DATA { <a:a> <a:b> <a:c> } #",
        "http://e.org/a>",
        "http://e.org/<a",
        "http://e.org/a\n} #",
        "http://e.org/a\n",
        "http://e.org/a\r",
        "http://e.org/a\tb",
        "http://e.org/a b",
        "http://e.org/a\x00b",
        "http://e.org/a\ud800b",
        "http://e.org/\udc00",
        "http://e.org/a\\u003Eb",
        "http://e.org/a\\",
        "http://e.org/a\x85b",
        'http://e.org/a"b',
        "http://e.org/{a}",
        "http://e.org/a|b",
        "http://e.org/a^b",
        "http://e.org/a`b",
        "<http://e.org/a>",
        "http//e.org/a",
        "relative",
        "#fragment",
        "",
        " http://e.org/a",
        "?x",
    ],
)
def test_text_that_could_end_an_iri_or_is_none_is_refused(text: str) -> None:
    with pytest.raises(InputError, match="is not a legal IRI") as caught:
        render.iri(text)
    assert caught.value.valid


@pytest.mark.parametrize(
    "character",
    [
        "%3E", "%22", "%0A", "%00", "'", "(", ")", ";", ".", "#", "--", "/*", "?_rows", "$x", "@", "&gt;",
        "\N{FULLWIDTH GREATER-THAN SIGN}", "\N{SMALL GREATER-THAN SIGN}", "\N{RIGHT ANGLE BRACKET}",
        "\N{SINGLE RIGHT-POINTING ANGLE QUOTATION MARK}", "\N{FULLWIDTH QUOTATION MARK}",
        "\N{RIGHT DOUBLE QUOTATION MARK}", "\N{MODIFIER LETTER DOUBLE PRIME}", "\N{FULLWIDTH REVERSE SOLIDUS}",
        "\N{FULLWIDTH RIGHT CURLY BRACKET}", "\N{NO-BREAK SPACE}", "\N{LINE SEPARATOR}", "\N{RIGHT-TO-LEFT OVERRIDE}",
        "\N{ZERO WIDTH SPACE}", "\N{COMBINING LONG SOLIDUS OVERLAY}",
    ],
)  # fmt: skip
def test_a_look_alike_of_a_delimiter_changes_no_query(character: str) -> None:
    iri = f"http://e.org/a{character}b"
    try:
        binding = the_only_binding(f"SELECT ({render.iri(iri)} AS ?x) {{}}")
    except (InputError, SyntaxError):
        return
    assert binding == IriTerm(iri)


NAMESPACES = st.sampled_from(
    [
        "http://e.org/",
        "http://e.org/a/",
        "http://e.org/a#",
        "http://e.org/a/../",
        "http://E.org/",
        "urn:a:",
        "https://é.e/",
    ]
)
LOCAL_NAMES = st.one_of(
    st.sampled_from(["", "0", "1e5", "_", "true", "a.", "a-b", "é", "a/b", "%41", "a:b", "A1"]), TEXT
)


@given(st.lists(st.builds("{}{}".format, NAMESPACES, LOCAL_NAMES).filter(is_iri), min_size=1, max_size=120))
@example([f"http://e.org/{name}" for name in ("0", "a.", "a-b", "é", "_") * 30])
@settings(deadline=None, max_examples=examples(100))
def test_rendered_iris_come_back_identical(iris: list[str]) -> None:
    prefixes: dict[str, str] = {}
    values = render.iris(iris, prefixes)
    query = f"{render.prologue(prefixes)}SELECT ?x {{ VALUES ?x {{ {values} }} }}"
    rows = cast("list[tuple[rdflib.term.Node]]", list(rdflib.Graph().query(query)))
    assert sorted(str(iri) for (iri,) in rows) == sorted(iris)
    try:
        answer = cast("pyoxigraph.QuerySolutions", ENGINE.query(query))
    except SyntaxError:
        return
    assert sorted(cast("pyoxigraph.NamedNode", row["x"]).value for row in answer) == sorted(iris)


def test_iris_of_a_namespace_that_many_share_are_prefixed_names_and_others_are_whole() -> None:
    many = [f"http://e.org/ns#{number}_x" for number in range(20)]
    prefixes: dict[str, str] = {}
    long = "http://e.org/ns#" + "x" * 101
    rendered = render.iris([*many, "http://e.org/other", "http://e.org/ns#a-b", long], prefixes)
    names = " ".join(f"n1:{number}_x" for number in range(20))
    assert rendered == f"{names} <http://e.org/other> <http://e.org/ns#a-b> <{long}>"
    assert render.prologue(prefixes) == "PREFIX n1: <http://e.org/ns#>\n"


def test_a_namespace_of_few_gets_no_prefix_beside_one_of_many() -> None:
    many, few = ([f"http://e.org/{part}/{number}" for number in range(size)] for part, size in (("a", 40), ("b", 19)))
    prefixes: dict[str, str] = {}
    assert render.iris([*many, *few], prefixes).endswith(" ".join(f"<{one}>" for one in few))
    assert prefixes == {"http://e.org/a/": "n1"}


def test_two_lists_of_one_query_share_a_prefix() -> None:
    prefixes: dict[str, str] = {}
    for namespace in ("http://e.org/", "http://e.org/a/", "http://e.org/"):
        render.iris([f"{namespace}{number}" for number in range(30)], prefixes)
    assert prefixes == {"http://e.org/": "n1", "http://e.org/a/": "n2"}


@pytest.mark.parametrize("namespace", ["http://E.org/", "http://e.org/a/../", "urn:a:", "http:a/"])
def test_no_prefix_is_declared_for_few_iris_or_a_namespace_that_an_engine_may_rewrite(namespace: str) -> None:
    prefixes: dict[str, str] = {}
    render.iris([f"{namespace}{number}" for number in range(50)], prefixes)
    render.iris([f"http://e.org/{number}" for number in range(19)], prefixes)
    assert prefixes == {}


@pytest.mark.parametrize(
    "bad",
    [
        "http://e.org/ n1:a",
        "http://e.org/a n1:b",
        "http://e.org/\nhttp://e.org/b",
        "http://e.org/a> . } #",
        "http://e.org/a\n",
        "http://e.org/\nn1:a",
        "relative",
        "",
    ],
)
def test_an_iri_that_is_none_is_refused_among_many(bad: str) -> None:
    with pytest.raises(InputError, match="is not a legal IRI"):
        render.iris([bad, *(f"http://e.org/{number}" for number in range(50)), bad], {})


def test_a_percent_escape_is_sent_as_it_is_written() -> None:
    iri = "http://e.org/a%3E%20b"
    assert the_only_binding(f"SELECT ({render.iri(iri)} AS ?x) {{}}") == IriTerm(iri)


@given(TEXT)
@example(r"a\u0022b")
@example("\\")
@example('"')
@settings(deadline=None, max_examples=examples(200))
def test_a_string_comes_back_identical_from_the_embedded_engine(text: str) -> None:
    binding = the_only_binding(f"SELECT ({render.string(text)} AS ?x) {{}}")
    assert binding == LiteralTerm(text)


@given(TEXT)
@example(r"a\u0022b")
@example(r"a\U00000022b")
@example(r"\\u0022")
@example(r"\u000a")
@settings(deadline=None, max_examples=examples(150))
def test_a_string_comes_back_identical_from_an_engine_that_reads_code_points_first(text: str) -> None:
    assert str(as_rdflib_reads(render.string(text))) == text


@given(TEXT)
@settings(deadline=None)
def test_a_rendered_string_is_a_single_token_on_one_line(text: str) -> None:
    rendered = render.string(text)
    assert ONE_STRING_TOKEN.fullmatch(rendered)


@given(TEXT, st.one_of(st.just("\x00"), st.characters(categories=["Cs"])), TEXT)
@settings(deadline=None)
def test_a_string_that_no_query_can_carry_is_refused_in_text_that_can_be_sent(head: str, bad: str, tail: str) -> None:
    with pytest.raises(InputError) as caught:
        render.string(head + bad + tail)
    assert str(caught.value).encode()
    assert len(str(caught.value).splitlines()) == 1


@pytest.mark.parametrize(("value", "text"), [(0, "0"), (101, "101"), (-5, "-5"), (2**70, str(2**70))])
def test_an_integer_is_written_in_digits(value: int, text: str) -> None:
    assert render.integer(value) == text


def test_booleans_are_written_as_sparql_has_them() -> None:
    assert (render.boolean(True), render.boolean(False)) == ("true", "false")


def all_marks() -> str:
    """Return all marks that Python's Unicode knows, as the ranges of a class."""
    codes = [code for code in range(sys.maxunicode + 1) if unicodedata.category(chr(code))[0] == "M"]
    runs = [(code, code) for code in codes[:1]]
    for code in codes[1:]:
        runs[-1:] = [(runs[-1][0], code)] if code == runs[-1][1] + 1 else [runs[-1], (code, code)]
    return "".join(f"{chr(first)}-{chr(last)}" for first, last in runs)


MARKS = all_marks()
ODD = "ßẞſøłđæıİΣσςάᾳΐйёЙﬁﬃŉǆŀⅣ½㎏①⑴ﷺﻻｶﾞガーが한가ㅎ한قَلہéÅǺñǘ𝐁𝟘Ⓑｊ²ªКम्हिผู้"
NAMES = st.text(
    st.one_of(st.sampled_from(f"{ODD}aAiIsSkKoO 0-'"), st.characters(exclude_categories=["Cs", "Cn"])), max_size=12
)
FORMS: dict[str, Callable[[str], str]] = {
    **{form: functools.partial(unicodedata.normalize, form) for form in ("NFC", "NFD", "NFKC", "NFKD")},
    "as it is": str,
    "upper": str.upper,
    "lower": str.lower,
    "title": str.title,
    "without accents": fold_accents,
    "without marks": fold_marks,
}


def matches(pattern: str, text: str) -> bool:
    """Match as an engine does that knows the class of marks."""
    return re.search(pattern.replace(r"[\p{M}", f"[{MARKS}").replace(r"\p{M}", f"[{MARKS}]"), text) is not None


@settings(max_examples=examples(400))
@given(NAMES, st.sampled_from(sorted(FORMS)), st.sampled_from(sorted(FORMS)))
@example("office", "as it is", "as it is")
@example("Straße", "as it is", "upper")
@example("한글", "NFC", "NFD")
@example("ｶﾞｶ", "as it is", "NFKC")
@example("ᾳx", "as it is", "upper")
@example("İstanbul", "as it is", "lower")
@example("aﾞb", "as it is", "NFKC")
@example("x \ufc62", "as it is", "as it is")
def test_patterns_match_every_name_that_has_their_words_in_any_form(name: str, one: str, other: str) -> None:
    query, stored = FORMS[one](name), FORMS[other](name)
    words = folded_words(query)
    found = {word: oracle.has(word, stored) for word in words}
    for word in words:
        for whole in (True, False):
            if found[word] in {Fit.WORDS, Fit.PLURAL} or (found[word] is Fit.PART and not whole):
                assert matches(patterns([word], whole=whole)[0], stored)
    if oracle.fit(query, stored) is not Fit.NOT:
        assert all(matches(pattern, stored) for pattern in patterns(words))


@settings(max_examples=examples(300))
@given(NAMES, st.data())
def test_a_pattern_matches_a_name_that_has_its_word_within_a_word(name: str, data: st.DataObject) -> None:
    folded = fold_accents(name)
    assume(folded)
    first, last = sorted(data.draw(st.tuples(*[st.integers(0, len(folded))] * 2)))
    for word in oracle.words(folded[first:last]):
        if oracle.has(word, name) in {Fit.WORDS, Fit.PART}:
            assert matches(patterns([word])[0], name)


@settings(max_examples=examples(200))
@given(st.lists(st.text(min_size=1, max_size=1_000), min_size=1, max_size=12), st.booleans())
@example(["i" * 1_000] * 12, True)
@example(["한" * 1_000] * 12, True)
def test_patterns_are_bounded_however_long_the_words_are(texts: list[str], whole: bool) -> None:
    words = [word for text in texts for word in folded_words(text)[:1]]
    assert sum(map(len, patterns(words, whole=whole))) <= 12_000


@settings(max_examples=examples(500))
@given(st.text())
def test_a_pattern_is_a_valid_expression_without_anything_that_a_word_could_put_there(text: str) -> None:
    for word in folded_words(text):
        for whole in (True, False):
            (pattern,) = patterns([word], whole=whole)
            outside = re.sub(r"\[[^\]]*\]|\\p\{M\}|\(\?:|[)|*$^]", "", pattern)
            assert outside == ""
            classes = re.findall(r"\[\^?([^\]]*)\]", pattern.replace(r"\p{M}", ""))
            assert not set("^\\]&~") & set("".join(classes))
            re.compile(pattern.replace(r"\p{M}", "x"))


def test_the_pattern_of_a_whole_word_does_not_match_it_inside_another() -> None:
    for word, inside, whole in (
        ("art", ("heart", "party", "Ärtz", "artist", "ARTIKEL"), ("fine art", "Art, fine", "(art)", "art")),
        ("k", ("kilo", "Björk", "k2", "2k"), ("vitamin-K", "k", "5 k", "K\u0308")),
        ("\u0434\u043e\u043c", ("\u0434\u043e\u043c\u0430", "\u0430\u0434\u043e\u043c"), ("\u0414\u043e\u043c 2",)),
    ):
        (pattern,) = patterns([word], whole=True)
        assert not [name for name in inside if matches(pattern, name)]
        assert all(matches(pattern, name) for name in whole)


def test_a_pattern_does_not_match_other_letters() -> None:
    (pattern,) = patterns(["bjork"])
    assert not any(matches(pattern, name) for name in ("Bjerk", "bj\u00f8rk", "bork", "b j o r k"))


@settings(max_examples=examples(1_000))
@given(st.characters(categories=["L", "N", "M"]), st.characters(categories=["L", "N", "M"]))
def test_what_is_equal_without_accents_is_equal_without_marks(one: str, other: str) -> None:
    for variant in (other, *(form(one) for form in FORMS.values())):
        if fold_accents(f"x{one}y") == fold_accents(f"x{variant}y"):
            assert fold_marks(f"x{one}y") == fold_marks(f"x{variant}y")
            assert fold_letters(f"x{one}y") == fold_letters(f"x{variant}y")


SEPARATORS = st.text(st.sampled_from("_- \t\n\u00a0\u2003"), min_size=1, max_size=3)
WORDS = st.lists(st.text(st.characters(categories=("L", "N")), min_size=1, max_size=6), min_size=1, max_size=4)


@pytest.mark.parametrize(
    "name",
    [
        "increases risk",
        "INCREASES_RISK",
        "Increases-Risk",
        " increases__risk ",
        "increases\n\trisk",
        "_increases_-risk-",
    ],
)
def test_case_and_separators_do_not_tell_names_apart(name: str) -> None:
    assert fold(name) == "increases risk"


def test_case_is_folded_and_not_only_lowered() -> None:
    assert fold("STRASSE") == fold("stra\u00dfe")


@pytest.mark.parametrize("other", ["increases risks", "increase risk", "increases.risk", "increasesrisk"])
def test_names_that_differ_in_a_letter_or_another_sign_stay_apart(other: str) -> None:
    assert fold(other) != fold("increases risk")


@given(WORDS, SEPARATORS, SEPARATORS)
@settings(deadline=None)
def test_any_run_of_separators_is_one(words: list[str], one: str, other: str) -> None:
    assert fold(one.join(words)) == fold(other.join(words)) == fold(f"{one}{other.join(words)}{one}")


@given(st.text())
@settings(deadline=None)
def test_folding_twice_is_folding_once(name: str) -> None:
    assert fold(fold(name)) == fold(name)
    assert compact(compact(name)) == compact(name)


@given(st.text())
@settings(deadline=None)
def test_a_folded_name_has_no_separator_but_single_blanks_between_words(name: str) -> None:
    assert all(word and not set(word) & set("_-\t\n") for word in fold(name).split(" ")) or fold(name) == ""


@pytest.mark.parametrize(
    "name", ["totalMentions", "total_mentions", "Total Mentions", "TOTAL-MENTIONS", "totalmentions"]
)
def test_the_compact_form_makes_camel_case_and_snake_case_one_role(name: str) -> None:
    assert compact(name) == "totalmentions"


@given(WORDS, SEPARATORS)
@settings(deadline=None)
def test_the_compact_form_ignores_separators_altogether(words: list[str], separator: str) -> None:
    assert compact(separator.join(words)) == compact("".join(words))
