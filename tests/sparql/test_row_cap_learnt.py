"""A row cap that no header names shows where two answers end early at one number of rows."""

from hypothesis import given
from hypothesis import strategies as st

from gateway.sparql.learned import RowCap


def test_two_different_queries_that_end_at_one_number_of_rows_show_a_cap() -> None:
    cap = RowCap()
    assert cap.saw_cut(10_000, "first") is None
    assert cap.saw_cut(10_000, "second") == 10_000


def test_a_query_that_ends_twice_at_the_same_row_shows_none() -> None:
    cap = RowCap()
    assert cap.saw_cut(10_000, "first") is None
    assert cap.saw_cut(10_000, "first") is None


def test_short_answers_show_none() -> None:
    cap = RowCap()
    assert cap.saw_cut(0, "first") is None
    assert cap.saw_cut(0, "second") is None
    assert cap.saw_cut(99, "first") is None
    assert cap.saw_cut(99, "second") is None


@given(whole=st.lists(st.integers(0, 20_000)), cuts=st.lists(st.tuples(st.integers(0, 20_000), st.text(max_size=2))))
def test_no_cap_is_below_what_an_answer_had(whole: list[int], cuts: list[tuple[int, str]]) -> None:
    cap = RowCap()
    for rows in whole:
        cap.saw_whole(rows)
    found = [caps for rows, query in cuts if (caps := cap.saw_cut(rows, query)) is not None]
    assert all(one >= max(whole, default=0) for one in found)
    assert len(found) <= len(cuts)
