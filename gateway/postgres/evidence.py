"""Reads what the tables say about edges: in their own rows, and in the rows of a table of evidence."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping

from gateway.databases.evidence import MAX_BYTES, EvidenceReader, Said
from gateway.databases.names import Names
from gateway.graph.call import Call
from gateway.graph.values import Edge
from gateway.postgres.client import PostgresClient


class TableEvidenceReader(EvidenceReader):
    """Reads the statements about edges from both tables; see `EvidenceReader`."""

    def __init__(self, client: PostgresClient, ids: Names, terms: Names, batch: int) -> None:
        super().__init__(client, ids, terms, batch)
        self._tables = client

    async def _read(self, said: Mapping[Edge, Said], call: Call) -> None:
        tables = await self._tables.tables(call)
        await self._read_rows(said, call, by_triple=tables.by_triple)
        if tables.evidence:
            await self._read_evidence(said, call)

    async def _read_evidence(self, said: Mapping[Edge, Said], call: Call) -> None:
        """Read the rows of evidence about the edges."""
        by_key: dict[str, list[Said]] = defaultdict(list)
        for one in said.values():
            for key in filter(None, one.keys):
                by_key[key].append(one)
        for key, *row in (await self._tables.evidence(call, list(by_key), MAX_BYTES)).whole():
            for one in by_key[key]:
                self._add(one, row)
