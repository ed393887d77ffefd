"""A subgraph as tables: two data frames of pandas, or two CSV files."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Literal

from gateway.escaping import without_formula
from gateway.export.extras import needs
from gateway.export.rows import EDGE_COLUMNS, NODE_COLUMNS, Row, edge_rows, node_rows, plain
from gateway.export.subgraph import Subgraph

if TYPE_CHECKING:
    import pandas as pd


def to_dataframes(subgraph: Subgraph) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the nodes and the edges of a subgraph as tables, with the columns of `rows`.

    Metadata and evidence are dictionaries, distances whole numbers (missing in an intersection).

    Raises:
        ConfigurationError: pandas is not installed.
    """
    with needs("pandas", "export"):
        import pandas as pd  # noqa: PLC0415 - an extra

    nodes = pd.DataFrame(list(node_rows(subgraph)), columns=list(NODE_COLUMNS)).astype({"distance": "Int64"})
    return nodes, pd.DataFrame(list(edge_rows(subgraph)), columns=list(EDGE_COLUMNS))


def nodes_csv(subgraph: Subgraph, *, guard_formulas: bool = False) -> str:
    """Return the nodes as CSV (RFC 4180), with a header; metadata is JSON.

    With `guard_formulas`, no text is a formula for a spreadsheet (`escaping.without_formula`), and each is quoted.
    """
    return _csv(NODE_COLUMNS, node_rows(subgraph), guard_formulas)


def edges_csv(subgraph: Subgraph, *, guard_formulas: bool = False) -> str:
    """Return the edges as CSV (RFC 4180), with a header; evidence is JSON. `guard_formulas` is that of `nodes_csv`."""
    return _csv(EDGE_COLUMNS, edge_rows(subgraph), guard_formulas)


def _csv(columns: Sequence[str], rows: Iterable[Row], guard_formulas: bool) -> str:
    text = io.StringIO(newline="")
    # A spreadsheet that splits at semicolons then finds each text in quotation marks.
    quoting: Literal[0, 2] = csv.QUOTE_NONNUMERIC if guard_formulas else csv.QUOTE_MINIMAL
    writer = csv.DictWriter(text, columns, lineterminator="\r\n", quoting=quoting)
    writer.writeheader()
    for row in map(plain, rows):
        writer.writerow({name: _guarded(value) for name, value in row.items()} if guard_formulas else row)
    return text.getvalue()


def _guarded(value: Any) -> Any:
    return without_formula(value) if isinstance(value, str) else value
