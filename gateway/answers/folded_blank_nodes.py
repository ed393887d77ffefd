"""Blank nodes in answers: what they say beside the nodes that lead to them, and which a page shows within an edge.

A blank node with one edge that leads to it mostly stands for one value with parts: a reader wants it where it is used,
and its ID says nothing (docs/contract.md, "The two shapes of an answer"). Nothing that is counted depends on it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain

from gateway.answers.filters import FilteredTopology
from gateway.answers.metadata import MetadataBuilder
from gateway.answers.names import Labeller, Labels
from gateway.answers.page import PageNode, SubgraphPage
from gateway.answers.reference import also_in, node_metadata
from gateway.answers.shape import size_of
from gateway.answers.values import NodeMetadata, orders_of
from gateway.errors import EdgesCapped, Fault
from gateway.expand_compact import BEYOND, is_among
from gateway.graph.call import Call, Deadline, together
from gateway.graph.computing import FEW_FOR_A_THREAD, in_thread
from gateway.graph.store import GraphStore
from gateway.graph.values import (
    BlankNode,
    Description,
    Edge,
    EdgeSelection,
    Iri,
    Mark,
    Neighbourhood,
    NodeFacts,
    Properties,
    Resource,
    Value,
)
from gateway.schema.view import SchemaView
from gateway.terms.iri import RDF_TYPE, is_blank_node, is_reached_by, is_walk
from gateway.terms.prefixes import PrefixMap

_LEVELS = 2
"""Blank nodes in each other whose content is shown; a deeper one is its ID, and that there is more."""

_MOST = 100
"""Blank nodes of one level."""

_EDGES = 20
"""Edges of one of them."""

_OUTGOING = EdgeSelection(outgoing=None, incoming=())


@dataclass(frozen=True, slots=True)
class Beyond:
    """Where a blank node leads beyond an answer, and what leads to it from there.

    Attributes:
        outgoing: The nodes to which it leads by predicate; of blank nodes their content.
        incoming: The nodes that lead to it by predicate.
        cut: Whether there is more.
        failed: Whether some of it could not be read.
    """

    outgoing: Properties
    incoming: Properties
    cut: bool = False
    failed: bool = False

    @property
    def named_ends(self) -> Iterator[Iri]:
        """The nodes among these that have an IRI."""
        return chain(_named_ends(self.outgoing), _named_ends(self.incoming))


class BlankContents:
    """Reads the content of blank nodes.

    Args:
        store: The graph.
        known: Nodes whose content the answer has elsewhere.
    """

    def __init__(self, store: GraphStore, known: Collection[Iri]) -> None:
        self._store = store
        self._known = known
        self._described: dict[Iri, Description] = {}
        self._around: dict[Iri, Neighbourhood] = {}
        self._facts: dict[Iri, NodeFacts] = {}
        self._failed: set[Iri] = set()

    async def read(self, nodes: Iterable[Iri], call: Call) -> Mapping[Iri, BlankNode]:
        """Return what each of the first of some blank nodes says, marked where that could not all be read."""
        first = level = list(dict.fromkeys(nodes))[:_MOST]
        for _ in range(_LEVELS):
            try:
                await self._read_level(level, call)
            except Fault:
                self._failed.update(level)
                break
            level = self._blank_ends(level)
        return {
            node: BlankNode({}, cut=True, iri=node, failed=True)
            if node in self._failed
            else self._content(node, _LEVELS, (node,))
            for node in first
        }

    async def beyond(
        self, described: Mapping[Iri, Description], edges: Collection[Edge], call: Call
    ) -> Mapping[Iri, Beyond]:
        """Return where some blank nodes lead beyond an answer; those that lead nowhere are absent.

        Args:
            described: The blank nodes, with their properties.
            edges: The edges that the answer has of these nodes.
            call: The call that asks.

        Raises:
            Fault: Their edges could not be read.
        """
        self._described |= described
        self._around |= await self._store.edges([*described], call, selection=EdgeSelection(), per_id=_EDGES)
        contents = await self.read((end for end in self._blank_ends(described) if end not in self._known), call)
        found = {}
        for node in described:
            around = self._around[node]
            outgoing: dict[Iri, tuple[Value, ...]] = {}
            incoming: dict[Iri, tuple[Value, ...]] = {}
            for predicate, ends in self._ends(node).items():
                new = [end for end in ends if Edge(node, predicate, end) not in edges]
                outgoing[predicate] = tuple(contents.get(end) or self._unread(end) for end in new)
            for edge in around.edges:
                if edge.subject != node and edge not in edges:
                    incoming[edge.predicate] = (*incoming.get(edge.predicate, ()), self._unread(edge.subject))
            is_whole = around.mark.whole and not (around.left_out or around.blank_edges)
            said = {predicate: values for predicate, values in outgoing.items() if values}
            failed = _could_not_be_read(around.mark) or have_failed(said)
            found[node] = Beyond(said, incoming, cut=not is_whole, failed=failed)
        return {node: said for node, said in found.items() if said.outgoing or said.incoming or said.cut}

    def _blank_ends(self, nodes: Iterable[Iri]) -> list[Iri]:
        """Return the blank nodes to which some nodes lead, without those that were read."""
        ends = (edge.object for node in nodes for edge in self._around[node].edges if edge.subject == node)
        return [end for end in dict.fromkeys(ends) if is_blank_node(end) and end not in self._around][:_MOST]

    async def _read_level(self, level: list[Iri], call: Call) -> None:
        if level:
            async with together() as tasks:
                described = tasks.create_task(self._store.node_metadata(level, call, blank_nodes=True))
                around = tasks.create_task(self._store.edges(level, call, selection=_OUTGOING, per_id=_EDGES))
                facts = tasks.create_task(self._store.nodes(level, call, names=False))
            self._described |= described.result()
            self._around |= around.result()
            self._facts |= facts.result()

    def _content(self, node: Iri, levels: int, above: tuple[Iri, ...]) -> BlankNode:
        """Return what a blank node says; `above` are those in whose content it stands, and itself."""
        described, around, facts = self._described[node], self._around[node], self._facts[node]
        properties: dict[Iri, tuple[Value, ...]] = {}
        if types := [iri for iri in facts.types if not is_reached_by(iri)]:
            properties[RDF_TYPE] = tuple(map(Resource, types))
        properties |= {at: values for at, values in described.properties.items() if not is_walk(at)}
        for predicate, ends in self._ends(node).items():
            said = tuple(self._end(end, levels, above) for end in ends)
            properties[predicate] = (*properties.get(predicate, ()), *said)
        is_read = described.mark.whole and around.mark.whole and facts.mark.whole
        is_whole = is_read and not (described.left_out or around.left_out or facts.left_out or around.blank_edges)
        failed = any(_could_not_be_read(one.mark) for one in (described, around, facts)) or have_failed(properties)
        return BlankNode(properties, cut=not is_whole, iri=node, failed=failed)

    def _ends(self, node: Iri) -> Mapping[Iri, Collection[Iri]]:
        """Return to which nodes one leads, by predicate; where not all were read, the first members of lists."""
        around = self._around[node]
        ends: dict[Iri, dict[Iri, None]] = {}
        for edge in around.edges:
            if edge.subject == node:
                ends.setdefault(edge.predicate, {})[edge.object] = None
        if around.mark.whole:
            return ends
        orders = orders_of(self._described[node].properties)
        return {predicate: orders.get(predicate, found) for predicate, found in ends.items()}

    def _end(self, end: Iri, levels: int, above: tuple[Iri, ...]) -> Value:
        if levels > 1 and end in self._facts and end not in above and end not in self._known:
            return self._content(end, levels - 1, (*above, end))
        return Resource(end) if end in above else self._unread(end)

    def _unread(self, node: Iri) -> Value:
        """Return a node without its content; of a blank node it says that there is more, unless the answer has it."""
        is_missing = is_blank_node(node) and node not in self._known
        return BlankNode({}, cut=True, iri=node, failed=node in self._failed) if is_missing else Resource(node)


def _could_not_be_read(mark: Mark) -> bool:
    """Return whether something is missing that was asked for; of many edges, only the first are."""
    return not (mark.whole or isinstance(mark.fault, EdgesCapped))


def have_failed(properties: Properties) -> bool:
    """Return whether the content of some blank node among values could not all be read."""
    values = chain.from_iterable(properties.values())
    return any(value.failed for value in values if isinstance(value, BlankNode))


class BeyondReader:
    """Reads where the blank nodes of a traversal's last level lead, which often is what the hop to them was for."""

    def __init__(
        self, store: GraphStore, prefixes: PrefixMap, labeller: Labeller, metadata_builder: MetadataBuilder
    ) -> None:
        self._store = store
        self._prefixes = prefixes
        self._labeller = labeller
        self._metadata_builder = metadata_builder

    async def read(
        self,
        last: Sequence[PageNode],
        described: Mapping[Iri, Description],
        left: FilteredTopology,
        call: Call,
    ) -> Mapping[Iri, Beyond]:
        """Return where some nodes lead by edges that are not in the answer; note on those of which it is not known.

        Args:
            last: The blank nodes of a page that are of the last level.
            described: What they say.
            left: The nodes and edges of the answer.
            call: The call that asks.
        """
        distances = left.whole.nodes
        try:
            if len(last) <= _MOST:
                iris = [node.iri for node in last]
                edges = await in_thread(
                    call, partial(_edges_of, iris, left), unless=len(left.nodes) <= FEW_FOR_A_THREAD
                )
                known = distances if len(left.nodes) == len(distances) else frozenset(left.nodes)
                contents = BlankContents(self._store, known)
                beyond = await contents.beyond({iri: described[iri] for iri in iris}, edges, call)
                for node in last:
                    node.beyond_left_out = node.iri in beyond and beyond[node.iri].failed
                return beyond
        except Fault:
            pass
        for node in last:
            node.beyond_left_out = True
        return {}

    async def add(
        self,
        nodes: Iterable[PageNode],
        beyond: Mapping[Iri, Beyond],
        described: Mapping[Iri, Description],
        known: SchemaView,
        call: Call,
    ) -> None:
        """Add to the metadata of nodes where they lead, with names unless all IDs of the answer get them."""
        labels = Labels()
        if not self._labeller.is_wanted:
            mentioned = {self._prefixes.shorten(iri) for one in beyond.values() for iri in one.named_ends}
            labels = await self._labeller.names(mentioned, known, call)
        builder = self._metadata_builder.for_call(call, known.schema)
        for node in nodes:
            if node.iri in beyond and node.metadata is not None:
                said = beyond[node.iri]
                lists = described[node.iri].properties
                content = builder.beyond(said.outgoing, said.incoming, lists, labels.by_id, cut=said.cut)
                node.set_metadata(replace(node.metadata, beyond=content))
                if labels.failed:
                    node.unnamed_beyond = labels.failed.intersection(map(self._prefixes.shorten, said.named_ends))


