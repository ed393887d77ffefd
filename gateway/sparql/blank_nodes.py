"""Blank nodes of an endpoint as nodes: the joint between the port and what an engine knows them by.

Behind it, queries know keys; before it, there are IDs alone (docs/contract.md, "Blank nodes and lists"). It answers
what the port asks about blank nodes, and puts them into the answers about other nodes. An endpoint that has no keys, or
hides something, is asked as if it were not here. A graph without blank nodes is sent no other request for it, but where
edges are only counted and it is not known that the graph has none.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Final

from gateway.errors import EdgesCapped, EndpointFault, Fault
from gateway.graph.call import Call
from gateway.graph.counts import EdgeCounts
from gateway.graph.reading import (
    beside_blank_nodes,
    checked_counts,
    checked_descriptions,
    checked_facts,
    sendable_edges,
)
from gateway.graph.store import OnAnswers
from gateway.graph.values import (
    ALL_EDGES,
    WHOLE,
    Degree,
    Description,
    DirectSubclasses,
    Edge,
    EdgeSelection,
    Evidence,
    Existence,
    Identities,
    Iri,
    Mark,
    Neighbourhood,
    NodeFacts,
    Reach,
    Schema,
)
from gateway.graph.walks import Ends, Walk
from gateway.settings.profile import Profile, has_blank_nodes
from gateway.sparql.batches import BatchedQuery
from gateway.sparql.blank_contents import BlankEnd, BlankEnds, Content, ContentReader, read_beside
from gateway.sparql.blank_keys import NodeId
from gateway.sparql.blank_proof import KeyProof
from gateway.sparql.blank_values import BlankValues, said_by
from gateway.sparql.client import SparqlClient
from gateway.sparql.degrees import DegreeReader, ReachReader
from gateway.sparql.edges import EdgeReader
from gateway.sparql.engines import TRAITS
from gateway.sparql.evidence import EvidenceReader, WaysInUse
from gateway.sparql.nodes import NodeReader
from gateway.sparql.rule import EdgeRule, selected_predicates, selection_parameters
from gateway.sparql.table import BlankTerm, IriTerm, Table, integer, iri, read
from gateway.sparql.walks import WalkReader
from gateway.terms.iri import is_blank_node

_LEVELS: Final = 2
"""Levels of blank neighbours in the digest of a node, at an engine that may give its key to another node."""

_SCAN: Final = 20_000
"""Edges with a blank node that are counted in one query."""

_FEW: Final = 5_000
"""Edges of a node with blank neighbours that are read to count them by predicate."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A blank node that was asked for by its ID.

    Attributes:
        node: The ID.
        content: What it says; None where there is no such node, or none of that content, or it could not be read.
        mark: Whether that is known.
    """

    node: Iri
    content: Content | None = None
    mark: Mark = WHOLE


@dataclass(frozen=True, slots=True)
class Readers:
    """What reads nodes with an IRI."""

    edges: EdgeReader
    degrees: DegreeReader
    reach: ReachReader
    nodes: NodeReader
    evidence: EvidenceReader
    walks: WalkReader
    in_use: WaysInUse


class BlankNodes:
    """The methods of the port that are about given nodes, for an endpoint; see `gateway.graph.store.GraphStore`."""

    def __init__(self, client: SparqlClient, rule: EdgeRule, profile: Profile, readers: Readers) -> None:
        self._client = client
        self._rule = rule
        self._named = readers
        self._batch = profile.limits.batch
        self._may_be_nodes = client.is_remote and not client.has_policy and has_blank_nodes(profile)
        self._reader: ContentReader | None = None
        self._proof = KeyProof(client)
        self._values = BlankValues(client, profile.limits.facts_batch)
        # Whether the graph has any, by its schema.
        self._are_there: bool | None = None
        self.existing = partial(self._existing, readers.nodes.existing)
        self.subjects = partial(self._existing, partial(readers.nodes.existing, as_subjects=True))

    def noted(self, schema: Schema) -> Schema:
        """Return a schema, and note whether the graph has blank nodes by it."""
        self._are_there = True if schema.blank else False if schema.blank.are_all else None
        return schema

    async def edges(
        self,
        ids: Sequence[Iri],
        call: Call,
        *,
        selection: EdgeSelection = ALL_EDGES,
        per_id: int | None = None,
        on_answers: OnAnswers | None = None,
    ) -> Mapping[Iri, Neighbourhood]:
        """Return the edges of each node; see `GraphStore.edges`."""
        if not await self._have_keys(call):
            return await self._named.edges.around(ids, call, selection=selection, per_id=per_id, on_answers=on_answers)
        named, blank = _apart(ids)
        found: Mapping[Iri, Neighbourhood] = {}
        if named:
            early = None if on_answers is None else partial(_without_blank_ends, on_answers)
            around = self._named.edges.around
            found = await around(named, call, selection=selection, per_id=per_id, on_answers=early)
            found = await self._with_blank_ends(found, selection, call)
        found = {**found, **await self._around(blank, selection, call)}
        return {node: _capped(found[node], per_id) for node in ids}

    async def degrees(
        self, ids: Sequence[Iri], at_most: int, call: Call, *, selection: EdgeSelection = ALL_EDGES
    ) -> Mapping[Iri, Degree]:
        """Count the edges of each node; see `GraphStore.degrees`."""
        if not await self._have_keys(call):
            return await self._named.degrees.degrees(ids, at_most, call, selection=selection)
        named, blank = _apart(ids)
        found = dict(await self._named.degrees.degrees(named, at_most, call, selection=selection) if named else {})
        uncertain = [node for node in named if found[node].mark.whole and found[node].count <= at_most]
        if uncertain and self._are_there is not False:
            beside = await self._beside_blank_nodes(uncertain, selection, call)
            around = await self.edges(beside, call, selection=selection, per_id=at_most) if beside else {}
            found |= {node: _degree(one, at_most) for node, one in around.items()}
        around = await self._around(blank, selection, call)
        found |= {node: _degree(_capped(one, at_most), at_most) for node, one in around.items()}
        return {node: found[node] for node in ids}

    async def edge_counts(self, ids: Sequence[Iri], call: Call) -> Mapping[Iri, EdgeCounts]:
        """Count the edges of each node by predicate; see `GraphStore.edge_counts`."""
        if not await self._have_keys(call):
            return await self._named.degrees.counts(ids, call)
        named, blank = _apart(ids)
        found = dict(await self._named.degrees.counts(named, call) if named else {})
        beside = [node for node in named if found[node].mark.whole and found[node].blank_edges]
        few = [node for node in beside if _total(found[node]) <= _FEW]
        around = {**(await self.edges(few, call) if few else {}), **await self._around(blank, ALL_EDGES, call)}
        counted = {
            node: EdgeCounts.of(node, one, with_ends_only=True)
            for node, one in around.items()
            if one.mark.whole or is_blank_node(node)
        }
        return {**found, **await checked_counts(counted, call)}

    async def reach(self, ids: Sequence[Iri], hops: int, call: Call) -> Mapping[Iri, Reach]:
        """Return the nodes within some hops of each node; see `GraphStore.reach`."""
        if not await self._have_keys(call):
            return await self._named.reach.reach(ids, hops, call)
        named, blank = _apart(ids)
        found = await self._named.reach.reach(named, hops, call) if named else {}
        return {**found, **{node: Reach(mark=beside_blank_nodes()) for node in blank}}

    async def edges_among(
        self, ids: Sequence[Iri], inside: frozenset[Iri], call: Call, *, predicates: tuple[Iri, ...] | None = None
    ) -> Mapping[Iri, Neighbourhood]:
        """Return the outgoing edges of each node whose object lies inside a set; see `GraphStore.edges_among`."""
        among = self._named.edges.among
        if not await self._have_keys(call):
            return await among(ids, inside, call, predicates=predicates)
        named, blank = _apart(ids)
        selection = EdgeSelection(predicates, incoming=())
        found = dict(await among(named, inside, call, predicates=predicates) if named else {})
        ends = [node for node in inside if is_blank_node(node)] if named else []
        leading = await self._around(ends, EdgeSelection((), predicates), call)
        broken = next((one.mark for one in leading.values() if not one.mark.whole), None)
        edges: dict[Iri, list[Edge]] = {}
        for one in leading.values():
            for edge in one.edges:
                edges.setdefault(edge.subject, []).append(edge)
        for node in named:
            # A node of this set that is blank too is asked for below.
            more = edges.get(node, ())
            mark = found[node].mark if broken is None else broken
            if more or broken is not None:
                found[node] = replace(found[node], edges=(*found[node].edges, *more), mark=mark)
        for node, one in (await self._around(blank, selection, call)).items():
            found[node] = replace(one, edges=tuple(edge for edge in one.edges if edge.object in inside), blank_edges=0)
        return {node: found[node] for node in ids}

    async def nodes(
        self, ids: Sequence[Iri], call: Call, *, names: bool, descriptions: bool = False
    ) -> Mapping[Iri, NodeFacts]:
        """Return the types of each node, and its name and description on request; see `GraphStore.nodes`."""
        named, blank = await self._split(ids, call)
        found = dict(
            await self._named.nodes.facts(named, call, names=names, descriptions=descriptions) if named else {}
        )
        if blank:
            asked = await self._asked(blank, call)
            said = said_by({one.node: one.content for one in asked if one.content is not None}, self._types)
            known = self._named.nodes.facts_in([*blank], said, names=names, descriptions=descriptions)
            found |= {one.node: replace(known[one.node], mark=one.mark) for one in asked}
            found = dict(await checked_facts(found, call))
        return found

    async def node_metadata(
        self, ids: Sequence[Iri], call: Call, *, blank_nodes: bool, precise: bool = True
    ) -> Mapping[Iri, Description]:
        """Return the properties of each node that are not edges; see `GraphStore.node_metadata`."""
        named, blank = await self._split(ids, call)
        read_named = self._named.nodes.metadata
        found = dict(await read_named(named, call, blank_nodes=blank_nodes, precise=precise) if named else {})
        if blank_nodes and self._reader is not None and self._proof.holds:
            found |= await self._values.without_nodes(found, self._reader, call)
        if blank:
            asked = await self._asked(blank, call)
            said = said_by({one.node: one.content for one in asked if one.content is not None})
            known = self._named.nodes.metadata_in(blank, said)
            described = {one.node: replace(known[one.node], mark=one.mark) for one in asked}
            if blank_nodes and self._reader is not None:
                contents = {one.node: one.content for one in asked if one.content is not None}
                described |= await self._values.with_values(described, contents, self._reader, call)
            found |= await checked_descriptions(described, call)
        return found

    async def mentions(self, ids: Sequence[Iri], call: Call) -> Mapping[Iri, Description]:
        """Return the properties of each node that count its mentions; see `GraphStore.mentions`."""
        named, blank = await self._split(ids, call)
        found = dict(await self._named.nodes.mentions(named, call) if named else {})
        if blank:
            asked = await self._asked(blank, call)
            said = said_by({one.node: one.content for one in asked if one.content is not None})
            known = self._named.nodes.mentions_in(blank, said)
            found |= {one.node: replace(known[one.node], mark=one.mark) for one in asked}
        return found

    async def identities(self, ids: Sequence[Iri], call: Call) -> Mapping[Iri, Identities]:
        """Return what other graphs call each node; a blank node is not known to others."""
        named, blank = await self._split(ids, call)
        found = await self._named.nodes.identities(named, call) if named else {}
        return {**found, **dict.fromkeys(blank, Identities())}

    async def narrower(self, ids: Sequence[Iri], call: Call) -> Mapping[Iri, DirectSubclasses]:
        """Return the direct subclasses of each class, which has an IRI."""
        named, blank = await self._split(ids, call)
        found = await self._named.nodes.narrower(named, call) if named else {}
        return {**found, **dict.fromkeys(blank, DirectSubclasses())}

    async def edge_metadata(self, edges: Sequence[Edge], call: Call) -> Mapping[Edge, Evidence]:
        """Return the statements about each edge; see `GraphStore.edge_metadata`."""
        blank = [edge for edge in edges if is_blank_node(edge.subject) or is_blank_node(edge.object)]
        if not blank or not await self._have_keys(call):
            return await self._named.evidence.about(edges, call)
        of_blank = frozenset(blank)
        found = await self._named.evidence.about([edge for edge in edges if edge not in of_blank], call)
        try:
            is_stated = bool(await self._named.in_use.ways(call))
        except Fault as fault:
            return {**found, **dict.fromkeys(blank, Evidence(mark=Mark(fault)))}
        unread = EndpointFault("What is stated about edges of blank nodes is not read at an endpoint.")
        return {**found, **dict.fromkeys(blank, Evidence(mark=Mark(unread) if is_stated else WHOLE))}

    async def ends(self, ids: Sequence[Iri], walk: Walk, call: Call, *, ways: bool = False) -> Mapping[Iri, Ends]:
        """Return where a walk ends that begins at each node; see `GraphStore.ends`."""
        named, blank = await self._split(ids, call)
        found = await self._named.walks.ends(named, walk, call, ways=ways) if named else {}
        unread = Mark(EndpointFault("Walks that begin at a blank node are not read at an endpoint."))
        return {**found, **{node: Ends(mark=unread) for node in blank}}

    async def _existing(
        self,
        of_named: Callable[[Sequence[Iri], Call], Awaitable[Mapping[Iri, Existence]]],
        ids: Sequence[Iri],
        call: Call,
    ) -> Mapping[Iri, Existence]:
        """Return which nodes are there; see `GraphStore.existing` and `GraphStore.subjects`."""
        named, blank = await self._split(ids, call)
        found = await of_named(named, call) if named else {}
        asked = await self._asked(blank, call)
        return {**found, **{one.node: Existence(one.content is not None, one.mark) for one in asked}}

    async def _split(self, ids: Sequence[Iri], call: Call) -> tuple[Sequence[Iri], Sequence[Iri]]:
        """Return the nodes that are asked for as IRIs, and those by keys."""
        named, blank = _apart(ids)
        return (named, blank) if blank and await self._have_keys(call) else (ids, ())

    async def _have_keys(self, call: Call) -> bool:
        """Return whether the engine is one that has keys of blank nodes, whatever was proven of this one."""
        if not self._may_be_nodes:
            return False
        if self._reader is None:
            traits = TRAITS[await self._client.engine(call)]
            if traits.blank_nodes is not None:
                levels = _LEVELS if traits.reuses_keys else 0
                self._reader = ContentReader(self._client, self._rule, traits.blank_nodes, levels)
        return self._reader is not None and not self._proof.fails

    async def _asked(self, ids: Sequence[Iri], call: Call) -> Sequence[Asked]:
        """Look the blank nodes of some IDs up; one whose content is another now is missing."""
        reader = self._reader
        if not ids or reader is None:
            return []
        parts = {node: NodeId.of(node) for node in ids}
        keys = [part.key for part in parts.values() if part is not None]
        now = await reader.ids(keys, call)
        contents = reader.contents(call)
        found = []
        for node, part in parts.items():
            if part is None:
                found.append(Asked(node))
            elif now.get(part.key) == node:
                # So many bits of a digest agree with another node's by no accident.
                self._proof.has_held()
                found.append(Asked(node, contents[part.key]))
            elif not contents[part.key].mark.whole or reader.is_unread(part.key, call):
                fault = contents[part.key].mark.fault or EndpointFault("A blank node could not be read as a whole.")
                found.append(Asked(node, mark=Mark(fault)))
            else:
                found.append(Asked(node))
        if any(one.content is None and one.mark.whole and parts[one.node] is not None for one in found):
            doubt = await self._proof.doubt(reader, None, call)
            if doubt is not None:
                found = [replace(one, mark=Mark(doubt)) if one.content is None else one for one in found]
        return found

    async def _around(self, ids: Sequence[Iri], selection: EdgeSelection, call: Call) -> Mapping[Iri, Neighbourhood]:
        """Return the edges of blank nodes."""
        asked = await self._asked(ids, call)
        reader = self._reader
        if reader is None or not asked:
            return {}
        contents = {one.node: one.content for one in asked if one.content is not None}
        ends = (end for content in contents.values() for end in content.blank_ends)
        known = await reader.ids(ends, call)
        return sendable_edges(
            {
                one.node: Neighbourhood(mark=one.mark)
                if one.content is None
                else _neighbourhood(one.node, one.content, known, selection)
                for one in asked
            }
        )

    async def _with_blank_ends(
        self, found: Mapping[Iri, Neighbourhood], selection: EdgeSelection, call: Call
    ) -> Mapping[Iri, Neighbourhood]:
        """Return the edges of nodes with an IRI, those to and from blank nodes among them."""
        beside = [node for node, one in found.items() if one.blank_edges and one.mark.whole]
        reader = self._reader
        if not beside or reader is None:
            return found
        self._are_there = True
        anchor = min(beside, key=lambda node: found[node].blank_edges)
        if await self._proof.doubt(reader, anchor, call) is not None:
            return found
        given = {**await self._rule.refreshed(call), **selection_parameters(selection)}
        query = BatchedQuery[Iri, BlankEnds](
            self._client,
            "blank_nodes/beside",
            self._batch,
            lambda batch: {"nodes": batch, **given},
            read_beside,
            beside=selected_predicates(selection),
        )
        ends = await query.run(beside, call)
        known = await reader.ids((end.key for one in ends.values() for end in one.ends), call)
        contents = reader.contents(call)
        joined = {
            node: _joined(node, found[node], ends[node].ends, known, contents)
            for node in beside
            if ends[node].mark.whole
        }
        return {**found, **sendable_edges(joined)}

    async def _beside_blank_nodes(self, ids: Sequence[Iri], selection: EdgeSelection, call: Call) -> Sequence[Iri]:
        """Return those of some nodes that have edges with blank nodes, or may have."""

        def read_counts(batch: Sequence[Iri], rows: Table, mark: Mark) -> dict[Iri, Degree]:
            counts = dict.fromkeys(batch, 0)
            for node, count in read(rows, iri("n"), integer("degree")):
                counts[node] += count
            whole = sum(counts.values()) < _SCAN
            return {node: Degree(count, whole, mark) for node, count in counts.items()}

        given = {**await self._rule.refreshed(call), **selection_parameters(selection)}
        query = BatchedQuery[Iri, Degree](
            self._client,
            "blank_nodes/count",
            self._batch,
            lambda batch: {"nodes": batch, "scan": _SCAN, **given},
            read_counts,
            beside=selected_predicates(selection),
        )
        counted = await query.run(ids, call)
        return [node for node, one in counted.items() if one.count or not one.exact or not one.mark.whole]

    @property
    def _types(self) -> Sequence[Iri]:
        return self._named.nodes.type_predicates


def _apart(ids: Iterable[Iri]) -> tuple[list[Iri], list[Iri]]:
    """Return the nodes with an IRI, and the blank ones."""
    named: list[Iri] = []
    blank: list[Iri] = []
    for node in dict.fromkeys(ids):
        (blank if is_blank_node(node) else named).append(node)
    return named, blank


def _without_blank_ends(on_answers: OnAnswers, answers: Mapping[Iri, Neighbourhood]) -> None:
    """Hand on the answers that are as they stay."""
    on_answers({node: one for node, one in answers.items() if not one.blank_edges})


def _total(counts: EdgeCounts) -> int:
    return sum(one.count for one in counts.counts) + counts.blank_edges


def _degree(around: Neighbourhood, at_most: int) -> Degree:
    count = len(around.edges)
    if isinstance(around.mark.fault, EdgesCapped):
        return Degree(at_most + 1, exact=False)
    # What was not read may be edges.
    return Degree(min(count, at_most + 1), count <= at_most and not around.blank_edges, around.mark)


def _capped(around: Neighbourhood, most: int | None) -> Neighbourhood:
    if most is None or len(around.edges) <= most:
        return around
    mark = around.mark
    if mark.whole:
        mark = Mark(EdgesCapped("A node has more edges than are shown."), at_least=len(around.edges))
    return replace(around, edges=around.edges[:most], blank_edges=0, mark=mark)


def _neighbourhood(node: Iri, content: Content, known: Mapping[Iri, Iri], selection: EdgeSelection) -> Neighbourhood:
    """Return the edges of a blank node; those to others that are no nodes, or could not be read, are counted."""
    edges: dict[Edge, None] = {}
    unread: dict[Edge, None] = {}
    for triples, is_incoming in ((content.outgoing, False), (content.incoming, True)):
        for predicate, end in triples:
            other = ""
            if isinstance(end, IriTerm):
                other = end.value
            elif isinstance(end, BlankTerm):
                other = known.get(end.value, "")
            shown = other or (end.value if isinstance(end, BlankTerm) else "")
            if shown:
                edge = Edge(shown, predicate, node) if is_incoming else Edge(node, predicate, shown)
                (edges if other else unread)[edge] = None
    chosen = selection.selected(node, edges)
    return Neighbourhood(chosen, len(selection.selected(node, unread)))


def _joined(
    node: Iri,
    around: Neighbourhood,
    ends: Iterable[BlankEnd],
    known: Mapping[Iri, Iri],
    contents: Mapping[Iri, Content],
) -> Neighbourhood:
    """Return the edges of a node with an IRI, with those to blank nodes that could be read.

    A key that does not lead to the node beside which it was met is not believed.
    """
    edges: dict[Edge, None] = {}
    for end in ends:
        other = known.get(end.key)
        back = contents[end.key].says if end.is_incoming else contents[end.key].said
        if other is not None and (end.predicate, IriTerm(node)) in back:
            edges[Edge(other, end.predicate, node) if end.is_incoming else Edge(node, end.predicate, other)] = None
    rest = max(0, around.blank_edges - len(edges))
    return replace(around, edges=(*around.edges, *edges), blank_edges=rest)
