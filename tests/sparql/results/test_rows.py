import pytest

from gateway.errors import AnswerCut
from gateway.sparql.table import EndedEarly, EndUnproven, IriTerm, Overflow, Rows
from tests.tables import table

SOME = table({"n": IriTerm("urn:one")})


def test_all_rows_of_a_whole_answer_are_returned() -> None:
    assert Rows(SOME).whole() == SOME


@pytest.mark.parametrize("missing", [Overflow(), EndedEarly(), EndUnproven()])
def test_an_answer_that_is_not_whole_cannot_be_taken_for_a_whole_one(missing: AnswerCut) -> None:
    rows = Rows(SOME, missing)
    with pytest.raises(type(missing)):
        rows.whole()
    assert rows.part() == (SOME, True)


def test_a_part_says_that_it_is_the_whole() -> None:
    assert Rows(SOME).part() == (SOME, False)


def test_rows_cannot_be_read_without_saying_which() -> None:
    for name in ("__iter__", "__len__", "__getitem__", "__dict__"):
        assert not hasattr(Rows(SOME), name)
