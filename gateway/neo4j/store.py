"""The store of a graph in Neo4j, in its dialect."""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping, Sequence
from functools import partial

from gateway.databases.client import DatabaseClient, Remembered, flow_of
from gateway.databases.edges import Rule
from gateway.databases.iri_mapping import IriMapping
from gateway.databases.store import DatabaseStore, Readers
from gateway.errors import ConfigurationError, EndpointFault, quoted
from gateway.graph.call import Call
from gateway.neo4j.connection import Address, DriverPool
from gateway.neo4j.cypher import filled
from gateway.neo4j.graph_model import MOST_INDEXES, MOST_LABELS, FullTextIndex, GraphModel, best_index, lucene_query
from gateway.settings.databases import Neo4jSettings
from gateway.settings.profile import Profile
from gateway.telemetry.tally import Clock

_log = logging.getLogger(__name__)

_IDS = 1_000
"""IDs that are looked at to see whether they are texts."""


class Neo4jClient(DatabaseClient):
    """Sends the queries of `queries/neo4j/` to one database.

    Args:
        pool: The connections.
        settings: Its section about the graph.
        profile: The profile, which says how long labels and indexes are used before they are looked up again.
        clock: A monotonic clock, in seconds.
    """

    def __init__(self, pool: DriverPool, settings: Neo4jSettings, profile: Profile, clock: Clock) -> None:
        super().__init__(pool, flow_of(profile, clock), profile.limits.query_rows, filled("alive"))
        seconds = profile.cache.ttl_seconds
        self._settings = settings
        self._model: Remembered[GraphModel] = Remembered(seconds, clock)
        self._index: Remembered[FullTextIndex | None] = Remembered(seconds, clock)
        self._has_warned = False

    async def query(self, name: str, call: Call) -> str:
        """Return a query over the labels and properties; see `DatabaseClient.query`."""
        return (await self.model(call)).query(name)

    async def model(self, call: Call) -> GraphModel:
        """Return what the graph is made of, which is looked up once in a while.

        Raises:
            Fault: The database could not be asked, or has no node that can be asked for.
        """
        return await self._model.found(partial(self._looked_up, call))

    async def _looked_up(self, call: Call) -> GraphModel:
        try:
            model = GraphModel(self._settings, self._settings.nodes.labels or await self._labels(call))
        except ConfigurationError as error:
            raise EndpointFault(error.wrong, valid=error.valid, next_step=error.next_step) from error
        await self._check_ids(model, call)
        return model

    async def _labels(self, call: Call) -> list[str]:
        rows = await self._fetched("labels", filled("labels"), [], MOST_LABELS + 1, call)
        if len(rows) > MOST_LABELS:
            raise EndpointFault(
                f"The database has more than {MOST_LABELS} labels.",
                next_step="The operator of this gateway should name those of the graph as neo4j.nodes.labels.",
            )
        return sorted(str(label) for (label,) in rows)

    async def _check_ids(self, model: GraphModel, call: Call) -> None:
        """Raise a fault if no node has a text as its ID: the graph would look as if it were empty."""
        ((found, texts),) = await self._fetched("sample_ids", model.query("sample_ids"), [_IDS], 1, call)
        if texts < found and not self._has_warned:
            self._has_warned = True
            _log.warning(
                "of %d nodes with an ID, %d have none that is a text: these and their edges are not in the graph",
                found,
                found - texts,
            )
        if not texts:
            name = quoted(self._settings.nodes.id)
            wrong = f"has no text in the property {name}" if found else f"has the property {name}"
            raise EndpointFault(
                f"No node that is read {wrong}, which is its ID.",
                valid="The profile names the labels and the ID of nodes as neo4j.nodes.labels and neo4j.nodes.id.",
                next_step="The operator of this gateway should correct it.",
            )

    async def parameters(
        self, words: Sequence[str], call: Call, *, every: bool, whole: bool, at_most: int
    ) -> Sequence[object]:
        """Return what asks the full-text index, which is looked up once in a while; see `NameIndex`."""
        index = await self._index.found(partial(self._index_if_large, call))
        return () if index is None else (index.name, lucene_query(words, every=every, whole=whole), at_most)

    async def _index_if_large(self, call: Call) -> FullTextIndex | None:
        """Return the index that a search asks; None if there is none, or comparing all names takes no longer."""
        ((nodes,),) = await self._fetched("node_count", filled("node_count"), [], 1, call)
        if nodes <= self._settings.nodes.full_text_above:
            return None
        model = await self.model(call)
        rows = await self._fetched("full_text_indexes", filled("full_text_indexes"), [], MOST_INDEXES, call)
        return best_index(rows, model.labels, self._settings.nodes)

    def forget(self) -> None:
        """Look up the labels and the indexes again with the next question."""
        self._model.forget()
        self._index.forget()


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
        client = Neo4jClient(DriverPool(address, profile.endpoint.requests.concurrency), settings, profile, clock)
        readers = Readers.of(
            client,
            IriMapping(settings.base, prefixes),
            IriMapping(settings.vocabulary, prefixes),
            profile,
            parameters=_parameters,
            expression=_expression,
            index=client,
            clock=clock,
            wall_clock=wall_clock,
        )
        super().__init__(client, readers)


def _parameters(rule: Rule) -> Sequence[object]:
    """Return the rule for edges as the first parameters of each query about edges."""
    return rule.excepted, rule.allowed, rule.begin, rule.objects


def _expression(pattern: str) -> str:
    """Return a pattern of a search as an expression of Java for a whole text that has it."""
    return f"(?s).*(?:{pattern}).*"
