"""Reads what the tables say about edges: in their own rows, and in the rows of a table of evidence."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from gateway.errors import QueryRefused
from gateway.graph.call import Call
from gateway.graph.values import Assertion, Edge, Evidence, Iri, Mark
from gateway.postgres.batches import in_batches
from gateway.postgres.client import PostgresClient
from gateway.postgres.connection import Row
from gateway.postgres.json_values import SOURCES, JsonValues, decoded_object
from gateway.postgres.names import Names

_BYTES = 1 << 16
"""Bytes of what one row says about an edge."""


@dataclass(slots=True)
class _Said:
    """What was read about one edge; `keys` are what evidence refers to."""

    assertions: list[Assertion] = field(default_factory=list)
    keys: set[str | None] = field(default_factory=set)
    is_too_large: bool = False

    @property
    def evidence(self) -> Evidence:
        """It, as the port has it."""
        fault = QueryRefused(f"What is stated about an edge has more than {_BYTES:,} bytes.")
        return Evidence(tuple(self.assertions), Mark(fault) if self.is_too_large else Mark())


class EvidenceReader:
    """Reads the statements about edges.

    Args:
        client: Sends the queries.
        ids: The IRIs of IDs.
        terms: The IRIs of predicates and names of properties.
        batch: Edges in one query.
    """

    def __init__(self, client: PostgresClient, ids: Names, terms: Names, batch: int) -> None:
        self._client = client
        self._ids = ids
        self._terms = terms
        self._values = JsonValues(ids, terms)
        self._batch = batch

    async def about(self, edges: Sequence[Edge], call: Call) -> Mapping[Edge, Evidence]:
        """Return the statements about each edge; see `GraphStore.edge_metadata`."""

        async def ask(batch: Sequence[Edge]) -> Mapping[Edge, Evidence]:
            said = {edge: _Said() for edge in batch}
            await self._read_rows(said, call)
            tables = await self._client.tables(call)
            if tables.evidence:
                await self._read_evidence(said, call)
            return {edge: one.evidence for edge, one in said.items()}

        return await in_batches(edges, self._batch, call, ask, lambda mark: Evidence(mark=mark))

    async def _read_rows(self, said: Mapping[Edge, _Said], call: Call) -> None:
        """Read what the rows of the edges say, and their keys."""
        wanted = [
            (subject, predicate, target)
            for edge in said
            for subject in self._ids.texts(edge.subject)
            for predicate in self._terms.texts(edge.predicate)
            for target in self._ids.texts(edge.object)
        ]
        columns = [list(column) for column in zip(*wanted, strict=True)] or [[], [], []]
        rows = (await self._client.rows("edge_metadata", call, *columns, _BYTES)).whole()
        by_triple = (await self._client.tables(call)).by_triple
        for subject, predicate, target, key, *row in rows:
            one = said[Edge(self._ids.iri(subject), self._terms.iri(predicate), self._ids.iri(target))]
            one.keys.add(f"{subject}:{predicate}:{target}" if by_triple else key)
            self._add(one, row)

    async def _read_evidence(self, said: Mapping[Edge, _Said], call: Call) -> None:
        """Read the rows of evidence about the edges."""
        by_key: dict[str, list[_Said]] = defaultdict(list)
        for one in said.values():
            for key in filter(None, one.keys):
                by_key[key].append(one)
        for key, *row in (await self._client.evidence(call, list(by_key), _BYTES)).whole():
            for one in by_key[key]:
                self._add(one, row)

    def _add(self, one: _Said, row: Row) -> None:
        """Add what one row says, if it says anything."""
        is_too_large, properties, columns = row
        one.is_too_large = one.is_too_large or bool(is_too_large)
        content = {**decoded_object(columns), **decoded_object(properties)}
        assertion = Assertion(self._values.properties(content), self._sources(content.get(SOURCES)))
        if assertion.properties or assertion.sources:
            one.assertions.append(assertion)

    def _sources(self, found: Any) -> tuple[Iri, ...]:
        return tuple(self._ids.iri(text) for text in found if isinstance(text, str)) if isinstance(found, list) else ()
