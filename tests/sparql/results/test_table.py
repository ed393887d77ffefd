from gateway.sparql.table import EMPTY, BlankTerm, IriTerm, LiteralTerm, Table
from tests.tables import rows_of, table

A, B, TEXT = IriTerm("urn:a"), IriTerm("urn:b"), LiteralTerm("text")
SOME = table({"n": A, "v": TEXT}, {"n": B}, {"n": A, "v": B})
OF_IRIS = Table(2, {}, {"n": ["urn:a", "urn:b"]})


def test_a_variable_that_every_row_binds_to_an_iri_is_a_column_of_iris() -> None:
    for rows in (SOME.first(2), OF_IRIS):
        assert rows.iris("n") == ["urn:a", "urn:b"]
        assert rows.terms("n") == [A, B]


def test_a_column_with_another_term_or_none_is_no_column_of_iris() -> None:
    assert SOME.iris("v") is None
    assert table({"n": A}, {"n": BlankTerm("b0")}).iris("n") is None
    assert table({"n": A}, {}).iris("n") is None


def test_an_unknown_variable_is_bound_in_no_row() -> None:
    assert SOME.terms("x") == [None, None, None]
    assert SOME.iris("x") is None


def test_parts_of_the_rows_have_their_terms_in_their_order() -> None:
    for rows in (SOME.first(2), SOME.at([0, 1]), SOME.where([True, True, False])):
        assert rows_of(rows, "nv") == [{"n": A, "v": TEXT}, {"n": B}]
    assert rows_of(SOME.at([2, 0]), "nv") == [{"n": A, "v": B}, {"n": A, "v": TEXT}]
    assert len(SOME.first(9)) == 3
    assert OF_IRIS.at([1]).iris("n") == OF_IRIS.where([False, True]).iris("n") == ["urn:b"]


def test_no_rows_have_every_column_and_nothing_in_it() -> None:
    for rows in (EMPTY, SOME.first(0), OF_IRIS.at([])):
        assert len(rows) == 0
        assert not rows.terms("n")
        assert not rows.iris("n")
        assert rows.iris("n") is not None
