"""Writes pages as the protocol's reference does: nodes and edges as lists of objects.

No other module knows the keys of this shape. Sizes are those of what it writes. The protocol's keys are bare and every
other key has a colon, so they cannot collide (docs/contract.md, "Keys of metadata").
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, TypeVar

from gateway.engine import messages
from gateway.engine.answers import BfsResult, EntitiesResult, Entity, IntersectionResult, SchemaResult, SearchResult
from gateway.engine.presentation.page import (
    AnyPage,
    EntitiesPage,
    EntityPage,
    Header,
    IdList,
    PageEdge,
    PageGap,
    PageHit,
    PageNode,
    SchemaPage,
    SearchPage,
    Step,
    SubgraphPage,
    TermSummary,
)
from gateway.engine.presentation.values import Amount, EdgeMetadata, Nested, NodeMetadata, PageAssertion, PageValue
from gateway.escaping import json_text
from gateway.graph.values import Basis, NoValue

Json = dict[str, Any]
Listed = TypeVar("Listed")


def schema_result(page: SchemaPage) -> SchemaResult:
    """Return the answer of `describe_schema`."""
    return SchemaResult.model_validate(_schema_page(page))


def bfs_result(page: SubgraphPage) -> BfsResult:
    """Return the answer of `bfs_query`."""
    return BfsResult.model_validate(_subgraph(page))


def intersection_result(page: SubgraphPage) -> IntersectionResult:
    """Return the answer of `intersect_subgraphs`."""
    return IntersectionResult.model_validate(_subgraph(page))


def entity_result(page: EntityPage) -> Entity:
    """Return the answer of `describe_entity`."""
    return Entity.model_validate(_entity_page(page))


def entities_result(page: EntitiesPage) -> EntitiesResult:
    """Return the answer of `describe_entities`."""
    return EntitiesResult.model_validate(_entities_page(page))


def search_result(page: SearchPage) -> SearchResult:
    """Return the answer of `search_entities`."""
    return SearchResult.model_validate(_search_page(page))


def size_of(value: Any) -> int:
    """Return the bytes that a JSON value takes in an answer, the comma after it included."""
    return len(json_text(value).encode()) + 1


def size_of_part(part: AnyPage | Header | TermSummary | PageNode | PageEdge) -> int:
    """Return the bytes that a page, or a part of a subgraph's page, takes."""
    return size_of(_WRITERS[type(part)](part))


def size_of_counts(header: Header) -> int:
    """Return the bytes that the header takes without the summary of terms, and what depends on the tool."""
    return size_of(_counts(header))


def size_of_hits(hits: Sequence[PageHit]) -> int:
    """Return the bytes that hits take at most."""
    return size_of([_hit(hit) for hit in hits])


def size_of_entity(entity: PageNode) -> int:
    """Return the bytes that an entity takes among several."""
    return size_of(_entity(entity))


def size_of_field(metadata: NodeMetadata) -> int:
    """Return the bytes that metadata of one field or property takes among others."""
    return size_of(node_metadata(metadata)) - 2


def size_of_unanswered(not_found: Sequence[str], failed: Sequence[str]) -> int:
    """Return the bytes that IDs without an entity take."""
    return size_of({"not_found": not_found, "failed": failed or None})


def size_of_degraded(step: Step, count: int) -> int:
    """Return the bytes that the count of one step takes, where it is the first."""
    return size_of({"degraded": {step: count}})


def notation(value: PageValue | PageAssertion) -> str:
    """Return the text by which values that have parts are sorted; their order means nothing, but never changes."""
    return repr(_assertion(value) if isinstance(value, PageAssertion) else _value(value))


def _subgraph(page: SubgraphPage) -> Json:
    nodes, edges = [_node(node) for node in page.nodes], [_edge(edge) for edge in page.edges]
    about = {
        "omitted_texts": dict(page.omitted_texts) or None,
        "labels": dict(page.labels) or None,
        "page": page.place or None,
        "next_offset": page.next_offset,
        "next_edge": page.next_edge,
        "edges_on_later_pages": page.edges_on_later_pages,
        "snapshot": page.snapshot,
        "result_changed": page.is_result_changed or None,
    }
    return {**_header(page.header), "nodes": nodes, "edges": edges, **_present(about)}


