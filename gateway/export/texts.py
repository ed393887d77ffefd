"""A subgraph as columns, as CSV, and as DOT."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from gateway.escaping import json_text, visible, without_formula
from gateway.export.subgraph import Subgraph, needs

if TYPE_CHECKING:
    import pandas as pd

NODE_COLUMNS = ("id", "iri", "type", "types", "name", "distance", "metadata")
EDGE_COLUMNS = (
    *("subject", "subject_name", "predicate", "predicate_name", "object", "object_name"),
    *("subject_iri", "predicate_iri", "object_iri", "evidence"),
)

_TOO_LARGE_AS_INTEGER = 1 << 63
_LARGEST_AS_FLOAT = 1 << 53
"""Whole numbers above it may be another number as a double."""

Row = dict[str, Any]


def node_rows(subgraph: Subgraph) -> Iterator[Row]:
    """Yield a row for each node; metadata and the list of types are objects, and so are several values of a column."""
    titles = value_titles(subgraph)
    for node in subgraph.nodes:
        yield {
            "id": node.id,
            "iri": subgraph.iris[node.id],
            "type": node.type,
            "types": list(node.types),
            "name": node.name,
            "distance": node.distance,
            "metadata": dict(node.metadata),
            **{title: (node.values or {}).get(column) for column, title in titles.items()},  # noqa: PD011 - not pandas
        }


def value_titles(subgraph: Subgraph) -> dict[str, str]:
    """Return the titles of the values that were asked for, by column; "type" is that of each node already."""
    return {column: f"{column} (value)" if column in NODE_COLUMNS else column for column in subgraph.columns}


def edge_rows(subgraph: Subgraph) -> Iterator[Row]:
    """Yield a row for each edge; evidence is an object, or None."""
    names = {node.id: node.name for node in subgraph.nodes}
    for edge in subgraph.edges:
        yield {
            **_end("subject", edge.subject, names.get(edge.subject, ""), subgraph),
            **_end("predicate", edge.predicate, subgraph.labels.get(edge.predicate, ""), subgraph),
            **_end("object", edge.object, names.get(edge.object, ""), subgraph),
            "evidence": None if edge.evidence is None else dict(edge.evidence),
        }


def plain(row: Row) -> Row:
    """Return a row without nested values: these become JSON, and None an empty text."""
    return {name: _plain(value) for name, value in row.items()}


def _plain(value: Any) -> str | int | float | bool:
    if value is None or value in ({}, []):
        return ""
    return json_text(value) if isinstance(value, Mapping | list) else value


def _end(part: str, name_id: str, name: str, subgraph: Subgraph) -> Row:
    return {part: name_id, f"{part}_name": name, f"{part}_iri": subgraph.iris[name_id]}


def to_dataframes(subgraph: Subgraph) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the nodes and the edges of a subgraph as tables, with the columns of `rows`.

    Metadata and evidence are dictionaries, distances whole numbers (missing in an intersection). Values that were asked
    for are columns behind those of the nodes, several of one node a list.

    Raises:
        ConfigurationError: pandas is not installed.
    """
    with needs("pandas", "export"):
        import pandas as pd  # noqa: PLC0415 - an extra

    rows = list(node_rows(subgraph))
    nodes = pd.DataFrame(rows, columns=list(NODE_COLUMNS)).astype({"distance": "Int64"})
    for title in value_titles(subgraph).values():
        values = [row[title] for row in rows]
        nodes[title] = pd.Series(values, dtype=_dtype(values))
    return nodes, pd.DataFrame(list(edge_rows(subgraph)), columns=list(EDGE_COLUMNS))


def _dtype(values: Sequence[Any]) -> Literal["Int64", "Float64", "object"]:
    """Return the type of a column that changes none of its values, some of which are missing."""
    kinds = {type(value) for value in values if value is not None}
    largest = max((abs(value) for value in values if type(value) is int), default=0)
    if kinds == {int} and largest < _TOO_LARGE_AS_INTEGER:
        return "Int64"
    return "Float64" if kinds and kinds <= {int, float} and largest <= _LARGEST_AS_FLOAT else "object"


def nodes_csv(subgraph: Subgraph, *, guard_formulas: bool = False) -> str:
    """Return the nodes as CSV (RFC 4180), with a header; metadata is JSON.

    With `guard_formulas`, no text is a formula for a spreadsheet (`escaping.without_formula`), and each is quoted.
    """
    return _csv([*NODE_COLUMNS, *value_titles(subgraph).values()], node_rows(subgraph), guard_formulas)


def edges_csv(subgraph: Subgraph, *, guard_formulas: bool = False) -> str:
    """Return the edges as CSV (RFC 4180), with a header; evidence is JSON. `guard_formulas` is that of `nodes_csv`."""
    return _csv(EDGE_COLUMNS, edge_rows(subgraph), guard_formulas)


def _csv(columns: Sequence[str], rows: Iterable[Row], guard_formulas: bool) -> str:
    return table_csv(columns, ([row[name] for name in columns] for row in rows), guard_formulas=guard_formulas)


def table_csv(titles: Sequence[str], rows: Iterable[Sequence[Any]], *, guard_formulas: bool = False) -> str:
    """Return rows as CSV (RFC 4180), with a header; lists and objects are JSON. `guard_formulas`: see `nodes_csv`."""
    text = io.StringIO(newline="")
    # A spreadsheet that splits at semicolons then finds each text in quotation marks.
    quoting: Literal[0, 2] = csv.QUOTE_NONNUMERIC if guard_formulas else csv.QUOTE_MINIMAL
    writer = csv.writer(text, lineterminator="\r\n", quoting=quoting)
    for row in (titles, *rows):
        values = map(_plain, row)
        writer.writerow(map(_guarded, values) if guard_formulas else values)
    return text.getvalue()


def _guarded(value: Any) -> Any:
    return without_formula(value) if isinstance(value, str) else value


_REFERENCE = re.compile(r"&(?=#?\w+;)")
"""The beginning of a character reference (https://graphviz.org/doc/info/lang.html, "Character encodings")."""


def dot(subgraph: Subgraph) -> str:
    """Return a subgraph in DOT: nodes are labelled by name, edges by predicate; types and IRIs become tooltips.

    Evidence is left out, because DOT has no place for it.

    Raises:
        ConfigurationError: pydot is not installed.
    """
    with needs("pydot", "export"):
        import pydot  # noqa: PLC0415 - an extra

    graph = pydot.Dot("subgraph", graph_type="digraph", rankdir="LR")
    for row in node_rows(subgraph):
        graph.add_node(
            pydot.Node(
                pydot.make_quoted(row["id"]),
                label=pydot.make_quoted(_label(row["name"] or row["id"])),
                tooltip=pydot.make_quoted(_label(f"{row['iri']} ({row['type']})")),
            )
        )
    for row in edge_rows(subgraph):
        graph.add_edge(
            pydot.Edge(
                pydot.make_quoted(row["subject"]),
                pydot.make_quoted(row["object"]),
                label=pydot.make_quoted(_label(row["predicate_name"] or row["predicate"])),
                tooltip=pydot.make_quoted(_label(row["predicate_iri"])),
            )
        )
    return str(graph.to_string())


def _label(text: str) -> str:
    """Return a text as a label: Graphviz reads backslashes and HTML's character references in it."""
    shown = visible(text).replace("\\\\", "\\").replace("\\", "\\\\")
    return _REFERENCE.sub("&amp;", shown)
