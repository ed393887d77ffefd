"""Nodes and edges as rows of plain values: what a table, and a format without nested values, can hold."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from gateway.escaping import json_text
from gateway.export.subgraph import Subgraph

NODE_COLUMNS = ("id", "iri", "type", "types", "name", "distance", "metadata")
EDGE_COLUMNS = (
    *("subject", "subject_name", "predicate", "predicate_name", "object", "object_name"),
    *("subject_iri", "predicate_iri", "object_iri", "evidence"),
)

Row = dict[str, Any]


def node_rows(subgraph: Subgraph) -> Iterator[Row]:
    """Yield a row for each node; metadata and the list of types are objects."""
    for node in subgraph.nodes:
        yield {
            "id": node.id,
            "iri": subgraph.iris[node.id],
            "type": node.type,
            "types": list(node.types),
            "name": node.name,
            "distance": node.distance,
            "metadata": dict(node.metadata),
        }


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
