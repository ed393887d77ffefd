import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gateway.labels.word_forms import bag, forms, one_slip, slips, squashed, without_one, words_of
from tests.examples import examples

FEW_LETTERS = st.text("abc", max_size=6)


def all_slips(word: str, alphabet: str) -> set[str]:
    """Make every slip there is: a naive oracle."""
    places = range(len(word) + 1)
    less = {word[:place] + word[place + 1 :] for place in places}
    more = {word[:place] + letter + word[place:] for place in places for letter in alphabet}
    other = {word[:place] + letter + word[place + 1 :] for place in places[:-1] for letter in alphabet}
    turned = {word[:place] + word[place : place + 2][::-1] + word[place + 2 :] for place in places}
    return {word} | less | more | other | turned


@settings(max_examples=examples(500))
@given(FEW_LETTERS, FEW_LETTERS)
def test_one_slip_is_one_character_more_less_or_other_or_two_that_changed_places(one: str, other: str) -> None:
    assert one_slip(one, other) == (other in all_slips(one, "abc"))


@settings(max_examples=examples(300))
@given(FEW_LETTERS, st.data())
def test_words_that_one_slip_parts_share_a_number(word: str, data: st.DataObject) -> None:
    other = data.draw(st.sampled_from(sorted(all_slips(word, "abc"))))
    assert slips(word) & slips(other)


@settings(max_examples=examples(500))
@given(st.text())
def test_words_are_letters_digits_and_marks_and_nothing_else(text: str) -> None:
    for word in words_of(text):
        assert all(character.isalnum() or unicodedata.category(character)[0] == "M" for character in word)


@settings(max_examples=examples(500))
@given(st.text(max_size=100))
def test_words_have_no_words_but_themselves(text: str) -> None:
    words = words_of(text)
    assert words_of(" ".join(words)) == words


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Ménière's disease", ["meniere", "s", "disease"]),
        ("ÅLAND_Islands", ["aland", "islands"]),
        ("Straße", ["strasse"]),
        ("İstanbul", ["istanbul"]),
        ("beta-2 (β₂)", ["beta", "2", "β2"]),
        ("東京都", ["東", "京", "都"]),
        ("हिन्दी", ["हिन्दी"]),
        ("العربيّة", ["العربية"]),
        ('"AND" OR NOT* ^(', ["and", "or", "not"]),
        ("👍", []),
    ],
)
def test_case_accents_and_signs_make_no_difference(text: str, words: list[str]) -> None:
    assert words_of(text) == words


def test_keys_forget_blanks_and_order() -> None:
    assert squashed(words_of("New York")) == squashed(words_of("new-york")) == squashed(words_of("NewYork"))
    assert bag(words_of("York, New")) == bag(words_of("New York"))


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
    assert one in forms(other)


def test_a_word_without_one_of_its_characters() -> None:
    assert list(without_one("abc")) == ["bc", "ac", "ab"]