def _header(header: Header) -> Json:
    # A node of an intersection has a distance for each seed, so there are no levels.
    extent = {"k": header.hops} if header.levels is None else {"max_hops": header.hops, "levels": list(header.levels)}
    return {**_counts(header), "schema_summary": _summary(header.summary), **extent}


def _counts(header: Header) -> Json:
    missing = header.missing_seeds
    written = {
        "seeds": header.seeds.ids,
        "node_count": header.node_count,
        "edge_count": header.edge_count,
        "complete": not header.gaps,
        "incomplete": [_gap(gap) for gap in header.gaps] or None,
        "removed": dict(header.removed) or None,
        "undecided": dict(header.undecided) or None,
        "missing_seeds": missing.ids if _is_written(missing) else None,
        "blank_node_edges": header.blank_node_edges or None,
    }
    return _present(written) | _notes(header.warnings, header.degraded, {})


def _notes(warnings: Sequence[str], degraded: Mapping[Step, int], labels: Mapping[str, str]) -> Json:
    notes = {"warnings": list(warnings), "degraded": dict(degraded), "labels": dict(labels)}
    return {key: note for key, note in notes.items() if note}


def _gap(gap: PageGap) -> Json:
    return {"cause": gap.cause, "count": gap.count, "ids": list(gap.ids), "detail": gap.detail}


def _summary(summary: TermSummary) -> Json:
    written = {
        "entity_types_found": list(summary.types),
        "predicates_found": list(summary.predicates),
        "entity_types_total": summary.types_total,
        "predicates_total": summary.predicates_total,
    }
    return _present(written)


def _node(node: PageNode) -> Json:
    written: Json = {"id": node.id, "entity_type": node.entity_type}
    if node.name is not None:
        written["name"] = node.name
    if node.paths:
        written["via"] = [list(path) for path in node.paths]
    if node.metadata is not None:
        written["metadata"] = node_metadata(node.metadata)
    return written


def _edge(edge: PageEdge) -> Json:
    written: Json = {"subject": edge.subject, "predicate": edge.predicate, "object": edge.object}
    if edge.metadata is not None:
        written["metadata"] = edge_metadata(edge.metadata)
    return written


def _entity_page(page: EntityPage) -> Json:
    said = node_metadata(page.entity.metadata or NodeMetadata())
    written = {**_identity(page.entity), **said, "complete": page.complete}
    return written | _notes(page.warnings, page.degraded, page.labels)


def _entities_page(page: EntitiesPage) -> Json:
    written = {
        "result": [_entity(entity) for entity in page.entities],
        "complete": page.complete,
        "not_found": page.not_found.ids,
        "failed": page.failed.ids if _is_written(page.failed) else None,
        "remaining_ids": page.remaining.ids if _is_written(page.remaining) else None,
    }
    return _present(written) | _notes(page.warnings, page.degraded, page.labels)


def _search_page(page: SearchPage) -> Json:
    searched = {"how": page.how, "truncated": page.truncated or None, "exhaustive": page.exhaustive}
    written = {
        "result": [_present(_hit(hit)) for hit in page.hits],
        "guesses": [_present(_hit(hit)) for hit in page.guesses] or None,
        "complete": page.complete,
        "found": page.found if page.found > len(page.hits) else None,
        "searched": _present(searched) if page.truncated or not page.exhaustive else None,
        "next_steps": page.next_steps or None,
    }
    return _present(written) | _notes(page.warnings, page.degraded, page.labels)


def _schema_page(page: SchemaPage) -> Json:
    written = {
        "graph_description": page.description,
        "complete": page.complete,
        "comprehensive": page.complete,
        "entity_types": list(page.types),
        "predicates": list(page.predicates),
        "entity_types_total": page.types_total,
        "predicates_total": page.predicates_total,
        "counts": dict(page.counts),
        "names": None if page.names is None else list(page.names),
        "basis": _basis(page.basis),
        "prefixes": dict(page.prefixes),
        "schema_version": page.version,
        "next_steps": page.next_steps,
        "tool_usage_notes": messages.TOOL_USAGE_NOTES,
    }
    return _present(written) | _notes(page.warnings, page.degraded, page.labels)


