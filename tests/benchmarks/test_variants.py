import pytest

from benchmarks.recall import COLUMNS, lines_of
from benchmarks.variants import TARGETS, VARIANTS, one_typo, other_order, plural, prefix

NAMES = ["Douglas Adams", "insulin", "a", "Cushing's disease", "city", "box", "New York City", "東京都", ""]


@pytest.mark.parametrize("name", NAMES)
def test_a_variant_is_the_same_in_every_run(name: str) -> None:
    for make in VARIANTS.values():
        assert make(name) == make(name)


def test_another_order_has_the_same_words_in_other_places() -> None:
    turned = other_order("New York City")
    assert turned is not None
    assert turned != "New York City"
    assert sorted(turned.split()) == ["City", "New", "York"]
    assert other_order("insulin") is None
    assert other_order("New New") is None


@pytest.mark.parametrize(
    ("name", "several"), [("drug", "drugs"), ("city", "cities"), ("day", "days"), ("box", "boxes"), ("T-54", None)]
)
def test_a_plural_is_that_of_the_last_word(name: str, several: str | None) -> None:
    assert plural(name) == several


def test_a_prefix_is_four_fifths_and_never_nothing() -> None:
    assert prefix("0123456789") == "01234567"
    assert prefix("a") == "a"


def test_a_typo_changes_a_name_and_its_length_by_one_at_most() -> None:
    for name in ("Douglas Adams", "insulin", "aaaaa"):
        wrong = one_typo(name)
        assert wrong is not None
        assert wrong != name
        assert abs(len(wrong) - len(name)) <= 1
    assert one_typo("four") is None


def test_every_variant_has_a_target() -> None:
    assert TARGETS.keys() == VARIANTS.keys()
    assert any(column.bound for column in COLUMNS.values())
    assert lines_of({}) == []
