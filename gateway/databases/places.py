"""Where walks stand between their steps: at nodes, and at nested values of these, blank nodes without an ID."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from gateway.graph.values import WHOLE, BlankNode, Iri, Mark, Properties, Resource
from gateway.graph.walks import Step
from gateway.terms.literals import Literal


@dataclass(frozen=True, slots=True)
class NestedValue:
    """A nested value of a node.

    Attributes:
        content: It.
        number: Which value of its predicate it is: two that are equal are two blank nodes.
        predicate: The predicate that leads to it.
        owner: The place whose value it is.
    """

    content: BlankNode = field(compare=False)
    number: int
    predicate: Iri
    owner: Place


Place = Iri | NestedValue

Reached = Place | Literal


@dataclass(frozen=True, slots=True)
class Places:
    """Where a step leads from one place, or a walk from one node.

    Attributes:
        found: The places, and literals where it is the last step.
        mark: Whether these are all.
    """

    found: Mapping[Reached, None]
    mark: Mark = WHOLE


def values_of(owner: Place, properties: Properties, predicates: tuple[Iri, ...]) -> Iterator[Reached]:
    """Yield where some predicates lead from a place by its properties.

    Args:
        owner: The place.
        properties: Its properties.
        predicates: The predicates.
    """
    for predicate in predicates:
        for number, value in enumerate(properties.get(predicate, ())):
            match value:
                case Literal():
                    yield value
                case Resource(iri):
                    yield iri
                case BlankNode():
                    yield NestedValue(value, number, predicate, owner)


def mentions_of(owner: Place, properties: Properties, step: Step) -> Iterator[tuple[Iri, Place]]:
    """Yield each node that properties of a place lead to by a predicate of a step, with the place whose value it is.

    Args:
        owner: The place.
        properties: Its properties, whose nested values are looked at, too.
        step: The step.
    """
    for predicate, values in properties.items():
        for number, value in enumerate(values):
            if isinstance(value, BlankNode):
                nested = NestedValue(value, number, predicate, owner)
                yield from mentions_of(nested, value.properties, step)
            elif isinstance(value, Resource) and predicate in step.predicates:
                yield value.iri, owner


def owner_of(place: NestedValue, step: Step) -> Iterator[Place]:
    """Yield the place whose value a nested value is, if a predicate of a step leads from there to it."""
    if place.predicate in step.predicates:
        yield place.owner
