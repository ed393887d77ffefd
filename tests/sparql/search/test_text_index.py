"""What is typed reaches the query language of a text index as quoted words, and as nothing else."""

import re

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from gateway.errors import InputError
from gateway.sparql.search import variants
from gateway.sparql.text_search import blazegraph_query, distinctive_words, lucene_query, virtuoso_query
from gateway.terms.names import is_word, listed_words, words_of
from tests.examples import examples

LUCENE_SPECIAL = set('+-&|!(){}[]^"~*?:\\/ \t\n\r\u3000')
"""What ends a term of Lucene's classic syntax, or means something in it."""

WRITERS = [lucene_query, virtuoso_query, blazegraph_query]
HOSTILE = ["AND", "and or not", 'a" OR "b', "a) uri:*", "x* ?y", "~2", "[a TO z]", "\\", "'", "?x . } #", "a\x00b"]

texts = st.text(max_size=40) | st.sampled_from(HOSTILE)


def beginning(word: str) -> str:
    """Return what an index is asked for instead of a word of four characters and more."""
    word = word[:60]
    for ending in ("ies", "ses", "xes", "zes", "ches", "shes", "s"):
        cut = {"ies": 3, "s": 1}.get(ending, 2)
        if word.endswith(ending) and not word.endswith("ss") and len(word) - cut >= (5 if cut == 3 else 4):
            return word[:-cut]
    return word


TERM = r'(?:"([^"]+)"|\("([^"]+)" OR ([^"*]+)\*\))'
"""A word in quotes, or that and the beginning of words."""


def quoted_words(written: str, joint: str) -> list[str]:
    """Read a query of Lucene's back, strictly."""
    assert re.fullmatch(f"{TERM}(?:{joint}{TERM})*", written) is not None, written
    found = []
    for only, word, begun in re.findall(TERM, written):
        assert begun == beginning(word)
        assert not LUCENE_SPECIAL & set(begun)
        found.append(only or word)
    return found


@settings(deadline=None, max_examples=examples(300))
@given(text=texts, every=st.booleans())
@example(text="AND OR NOT", every=True)
@example(text="\u0130stanbul", every=True)
def test_lucene_gets_each_word_quoted_and_nothing_else(text: str, every: bool) -> None:
    words = words_of(text)
    if words:
        assert quoted_words(lucene_query(words, every=every), " AND " if every else " OR ") == [
            word[:60] for word in words
        ]


@settings(deadline=None, max_examples=examples(300))
@given(text=texts, every=st.booleans())
@example(text="1984", every=True)
@example(text="n" * 1_000, every=True)
@example(text="abc", every=True)
def test_virtuoso_gets_each_word_quoted_and_a_wildcard_only_after_four_characters(text: str, every: bool) -> None:
    words = words_of(text)
    if not words:
        return
    terms = virtuoso_query(words, every=every).split(" AND " if every else " OR ")
    for term, word in zip(terms, words, strict=True):
        assert term == (f'"{beginning(word)}*"' if len(word) >= 4 else f'"{word}"')
        assert '"' not in word


@settings(deadline=None, max_examples=examples(300))
@given(text=texts)
def test_a_bag_of_words_has_the_words_and_nothing_else(text: str) -> None:
    words = words_of(text)
    if words:
        expected = [f"{beginning(word)}*" if len(word) >= 4 else word for word in words]
        assert blazegraph_query(words, every=True).split() == expected


@pytest.mark.parametrize(
    ("plural", "begun"),
    [
        *(("proteins", "protein*"), ("diseases", "diseas*"), ("viruses", "virus*"), ("therapies", "therap*")),
        *(("cities", "citie*"), ("boxes", "boxe*"), ("churches", "church*"), ("glass", "glass*"), ("gas", "gas")),
        *(("bus", "bus"), ("cats", "cats*"), ("news", "news*")),
    ],
)
def test_a_plural_is_asked_for_by_what_its_singular_has_too(plural: str, begun: str) -> None:
    assert blazegraph_query([plural], every=True) == begun


@pytest.mark.parametrize("writer", WRITERS)
@settings(deadline=None, max_examples=examples(300))
@given(text=texts)
@example(text="And")
@example(text='"')
@example(text="")
@example(text="a b")
@example(text="\u0301")
def test_what_is_no_word_is_refused(writer: object, text: str) -> None:
    assert callable(writer)
    if is_word(text) and text == text.lower():
        assert (beginning(text) if len(text) >= 4 else text) in writer([text], every=True)
        return
    with pytest.raises(InputError):
        writer([text], every=True)


@settings(deadline=None, max_examples=examples(300))
@given(text=st.text(max_size=60))
def test_every_word_of_a_text_is_a_word(text: str) -> None:
    for word in words_of(text):
        assert is_word(word)
        assert not LUCENE_SPECIAL & set(word)


def test_the_longest_words_tell_whether_an_index_is_there() -> None:
    names = [("a", "The Cushing disease of 1932"), ("b", "desmopressin-acetate")]
    assert distinctive_words(names, 2) == [("b", "desmopressin"), ("b", "acetate")]
    assert distinctive_words([("a", "ab of")], 2) == []
    assert distinctive_words([("a", "\u6771\u4eac\u90fd")], 2) == [("a", "\u6771\u4eac\u90fd")]


def test_a_name_is_looked_up_in_several_cases_and_languages() -> None:
    found = variants("type_2  diabetes", ["de"])
    assert {text for text, _ in found} >= {
        *("type_2 diabetes", "type 2 diabetes", "Type 2 diabetes", "Type 2 Diabetes", "TYPE 2 DIABETES"),
    }
    assert list(dict.fromkeys(tag for _, tag in found)) == ["", "en", "de", "mul"]
    assert found[0] == ("type_2 diabetes", "")


@settings(deadline=None, max_examples=examples(300))
@given(text=st.text(max_size=1_000))
@example(text="n" * 1_000)
@example(text="\x00")
@example(text="a\ud800b")
def test_the_forms_of_a_text_are_few_and_can_be_sent(text: str) -> None:
    found = variants(text, ["de", "fr"])
    assert sum(len(form) for form, _ in found) <= max(4_000, 5 * 1_500)
    for form, _ in found:
        assert "\x00" not in form
        assert not any("\ud800" <= character <= "\udfff" for character in form)


def test_words_are_listed_in_few_characters() -> None:
    assert listed_words(["one", "n" * 1_000]) == f"one, {'n' * 23}…"
