"""What is stated about edges, and in which of the known ways."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

from gateway.errors import Fault, QueryRefused
from gateway.graph.call import Call
from gateway.graph.computing import FEW_FOR_A_THREAD, in_thread
from gateway.graph.reading import checked_evidence
from gateway.graph.values import Assertion, BlankNode, Edge, Evidence, Iri, Mark, NoValue, Resource, Triple, Value
from gateway.settings.profile import Profile
from gateway.settings.vocabulary import EvidenceWay
from gateway.sparql.batches import BatchedQuery
from gateway.sparql.client import SparqlClient
from gateway.sparql.rule import WAYS_WITH_NODES
from gateway.sparql.table import (
    BlankTerm,
    IriTerm,
    Table,
    Term,
    binding,
    edge,
    iri,
    literal,
    optional,
    read,
    term,
    value,
)
from gateway.sparql.template import Parameter
from gateway.sparql.value_nodes import ValueNodeReader
from gateway.terms.iri import (
    ANNOTATED,
    BIOLINK,
    HAS_ASSERTION,
    NEGATED,
    OBAN,
    ONE_OF,
    OWL,
    RDF,
    RDF_NIL,
    RDF_OBJECT,
    RDF_PREDICATE,
    RDF_SUBJECT,
    RDF_TYPE,
    REIFICATION,
    RESTRICTED,
    SINGLETON_PROPERTY_OF,
    WAS_DERIVED_FROM,
    is_skolem,
)

_OBAN = tuple(f"{OBAN}association_has_{name}" for name in ("subject", "predicate", "object_property", "object"))
_BIOLINK = tuple(f"{BIOLINK}{name}" for name in ("subject", "predicate", "object"))
TERMS_OF_EVIDENCE = (*REIFICATION, *ANNOTATED, *_OBAN, *_BIOLINK, SINGLETON_PROPERTY_OF, RDF_TYPE)
"""Predicates by which a node says of which edge it states something, and its type."""

SAYING_NOTHING = frozenset(
    {f"{RDF}Statement", f"{RDF}SingletonProperty", f"{OBAN}association", f"{BIOLINK}Association", f"{OWL}Axiom"}
)
"""Types of evidence nodes that say no more than that they are such nodes."""

FRESH_SECONDS = 300.0
"""How long the ways that were detected are used before they are detected again."""


@dataclass(frozen=True, slots=True)
class Way:
    """One way of stating something about an edge.

    Attributes:
        template: The template that reads it.
        parameters: What the template takes beside the edges and the graphs.
        over_graphs: Whether it looks into named graphs.
        is_wikibase: Whether its values are those of Wikibase, where a blank node means "not known".
        names_sources: Whether its nodes are documents, each the source of what it states.
    """

    template: str
    parameters: Mapping[str, Parameter] = field(default_factory=dict)
    over_graphs: bool = False
    is_wikibase: bool = False
    names_sources: bool = False


def _reified(subject: Iri, predicates: tuple[Iri, ...], target: Iri, stated_by: tuple[Iri, ...] = ()) -> Way:
    """Return a way by nodes that name the three terms of their triple by these predicates.

    `stated_by` are predicates to its subject by which another way returns such a node.
    """
    return Way(
        "evidence/reified",
        {
            "subject": subject,
            "predicates": predicates,
            "object": target,
            # One node may name its triple in two vocabularies.
            "unsaid": (*REIFICATION, *ANNOTATED, *_OBAN, *_BIOLINK),
            "stated_by": stated_by,
        },
    )


WAYS: Mapping[EvidenceWay, Way] = {
    "annotations": Way("evidence/annotations", {"stated_by": (RDF_SUBJECT,)}),
    "statements": _reified(RDF_SUBJECT, (RDF_PREDICATE,), RDF_OBJECT),
    "axioms": _reified(ANNOTATED[0], ANNOTATED[1:2], ANNOTATED[2], stated_by=(RDF_SUBJECT,)),
    "wikibase": Way("evidence/wikibase", is_wikibase=True),
    "singleton_properties": Way("evidence/singletons"),
    "oban": _reified(_OBAN[0], _OBAN[1:3], _OBAN[3], stated_by=(RDF_SUBJECT,)),
    "biolink": _reified(_BIOLINK[0], _BIOLINK[1:2], _BIOLINK[2], stated_by=(RDF_SUBJECT,)),
    "named_graphs": Way("evidence/graphs", over_graphs=True),
    "nanopublications": Way("evidence/nanopublications", over_graphs=True, names_sources=True),
}
"""In the order in which they are asked."""


_IN_USE = "graph ways of evidence"
"""The ways in use, among what is kept of an endpoint."""

_OF_EXPRESSIONS = (RESTRICTED, NEGATED, ONE_OF)
_NOTHING: Mapping[str, Parameter] = {}


class WaysInUse:
    """The ways of stating evidence in use, shared by the readers of edges and of evidence.

    Attributes:
        asked_graphs: The named graphs of which the profile asks some; empty where it is all of them.
    """

    def __init__(self, client: SparqlClient, profile: Profile) -> None:
        self._client = client
        read, graphs = profile.evidence.read, profile.endpoint.graphs
        self._may_have_expressions = True
        self._named = None if read is None else tuple(way for way in WAYS if way in read)
        self.asked_graphs = () if isinstance(graphs, str) else graphs
        # Of one graph alone everything comes, so to name it as a source would say nothing.
        self._has_graphs = client.is_remote and (graphs == "union" or len(self.asked_graphs) > 1)
        self._found: tuple[EvidenceWay, ...] | None = None
        self._found_at = self._tried_at = float("-inf")
        self._detecting = asyncio.Lock()

    def may_use(self, way: EvidenceWay) -> bool:
        """Return whether the graph may use a way; True for every way before they were detected."""
        known = self._found if self._named is None else self._named
        return known is None or way in known

    async def may_have_expressions(self, call: Call) -> bool:
        """Return whether edges may be those of class expressions; they may where that could not be found out."""
        await self.refresh(call)
        return self._may_have_expressions

    def never_uses(self, way: EvidenceWay) -> bool:
        """Return whether the graph does not use a way, and will not: one in this process stays what it is."""
        return not self._client.is_remote and self._found is not None and way not in self._found

    @property
    def may_have_nodes(self) -> bool:
        """Whether the graph may have evidence nodes: where they were not looked for, or are there, and can be seen."""
        # A profile names the ways that are read, not those that there are.
        are_there = self._named is not None or any(map(self.may_use, WAYS_WITH_NODES))
        return are_there and not self._client.hides_evidence

    async def refresh(self, call: Call) -> None:
        """Detect the ways in use, unless that was tried recently; after a fault, the graph may use every way."""
        now = call.deadline.clock()
        if self._named is None and now - max(self._found_at, self._tried_at) > FRESH_SECONDS:
            self._tried_at = now
            with contextlib.suppress(Fault):
                await self.ways(call)

    async def ways(self, call: Call) -> Collection[EvidenceWay]:
        """Return the ways in use, in the order of `WAYS`.

        Raises:
            Fault: They could not be detected.
        """
        if self._named is not None:
            return self._named
        async with self._detecting:
            now = call.deadline.clock()
            if self._found is None and (kept := self._kept()) is not None:
                self._found, age = kept
                self._found_at = now - age
            if self._found is None or now - self._found_at > FRESH_SECONDS:
                self._found = None
                # Class expressions become edges where a graph is read from files.
                own = [] if self._client.is_remote else [_OF_EXPRESSIONS]
                found = await self._uses("evidence/in_use", call, {"expressions": own})
                self._may_have_expressions = self._client.is_remote or "expressions" in found
                if self._has_graphs:
                    found |= await self._uses_of_graphs(call)
                # An engine that knows no RDF 1.2 finds no rdf:reifies, and is never sent the syntax it would refuse.
                self._found, self._found_at = tuple(way for way in WAYS if way in found), now
                self._client.kept.keep(_IN_USE, self._found)
            return self._found

    def _kept(self) -> tuple[tuple[EvidenceWay, ...], float] | None:
        """Return the ways that an earlier process found in use, and how many seconds ago."""
        known = self._client.kept.known(_IN_USE, tuple)
        return None if known is None else (tuple(way for way in WAYS if way in known[0]), known[1])

    async def _uses_of_graphs(self, call: Call) -> set[str]:
        try:
            return await self._uses("evidence/graphs_in_use", call)
        except QueryRefused:
            # Blazegraph in triples mode has no named graphs, and says so.
            return set()

    async def _uses(self, template: str, call: Call, given: Mapping[str, Parameter] = _NOTHING) -> set[str]:
        rows = (await self._client.rows(template, call, given)).whole()
        return {way.value for way in literal("way")(rows)}


_Values = dict[Iri, dict[Value | Term, Value]]
"""Values by predicate, each once; unknown values are distinguished by their terms."""


@dataclass(slots=True)
class Statement:
    """What one node says about an edge: itself, by its references, and by being a document (`sources`)."""

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
    """The statements of one edge in one way, by their node, which may be named or blank.

    Attributes:
        statements: The statements.
        mark: Whether these are all.
        refined: Whether dates and quantities have their precisions and units.
        has_blank: Whether blank nodes are among their values, which are left out here, or the empty list.
    """

    statements: dict[Term, Statement] = field(default_factory=dict)
    mark: Mark = field(default_factory=Mark)
    refined: bool = True
    has_blank: bool = False

    def by_pair(self) -> Iterator[tuple[tuple[Iri, Iri], dict[Value | Term, Value]]]:
        """Return the values of each named statement or reference, and of each of its predicates."""
        for node, statement in self.statements.items():
            for said_by, said in ((node, statement.properties), *statement.references.items()):
                if isinstance(said_by, IriTerm):
                    for predicate, values in said.items():
                        yield (said_by.value, predicate), values


def read_statements(way: Way, batch: Sequence[Triple], rows: Table, mark: Mark) -> dict[Triple, EdgeStatements]:
    """Read the rows that a way's template gave for a batch of edges."""
    found = {triple: EdgeStatements(mark=mark) for triple in batch}
    of_graphs = binding(rows, "g")
    for stated, graph in read(of_graphs, edge, term("g")):
        found[stated.triple].statements.setdefault(graph, Statement()).sources[graph.value] = None
    if of_graphs:
        return found
    columns = (edge, term("r"), iri("k"), term("v", "text"), optional("ref"), optional("none"))
    for stated, node, predicate, bound, reference, none in read(rows, *columns):
        statement = found[stated.triple].statements.setdefault(node, Statement())
        if way.names_sources:
            statement.sources[node.value] = None
        if predicate == HAS_ASSERTION:
            continue
        item = _wikibase_value(bound, is_none=none is not None) if way.is_wikibase else value(bound)
        is_empty_list = isinstance(bound, IriTerm) and bound.value == RDF_NIL
        found[stated.triple].has_blank |= is_empty_list or (item is None and isinstance(bound, BlankTerm))
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


