import functools
import re
import sys
import unicodedata
from collections.abc import Callable

from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from gateway.terms.names import fold_accents, fold_letters, fold_marks, folded_words, patterns
from tests import name_oracle as oracle
from tests.examples import examples
from tests.name_oracle import Fit


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
