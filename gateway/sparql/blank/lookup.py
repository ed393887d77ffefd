"""Looks blank nodes of an endpoint up: by their IDs, and as the ends of edges of other nodes."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Final

from gateway.errors import EndpointFault
from gateway.files.expression_selections import beside_expressions
from gateway.files.lists import is_list_part
from gateway.graph.call import Call
from gateway.graph.reading import sendable_edges
from gateway.graph.values import (
    WHOLE,
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
from gateway.settings.profile import Profile, has_blank_nodes
from gateway.sparql.blank.all_different import AllDifferentReader
from gateway.sparql.blank.beside import Around, BesideReader
from gateway.sparql.blank.contents import (
    TO_SUBJECT,
    BlankEnd,
    BlankEnds,
    Content,
    ContentReader,
    Kind,
)
from gateway.sparql.blank.edges import (
    Known,
    as_edge,
    cells_with_iri,
    is_to_empty_list,
    of_blank_node,
    of_node,
    with_types,
)
from gateway.sparql.blank.expression_probe import ExpressionProbe
from gateway.sparql.blank.expressions import ExpressionReader, FoldedReader, expressions_as_types, is_of_axiom, may_say
from gateway.sparql.blank.keys import NodeId, is_key
from gateway.sparql.blank.lists import ListReader, Lists
from gateway.sparql.blank.proof import KeyProof
from gateway.sparql.blank.values import BlankValues, has_blank_nodes_as_values, is_to_member
from gateway.sparql.blank.walks import AnchoredReader
from gateway.sparql.client import SparqlClient
from gateway.sparql.engines import TRAITS
from gateway.sparql.rule import EdgeRule
from gateway.sparql.table import BlankTerm, IriTerm
from gateway.terms.iri import ALL_DIFFERENT, INTERSECTION, RDF_TYPE, RDFS_MEMBER, TO_ALL_DIFFERENT, is_blank_node

_LEVELS: Final = 2
"""Levels of blank neighbours in the digest of a node, at an engine that may give its key to another node."""

_SOME: Final = 5_000
"""Blank nodes beside one node that are read where there are more than one answer may have."""

_UNSTATED: Final = Mark(EndpointFault("What is stated about an expression could not be read."))

_UNREAD_TYPES: Final = Mark(EndpointFault("A type that an expression says could not be read."), at_least=0)

_OF_SETS: Final = frozenset((*ALL_DIFFERENT.values(), *TO_ALL_DIFFERENT))
"""Predicates of what is said of sets of which all are different, and of these."""

_LISTS_BEHIND: Final = 3
"""How far lists are read that hang on the nodes in and around lists: a list that is a node may own one that is none."""


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


class BlankLookup:
    """Looks blank nodes up by their keys, at an endpoint that has some.

    Args:
        client: Sends the queries.
        rule: Says what is an edge.
        profile: The profile.

    Attributes:
        are_there: Whether the graph has blank nodes, by its schema or by what was met; None where that is not known.
    """

    def __init__(self, client: SparqlClient, rule: EdgeRule, profile: Profile) -> None:
        self._client = client
        self._rule = rule
        self._profile = profile
        self._batch = profile.limits.batch
        self._walks: AnchoredReader | None = None
        self._may_be_nodes = client.is_remote and not client.has_policy and has_blank_nodes(profile)
        self._has_way = False
        self._reader: ContentReader | None = None
        self._lists: ListReader | None = None
        self._are_values = profile.values.wikibase
        self._folded: FoldedReader | None = None
        self._expressions = ExpressionProbe(client)
        self._proof = KeyProof(client)
        self._beside = BesideReader(client, rule, profile.limits.batch)
        self._different = AllDifferentReader(client, self._expressions)
        self._values = BlankValues(client, profile.limits.facts_batch, self._different)
        self.are_there: bool | None = None

    async def lead_back(self, call: Call) -> bool | None:
        """Return whether blank nodes can be asked for by keys; None where that could not be found out."""
        if not await self.have_keys(call) or self._reader is None or self._walks is not None:
            return False
        await self._proof.doubt(self._reader, None, call)
        return True if self._proof.holds else False if self._proof.fails else None

    async def are_walked_to(self, call: Call) -> bool:
        """Return whether the graph may have blank nodes, to which walks alone lead."""
        return self.are_there is not False and await self.have_walks(call)

    async def have_walks(self, call: Call) -> bool:
        """Return whether blank nodes are read by walks, because the engine has no keys."""
        return await self.read_lists(call) and self._walks is not None

    async def walks(self, call: Call) -> AnchoredReader | None:
        """Return what reads blank nodes by walks, where that is how they are read."""
        return self._walks if await self.read_lists(call) else None

    async def without_empty_lists(self, found: Mapping[Iri, Neighbourhood], call: Call) -> Mapping[Iri, Neighbourhood]:
        """Return edges without those to the empty list, which is a value."""
        nil = [node for node, one in found.items() if any(map(is_to_empty_list, one.edges))]
        if not nil or self._lists is None or not await self._lists.are_there(call):
            return found
        without = {
            node: replace(found[node], edges=tuple(edge for edge in found[node].edges if not is_to_empty_list(edge)))
            for node in nil
        }
        return {**found, **without}

    async def have_keys(self, call: Call) -> bool:
        """Return whether the engine is one that has keys of blank nodes, whatever was proven of this one."""
        return await self.read_lists(call) and self._has_way and not self._proof.fails

    async def read_lists(self, call: Call) -> bool:
        """Return whether lists are read, of an engine without keys those alone that have no blank cells."""
        if not self._may_be_nodes:
            return False
        if self._reader is None:
            traits = TRAITS[await self._client.engine(call)]
            self._has_way = True
            if traits.blank_nodes is None:
                goes_on = await self._client.engine(call) == "blazegraph"
                self._walks = AnchoredReader(
                    self._client, self._rule, self._profile, self._expressions, goes_on=goes_on
                )
                self._values.walks = self._beside.walks = self._different.walks = self._walks
                # What came in one answer belongs together, whatever the engine.
                self._proof.has_held()
            levels = _LEVELS if traits.reuses_keys else 0
            way = traits.blank_nodes or "iris"
            self._reader = self._walks or ContentReader(self._client, self._rule, way, levels, self._expressions)
            self._lists = ListReader(self._client, self._rule, self._reader, lambda: self._proof.holds)
            self._folded = FoldedReader(self._lists, ExpressionReader(self._rule, self._reader), self._reader)
        return True

    async def asked(self, ids: Sequence[Iri], call: Call) -> Sequence[Asked]:
        """Look the blank nodes of some IDs up; one whose content is another now is missing."""
        reader, lists = self._reader, self._lists
        if not ids or reader is None or lists is None:
            return []
        parts = {node: NodeId.of(node) for node in ids}
        keys = [part.key for part in parts.values() if part is not None]
        await reader.open(keys, call)
        now = await reader.ids(keys, call)
        if any(part is not None and now.get(part.key) == node for node, part in parts.items()):
            # So many bits of a digest agree with another node's by no accident.
            self._proof.has_held()
        if any(reader.kind(key, call) is Kind.LIST for key in keys):
            await self._proof.doubt(reader, None, call)
            now = await lists.ids(keys, call)
        contents = reader.contents(call)
        found = []
        for node, part in parts.items():
            if part is None:
                found.append(Asked(node))
            elif now.get(part.key) == node:
                # It may have been known before, and not be read when it was asked for again.
                content = lists.content(part.key, call)
                found.append(Asked(node, content if content.mark.whole else None, content.mark))
            elif not contents[part.key].mark.whole or await lists.is_unread(part.key, call):
                fault = contents[part.key].mark.fault or EndpointFault("A blank node could not be read as a whole.")
                found.append(Asked(node, mark=Mark(fault)))
            else:
                found.append(Asked(node))
        if any(one.content is None and one.mark.whole and parts[one.node] is not None for one in found):
            doubt = await self._proof.doubt(reader, None, call)
            if doubt is not None:
                found = [replace(one, mark=Mark(doubt)) if one.content is None else one for one in found]
        return found

    async def around(self, ids: Sequence[Iri], selection: EdgeSelection, call: Call) -> Mapping[Iri, Neighbourhood]:
        """Return the edges of blank nodes."""
        asked = await self.asked(ids, call)
        reader = self._reader
        if reader is None or not asked:
            return {}
        contents = {one.node: one.content for one in asked if one.content is not None}
        keys = {one.node: NodeId.of(one.node) for one in asked}
        own = [part.key for node, part in keys.items() if part is not None and node in contents]
        ends = [end for one in contents.values() for end in one.blank_ends]
        if await self.have_expressions(call):
            ends += [
                end.value
                for one in contents.values()
                for predicate, end in one.says
                if predicate == RDF_TYPE and isinstance(end, BlankTerm)
            ]
        cells = [
            end.value
            for one in contents.values()
            for predicate, end in one.incoming
            if is_list_part(predicate) and isinstance(end, IriTerm)
        ]
        known = await self.known([*own, *ends], call, list(dict.fromkeys(cells)))
        found = {}
        for one in asked:
            part = keys[one.node]
            found[one.node] = Neighbourhood(mark=one.mark)
            if one.content is not None and part is not None:
                found[one.node] = of_blank_node(one.node, part.key, one.content, known, selection)
        return sendable_edges(found)

    async def known(self, keys: Iterable[Iri], call: Call, cells_with_iri: Sequence[Iri] = ()) -> Known:
        """Return what is known of the blank nodes at the ends of edges: their IDs, and what lists and expressions say.

        Args:
            keys: The blank nodes.
            call: The call that asks.
            cells_with_iri: Nodes with an IRI of which the lists are wanted, too.
        """
        reader, folded = self._reader, self._folded
        if reader is None or folded is None:
            return Known({}, {}, {})
        ids: Mapping[Iri, Iri] = {}
        found: Mapping[Iri, Lists | None] = {}
        ends, named = list(dict.fromkeys(keys)) if self._proof.holds else [], list(cells_with_iri)
        seen = set(ends)
        for _ in range(_LISTS_BEHIND):
            ids = await folded.ids(ends, call) if ends else ids
            wanted = [*ends, *named]
            found = await folded.of(wanted, call) if wanted else found
            read = {id(one): one for key in wanted if (one := found.get(key)) is not None}
            beside = (end for one in read.values() for end in one.ends)
            ends, named = [end for end in dict.fromkeys(beside) if end not in seen], []
            seen.update(ends)
            if not ends:
                break
        return Known(ids, reader.contents(call), found, frozenset(folded.parts(seen, call)))

    async def ids(self, keys: Sequence[Iri], call: Call) -> tuple[Mapping[Iri, Iri], bool]:
        """Return the IDs of those of some blank nodes that are nodes, and whether that is known of all."""
        reader, lists = self._reader, self._lists
        if not keys or reader is None or lists is None:
            return {}, True
        known = await lists.ids(keys, call)
        others = [key for key in keys if key not in known]
        contents = reader.contents(call)
        for key in others:
            # What is in an expression by no content of its own may be a node that the expression is about.
            is_in_expression = key in contents and contents[key].own_kind is Kind.NODE
            if is_in_expression or await lists.is_unread(key, call):
                return {key: known[key] for key in keys if key in known}, False
        return {key: known[key] for key in keys if key in known}, True

    async def contents(self, keys: Sequence[Iri], call: Call) -> Mapping[Iri, Content]:
        """Return what some blank nodes say."""
        if not keys or self._reader is None:
            return {}
        known = await self._reader.read(keys, call)
        return {key: known[key] for key in keys}

    async def stating(self, nodes: Sequence[Iri], call: Call) -> Mapping[Iri, BlankEnds]:
        """Return the blank nodes that state something about triples of some nodes whose objects are blank nodes."""
        named, blank = apart(nodes)
        found = dict(await self._reader.stating(named, call) if self._reader is not None and named else {})
        for one in await self.asked(blank, call):
            said = () if one.content is None else one.content.said
            ends = [
                BlankEnd(predicate, end.value, is_incoming=True)
                for predicate, end in said
                if predicate in TO_SUBJECT and isinstance(end, BlankTerm)
            ]
            found[one.node] = BlankEnds(tuple(ends), one.mark)
        return found

    async def stated(self, edges: Sequence[Edge], call: Call) -> tuple[frozenset[Edge], Mapping[Iri, Mark]]:
        """Return those of some edges with a blank end that are triples of the graph, and the marks of unread ends."""
        ends = {end for edge in edges for end in (edge.subject, edge.object) if is_blank_node(end)}
        asked = await self.asked(sorted(ends), call)
        contents = {one.node: one.content for one in asked}

        def is_stated(edge: Edge) -> bool:
            is_subject = is_blank_node(edge.subject)
            at, other = (edge.subject, edge.object) if is_subject else (edge.object, edge.subject)
            content = contents.get(at)
            part = NodeId.of(other) if is_blank_node(other) else None
            end = IriTerm(other) if part is None else BlankTerm(part.key)
            return content is not None and (edge.predicate, end) in (content.says if is_subject else content.said)

        return frozenset(filter(is_stated, edges)), {one.node: one.mark for one in asked if not one.mark.whole}

    async def members(self, keys: Sequence[Iri], predicates: Collection[Iri], call: Call) -> tuple[Sequence[Iri], bool]:
        """Return the keys of the members of those of some blank nodes that are lists, and whether these are all.

        Args:
            keys: The blank nodes.
            predicates: The predicates that lead to the lists.
            call: The call that asks.
        """
        known = await self.known(keys, call)
        read = {id(lists): lists for key in keys if (lists := known.lists.get(key)) is not None}
        edges = chain.from_iterable(chain.from_iterable(lists.edges.values()) for lists in read.values())
        members = dict.fromkeys(edge.object for edge in edges if edge.predicate in predicates and is_key(edge.object))
        return list(members), all(known.lists.get(key) is not None for key in keys if key not in known.ids)

    def note_predicates(self, predicates: Iterable[Iri]) -> None:
        """Note predicates of the graph, some of which may show that it has containers."""
        if self._lists is not None:
            self._lists.note(predicates)

    async def have_lists(self, call: Call) -> bool:
        """Return whether the graph may have lists that are folded, so that its triples are not its edges."""
        return self._lists is not None and await self._lists.are_there(call)

    async def lists_are_behind(self, predicates: Iterable[Iri], call: Call) -> bool:
        """Return whether some predicates may lead to lists that are folded and are blank nodes, or empty."""
        return self._lists is not None and await self._lists.are_behind(predicates, call)

    async def with_unread_expressions(
        self, found: Mapping[Iri, Neighbourhood], selection: EdgeSelection, call: Call
    ) -> Mapping[Iri, Neighbourhood]:
        """Return edges where blank nodes have no keys, with expressions counted that may say some of those selected."""
        if not found or selection.is_all or self._are_values or self.are_there is False:
            return found
        if not await self._expressions.are_there(call):
            return found
        counted = await self._beside.counts(list(found), beside_expressions(selection), call)
        return {node: _with_unread(one, counted[node]) if one.mark.whole else one for node, one in found.items()}

    async def have_expressions(self, call: Call) -> bool:
        """Return whether the graph may have class expressions that say edges."""
        if self._reader is None or self.are_there is False:
            return False
        return await self._reader.has_expressions(call)

    async def may_say(self, predicates: Sequence[Iri], call: Call) -> bool:
        """Return whether class expressions may say edges of some predicates."""
        if not predicates or not await self.have_expressions(call):
            return False
        if _OF_SETS.isdisjoint(predicates) or not await self._different.are_there(call):
            return await may_say(predicates, self._client, call)
        return True

    async def with_cells(self, selection: EdgeSelection, call: Call) -> EdgeSelection:
        """Return which edges are to be read for a selection: a member of a list has none of the list's predicate."""
        if self._folded is None:
            return selection
        return await self._folded.widened(selection, call, are_blank=self.are_there is not False)

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
        has_expressions = await self.have_expressions(call)
        if not nodes or self._folded is None or not (has_expressions or await self._folded.are_there(call)):
            return {}
        wide = await self.with_cells(selection, call)
        ends = await self._beside.ends(nodes, wide, call)
        if any(one.ends for one in ends.values()) and await self.have_keys(call) and self._reader is not None:
            await self._proof.doubt(self._reader, None, call)
        cells = [cell for node in nodes for cell in cells_with_iri(node, shown.get(node, ()), ends[node].ends)]
        known = await self.known((end.key for one in ends.values() for end in one.ends), call, cells)
        # Without keys it is not known which blank nodes are expressions.
        may_say = has_expressions and not self._proof.holds
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
        known = await self.known(filter(is_key, keys), call, [key for key in keys if not is_key(key)])
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
        """Return what lists and expressions say of edges, as evidence, and the marks of nodes that were not read."""
        if self._folded is None or not await self._folded.are_there(call):
            return {}, {}
        # What a class is equivalent to may say something of its parts.
        are_said = await self.have_expressions(call)
        named, blank = apart(end for edge in edges for end in (edge.subject, *([edge.object] if are_said else [])))
        keys, unread = await self._values.blank_values(named, call) if named else ([], {})
        cells = list(keys)
        for one in await self.asked(blank, call):
            part = NodeId.of(one.node)
            if one.content is not None and part is not None:
                cells += [part.key, *(end.value for _, end in one.content.says if isinstance(end, BlankTerm))]
        members = dict.fromkeys(edge.subject for edge in edges if edge.predicate == RDFS_MEMBER)
        known = await self.known(cells, call, [node for node in members if not is_blank_node(node)])
        wanted = frozenset(edges)
        found: dict[Edge, Sequence[Assertion]] = {}
        read = {id(lists): lists for lists in known.lists.values() if lists is not None}
        unread = {
            **unread,
            **{known.ids.get(node, node): _UNSTATED for lists in read.values() for node in lists.unstated},
        }
        for lists in read.values():
            for member in dict.fromkeys(chain.from_iterable(lists.edges.values())):
                if not member.assertions:
                    continue
                edge = as_edge(member, known.ids)
                if edge is not None and edge in wanted:
                    found[edge] = (*found.get(edge, ()), *member.assertions)
        return found, unread

    async def read_together(self, nodes: Sequence[Iri], selection: EdgeSelection, call: Call) -> Mapping[Iri, Around]:
        """Return the edges of nodes with an IRI, and their blank ends: of those of which one query has all of both.

        None are read so where it is not known that there are blank nodes and that keys of them lead back.
        """
        if self.are_there is not True or self._walks is not None or not self._proof.holds:
            return {}
        traits = TRAITS[await self._client.engine(call)]
        are_labels = traits.blank_nodes != "iris" or traits.reuses_keys
        found = await self._beside.around(nodes, selection, call, are_labels=are_labels)
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
        self.note_predicates(edge.predicate for one in found.values() for edge in one.edges)
        rest = {} if wide == selection else {node: _selected(node, one, selection) for node, one in found.items()}
        beside = [node for node, one in found.items() if one.blank_edges and one.mark.whole]
        cells = {node: cells_with_iri(node, one.edges, ()) for node, one in found.items()}
        reader = self._reader
        if reader is None or not (beside or any(cells.values())):
            return {**found, **rest}
        ends: dict[Iri, Sequence[BlankEnd]] = {node: () for node, some in cells.items() if some}
        if beside and await self.have_keys(call):
            self.are_there = True
            reader.note_nodes(beside, call)
            anchor = min(beside, key=lambda node: found[node].blank_edges)
            if await self._proof.doubt(reader, anchor, call) is None:
                # Of too many for one answer some are read, and all others stay counted.
                ends |= {
                    node: one.ends if one.mark.whole else one.ends[:_SOME]
                    for node, one in (await self._blank_ends(beside, read, wide, call)).items()
                    if one.mark.answered
                }
        named = dict.fromkeys(chain.from_iterable(cells.values()))
        named |= {cell: None for node, some in ends.items() for cell in cells_with_iri(node, (), some)}
        known = await self.known((end.key for some in ends.values() for end in some), call, list(named))
        joined = {node: of_node(node, found[node], some, known, selection) for node, some in ends.items()}
        return {**found, **rest, **sendable_edges(joined)}

    async def _blank_ends(
        self, nodes: Sequence[Iri], read: Mapping[Iri, BlankEnds], selection: EdgeSelection, call: Call
    ) -> Mapping[Iri, BlankEnds]:
        unread = [node for node in nodes if node not in read]
        known = {node: read[node] for node in nodes if node in read}
        return {**known, **await self._beside.ends(unread, selection, call)} if unread else known

    async def with_types(
        self, found: Mapping[Iri, Neighbourhood], selection: EdgeSelection, call: Call
    ) -> Mapping[Iri, Neighbourhood]:
        """Return edges with those that types say which are expressions; types that were not read are counted."""
        typed = await self.typed_by_expressions(list(found), selection, call)
        if not typed:
            return found
        if await self.have_keys(call) and self._reader is not None:
            await self._proof.doubt(self._reader, None, call)
        types = await self._values.blank_types([*typed], call)
        known = await self.known(chain.from_iterable(keys for keys, _ in types.values()), call)
        joined: dict[Iri, Neighbourhood] = {}
        for node, degree in typed.items():
            around = found[node]
            keys, mark = types[node]
            if self._proof.holds and degree.mark.whole and mark.whole:
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
        if not nodes or selection.outgoing == () or not await self.have_expressions(call):
            return {}
        counted = await expressions_as_types(nodes, self._client, self._batch, call)
        return {node: one for node, one in counted.items() if one.count or not one.mark.whole}

    async def say_types(self, call: Call) -> bool:
        """Return whether some expressions may say types of nodes, which are not read."""
        if not await self.read_lists(call) or not await self.have_expressions(call):
            return False
        return await self._expressions.are_types_there(call)

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
        types = {
            one.node: [end.value for p, end in one.content.says if p == RDF_TYPE and isinstance(end, BlankTerm)]
            for one in asked
            if one.content is not None
        }
        keys = list(chain.from_iterable(types.values()))
        if not keys or not await self.say_types(call):
            return found
        known = await self.contents(keys, call)
        return {
            node: replace(one, mark=_UNREAD_TYPES)
            if one.mark.whole and any(_may_say_types(known[key]) for key in types.get(node, ()))
            else one
            for node, one in found.items()
        }

    async def without_nodes(
        self, described: Mapping[Iri, Description], call: Call, *, contents: bool
    ) -> Mapping[Iri, Description]:
        """Return those descriptions of nodes with an IRI that are others where blank nodes are nodes, and lists values.

        Args:
            described: The descriptions.
            call: The call that asks.
            contents: Whether the content of blank nodes that are no nodes is wanted.
        """
        described = {node: one for node, one in described.items() if one.mark.whole}
        if not described or not await self.read_lists(call):
            return {}
        reader, lists = self._reader, self._folded
        if reader is None or lists is None:
            return {}
        beside = [node for node, one in described.items() if has_blank_nodes_as_values(one)]
        have_keys = await self.have_keys(call)
        if have_keys:
            self.are_there = True if beside else self.are_there
            if beside or await lists.are_there(call):
                await self._proof.doubt(reader, next(iter(beside), None), call)
        asked = dict(described)
        if not self._proof.holds:
            # Blank nodes among its values are shown by what they say.
            asked = {node: one for node, one in described.items() if node not in beside}
        return await self._values.without_nodes(
            asked, reader, lists, call, contents=contents, is_proven=self._proof.holds
        )

    async def with_values(
        self, described: Mapping[Iri, Description], asked: Iterable[Asked], call: Call, *, contents: bool
    ) -> Mapping[Iri, Description]:
        """Return descriptions of blank nodes with their lists, and what those say that are no nodes."""
        if self._reader is None or self._folded is None:
            return {}
        said = {one.node: one.content for one in asked if one.content is not None}
        return await self._values.with_values(described, said, self._reader, self._folded, call, with_contents=contents)

    async def beside_blank_nodes(self, ids: Sequence[Iri], selection: EdgeSelection, call: Call) -> Sequence[Iri]:
        """Return those of some nodes that have edges with blank nodes, or may have."""
        counted = await self._beside.counts(ids, selection, call)
        typed = await self.typed_by_expressions(ids, selection, call)
        return [
            node for node, one in counted.items() if one.count or not one.exact or not one.mark.whole or node in typed
        ]


def apart(ids: Iterable[Iri]) -> tuple[list[Iri], list[Iri]]:
    """Return the nodes with an IRI, and the blank ones."""
    named: list[Iri] = []
    blank: list[Iri] = []
    for node in dict.fromkeys(ids):
        (blank if is_blank_node(node) else named).append(node)
    return named, blank


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
