"""Statements about edges from rows, and assertions from statements."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from gateway.graph.values import Assertion, BlankNode, Edge, Evidence, Iri, Mark, NoValue, Resource, Value
from gateway.sparql.evidence.ways import SAYING_NOTHING, Way
from gateway.sparql.results.columns import binding, edge, iri, optional, read, term
from gateway.sparql.results.rows import Row
from gateway.sparql.results.terms import BlankTerm, IriTerm, Term, is_iri, value
from gateway.terms.iri import is_skolem
from gateway.terms.known_iris import HAS_ASSERTION, RDF_TYPE, WAS_DERIVED_FROM

_Values = dict[Iri, dict[Value | Term, Value]]
"""Values by predicate, each once; unknown values are distinguished by their terms."""


@dataclass(slots=True)
class Statement:
    """What one node says about an edge.

    Attributes:
        properties: Values by predicate.
        references: The same, for each reference that it gives.
        sources: Documents that state it, where no predicate says so.
    """

    properties: _Values = field(default_factory=dict)
    references: dict[Term, _Values] = field(default_factory=dict)
    sources: dict[Iri, None] = field(default_factory=dict)

    def add(self, other: Statement) -> None:
        """Take over what the same node says in another way."""
        for predicate, values in other.properties.items():
            self.properties.setdefault(predicate, {}).update(values)
        self.references.update(other.references)
        self.sources.update(other.sources)

    @property
    def assertion(self) -> Assertion:
        """What it says, as the port takes it."""
        properties: dict[Iri, tuple[Value, ...]] = {
            predicate: tuple(values.values()) for predicate, values in self.properties.items()
        }
        if self.references:
            references = (
                BlankNode({predicate: tuple(values.values()) for predicate, values in said.items()})
                for said in self.references.values()
            )
            properties[WAS_DERIVED_FROM] = (*properties.get(WAS_DERIVED_FROM, ()), *references)
        return Assertion(properties, tuple(self.sources))


@dataclass(slots=True)
class EdgeStatements:
    """The statements of one edge in one way, by their node, which may be named or blank."""

    statements: dict[Term, Statement] = field(default_factory=dict)
    mark: Mark = field(default_factory=Mark)
    refined: bool = True

    def by_pair(self) -> Iterator[tuple[tuple[Iri, Iri], dict[Value | Term, Value]]]:
        """Return the values of each named statement or reference, and of each of its predicates."""
        for node, statement in self.statements.items():
            for said_by, said in ((node, statement.properties), *statement.references.items()):
                if is_iri(said_by):
                    for predicate, values in said.items():
                        yield (said_by.value, predicate), values


def read_statements(way: Way, batch: Sequence[Edge], rows: Sequence[Row], mark: Mark) -> dict[Edge, EdgeStatements]:
    """Read the rows that a way's template gave for a batch of edges."""
    found = {stated: EdgeStatements(mark=mark) for stated in batch}
    of_graphs = binding(rows, "g")
    for stated, graph in read(of_graphs, edge, term("g")):
        found[stated].statements.setdefault(graph, Statement()).sources[graph.value] = None
    if of_graphs:
        return found
    columns = (edge, term("r"), iri("k"), term("v"), optional("ref"), optional("none"))
    for stated, node, predicate, bound, reference, none in read(rows, *columns):
        statement = found[stated].statements.setdefault(node, Statement())
        if way.names_sources:
            statement.sources[node.value] = None
        if predicate == HAS_ASSERTION:
            continue
        item = _wikibase_value(bound, is_none=none is not None) if way.is_wikibase else value(bound)
        if item is None or (predicate == RDF_TYPE and isinstance(item, Resource) and item.iri in SAYING_NOTHING):
            continue
        said = statement.properties if reference is None else statement.references.setdefault(reference, {})
        said.setdefault(predicate, {})[bound if isinstance(item, NoValue) else item] = item
    return found


def _wikibase_value(bound: Term, *, is_none: bool) -> Value | None:
    """Return a value of a Wikibase statement, in which a blank node means an unknown value."""
    if is_none:
        return NoValue(unknown=False)
    if isinstance(bound, BlankTerm) or (isinstance(bound, IriTerm) and is_skolem(bound.value)):
        return NoValue(unknown=True)
    return value(bound)


def merged(answers: Iterable[EdgeStatements]) -> Evidence:
    """Put the ways together; a named node that states the same edge in two ways is one statement."""
    statements: dict[object, Statement] = {}
    mark = Mark()
    found = list(answers)
    for way, answer in enumerate(found):
        mark = mark if answer.mark.whole else answer.mark
        for node, statement in answer.statements.items():
            statements.setdefault(node if is_iri(node) else (way, node), Statement()).add(statement)
    assertions = (statement.assertion for statement in statements.values())
    refined = all(answer.refined for answer in found)
    return Evidence(tuple(one for one in assertions if one.properties or one.sources), mark, refined=refined)
