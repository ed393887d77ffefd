"""Writes pages as the protocol's reference does: nodes and edges as lists of objects.

The protocol's keys are bare and every other key has a colon, so they cannot collide (docs/contract.md, "Keys of
metadata"). What both shapes write alike, the compact one takes from here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, TypeVar

from gateway.answers.page import (
    EntitiesPage,
    EntityPage,
    Header,
    MemberHeader,
    PageEdge,
    PageGroups,
    PageHit,
    PageNode,
    PageShape,
    SchemaPage,
    SearchPage,
    Step,
    SubgraphPage,
    TermSummary,
    first_languages,
    other_languages,
)
from gateway.answers.shape import Json, Shape, with_prefixes
from gateway.answers.values import (
    Amount,
    Array,
    EdgeMetadata,
    EdgeSurvey,
    Nested,
    NodeMetadata,
    PageAssertion,
    PageValue,
    SurveyRow,
    uncoined,
)
from gateway.expand_compact import BEYOND, BLANK_ID
from gateway.graph.values import Basis, NoValue
from gateway.terms.iri import is_own

Listed = TypeVar("Listed")


def notation(value: PageValue | PageAssertion) -> str:
    """Return the text by which values that have parts are sorted; their order means nothing, but never changes."""
    return repr(_uncoined(assertion_metadata(value) if isinstance(value, PageAssertion) else _value(value)))


def _uncoined(written: Any) -> Any:
    """Return JSON with its IDs as they are without coined prefixes."""
    match written:
        case dict():
            return {_uncoined(key): _uncoined(value) for key, value in written.items()}
        case list():
            return list(map(_uncoined, written))
        case str():
            return uncoined(written)
        case _:
            return written


def _subgraph(page: SubgraphPage) -> Json:
    written = {
        **_header(page.header),
        "page": page.place or None,
        **rows_of(page.header.members, page.nodes),
        "nodes": [_node(node) for node in page.nodes if node.row is None],
        "edges": [_edge(edge) for edge in page.edges],
        **paging(page),
    }
    return with_prefixes(present(written), page.coined)


def rows_and_nodes(page: SubgraphPage) -> Json:
    """Return a page on which the nodes that stand in rows are among the nodes too, in the same order."""
    return {**_subgraph(page), "nodes": [_node(node) for node in page.nodes]}


def paging(page: SubgraphPage) -> Json:
    """Return what stands after the nodes and edges of a page."""
    written = {
        "omitted_texts": dict(page.omitted_texts) or None,
        "other_languages": dict(page.other_languages) or _languages_of_groups(page.header.members) or None,
        "labels": dict(page.labels) or None,
        "next_offset": page.next_offset,
        "next_edge": page.next_edge,
        "edges_on_later_pages": page.edges_on_later_pages,
        "snapshot": page.snapshot,
        "result_changed": page.is_result_changed or None,
    }
    return present(written)


def _header(header: Header) -> Json:
    # A node of an intersection has a distance for each seed, so there are no levels.
    extent = {"k": header.hops} if header.levels is None else {"max_hops": header.hops, "levels": list(header.levels)}
    return {**header_counts(header), "schema_summary": term_summary(header.summary), **extent}


def header_counts(header: Header) -> Json:
    """Return the seeds and counts of a traversal, and what is missing."""
    missing, followed = header.missing_seeds, header.only_predicates
    written = {
        "only_predicates": None
        if followed is None
        else [one if isinstance(one, str) else list(one) for one in followed],
        "seeds": header.seeds.ids,
        "node_count": header.node_count,
        "edge_count": header.edge_count,
        "complete": not header.gaps,
        "incomplete": [
            {"cause": gap.cause, "count": gap.count, "ids": list(gap.ids), "detail": gap.detail} for gap in header.gaps
        ]
        or None,
        "removed": dict(header.removed) or None,
        "undecided": dict(header.undecided) or None,
        "missing_seeds": missing.shown,
        "blank_node_edges": header.blank_node_edges or None,
    }
    members = {} if header.members is None else member_fields(header.members)
    return present(written) | members | notes(header.warnings, header.degraded, {})


def member_fields(members: MemberHeader) -> Json:
    """Return what an answer says about nodes that were chosen, shown or ordered by values."""
    written = {
        "where": list(members.where) or None,
        "found": members.found if members.columns is not None or members.where or members.is_grouped else None,
        "seeds_left_out": members.seeds_left_out or None,
        "tied": members.tied or None,
        "values_complete": None if members.are_values_complete else False,
        **({} if members.groups is None else _groups(members.groups)),
    }
    return present(written)


def _groups(groups: PageGroups) -> Json:
    """Return groups as rows, or what was computed over all nodes as an object."""
    if groups.count is None:
        return {"computed": dict(zip(groups.columns, groups.rows[0], strict=True))}
    return {
        "group_columns": list(groups.columns),
        "groups": [list(row) for row in groups.rows],
        "group_count": groups.count,
    }


def _languages_of_groups(members: MemberHeader | None) -> dict[str, int]:
    return {} if members is None else first_languages(members.other_languages)


def rows_of(members: MemberHeader | None, nodes: Iterable[PageNode]) -> Json:
    """Return the nodes that stand in rows."""
    if members is None or members.columns is None:
        return {}
    return {"columns": list(members.columns), "rows": [list(node.row) for node in nodes if node.row is not None]}


def notes(warnings: Sequence[str], degraded: Mapping[Step, int], labels: Mapping[str, str]) -> Json:
    """Return what stands below most answers."""
    written = {"warnings": list(warnings), "degraded": dict(degraded), "labels": dict(labels)}
    return {key: note for key, note in written.items() if note}


def term_summary(summary: TermSummary) -> Json:
    """Return the types and predicates of a traversal."""
    written = {
        "entity_types_found": list(summary.types),
        "predicates_found": list(summary.predicates),
        "entity_types_total": summary.types_total,
        "predicates_total": summary.predicates_total,
    }
    return present(written)


def _node(node: PageNode) -> Json:
    written: Json = {"id": node.id, "entity_type": node.entity_type}
    if node.name is not None:
        written["name"] = node.name
    if node.on_the_way:
        written["on_the_way"] = True
    if node.paths:
        written["via"] = [list(path) for path in node.paths]
    if node.metadata is not None:
        written["metadata"] = {**node_metadata(node.metadata), **also_in(node)}
    return written


def _edge(edge: PageEdge) -> Json:
    written: Json = {"subject": edge.subject, "predicate": edge.predicate, "object": edge.object}
    if edge.metadata is not None:
        written["metadata"] = edge_metadata(edge.metadata)
    return written


def entity_page(page: EntityPage) -> Json:
    """Return one entity, flat."""
    said = node_metadata(page.entity.metadata or NodeMetadata())
    written = {**identity(page.entity), **said, **beside_metadata(page.entity), "complete": page.complete}
    return with_prefixes(written | notes(page.warnings, page.degraded, page.labels), page.coined)


def _entities_page(page: EntitiesPage) -> Json:
    written = {
        "result": [_entity(entity) for entity in page.entities],
        "complete": page.complete,
        "not_found": page.not_found.ids,
        "failed": page.failed.shown,
        "remaining_ids": page.remaining.shown,
    }
    return with_prefixes(present(written) | notes(page.warnings, page.degraded, page.labels), page.coined)


def _search_page(page: SearchPage) -> Json:
    written = search_fields(page, lambda hit: present(_hit(hit)))
    return with_prefixes(written | notes(page.warnings, page.degraded, page.labels), page.coined)


def search_fields(page: SearchPage, write: Callable[[PageHit], Any]) -> Json:
    """Return the hits of an answer, each written by `write`, or those of each of several queries, and what it says."""
    queries = [{"query": one.query, **search_fields(one, write), **notes(one.warnings, {}, {})} for one in page.queries]
    written = {
        "result": [write(hit) for hit in page.hits],
        "guesses": [write(hit) for hit in page.guesses] or None,
        "by_meaning": [write(hit) for hit in page.by_meaning] or None,
        "queries": queries or None,
        **_about_hits(page),
    }
    return present(written)


def _about_hits(page: SearchPage) -> Json:
    """Return what an answer says of its hits; how it was searched only where names may have been missed."""
    listed = max(len(page.hits), len(page.rows))
    members = {} if page.members is None else member_fields(page.members)
    searched = {"how": page.how, "truncated": page.truncated or None, "exhaustive": page.exhaustive}
    return {
        "complete": page.complete,
        **members,
        **rows_of(page.members, page.rows),
        "other_languages": other_languages(page.rows) or _languages_of_groups(page.members) or None,
        "found": page.found if members or page.found > listed else None,
        "next_offset": page.next_offset,
        "searched": present(searched) if page.truncated or not page.exhaustive else None,
        "next_steps": page.next_steps or None,
    }


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
        **schema_values(page),
        **schema_shapes(page),
        "names": None if page.names is None else list(page.names),
        "basis": schema_basis(page.basis),
        "prefixes": dict(page.prefixes),
        "schema_version": page.version,
        "next_steps": page.next_steps,
        "tool_usage_notes": page.usage_notes or None,
    }
    return with_prefixes(present(written) | notes(page.warnings, page.degraded, page.labels), page.coined)


def schema_values(page: SchemaPage, named: Callable[[str], str] = str) -> Json:
    """Return the predicates of literals, each written by `named`."""
    if page.values is None:
        return {}
    rows = {
        named(one.id): [one.nodes if one.is_counted else f"at least {one.nodes}", one.kinds, *one.texts]
        for one in page.values
    }
    return {"values": rows, "values_total": page.values_total if page.values_total > len(rows) else None}


def schema_shapes(page: SchemaPage, named: Callable[[str], str] = str) -> Json:
    """Return the shapes of types, their IDs and those of predicates written by `named`."""
    return {} if page.shapes is None else {"shapes": {named(one.id): _shape(one, named) for one in page.shapes}}


def _shape(shape: PageShape, named: Callable[[str], str]) -> Json:
    rows = {
        f"{'^' * row.is_incoming}{named(row.predicate)}": [
            row.share,
            "several" if row.has_several else "one",
            row.kinds,
            *row.texts,
        ]
        for row in shape.rows
    }
    written = {
        "read": shape.read,
        "subclasses": shape.subclasses or None,
        "predicates": rows,
        "predicates_total": shape.total if shape.total > len(rows) else None,
    }
    return present(written)


def schema_basis(basis: Basis) -> Json:
    """Return how a schema was made."""
    read_at = None if basis.read_at is None else datetime.fromtimestamp(basis.read_at, UTC)
    share = min(1.0, basis.sampled / basis.triples) if basis.sampled and basis.triples else None
    written = {
        "methods": list(basis.methods),
        "read_at": None if read_at is None else f"{read_at:%Y-%m-%dT%H:%MZ}",
        "sampled_triples": basis.sampled or None,
        "share": None if share is None else float(f"{share:.2g}"),
    }
    return present(written)


def _hit(hit: PageHit) -> Json:
    return {
        "id": hit.id,
        "entity_type": hit.entity_type,
        "name": hit.name or None,
        "description": hit.description or None,
        "match": hit.match,
        "edges": hit.edges,
        "matched": hit.matched,
        "differs": dict(hit.differs) or None,
        "score": hit.score,
    }


def _entity(entity: PageNode) -> Json:
    metadata = node_metadata(entity.metadata or NodeMetadata())
    return {**identity(entity), "metadata": metadata, **beside_metadata(entity)}


def survey_rows(survey: EdgeSurvey) -> Json:
    """Return the rows of a survey by predicate, `^` before it if its edges come in: their number, and examples."""
    return dict(_survey_row(row, survey) for row in survey.rows)


def beside_metadata(entity: PageNode, rows: Callable[[EdgeSurvey], Json] = survey_rows) -> Json:
    """Return what an entity has beside its metadata: its IDs in other graphs, and what could be followed from it.

    Args:
        entity: The entity.
        rows: Writes the rows of its survey.
    """
    if entity.survey is None:
        return also_in(entity) if entity.also_in else {}
    return {**also_in(entity), **_instances(entity), **_survey_fields(entity.survey, rows(entity.survey))}


def _instances(entity: PageNode) -> Json:
    """Return how many nodes have a type, and the call that lists them."""
    if entity.instances is None:
        return {}
    listed_by = {"node_types": [entity.id]}
    return {"instances": present({"count": entity.instances.count, "search_entities": listed_by})}


def also_in(node: PageNode) -> Json:
    """Return the IDs of a node in other graphs, if it has some, as a member of an object."""
    by_graph = {graph: ids[0] if len(ids) == 1 else list(ids) for graph, ids in node.also_in.items()}
    return {"also_in": by_graph} if by_graph else {}


def _survey_fields(survey: EdgeSurvey, rows: Json) -> Json:
    """Return what could be followed from an entity."""
    listed = len(survey.rows)
    written = {
        # None are listed only where it is known that there are none.
        "edges": rows if rows or not (survey.total or survey.failed) else None,
        "edge_rows_total": survey.total if survey.total > listed else None,
        "blank_node_edges": survey.blank_edges or None,
        "edges_failed": survey.failed,
    }
    return present(written)


def _survey_row(row: SurveyRow, survey: EdgeSurvey) -> tuple[str, list[int | str]]:
    """Return a row as its predicate, `^` before it if it is incoming, and how many edges there are, with examples."""
    count = row.count if survey.is_exact else f"at least {row.count}"
    return f"{'^' * row.incoming}{survey.shown(row.predicate)}", [count, *map(survey.shown, row.neighbours)]


def identity(entity: PageNode) -> Json:
    """Return the ID, the type and the IRI of an entity."""
    iri = {} if is_own(entity.iri) else {"iri": entity.iri}
    return {"id": entity.id, "entity_type": entity.entity_type, **iri}


def node_metadata(metadata: NodeMetadata) -> Json:
    """Return the metadata of a node."""
    written: Json = {}
    if metadata.name is not None:
        written["name"] = metadata.name
    if metadata.types:
        written["types"] = list(metadata.types)
    if metadata.descriptions:
        written["description"] = one_or_list(metadata.descriptions)
    if metadata.synonyms:
        written["synonyms"] = list(metadata.synonyms)
    if metadata.total_mentions:
        written["total_mentions"] = one_or_list(metadata.total_mentions)
    if metadata.other_languages:
        written["other_languages"] = dict(metadata.other_languages)
    said = PageAssertion(False, metadata.confidence, metadata.source_documents, metadata.properties)
    written |= assertion_metadata(said)
    return written if metadata.beyond is None else {**written, BEYOND: _value(metadata.beyond)}


def edge_metadata(metadata: EdgeMetadata) -> Json:
    """Return the metadata of an edge: flat for one assertion, with a list of them for several."""
    assertions = [assertion_metadata(assertion) for assertion in metadata.assertions]
    return (
        assertions[0]
        if metadata.combined is None
        else {**assertion_metadata(metadata.combined), "assertions": assertions}
    )


def assertion_metadata(assertion: PageAssertion) -> Json:
    """Return what one assertion says."""
    written: Json = {}
    if assertion.negated:
        written["negated"] = True
    if assertion.confidence:
        written["confidence"] = one_or_list(assertion.confidence)
    if assertion.source_documents:
        written["source_documents"] = list(assertion.source_documents)
    return written | _properties(assertion.properties)


def _properties(properties: Mapping[str, Sequence[PageValue]]) -> Json:
    written = {key: [_value(value) for value in values] for key, values in properties.items()}
    # By itself, an array would look like several values.
    return {key: one if isinstance(properties[key][0], Array) else one_or_list(one) for key, one in written.items()}


def _value(value: PageValue) -> Any:
    match value:
        case Amount():
            return {"amount": value.number, "unit": value.unit}
        case NoValue():
            return {"unknown": True} if value.unknown else {"no_value": True}
        case Array():
            return [_value(member) for member in value.members]
        case Nested():
            written = {} if value.id is None else {BLANK_ID: value.id}
            written |= _properties(value.properties)
            return {**written, "more": True} if value.cut else written
        case _:
            return value


def one_or_list(values: Sequence[Listed]) -> Listed | list[Listed]:
    """Return one value as itself and several as a list."""
    return values[0] if len(values) == 1 else list(values)


def present(written: Mapping[str, Any]) -> Json:
    """Leave out what is None: no key is ever null."""
    return {key: value for key, value in written.items() if value is not None}


REFERENCE = Shape(
    name="reference",
    writers={
        PageNode: _node,
        PageEdge: _edge,
        Header: _header,
        TermSummary: term_summary,
        SubgraphPage: _subgraph,
        EntityPage: entity_page,
        EntitiesPage: _entities_page,
        SearchPage: _search_page,
        SchemaPage: _schema_page,
    },
    entity=_entity,
    names_stubs=False,
    always_summarizes=True,
    # Each node and edge is an object: it takes nothing beside its own bytes.
    set_frames=lambda *_: None,
)
"""The shape of the protocol's reference."""
