"""A `GraphStore` over a database; see `gateway.graph.store.GraphStore` for what each method promises."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial

from gateway.databases.client import DatabaseClient
from gateway.databases.edges import EdgeReader, Rule
from gateway.databases.nodes import EvidenceReader, NodeReader
from gateway.databases.schema import SchemaReader, ValuePredicateReader
from gateway.databases.search import ColumnNameReader, NameIndex, SearchReader, TypedNodeReader
from gateway.databases.selection import SelectionReader
from gateway.databases.walks import WalkReader
from gateway.graph.call import Call
from gateway.graph.store import NameReader, OnProgress
from gateway.graph.values import Iri
from gateway.graph.walks import UNPROVEN, Aggregate, Aggregated, Walk
from gateway.telemetry.tally import Clock


class DatabaseStore:
    """A graph in a database.

    Args:
        client: Sends the queries.
        parameters: Returns the rule for edges as the first parameters of each query about edges.
        expression: Returns a pattern of a search as the database writes it.
        index: An index of names.
        evidence: The kind of reader of evidence.
        wall_clock: Seconds since the epoch.
    """

    def __init__(
        self,
        client: DatabaseClient,
        *,
        parameters: Callable[[Rule], Sequence[object]],
        expression: Callable[[str], str],
        index: NameIndex | None = None,
        evidence: type[EvidenceReader] = EvidenceReader,
        wall_clock: Clock,
    ) -> None:
        limits, rule = client.profile.limits, parameters(Rule.of(client.profile.edges, client.ids, client.terms))
        of_any_predicate = EdgeReader(client, parameters(Rule()), limits.facts_batch)
        edges = EdgeReader(client, rule, limits.batch)
        nodes = NodeReader(client, of_any_predicate)
        typed = TypedNodeReader(client, nodes)
        walks = WalkReader(client, edges=of_any_predicate, nodes=nodes, typed=typed)
        schema = SchemaReader(client, rule, nodes, wall_clock)
        search = SearchReader(client, expression, index)
        self._client = client
        self._names = ColumnNameReader(client, nodes)
        self._walks = walks
        # The port, by who answers what.
        self.edges = edges.around
        self.degrees = edges.degrees
        self.edge_counts = edges.counts
        self.reach = edges.reach
        self.edges_among = edges.among
        self.existing = nodes.existing
        self.subjects = partial(nodes.existing, as_subjects=True)
        self.nodes = nodes.facts
        self.predicates = nodes.terms
        self.narrower = nodes.narrower
        self.identities = nodes.identities
        self.mentions = nodes.mentions
        self.node_metadata = nodes.metadata
        self.edge_metadata = evidence(client).about
        self.ends = walks.ends
        self.select = SelectionReader(client, typed=typed, walks=walks, nodes=nodes).select
        self.quick_schema = schema.quick_schema
        self.schema = schema.read
        self.value_predicates = ValuePredicateReader(client, nodes, search).predicates
        self.search = search.find
        self.of_types = search.of_types
        self.named = search.named
        self.nameless = schema.nameless
        self.has_blank_nodes = schema.has_blank_nodes
        self.check_reachable = client.check_reachable
        self.close = client.close

    async def aggregates(self, asked: Sequence[Aggregate], _call: Call) -> Mapping[Aggregate, Aggregated]:
        """Return that nothing is proven: rows are read by the ID, and few databases have more than are read."""
        return dict.fromkeys(asked, UNPROVEN)

    async def leading_to_nodes(self, predicates: Sequence[Iri], _call: Call) -> Collection[Iri]:
        """Return that any may."""
        return predicates

    async def may_have_lists(self, _walk: Walk, _call: Call) -> bool:
        """Return that no lists are values."""
        return False

    def has_degrees_at_hand(self) -> bool:
        """Return that one query counts the edges of some nodes."""
        return True

    async def may_have_expressions(self, _call: Call) -> bool:
        """Return that no edges are those of class expressions."""
        return False

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
