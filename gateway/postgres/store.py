"""A `GraphStore` over tables of PostgreSQL."""

from __future__ import annotations

import time
from collections.abc import Mapping

from gateway.databases.store import DatabaseStore, Readers
from gateway.flow.control import FlowControl
from gateway.graph.deadline import Clock
from gateway.postgres.client import PostgresClient
from gateway.postgres.connection import Address, Pool
from gateway.postgres.evidence import TableEvidenceReader
from gateway.postgres.patterns import expression, parameters_of
from gateway.postgres.tables import mappings
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
        requests = profile.endpoint.requests
        flow = FlowControl(requests, server="The database", clock=clock)
        client = PostgresClient(
            Pool(address, requests.concurrency),
            tables,
            flow,
            profile.limits.query_rows,
            seconds=profile.cache.ttl_seconds,
            clock=clock,
        )
        readers = Readers.of(
            client,
            *mappings(tables, prefixes),
            profile,
            parameters=parameters_of,
            expression=expression,
            evidence=TableEvidenceReader,
            wall_clock=wall_clock,
        )
        super().__init__(client, readers)
