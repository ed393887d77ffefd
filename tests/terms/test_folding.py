import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gateway.terms.names import compact, fold

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
