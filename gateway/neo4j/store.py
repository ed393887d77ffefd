"""A `GraphStore` over a database of Neo4j."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence

from gateway.databases.iri_mapping import IriMapping
from gateway.databases.rule import Rule
from gateway.databases.store import DatabaseStore, Readers
from gateway.flow.control import FlowControl
from gateway.graph.deadline import Clock
from gateway.neo4j.client import Neo4jClient
from gateway.neo4j.connection import Address, DriverPool
from gateway.settings.neo4j import Neo4jSettings
from gateway.settings.profile import Profile


class Neo4jStore(DatabaseStore):
    """A graph in a database of Neo4j.

    Args:
        address: The database.
        settings: What the graph is made of.
        profile: The profile.
        prefixes: Namespaces by prefix, by which CURIEs of the database are read.
        clock: A monotonic clock, in seconds.
        wall_clock: Seconds since the epoch.
    """

    def __init__(
        self,
        address: Address,
        settings: Neo4jSettings,
        profile: Profile,
        prefixes: Mapping[str, str],
        *,
        clock: Clock = time.monotonic,
        wall_clock: Clock = time.time,
    ) -> None:
        requests = profile.endpoint.requests
        flow = FlowControl(requests, server="The database", clock=clock)
        client = Neo4jClient(
            DriverPool(address, requests.concurrency),
            settings,
            flow,
            profile.limits.query_rows,
            seconds=profile.cache.ttl_seconds,
            clock=clock,
        )
        readers = Readers.of(
            client,
            IriMapping(settings.base, prefixes),
            IriMapping(settings.vocabulary, prefixes),
            profile,
            parameters=_parameters,
            expression=_expression,
            index=client,
            wall_clock=wall_clock,
        )
        super().__init__(client, readers)


def _parameters(rule: Rule) -> Sequence[object]:
    """Return the rule for edges as the first parameters of each query about edges."""
    return rule.excepted, rule.allowed, rule.begin, rule.objects


def _expression(pattern: str) -> str:
    """Return a pattern of a search as an expression of Java for a whole text that has it."""
    return f"(?s).*(?:{pattern}).*"
