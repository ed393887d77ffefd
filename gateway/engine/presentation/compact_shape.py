"""Writes pages in fewer tokens: nodes by type, edges as an adjacency list outward from the seeds, each ID once.

`gateway.expand` turns what it writes into the reference shape. docs/contract.md, "The two shapes of an answer", has
both.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from gateway.engine import messages
from gateway.engine.answers import CompactAnswer
from gateway.engine.presentation.page import (
    NO_TERMS,
    AnyPage,
    EntitiesPage,
    EntityPage,
    Header,
    PageEdge,
    PageHit,
    PageNode,
    SchemaPage,
    SearchPage,
    SubgraphPage,
    TermSummary,
)
from gateway.engine.presentation.reference_shape import (
    assertion_metadata,
    entity_page,
    header_counts,
    is_written,
    node_metadata,
    notes,
    one_or_list,
    paging,
    present,
    schema_basis,
    search_fields,
    survey_fields,
    term_summary,
)
from gateway.engine.presentation.shape import Json, Shape, size_of, with_prefixes
from gateway.engine.presentation.values import EdgeMetadata, PageAssertion
from gateway.expansion import INCOMING, OTHER, SOURCES, combined

_NO_COUNT = "?"
"""Stands for the count of a type or predicate that was not counted."""

_PUNCTUATION = 3
"""Bytes of the brackets and the colon of a key with a list or an object; `size_of` counts the comma."""

_NULL = 5
"""Bytes of a cell without a value."""


def compact_answer(page: AnyPage) -> CompactAnswer:
    """Return the answer of any tool."""
    return CompactAnswer(COMPACT.writers[type(page)](page))


def _subgraph(page: SubgraphPage) -> Json:
    columns = _evidence_columns(page.edges)
    header = page.header
    written = {
        **_header(header),
        "page": page.place or None,
        "nodes": _by_type(page.nodes),
        "evidence_columns": columns or None,
        "edges": _adjacency(page, columns),
        "via": {node.id: [" ".join(path) for path in node.paths] for node in page.nodes if node.paths} or None,
        "schema_summary": None if header.summary == NO_TERMS else term_summary(header.summary),
        **paging(page),
    }
    return with_prefixes(present(written), page.coined)


def _header(header: Header) -> Json:
    """Return what is said of the whole traversal; what repeats the question only where the page says it."""
    written = header_counts(header)
    hops = {"k": header.hops} if header.levels is None else {"max_hops": header.hops}
    seeds = written.pop("seeds")
    question = {"seeds": seeds, **hops} if is_written(header.seeds) else {}
    followed = {key: written.pop(key, None) for key in ("only_predicates", "direction")}
    # Of one hop, the counts say it all.
    levels = {"levels": list(header.levels)} if header.levels and (question or len(header.levels) > 2) else {}  # noqa: PLR2004
    return {**present(followed), **question, **written, **levels}


def _by_type(nodes: Iterable[PageNode]) -> dict[str, list[Any]]:
    types: dict[str, list[Any]] = {}
    for node in nodes:
        types.setdefault(node.entity_type, []).append(_node(node))
    return types


def _node(node: PageNode) -> Any:
    if node.metadata is None:
        return _named(node.id, node.name)
    metadata = node_metadata(replace(node.metadata, name=None))
    return {_named(node.id, node.metadata.name): {**metadata, **survey_fields(node.survey)}}


def _named(name_id: str, name: str | None) -> str:
    """Return an ID with a name; no ID has a blank, so the name is all after the first."""
    return name_id if name is None else f"{name_id} {name}"


def _adjacency(page: SubgraphPage, columns: Sequence[str]) -> dict[str, dict[str, Any]]:
    """Return the other ends of edges by node and predicate; nodes of earlier pages stand first."""
    grouped: dict[str, dict[str, list[PageEdge]]] = {}
    for edge in page.edges:
        grouped.setdefault(edge.ends[0], {}).setdefault(_step(edge), []).append(edge)
    places = {node.id: place for place, node in enumerate(page.nodes)}
    return {
        node: {step: _others(edges, columns) for step, edges in grouped[node].items()}
        for node in sorted(grouped, key=lambda node: places.get(node, -1))
    }


def _step(edge: PageEdge) -> str:
    return f"{INCOMING}{edge.predicate}" if edge.is_incoming else edge.predicate


def _others(edges: Sequence[PageEdge], columns: Sequence[str]) -> Any:
    bare = [edge.ends[1] for edge in edges if edge.metadata is None]
    stated = {edge.ends[1]: _evidence(edge.metadata, columns) for edge in edges if edge.metadata is not None}
    return one_or_list([*bare, *([stated] if stated else [])])


def _evidence(metadata: EdgeMetadata, columns: Sequence[str]) -> Any:
    """Return one assertion as a row, several as a list of rows."""
    said = [assertion_metadata(assertion) for assertion in metadata.assertions]
    rows = [_row(assertion, columns) for assertion in said]
    if metadata.combined is None:
        # A row that begins with a list would read as several rows.
        return rows if rows[0] and isinstance(rows[0][0], list) else rows[0]
    together = assertion_metadata(metadata.combined)
    if len(said) > 1 and combined(said) == together:
        return rows
    # Where assertions are left out for size, what all of them say does not follow from the others.
    return {"combined": _row(together, columns), "assertions": rows}


def _row(said: Json, columns: Sequence[str]) -> list[Any]:
    """Return the cells of an assertion, without those at the end that are empty."""
    cells = [_cell(column, said.get(column)) for column in columns if column != OTHER]
    if rest := {key: value for key, value in said.items() if key not in columns}:
        cells.append(rest)
    while cells and cells[-1] is None:
        cells.pop()
    return cells


def _cell(column: str, value: Any) -> Any:
    return one_or_list(value) if column == SOURCES and value is not None else value


def _evidence_columns(edges: Iterable[PageEdge]) -> list[str]:
    """Return the keys of assertions that a column makes shorter, the most frequent first, and one for the others."""
    rows = [assertion_metadata(assertion) for assertion in _assertions(edges)]
    counts = Counter(key for row in rows for key in row)
    columns = [
        key
        for key, count in sorted(counts.items(), key=lambda entry: (-entry[1], entry[0]))
        if size_of(key) + _NULL * (len(rows) - count) < count * size_of(key)
    ]
    return [*columns, *([OTHER] if len(columns) < len(counts) else [])]


def _assertions(edges: Iterable[PageEdge]) -> Iterator[PageAssertion]:
    for edge in edges:
        if edge.metadata is not None:
            yield from edge.metadata.assertions


def _node_by_itself(node: PageNode) -> Any:
    """Return what a node takes beside its frame, its paths included."""
    return [_node(node), {node.id: [" ".join(path) for path in node.paths]}] if node.paths else _node(node)


def _edge_by_itself(edge: PageEdge) -> Any:
    """Return what an edge takes beside its frame: the other end, and the cells of its assertions."""
    if edge.metadata is None:
        return edge.ends[1]
    return {edge.ends[1]: [list(assertion_metadata(one).values()) for one in edge.metadata.assertions]}


def _set_frames(nodes: Sequence[PageNode], edges: Sequence[PageEdge], ends: Sequence[int]) -> None:
    """Set the bytes of keys: the first node of a type writes it, and the first edge of a node and of a predicate.

    A page has the beginning of the edges in the order of their later ends, so what is written for one that stays is
    written for none that is cut.
    """
    types: set[str] = set()
    for node in nodes:
        node.frame = 0 if node.entity_type in types else size_of(node.entity_type) + _PUNCTUATION
        types.add(node.entity_type)
    counts: Counter[str | tuple[str, str]] = Counter()
    for _, edge in sorted(zip(ends, edges, strict=True), key=lambda pair: pair[0]):
        outer, step = edge.ends[0], _step(edge)
        edge.frame = 0 if counts[outer] else size_of(outer) + _PUNCTUATION
        # A second neighbour makes a list of the first.
        edge.frame += (size_of(step), len("[]"), 0)[min(counts[outer, step], 2)]
        counts.update((outer, (outer, step)))


def _entities_page(page: EntitiesPage) -> Json:
    written = {
        "result": _by_type(page.entities),
        "complete": page.complete,
        "prefixes": _prefixes(page.entities) or None,
        "not_found": page.not_found.ids if is_written(page.not_found) else None,
        "failed": page.failed.ids if is_written(page.failed) else None,
        "remaining_ids": page.remaining.ids if is_written(page.remaining) else None,
    }
    return with_prefixes(present(written) | notes(page.warnings, page.degraded, page.labels), page.coined)


def _prefixes(entities: Iterable[PageNode]) -> dict[str, str]:
    """Return the namespaces of the prefixes of entities, from which their IRIs follow."""
    prefixes = {}
    for entity in entities:
        if entity.id.strip("<>") != entity.iri:
            prefix, _, local = entity.id.partition(":")
            prefixes[prefix] = entity.iri.removesuffix(local)
    return dict(sorted(prefixes.items()))


def _entity_by_itself(entity: PageNode) -> Any:
    return [{entity.entity_type: [_node(entity)]}, _prefixes([entity])]


def _search_page(page: SearchPage) -> Json:
    written = {
        "result": [_hit(hit) for hit in page.hits],
        "guesses": [_hit(hit) for hit in page.guesses] or None,
        **search_fields(page),
    }
    return with_prefixes(present(written) | notes(page.warnings, page.degraded, page.labels), page.coined)


def _hit(hit: PageHit) -> list[str | None]:
    cells = [_named(hit.id, hit.name or None), hit.entity_type, hit.match, hit.description or None, hit.matched]
    while cells[-1] is None:
        cells.pop()
    return cells


def _schema_page(page: SchemaPage) -> Json:
    written = {
        "graph_description": page.description,
        "complete": page.complete,
        "comprehensive": page.complete,
        "entity_types": _counted(page.types, page),
        "entity_types_total": page.types_total if page.types_total > len(page.types) else None,
        "predicates": _counted(page.predicates, page),
        "predicates_total": page.predicates_total if page.predicates_total > len(page.predicates) else None,
        "names": None if page.names is None else list(page.names),
        "basis": schema_basis(page.basis),
        "prefixes": dict(page.prefixes),
        "schema_version": page.version,
        "next_steps": page.next_steps,
        "tool_usage_notes": messages.TOOL_USAGE_NOTES,
    }
    return present(written) | notes(page.warnings, page.degraded, {})


def _counted(terms: Sequence[str], page: SchemaPage) -> Mapping[str, int | str]:
    """Return the counts of types or predicates by ID and label, the most frequent first."""
    return {_named(term, page.labels.get(term)): page.counts.get(term, _NO_COUNT) for term in terms}


COMPACT = Shape(
    name="compact",
    writers={
        PageNode: _node_by_itself,
        PageEdge: _edge_by_itself,
        Header: _header,
        TermSummary: term_summary,
        SubgraphPage: _subgraph,
        EntityPage: entity_page,
        EntitiesPage: _entities_page,
        SearchPage: _search_page,
        SchemaPage: _schema_page,
    },
    counts=header_counts,
    hit=_hit,
    entity=_entity_by_itself,
    metadata=node_metadata,
    smallest_node=6,
    smallest_edge=6,
    names_stubs=True,
    always_summarizes=False,
    set_frames=_set_frames,
)
"""The shape for models."""
