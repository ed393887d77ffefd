"""Blank nodes of an endpoint as nodes: the joint between the port and what an engine knows them by.

Behind it, queries know keys; before it, there are IDs alone (docs/contract.md, "Blank nodes and lists"). It answers
what the port asks about blank nodes, and puts them into the answers about other nodes. An endpoint that has no keys, or
hides something, is asked as if it were not here. A graph without blank nodes is sent no other request for it, but where
edges are only counted and it is not known that the graph has none.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Final
from typing import Literal as TypeLiteral

from gateway.errors import EndpointFault
from gateway.files.lists import is_list_part
from gateway.graph.call import Call, together
from gateway.graph.counts import EdgeCounts
from gateway.graph.reading import (
    beside_blank_nodes,
    checked_counts,
    checked_descriptions,
    checked_facts,
)
from gateway.graph.store import OnAnswers
from gateway.graph.values import (
    ALL_EDGES,
    WHOLE,
    Assertion,
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
from gateway.graph.walks import Ends, Step, Walk
from gateway.settings.profile import Profile
from gateway.sparql.blank.beside import beside_lists
from gateway.sparql.blank.edges import capped, degree_of, is_to_empty_list
from gateway.sparql.blank.evidence import BlankEvidence
from gateway.sparql.blank.joining import BlankJoiner
from gateway.sparql.blank.lookup import Asked, BlankLookup, apart
from gateway.sparql.blank.steps import StepReader
from gateway.sparql.blank.values import said_by
from gateway.sparql.client import SparqlClient
from gateway.sparql.degrees import DegreeReader, ReachReader
from gateway.sparql.edges import EdgeReader
from gateway.sparql.evidence import EvidenceReader, WaysInUse
from gateway.sparql.nodes import NodeReader
from gateway.sparql.rule import EdgeRule
from gateway.sparql.walks import WalkReader, literals_of
from gateway.terms.iri import (
    NEGATED,
    ONE_OF,
    OWN,
    POSITION,
    RDF_NIL,
    RDFS_MEMBER,
    RESTRICTED,
    STATED,
    XSD,
    is_blank_node,
)
from gateway.terms.literals import Literal

_UNCERTAIN: Final = frozenset((RESTRICTED, ONE_OF, NEGATED))
_IS_STATED: Final = Assertion({STATED: (Literal("true", f"{XSD}boolean"),)})

_FEW: Final = 5_000
"""Edges of a node with blank neighbours that are read to count them by predicate."""


WayBack = TypeLiteral["keys", "walks", "none"]
"""How blank nodes are asked for again: by what the engine knows them by, by walks from nodes with an IRI, or not."""


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
    """The methods of the port that are about given nodes, where some may be blank ones.

    Else only `edges` has anything to add to what reads nodes with an IRI; see `SparqlStore` for who answers what.
    """

    def __init__(
        self, client: SparqlClient, rule: EdgeRule, profile: Profile, lookup: BlankLookup, readers: Readers
    ) -> None:
        self._named = readers
        self._lookup = lookup
        self._evidence = BlankEvidence(client, self._lookup, readers.in_use, profile.limits.facts_batch)
        self._joiner = BlankJoiner(client, self._lookup, profile.limits.batch)
        self._steps = StepReader(client, rule, self._lookup, self._joiner, readers.walks, profile)
        self.lists_behind = self._steps.lists_behind

    async def way_back(self, call: Call) -> WayBack | None:
        """Return how blank nodes are asked for again; None where that could not be found out."""
        if await self._lookup.have_walks(call):
            return "walks"
        lead_back = await self._lookup.lead_back(call)
        return None if lead_back is None else "keys" if lead_back else "none"

    def noted(self, schema: Schema) -> Schema:
        """Return a schema, and note whether the graph has blank nodes by it."""
        are_there = bool(schema.blank) or schema.blank_share is not None
        self._lookup.are_there = True if are_there else False if schema.blank.are_all else None
        return schema

    async def are_followed(self, call: Call) -> bool:
        """Return whether the graph is known to have blank nodes, and they can be asked for again."""
        return self._lookup.are_there is True and await self.way_back(call) in {"keys", "walks"}

    async def say_types(self, call: Call) -> bool:
        """Return whether class expressions may say types of nodes, which are not read."""
        return await self._joiner.say_types(call)

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
        if not await self._lookup.read_lists(call):
            around = self._named.edges.around
            found = await around(ids, call, selection=selection, per_id=per_id, on_answers=on_answers)
            return await self._joiner.with_unread_expressions(found, selection, call)
        named, blank = await self._split(ids, call)
        async with together() as tasks:
            of_named = tasks.create_task(self._edges_of_named(named, call, selection, per_id, on_answers))
            of_blank = tasks.create_task(self._lookup.around(blank, selection, call))
        found = {**of_named.result(), **of_blank.result()}
        found = await self._lookup.without_empty_lists(found, call)
        found = await self._joiner.with_left_out(found, selection, call)
        return {node: capped(found[node], per_id) for node in ids}

    async def _edges_of_named(
        self,
        nodes: Sequence[Iri],
        call: Call,
        selection: EdgeSelection,
        per_id: int | None,
        on_answers: OnAnswers | None,
    ) -> Mapping[Iri, Neighbourhood]:
        if not nodes:
            return {}
        wide = await self._joiner.with_cells(selection, call)
        is_early = wide == selection and not await self._lookup.have_expressions(call)
        early = partial(_without_blank_ends, on_answers) if on_answers is not None and is_early else None
        read = await self._joiner.read_together(nodes, wide, call) if per_id is None else {}
        found = {node: one.named for node, one in read.items()}
        if early is not None and found:
            early(found)
        if others := [node for node in nodes if node not in found]:
            around = self._named.edges.around
            found |= await around(others, call, selection=wide, per_id=per_id, on_answers=early)
        ends = {node: one.blank for node, one in read.items()}
        found = dict(await self._joiner.with_blank_ends(found, ends, wide, selection, call))
        return await self._joiner.with_types(found, selection, call)

    async def degrees(
        self, ids: Sequence[Iri], at_most: int, call: Call, *, selection: EdgeSelection = ALL_EDGES
    ) -> Mapping[Iri, Degree]:
        """Count the edges of each node; see `GraphStore.degrees`."""
        await self._lookup.open(call)
        named, blank = await self._split(ids, call)
        found = dict(await self._named.degrees.degrees(named, at_most, call, selection=selection) if named else {})
        counted = [node for node in named if found[node].mark.whole]
        uncertain = [node for node in counted if found[node].count <= at_most]
        beside: dict[Iri, int] = {}
        if counted and await self._lookup.have_lists(call):
            beside = await beside_lists(counted, self._named.edges, self._named.degrees, selection, call)
        most = at_most + max(beside.values(), default=0)
        if uncertain and self._lookup.are_there is not False and await self._lookup.have_keys(call):
            wide = await self._joiner.with_cells(selection, call)
            beside |= dict.fromkeys(await self._joiner.beside_blank_nodes(uncertain, wide, call), 0)
        around = await self.edges([*beside], call, selection=selection, per_id=most) if beside else {}
        found |= {node: degree_of(one, at_most) for node, one in around.items()}
        around = await self._lookup.around(blank, selection, call)
        around = await self._lookup.without_empty_lists(around, call)
        found |= {node: degree_of(capped(one, at_most), at_most) for node, one in around.items()}
        return {node: found[node] for node in ids}

    async def edge_counts(self, ids: Sequence[Iri], call: Call) -> Mapping[Iri, EdgeCounts]:
        """Count the edges of each node by predicate; see `GraphStore.edge_counts`."""
        await self._lookup.open(call)
        named, blank = await self._split(ids, call)
        found = dict(await self._named.degrees.counts(named, call) if named else {})
        typed = await self._joiner.typed_by_expressions(named, ALL_EDGES, call)
        for node, one in typed.items():
            read = found[node]
            mark = one.mark if read.mark.whole else read.mark
            found[node] = replace(read, blank_edges=read.blank_edges + one.count, mark=mark)
        for node, one in (await self._joiner.left_out(named, ALL_EDGES, call)).items():
            found[node] = replace(found[node], blank_edges=found[node].blank_edges + max(one.count, not one.exact))
        # A type that is an expression is counted above, unless all edges are read.
        beside = [node for node in named if found[node].mark.whole and _are_others(found[node])]
        few = [node for node in beside if _total(found[node]) <= _FEW]
        around = {**(await self.edges(few, call) if few else {}), **await self._lookup.around(blank, ALL_EDGES, call)}
        counted = {
            node: EdgeCounts.of(node, one, with_ends_only=True)
            for node, one in around.items()
            if one.mark.whole or is_blank_node(node)
        }
        return {**found, **await checked_counts(counted, call)}

    async def reach(self, ids: Sequence[Iri], hops: int, call: Call) -> Mapping[Iri, Reach]:
        """Return the nodes within some hops of each node; see `GraphStore.reach`."""
        await self._lookup.open(call)
        named, blank = await self._split(ids, call)
        if await self._lookup.have_lists(call) or await self._lookup.have_expressions(call):
            return {node: Reach(mark=beside_blank_nodes()) for node in ids}
        found = await self._named.reach.reach(named, hops, call) if named else {}
        return {**found, **{node: Reach(mark=beside_blank_nodes()) for node in blank}}

    async def edges_among(
        self, ids: Sequence[Iri], inside: frozenset[Iri], call: Call, *, predicates: tuple[Iri, ...] | None = None
    ) -> Mapping[Iri, Neighbourhood]:
        """Return the outgoing edges of each node whose object lies inside a set; see `GraphStore.edges_among`."""
        among = self._named.edges.among
        await self._lookup.open(call)
        named, blank = await self._split(ids, call)
        selection = EdgeSelection(predicates, incoming=())
        found = dict(await among(named, inside, call, predicates=predicates) if named else {})
        ends = [node for node in inside if is_blank_node(node)] if named else []
        leading = await self._lookup.around(ends, EdgeSelection((), predicates), call)
        broken = next((one.mark for one in leading.values() if not one.mark.whole), None)
        edges: dict[Iri, dict[Edge, None]] = {node: {} for node in named}
        for one in leading.values():
            for edge in one.edges:
                # A node of this set that is blank too is asked for below.
                edges.get(edge.subject, {})[edge] = None
        shown = {
            node: one.edges for node, one in found.items() if any(is_list_part(edge.predicate) for edge in one.edges)
        }
        of_lists = await self._joiner.of_lists(named, shown, selection, call)
        for node in named:
            in_lists = of_lists.get(node, Neighbourhood())
            edges[node] |= dict.fromkeys(edge for edge in in_lists.edges if edge.object in inside)
            mark = next((one for one in (found[node].mark, broken, in_lists.mark) if one and not one.whole), WHOLE)
            if edges[node] or not mark.whole or node in shown:
                others = (edge for edge in found[node].edges if not is_list_part(edge.predicate))
                new = dict.fromkeys((*others, *edges[node]))
                found[node] = replace(found[node], edges=tuple(new), mark=mark)
        for node, one in (await self._lookup.around(blank, selection, call)).items():
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
        found = dict(await self._joiner.with_unread_types(found, call))
        if blank:
            asked = await self._lookup.asked(blank, call)
            contents = {one.node: one.content for one in asked if one.content is not None}
            said = said_by(contents, self._named.nodes.type_predicates, await self._joiner.lists_beside(contents, call))
            known = self._named.nodes.facts_in([*blank], said, call, names=names, descriptions=descriptions)
            of_blank = {one.node: replace(known[one.node], mark=_of_content(one)) for one in asked}
            found |= await self._joiner.with_unread_types_of(of_blank, asked, call)
            found = dict(await checked_facts(found, call))
        return found

    async def node_metadata(
        self, ids: Sequence[Iri], call: Call, *, blank_nodes: bool, precise: bool = True
    ) -> Mapping[Iri, Description]:
        """Return the properties of each node that are not edges; see `GraphStore.node_metadata`."""
        named, blank = await self._split(ids, call)
        read_named = self._named.nodes.metadata
        leading: set[Iri] = set()
        found = dict(
            await read_named(named, call, blank_nodes=blank_nodes, precise=precise, leading=leading) if named else {}
        )
        found |= await self._joiner.without_nodes(found, call, contents=blank_nodes, leading=leading)
        if blank:
            asked = await self._lookup.asked(blank, call)
            said = said_by({one.node: one.content for one in asked if one.content is not None})
            known = self._named.nodes.metadata_in(blank, said)
            described = {one.node: replace(known[one.node], mark=_of_content(one)) for one in asked}
            described |= await self._lookup.with_values(described, asked, call, contents=blank_nodes)
            found |= await checked_descriptions(described, call)
        return found

    async def mentions(self, ids: Sequence[Iri], call: Call) -> Mapping[Iri, Description]:
        """Return the properties of each node that count its mentions; see `GraphStore.mentions`."""
        named, blank = await self._split(ids, call)
        found = dict(await self._named.nodes.mentions(named, call) if named else {})
        if blank:
            asked = await self._lookup.asked(blank, call)
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
        if not edges:
            return {}
        await self._lookup.open(call)
        blank = [edge for edge in edges if is_blank_node(edge.subject) or is_blank_node(edge.object)]
        of_blank = frozenset(blank)
        named = [edge for edge in edges if edge not in of_blank]
        with_blank: set[Edge] = set()
        found = dict(await self._named.evidence.about(named, call, with_blank=with_blank))
        if with_blank and await self._lookup.have_keys(call):
            found |= await self._evidence.of_named(
                {edge: found[edge] for edge in named if edge in with_blank},
                call,
                may_ask_for_keys=await self._lookup.lead_back(call) is True,
            )
        if blank:
            found |= await self._evidence.about(blank, call)
        says, unread_owners = await self._joiner.positions(edges, call)
        stated, unread_subjects = await self._stated(says, call)
        unread_owners = {**unread_owners, **unread_subjects}
        for edge, said in says.items():
            certain = [_IS_STATED] if edge in stated else []
            found[edge] = replace(found[edge], assertions=(*found[edge].assertions, *said, *certain))
        of_lists = [edge for edge, said in says.items() if any(POSITION in one.properties for one in said)]
        unread_edges = {
            **await self._evidence.unread_of_expressions(says.keys() - of_lists, call),
            **await self._evidence.unread_of_lists(of_lists, call),
        }
        for edge, mark in unread_edges.items():
            found[edge] = replace(found[edge], mark=mark if found[edge].mark.whole else found[edge].mark)
        for edge in edges:
            unread_end = unread_owners.get(edge.subject) or unread_owners.get(edge.object)
            if unread_end is not None and found[edge].mark.whole:
                found[edge] = replace(found[edge], mark=unread_end)
        return {edge: found[edge] for edge in edges}

    async def _stated(
        self, says: Mapping[Edge, Sequence[Assertion]], call: Call
    ) -> tuple[frozenset[Edge], Mapping[Iri, Mark]]:
        """Return the edges that the graph has too where expressions say less of them, and what was not read."""
        uncertain = [
            edge
            for edge, said in says.items()
            if not edge.predicate.startswith(OWN)
            and any(not _UNCERTAIN.isdisjoint(one.properties) for one in said)
            and not any(STATED in one.properties for one in said)
        ]
        blank = [edge for edge in uncertain if is_blank_node(edge.subject) or is_blank_node(edge.object)]
        of_blank, unread = await self._lookup.stated(blank, call)
        uncertain = [edge for edge in uncertain if not (is_blank_node(edge.subject) or is_blank_node(edge.object))]
        if not uncertain:
            return of_blank, unread
        subjects, predicates = ({edge.subject for edge in uncertain}, {edge.predicate for edge in uncertain})
        objects = frozenset(edge.object for edge in uncertain)
        read = await self._named.edges.among(sorted(subjects), objects, call, predicates=tuple(sorted(predicates)))
        stated = frozenset(edge for one in read.values() for edge in one.edges)
        unread = {**unread, **{node: one.mark for node, one in read.items() if not one.mark.whole}}
        return stated.intersection(uncertain) | of_blank, unread

    async def ends(self, ids: Sequence[Iri], walk: Walk, call: Call, *, ways: bool = False) -> Mapping[Iri, Ends]:
        """Return where a walk ends that begins at each node; see `GraphStore.ends`."""
        await self._lookup.open(call)
        if walk[0].predicates == "any":
            described = await self.node_metadata(ids, call, blank_nodes=False, precise=False)
            return {node: literals_of(one) for node, one in described.items()}
        found = dict(await self._steps.ends(ids, walk, call, ways=ways))
        if any(map(_is_about_lists, walk)) and await self._lookup.have_lists(call):
            unread = Mark(EndpointFault("Walks to the members of lists are not read at an endpoint."))
            found = {node: replace(one, mark=unread if one.mark.whole else one.mark) for node, one in found.items()}
        if await self.say_types_on(walk, call):
            fault = EndpointFault("Types that class expressions say are not read at an endpoint.")
            found = {
                node: replace(one, mark=Mark(fault, at_least=len(one.ends))) if one.mark.whole else one
                for node, one in found.items()
            }
        return found

    async def say_types_on(self, walk: Walk, call: Call) -> bool:
        """Return whether class expressions may say types to which a walk leads."""
        types = frozenset(self._named.nodes.type_predicates)
        predicates = [step.predicates for step in walk]
        leads = any(one == "type" if isinstance(one, str) else not types.isdisjoint(one) for one in predicates)
        return leads and await self.say_types(call)

    async def may_say_edges(self, predicates: Sequence[Iri], call: Call) -> bool:
        """Return whether class expressions may say edges of some predicates."""
        return await self._lookup.read_lists(call) and await self._joiner.may_say(predicates, call)

    async def is_read_by_steps(self, walk: Walk, call: Call) -> bool:
        """Return whether a query of a whole walk may miss ends: lists, expressions, or types of blank nodes."""
        return await self._steps.is_read_by_steps(walk, call) or await self.say_types_on(walk, call)

    async def existing(self, ids: Sequence[Iri], call: Call, *, as_subjects: bool = False) -> Mapping[Iri, Existence]:
        """Return which nodes are there; see `GraphStore.existing` and `GraphStore.subjects`."""
        named, blank = await self._split(ids, call)
        found = await self._named.nodes.existing(named, call, as_subjects=as_subjects) if named else {}
        asked = await self._lookup.asked(blank, call)
        return {**found, **{one.node: Existence(one.content is not None, one.mark) for one in asked}}

    async def _split(self, ids: Sequence[Iri], call: Call) -> tuple[Sequence[Iri], Sequence[Iri]]:
        """Return the nodes that are asked for as IRIs, and those by keys."""
        named, blank = apart(ids)
        return (named, blank) if blank and await self._lookup.have_keys(call) else (ids, ())


_GONE: Final = Mark(EndpointFault("A blank node of this answer has changed since, or is not there any more."))


def _of_content(one: Asked) -> Mark:
    """Return whether what a blank node says is all: nobody asks what one says that was never there."""
    return _GONE if one.content is None and one.mark.whole else one.mark


def _without_blank_ends(on_answers: OnAnswers, answers: Mapping[Iri, Neighbourhood]) -> None:
    """Hand on the answers that are as they stay."""
    stay = {node: one for node, one in answers.items() if not one.blank_edges}
    on_answers({node: one for node, one in stay.items() if not any(map(_is_of_list, one.edges))})


def _is_about_lists(step: Step) -> bool:
    """Return whether a step leads to members of lists that are nodes: of those, an endpoint knows the triples alone."""
    predicates = step.predicates if isinstance(step.predicates, tuple) else ()
    return RDFS_MEMBER in predicates or any(map(is_list_part, predicates))


def _is_of_list(edge: Edge) -> bool:
    return is_to_empty_list(edge) or is_list_part(edge.predicate)


def _are_others(counts: EdgeCounts) -> bool:
    """Return whether the edges of a node are others than those that were counted: blank nodes and lists are read."""
    return bool(counts.blank_edges) or any(
        is_list_part(one.predicate) or RDF_NIL in one.neighbours for one in counts.counts
    )


def _total(counts: EdgeCounts) -> int:
    return sum(one.count for one in counts.counts) + counts.blank_edges
