"""Which triples of blank nodes are edges, told from the triples: to ask the engine for both took three times as long.

What states evidence is no end of an edge. Of a blank node its own content says whether it does, and of others a query,
where the graph states evidence by nodes at all. Associations are evidence only if the graph asserts what they name, so
where it has some, the engine applies the rule.
"""

from __future__ import annotations

from collections.abc import Collection, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from gateway.graph.call import Call
from gateway.graph.values import WHOLE, Iri, Mark
from gateway.sparql.batches import about_nodes
from gateway.sparql.client import SparqlClient
from gateway.sparql.rule import EdgeRule
from gateway.sparql.table import BlankTerm, IriTerm, Table, Term, iri
from gateway.terms.iri import ANNOTATED, EVIDENCE_MARKERS, SINGLETON_PROPERTY_OF

Triple: TypeAlias = tuple[Iri, Term]
"""A predicate, and what is at the other end; of a blank node its key."""


def blank_ends(triples: Iterable[Triple], predicates: Container[Iri] | None = None) -> list[Iri]:
    """Return the keys of the blank nodes at the ends of triples: of all, or of those with some predicates."""
    return [
        end.value
        for predicate, end in triples
        if isinstance(end, BlankTerm) and (predicates is None or predicate in predicates)
    ]


Sides: TypeAlias = tuple[tuple[Triple, ...], tuple[Triple, ...]]
"""Triples to a node's objects, and those from its subjects."""

_BATCH = 500
"""Nodes in one query."""


@dataclass(frozen=True, slots=True)
class _Evidence:
    """Whether a node or predicate states evidence, as far as the mark says."""

    states: bool = False
    mark: Mark = WHOLE


class BlankRule:
    """Tells which triples of blank nodes are edges.

    Args:
        client: Sends the queries.
        rule: The rule of the profile.
    """

    def __init__(self, client: SparqlClient, rule: EdgeRule) -> None:
        self._client = client
        self._rule = rule

    @property
    def is_of_engine(self) -> bool:
        """Whether the engine has to apply the rule; known after `EdgeRule.refresh`."""
        return bool(self._rule.evidence["associations"])

    async def edges(
        self, triples: Mapping[Iri, Sides], known: dict[Iri, bool], call: Call
    ) -> Mapping[Iri, tuple[Sides, Mark]]:
        """Return which triples are edges, for each node, unless the engine has to tell it.

        Edges to blank nodes that state evidence are among them.

        Args:
            triples: All triples of each node.
            known: The nodes with an IRI, and predicates, of which it is known whether they state evidence; it is
                filled.
            call: The call that asks.
        """
        found = {node: self._by_predicates(sides) for node, sides in triples.items()}
        has_singletons = bool(self._rule.evidence["singletons"])
        markers = (*EVIDENCE_MARKERS, ANNOTATED[0], *((SINGLETON_PROPERTY_OF,) if has_singletons else ()))
        if not self._rule.evidence_nodes:
            return {node: (sides, WHOLE) for node, sides in found.items()}
        own = frozenset(markers)
        found = {
            node: ((), ()) if any(predicate in own for predicate, _ in triples[node][0]) else sides
            for node, sides in found.items()
        }
        if not self._rule.may_have_evidence:
            return {node: (sides, WHOLE) for node, sides in found.items()}
        wanted = {
            one
            for sides in found.values()
            for triple in (*sides[0], *sides[1])
            for one in _named(triple, with_predicate=has_singletons)
        }
        marks = await self._ask(sorted(wanted.difference(known)), markers, known, call)
        return {node: _without_evidence(sides, known, marks, has_singletons) for node, sides in found.items()}

    def _by_predicates(self, sides: Sides) -> Sides:
        rule = self._rule
        outgoing, incoming = (
            tuple(triple for triple in side if isinstance(triple[1], IriTerm | BlankTerm) and rule.reads(triple[0]))
            for side in sides
        )
        if rule.objects:
            outgoing = tuple(
                triple
                for triple in outgoing
                if not isinstance(triple[1], IriTerm) or triple[1].value.startswith(rule.objects)
            )
        return outgoing, incoming

    async def _ask(
        self, nodes: Sequence[Iri], markers: Sequence[Iri], known: dict[Iri, bool], call: Call
    ) -> Mapping[Iri, Mark]:
        """Find out which nodes state evidence; return the marks of those of which that is not known."""
        if not nodes:
            return {}
        query = about_nodes(self._client, "blank_nodes/evidence", _BATCH, {"stating": markers}, _read)
        read = await query.run(nodes, call)
        known |= {node: one.states for node, one in read.items() if one.mark.whole}
        return {node: one.mark for node, one in read.items() if not one.mark.whole}


def _named(triple: Triple, *, with_predicate: bool) -> Iterable[Iri]:
    predicate, end = triple
    if isinstance(end, IriTerm):
        yield end.value
    if with_predicate:
        yield predicate


def _without_evidence(
    sides: Sides, known: Mapping[Iri, bool], marks: Mapping[Iri, Mark], has_singletons: bool
) -> tuple[Sides, Mark]:
    """Return the triples whose other end states no evidence, and the mark of an end of which that is not known."""
    mark = WHOLE
    found: list[tuple[Triple, ...]] = []
    for side in sides:
        kept = []
        for triple in side:
            ends: Collection[Iri] = list(_named(triple, with_predicate=has_singletons))
            mark = next((marks[one] for one in ends if one in marks), mark)
            if not any(known.get(one, False) for one in ends):
                kept.append(triple)
        found.append(tuple(kept))
    return (found[0], found[1]), mark


def _read(batch: Sequence[Iri], rows: Table, mark: Mark) -> dict[Iri, _Evidence]:
    stating = frozenset(iri("n")(rows))
    return {node: _Evidence(node in stating, mark) for node in batch}
