"""The compact shape of an answer.

`gateway.expand` turns what it writes into the reference shape. docs/contract.md, "The two shapes of an answer", has
both.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from gateway.answers.compact_rows import Names, named, survey_rows
from gateway.answers.compact_subgraph import (
    by_type,
    edge_by_itself,
    header,
    node_by_itself,
    set_frames,
    subgraph,
)
from gateway.answers.page import (
    EntitiesPage,
    EntityPage,
    Header,
    PageEdge,
    PageHit,
    PageNode,
    SchemaPage,
    SearchPage,
    SubgraphPage,
)
from gateway.answers.reference import (
    REFERENCE,
    beside_metadata,
    identity,
    node_metadata,
    notes,
    present,
    schema_basis,
    schema_shapes,
    schema_values,
    search_fields,
)
from gateway.answers.shape import Json, with_prefixes
from gateway.answers.values import NodeMetadata
from gateway.terms.iri import is_own

_NO_COUNT = "?"
"""Stands for the count of a type or predicate that was not counted."""


def _entity_page(page: EntityPage) -> Json:
    entity, names = page.entity, Names(page.labels)
    said = node_metadata(entity.metadata or NodeMetadata())
    who = identity(entity)
    beside = beside_metadata(entity, partial(survey_rows, names=names))
    written = {**who, "entity_type": names.beside(entity.entity_type), **said, **beside}
    if "types" in said:
        written["types"] = [names.beside(name_id) for name_id in said["types"]]
    return with_prefixes(
        {**written, "complete": page.complete} | notes(page.warnings, page.degraded, names.left), page.coined
    )


def _entities_page(page: EntitiesPage) -> Json:
    names = Names(page.labels)
    written = {
        "result": by_type(page.entities, names),
        "complete": page.complete,
        "prefixes": _prefixes(page.entities) or None,
        "not_found": page.not_found.shown,
        "failed": page.failed.shown,
        "remaining_ids": page.remaining.shown,
    }
    return with_prefixes(present(written) | notes(page.warnings, page.degraded, names.left), page.coined)


def _prefixes(entities: Iterable[PageNode]) -> dict[str, str]:
    """Return the namespaces of the prefixes of entities, from which their IRIs follow."""
    prefixes = {}
    for entity in entities:
        if entity.id.strip("<>") != entity.iri and not is_own(entity.iri):
            prefix, _, local = entity.id.partition(":")
            prefixes[prefix] = entity.iri.removesuffix(local)
    return dict(sorted(prefixes.items()))


def _entity_by_itself(entity: PageNode) -> Any:
    return [by_type([entity], Names({})), _prefixes([entity])]


def _search_page(page: SearchPage) -> Json:
    names = Names(page.labels)
    written = search_fields(page, lambda hit: _hit(replace(hit, entity_type=names.beside(hit.entity_type))))
    return with_prefixes(written | notes(page.warnings, page.degraded, names.left), page.coined)


def _hit(hit: PageHit) -> list[Any]:
    said = (hit.edges, hit.description or None, hit.matched, dict(hit.differs) or None)
    # A hit by meaning is in a list of its own, so that its score says how it was found.
    row = [named(hit.id, hit.name or None), hit.entity_type, hit.match if hit.score is None else hit.score, *said]
    while row[-1] is None:
        row.pop()
    return row


def _schema_page(page: SchemaPage) -> Json:
    def labelled(name_id: str) -> str:
        return named(name_id, page.labels.get(name_id))

    written = {
        "graph_description": page.description,
        "complete": page.complete,
        "comprehensive": page.complete,
        "entity_types": _counted(page.types, page),
        "entity_types_total": page.types_total if page.types_total > len(page.types) else None,
        "predicates": _counted(page.predicates, page),
        "predicates_total": page.predicates_total if page.predicates_total > len(page.predicates) else None,
        **schema_values(page, labelled),
        **schema_shapes(page, labelled),
        "names": None if page.names is None else list(page.names),
        "basis": schema_basis(page.basis),
        "prefixes": dict(page.prefixes),
        "schema_version": page.version,
        "next_steps": page.next_steps,
    }
    return with_prefixes(present(written) | notes(page.warnings, page.degraded, {}), page.coined)


def _counted(terms: Sequence[str], page: SchemaPage) -> Mapping[str, int | str]:
    """Return the counts of types or predicates by ID and label, the most frequent first."""
    return {named(term, page.labels.get(term)): page.counts.get(term, _NO_COUNT) for term in terms}


COMPACT = replace(
    REFERENCE,
    name="compact",
    writers={
        **REFERENCE.writers,
        PageNode: node_by_itself,
        PageEdge: edge_by_itself,
        Header: header,
        SubgraphPage: subgraph,
        EntityPage: _entity_page,
        EntitiesPage: _entities_page,
        SearchPage: _search_page,
        SchemaPage: _schema_page,
    },
    entity=_entity_by_itself,
    names_stubs=True,
    always_summarizes=False,
    set_frames=set_frames,
)
"""The shape for models."""
