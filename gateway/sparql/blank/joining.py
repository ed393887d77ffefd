"""What blank nodes, lists and expressions say of nodes with an IRI, added to what is known of these."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import Final

from gateway.errors import EndpointFault
from gateway.files.class_expressions import READ_INWARDS, READ_OUTWARDS, beside_expressions
from gateway.files.lists import is_list_part
from gateway.graph.call import Call
from gateway.graph.reading import sendable_edges
from gateway.graph.values import (
    Assertion,
    Degree,
    Description,
    Edge,
    EdgeSelection,
    Iri,
    Mark,
    Neighbourhood,
    NodeFacts,
)
from gateway.sparql.blank.beside import Around
from gateway.sparql.blank.contents import (
    BlankEnd,
    BlankEnds,
    Content,
)
from gateway.sparql.blank.edges import (
    as_edge,
    cells_with_iri,
    of_node,
    with_types,
)
from gateway.sparql.blank.expressions import expressions_as_types, is_of_axiom, may_say
from gateway.sparql.blank.keys import NodeId, is_key
from gateway.sparql.blank.lookup import Asked, BlankLookup, apart
from gateway.sparql.blank.rule import blank_ends
from gateway.sparql.blank.values import has_blank_nodes_as_values, is_to_member
from gateway.sparql.client import SparqlClient
from gateway.sparql.engines import TRAITS
from gateway.sparql.table import BlankTerm, IriTerm
from gateway.terms.iri import ALL_DIFFERENT, INTERSECTION, RDF_TYPE, RDFS_MEMBER, TO_ALL_DIFFERENT, is_blank_node

_SOME: Final = 5_000
"""Blank nodes beside one node that are read where there are more than one answer may have."""

_UNSTATED: Final = Mark(EndpointFault("What is stated about an expression could not be read."))

_UNREAD_TYPES: Final = Mark(EndpointFault("A type that an expression says could not be read."), at_least=0)

_OF_SETS: Final = frozenset((*ALL_DIFFERENT.values(), *TO_ALL_DIFFERENT))
"""Predicates of what is said of sets of which all are different, and of these."""


class BlankJoiner:
    """Adds to what is known of nodes with an IRI what blank nodes, lists and expressions say of them.

    Args:
        client: Sends the queries.
        lookup: Looks blank nodes up.
        batch: Nodes in one query.
    """

    def __init__(self, client: SparqlClient, lookup: BlankLookup, batch: int) -> None:
        self._client = client
        self._lookup = lookup
        self._batch = batch

    async def with_unread_expressions(
        self, found: Mapping[Iri, Neighbourhood], selection: EdgeSelection, call: Call
    ) -> Mapping[Iri, Neighbourhood]:
        """Return edges where blank nodes have no keys, with expressions counted that may say some of those selected."""
        if not found or selection.is_all or self._lookup.are_values or self._lookup.are_there is False:
            return found
        if not await self._lookup.probe.are_there(call):
            return found
        counted = await self._lookup.beside.counts(list(found), beside_expressions(selection), call)
        return {node: _with_unread(one, counted[node]) if one.mark.whole else one for node, one in found.items()}

    async def with_left_out(
        self, found: Mapping[Iri, Neighbourhood], selection: EdgeSelection, call: Call
    ) -> Mapping[Iri, Neighbourhood]:
        """Return edges with expressions counted that an allow-list leaves out, though they may say some that it has."""
        named = [node for node, one in found.items() if one.mark.whole and not is_blank_node(node)]
        counted = await self.left_out(named, selection, call)
        return {**found, **{node: _with_unread(found[node], one) for node, one in counted.items()}}

    async def left_out(self, nodes: Sequence[Iri], selection: EdgeSelection, call: Call) -> Mapping[Iri, Degree]:
        """Return how many expressions that an allow-list leaves out are beside those of some nodes that have some."""
        # A schema by the same rule does not tell whether the graph has blank nodes.
        if not (nodes and self._lookup.rule.is_allow_list and await self._lookup.probe.are_there(call)):
            return {}
        beside = EdgeSelection(
            () if selection.outgoing == () else tuple(sorted(READ_OUTWARDS)),
            () if selection.incoming == () else tuple(sorted(READ_INWARDS)),
        )
        counted = await self._lookup.beside.counts(nodes, beside, call, rule=self._lookup.rule.without_allow_list())
        return {node: one for node, one in counted.items() if one.count or not one.exact or not one.mark.whole}

    async def may_say(self, predicates: Sequence[Iri], call: Call) -> bool:
        """Return whether class expressions may say edges of some predicates."""
        if not predicates or not await self._lookup.have_expressions(call):
            return False
        if _OF_SETS.isdisjoint(predicates) or not await self._lookup.different.are_there(call):
            return await may_say(predicates, self._client, call)
        return True

    async def with_cells(self, selection: EdgeSelection, call: Call) -> EdgeSelection:
        """Return which edges are to be read for a selection: a member of a list has none of the list's predicate."""
        if self._lookup.folded is None:
            return selection
        return await self._lookup.folded.widened(selection, call, are_blank=self._lookup.are_there is not False)

    async def of_lists(
        self, nodes: Sequence[Iri], shown: Mapping[Iri, tuple[Edge, ...]], selection: EdgeSelection, call: Call
    ) -> Mapping[Iri, Neighbourhood]:
        """Return the edges of nodes with an IRI that lists and expressions say, where there are some.

        Args:
            nodes: The nodes.
            shown: The edges that show which of them are lists or containers themselves.
            selection: Which edges are wanted.
            call: The call that asks.
        """
        reader, folded = self._lookup.reader, self._lookup.folded
        has_expressions = await self._lookup.have_expressions(call)
        if not nodes or folded is None or not (has_expressions or await folded.are_there(call)):
            return {}
        wide = await self.with_cells(selection, call)
        ends = await self._lookup.beside.ends(nodes, wide, call)
        if any(one.ends for one in ends.values()) and await self._lookup.have_keys(call) and reader is not None:
            await self._lookup.proof.doubt(reader, None, call)
        cells = [cell for node in nodes for cell in cells_with_iri(node, shown.get(node, ()), ends[node].ends)]
        known = await self._lookup.known((end.key for one in ends.values() for end in one.ends), call, cells)
        # Without keys it is not known which blank nodes are expressions.
        may_say = has_expressions and not self._lookup.proof.holds
        found: dict[Iri, Neighbourhood] = {}
        for node, one in ends.items():
            of_cells = [
                end
                for end in one.ends
                if end.key in known.lists
                or is_list_part(end.predicate)
                or (may_say and is_of_axiom(end.predicate, is_incoming=end.is_incoming))
            ]
            around = Neighbourhood(shown.get(node, ()), mark=one.mark)
            found[node] = of_node(node, around, of_cells, known, selection)
        unread = Mark(EndpointFault("A list or an expression could not be read."))
        return {
            node: replace(one, mark=unread) if one.blank_edges else one
            for node, one in (await self.with_types(sendable_edges(found), selection, call)).items()
        }

    async def lists_beside(self, contents: Mapping[Iri, Content], call: Call) -> Mapping[Iri, Sequence[Iri]]:
        """Return the predicates by which lists and expressions lead to some blank nodes."""
        cells = {
            node: [
                end.value
                for predicate, end in content.said
                if is_to_member(predicate) and isinstance(end, BlankTerm | IriTerm)
            ]
            for node, content in contents.items()
        }
        keys = [key for some in cells.values() for key in some]
        if not keys:
            return {}
        known = await self._lookup.known(filter(is_key, keys), call, [key for key in keys if not is_key(key)])
        found: dict[Iri, list[Iri]] = {}
        for node, some in cells.items():
            part = NodeId.of(node)
            for key in some:
                lists = known.lists.get(key)
                if lists is not None and part is not None:
                    edges = lists.edges.get(part.key, ())
                    found.setdefault(node, []).extend(edge.predicate for edge in edges if edge.object == part.key)
        return found

    async def positions(
        self, edges: Sequence[Edge], call: Call
    ) -> tuple[Mapping[Edge, Sequence[Assertion]], Mapping[Iri, Mark]]:
        """Return what lists and expressions say of edges, as evidence, and the marks of nodes that were not read.

        Edges that they say without more are among them.
        """
        if self._lookup.folded is None or not await self._lookup.folded.are_there(call):
            return {}, {}
        # What a class is equivalent to may say something of its parts.
        are_said = await self._lookup.have_expressions(call)
        named, blank = apart(end for edge in edges for end in (edge.subject, *([edge.object] if are_said else [])))
        keys, unread = await self._lookup.values.blank_values(named, call) if named else ([], {})
        cells = list(keys)
        for one in await self._lookup.asked(blank, call):
            if one.content is not None:
                cells += [one.key, *blank_ends(one.content.says)]
        members = dict.fromkeys(edge.subject for edge in edges if edge.predicate == RDFS_MEMBER)
        known = await self._lookup.known(cells, call, [node for node in members if not is_blank_node(node)])
        wanted = frozenset(edges)
        found: dict[Edge, Sequence[Assertion]] = {}
        read = {id(lists): lists for lists in known.lists.values() if lists is not None}
        unread = {
            **unread,
            **{known.ids.get(node, node): _UNSTATED for lists in read.values() for node in lists.unstated},
        }
        for lists in read.values():
            for member in dict.fromkeys(chain.from_iterable(lists.edges.values())):
                edge = as_edge(member, known.ids)
                if edge is not None and edge in wanted:
                    found[edge] = (*found.get(edge, ()), *member.assertions)
        return found, unread

    async def read_together(self, nodes: Sequence[Iri], selection: EdgeSelection, call: Call) -> Mapping[Iri, Around]:
        """Return the edges of nodes with an IRI, and their blank ends: of those of which one query has all of both.

        None are read so where it is not known that there are blank nodes and that keys of them lead back.
        """
        if self._lookup.are_there is not True or self._lookup.anchored is not None or not self._lookup.proof.holds:
            return {}
        traits = TRAITS[await self._client.engine(call)]
        are_labels = traits.blank_nodes != "iris" or traits.reuses_keys
        found = await self._lookup.beside.around(nodes, selection, call, are_labels=are_labels)
        return {node: one for node, one in found.items() if one.mark.whole}

    async def with_blank_ends(
        self,
        found: Mapping[Iri, Neighbourhood],
        read: Mapping[Iri, BlankEnds],
        wide: EdgeSelection,
        selection: EdgeSelection,
        call: Call,
    ) -> Mapping[Iri, Neighbourhood]:
        """Return the edges of nodes with an IRI, those to and from blank nodes among them.

        Args:
            found: Their edges with others, and how many there are with blank nodes.
            read: The blank ends that are known.
            wide: Which edges these are.
            selection: Which of them are wanted.
            call: The call that asks.
        """
        self._lookup.note_predicates(edge.predicate for one in found.values() for edge in one.edges)
        rest = {} if wide == selection else {node: _selected(node, one, selection) for node, one in found.items()}
        beside = [node for node, one in found.items() if one.blank_edges and one.mark.whole]
        cells = {node: cells_with_iri(node, one.edges, ()) for node, one in found.items()}
        reader = self._lookup.reader
        if reader is None or not (beside or any(cells.values())):
            return {**found, **rest}
        ends: dict[Iri, Sequence[BlankEnd]] = {node: () for node, some in cells.items() if some}
        if beside and await self._lookup.have_keys(call):
            self._lookup.are_there = True
            reader.note_nodes(beside, call)
            anchor = min(beside, key=lambda node: found[node].blank_edges)
            if await self._lookup.proof.doubt(reader, anchor, call) is None:
                # Of too many for one answer some are read, and all others stay counted.
                ends |= {
                    node: one.ends if one.mark.whole else one.ends[:_SOME]
                    for node, one in (await self._blank_ends(beside, read, wide, call)).items()
                    if one.mark.answered
                }
        named = dict.fromkeys(chain.from_iterable(cells.values()))
        named |= {cell: None for node, some in ends.items() for cell in cells_with_iri(node, (), some)}
        known = await self._lookup.known((end.key for some in ends.values() for end in some), call, list(named))
        joined = {node: of_node(node, found[node], some, known, selection) for node, some in ends.items()}
        return {**found, **rest, **sendable_edges(joined)}

    async def _blank_ends(
        self, nodes: Sequence[Iri], read: Mapping[Iri, BlankEnds], selection: EdgeSelection, call: Call
    ) -> Mapping[Iri, BlankEnds]:
        unread = [node for node in nodes if node not in read]
        known = {node: read[node] for node in nodes if node in read}
        return {**known, **await self._lookup.beside.ends(unread, selection, call)} if unread else known

    async def with_types(
        self, found: Mapping[Iri, Neighbourhood], selection: EdgeSelection, call: Call
    ) -> Mapping[Iri, Neighbourhood]:
        """Return edges with those that types say which are expressions; types that were not read are counted."""
        typed = await self.typed_by_expressions(list(found), selection, call)
        if not typed:
            return found
        if await self._lookup.have_keys(call) and self._lookup.reader is not None:
            await self._lookup.proof.doubt(self._lookup.reader, None, call)
        types = await self._lookup.values.blank_types([*typed], call)
        known = await self._lookup.known(chain.from_iterable(keys for keys, _ in types.values()), call)
        joined: dict[Iri, Neighbourhood] = {}
        for node, degree in typed.items():
            around = found[node]
            keys, mark = types[node]
            if self._lookup.proof.holds and degree.mark.whole and mark.whole:
                joined[node] = with_types(node, around, keys, known, selection)
                continue
            mark = mark if degree.mark.whole else degree.mark
            counted = replace(around, blank_edges=around.blank_edges + degree.count)
            joined[node] = replace(counted, mark=mark) if around.mark.whole else counted
        return {**found, **sendable_edges(joined)}

    async def typed_by_expressions(
        self, nodes: Sequence[Iri], selection: EdgeSelection, call: Call
    ) -> Mapping[Iri, Degree]:
        """Return how many expressions are types of those nodes with an IRI that have such types, or may have."""
        if not nodes or selection.outgoing == () or not await self._lookup.have_expressions(call):
            return {}
        counted = await expressions_as_types(nodes, self._client, self._batch, call)
        return {node: one for node, one in counted.items() if one.count or not one.mark.whole}

    async def say_types(self, call: Call) -> bool:
        """Return whether some expressions may say types of nodes, which are not read."""
        if not await self._lookup.read_lists(call) or not await self._lookup.have_expressions(call):
            return False
        return await self._lookup.probe.are_types_there(call)

    async def with_unread_types(self, found: Mapping[Iri, NodeFacts], call: Call) -> Mapping[Iri, NodeFacts]:
        """Return what is known of nodes with an IRI, marked where expressions say types of them."""
        if not found or not await self.say_types(call):
            return found
        counted = await expressions_as_types([*found], self._client, self._batch, call, [INTERSECTION])
        return {
            node: replace(one, mark=_UNREAD_TYPES)
            if one.mark.whole and (counted[node].count or not counted[node].mark.whole)
            else one
            for node, one in found.items()
        }

    async def with_unread_types_of(
        self, found: Mapping[Iri, NodeFacts], asked: Sequence[Asked], call: Call
    ) -> Mapping[Iri, NodeFacts]:
        """Return what is known of blank nodes, marked likewise."""
        types = {one.node: blank_ends(one.content.says, {RDF_TYPE}) for one in asked if one.content is not None}
        keys = list(chain.from_iterable(types.values()))
        if not keys or not await self.say_types(call):
            return found
        known = await self._lookup.contents(keys, call)
        return {
            node: replace(one, mark=_UNREAD_TYPES)
            if one.mark.whole and any(_may_say_types(known[key]) for key in types.get(node, ()))
            else one
            for node, one in found.items()
        }

    async def without_nodes(
        self,
        described: Mapping[Iri, Description],
        call: Call,
        *,
        contents: bool,
        leading: Collection[Iri] = (),
    ) -> Mapping[Iri, Description]:
        """Return those descriptions of nodes with an IRI that are others where blank nodes are nodes, and lists values.

        Args:
            described: The descriptions.
            call: The call that asks.
            contents: Whether the content of blank nodes that are no nodes is wanted.
            leading: Nodes that lead to blank nodes by predicates that are no edges.
        """
        described = {node: one for node, one in described.items() if one.mark.whole}
        if not described or not await self._lookup.read_lists(call):
            return {}
        reader, lists = self._lookup.reader, self._lookup.folded
        if reader is None or lists is None:
            return {}
        beside = [node for node, one in described.items() if node in leading or has_blank_nodes_as_values(one)]
        have_keys = await self._lookup.have_keys(call)
        if have_keys:
            self._lookup.are_there = True if beside else self._lookup.are_there
            if beside or await lists.are_there(call):
                await self._lookup.proof.doubt(reader, next(iter(beside), None), call)
        asked = dict(described)
        if not self._lookup.proof.holds:
            # Blank nodes among its values are shown by what they say.
            asked = {node: one for node, one in described.items() if node not in beside}
        return await self._lookup.values.without_nodes(
            asked, reader, lists, call, contents=contents, leading=leading, is_proven=self._lookup.proof.holds
        )

    async def beside_blank_nodes(self, ids: Sequence[Iri], selection: EdgeSelection, call: Call) -> Sequence[Iri]:
        """Return those of some nodes that have edges with blank nodes, or may have."""
        counted = await self._lookup.beside.counts(ids, selection, call)
        typed = await self.typed_by_expressions(ids, selection, call)
        return [
            node for node, one in counted.items() if one.count or not one.exact or not one.mark.whole or node in typed
        ]


def _may_say_types(content: Content) -> bool:
    return not content.mark.whole or any(predicate == INTERSECTION for predicate, _ in content.says)


def _with_unread(around: Neighbourhood, beside: Degree) -> Neighbourhood:
    """Return edges with the blank nodes counted that may be expressions."""
    if not beside.mark.whole:
        return replace(around, mark=beside.mark)
    # Of a node that is not in a count that was cut it is not known that it has none.
    return replace(around, blank_edges=max(around.blank_edges, beside.count, not beside.exact))


def _selected(node: Iri, around: Neighbourhood, selection: EdgeSelection) -> Neighbourhood:
    return replace(around, edges=selection.selected(node, around.edges))
