import pyoxigraph
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from gateway.terms.iri import (
    MAX_IRI,
    are_ordinary,
    is_iri,
    is_plain_iri,
    is_sendable,
    local_name,
    may_be_rewritten,
    not_sendable,
)
from tests.examples import examples

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
