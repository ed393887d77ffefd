"""The one product store: a `GraphStore` over a transport, whatever engine is behind it."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence

from gateway.flow.control import FlowControl
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
from gateway.sparql.all_names import SparqlNameReader
from gateway.sparql.client import SparqlClient
from gateway.sparql.edges.counts import EdgeCountReader
from gateway.sparql.edges.degrees import DegreeReader
from gateway.sparql.edges.reach import ReachReader
from gateway.sparql.edges.reader import EdgeReader
from gateway.sparql.edges.rule import EdgeRule
from gateway.sparql.engines.detector import EngineDetector
from gateway.sparql.engines.probes import LateralProbe
from gateway.sparql.evidence.reader import EvidenceReader
from gateway.sparql.evidence.ways import WaysInUse
from gateway.sparql.nodes.identities import IdentityReader
from gateway.sparql.nodes.nameless import NamelessCounter
from gateway.sparql.nodes.names import NamePredicates
from gateway.sparql.nodes.reader import NodeReader
from gateway.sparql.nodes.value_nodes import ValueNodeReader
from gateway.sparql.schema.name_predicate_finder import NamePredicateFinder
from gateway.sparql.schema.reader import SchemaReader
from gateway.sparql.search.entities import EntityLister
from gateway.sparql.search.reader import SearchReader
from gateway.transport.base import IN_PROCESS_AT_ONCE, Remote, Transport


class SparqlStore:
    """A graph behind a SPARQL transport; see `gateway.graph.store.GraphStore` for what each method promises.

    Attributes:
        name_predicates: The predicates that name nodes, in force for whatever is read from now on.
    """

    def __init__(
        self,
        transport: Transport,
        profile: Profile,
        flow: FlowControl | None = None,
        *,
        clock: Clock = time.monotonic,
        wall_clock: Clock = time.time,
    ) -> None:
        batch, facts_batch = profile.limits.batch, profile.limits.facts_batch
        if flow is None:
            flow = transport.flow if isinstance(transport, Remote) else _flow_in_process(profile, clock)
        self._client = SparqlClient(transport, profile, flow, EngineDetector(transport, profile, flow))
        ways = WaysInUse(self._client, profile)
        rule = EdgeRule.of(profile.edges, ways)
        lateral = LateralProbe(self._client, profile.endpoint)
        self._degrees = DegreeReader(self._client, rule, lateral, facts_batch)
        self._edges = EdgeReader(self._client, rule, lateral, self._degrees, batch)
        self._edge_counts = EdgeCountReader(self._client, rule)
        self._reach = ReachReader(self._client, rule, batch)
        self.name_predicates = NamePredicates(profile.roles)
        value_nodes = ValueNodeReader(self._client, facts_batch, is_wikibase=profile.values.wikibase)
        self._nodes = NodeReader(self._client, rule, profile, self.name_predicates, value_nodes)
        self._identities = IdentityReader(self._client, profile.identity, facts_batch)
        self._evidence = EvidenceReader(self._client, ways, value_nodes, facts_batch)
        finder = NamePredicateFinder(self._client, self._nodes, self.name_predicates, profile)
        self._schema = SchemaReader(self._client, rule, self._nodes, finder, profile, wall_clock)
        self._search = SearchReader(self._client, profile, self.name_predicates)
        self._entities = EntityLister(self._client, rule, profile.edges.types)
        self._nameless = NamelessCounter(self._client, rule, self._nodes, self.name_predicates)
        self._names = SparqlNameReader(self._client, self._nodes, self.name_predicates, finder)

    @property
    def read_by(self) -> str | None:
        """By which rules answers are read as whole or cut; None while that is not known."""
        return self._client.read_by

    async def edges(
        self,
        ids: Sequence[Iri],
        call: Call,
        *,
        selection: EdgeSelection = ALL_EDGES,
        per_id: int | None = None,
        on_answers: OnAnswers | None = None,
    ) -> Mapping[Iri, Neighbourhood]:
        """Return the edges of each node, outgoing and incoming, or those selected."""
        return await self._edges.around(ids, call, selection, per_id, on_answers)

    async def degrees(
        self, ids: Sequence[Iri], at_most: int, call: Call, *, selection: EdgeSelection = ALL_EDGES
    ) -> Mapping[Iri, Degree]:
        """Count the edges of each node, or those selected, up to a bound."""
        return await self._degrees.degrees(ids, at_most, call, selection)

    async def edge_counts(self, ids: Sequence[Iri], call: Call) -> Mapping[Iri, EdgeCounts]:
        """Count the edges of each node by predicate and direction."""
        return await sendable.checked_counts(await self._edge_counts.counts(ids, call), call)

    async def reach(self, ids: Sequence[Iri], hops: int, call: Call) -> Mapping[Iri, Reach]:
        """Return the nodes within some hops of each node, without the edges between them."""
        return await sendable.checked_reach(await self._reach.reach(ids, hops, call), call)

    async def edges_among(
        self, ids: Sequence[Iri], inside: frozenset[Iri], call: Call, *, predicates: tuple[Iri, ...] | None = None
    ) -> Mapping[Iri, Neighbourhood]:
        """Return, for each node, its outgoing edges whose object lies inside a set, of all predicates or of some."""
        return await self._edges.among(ids, inside, call, predicates)

    async def existing(self, ids: Sequence[Iri], call: Call) -> Mapping[Iri, Existence]:
        """Tell which nodes are subject or object of a triple."""
        return await self._nodes.existing(ids, call)

    async def subjects(self, ids: Sequence[Iri], call: Call) -> Mapping[Iri, Existence]:
        """Tell which nodes are subject of a triple."""
        return await self._nodes.existing(ids, call, as_subjects=True)

    async def nodes(
        self, ids: Sequence[Iri], call: Call, *, names: bool, descriptions: bool = False
    ) -> Mapping[Iri, NodeFacts]:
        """Return the types of each node, and its name and description where those are asked for."""
        facts = await self._nodes.facts(ids, call, names=names, descriptions=descriptions)
        return await sendable.checked_facts(facts, call)

    async def predicates(self, ids: Sequence[Iri], call: Call) -> Mapping[Iri, NodeFacts]:
        """Return the name of each predicate."""
        return await self._nodes.predicates(ids, call)

    async def narrower(self, ids: Sequence[Iri], call: Call) -> Mapping[Iri, DirectSubclasses]:
        """Return the direct subclasses of each class."""
        return await self._nodes.narrower(ids, call)

    async def identities(self, ids: Sequence[Iri], call: Call) -> Mapping[Iri, Identities]:
        """Return the IRIs by which other graphs may know each node."""
        return await self._identities.identities(ids, call)

    async def mentions(self, ids: Sequence[Iri], call: Call) -> Mapping[Iri, Description]:
        """Return only what says how often each node is mentioned."""
        return await self._nodes.mentions(ids, call)

    async def node_metadata(
        self, ids: Sequence[Iri], call: Call, *, blank_nodes: bool, precise: bool = True
    ) -> Mapping[Iri, Description]:
        """Return what is known about each node beside its edges, blank nodes' content only on request."""
        described = await self._nodes.metadata(ids, call, blank_nodes=blank_nodes, precise=precise)
        return await sendable.checked_descriptions(described, call)

    async def edge_metadata(self, edges: Sequence[Edge], call: Call) -> Mapping[Edge, Evidence]:
        """Return the statements about each edge."""
        return await sendable.checked_evidence(await self._evidence.about(edges, call), call)

    async def quick_schema(self, call: Call) -> Schema:
        """Return the types and edge predicates that a short reading finds."""
        return await self._schema.quick_schema(call)

    async def schema(self, call: Call) -> Schema:
        """Return the types and edge predicates of the graph."""
        return await self._schema.read(call)

    def name_reader(self) -> NameReader:
        """Return the reader of all names."""
        return self._names

    async def search(self, terms: SearchTerms, types: Sequence[Iri], call: Call) -> Hits:
        """Find entities by their names and synonyms."""
        return await self._search.find(terms, types, call)

    async def of_types(self, types: Sequence[Iri], call: Call) -> Hits:
        """Return the entities of some types."""
        return await self._entities.of_types(types, call)

    async def named(self, text: str, types: Sequence[Iri], call: Call) -> Hits:
        """Find entities that have a name or synonym which is this text."""
        return await self._search.named(text, types, call)

    async def nameless(self, schema: Schema, call: Call) -> NamelessNodes | None:
        """Return how many nodes have no name and no synonym."""
        return await self._nameless.count(schema, call)

    async def check_reachable(self, deadline: Deadline) -> None:
        """Ask an endpoint something harmless, unless it has just answered."""
        await self._client.check_reachable(deadline)

    def prepare(self) -> None:
        """Nothing to prepare: what is to be known of the endpoint is found out by the first question."""

    async def prepared(self, on_progress: OnProgress) -> None:
        """Return at once: there is no background work."""

    def forget(self) -> None:
        """Forget how many nodes have no name; how the endpoint wants to be asked is remembered."""
        self._nameless.forget()

    async def close(self) -> None:
        """Let go of connections and threads."""
        await self._client.close()


def _flow_in_process(profile: Profile, clock: Clock) -> FlowControl:
    """Return the flow control of a graph in this process: whoever has a slot of it waits for no other.

    Except behind a query that was given up inside an aggregate, which holds its thread until that ends.
    """
    requests = profile.endpoint.requests
    at_once = min(requests.concurrency, IN_PROCESS_AT_ONCE)
    return FlowControl(requests.model_copy(update={"concurrency": at_once}), clock=clock)
