"""A `GraphStore` over SPARQL, whatever engine is behind it."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Sequence
from functools import partial

from gateway.flow.control import FlowControl
from gateway.graph.call import Call
from gateway.graph.kept import FactStorage, KeptFacts
from gateway.graph.store import NameReader, OnProgress
from gateway.graph.values import Iri, Schema
from gateway.graph.walks import Walk
from gateway.settings.profile import Profile, has_blank_nodes
from gateway.sparql.aggregates import AggregateReader
from gateway.sparql.blank.lookup import BlankLookup
from gateway.sparql.blank.nodes import BlankNodes, Readers, WayBack
from gateway.sparql.blank.search import BlankSearch, Finders
from gateway.sparql.client import SparqlClient
from gateway.sparql.degrees import DegreeReader, ReachReader
from gateway.sparql.edges import EdgeReader
from gateway.sparql.engines import EngineDetector
from gateway.sparql.evidence import EvidenceReader, WaysInUse
from gateway.sparql.learned import LateralProbe
from gateway.sparql.name_finder import NamePredicateFinder
from gateway.sparql.names import NamelessCounter, SparqlNameReader
from gateway.sparql.nodes import NamePredicates, NodeReader
from gateway.sparql.rule import EdgeRule
from gateway.sparql.schema import SchemaReader
from gateway.sparql.search import BlankNodeFinder, EntityLister, SearchReader
from gateway.sparql.selection import SelectionReader
from gateway.sparql.table import iri
from gateway.sparql.value_nodes import ValueNodeReader
from gateway.sparql.value_predicates import ValuePredicateReader
from gateway.sparql.walks import WalkReader
from gateway.telemetry.tally import Clock
from gateway.transport.base import IN_PROCESS_AT_ONCE, Remote, Transport

_ASKED_ABOUT = 50
"""Predicates of which it is asked at once whether they lead to nodes."""

_LEADS = "leads to nodes"
"""Begins what is remembered of such a predicate."""


def no_schema(_: float) -> None:
    """Return no schema of an earlier process."""


class SparqlStore:
    """A graph behind a SPARQL transport; see `gateway.graph.store.GraphStore` for what each method promises.

    Args:
        transport: The transport.
        profile: The profile.
        flow: When requests are sent; by default as the transport says.
        clock: The clock of deadlines.
        wall_clock: Seconds since the epoch.
        facts: Where it is stored what is found out about the endpoint; by default nowhere.
        recent: Returns the schema that an earlier process read, if that is no more than so many seconds ago.

    Attributes:
        name_predicates: The predicates that name nodes, in force for whatever is read from now on.
        stated_edges: Returns the edges of nodes with an IRI as `edges` does, with those blank nodes counted alone to
            which the selected predicates lead, and none for what they may say.
    """

    def __init__(
        self,
        transport: Transport,
        profile: Profile,
        flow: FlowControl | None = None,
        *,
        clock: Clock = time.monotonic,
        wall_clock: Clock = time.time,
        facts: FactStorage | None = None,
        recent: Callable[[float], Schema | None] = no_schema,
    ) -> None:
        batch, facts_batch = profile.limits.batch, profile.limits.facts_batch
        if flow is None:
            flow = transport.flow if isinstance(transport, Remote) else _flow_in_process(profile, clock)
        kept = KeptFacts(facts, profile.cache, wall_clock)
        self._recent = recent
        self._client = SparqlClient(transport, profile, flow, EngineDetector(transport, profile, flow, kept), kept)
        ways = self._ways = WaysInUse(self._client, profile)
        rule = EdgeRule.of(profile.edges, ways)
        lookup = BlankLookup(self._client, rule, profile)
        lateral = LateralProbe(self._client, profile.endpoint)
        degrees = DegreeReader(self._client, lookup.rule, lateral, facts_batch)
        edges = EdgeReader(self._client, lookup.rule, lateral, degrees, batch)
        self.name_predicates = NamePredicates(profile.roles)
        value_nodes = ValueNodeReader(self._client, facts_batch, is_wikibase=profile.values.wikibase)
        nodes = NodeReader(self._client, rule, profile, self.name_predicates, value_nodes)
        finder = NamePredicateFinder(self._client, nodes, self.name_predicates, profile)
        schema = self._schema = SchemaReader(self._client, rule, nodes, finder, profile, wall_clock)
        search = SearchReader(self._client, rule, profile, self.name_predicates, clock)
        lister = EntityLister(self._client, rule, profile.edges.types)
        self._nameless = NamelessCounter(
            self._client, rule, nodes, self.name_predicates, blank_are_nodes=has_blank_nodes(profile)
        )
        self._names = SparqlNameReader(self._client, rule, nodes, self.name_predicates, finder)
        walks = WalkReader(self._client, rule, nodes, self.name_predicates, profile)
        evidence = EvidenceReader(self._client, ways, value_nodes, facts_batch)
        reach = ReachReader(self._client, lookup.rule, batch)
        readers = Readers(edges, degrees, reach, nodes, evidence, walks, ways)
        blank = self._blank = BlankNodes(self._client, rule, profile, lookup, readers)
        # The port, by who answers what.
        self.edges, self.stated_edges = blank.edges, edges.around
        self.degrees, self.edge_counts = blank.degrees, blank.edge_counts
        self.reach, self.edges_among, self.ends = blank.reach, blank.edges_among, blank.ends
        self.existing, self.subjects = blank.existing, partial(blank.existing, as_subjects=True)
        self.nodes, self.mentions = blank.nodes, blank.mentions
        self.predicates = nodes.predicates
        self.identities, self.narrower = blank.identities, blank.narrower
        self.node_metadata, self.edge_metadata = blank.node_metadata, blank.edge_metadata
        if not lookup.may_be_nodes:
            # What reads nodes with an IRI reads all nodes.
            self.degrees, self.edge_counts, self.reach = degrees.degrees, degrees.counts, reach.reach
            self.edges_among, self.ends, self.edge_metadata = edges.among, walks.ends, evidence.about
            self.existing, self.subjects = nodes.existing, partial(nodes.existing, as_subjects=True)
            self.nodes, self.node_metadata, self.mentions = nodes.facts, nodes.metadata, nodes.mentions
            self.identities, self.narrower = nodes.identities, nodes.narrower
        found = BlankSearch(
            self._client,
            rule,
            profile,
            self.name_predicates,
            blank,
            lookup,
            Finders(
                search,
                lister,
                BlankNodeFinder(self._client, rule, profile, self.name_predicates),
                SelectionReader(self._client, rule, walks, lister, profile.edges.types),
                AggregateReader(self._client, rule, walks, profile.edges.types),
            ),
        )
        schema.with_blank = found.with_blank
        self.select, self.aggregates = found.select, found.aggregates
        self.value_predicates = ValuePredicateReader(
            self._client, rule, nodes, profile, blank_are_nodes=blank.are_followed
        ).predicates
        self.search, self.of_types, self.named = found.find, found.of_types, found.named
        self.nameless = self._nameless.count
        self.has_blank_nodes = found.has
        self.check_reachable = self._client.check_reachable
        self.close = self._client.close

    @property
    def read_by(self) -> str | None:
        """By which rules answers are read as whole or cut; None while that is not known."""
        return self._client.read_by

    async def quick_schema(self, call: Call) -> Schema:
        """Return what a short reading finds.

        The first time, it is what an earlier process read, if that is no older than a stored answer may be.
        """
        recent, self._recent = self._recent, no_schema
        if (stored := recent(self._client.remembered.seconds)) is not None:
            self._names.use_predicates(stored)
            return self._blank.noted(stored)
        return self._blank.noted(await self._schema.quick_schema(call))

    async def schema(self, call: Call) -> Schema:
        """Return the types and edge predicates of the graph."""
        return self._blank.noted(await self._schema.read(call))

    async def way_back(self, call: Call) -> WayBack | None:
        """Return how blank nodes are asked for again; None where that could not be found out."""
        return await self._blank.way_back(call)

    async def leading_to_nodes(self, predicates: Sequence[Iri], call: Call) -> Collection[Iri]:
        """Return those of some predicates that may lead to nodes: all, where they are too many to be asked about.

        What was asked lately is remembered.
        """
        if len(predicates) > _ASKED_ABOUT:
            return predicates
        remembered = self._client.remembered
        known = {one: remembered.answer((_LEADS, one), call) for one in predicates}
        if unknown := [one for one, leads in known.items() if leads is None]:
            answer = await self._client.rows("schema/leading_to_nodes", call, {"predicates": unknown})
            rows, is_cut = answer.part()
            if is_cut:
                return predicates
            found = frozenset(iri("p")(rows))
            if not found.issubset(unknown):
                # An engine that rewrites IRIs names another one.
                return predicates
            for one in unknown:
                known[one] = one in found
                remembered.add((_LEADS, one), call, answer=one in found)
        return [one for one, leads in known.items() if leads]

    async def may_have_lists(self, walk: Walk, call: Call) -> bool:
        """Return whether a walk may lead to lists: in graphs that the gateway reads from files, any may."""
        return not self._client.is_remote or await self._blank.lists_behind(walk, call)

    def has_degrees_at_hand(self) -> bool:
        """Return whether the graph is in this process; see `GraphStore.has_degrees_at_hand`."""
        return not self._client.is_remote

    async def may_have_expressions(self, call: Call) -> bool:
        """Return whether edges may be those of class expressions."""
        return await self._ways.may_have_expressions(call)

    def name_reader(self) -> NameReader:
        """Return the reader of all names."""
        return self._names

    def prepare(self) -> None:
        """Nothing to prepare: what is to be known of the endpoint is found out by the first question."""

    async def prepared(self, on_progress: OnProgress) -> None:
        """Return at once: there is no background work."""

    def forget(self) -> None:
        """Forget what was found out about the graph; how this process found the endpoint to be asked is remembered."""
        self._recent = no_schema
        self._nameless.forget()
        self._client.forget()


def _flow_in_process(profile: Profile, clock: Clock) -> FlowControl:
    """Return the flow control of a graph in this process: whoever has a slot of it waits for no other.

    Except behind a query that was given up inside an aggregate, which holds its thread until that ends.
    """
    requests = profile.endpoint.requests
    at_once = min(requests.concurrency, IN_PROCESS_AT_ONCE)
    return FlowControl(requests.model_copy(update={"concurrency": at_once}), clock=clock)
