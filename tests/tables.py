"""Rows as a test writes them: the bound terms of each, by variable."""

from collections.abc import Mapping, Sequence

from gateway.sparql.json_rows import decode
from gateway.sparql.table import Table, Term

Row = dict[str, Term]


def table(*rows: Mapping[str, Term]) -> Table:
    variables = {variable: None for row in rows for variable in row}
    return Table(len(rows), {variable: [row.get(variable) for row in rows] for variable in variables})


def rows_of(found: Table, variables: Sequence[str]) -> list[Row]:
    columns = zip(*map(found.terms, variables), strict=True)
    return [{name: term for name, term in zip(variables, row, strict=True) if term is not None} for row in columns]


def decoded(answer: bytes, *variables: str) -> list[Row]:
    """Return the rows of an answer of SPARQL JSON; those of ?s and ?o where no variables are named."""
    variables = variables or ("s", "o")
    return rows_of(decode(answer, variables), variables)
