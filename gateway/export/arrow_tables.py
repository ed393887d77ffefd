"""The tables of a subgraph by Arrow's PyCapsule interface, which pandas, polars, DuckDB and others read.

Source: https://arrow.apache.org/docs/format/CDataInterface/PyCapsuleInterface.html
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gateway.escaping import json_text
from gateway.export.conversions import (
    EDGE_COLUMNS,
    NODE_COLUMNS,
    columns_of,
    dtype_of,
    edge_rows,
    evidence_titles,
    metadata_titles,
    node_rows,
    value_titles,
)
from gateway.export.subgraph import Subgraph, needs


@dataclass(frozen=True, slots=True, repr=False)
class ArrowTable:
    """A table that other libraries take as it is: `polars.DataFrame(table)`, `pandas.DataFrame.from_arrow(table)`.

    Attributes:
        columns: The values of each column, None where one is missing.
    """

    columns: Mapping[str, Sequence[Any]]

    def __len__(self) -> int:
        return len(next(iter(self.columns.values())))

    def __repr__(self) -> str:
        return f"<ArrowTable: {len(self):,} rows, {len(self.columns)} columns>"

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Return the table as a capsule of an Arrow stream: whole numbers, fractions, truth values, and texts.

        Lists, objects, and columns of several kinds are JSON in texts.

        Raises:
            ConfigurationError: nanoarrow is not installed.
        """
        with needs("nanoarrow", "export"):
            import nanoarrow as na  # noqa: PLC0415 - an extra

        types = {"Int64": na.int64(), "Float64": na.float64(), "boolean": na.bool_(), "string": na.string()}
        fields, children = {}, []
        for title, values in self.columns.items():
            kind: str = dtype_of(values)
            if kind == "object":
                kind = "string"
                if not all(value is None or isinstance(value, str) for value in values):
                    values = [None if value is None else json_text(value) for value in values]  # noqa: PLW2901
            fields[title] = types[kind]
            children.append(na.c_array(list(values), types[kind]))
        rows = na.c_array_from_buffers(na.struct(fields), len(self), buffers=[None], children=children)
        return na.ArrayStream(rows).__arrow_c_stream__(requested_schema)


def to_arrow(subgraph: Subgraph) -> tuple[ArrowTable, ArrowTable]:
    """Return the nodes and the edges of a subgraph as tables with the columns of `to_dataframes`."""
    rows = list(node_rows(subgraph))
    titles = [*NODE_COLUMNS, *value_titles(subgraph).values()]
    nodes = {title: [row[title] for row in rows] for title in titles}
    nodes |= columns_of([node.metadata for node in subgraph.nodes], metadata_titles(subgraph))
    rows = list(edge_rows(subgraph))
    edges = {title: [row[title] for row in rows] for title in EDGE_COLUMNS}
    edges |= columns_of([edge.evidence or {} for edge in subgraph.edges], evidence_titles(subgraph))
    return ArrowTable(nodes), ArrowTable(edges)