def merged(answers: Sequence[EdgeStatements]) -> Evidence:
    """Put the ways together; a named node that states the same edge in two ways is one statement."""
    statements: dict[object, Statement] = {}
    mark = Mark()
    for way, answer in enumerate(answers):
        mark = mark if answer.mark.whole else answer.mark
        for node, statement in answer.statements.items():
            statements.setdefault(node if isinstance(node, IriTerm) else (way, node), Statement()).add(statement)
    assertions = (statement.assertion for statement in statements.values())
    refined = all(answer.refined for answer in answers)
    return Evidence(tuple(one for one in assertions if one.properties or one.sources), mark, refined=refined)


class EvidenceReader:
    """Reads what is stated about edges, in the ways that the graph uses."""

    def __init__(self, client: SparqlClient, in_use: WaysInUse, value_nodes: ValueNodeReader, batch: int) -> None:
        self._client = client
        self._in_use = in_use
        self._value_nodes = value_nodes
        self._batch = batch

    async def about(
        self, edges: Sequence[Edge], call: Call, *, with_blank: set[Edge] | None = None
    ) -> Mapping[Edge, Evidence]:
        """Return the statements about each edge.

        Args:
            edges: The edges.
            call: The call that asks.
            with_blank: Takes the edges with blank nodes among the values stated, which are left out, or the empty list.
        """
        if not edges:
            return {}
        try:
            ways = await self._in_use.ways(call)
        except Fault as fault:
            return {edge: Evidence(mark=Mark(fault)) for edge in edges}
        answers = [await self._one_way(name, edges, call, among=ways) for name in ways]
        for name, answer in zip(ways, answers, strict=True):
            if WAYS[name].is_wikibase and self._value_nodes.are_there:
                await self._refine(answer.values(), call)
        if with_blank is not None:
            with_blank.update(edge for answer in answers for edge, one in answer.items() if one.has_blank)
        is_little = sum(len(one.statements) for answer in answers for one in answer.values()) <= FEW_FOR_A_THREAD
        found = await in_thread(
            call, lambda _: {edge: merged([answer[edge] for answer in answers]) for edge in edges}, unless=is_little
        )
        return await checked_evidence(found, call)

    async def _refine(self, found: Collection[EdgeStatements], call: Call) -> None:
        """Give the dates and quantities of statements and their references precisions and units."""
        refinements = await self._value_nodes.refinements(
            ((pair, values.values()) for one in found for pair, values in one.by_pair()), call
        )
        for one in found if refinements else ():
            for pair, values in one.by_pair():
                if refinement := refinements.get(pair):
                    refined = refinement.of(values.values())
                    # Unknown values are distinguished by their terms, and stay as they are.
                    unknown = {term: value for term, value in values.items() if isinstance(value, NoValue)}
                    values.clear()
                    values.update(unknown)
                    values.update((value, value) for value in refined if not isinstance(value, NoValue))
                    one.refined = one.refined and refinement.mark.whole

    async def _one_way(
        self, name: EvidenceWay, edges: Sequence[Edge], call: Call, *, among: Collection[EvidenceWay]
    ) -> Mapping[Edge, EdgeStatements]:
        way = WAYS[name]
        given: dict[str, Parameter] = {**way.parameters, **(self._graphs(name) if way.over_graphs else {})}
        if "statements" not in among and "stated_by" in given:
            # No other way returns them.
            given["stated_by"] = ()

        query = BatchedQuery[Triple, EdgeStatements](
            self._client,
            way.template,
            self._batch,
            lambda batch: {"edges": batch, **given},
            partial(read_statements, way),
        )
        answers = await query.run([edge.triple for edge in edges], call)
        return {edge: answers[edge.triple] for edge in edges}

    def _graphs(self, name: EvidenceWay) -> Mapping[str, Parameter]:
        """Return the parameters of the templates that look into named graphs."""
        asked = self._in_use.asked_graphs
        given: dict[str, Parameter] = {"any_graph": not asked, "asked": asked}
        if name == "named_graphs":
            # The graph of a nanopublication's assertion is no second statement beside the nanopublication.
            given["assertions"] = (HAS_ASSERTION,) if self._in_use.may_use("nanopublications") else ()
        return given
