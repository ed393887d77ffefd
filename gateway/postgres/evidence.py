"""Reads what the tables say about edges: in their own rows, and in the rows of a table of evidence."""

from __future__ import annotations

from collections.abc import Mapping

from gateway.databases.evidence import MAX_BYTES, EdgeStatements, EvidenceReader
from gateway.databases.iri_mapping import IriMapping
from gateway.graph.call import Call
from gateway.graph.values import Edge
from gateway.postgres.client import PostgresClient
from gateway.settings.limits import LimitSettings


class TableEvidenceReader(EvidenceReader):
    """Reads the statements about edges from both tables; see `EvidenceReader`."""

    def __init__(self, client: PostgresClient, ids: IriMapping, terms: IriMapping, limits: LimitSettings) -> None:
        super().__init__(client, ids, terms, limits)
        self._tables = client

    async def _read(self, by_edge: Mapping[Edge, EdgeStatements], call: Call) -> None:
        tables = await self._tables.tables(call)
        await self._read_rows(by_edge, call, by_triple=tables.by_triple)
        if tables.evidence:
            await self._read_evidence(by_edge, call)

    async def _read_evidence(self, by_edge: Mapping[Edge, EdgeStatements], call: Call) -> None:
        """Read the rows of evidence about the edges."""
        by_key: dict[str, list[EdgeStatements]] = {}
        for one in by_edge.values():
            for key in filter(None, one.keys):
                by_key.setdefault(key, []).append(one)
        found = await self._tables.evidence(call, list(by_key), MAX_BYTES, at_most=self._most_rows)
        for key, *row in found.whole():
            for one in by_key[key]:
                self._add(one, row)
