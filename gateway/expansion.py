"""Turns a compact answer into the reference shape, for programs that want lists of objects.

It needs no other module, so that a client can copy it. docs/contract.md, "The two shapes of an answer", has both.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

INCOMING = "^"
"""Stands before the predicate of an edge that comes in."""

OTHER = "other"
"""The column of a row that holds what has no column of its own."""

SOURCES = "source_documents"

_COINED = re.compile(r"[A-Za-z]{1,12}_[a-z2-7]{3,52}")
"""A prefix that the gateway coined; the reference shape tells no others."""

_NO_COUNT = "?"
_SURVEY = ("edges", "edge_rows_total", "blank_node_edges", "edges_failed")

Json = dict[str, Any]
_Edge = tuple[str, str, str]


def expand(answer: Mapping[str, Any]) -> Json:
    """Return an answer of any of the six tools in the reference shape.

    Nodes, edges and entities are those that `shape="reference"` gives, in another order. What the compact shape leaves
    out because it repeats the arguments is absent. An answer in the reference shape is returned as it is.

    Args:
        answer: The answer, as JSON.
    """
    if isinstance(answer.get("nodes"), Mapping):
        return _subgraph(answer)
    if isinstance(answer.get("entity_types"), Mapping):
        return _schema(answer)
    if isinstance(answer.get("result"), Mapping):
        return _entities(answer)
    hits = {key: [_hit(row) for row in answer[key]] for key in ("result", "guesses") if _has_rows(answer.get(key))}
    return {**answer, **hits}


def combined(assertions: Sequence[Json]) -> Json:
    """Return what several assertions about one edge say together."""
    first = assertions[0].get("confidence")
    sources = {source for assertion in assertions for source in assertion.get(SOURCES, ())}
    said: Json = {}
    if all(assertion.get("negated") for assertion in assertions):
        said["negated"] = True
    if first is not None and all(assertion.get("confidence") == first for assertion in assertions):
        said["confidence"] = first
    if sources:
        said[SOURCES] = sorted(sources)
    return said


def _subgraph(answer: Mapping[str, Any]) -> Json:
    paths = answer.get("via", {})
    nodes = []
    for node in _entries(answer["nodes"]):
        if node["id"] in paths:
            node["via"] = [path.split(" ") for path in paths[node["id"]]]
        nodes.append(node)
    columns = answer.get("evidence_columns", ())
    edges = [_edge(ends, evidence, columns) for ends, evidence in _adjacent(answer["edges"])]
    left = {key: value for key, value in answer.items() if key not in {"via", "evidence_columns"}}
    return {**left, "nodes": nodes, "edges": edges}


def _entries(by_type: Mapping[str, Sequence[Any]]) -> Iterator[Json]:
    """Yield nodes or entities as objects: what carries metadata has its name in it."""
    for entity_type, entries in by_type.items():
        for entry in entries:
            if isinstance(entry, str):
                yield {**_identity(entry, entity_type), **_name(entry)}
            else:
                for text, metadata in entry.items():
                    yield {**_identity(text, entity_type), "metadata": {**_name(text), **metadata}}


def _identity(text: str, entity_type: str) -> Json:
    return {"id": text.partition(" ")[0], "entity_type": entity_type}


def _name(text: str) -> Json:
    _, blank, name = text.partition(" ")
    return {"name": name} if blank else {}


def _adjacent(edges: Mapping[str, Mapping[str, Any]]) -> Iterator[tuple[_Edge, Any]]:
    """Yield each edge with its evidence, which is None where there is none."""
    for node, by_predicate in edges.items():
        for step, others in by_predicate.items():
            predicate = step.removeprefix(INCOMING)
            for other in others if isinstance(others, list) else [others]:
                for name, evidence in [(other, None)] if isinstance(other, str) else other.items():
                    ends = (node, predicate, name) if predicate == step else (name, predicate, node)
                    yield ends, evidence


def _edge(ends: _Edge, evidence: Any, columns: Sequence[str]) -> Json:
    edge: Json = dict(zip(("subject", "predicate", "object"), ends, strict=True))
    if evidence is not None:
        edge["metadata"] = _evidence(evidence, columns)
    return edge


def _evidence(evidence: Any, columns: Sequence[str]) -> Json:
    """Return the metadata of an edge: a row is one assertion, a list of rows several."""
    if isinstance(evidence, Mapping):
        rows = [_assertion(row, columns) for row in evidence["assertions"]]
        return {**_assertion(evidence["combined"], columns), "assertions": rows}
    if not (evidence and isinstance(evidence[0], list)):
        return _assertion(evidence, columns)
    rows = [_assertion(row, columns) for row in evidence]
    return rows[0] if len(rows) == 1 else {**combined(rows), "assertions": rows}


def _assertion(row: Sequence[Any], columns: Sequence[str]) -> Json:
    assertion: Json = {}
    for column, cell in zip(columns, row, strict=False):
        if column == OTHER:
            assertion |= cell or {}
        elif cell is not None:
            assertion[column] = [cell] if column == SOURCES and not isinstance(cell, list) else cell
    return assertion


def _schema(answer: Mapping[str, Any]) -> Json:
    """Return a schema with lists of IDs, and counts and labels by ID."""
    counts: dict[str, int] = {}
    labels: dict[str, str] = {}
    lists: dict[str, list[str]] = {}
    for key in ("entity_types", "predicates"):
        lists[key] = [text.partition(" ")[0] for text in answer[key]]
        counts |= {text.partition(" ")[0]: count for text, count in answer[key].items() if count != _NO_COUNT}
        labels |= {text.partition(" ")[0]: label for text in answer[key] if (label := text.partition(" ")[2])}
    return {**answer, **lists, "counts": counts, **({"labels": labels} if labels else {})}


def _entities(answer: Mapping[str, Any]) -> Json:
    """Return entities with their IRIs, which follow from the prefixes, and their edges beside the metadata."""
    prefixes = answer.get("prefixes", {})
    entities = []
    for entity in _entries(answer["result"]):
        survey = {key: entity["metadata"].pop(key) for key in _SURVEY if key in entity["metadata"]}
        entities.append({**entity, **survey, "iri": _iri(entity["id"], prefixes)})
    left = {key: value for key, value in answer.items() if key != "prefixes"}
    coined = {name: namespace for name, namespace in prefixes.items() if _COINED.fullmatch(name)}
    return {"not_found": [], **left, **({"prefixes": coined} if coined else {}), "result": entities}


def _iri(name: str, prefixes: Mapping[str, str]) -> str:
    prefix, _, local = name.partition(":")
    return prefixes[prefix] + local if prefix in prefixes else name.removeprefix("<").removesuffix(">")


def _has_rows(listed: object) -> bool:
    return isinstance(listed, list) and all(isinstance(entry, list) for entry in listed)


def _hit(row: Sequence[Any]) -> Json:
    text, entity_type, *others = row
    said = dict(zip(("match", "description", "matched"), others, strict=False))
    known = {key: value for key, value in said.items() if value is not None}
    return {**_identity(text, entity_type), **_name(text), **known}
