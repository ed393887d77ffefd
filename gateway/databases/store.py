"""A `GraphStore` over a database; see `gateway.graph.store.GraphStore` for what each method promises."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from gateway.databases.client import DatabaseClient
from gateway.databases.edges import EdgeReader, Rule
from gateway.databases.iri_mapping import IriMapping
from gateway.databases.nodes import EvidenceReader, NodeReader
from gateway.databases.schema import SchemaReader
from gateway.databases.search import ColumnNameReader, NameIndex, SearchReader
from gateway.databases.selection import SelectionReader
from gateway.databases.typed import TypedNodeReader
from gateway.databases.value_predicates import ValuePredicateReader
from gateway.databases.walks import WalkReader
from gateway.graph.store import NameReader, OnProgress
from gateway.settings.profile import Profile
from gateway.telemetry.tally import Clock


@dataclass(frozen=True, slots=True)
class Readers:
    """What reads one graph, each a part of it."""

    edges: EdgeReader
    nodes: NodeReader
    evidence: EvidenceReader
    schema: SchemaReader
    search: SearchReader
    names: ColumnNameReader
    walks: WalkReader
    selection: SelectionReader
    values: ValuePredicateReader

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
        clock: Clock = time.monotonic,
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
            clock: A monotonic clock, in seconds.
            wall_clock: Seconds since the epoch.
        """
        limits, rule = profile.limits, parameters(Rule.of(profile.edges, ids, terms))
        of_any_predicate = EdgeReader(client, ids, terms, parameters(Rule()), limits.facts_batch)
        nodes = NodeReader(client, ids, terms, profile, of_any_predicate)
        typed = TypedNodeReader(client, ids, terms, nodes)
        walks = WalkReader(
            client,
            ids,
            terms,
            profile,
            edges=of_any_predicate,
            nodes=nodes,
            typed=typed,
            clock=clock,
        )
        search = SearchReader(client, ids, terms, expression, index)
        return cls(
            EdgeReader(client, ids, terms, rule, limits.batch),
            nodes,
            evidence(client, ids, terms, limits),
            SchemaReader(client, terms, rule, nodes, profile, wall_clock),
            search,
            ColumnNameReader(client, ids, nodes, profile.roles),
            walks,
            SelectionReader(client, ids, terms, profile.roles, typed=typed, walks=walks, nodes=nodes),
            ValuePredicateReader(client, nodes, search),
        )


class DatabaseStore:
    """A graph in a database.

    Args:
        client: Sends the queries.
        readers: What reads the graph by them.
    """

    def __init__(self, client: DatabaseClient, readers: Readers) -> None:
        self._client = client
        self._names = readers.names
        self._walks = readers.walks
        # The port, by who answers what.
        self.edges = readers.edges.around
        self.degrees = readers.edges.degrees
        self.edge_counts = readers.edges.counts
        self.reach = readers.edges.reach
        self.edges_among = readers.edges.among
        self.existing = readers.nodes.existing
        self.subjects = partial(readers.nodes.existing, as_subjects=True)
        self.nodes = readers.nodes.facts
        self.predicates = partial(readers.nodes.facts, names=True)
        self.narrower = readers.nodes.narrower
        self.identities = readers.nodes.identities
        self.mentions = readers.nodes.mentions
        self.node_metadata = readers.nodes.metadata
        self.edge_metadata = readers.evidence.about
        self.ends = readers.walks.ends
        self.select = readers.selection.select
        self.quick_schema = readers.schema.quick_schema
        self.schema = readers.schema.read
        self.value_predicates = readers.values.predicates
        self.search = readers.search.find
        self.of_types = readers.search.of_types
        self.named = readers.search.named
        self.nameless = readers.schema.nameless
        self.has_blank_nodes = readers.schema.has_blank_nodes
        self.check_reachable = client.check_reachable
        self.close = client.close

    def name_reader(self) -> NameReader:
        """Return the reader of all names."""
        return self._names

    def forget(self) -> None:
        """Look up again, with the next question, what the graph is made of."""
        self._client.forget()
        self._walks.forget()

    def prepare(self) -> None:
        """Nothing to prepare: what the graph is made of is looked up by the first question."""

    async def prepared(self, on_progress: OnProgress) -> None:
        """Return at once: there is no background work."""