def _edges_of(nodes: Collection[Iri], left: FilteredTopology, deadline: Deadline) -> frozenset[Edge]:
    """Return the edges of nodes of the last level, which are after all others that edges lead to from there."""
    wanted = frozenset(nodes)
    places = (place for place, node in enumerate(deadline.checking(left.nodes)) if node in wanted)
    ending = chain.from_iterable(left.edges.ending(place, place + 1) for place in places)
    return frozenset(left.edges[number] for _, numbers in ending for number in numbers)


def _named_ends(properties: Properties) -> Iterator[Iri]:
    """Yield the nodes with an IRI among some values, and in the blank nodes among them."""
    for value in chain.from_iterable(properties.values()):
        if isinstance(value, BlankNode):
            yield from _named_ends(value.properties)
        elif isinstance(value, Resource) and not is_blank_node(value.iri):
            yield value.iri


_DEEPEST = 3
"""Nodes within each other."""

_MOST_ALIKE = 10
"""Nodes that say something about the same and lead to no node: of more, rows among the nodes say the keys once."""

_LARGEST_FOLDED = 1_200
"""Bytes of what a node says that is shown within an edge, of which half may be where it leads beyond the answer."""


def folded_nodes(page: SubgraphPage) -> Mapping[str, PageNode]:
    """Return the nodes that are shown within an edge, by ID."""
    foldable = {node.id: node for node in page.nodes if node.foldable and node.metadata is not None and not node.paths}
    if not foldable:
        return {}
    ids = frozenset(node.id for node in page.nodes)
    outer = {edge.ends[0] for edge in page.edges}
    alike = Counter(_keys(node) for name_id, node in foldable.items() if name_id not in outer)
    leading, incoming = Counter(edge.ends[1] for edge in page.edges), Counter(edge.object for edge in page.edges)
    owners = {
        edge.ends[1]: edge.ends[0] for edge in page.edges if leading[edge.ends[1]] == 1 and incoming[edge.ends[1]] <= 1
    }
    predicates: dict[str, set[str]] = {}
    for edge in page.edges:
        if not edge.is_incoming:
            predicates.setdefault(edge.ends[0], set()).add(edge.predicate)
    depths: dict[str, int] = {}
    # What leads to a node stands before it.
    for name_id, node in foldable.items():
        if name_id not in outer and alike[_keys(node)] > _MOST_ALIKE:
            continue
        owner = owners.get(name_id, name_id)
        depth = depths.get(owner, 0) + 1
        if owner != name_id and depth <= _DEEPEST and _fits(node, predicates.get(name_id, set()), ids):
            depths[name_id] = depth
    return {name_id: foldable[name_id] for name_id in depths}


def _keys(node: PageNode) -> tuple[str, ...]:
    """Return what a node says something about."""
    metadata = node.metadata or NodeMetadata()
    return (node.entity_type, *metadata.fields_said, *metadata.properties)


def _fits(node: PageNode, predicates: set[str], ids: frozenset[str]) -> bool:
    """Return whether what a node says is short, and none of it could be taken for one of its edges."""
    written = {**node_metadata(node.metadata or NodeMetadata()), **also_in(node)}
    said = (value for key, value in written.items() if key != BEYOND)
    return (
        written.keys().isdisjoint(predicates)
        and not any(is_among(value, ids) for value in said)
        and size_of(written) <= _LARGEST_FOLDED
    )
