"""The indexes that the queries use, and how to recognise them among those that a database has."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from gateway.postgres.quoting import identifier
from gateway.postgres.sql import filled
from gateway.settings.postgres import EvidenceTable, PostgresSettings

_TRIGRAM_CLASSES = frozenset({"gin_trgm_ops", "gist_trgm_ops"})


@dataclass(frozen=True, slots=True)
class Index:
    """An index that a database has.

    Attributes:
        method: Its access method.
        operators: The operator class of its first key.
        keys: Its keys: columns and expressions, as the database writes them.
    """

    method: str
    operators: str
    keys: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class WantedIndex:
    """An index that queries use.

    Attributes:
        name: The name of its claim.
        serves: What is slow without it.
        table: The name of its table.
        keys: Its columns; queries need the first one.
        is_lower: Whether its key is the column in lower case.
        is_trigram: Whether it is one for parts of texts.
    """

    name: str
    serves: str
    table: str
    keys: tuple[str, ...]
    is_lower: bool = False
    is_trigram: bool = False

    def is_served_by(self, index: Index) -> bool:
        """Return whether queries can use an index in its place."""
        if self.is_trigram != (index.operators in _TRIGRAM_CLASSES):
            return False
        if not self.is_trigram and index.method not in {"btree", "hash"}:
            return False
        column, key = self.keys[0], index.keys[0].replace('"', "")
        if self.is_lower:
            return key in {f"lower({column})", f"lower({column}::text)"}
        return key in {column, f"({column}::text)"}

    @property
    def statement(self) -> str:
        """The statement that makes it."""
        keys = ", ".join(map(identifier, self.keys))
        table = identifier(self.table)
        if self.is_trigram:
            return filled("check/missing_trigrams", table=table, keys=keys)
        return filled("check/missing_index", table=table, keys=f"lower({keys})" if self.is_lower else keys)


def wanted_indexes(settings: PostgresSettings, evidence: EvidenceTable | None) -> Iterator[WantedIndex]:
    """Yield the indexes that the queries over some tables use.

    Args:
        settings: The tables.
        evidence: The table of evidence; None if there is none.
    """
    nodes, edges = settings.nodes, settings.edges
    out, into = (edges.subject, edges.predicate, edges.object), (edges.object, edges.predicate, edges.subject)
    yield WantedIndex("index_outgoing", "Outgoing edges", edges.table, out)
    yield WantedIndex("index_incoming", "Incoming edges", edges.table, into)
    yield WantedIndex("index_nodes", "Nodes by ID", nodes.table, (nodes.id,))
    if nodes.type:
        yield WantedIndex("index_types", "Nodes of a type", nodes.table, (nodes.type,))
    if nodes.name:
        yield WantedIndex("index_names", "Nodes by name", nodes.table, (nodes.name,), is_lower=True)
        yield WantedIndex("index_parts", "Searches", nodes.table, (nodes.name,), is_trigram=True)
    if evidence is not None:
        yield WantedIndex("index_evidence", "Evidence", evidence.table, (evidence.key or evidence.edge,))
