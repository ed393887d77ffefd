"""A `GraphStore` over tables of PostgreSQL."""

from __future__ import annotations

import time
from collections.abc import Mapping

from gateway.databases.edges import EdgeReader
from gateway.databases.names import Names
from gateway.databases.nodes import NodeReader
from gateway.databases.rule import Rule
from gateway.databases.schema import SchemaReader
from gateway.databases.search import ColumnNameReader, SearchReader
from gateway.databases.store import DatabaseStore, Readers
from gateway.flow.control import FlowControl
from gateway.graph.deadline import Clock
from gateway.postgres.client import PostgresClient
from gateway.postgres.connection import Address, Pool
from gateway.postgres.evidence import TableEvidenceReader
from gateway.postgres.patterns import expression, parameters_of
from gateway.settings.postgres import PostgresSettings
from gateway.settings.profile import Profile


class PostgresStore(DatabaseStore):
    """A graph in tables of a database.

    Args:
        address: The database.
        tables: Its tables.
        profile: The profile.
        prefixes: Namespaces by prefix, by which CURIEs of the database are read.
        clock: A monotonic clock, in seconds.
        wall_clock: Seconds since the epoch.
    """

    def __init__(
        self,
        address: Address,
        tables: PostgresSettings,
        profile: Profile,
        prefixes: Mapping[str, str],
        *,
        clock: Clock = time.monotonic,
        wall_clock: Clock = time.time,
    ) -> None:
        requests, limits = profile.endpoint.requests, profile.limits
        flow = FlowControl(requests, server="The database", clock=clock)
        client = PostgresClient(Pool(address, requests.concurrency), tables, flow, limits.query_rows)
        ids, terms = Names(tables.base, prefixes), Names(tables.vocabulary, prefixes)
        rule = parameters_of(Rule.of(profile.edges, ids, terms))
        of_any_predicate = EdgeReader(client, ids, terms, parameters_of(Rule()), limits.facts_batch)
        nodes = NodeReader(client, ids, terms, profile, of_any_predicate)
        readers = Readers(
            EdgeReader(client, ids, terms, rule, limits.batch),
            nodes,
            TableEvidenceReader(client, ids, terms, limits.facts_batch),
            SchemaReader(client, terms, rule, nodes, profile, wall_clock),
            SearchReader(client, ids, terms, expression),
            ColumnNameReader(client, ids, nodes, profile.roles),
        )
        super().__init__(client, readers)
