"""A `GraphStore` over a database; see `gateway.graph.store.GraphStore` for what each method promises."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from gateway.databases.client import DatabaseClient
from gateway.databases.edges import EdgeReader
from gateway.databases.evidence import EvidenceReader
from gateway.databases.iri_mapping import IriMapping
from gateway.databases.nodes import NodeReader
from gateway.databases.rule import Rule
from gateway.databases.schema import SchemaReader
from gateway.databases.search import ColumnNameReader, NameIndex, SearchReader
from gateway.graph import sendable
from gateway.graph.call import Call
from gateway.graph.deadline import Clock, Deadline
from gateway.graph.edge_counts import EdgeCounts
from gateway.graph.store import NameReader, OnAnswers, OnProgress
from gateway.graph.values import (
    ALL_EDGES,
    Degree,
    Description,
    DirectSubclasses,
    Edge,
    EdgeSelection,
    Evidence,
    Existence,
    Hits,
    Identities,
    Iri,
    NamelessNodes,
    Neighbourhood,
    NodeFacts,
    Reach,
    Schema,
    SearchTerms,
)
from gateway.settings.profile import Profile


@dataclass(frozen=True, slots=True)
class Readers:
    """What reads one graph, each a part of it."""

    edges: EdgeReader
    nodes: NodeReader
    evidence: EvidenceReader
    schema: SchemaReader
    search: SearchReader
    names: ColumnNameReader

    @classmethod
    def of(
        cls,
        client: DatabaseClient,
        ids: IriMapping,
        terms: IriMapping,
        profile: Profile,
        *,
        parameters: Callable[[Rule], Sequence[object]],
        expression: Callable[[str], str],
        index: NameIndex | None = None,
        evidence: type[EvidenceReader] = EvidenceReader,
        wall_clock: Clock,
    ) -> Readers:
        """Return the readers of a graph.

        Args:
            client: Sends the queries.
            ids: The IRIs of IDs.
            terms: The IRIs of types, predicates and names of properties.
            profile: The profile.
            parameters: Returns the rule for edges as the first parameters of each query about edges.
            expression: Returns a pattern of a search as the database writes it.
            index: An index of names.
            evidence: The kind of reader of evidence.
            wall_clock: Seconds since the epoch.
        """
        limits, rule = profile.limits, parameters(Rule.of(profile.edges, ids, terms))
        of_any_predicate = EdgeReader(client, ids, terms, parameters(Rule()), limits.facts_batch)
        nodes = NodeReader(client, ids, terms, profile, of_any_predicate)
        return cls(
            EdgeReader(client, ids, terms, rule, limits.batch),
            nodes,
            evidence(client, ids, terms, limits),
            SchemaReader(client, terms, rule, nodes, profile, wall_clock),
            SearchReader(client, ids, terms, expression, index),
            ColumnNameReader(client, ids, nodes, profile.roles),
        )


class DatabaseStore:
    """A graph in a database.

    Args:
        client: Sends the queries.
        readers: What reads the graph by them.
    """

    def __init__(self, client: DatabaseClient, readers: Readers) -> None:
        self._client = client
        self._edges = readers.edges
        self._nodes = readers.nodes
        self._evidence = readers.evidence
        self._schema = readers.schema
        self._search = readers.search
        self._names = readers.names

    async def edges(
        self,
        ids: Sequence[Iri],
        call: Call,
        *,
        selection: EdgeSelection = ALL_EDGES,
        per_id: int | None = None,
        on_answers: OnAnswers | None = None,  # noqa: ARG002 - all answers come at once
    ) -> Mapping[Iri, Neighbourhood]:
        """Return the edges of each node, outgoing and incoming, or those selected."""
        return await sendable.checked_edges(await self._edges.around(ids, call, selection, per_id), call)

    async def degrees(
        self, ids: Sequence[Iri], at_most: int, call: Call, *, selection: EdgeSelection = ALL_EDGES
    ) -> Mapping[Iri, Degree]:
        """Count the edges of each node, or those selected, up to a bound."""
        return await self._edges.degrees(ids, at_most, call, selection)

    async def edge_counts(self, ids: Sequence[Iri], call: Call) -> Mapping[Iri, EdgeCounts]:
        """Count the edges of each node by predicate and direction."""
        return await sendable.checked_counts(await self._edges.counts(ids, call), call)

    async def reach(self, ids: Sequence[Iri], hops: int, call: Call) -> Mapping[Iri, Reach]:
        """Return the nodes within some hops of each node, without the edges between them."""
        return await sendable.checked_reach(await self._edges.reach(ids, hops, call), call)

    async def edges_among(
        self, ids: Sequence[Iri], inside: frozenset[Iri], call: Call, *, predicates: tuple[Iri, ...] | None = None
    ) -> Mapping[Iri, Neighbourhood]:
        """Return, for each node, its outgoing edges whose object lies inside a set, of all predicates or of some."""
        return await sendable.checked_edges(await self._edges.among(ids, inside, call, predicates), call)

    async def existing(self, ids: Sequence[Iri], call: Call) -> Mapping[Iri, Existence]:
        """Tell which nodes have a row, or are the end of an edge."""
        return await self._nodes.existing(ids, call, as_subjects=False)

    async def subjects(self, ids: Sequence[Iri], call: Call) -> Mapping[Iri, Existence]:
        """Tell which nodes have a row, or are the subject of an edge."""
        return await self._nodes.existing(ids, call, as_subjects=True)

    async def nodes(
        self, ids: Sequence[Iri], call: Call, *, names: bool, descriptions: bool = False
    ) -> Mapping[Iri, NodeFacts]:
        """Return the types of each node, and its name and description where those are asked for."""
        facts = await self._nodes.facts(ids, call, names=names, descriptions=descriptions)
        return await sendable.checked_facts(facts, call)

    async def predicates(self, ids: Sequence[Iri], call: Call) -> Mapping[Iri, NodeFacts]:
        """Return the name of each predicate that has a row among the nodes."""
        return await self._nodes.facts(ids, call, names=True, descriptions=False)

    async def narrower(self, ids: Sequence[Iri], call: Call) -> Mapping[Iri, DirectSubclasses]:
        """Return the direct subclasses of each class."""
        return await self._nodes.narrower(ids, call)

    async def identities(self, ids: Sequence[Iri], call: Call) -> Mapping[Iri, Identities]:
        """Return the IRIs by which other graphs may know each node."""
        return await self._nodes.identities(ids, call)

    async def mentions(self, ids: Sequence[Iri], call: Call) -> Mapping[Iri, Description]:
        """Return only what says how often each node is mentioned."""
        return await self._nodes.mentions(ids, call)

    async def node_metadata(
        self,
        ids: Sequence[Iri],
        call: Call,
        *,
        blank_nodes: bool,
        precise: bool = True,  # noqa: ARG002 - databases have no value nodes
    ) -> Mapping[Iri, Description]:
        """Return what is known about each node beside its edges, nested values only on request."""
        described = await self._nodes.metadata(ids, call, blank_nodes=blank_nodes)
        return await sendable.checked_descriptions(described, call)

    async def edge_metadata(self, edges: Sequence[Edge], call: Call) -> Mapping[Edge, Evidence]:
        """Return the statements about each edge."""
        return await sendable.checked_evidence(await self._evidence.about(edges, call), call)

    async def quick_schema(self, call: Call) -> Schema:
        """Return the types and edge predicates that a short reading finds, in what the graph is made of now."""
        self._client.forget()
        return await self._schema.quick_schema(call)

    async def schema(self, call: Call) -> Schema:
        """Return the types and edge predicates of the graph, of what it is made of now."""
        self._client.forget()
        return await self._schema.read(call)

    def name_reader(self) -> NameReader:
        """Return the reader of all names."""
        return self._names

    async def search(self, terms: SearchTerms, types: Sequence[Iri], call: Call) -> Hits:
        """Find entities by their names and synonyms."""
        return await self._search.find(terms, types, call)

    async def of_types(self, types: Sequence[Iri], call: Call) -> Hits:
        """Return the entities of some types."""
        return await self._search.of_types(types, call)

    async def named(self, text: str, types: Sequence[Iri], call: Call) -> Hits:
        """Find entities that have a name or synonym which is this text."""
        return await self._search.named(text, types, call)

    async def nameless(self, schema: Schema, call: Call) -> NamelessNodes | None:
        """Return how many nodes have no name and no synonym."""
        return await self._schema.nameless(schema, call)

    async def check_reachable(self, deadline: Deadline) -> None:
        """Ask the database something harmless, unless it has just answered."""
        await self._client.check_reachable(deadline)

    def prepare(self) -> None:
        """Nothing to prepare: what the graph is made of is looked up by the first question."""

    async def prepared(self, on_progress: OnProgress) -> None:
        """Return at once: there is no background work."""

    def forget(self) -> None:
        """Look up again what the graph is made of; nothing else that was read is stored here."""
        self._client.forget()

    async def close(self) -> None:
        """Close the connections."""
        await self._client.close()
