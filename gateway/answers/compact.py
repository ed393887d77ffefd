"""The compact shape of an answer.

`gateway.expand` turns what it writes into the reference shape. docs/contract.md, "The two shapes of an answer", has
both.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import chain, groupby
from operator import itemgetter
from typing import Any

from gateway.answers.blank_nodes import folded_nodes
from gateway.answers.list_order import POSITION_KEY, position_key
from gateway.answers.page import (
    NO_TERMS,
    EntitiesPage,
    Header,
    PageEdge,
    PageHit,
    PageNode,
    SchemaPage,
    SearchPage,
    SubgraphPage,
    TermSummary,
)
from gateway.answers.reference import (
    REFERENCE,
    assertion_metadata,
    beside_metadata,
    header_counts,
    is_written,
    node_metadata,
    notes,
    one_or_list,
    paging,
    present,
    rows_of,
    schema_basis,
    schema_shapes,
    schema_values,
    search_fields,
    term_summary,
)
from gateway.answers.shape import Json, size_of, with_prefixes
from gateway.answers.values import EdgeMetadata, NodeMetadata
from gateway.expand_compact import (
    BLANK_EVIDENCE,
    BLANK_ID,
    BLANK_TYPE,
    INCOMING,
    NODE_COLUMNS,
    ON_THE_WAY,
    OTHER,
    OTHER_TYPES,
    SOURCES,
    combined,
)
from gateway.terms.iri import is_own

_NULL = 5
"""Bytes of a cell without a value."""


def evidence_columns(edges: Iterable[PageEdge]) -> list[str]:
    """Return the keys of assertions that a column makes shorter, the most frequent first, and one for the others.

    None where no column makes anything shorter: a row is then an object.
    """
    stated = [edge.metadata for edge in edges if edge.metadata is not None]
    rows = [assertion_metadata(assertion) for metadata in stated for assertion in metadata.assertions]
    counts = Counter(key for row in rows for key in row)
    columns = [
        key for key, count in counts.most_common() if size_of(key) + _NULL * (len(rows) - count) < count * size_of(key)
    ]
    # Assertions that are left out for size may have said what no other one says.
    together = {key for metadata in stated if metadata.combined for key in assertion_metadata(metadata.combined)}
    return [*columns, *([OTHER] if columns and not set(columns) >= counts.keys() | together else [])]


def evidence(metadata: EdgeMetadata, columns: Sequence[str]) -> Any:
    """Return one assertion as a row, several as a list of rows."""
    said = [assertion_metadata(assertion) for assertion in metadata.assertions]
    rows = [_row(assertion, columns) for assertion in said]
    if metadata.combined is None:
        # A row that begins with a list would read as several rows.
        return rows if columns and rows[0] and isinstance(rows[0][0], list) else rows[0]
    together = assertion_metadata(metadata.combined)
    if len(said) > 1 and combined(said) == together:
        return rows
    # Where assertions are left out for size, what all of them say does not follow from the others.
    return {"combined": _row(together, columns), "assertions": rows}


def cells(metadata: EdgeMetadata) -> list[list[Any]]:
    """Return rows without what their columns cost, to measure them."""
    return [list(assertion_metadata(assertion).values()) for assertion in metadata.assertions]


def _row(said: Json, columns: Sequence[str]) -> Any:
    """Return the cells of an assertion, without those at the end that are empty; without columns, the assertion."""
    if not columns:
        return said
    row = [_cell(column, said.get(column)) for column in columns if column != OTHER]
    if rest := {key: value for key, value in said.items() if key not in columns}:
        row.append(rest)
    while row and row[-1] is None:
        row.pop()
    return row


def _cell(column: str, value: Any) -> Any:
    return one_or_list(value) if column == SOURCES and value is not None else value


MOST_COLUMNS = 8
"""Columns at most: a reader counts the cells."""


def node_columns(said: Sequence[Json]) -> list[str]:
    """Return the columns of rows that say the same as some objects in the fewest bytes, the most frequent first.

    None where objects are as short.
    """
    counts = Counter(key for metadata in said for key in metadata)
    frequent = [key for key, _ in counts.most_common(MOST_COLUMNS)]
    sizes = {key: size_of(key) for key in frequent}
    best: list[str] = []
    most = 0
    for count in range(1, len(frequent) + 1):
        columns = frequent[:count]
        saved = sum(
            sum(sizes[key] for key in metadata) - _NULL * _row_of(metadata, columns).count(None)
            for metadata in said
            if _fits(metadata, columns)
        )
        if saved - size_of({NODE_COLUMNS: columns}) > most:
            best, most = columns, saved - size_of({NODE_COLUMNS: columns})
    return best


def node_row(metadata: Json, columns: Sequence[str]) -> Any:
    """Return the cells of a node that has nothing without a column; the metadata of any other node."""
    return _row_of(metadata, columns) if _fits(metadata, columns) else metadata


def _fits(metadata: Mapping[str, Any], columns: Sequence[str]) -> bool:
    return bool(metadata) and metadata.keys() <= set(columns)


def _row_of(metadata: Mapping[str, Any], columns: Sequence[str]) -> list[Any]:
    """Return a cell for each column, without those at the end that are empty."""
    last = max(place for place, column in enumerate(columns) if column in metadata)
    return [metadata.get(column) for column in columns[: last + 1]]


_NO_COUNT = "?"
"""Stands for the count of a type or predicate that was not counted."""

_SOME = 2
"""Neighbours from which a list of them takes no more bytes than they do."""

_PUNCTUATION = 3
"""Bytes of the brackets and the colon of a key with a list or an object; `size_of` counts the comma."""


class _Names:
    """The names of IDs that no node carries: each stands behind its ID where that is written first.

    Attributes:
        left: Those that have not been written yet, by ID.
    """

    def __init__(self, labels: Mapping[str, str]) -> None:
        self.left = dict(labels)

    def beside(self, name_id: str) -> str:
        """Return an ID, with its name if it has not been written yet."""
        return _named(name_id, self.left.pop(name_id, None))


def _named(name_id: str, name: str | None) -> str:
    """Return an ID with a name; no ID has a blank, so the name is all after the first."""
    return name_id if name is None else f"{name_id} {name}"


def _subgraph(page: SubgraphPage) -> Json:
    names, columns, header, folded = _Names(page.labels), evidence_columns(page.edges), page.header, folded_nodes(page)
    listed = [node for node in page.nodes if node.id not in folded and node.row is None]
    nodes, steps = (
        _by_type((node for node in listed if node.on_the_way == on_the_way), names) for on_the_way in (False, True)
    )
    written = {
        **_header(header),
        "page": page.place or None,
        **rows_of(header.members, page.nodes),
        **_in_rows(nodes),
        ON_THE_WAY: steps or None,
        "evidence_columns": columns or None,
        "edges": _Adjacency(page, columns, names, folded).written(),
        "via": {node.id: [" ".join(path) for path in node.paths] for node in page.nodes if node.paths} or None,
        "schema_summary": None if header.summary == NO_TERMS else _summary(header.summary, names),
        **paging(replace(page, labels=names.left)),
    }
    return with_prefixes(present(written), page.coined)


def _summary(summary: TermSummary, names: _Names) -> Json:
    types, predicates = map(names.beside, summary.types), map(names.beside, summary.predicates)
    return term_summary(replace(summary, types=list(types), predicates=list(predicates)))


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


def _by_type(nodes: Iterable[PageNode], names: _Names) -> dict[str, list[Any]]:
    grouped: dict[str, list[PageNode]] = {}
    for node in nodes:
        grouped.setdefault(node.entity_type, []).append(node)
    # The types that name the groups get their names first.
    keys = {entity_type: names.beside(entity_type) for entity_type in grouped}
    return {keys[entity_type]: [_node(node, names) for node in alike] for entity_type, alike in grouped.items()}


def _in_rows(by_type: Mapping[str, Sequence[Any]]) -> Json:
    """Return nodes by type, with their metadata as rows where that is shorter."""
    said = [
        metadata
        for alike in by_type.values()
        for entry in alike
        if isinstance(entry, Mapping)
        for metadata in entry.values()
    ]
    columns = node_columns(said)
    if not columns:
        return {"nodes": by_type}
    rows = {
        entity_type: [
            {text: node_row(metadata, columns) for text, metadata in entry.items()}
            if isinstance(entry, Mapping)
            else entry
            for entry in alike
        ]
        for entity_type, alike in by_type.items()
    }
    return {NODE_COLUMNS: columns, "nodes": rows}


def _node(node: PageNode, names: _Names) -> Any:
    if node.metadata is None:
        return _named(node.id, node.name)
    return {_named(node.id, node.metadata.name): _said(node, node.metadata, names)}


def _said(node: PageNode, metadata: NodeMetadata, names: _Names) -> Json:
    """Return what a node says beside its name."""
    written = node_metadata(replace(metadata, name=None))
    if types := written.pop("types", None):
        written = {**_types(types, node.entity_type, names), **written}
    return {**written, **beside_metadata(node)}


def _types(types: Sequence[str], entity_type: str, names: _Names) -> Json:
    """Return the types of a node besides the one below which it stands; all, if that would not be known from these."""
    others = [name_id for name_id in types if name_id != entity_type]
    if list(types) == sorted([*others, entity_type]):
        return {OTHER_TYPES: [names.beside(name_id) for name_id in others]}
    return {"types": list(types)}


class _Adjacency:
    """The other ends of edges by node and predicate; nodes of earlier pages stand first."""

    def __init__(
        self, page: SubgraphPage, columns: Sequence[str], names: _Names, folded: Mapping[str, PageNode]
    ) -> None:
        self._columns = columns
        self._names = names
        self._folded = folded
        self._places = {node.id: place for place, node in enumerate(page.nodes)}
        self._edges: dict[str, dict[str, list[PageEdge]]] = {}
        for edge in page.edges:
            self._edges.setdefault(edge.ends[0], {}).setdefault(_step(edge), []).append(edge)

    def written(self) -> dict[str, dict[str, Any]]:
        """Return them, those of folded nodes within the edges that lead there."""
        listed = [node for node in self._edges if node not in self._folded]
        listed.sort(key=lambda node: self._places.get(node, -1))
        return {self._names.beside(node): self._of(node) for node in listed}

    def _of(self, node: str) -> dict[str, Any]:
        steps = self._edges.get(node, {}).values()
        return {_step_named(edges[0], self._names): self._others(edges) for edges in steps}

    def _others(self, edges: Sequence[PageEdge]) -> Any:
        positions = {edge.ends[1]: position for edge in edges if (position := _position(edge))}
        if not positions:
            return one_or_list(self._written(edges))
        # Members of lists stand in their order, whatever their form, and before what is in none.
        members = [edge for edge in edges if edge.ends[1] in positions]
        members.sort(key=lambda edge: positions[edge.ends[1]])
        runs = groupby(members, key=lambda edge: edge.ends[1] in self._folded)
        others = [edge for edge in edges if edge.ends[1] not in positions]
        return one_or_list([*chain.from_iterable(self._written([*run]) for _, run in runs), *self._written(others)])

    def _written(self, edges: Sequence[PageEdge]) -> list[Any]:
        """Return the other ends of edges: bare IDs, nodes in the place of theirs, and then IDs with evidence."""
        folded = [edge for edge in edges if edge.ends[1] in self._folded]
        listed = [edge for edge in edges if edge.ends[1] not in self._folded]
        bare = [self._names.beside(edge.ends[1]) for edge in listed if edge.metadata is None]
        stated = {
            self._names.beside(edge.ends[1]): evidence(edge.metadata, self._columns)
            for edge in listed
            if edge.metadata is not None
        }
        return [*bare, *map(self._folded_node, folded), *([stated] if stated else [])]

    def _folded_node(self, edge: PageEdge) -> Json:
        """Return a node in the place of its ID, with its edges, whose other ends are nodes of the page."""
        node, evidence_of = self._folded[edge.ends[1]], edge.metadata
        metadata = node.metadata or NodeMetadata()
        is_implied = node.entity_type == f"({edge.predicate})" and not edge.is_incoming
        written = {
            BLANK_ID: _named(node.id, metadata.name),
            BLANK_TYPE: None if is_implied else self._names.beside(node.entity_type),
            BLANK_EVIDENCE: None if evidence_of is None else evidence(evidence_of, self._columns),
        }
        return {**present(written), **_said(node, metadata, self._names), **self._of(node.id)}


def _position(edge: PageEdge) -> tuple[int, ...]:
    """Return what orders an edge among those to other members of a list; empty if it leads to none."""
    assertions = edge.metadata.assertions if edge.metadata is not None and not edge.is_incoming else ()
    positions = chain.from_iterable(assertion.properties.get(POSITION_KEY, ()) for assertion in assertions)
    return min(map(position_key, positions), default=())


def _step(edge: PageEdge) -> str:
    return f"{INCOMING}{edge.predicate}" if edge.is_incoming else edge.predicate


def _step_named(edge: PageEdge, names: _Names) -> str:
    return f"{INCOMING if edge.is_incoming else ''}{names.beside(edge.predicate)}"


def _node_by_itself(node: PageNode) -> Any:
    """Return what a node takes beside its frame, its paths included; metadata without what columns might save."""
    if node.row is not None:
        return [list(node.row), [" ".join(path) for path in node.paths]]
    written = _node(node, _Names({}))
    if isinstance(written, Mapping):
        written = {text: list(said.values()) if len(said) <= MOST_COLUMNS else said for text, said in written.items()}
    return [written, {node.id: [" ".join(path) for path in node.paths]}] if node.paths else written


def _edge_by_itself(edge: PageEdge) -> Any:
    """Return what an edge takes beside its frame: the other end, and the cells of its assertions."""
    if edge.metadata is None:
        return edge.ends[1]
    return {edge.ends[1]: cells(edge.metadata)}


def _set_frames(nodes: Sequence[PageNode], edges: Sequence[PageEdge], ends: Sequence[int]) -> None:
    """Set the bytes of keys: the first node of a type writes it, and the first edge of a node and of a predicate.

    A page has the beginning of the edges in the order of their later ends, so what is written for one that stays is
    written for none that is cut.
    """
    types: set[tuple[bool, str]] = set()
    for node in nodes:
        node.frame = 0
        if node.on_the_way and (True, "") not in types:
            types.add((True, ""))
            node.frame += size_of(ON_THE_WAY) + _PUNCTUATION
        if (node.on_the_way, node.entity_type) not in types:
            types.add((node.on_the_way, node.entity_type))
            node.frame += size_of(node.entity_type) + _PUNCTUATION
    counts: dict[str, dict[str, int]] = {}
    for _, edge in sorted(zip(ends, edges, strict=True), key=itemgetter(0)):
        outer, step = edge.ends[0], _step(edge)
        steps = counts.get(outer)
        if steps is None:
            steps = counts[outer] = {}
            edge.frame = size_of(outer) + _PUNCTUATION
        else:
            edge.frame = 0
        count = steps[step] = steps.get(step, 0) + 1
        if count <= _SOME:
            # A second neighbour makes a list of the first.
            edge.frame += size_of(step) if count == 1 else len("[]")


def _entities_page(page: EntitiesPage) -> Json:
    names = _Names(page.labels)
    written = {
        "result": _by_type(page.entities, names),
        "complete": page.complete,
        "prefixes": _prefixes(page.entities) or None,
        "not_found": page.not_found.ids if is_written(page.not_found) else None,
        "failed": page.failed.ids if is_written(page.failed) else None,
        "remaining_ids": page.remaining.ids if is_written(page.remaining) else None,
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
    return [_by_type([entity], _Names({})), _prefixes([entity])]


def _search_page(page: SearchPage) -> Json:
    names = _Names(page.labels)
    written = search_fields(page, lambda hit: _hit(replace(hit, entity_type=names.beside(hit.entity_type))))
    return with_prefixes(written | notes(page.warnings, page.degraded, names.left), page.coined)


def _hit(hit: PageHit) -> list[Any]:
    named = _named(hit.id, hit.name or None)
    said = (hit.edges, hit.description or None, hit.matched, dict(hit.differs) or None)
    row = [named, hit.entity_type, hit.match, *said]
    while row[-1] is None:
        row.pop()
    return row


def _schema_page(page: SchemaPage) -> Json:
    def named(name_id: str) -> str:
        return _named(name_id, page.labels.get(name_id))

    written = {
        "graph_description": page.description,
        "complete": page.complete,
        "comprehensive": page.complete,
        "entity_types": _counted(page.types, page),
        "entity_types_total": page.types_total if page.types_total > len(page.types) else None,
        "predicates": _counted(page.predicates, page),
        "predicates_total": page.predicates_total if page.predicates_total > len(page.predicates) else None,
        **schema_values(page, named),
        **schema_shapes(page, named),
        "names": None if page.names is None else list(page.names),
        "basis": schema_basis(page.basis),
        "prefixes": dict(page.prefixes),
        "schema_version": page.version,
        "next_steps": page.next_steps,
    }
    return with_prefixes(present(written) | notes(page.warnings, page.degraded, {}), page.coined)


def _counted(terms: Sequence[str], page: SchemaPage) -> Mapping[str, int | str]:
    """Return the counts of types or predicates by ID and label, the most frequent first."""
    return {_named(term, page.labels.get(term)): page.counts.get(term, _NO_COUNT) for term in terms}


COMPACT = replace(
    REFERENCE,
    name="compact",
    writers={
        **REFERENCE.writers,
        PageNode: _node_by_itself,
        PageEdge: _edge_by_itself,
        Header: _header,
        SubgraphPage: _subgraph,
        EntitiesPage: _entities_page,
        SearchPage: _search_page,
        SchemaPage: _schema_page,
    },
    entity=_entity_by_itself,
    smallest_node=6,
    smallest_edge=6,
    names_stubs=True,
    always_summarizes=False,
    set_frames=_set_frames,
)
"""The shape for models."""
