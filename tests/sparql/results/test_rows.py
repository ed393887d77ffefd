import pytest

from gateway.sparql.results.rows import Overflow, Rows
from gateway.sparql.results.terms import IriTerm
from tests.tables import table

SOME = table({"n": IriTerm("urn:one")})


def test_all_rows_of_a_whole_answer_are_returned() -> None:
    assert Rows(SOME).whole() == SOME


def test_a_cut_answer_cannot_be_taken_for_a_whole_one() -> None:
    with pytest.raises(Overflow):
        Rows(SOME, is_cut=True).whole()


@pytest.mark.parametrize("is_cut", [False, True])
def test_a_part_says_whether_rows_are_missing(is_cut: bool) -> None:
    assert Rows(SOME, is_cut=is_cut).part() == (SOME, is_cut)


def test_rows_cannot_be_read_without_saying_which() -> None:
    for name in ("__iter__", "__len__", "__getitem__", "__dict__"):
        assert not hasattr(Rows(SOME), name)
