from collections.abc import Callable

import pytest

from gateway.graph.values import Edge
from gateway.sparql.table import (
    BlankTerm,
    Column,
    IriTerm,
    LiteralTerm,
    Term,
    TripleTerm,
    TypedLiteralTerm,
    UnexpectedRows,
    binding,
    edge,
    integer,
    iri,
    literal,
    optional,
    read,
    term,
)
from gateway.terms.iri import XSD
from gateway.terms.literals import Literal
from tests.tables import rows_of, table

NODE = IriTerm("urn:node")
TEXT = LiteralTerm("text", language="EN")
TERMS: list[Term] = [NODE, BlankTerm("b0"), TEXT, TypedLiteralTerm("7", f"{XSD}integer"), TripleTerm(b"{}")]


def test_a_column_of_iris_is_their_text() -> None:
    assert [*iri("n")(table({"n": NODE}, {"n": NODE}))] == ["urn:node", "urn:node"]


def test_a_column_of_literals_is_literals() -> None:
    assert [*literal("v")(table({"v": TEXT}))] == [Literal("text", "", "en")]


def test_a_column_of_whole_numbers_is_numbers() -> None:
    assert [*integer("count")(table({"count": LiteralTerm("3")}, {"count": TypedLiteralTerm("4")}))] == [3, 4]


def test_a_column_of_terms_takes_any_kind() -> None:
    assert [*term("v")(table(*({"v": each} for each in TERMS)))] == TERMS


def test_an_optional_column_has_nothing_where_nothing_is_bound() -> None:
    assert [*optional("v")(table({"v": TEXT}, {}))] == [TEXT, None]


def test_an_edge_is_three_iris() -> None:
    assert [*edge(table({"s": NODE, "p": NODE, "o": NODE}))] == [Edge("urn:node", "urn:node", "urn:node")]


def test_several_columns_are_read_row_by_row() -> None:
    rows = table({"n": NODE, "count": LiteralTerm("1")}, {"n": NODE, "count": LiteralTerm("2")})
    assert [*read(rows, iri("n"), integer("count"))] == [("urn:node", 1), ("urn:node", 2)]


def test_rows_that_bind_a_variable_can_be_read_by_themselves() -> None:
    rows = table({"n": NODE}, {"v": TEXT}, {"n": NODE, "v": TEXT})
    assert rows_of(binding(rows, "n", "v"), ["n", "v"]) == [{"n": NODE, "v": TEXT}]


@pytest.mark.parametrize("column", [iri, literal, integer, term], ids=lambda column: column.__name__)
def test_a_row_that_lacks_a_term_is_a_fault_before_any_row_is_read(column: Callable[[str], Column[object]]) -> None:
    with pytest.raises(UnexpectedRows):
        column("n")(table({"n": LiteralTerm("1")}, {}))


@pytest.mark.parametrize(
    ("column", "taken"),
    [(iri, {IriTerm}), (literal, {LiteralTerm, TypedLiteralTerm}), (integer, {TypedLiteralTerm})],
    ids=lambda one: getattr(one, "__name__", ""),
)
def test_a_term_of_another_kind_is_a_fault(column: Callable[[str], Column[object]], taken: set[type]) -> None:
    for bound in TERMS:
        if type(bound) not in taken:
            with pytest.raises(UnexpectedRows):
                column("n")(table({"n": bound}))
