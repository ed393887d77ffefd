import io
import re
from typing import cast

import pyoxigraph
import pytest
import rdflib
from hypothesis import example, given, settings
from hypothesis import strategies as st

from gateway.errors import InputError
from gateway.sparql.table import IriTerm, LiteralTerm, Term
from gateway.terms import render
from gateway.terms.iri import is_iri
from tests.examples import examples
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
