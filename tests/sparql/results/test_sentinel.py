"""The last row proves that all rows before it came: where it is last, alone and the only one."""

from hypothesis import given
from hypothesis import strategies as st

from gateway.sparql.results.sentinel import END, Place, without_sentinel
from gateway.sparql.results.terms import IriTerm, LiteralTerm
from tests.tables import Row, rows_of, table

SENTINEL: Row = {END: LiteralTerm(END)}
ROWS = st.lists(
    st.fixed_dictionaries(
        {"s": st.integers(0, 9).map(lambda n: IriTerm(f"https://example.org/{n}"))},
        optional={"o": st.text(max_size=3).map(LiteralTerm)},
    ),
    max_size=20,
)
VARIABLES = ("s", "o")


@given(ROWS)
def test_where_it_is_last_all_rows_before_it_are_the_answer(rows: list[Row]) -> None:
    answer, place = without_sentinel(table(*rows, SENTINEL), VARIABLES)
    assert place is Place.LAST
    assert rows_of(answer, VARIABLES) == rows


@given(ROWS, st.data())
def test_an_answer_that_is_cut_anywhere_has_none(rows: list[Row], data: st.DataObject) -> None:
    left = data.draw(st.integers(0, len(rows)))
    answer, place = without_sentinel(table(*[*rows, SENTINEL][:left]), VARIABLES)
    assert place is Place.MISSING
    assert rows_of(answer, VARIABLES) == rows[:left]


@given(ROWS.filter(bool), st.data())
def test_rows_behind_it_take_its_proof_away(rows: list[Row], data: st.DataObject) -> None:
    at = data.draw(st.integers(0, len(rows) - 1))
    assert without_sentinel(table(*rows[:at], SENTINEL, *rows[at:]), VARIABLES)[1] is Place.ELSEWHERE


@given(ROWS)
def test_two_of_them_prove_nothing(rows: list[Row]) -> None:
    assert without_sentinel(table(SENTINEL, *rows, SENTINEL), VARIABLES)[1] is Place.ELSEWHERE
    assert without_sentinel(table(*rows, SENTINEL, SENTINEL), VARIABLES)[1] is Place.ELSEWHERE


@given(ROWS)
def test_one_that_binds_more_proves_nothing(rows: list[Row]) -> None:
    odd = {**SENTINEL, "s": IriTerm("https://example.org/a")}
    assert without_sentinel(table(*rows, odd), VARIABLES)[1] is Place.ELSEWHERE


@given(ROWS)
def test_another_value_proves_nothing(rows: list[Row]) -> None:
    for other in (LiteralTerm("fin"), IriTerm(END)):
        assert without_sentinel(table(*rows, {END: other}), VARIABLES)[1] is Place.ELSEWHERE
