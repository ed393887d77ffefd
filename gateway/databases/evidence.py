"""Reads what the rows of edges say about these."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from gateway.databases.batches import in_batches
from gateway.databases.client import DatabaseClient, Row
from gateway.databases.iri_mapping import IriMapping
from gateway.databases.json_values import SOURCES, JsonValues, decoded_object, merged, without_lists
from gateway.errors import EndpointFault, Fault, QueryRefused
from gateway.graph.call import Call
from gateway.graph.values import Assertion, Edge, Evidence, Mark
from gateway.settings.limits import LimitSettings

MAX_BYTES = 1 << 16
"""Bytes of what one row says about an edge; one query returns no more rows than have so many bytes in one answer."""


@dataclass(slots=True)
class EdgeStatements:
    """What was read about one edge; `keys` are what evidence refers to, `fault` is why some of it could not be read."""

    assertions: list[Assertion] = field(default_factory=list)
    keys: set[str | None] = field(default_factory=set)
    fault: Fault | None = None

    @property
    def evidence(self) -> Evidence:
        """It, as the port has it."""
        return Evidence(tuple(self.assertions), Mark(self.fault))


class EvidenceReader:
    """Reads the statements about edges.

    Args:
        client: Sends the queries.
        ids: The IRIs of IDs.
        terms: The IRIs of predicates and names of properties.
        limits: How many edges one query asks for, and how many bytes may come.
    """

    def __init__(self, client: DatabaseClient, ids: IriMapping, terms: IriMapping, limits: LimitSettings) -> None:
        self._client = client
        self._ids = ids
        self._terms = terms
        self._values = JsonValues(ids, terms)
        self._batch = limits.facts_batch
        self._most_rows = max(1, limits.body_bytes // MAX_BYTES)

    async def about(self, edges: Sequence[Edge], call: Call) -> Mapping[Edge, Evidence]:
        """Return the statements about each edge; see `GraphStore.edge_metadata`."""

        async def ask(batch: Sequence[Edge]) -> Mapping[Edge, Evidence]:
            by_edge = {edge: EdgeStatements() for edge in batch}
            await self._read(by_edge, call)
            return {edge: one.evidence for edge, one in by_edge.items()}

        return await in_batches(edges, self._batch, call, ask, lambda mark: Evidence(mark=mark))

    async def _read(self, by_edge: Mapping[Edge, EdgeStatements], call: Call) -> None:
        """Read what the database says about the edges.

        Raises:
            Fault: It did not all come.
        """
        await self._read_rows(by_edge, call)

    async def _read_rows(self, by_edge: Mapping[Edge, EdgeStatements], call: Call, *, by_triple: bool = False) -> None:
        """Read what the rows of the edges say, and their keys: the triples where these are the keys."""
        wanted = [
            (subject, predicate, target)
            for edge in by_edge
            for subject in self._ids.texts(edge.subject)
            for predicate in self._terms.texts(edge.predicate)
            for target in self._ids.texts(edge.object)
        ]
        columns = [list(column) for column in zip(*wanted, strict=True)] or [[], [], []]
        found = await self._client.rows("edge_metadata", call, *columns, MAX_BYTES, at_most=self._most_rows)
        for subject, predicate, target, key, *row in found.whole():
            one = by_edge[Edge(self._ids.iri(subject), self._terms.iri(predicate), self._ids.iri(target))]
            one.keys.add(f"{subject}:{predicate}:{target}" if by_triple else key)
            self._add(one, row)

    def _add(self, one: EdgeStatements, row: Row) -> None:
        """Add what one row says, if it says anything."""
        is_too_large, properties, columns = row
        if is_too_large:
            one.fault = QueryRefused(f"What is stated about an edge has more than {MAX_BYTES:,} bytes.")
            return
        try:
            content = merged(decoded_object(columns), decoded_object(properties))
        except EndpointFault as fault:
            one.fault = fault
            return
        sources = [text for text in without_lists(content.get(SOURCES)) if text is not None]
        are_ids = all(isinstance(text, str) for text in sources)
        values = self._values.properties(content, but=SOURCES if are_ids else "")
        assertion = Assertion(values, tuple(map(self._ids.iri, dict.fromkeys(sources))) if are_ids else ())
        if assertion.properties or assertion.sources:
            one.assertions.append(assertion)