def _basis(basis: Basis) -> Json:
    read_at = None if basis.read_at is None else datetime.fromtimestamp(basis.read_at, UTC)
    share = min(1.0, basis.sampled / basis.triples) if basis.sampled and basis.triples else None
    written = {
        "methods": list(basis.methods),
        "read_at": None if read_at is None else f"{read_at:%Y-%m-%dT%H:%MZ}",
        "sampled_triples": basis.sampled or None,
        "share": None if share is None else float(f"{share:.2g}"),
    }
    return _present(written)


def _hit(hit: PageHit) -> Json:
    return {
        "id": hit.id,
        "entity_type": hit.entity_type,
        "name": hit.name or None,
        "description": hit.description or None,
        "match": hit.match,
        "matched": hit.matched,
    }


def _entity(entity: PageNode) -> Json:
    return {**_identity(entity), "metadata": node_metadata(entity.metadata or NodeMetadata())}


def _identity(entity: PageNode) -> Json:
    return {"id": entity.id, "entity_type": entity.entity_type, "iri": entity.iri}


def node_metadata(metadata: NodeMetadata) -> Json:
    """Return the metadata of a node."""
    written: Json = {}
    if metadata.name is not None:
        written["name"] = metadata.name
    if metadata.types:
        written["types"] = list(metadata.types)
    if metadata.descriptions:
        written["description"] = _one_or_list(metadata.descriptions)
    if metadata.synonyms:
        written["synonyms"] = list(metadata.synonyms)
    if metadata.total_mentions:
        written["total_mentions"] = _one_or_list(metadata.total_mentions)
    said = PageAssertion(False, metadata.confidence, metadata.source_documents, metadata.properties)
    return written | _assertion(said)


def edge_metadata(metadata: EdgeMetadata) -> Json:
    """Return the metadata of an edge: flat for one assertion, with a list of them for several."""
    assertions = [_assertion(assertion) for assertion in metadata.assertions]
    return assertions[0] if metadata.combined is None else {**_assertion(metadata.combined), "assertions": assertions}


def _assertion(assertion: PageAssertion) -> Json:
    written: Json = {}
    if assertion.negated:
        written["negated"] = True
    if assertion.confidence:
        written["confidence"] = _one_or_list(assertion.confidence)
    if assertion.source_documents:
        written["source_documents"] = list(assertion.source_documents)
    return written | _properties(assertion.properties)


def _properties(properties: Mapping[str, Sequence[PageValue]]) -> Json:
    return {key: _one_or_list([_value(value) for value in values]) for key, values in properties.items()}


def _value(value: PageValue) -> Any:
    match value:
        case Amount():
            return {"amount": value.number, "unit": value.unit}
        case NoValue():
            return {"unknown": True} if value.unknown else {"no_value": True}
        case Nested():
            written = _properties(value.properties)
            return {**written, "more": True} if value.cut else written
        case _:
            return value


def _one_or_list(values: Sequence[Listed]) -> Listed | list[Listed]:
    """Return one value as itself and several as a list."""
    return values[0] if len(values) == 1 else list(values)


def _present(written: Mapping[str, Any]) -> Json:
    """Leave out what is None: no key is ever null."""
    return {key: value for key, value in written.items() if value is not None}


def _is_written(listed: IdList) -> bool:
    return bool(listed.ids or listed.left_out)


_WRITERS: Mapping[type, Callable[[Any], Json]] = {
    PageNode: _node,
    PageEdge: _edge,
    Header: _header,
    TermSummary: _summary,
    SubgraphPage: _subgraph,
    EntityPage: _entity_page,
    EntitiesPage: _entities_page,
    SearchPage: _search_page,
    SchemaPage: _schema_page,
}
