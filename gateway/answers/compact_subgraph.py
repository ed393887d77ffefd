"""A subgraph in the compact shape: an ID stands once where its node carries nothing but a name.

docs/contract.md, "The two shapes of an answer", says how it reads.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain, groupby
from operator import itemgetter
from typing import Any

from gateway.answers.compact_rows import (
    MOST_COLUMNS,
    Names,
    cells,
    evidence,
    evidence_columns,
    named,
    node_columns,
    node_row,
    survey_rows,
)
from gateway.answers.folded_blank_nodes import folded_nodes
from gateway.answers.page import NO_TERMS, Header, PageEdge, PageNode, SubgraphPage, TermSummary
from gateway.answers.reference import (
    beside_metadata,
    edge_metadata,
    header_counts,
    node_metadata,
    one_or_list,
    paging,
    present,
    rows_of,
    term_summary,
)
from gateway.answers.shape import Json, size_of, with_prefixes
from gateway.answers.values import POSITION_KEY, NodeMetadata, position_key
from gateway.expand_compact import (
    BLANK_EVIDENCE,
    BLANK_ID,
    BLANK_TYPE,
    BOTH_WAYS,
    CONTINUED,
    FIRST,
    INCOMING,
    NODE_COLUMNS,
    ON_THE_WAY,
    OTHER_TYPES,
    OTHERS,
    OUTGOING,
    TYPES,
)

_SOME = 2
"""Neighbours from which a list of them takes no more bytes than they do."""

_PUNCTUATION = 3
"""Bytes of the brackets and the colon of a key with a list or an object; `size_of` counts the comma."""

_MOST_TYPES = 5
"""Types of the nodes below one predicate that are counted each."""

_Edges = Mapping[str, Mapping[str, Sequence[PageEdge]]]
"""Edges by the ID of their earlier end, and by predicate and direction."""


def subgraph(page: SubgraphPage) -> Json:
    """Return a page of a traversal."""
    folded, edges = folded_nodes(page), _by_earlier_end(page)
    inside = _in_edges(page.nodes, edges, folded)
    listed = [node for node in page.nodes if not (node.id in folded or node.id in inside or node.row is not None)]
    columns, names = evidence_columns(page.edges), Names({**page.labels, **_names_of(inside.values())})
    written: Json
    if is_one_relation := not folded and _is_one_relation(page, listed, edges):
        names.left |= _names_of(listed)
        names.leave_out(_unwritten_types(page))
        written = {**_without_counts(page.header), "page": page.place or None}
    else:
        written = {
            **header(page.header),
            "page": page.place or None,
            **rows_of(page.header.members, page.nodes),
            **_listed(listed, names, may_be_absent=bool(edges)),
        }
    written |= {
        "evidence_columns": columns or None,
        CONTINUED: page.before,
        "edges": _Adjacency(edges, columns, names, folded).written(),
    }
    if not is_one_relation:
        said = page.header.summary
        written |= {
            TYPES: _types_in_edges(inside, edges, names),
            "via": {node.id: [" ".join(path) for path in node.paths] for node in page.nodes if node.paths} or None,
            "schema_summary": None if said == NO_TERMS else _summary(said, names),
        }
    return with_prefixes(present(written | paging(replace(page, labels=names.left))), page.coined)


def header(said: Header) -> Json:
    """Return what is said of the whole traversal; what repeats the question only where the page says it."""
    written = header_counts(said)
    hops = {"k": said.hops} if said.levels is None else {"max_hops": said.hops}
    seeds = written.pop("seeds")
    question = {"seeds": seeds, **hops} if said.seeds.shown is not None else {}
    # Of one hop, the counts say it all.
    levels = {"levels": list(said.levels)} if said.levels and (question or len(said.levels) > 2) else {}  # noqa: PLR2004
    return {**question, **written, **levels}


def _unwritten_types(page: SubgraphPage) -> set[str]:
    """Return the types of the nodes of one relation, which shows none, but for those that it mentions otherwise."""
    shown = {node.id for node in page.nodes}
    shown.update(chain.from_iterable(edge.ends for edge in page.edges))
    shown.update(edge.predicate for edge in page.edges)
    shown.update(chain.from_iterable(gap.ids for gap in page.header.gaps))
    shown.update(_texts(_without_counts(page.header)))
    for edge in page.edges:
        if edge.metadata is not None:
            shown.update(_texts(edge_metadata(edge.metadata)))
    return {node.entity_type for node in page.nodes}.difference(shown)


def _texts(said: Any) -> Iterator[str]:
    """Yield all texts in JSON, those of keys too."""
    if isinstance(said, str):
        yield said
    elif isinstance(said, Mapping):
        for part in chain.from_iterable(said.items()):
            yield from _texts(part)
    elif isinstance(said, list):
        for part in said:
            yield from _texts(part)


def _without_counts(said: Header) -> Json:
    written = header_counts(said)
    # The edges show what one predicate was taken for.
    left_out = {
        "seeds",
        "node_count",
        "edge_count",
        *(["only_predicates"] if len(said.only_predicates or ()) == 1 else []),
    }
    return {key: value for key, value in written.items() if key not in left_out}


def _summary(summary: TermSummary, names: Names) -> Json:
    types, predicates = map(names.beside, summary.types), map(names.beside, summary.predicates)
    return term_summary(replace(summary, types=list(types), predicates=list(predicates)))


def _by_earlier_end(page: SubgraphPage) -> _Edges:
    """Return edges by their earlier end, in the order of nodes; nodes of earlier pages stand first."""
    places = {node.id: place for place, node in enumerate(page.nodes)}
    grouped: dict[str, dict[str, list[PageEdge]]] = {}
    for edge in page.edges:
        grouped.setdefault(edge.ends[0], {}).setdefault(_step(edge), []).append(edge)
    return {node: _paired(grouped[node]) for node in sorted(grouped, key=lambda node: places.get(node, -1))}


def _paired(steps: dict[str, list[PageEdge]]) -> dict[str, list[PageEdge]]:
    """Return the edges of a node, with one in the place of two that lead both ways and say the same."""
    twins: dict[int, PageEdge] = {}
    for step, edges in steps.items():
        incoming = {edge.ends[1]: edge for edge in steps.get(f"{INCOMING}{step.removeprefix(OUTGOING)}", ())}
        for edge in edges:
            twin = incoming.get(edge.ends[1])
            if twin is not None and twin.metadata == edge.metadata and not _position(edge):
                twins |= {id(edge): edge, id(twin): edge}
    if not twins:
        return steps
    paired: dict[str, list[PageEdge]] = {}
    for step, edges in steps.items():
        for edge in edges:
            one = twins.get(id(edge))
            if one is None:
                paired.setdefault(step, []).append(edge)
            elif one is edge:
                paired.setdefault(f"{BOTH_WAYS}{edge.predicate}", []).append(edge)
    return paired


def _names_of(nodes: Iterable[PageNode]) -> dict[str, str]:
    known = ((node.id, node.name if node.metadata is None else node.metadata.name) for node in nodes)
    return {name_id: name for name_id, name in known if name is not None}


def _is_only_named(node: PageNode) -> bool:
    """Return whether a node carries nothing but its name."""
    if node.on_the_way or node.row is not None:
        return False
    return node.metadata is None or not (node_metadata(replace(node.metadata, name=None)) or beside_metadata(node))


def _in_edges(nodes: Sequence[PageNode], edges: _Edges, folded: Mapping[str, PageNode]) -> Mapping[str, PageNode]:
    """Return the nodes that stand only where edges lead to them, by ID: none to which a node within an edge leads.

    What that says could be taken for a node, and its predicate for the one below which the node stands first.
    """
    ends: tuple[set[str], set[str]] = (set(), set())
    for node, steps in edges.items():
        ends[node in folded].update(edge.ends[1] for edge in chain.from_iterable(steps.values()))
    mentioned = ends[0].difference(ends[1], folded)
    return {node.id: node for node in nodes if node.may_be_in_edges and node.id in mentioned and _is_only_named(node)}


def _is_one_relation(page: SubgraphPage, listed: Sequence[PageNode], edges: _Edges) -> bool:
    """Return whether the edges of an answer say all of it, and this page says nothing but names of its nodes."""
    if page.header.members or not all(map(_is_only_named, listed)):
        return False
    if not page.place:
        is_all = page.header.is_one_relation or page.header.are_chosen
        return is_all and bool(edges) and all(node.id in edges for node in listed)
    # Of several pages, the first has the seed.
    return (
        page.header.is_one_relation
        and len(edges) == 1
        and [one.id for one in listed] == ([*edges] if page.place.startswith(FIRST) else [])
    )


def _types_in_edges(inside: Mapping[str, PageNode], edges: _Edges, names: Names) -> Any:
    """Return the types of the nodes that stand in edges: once for all, or by the predicate below which they are first.

    Where those below one have several types, these are counted.
    """
    seen: set[str] = set()
    counts: dict[str, Counter[str]] = {}
    for steps in edges.values():
        for step, leading in steps.items():
            new = {edge.ends[1] for edge in leading if edge.ends[1] in inside}.difference(seen)
            seen |= new
            if new:
                counts.setdefault(step, Counter()).update(inside[name_id].entity_type for name_id in new)
    types = {entity_type for counted in counts.values() for entity_type in counted}
    if len(types) <= 1:
        return names.beside(types.pop()) if types else None
    return {step: _types_or_counts(counted, names) for step, counted in counts.items()}


def _types_or_counts(counted: Counter[str], names: Names) -> Any:
    if len(counted) == 1:
        return names.beside(*counted)
    order = sorted(counted, key=lambda entity_type: (-counted[entity_type], entity_type))
    written = {names.beside(entity_type): counted[entity_type] for entity_type in order[:_MOST_TYPES]}
    others = sum(counted[entity_type] for entity_type in order[_MOST_TYPES:])
    return {**written, OTHERS: others} if others else written


def _listed(nodes: Sequence[PageNode], names: Names, *, may_be_absent: bool) -> Json:
    """Return nodes by type, with their metadata as rows where that is shorter."""
    shown, steps = (
        by_type((node for node in nodes if node.on_the_way == on_the_way), names) for on_the_way in (False, True)
    )
    said = [
        metadata
        for alike in shown.values()
        for entry in alike
        if isinstance(entry, Mapping)
        for metadata in entry.values()
    ]
    columns = node_columns(said)
    rows = {
        entity_type: [
            {text: node_row(metadata, columns) for text, metadata in entry.items()}
            if isinstance(entry, Mapping) and columns
            else entry
            for entry in alike
        ]
        for entity_type, alike in shown.items()
    }
    written = {
        NODE_COLUMNS: columns or None,
        "nodes": None if may_be_absent and not rows else rows,
        ON_THE_WAY: steps or None,
    }
    return present(written)


def by_type(nodes: Iterable[PageNode], names: Names) -> dict[str, list[Any]]:
    """Return nodes by the IDs of their types, in the order of nodes."""
    grouped: dict[str, list[PageNode]] = {}
    for node in nodes:
        grouped.setdefault(node.entity_type, []).append(node)
    # The types that name the groups get their names first.
    keys = {entity_type: names.beside(entity_type) for entity_type in grouped}
    return {keys[entity_type]: [_node(node, names) for node in alike] for entity_type, alike in grouped.items()}


def _node(node: PageNode, names: Names) -> Any:
    if node.metadata is None:
        return named(node.id, node.name)
    return {named(node.id, node.metadata.name): _said(node, node.metadata, names)}


def _said(node: PageNode, metadata: NodeMetadata, names: Names) -> Json:
    """Return what a node says beside its name."""
    written = node_metadata(replace(metadata, name=None))
    if types := written.pop("types", None):
        written = {**_types(types, node.entity_type, names), **written}
    return {**written, **beside_metadata(node, partial(survey_rows, names=names))}


def _types(types: Sequence[str], entity_type: str, names: Names) -> Json:
    """Return the types of a node besides the one below which it stands; all, if that would not be known from these."""
    others = [name_id for name_id in types if name_id != entity_type]
    if list(types) == sorted([*others, entity_type]):
        return {OTHER_TYPES: [names.beside(name_id) for name_id in others]}
    return {"types": list(types)}


class _Adjacency:
    """The other ends of edges by node and predicate."""

    def __init__(self, edges: _Edges, columns: Sequence[str], names: Names, folded: Mapping[str, PageNode]) -> None:
        self._edges = edges
        self._columns = columns
        self._names = names
        self._folded = folded

    def written(self) -> dict[str, dict[str, Any]]:
        """Return them, those of folded nodes within the edges that lead there."""
        return {self._names.beside(node): self._of(node) for node in self._edges if node not in self._folded}

    def _of(self, node: str) -> dict[str, Any]:
        steps = self._edges.get(node, {})
        written: dict[str, Any] = {}
        for step, edges in steps.items():
            predicate = edges[0].predicate
            named = f"{step.removesuffix(predicate)}{self._names.beside(predicate)}"
            written[named] = self._others(edges)
        return written

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
            BLANK_ID: named(node.id, metadata.name),
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
    if edge.is_incoming:
        return f"{INCOMING}{edge.predicate}"
    # A walk may begin against an edge.
    return f"{OUTGOING}{edge.predicate}" if edge.predicate.startswith(INCOMING) else edge.predicate


def node_by_itself(node: PageNode) -> Any:
    """Return what a node takes beside its frame, its paths included; metadata without what columns might save.

    Of one that may stand where an edge leads to it, that is its name: the edge has the ID.
    """
    if node.row is not None:
        return [list(node.row), [" ".join(path) for path in node.paths]]
    written: Any = node.name or ""
    if not (node.may_be_in_edges and _is_only_named(node)):
        written = _node(node, Names({}))
    if isinstance(written, Mapping):
        written = {text: list(said.values()) if len(said) <= MOST_COLUMNS else said for text, said in written.items()}
    return [written, {node.id: [" ".join(path) for path in node.paths]}] if node.paths else written


def edge_by_itself(edge: PageEdge) -> Any:
    """Return what an edge takes beside its frame: the other end, and the cells of its assertions."""
    if edge.metadata is None:
        return edge.ends[1]
    return {edge.ends[1]: cells(edge.metadata)}


def set_frames(nodes: Sequence[PageNode], edges: Sequence[PageEdge], ends: Sequence[int]) -> None:
    """Set the bytes of keys: the first node of a type writes it, and the first edge of a node and of a predicate.

    A page has the beginning of the edges in the order of their later ends, so what is written for one that stays is
    written for none that is cut.
    """
    types: set[tuple[bool, str]] = set()
    for node in nodes:
        # Where a name stands behind the ID in an edge, it has neither quotes nor a comma.
        node.frame = -_PUNCTUATION * node.may_be_in_edges
        if node.on_the_way and (True, "") not in types:
            types.add((True, ""))
            node.frame += size_of(ON_THE_WAY) + _PUNCTUATION
        if (node.on_the_way, node.entity_type) not in types:
            types.add((node.on_the_way, node.entity_type))
            node.frame += size_of(node.entity_type) + _PUNCTUATION
    inside = {node.id: node.entity_type for node in nodes if node.may_be_in_edges}
    below: set[tuple[str, str]] = set()
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
        # Types stand by predicate, each with its number.
        entity_type = inside.pop(edge.ends[1], None)
        if entity_type is not None and (step, entity_type) not in below:
            below.add((step, entity_type))
            edge.frame += size_of(entity_type) + _PUNCTUATION + (0 if (step, "") in below else size_of(step))
            below.add((step, ""))
