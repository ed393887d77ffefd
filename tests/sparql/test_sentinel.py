"""The last row proves that all rows before it came: where it is last and the only one, and names its query."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.errors import BrokenAnswer
from gateway.sparql import template
from gateway.sparql.sentinel import END, Place, marker, without_sentinel
from gateway.sparql.table import IriTerm, LiteralTerm
from tests.cases import check_each
from tests.tables import Row, rows_of, table

MARKER = marker("SELECT ?s ?o WHERE { ?s ?p ?o }")
SENTINEL: Row = {END: LiteralTerm(MARKER)}
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
    answer, place = without_sentinel(table(*rows, SENTINEL), MARKER)
    assert place is Place.LAST
    assert rows_of(answer, VARIABLES) == rows


@given(ROWS, st.data())
def test_an_answer_that_is_cut_anywhere_has_none(rows: list[Row], data: st.DataObject) -> None:
    left = data.draw(st.integers(0, len(rows)))
    answer, place = without_sentinel(table(*[*rows, SENTINEL][:left]), MARKER)
    assert place is Place.MISSING
    assert rows_of(answer, VARIABLES) == rows[:left]


@given(ROWS.filter(bool), st.data())
def test_rows_behind_it_take_its_proof_away(rows: list[Row], data: st.DataObject) -> None:
    at = data.draw(st.integers(0, len(rows) - 1))
    assert without_sentinel(table(*rows[:at], SENTINEL, *rows[at:]), MARKER)[1] is Place.ELSEWHERE


@given(ROWS)
def test_two_of_them_prove_nothing(rows: list[Row]) -> None:
    assert without_sentinel(table(SENTINEL, *rows, SENTINEL), MARKER)[1] is Place.ELSEWHERE
    assert without_sentinel(table(*rows, SENTINEL, SENTINEL), MARKER)[1] is Place.ELSEWHERE


@given(ROWS)
def test_what_else_an_engine_binds_in_it_is_not_looked_at(rows: list[Row]) -> None:
    odd = {**SENTINEL, "s": IriTerm("https://example.org/a")}
    answer, place = without_sentinel(table(*rows, odd), MARKER)
    assert place is Place.LAST
    assert rows_of(answer, VARIABLES) == rows


@given(ROWS)
def test_the_answer_to_another_query_is_a_fault(rows: list[Row]) -> None:
    for other in (LiteralTerm("fin"), LiteralTerm(marker("ASK {}")), IriTerm(MARKER)):
        for answer in (table(*rows, {END: other}), table({END: other}, *rows), table(*rows, {END: other}, SENTINEL)):
            with pytest.raises(BrokenAnswer, match="another query"):
                without_sentinel(answer, MARKER)


def test_every_template_with_a_sentinel_asks_for_it_and_keeps_its_own_query() -> None:
    def check(name: str) -> None:
        text = template.load(name)
        plain = text.sample()
        for is_sorted in (False, True):
            query = text.with_sentinel(plain, 7, is_sorted=is_sorted)
            prologue = "".join(line for line in plain.splitlines(keepends=True) if line.startswith("PREFIX"))
            assert query.startswith(f"{prologue}SELECT {' '.join(f'?{one}' for one in text.variables)} ?end WHERE")
            assert plain.removeprefix(prologue).rstrip() in query
            assert f'BIND("{marker(plain)}" AS ?end)' in query
            assert query.rstrip().endswith("LIMIT 8")
            assert ("ORDER BY ?end" in query) is is_sorted

    check_each([name for name in template.names() if template.load(name).end == "sentinel"], check)


def test_a_template_that_declares_none_is_not_rendered_with_one() -> None:
    for name in ("alive", "edges_page"):
        text = template.load(name)
        with pytest.raises(template.TemplateError):
            text.with_sentinel(text.sample(), 7, is_sorted=False)


@given(st.lists(st.text(max_size=40), min_size=2, max_size=2, unique=True))
def test_two_queries_have_two_markers_and_one_has_one(queries: list[str]) -> None:
    one, other = queries
    assert marker(one) == marker(one)
    assert marker(one) != marker(other)
