"""Looks blank nodes of an endpoint up by their IDs and their keys."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Final

from gateway.errors import EndpointFault
from gateway.files.lists import is_list_part
from gateway.graph.call import Call
from gateway.graph.reading import sendable_edges
from gateway.graph.values import (
    WHOLE,
    Description,
    Edge,
    EdgeSelection,
    Iri,
    Mark,
    Neighbourhood,
)
from gateway.settings.profile import Profile, has_blank_nodes
from gateway.sparql.blank.all_different import AllDifferentReader
from gateway.sparql.blank.beside import BesideReader
from gateway.sparql.blank.contents import (
    BlankEnds,
    Content,
    ContentReader,
    Kind,
    stating_in,
)
from gateway.sparql.blank.edges import (
    Known,
    is_to_empty_list,
    of_blank_node,
)
from gateway.sparql.blank.expressions import ExpressionReader, FoldedReader
from gateway.sparql.blank.keys import NodeId, is_key
from gateway.sparql.blank.lists import ListReader, Lists
from gateway.sparql.blank.probes import ExpressionProbe
from gateway.sparql.blank.proof import KeyProof
from gateway.sparql.blank.rule import blank_ends
from gateway.sparql.blank.values import BlankValues
from gateway.sparql.blank.walks import AnchoredReader
from gateway.sparql.client import SparqlClient
from gateway.sparql.engines import TRAITS
from gateway.sparql.rule import EdgeRule
from gateway.sparql.table import BlankTerm, IriTerm
from gateway.terms.iri import RDF_TYPE, is_blank_node

_LEVELS: Final = 2
"""Levels of blank neighbours in the digest of a node, at an engine that may give its key to another node."""

_LISTS_BEHIND: Final = 3
"""How far lists are read that hang on the nodes in and around lists: a list that is a node may own one that is none."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A blank node that was asked for by its ID.

    Attributes:
        node: The ID.
        content: What it says; None where there is no such node, or none of that content, or it could not be read.
        mark: Whether that is known.
        key: Its key, where there is a content.
    """

    node: Iri
    content: Content | None = None
    mark: Mark = WHOLE
    key: Iri = ""


class BlankLookup:
    """Looks blank nodes up by their keys, at an endpoint that has some.

    Args:
        client: Sends the queries.
        rule: Says what is an edge.
        profile: The profile.

    Attributes:
        may_be_nodes: Whether blank nodes of the graph are nodes: in this process all have an IRI.
        are_there: Whether the graph has blank nodes, by its schema or by what was met; None where that is not known.
        are_values: Whether blank nodes stand for unknown values, as in a Wikibase.
        rule: Says what is an edge; where blank nodes are nodes, the cells are read of the lists to which edges lead.
        reader: Reads blank nodes by their keys, or by walks; None until it is known by which.
        anchored: Reads them by walks, where that is how they are read.
        folded: Reads what lists and expressions say.
        beside: Reads the blank ends of edges.
        values: Reads the content of blank nodes that are no nodes.
        different: Finds what says of nodes that they are different from others.
        probe: Finds out whether there are expressions.
        proof: Whether keys of blank nodes can be believed.
    """

    def __init__(self, client: SparqlClient, rule: EdgeRule, profile: Profile) -> None:
        self._client = client
        self._profile = profile
        self.anchored: AnchoredReader | None = None
        self.may_be_nodes = client.is_remote and not client.hides_evidence and has_blank_nodes(profile)
        self.rule = replace(rule, reads_cells=self.may_be_nodes)
        self._has_way = False
        self.reader: ContentReader | None = None
        self._lists: ListReader | None = None
        self.are_values = profile.values.wikibase
        self.folded: FoldedReader | None = None
        self.probe = ExpressionProbe(client)
        self.proof = KeyProof(client)
        self.beside = BesideReader(client, self.rule, profile.limits.batch)
        self.different = AllDifferentReader(client, self.probe)
        self.values = BlankValues(client, profile.limits.facts_batch, self.different, frozenset(profile.edges.shown))
        self.are_there: bool | None = None

    async def lead_back(self, call: Call) -> bool | None:
        """Return whether blank nodes can be asked for by keys; None where that could not be found out."""
        if not await self.have_keys(call) or self.reader is None or self.anchored is not None:
            return False
        await self.proof.doubt(self.reader, None, call)
        return True if self.proof.holds else False if self.proof.fails else None

    async def are_walked_to(self, call: Call) -> bool:
        """Return whether the graph may have blank nodes, to which walks alone lead."""
        return self.are_there is not False and await self.have_walks(call)

    async def have_walks(self, call: Call) -> bool:
        """Return whether blank nodes are read by walks, because the engine has no keys."""
        return await self.read_lists(call) and self.anchored is not None

    async def walks(self, call: Call) -> AnchoredReader | None:
        """Return what reads blank nodes by walks, where that is how they are read."""
        return self.anchored if await self.read_lists(call) else None

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
        return await self.read_lists(call) and self._has_way and not self.proof.fails

    async def read_lists(self, call: Call) -> bool:
        """Return whether lists are read, of an engine without keys those alone that have no blank cells."""
        if self.may_be_nodes:
            await self.open(call)
        return self.may_be_nodes

    async def open(self, call: Call) -> None:
        """Find out by what blank nodes are read, where they are nodes, unless that is known."""
        if self.reader is None:
            traits = TRAITS[await self._client.engine(call)]
            self._has_way = True
            if traits.blank_nodes is None:
                goes_on = await self._client.engine(call) == "blazegraph"
                self.anchored = AnchoredReader(self._client, self.rule, self._profile, self.probe, goes_on=goes_on)
                self.values.walks = self.beside.walks = self.different.walks = self.anchored
                # What came in one answer belongs together, whatever the engine.
                self.proof.has_held()
            levels = _LEVELS if traits.reuses_keys else 0
            way = traits.blank_nodes or "iris"
            self.reader = self.anchored or ContentReader(self._client, self.rule, way, levels, self.probe)
            self._lists = ListReader(self._client, self.rule, self.reader, lambda: self.proof.holds)
            self.folded = FoldedReader(self._lists, ExpressionReader(self.rule, self.reader), self.reader)

    async def asked(self, ids: Sequence[Iri], call: Call) -> Sequence[Asked]:
        """Look the blank nodes of some IDs up; one whose content is another now is missing."""
        reader, lists = self.reader, self._lists
        if not ids or reader is None or lists is None:
            return []
        parts = {node: NodeId.of(node) for node in ids}
        keys = [part.key for part in parts.values() if part is not None]
        await reader.open(keys, call)
        now = await reader.ids(keys, call)
        if any(part is not None and now.get(part.key) == node for node, part in parts.items()):
            # So many bits of a digest agree with another node's by no accident.
            self.proof.has_held()
        if await lists.beside(keys, call):
            await self.proof.doubt(reader, None, call)
        now = await lists.ids(keys, call)
        contents = reader.contents(call)
        found = []
        for node, part in parts.items():
            if part is None:
                found.append(Asked(node))
            elif now.get(part.key) == node:
                # It may have been known before, and not be read when it was asked for again.
                content = lists.content(part.key, call)
                found.append(Asked(node, content if content.mark.whole else None, content.mark, part.key))
            elif not contents[part.key].mark.whole or await lists.is_unread(part.key, call):
                fault = contents[part.key].mark.fault or EndpointFault("A blank node could not be read as a whole.")
                found.append(Asked(node, mark=Mark(fault)))
            else:
                found.append(Asked(node))
        if any(one.content is None and one.mark.whole and parts[one.node] is not None for one in found):
            doubt = await self.proof.doubt(reader, None, call)
            if doubt is not None:
                found = [replace(one, mark=Mark(doubt)) if one.content is None else one for one in found]
        return found

    async def around(self, ids: Sequence[Iri], selection: EdgeSelection, call: Call) -> Mapping[Iri, Neighbourhood]:
        """Return the edges of blank nodes."""
        asked = await self.asked(ids, call)
        reader = self.reader
        if reader is None or not asked:
            return {}
        contents = {one.node: one.content for one in asked if one.content is not None}
        own = [one.key for one in asked if one.content is not None]
        ends = [end for one in contents.values() for end in one.blank_ends]
        if await self.have_expressions(call):
            ends += chain.from_iterable(blank_ends(one.says, {RDF_TYPE}) for one in contents.values())
        cells = [
            end.value
            for one in contents.values()
            for predicate, end in one.incoming
            if is_list_part(predicate) and isinstance(end, IriTerm)
        ]
        known = await self.known([*own, *ends], call, list(dict.fromkeys(cells)))
        found = {one.node: Neighbourhood(mark=one.mark) for one in asked}
        for one in asked:
            if one.content is not None:
                found[one.node] = of_blank_node(one.node, one.key, one.content, known, selection)
        return sendable_edges(found)

    async def known(self, keys: Iterable[Iri], call: Call, cells_with_iri: Sequence[Iri] = ()) -> Known:
        """Return what is known of the blank nodes at the ends of edges: their IDs, and what lists and expressions say.

        Args:
            keys: The blank nodes.
            call: The call that asks.
            cells_with_iri: Nodes with an IRI of which the lists are wanted, too.
        """
        reader, folded = self.reader, self.folded
        if reader is None or folded is None:
            return Known({}, {}, {})
        ids: Mapping[Iri, Iri] = {}
        found: Mapping[Iri, Lists | None] = {}
        ends, named = list(dict.fromkeys(keys)) if self.proof.holds else [], list(cells_with_iri)
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
        return Known(ids, reader.contents(call), found, frozenset(folded.parts(seen, call)), self.rule)

    async def ids(self, keys: Sequence[Iri], call: Call) -> tuple[Mapping[Iri, Iri], bool]:
        """Return the IDs of those of some blank nodes that are nodes, and whether that is known of all."""
        reader, lists = self.reader, self._lists
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
        if not keys or self.reader is None:
            return {}
        known = await self.reader.read(keys, call)
        return {key: known[key] for key in keys}

    async def stating(self, nodes: Sequence[Iri], call: Call) -> Mapping[Iri, BlankEnds]:
        """Return the blank nodes that state something about triples of some nodes whose objects are blank nodes."""
        named, blank = apart(nodes)
        found = dict(await self.reader.stating(named, call) if self.reader is not None and named else {})
        for one in await self.asked(blank, call):
            said = () if one.content is None else one.content.said
            found[one.node] = BlankEnds(stating_in(said), one.mark)
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
        return await self.read_lists(call) and self._lists is not None and await self._lists.are_there(call)

    async def lists_are_behind(self, predicates: Iterable[Iri], call: Call) -> bool:
        """Return whether some predicates may lead to lists that are folded and are blank nodes, or empty."""
        return self._lists is not None and await self._lists.are_behind(predicates, call)

    async def have_expressions(self, call: Call) -> bool:
        """Return whether the graph may have class expressions that say edges."""
        if self.reader is None or self.are_there is False:
            return False
        return await self.reader.has_expressions(call)

    async def with_values(
        self, described: Mapping[Iri, Description], asked: Iterable[Asked], call: Call, *, contents: bool
    ) -> Mapping[Iri, Description]:
        """Return descriptions of blank nodes with their lists, and what those say that are no nodes."""
        if self.reader is None or self.folded is None:
            return {}
        said = {one.node: one.content for one in asked if one.content is not None}
        return await self.values.with_values(described, said, self.reader, self.folded, call, with_contents=contents)


def apart(ids: Iterable[Iri]) -> tuple[list[Iri], list[Iri]]:
    """Return the nodes with an IRI, and the blank ones."""
    named: list[Iri] = []
    blank: list[Iri] = []
    for node in dict.fromkeys(ids):
        (blank if is_blank_node(node) else named).append(node)
    return named, blank
