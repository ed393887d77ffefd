"""The JSON schemas of answers in the compact shape: what a reader cannot guess, in few tokens.

Fields that are not listed are allowed: docs/tools.md has all of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Json = dict[str, Any]


def _described(kind: str, text: str) -> Json:
    return {"type": kind, "description": text}


_COMPLETE = {"type": "boolean"}
_LABELS = _described("object", "Names of IDs without one.")
_WARNINGS = {"type": "array"}


def _answer(required: str, **properties: Json) -> Json:
    return {"type": "object", "properties": properties, "required": [required, "complete"]}


_SUBGRAPH = _answer(
    "nodes",
    node_count={"type": "integer"},
    edge_count={"type": "integer"},
    complete=_described("boolean", "Nothing cut: an absence is a fact."),
    page=_described("string", "Which nodes of how many."),
    incomplete=_described("array", "Why not complete."),
    node_columns=_described("array", "Of rows of metadata."),
    nodes=_described("object", '{type: ["id name" | {"id name": metadata | row}]}'),
    evidence_columns=_described("array", "Of evidence rows."),
    edges=_described(
        "object",
        "{node: {predicate: other | [others]}}; ^predicate: the edge comes in, other -> node. "
        "{other: row | [rows]}: evidence, a row an assertion.",
    ),
    labels=_LABELS,
    warnings=_WARNINGS,
    next_offset=_described("integer", "offset of the next page."),
    next_edge=_described("integer", "edge_offset of the next page."),
    snapshot=_described("string", "Send it with the next page."),
)

_ANSWERS: Mapping[str, Json] = {
    "describe_schema": _answer(
        "entity_types",
        complete=_COMPLETE,
        entity_types=_described("object", '{"id label": count}'),
        predicates=_described("object", '{"id label": count}'),
        prefixes={"type": "object"},
        next_steps={"type": "string"},
    ),
    "search_entities": _answer(
        "result",
        result=_described("array", '["id name", type, match, description, matched name], the best first.'),
        guesses=_described("array", "Where nothing fits."),
        complete=_described("boolean", "Every name was compared."),
        searched=_described("object", "Names may be missed."),
        next_steps=_described("string", "Where nothing fits."),
        labels=_LABELS,
        warnings=_WARNINGS,
    ),
    "bfs_query": _SUBGRAPH,
    "describe_entity": _answer(
        "id",
        id={"type": "string"},
        edges=_described("object", '{"predicate name": [count, "neighbor name", ...]}; ^: incoming. {}: no edges.'),
        edges_failed=_described("string", "Not all edges were counted."),
        complete=_COMPLETE,
        labels=_LABELS,
    ),
    "describe_entities": _answer(
        "result",
        result=_described("object", '{type: [{"id name": metadata}]}, edges as in describe_entity.'),
        complete=_COMPLETE,
        not_found={"type": "array"},
        failed=_described("array", "Try again."),
        remaining_ids=_described("array", "Ask for them again."),
        labels=_LABELS,
    ),
    "intersect_subgraphs": _answer(
        "nodes",
        complete=_COMPLETE,
        nodes=_described("object", "As in bfs_query; so are the other fields."),
        edges={"type": "object"},
        via=_described("object", "{node: [path to each seed]}"),
    ),
}
"""The schemas by tool."""


def compact_schema(tool: str, *, explain: bool) -> Json:
    """Return the schema of a tool's answers, with `explain` if the operator allows it."""
    schema = _ANSWERS[tool]
    if not explain:
        return schema
    return {**schema, "properties": {**schema["properties"], "explain": _described("object", "What the call cost.")}}
