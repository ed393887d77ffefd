import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gateway.search_index.index_search import (
    deletion_keys,
    deletions,
    index_words,
    joined_key,
    sorted_key,
)
from gateway.terms.names import inflections, is_one_edit_apart
from tests.examples import examples

FEW_LETTERS = st.text("abc", max_size=6)


def all_edits(word: str, alphabet: str) -> set[str]:
    """Return all words one edit away: a naive oracle."""
    places = range(len(word) + 1)
    less = {word[:place] + word[place + 1 :] for place in places}
    more = {word[:place] + letter + word[place:] for place in places for letter in alphabet}
    other = {word[:place] + letter + word[place + 1 :] for place in places[:-1] for letter in alphabet}
    turned = {word[:place] + word[place : place + 2][::-1] + word[place + 2 :] for place in places}
    return {word} | less | more | other | turned


@settings(max_examples=examples(500))
@given(FEW_LETTERS, FEW_LETTERS)
def test_one_edit_inserts_deletes_or_replaces_a_character_or_swaps_two(one: str, other: str) -> None:
    assert is_one_edit_apart(one, other) == (other in all_edits(one, "abc"))


@settings(max_examples=examples(300))
@given(FEW_LETTERS, st.data())
def test_words_one_edit_apart_share_a_deletion_key(word: str, data: st.DataObject) -> None:
    other = data.draw(st.sampled_from(sorted(all_edits(word, "abc"))))
    assert deletion_keys(word) & deletion_keys(other)


@settings(max_examples=examples(500))
@given(st.text())
def test_words_are_letters_digits_and_marks_and_nothing_else(text: str) -> None:
    for word in index_words(text):
        assert all(character.isalnum() or unicodedata.category(character)[0] == "M" for character in word)


@settings(max_examples=examples(500))
@given(st.text(max_size=100))
def test_words_have_no_words_but_themselves(text: str) -> None:
    # A mark alone is no word, though the index has the marks of a script without blanks one by one.
    words = [word for word in index_words(text) if any(map(str.isalnum, word))]
    assert index_words(" ".join(words)) == words


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Ménière's disease", ["meniere", "s", "disease"]),
        ("ÅLAND_Islands", ["aland", "islands"]),
        ("Straße", ["strasse"]),
        ("İstanbul", ["istanbul"]),
        ("beta-2 (β₂)", ["beta", "2", "β2"]),
        ("東京都", ["東", "京", "都"]),
        ("ガbox", ["カ", "\u3099", "box"]),
        ("हिन्दी", ["हिन्दी"]),
        ("العربيّة", ["العربية"]),
        ('"AND" OR NOT* ^(', ["and", "or", "not"]),
        ("👍", []),
    ],
)
def test_case_accents_and_signs_make_no_difference(text: str, words: list[str]) -> None:
    assert index_words(text) == words


def test_keys_forget_blanks_and_order() -> None:
    assert len({joined_key(index_words(name)) for name in ("New York", "new-york", "NewYork")}) == 1
    assert sorted_key(index_words("York, New")) == sorted_key(index_words("New York"))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("drug", "drugs"),
        ("city", "cities"),
        ("box", "boxes"),
        ("wolf", "wolves"),
        ("knife", "knives"),
        ("woman", "women"),
    ],
)
def test_a_plural_has_its_singular_among_its_forms(one: str, other: str) -> None:
    assert one in inflections(other)


def test_a_word_without_one_of_its_characters() -> None:
    assert list(deletions("abc")) == ["bc", "ac", "ab"]
