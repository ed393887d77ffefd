"""A subgraph as tables: two data frames of pandas, or two CSV files."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

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


def nodes_csv(subgraph: Subgraph) -> str:
    """Return the nodes as CSV (RFC 4180), with a header; metadata is JSON."""
    return _csv(NODE_COLUMNS, node_rows(subgraph))


def edges_csv(subgraph: Subgraph) -> str:
    """Return the edges as CSV (RFC 4180), with a header; evidence is JSON."""
    return _csv(EDGE_COLUMNS, edge_rows(subgraph))


def _csv(columns: Sequence[str], rows: Iterable[Row]) -> str:
    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, columns, lineterminator="\r\n")
    writer.writeheader()
    writer.writerows(map(plain, rows))
    return text.getvalue()
