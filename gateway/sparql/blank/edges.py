"""Edges with blank nodes at an end, made from what was read of these: with IDs in the place of keys, lists folded."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace

from gateway.errors import EdgesCapped
from gateway.files.lists import is_list_part
from gateway.graph.values import Degree, Edge, EdgeSelection, Iri, Mark, Neighbourhood
from gateway.sparql.blank.contents import BlankEnd, Content, is_evidence
from gateway.sparql.blank.keys import is_key
from gateway.sparql.blank.lists import ListEdge, Lists
from gateway.sparql.blank.rule import blank_ends
from gateway.sparql.rule import EdgeRule
from gateway.sparql.table import BlankTerm, IriTerm
from gateway.terms.iri import RDF_FIRST, RDF_NIL, RDF_REST, RDF_TYPE, RDFS_MEMBER

_UNREAD = Content()


@dataclass(frozen=True, slots=True)
class Known:
    """What was read of blank nodes.

    Attributes:
        ids: The IDs of those that are nodes, by key.
        contents: What they say, by key.
        lists: The lists of cells, and what expressions say, by key; None where they are unread.
        parts: The keys of those that are parts of expressions, or may be.
        rule: Says what is an edge of the triples that were read; None where all are.
    """

    ids: Mapping[Iri, Iri]
    contents: Mapping[Iri, Content]
    lists: Mapping[Iri, Lists | None]
    parts: Collection[Iri] = frozenset()
    rule: EdgeRule | None = None
    _evidence: dict[Iri, bool] = field(default_factory=dict, repr=False)

    def is_evidence(self, end: Iri) -> bool:
        """Return whether an end is a blank node that states evidence about a triple, and so no end of an edge."""
        known = self._evidence.get(end)
        if known is None:
            content = self.contents.get(end)
            if content is None:
                return False
            known = self._evidence[end] = is_evidence(content)
        return known


class _Edges:
    """Collects the edges of one node.

    Args:
        node: The node, as edges have it.
        end: The same, as lists have it: of a blank node its key.
        known: What was read.
    """

    def __init__(self, node: Iri, end: Iri, known: Known) -> None:
        self._node = node
        self._end = end
        self._known = known
        self.edges: dict[Edge, None] = {}
        self.unread: dict[Edge, None] = {}
        self.of_parts: set[Edge] = set()
        self._added: set[int] = set()

    def add(self, predicate: Iri, other: Iri, *, is_incoming: bool) -> None:
        """Add an edge to or from an IRI or a key; where the key is that of a cell, the edges of its lists."""
        lists = self._known.lists.get(other) if is_key(other) else None
        if is_list_part(predicate) and not is_key(cell := other if is_incoming else self._end):
            lists = self._known.lists.get(cell)
            if lists is None:
                self.unread[Edge(cell, predicate, self._node if is_incoming else other)] = None
                return
        if lists is not None:
            self.add_lists(lists)
            return
        if self._known.is_evidence(other):
            return
        node = self._known.ids.get(other, "") if is_key(other) else other
        if node and self._known.rule is not None and not self._known.rule.is_edge(predicate):
            # A malformed list, whose cells were read to find that out.
            return
        shown = node or other
        edge = Edge(shown, predicate, self._node) if is_incoming else Edge(self._node, predicate, shown)
        (self.edges if node else self.unread)[edge] = None
        if not node and other in self._known.parts:
            self.of_parts.add(edge)

    def add_type(self, key: Iri) -> bool:
        """Add what a type says of the node that is an expression; return whether it is none, or was read."""
        lists = self._known.lists.get(key)
        if lists is not None and lists.are_expressions:
            self.add_lists(lists)
            return True
        return key not in self._known.parts

    def add_lists(self, lists: Lists) -> None:
        """Add what lists are for the node, whether it owns them, is in them, or is one."""
        if id(lists) in self._added:
            return
        self._added.add(id(lists))
        for one in lists.edges.get(self._end, ()):
            if not one.is_edge:
                continue
            is_cell = is_key(one.object) and one.object not in self._known.parts
            other = self._known.lists.get(one.object) if is_cell and not lists.are_expressions else None
            if other is not None and other is not lists and one.object not in other.nodes:
                # A list that is a node leads to a list that is none.
                self.add_lists(other)
                continue
            made = as_edge(one, self._known.ids)
            if self._known.is_evidence(one.subject) or self._known.is_evidence(one.object):
                continue
            if made is None:
                edge = Edge(one.subject, one.predicate, one.object)
                self.unread[edge] = None
                if one.subject in self._known.parts:
                    # It is said by whatever the expression is about.
                    self.of_parts.add(edge)
            else:
                self.edges[made] = None


def as_edge(one: ListEdge, ids: Mapping[Iri, Iri]) -> Edge | None:
    """Return the edge to a member of a list; None where an end is no node, or was not read."""
    ends = [ids.get(end) if is_key(end) else end for end in (one.subject, one.object)]
    subject, target = ends
    return None if subject is None or target is None else Edge(subject, one.predicate, target)


def of_blank_node(node: Iri, key: Iri, content: Content, known: Known, selection: EdgeSelection) -> Neighbourhood:
    """Return the edges of a blank node; those to others that are no nodes, or could not be read, are counted."""
    found = _Edges(node, key, known)
    own = known.lists.get(key)
    if own is not None:
        found.add_lists(own)
    for triples, is_incoming in ((content.outgoing, False), (content.incoming, True)):
        for predicate, end in triples:
            if isinstance(end, IriTerm | BlankTerm):
                found.add(predicate, end.value, is_incoming=is_incoming)
    unread_types = [*map(found.add_type, blank_ends(content.says, {RDF_TYPE}))].count(False)
    others = _as_of(node, key, (edge for edge in found.unread if edge not in found.of_parts))
    unread = len(found.of_parts) + sum(_may_be_selected(node, edge, selection) for edge in others)
    unread += unread_types if selection.outgoing != () else 0
    return Neighbourhood(selection.selected(node, found.edges), unread)


def _as_of(node: Iri, key: Iri, edges: Iterable[Edge]) -> Iterable[Edge]:
    return (Edge(*(node if end == key else end for end in edge.triple)) for edge in edges)


def _may_be_selected(node: Iri, edge: Edge, selection: EdgeSelection) -> bool:
    """Return whether an edge is selected, or what it is once its list is read."""
    if not is_list_part(edge.predicate):
        return selection.selects(node, edge)
    is_owner, is_member = edge.subject == node, edge.object == node
    outgoing, incoming = selection.outgoing, selection.incoming
    return (is_owner and (outgoing is None or RDFS_MEMBER in outgoing)) or (is_member and incoming != ())


def of_node(
    node: Iri, around: Neighbourhood, ends: Iterable[BlankEnd], known: Known, selection: EdgeSelection
) -> Neighbourhood:
    """Return the edges of a node with an IRI, with those to blank nodes that could be read.

    A key that does not lead to the node beside which it was met is not believed.

    Args:
        node: The node.
        around: Its edges to other nodes with an IRI.
        ends: The blank ends of the others.
        known: What was read of these.
        selection: Which edges are asked for; `around` may have more.
    """
    found = _Edges(node, node, known)
    doubted = 0
    count = 0
    for end in ends:
        if known.is_evidence(end.key):
            continue
        count += 1
        content = known.contents.get(end.key, _UNREAD)
        if (end.predicate, IriTerm(node)) in (content.says if end.is_incoming else content.said):
            found.add(end.predicate, end.key, is_incoming=end.is_incoming)
        else:
            doubted += 1
    edges = []
    for edge in around.edges:
        if is_list_part(edge.predicate):
            is_incoming = edge.object == node
            found.add(edge.predicate, edge.subject if is_incoming else edge.object, is_incoming=is_incoming)
        else:
            edges.append(edge)
    # An unread expression may say an edge of any predicate, in either direction.
    unread = sum(edge in found.of_parts or _may_be_selected(node, edge, selection) for edge in found.unread)
    unread += doubted + max(0, around.blank_edges - count)
    # A class expression may say what the graph has as a triple too.
    every = tuple(dict.fromkeys((*edges, *found.edges)))
    return replace(around, edges=selection.selected(node, every), blank_edges=unread)


def with_types(
    node: Iri, around: Neighbourhood, types: Iterable[Iri], known: Known, selection: EdgeSelection
) -> Neighbourhood:
    """Return the edges of a node with an IRI, with those that expressions say which are its types.

    Args:
        node: The node.
        around: Its other edges.
        types: The keys of its types that are blank nodes.
        known: What was read of these.
        selection: Which edges are asked for.
    """
    found = _Edges(node, node, known)
    unread = 0
    for key in types:
        said = known.contents.get(key, _UNREAD).said
        unread += (RDF_TYPE, IriTerm(node)) not in said or not found.add_type(key)
    every = tuple(dict.fromkeys((*around.edges, *found.edges)))
    return replace(around, edges=selection.selected(node, every), blank_edges=around.blank_edges + unread)


def cells_with_iri(node: Iri, edges: Iterable[Edge], ends: Iterable[BlankEnd]) -> list[Iri]:
    """Return the cells and containers with an IRI that the edges of a node show."""
    found = [edge.subject for edge in edges if is_list_part(edge.predicate)]
    if any(not end.is_incoming and is_list_part(end.predicate) for end in ends):
        found.append(node)
    return found


def is_to_empty_list(edge: Edge) -> bool:
    """Return whether an edge leads to the empty list, as the value of its subject."""
    return edge.object == RDF_NIL and edge.predicate != RDF_REST


def degree_of(around: Neighbourhood, at_most: int) -> Degree:
    """Return how many edges a node has, counted up to a bound."""
    count = len(around.edges)
    if isinstance(around.mark.fault, EdgesCapped):
        return Degree(at_most + 1, exact=False)
    # What was not read may be edges.
    return Degree(min(count, at_most + 1), count <= at_most and not around.blank_edges, around.mark)


def capped(around: Neighbourhood, most: int | None) -> Neighbourhood:
    """Return so many edges of a node at most, marked as cut where it has more."""
    if most is None or len(around.edges) <= most:
        return around
    mark = around.mark
    if mark.whole:
        mark = Mark(EdgesCapped("A node has more edges than are shown."), at_least=len(around.edges))
    return replace(around, edges=around.edges[:most], blank_edges=0, mark=mark)


def with_cells(selection: EdgeSelection, *, are_containers: bool) -> EdgeSelection:
    """Return a selection with the edges to the members of lists, for whatever predicate the lists are.

    Args:
        selection: The selection.
        are_containers: Whether the graph may have containers, which have a predicate for each number.
    """
    outgoing, incoming = selection.outgoing, selection.incoming
    if outgoing is not None and RDFS_MEMBER in outgoing:
        outgoing = None if are_containers else (*outgoing, RDF_FIRST, RDF_REST)
    if incoming:
        incoming = None if are_containers else (*incoming, RDF_FIRST)
    return EdgeSelection(outgoing, incoming)
