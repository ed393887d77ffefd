"""Removes what a caller could not send back as an ID: terms that an engine calls IRIs and are none, and IRIs too long.

Some engines load any text between `<` and `>`. Such a term can be asked for by no query, and would stand in an answer
as text of the graph where an ID is expected. The answer about each ID counts what it lacks.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import chain

from gateway.errors import QueryRefused
from gateway.graph.call import Call, Deadline
from gateway.graph.computing import in_thread
from gateway.graph.counts import EdgeCounts
from gateway.graph.values import (
    Assertion,
    BlankNode,
    Description,
    Edge,
    Evidence,
    Iri,
    Mark,
    Neighbourhood,
    NodeFacts,
    Properties,
    Reach,
    Resource,
    Value,
    all_terms,
)
from gateway.terms.iri import is_sendable, is_skolem, not_sendable

_FEW_TERMS = 4_000
"""Edges, nodes or values that are looked at in some milliseconds."""

_NO_NODE = "A node within reach has an ID that is no IRI, or is too long."


def edges_of(answers: Mapping[Iri, Neighbourhood], terms: Iterable[Iri] | None = None) -> dict[Iri, Neighbourhood]:
    """Return neighbourhoods without the edges of which a term is not sendable.

    Args:
        answers: The neighbourhoods.
        terms: The terms of all their edges, and perhaps others, where these are known.
    """
    if terms is None:
        terms = chain.from_iterable(all_terms(answer.edges) for answer in answers.values())
    bad = not_sendable(terms)
    return {node: _without(answer, bad) for node, answer in answers.items()} if bad else dict(answers)


async def checked_edges(answers: Mapping[Iri, Neighbourhood], call: Call) -> Mapping[Iri, Neighbourhood]:
    """Return neighbourhoods without the edges of which a term is not sendable; many of them in a thread."""
    is_few = sum(len(answer.edges) for answer in answers.values()) <= _FEW_TERMS
    return await in_thread(call, lambda _: edges_of(answers), unless=is_few)


async def checked_counts(answers: Mapping[Iri, EdgeCounts], call: Call) -> Mapping[Iri, EdgeCounts]:
    """Return counts without the predicates and neighbours that are not sendable; many of them in a thread."""
    terms = sum(1 + len(count.neighbours) for one in answers.values() for count in one.counts)
    return await in_thread(call, lambda _: _counts_of(answers), unless=terms <= _FEW_TERMS)


def _facts_of(answers: Mapping[Iri, NodeFacts]) -> Mapping[Iri, NodeFacts]:
    """Return facts without the types that are not sendable."""
    bad = not_sendable(chain.from_iterable(facts.types for facts in answers.values()))
    return {node: _known(facts, bad) for node, facts in answers.items()} if bad else answers


async def checked_facts(answers: Mapping[Iri, NodeFacts], call: Call) -> Mapping[Iri, NodeFacts]:
    """Return facts without the types that are not sendable; many of them in a thread."""
    types = sum(len(facts.types) for facts in answers.values())
    return await in_thread(call, lambda _: _facts_of(answers), unless=types <= _FEW_TERMS)


async def checked_descriptions(answers: Mapping[Iri, Description], call: Call) -> Mapping[Iri, Description]:
    """Return descriptions without the predicates and values that are not sendable; many of them in a thread."""
    said = [one.properties for one in answers.values()]
    is_few = sum(map(len, chain.from_iterable(one.values() for one in said))) <= _FEW_TERMS
    return await in_thread(call, lambda _: answers if _are_plain(said) else _descriptions_of(answers), unless=is_few)


async def checked_reach(answers: Mapping[Iri, Reach], call: Call) -> Mapping[Iri, Reach]:
    """Return sets of nodes; one that has a node that is not sendable is not whole; many nodes in a thread."""
    nodes = sum(len(reach.distances) for reach in answers.values())
    return await in_thread(call, lambda _: _reach_of(answers), unless=nodes <= _FEW_TERMS)


def _descriptions_of(answers: Mapping[Iri, Description]) -> Mapping[Iri, Description]:
    """Return descriptions without the predicates and values that are not sendable."""

    def checked(one: Description) -> Description:
        properties, left_out = _properties(one.properties)
        return replace(one, properties=properties, left_out=left_out) if left_out else one

    return {node: checked(description) for node, description in answers.items()}


async def checked_evidence(answers: Mapping[Edge, Evidence], call: Call) -> Mapping[Edge, Evidence]:
    """Return evidence without the predicates, values and sources that are not sendable; much of it in a thread."""
    assertions = list(chain.from_iterable(one.assertions for one in answers.values()))
    values = sum(len(one.sources) + sum(map(len, one.properties.values())) for one in assertions)

    def checked(_: Deadline) -> Mapping[Edge, Evidence]:
        sources = chain.from_iterable(one.sources for one in assertions)
        are_plain = _are_plain([one.properties for one in assertions]) and not not_sendable(sources)
        return answers if are_plain else _evidence_of(answers)

    return await in_thread(call, checked, unless=values <= _FEW_TERMS)


def _reach_of(answers: Mapping[Iri, Reach]) -> Mapping[Iri, Reach]:
    bad = not_sendable(chain.from_iterable(reach.distances for reach in answers.values()))
    return {
        node: reach if bad.isdisjoint(reach.distances) else Reach(mark=Mark(QueryRefused(_NO_NODE)))
        for node, reach in answers.items()
    }


def _counts_of(answers: Mapping[Iri, EdgeCounts]) -> Mapping[Iri, EdgeCounts]:
    def checked(one: EdgeCounts) -> EdgeCounts:
        known = [count for count in one.counts if is_sendable(count.predicate)]
        named = tuple(replace(count, neighbours=tuple(filter(is_sendable, count.neighbours))) for count in known)
        return replace(one, counts=named, left_out=one.left_out + len(one.counts) - len(known))

    return {node: checked(counts) for node, counts in answers.items()}


def _evidence_of(answers: Mapping[Edge, Evidence]) -> Mapping[Edge, Evidence]:

    def checked(one: Evidence) -> Evidence:
        assertions = [(_properties(assertion.properties), assertion.sources) for assertion in one.assertions]
        sendable = tuple(
            Assertion(properties, tuple(filter(is_sendable, sources))) for (properties, _), sources in assertions
        )
        left_out = sum(count for (_, count), _ in assertions)
        left_out += sum(len(was.sources) - len(now.sources) for was, now in zip(one.assertions, sendable, strict=True))
        return replace(one, assertions=sendable, left_out=left_out) if left_out else one

    return {edge: checked(evidence) for edge, evidence in answers.items()}


def _are_plain(said: Sequence[Properties]) -> bool:
    """Return whether all is sendable at a glance: as most is, without a blank node and under ordinary IRIs."""
    values = list(chain.from_iterable(chain.from_iterable(one.values() for one in said)))
    nodes = [value.iri for value in values if isinstance(value, Resource)]
    return not (any(isinstance(value, BlankNode) for value in values) or not_sendable(chain(nodes, *said)))


def _properties(properties: Properties) -> tuple[Properties, int]:
    """Return values by predicate without what is not sendable, and how much that is."""
    sendable: dict[Iri, tuple[Value, ...]] = {}
    left_out = 0
    for predicate, values in properties.items():
        if not is_sendable(predicate):
            left_out += 1
            continue
        checked = [_value(value) for value in values]
        left_out += sum(count for _, count in checked)
        if some := tuple(value for value, _ in checked if value is not None):
            sendable[predicate] = some
    return sendable, left_out


def _value(value: Value) -> tuple[Value | None, int]:
    """Return a value, or None where it is not sendable, and how much is left out of it."""
    if isinstance(value, Resource) and not (is_skolem(value.iri) or is_sendable(value.iri)):
        return None, 1
    if not isinstance(value, BlankNode):
        return value, 0
    properties, left_out = _properties(value.properties)
    return (BlankNode(properties, cut=True), left_out) if left_out else (value, 0)


def _without(answer: Neighbourhood, bad: frozenset[Iri]) -> Neighbourhood:
    edges = tuple(edge for edge in answer.edges if bad.isdisjoint(edge.triple))
    if len(edges) == len(answer.edges):
        return answer
    left_out = frozenset(hash(edge) for edge in answer.edges if not bad.isdisjoint(edge.triple))
    return replace(answer, edges=edges, left_out=answer.left_out | left_out)


def _known(facts: NodeFacts, bad: frozenset[Iri]) -> NodeFacts:
    types = tuple(iri for iri in facts.types if iri not in bad)
    if len(types) == len(facts.types):
        return facts
    return replace(facts, types=types, left_out=len(facts.types) - len(types))
