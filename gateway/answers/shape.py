"""What a shape of answers is: how each part of a page is written, the bytes that it takes so, and the IRIs in it.

Prefixes are coined for the IRIs that an answer will write, about as often as it does (docs/contract.md).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

from gateway.answers.page import AnyPage, Header, Page, PageEdge, PageNode, Step, TermSummary
from gateway.answers.values import ALL_SHOWN, NodeMetadata
from gateway.escaping import json_text
from gateway.graph.counts import EdgeCounts
from gateway.graph.shapes import TypeShape
from gateway.graph.values import BlankNode, Evidence, Iri, NodeFacts, Properties, Quantity, Resource, Schema, Value
from gateway.settings.profile import ShapeName
from gateway.terms.coined_prefixes import used_in
from gateway.terms.iri import DESCRIPTION_PREDICATES, NAME_PREDICATES, SYNONYM_PREDICATES
from gateway.terms.literals import Literal
from gateway.traversal.topology import Topology

Json = dict[str, Any]
Part = AnyPage | Header | TermSummary | PageNode | PageEdge


def size_of(value: Any) -> int:
    """Return the bytes that a JSON value takes in an answer, the comma after it included."""
    if type(value) is str and value.isascii() and value.isprintable() and '"' not in value and "\\" not in value:
        # Most nodes and edges are such texts; they are written as they are.
        return len(value) + len('"",')
    return len(json_text(value).encode()) + 1


def with_prefixes(written: Json, coined: Mapping[str, str]) -> Json:
    """Return an answer with those of some coined prefixes that it uses."""
    used = used_in(json_text(written), coined) if coined else {}
    return {**written, "prefixes": {**written.get("prefixes", {}), **used}} if used else written


def size_of_degraded(step: Step, count: int) -> int:
    """Return the bytes that the count of one step takes, where it is the first."""
    return size_of({"degraded": {step: count}})


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """One way to write pages as JSON.

    Attributes:
        name: Its name.
        writers: What writes a page or a part of one, by its class.
        counts: Writes the header without the summary of terms, and without what depends on the tool.
        entity: Writes an entity among several.
        metadata: Writes the metadata of a node.
        smallest_node: Bytes below which no stub is written.
        smallest_edge: Bytes below which no edge is written.
        names_stubs: Whether stubs carry names even if IDs are readable, unless only the topology is asked for.
        always_summarizes: Whether the types and predicates of the traversal stand in every answer, or only where a page
            or a filter hides some.
        set_frames: Sets the bytes that each node and edge takes beside its own, given the positions of the edges' later
            ends.
    """

    name: ShapeName
    writers: Mapping[type, Callable[[Any], Any]]
    counts: Callable[[Header], Json]
    entity: Callable[[PageNode], Any]
    metadata: Callable[[NodeMetadata], Json]
    smallest_node: int
    smallest_edge: int
    names_stubs: bool
    always_summarizes: bool
    set_frames: Callable[[Sequence[PageNode], Sequence[PageEdge], Sequence[int]], None]

    def size_of_part(self, part: Part) -> int:
        """Return the bytes that a page, which keeps what it is written as, or a part of a subgraph's page takes."""
        written = self.writers[type(part)](part)
        if isinstance(part, Page):
            part.written = written
        return size_of(written)

    def measure(self, item: PageNode | PageEdge) -> int:
        """Return the bytes that a node or an edge takes by itself, which it keeps."""
        if item.size is None:
            item.size = size_of(self.writers[type(item)](item))
        return item.size

    def size_of_counts(self, header: Header) -> int:
        """Return the bytes that the header takes without the summary of terms, and what depends on the tool."""
        return size_of(self.counts(header))

    def size_of_entity(self, entity: PageNode) -> int:
        """Return the bytes that an entity takes among several."""
        return size_of(self.entity(entity))

    def size_of_field(self, metadata: NodeMetadata) -> int:
        """Return the bytes that metadata of one field or property takes among others."""
        return size_of(self.metadata(metadata)) - 2


_MOST_COUNTED = 1_000
"""Nodes, and edges, that are counted: about as many as a page has."""

_TERMS = 200
"""Types, and predicates, that an answer lists at most."""

_UNDER_A_KEY = frozenset({*NAME_PREDICATES, *SYNONYM_PREDICATES, *DESCRIPTION_PREDICATES})
"""Predicates whose values stand under keys of the protocol."""


def iris_of_schema(schema: Schema) -> Iterator[Iri]:
    """Return those of the answer about a schema: each type and predicate in its list, and with its count."""
    terms = (*schema.types[:_TERMS], *schema.predicates[:_TERMS])
    return (term.iri for term in terms for _ in ("in its list", "with its count"))


def iris_of_shapes(shapes: Iterable[TypeShape]) -> Iterator[Iri]:
    """Return those of the shapes of types: each type, its predicates, and an example of each."""
    for shape in shapes:
        yield shape.iri
        for predicate, tally in shape.predicates.items():
            yield predicate[0]
            yield from list(tally.ends)[:1]


def iris_of_topology(topology: Topology, offset: int) -> Iterator[Iri]:
    """Return those of the page of a traversal that begins at a node: each node by itself and at an edge."""
    nodes = topology.order[offset : offset + _MOST_COUNTED]
    edges = topology.edges[:_MOST_COUNTED]
    facts = (topology.facts[node] for node in nodes if node in topology.facts)
    return chain(nodes, nodes, (edge.predicate for edge in edges), topology.predicates, iris_of_types(facts))


def iris_of_types(facts: Iterable[NodeFacts]) -> Iterator[Iri]:
    """Return the types of nodes."""
    return (iri for fact in facts for iri in fact.types)


def iris_of_properties(properties: Properties) -> Iterator[Iri]:
    """Return the predicates and values of properties, and those in their blank nodes."""
    for predicate, values in properties.items():
        if predicate not in _UNDER_A_KEY:
            yield predicate
        for value in values:
            if not isinstance(value, Literal):
                yield from _of_value(value)


def iris_of_evidence(evidence: Evidence) -> Iterator[Iri]:
    """Return those of the assertions of an edge."""
    for assertion in evidence.assertions:
        yield from assertion.sources
        yield from iris_of_properties(assertion.properties)


def iris_of_edge_counts(counts: Iterable[EdgeCounts], *, with_neighbours: bool) -> Iterator[Iri]:
    """Return those of what could be followed from some nodes."""
    for row in chain.from_iterable(one.counts for one in counts):
        yield row.predicate
        if with_neighbours:
            yield from row.neighbours[:ALL_SHOWN]


def _of_value(value: Value) -> Iterator[Iri]:
    match value:
        case Resource():
            yield value.iri
        case Quantity():
            yield value.unit
        case BlankNode():
            yield from iris_of_properties(value.properties)
        case _:
            pass
