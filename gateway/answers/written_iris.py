"""The IRIs that an answer will write, about as often as it does: prefixes are coined for them (docs/contract.md)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain

from gateway.answers.values import ALL_SHOWN
from gateway.graph.counts import EdgeCounts
from gateway.graph.shapes import TypeShape
from gateway.graph.values import BlankNode, Evidence, Iri, NodeFacts, Properties, Quantity, Resource, Schema, Value
from gateway.terms.iri import DESCRIPTION_PREDICATES, NAME_PREDICATES, SYNONYM_PREDICATES
from gateway.terms.literals import Literal
from gateway.traversal.topology import Topology

_MOST = 1_000
"""Nodes, and edges, that are counted: about as many as a page has."""

_TERMS = 200
"""Types, and predicates, that an answer lists at most."""

_UNDER_A_KEY = frozenset({*NAME_PREDICATES, *SYNONYM_PREDICATES, *DESCRIPTION_PREDICATES})
"""Predicates whose values stand under keys of the protocol."""


def of_schema(schema: Schema) -> Iterator[Iri]:
    """Return those of the answer about a schema: each type and predicate in its list, and with its count."""
    terms = (*schema.types[:_TERMS], *schema.predicates[:_TERMS])
    return (term.iri for term in terms for _ in ("in its list", "with its count"))


def of_shapes(shapes: Iterable[TypeShape]) -> Iterator[Iri]:
    """Return those of the shapes of types: each type, its predicates, and an example of each."""
    for shape in shapes:
        yield shape.iri
        for predicate, tally in shape.predicates.items():
            yield predicate[0]
            yield from list(tally.ends)[:1]


def of_topology(topology: Topology, offset: int) -> Iterator[Iri]:
    """Return those of the page of a traversal that begins at a node: each node by itself and at an edge."""
    nodes = topology.order[offset : offset + _MOST]
    edges = topology.edges[:_MOST]
    facts = (topology.facts[node] for node in nodes if node in topology.facts)
    return chain(nodes, nodes, (edge.predicate for edge in edges), topology.predicates, of_types(facts))


def of_types(facts: Iterable[NodeFacts]) -> Iterator[Iri]:
    """Return the types of nodes."""
    return (iri for fact in facts for iri in fact.types)


def of_properties(properties: Properties) -> Iterator[Iri]:
    """Return the predicates and values of properties, and those in their blank nodes."""
    for predicate, values in properties.items():
        if predicate not in _UNDER_A_KEY:
            yield predicate
        for value in values:
            if not isinstance(value, Literal):
                yield from _of_value(value)


def of_evidence(evidence: Evidence) -> Iterator[Iri]:
    """Return those of the assertions of an edge."""
    for assertion in evidence.assertions:
        yield from assertion.sources
        yield from of_properties(assertion.properties)


def of_edge_counts(counts: Iterable[EdgeCounts], *, with_neighbours: bool) -> Iterator[Iri]:
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
            yield from of_properties(value.properties)
        case _:
            pass
