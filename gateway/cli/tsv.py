"""Answers as lines of tab-separated columns: for `cut`, `awk`, `sort` and spreadsheets (docs/cli.md, "Output")."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

from rich.console import RenderableType

from gateway.answers.models import (
    Answer,
    BfsResult,
    CompactAnswer,
    EntitiesResult,
    Entity,
    IntersectionResult,
    SchemaResult,
    SearchHit,
    SearchResult,
)
from gateway.arguments import TraversalShow
from gateway.cli import render, subgraph, subgraph_notes
from gateway.cli.streams import clean
from gateway.escaping import json_text, without_formula

Row = Sequence[str]


def columns(
    answer: Answer | CompactAnswer, *, show: TraversalShow = "both", guard_formulas: bool = False
) -> Iterator[Row]:
    """Yield the titles of the columns, and the rows; control characters in a value are escaped, tabs among them.

    `show` is what stands for a node in the rows of the answer. With `guard_formulas`, no value is a formula for a
    spreadsheet.
    """
    found = _rows(answer)
    if isinstance(answer, render.InRows) and render.table_of(answer) is not None:
        found = chain([render.row_titles(answer, show)], render.row_texts(answer, show))
    for row in found:
        values = map(clean, row)
        yield [*map(without_formula, values)] if guard_formulas else [*values]


def _rows(answer: Answer | CompactAnswer) -> Iterator[Row]:
    match answer:
        case SchemaResult():
            return _terms(answer) if answer.shapes is None else _shapes(answer)
        case SearchResult():
            return _hits(answer)
        case BfsResult():
            return _edges(answer)
        case IntersectionResult():
            return _nodes(answer)
        case Entity():
            return _values([_flat(answer.as_json())])
        case EntitiesResult():
            return _values([_flat(entity.model_dump(exclude_none=True)) for entity in answer.result])
        case _:
            raise TypeError(answer)


def notes(answer: Answer | CompactAnswer, arguments: Mapping[str, Any]) -> RenderableType:
    """Return what an answer says beside its rows: whether it is complete, what it lacks, and how to see more."""
    match answer:
        case SchemaResult():
            return render.sections(render.schema_notes(answer))
        case SearchResult():
            return render.search_summary(answer, arguments.get("query", ""), arguments.get("offset") or 0)
        case BfsResult() | IntersectionResult():
            return subgraph_notes.notes(answer, arguments.get("offset") or 0)
        case Entity() | EntitiesResult():
            return render.sections(render.entity_notes(answer))
        case _:
            raise TypeError(answer)


def _terms(answer: SchemaResult) -> Iterator[Row]:
    yield ("kind", "id", "label", "count")
    labels = answer.labels or {}
    for kind, terms in (("type", answer.entity_types), ("predicate", answer.predicates)):
        for term in terms:
            count = answer.counts.get(term)
            yield (kind, term, labels.get(term, ""), "" if count is None else str(count))
    for term, (nodes, *_) in (answer.values or {}).items():
        yield ("value", term, labels.get(term, ""), str(nodes))


def _shapes(answer: SchemaResult) -> Iterator[Row]:
    yield ("type", "predicate", "label", "share", "values", "kinds", "examples")
    labels = answer.labels or {}
    for type_id, shape in (answer.shapes or {}).items():
        for predicate, (share, several, kinds, *texts) in shape.predicates.items():
            label = labels.get(predicate.removeprefix("^"), "")
            yield (type_id, predicate, label, share, several, kinds, ", ".join(texts))


def _hits(answer: SearchResult) -> Iterator[Row]:
    """Yield the hits, those of several queries behind their query; guesses are none, and are not among them."""
    titles = ("id", "type", "name", "match", "matched", "edges")
    yield titles if answer.queries is None else ("query", *titles)
    for hit in answer.result:
        yield _hit(hit)
    for one in answer.queries or ():
        for hit in one.result:
            yield (one.query, *_hit(hit))


def _hit(hit: SearchHit) -> Row:
    edges = "" if hit.edges is None else str(hit.edges)
    return (hit.id, hit.entity_type, hit.name or "", hit.match, hit.matched or "", edges)


def _edges(answer: BfsResult) -> Iterator[Row]:
    """Yield the edges; of nodes of earlier pages, to which an edge may lead, name and type are not known here."""
    yield ("subject", "predicate", "object", "subject_name", "object_name", "subject_type", "object_type", "confidence")
    nodes = {node.id: (subgraph.name_of(node), node.entity_type) for node in answer.nodes}
    for edge in answer.edges:
        (subject_name, subject_type), (object_name, object_type) = (
            nodes.get(end, ("", "")) for end in (edge.subject, edge.object)
        )
        names = (subject_name, object_name, subject_type, object_type)
        yield (edge.subject, edge.predicate, edge.object, *names, subgraph.confidence(edge))


def _nodes(answer: IntersectionResult) -> Iterator[Row]:
    yield ("id", "type", "name", "paths")
    for node in answer.nodes:
        # No ID and no predicate has a blank, so a bar between two is none of them.
        paths = " | ".join(" ".join(path) for path in node.via or ())
        yield (node.id, node.entity_type, subgraph.name_of(node), paths)


def _flat(entity: Mapping[str, Any]) -> dict[str, Any]:
    own = {key: value for key, value in entity.items() if key != "metadata"}
    return {**own, **entity.get("metadata", {})}


def _values(entities: Sequence[Mapping[str, Any]]) -> Iterator[Row]:
    yield ("id", "key", "value")
    for entity in entities:
        for key, value in entity.items():
            if key not in render.ABOUT_THE_ANSWER | {"id"}:
                for text in [render.instances(value)] if key == "instances" else _texts(value):
                    yield (entity["id"], key, text)


def _texts(value: Any) -> Iterator[str]:
    """Yield a text for each of several values; one that has parts is JSON."""
    if isinstance(value, list):
        for one in value:
            yield from [json_text(one)] if isinstance(one, list) else _texts(one)
    elif isinstance(value, Mapping):
        # What could be followed has the number of edges first, then some neighbors.
        for key, inner in value.items():
            yield f"{key} {inner[0] if isinstance(inner, list) else json_text(inner)}" if inner else key
    else:
        yield value if isinstance(value, str) else json_text(value)
