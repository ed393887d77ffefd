"""What a check of a database reports, and the check of PostgreSQL."""

from __future__ import annotations

from collections.abc import Awaitable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final, Self

from gateway.check.probes import SECONDS_EACH
from gateway.check.report import Claim, not_determined, share_of_blank_nodes
from gateway.databases.client import Row
from gateway.databases.terms import IriMapping
from gateway.errors import Fault, quoted
from gateway.graph.call import Deadline
from gateway.postgres.connection import Address, Pool
from gateway.postgres.sql import filled, identifier, load
from gateway.postgres.tables import (
    Columns,
    Index,
    Tables,
    WantedIndex,
    evidence_table,
    mappings,
    names_of_tables,
    tables_of,
    wanted_indexes,
)
from gateway.settings.databases import PostgresSettings
from gateway.terms.iri import BLANK_NODE
from gateway.terms.prefixes import PrefixMap, is_scheme

BEGINNINGS_OF = 100_000
"""Texts whose beginnings are looked at."""

_SHOWN = 8
"""Beginnings that the report names."""


@dataclass(frozen=True, slots=True)
class DatabaseReport:
    """The result of checking a database.

    Attributes:
        system: The name of its program.
        made_of: What the graph is made of there.
        place: What was checked: host, port and name of the database.
        claims: Its properties by name, in their order.
        warnings: Warnings for the operator.
        statements: Statements that make the indexes that are missing, for the operator to run.
    """

    system: str
    made_of: str
    place: str
    claims: Mapping[str, Claim]
    warnings: tuple[str, ...]
    statements: tuple[str, ...]

    def as_json(self) -> dict[str, Any]:
        """Return the report as JSON."""
        return {
            "checked": self.place,
            "reachable": True,
            **{name: claim.as_json() for name, claim in self.claims.items()},
            "warnings": list(self.warnings),
            "statements": list(self.statements),
        }


@dataclass(frozen=True, slots=True)
class Beginnings:
    """How texts begin, and what they are read as.

    Args:
        what: What the texts are.
        mapping: Reads them.
        rows: A beginning up to a colon, or None for all texts without one; how many have it; and one of them.
        why: Why they were not looked at in time; empty if they were.
    """

    what: str
    mapping: IriMapping
    rows: Sequence[Row] = ()
    why: str = ""

    @classmethod
    async def found(cls, what: str, mapping: IriMapping, asked: Awaitable[Sequence[Row]]) -> Self:
        """Return how texts begin, as far as that is answered in time."""
        try:
            return cls(what, mapping, await asked)
        except Fault as fault:
            return cls(what, mapping, why=f"{fault.wrong} They were looked at for {SECONDS_EACH:g} s at most.")

    def claim(self) -> Claim:
        """Return what they are read as."""
        if self.why:
            return not_determined(self.why)
        kinds = dict.fromkeys(kind for kind, *_ in self._read())
        shown = [
            f"{beginning or 'others'} {count:,}, such as {quoted(iri)}"
            for _, beginning, count, iri in islice(self._read(), _SHOWN)
        ]
        more = f", and {len(self.rows) - _SHOWN} more" if len(self.rows) > _SHOWN else ""
        return Claim(", ".join(kinds) or "none", f"of {BEGINNINGS_OF:,} at most: {'; '.join(shown)}{more}")

    def warnings(self) -> Iterator[str]:
        """Yield which of them may be prefixes that nobody declared."""
        names = [
            beginning
            for kind, beginning, _, iri in self._read()
            if kind == "IRIs" and beginning and not is_scheme(beginning[:-1]) and not iri.startswith(f"{beginning}//")
        ]
        if names:
            more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
            yield (
                f"Some {self.what} begin with {', '.join(names[:_SHOWN])}{more}, which no prefix declares: they are "
                "read as whole IRIs. Where it is a prefix, declare it in [prefixes] of the profile."
            )

    def _read(self) -> Iterator[tuple[str, str, int, str]]:
        """Yield what texts with a beginning are read as, the beginning, their number, and the IRI of one of them."""
        for beginning, count, text in self.rows:
            iri = self.mapping.iri(text)
            if iri in {text, text[1:-1]}:
                kind = "IRIs"
            else:
                namespace = self.mapping.namespace(text)
                kind = "CURIEs" if namespace is not None and iri.startswith(namespace) else "encoded texts"
            yield kind, f"{beginning}:" if beginning else "", count, iri


_ROWS = 2_000
"""Columns or indexes of a table that are read."""

_COUNTED = 1_000_000
"""Rows that are counted at most."""

_COLUMNS_SHOWN = 20
"""Columns that the report names."""

_KINDS: Final = {"r": "a table", "p": "a partitioned table", "v": "a view", "m": "a materialized view"}
"""Relations by `pg_class.relkind`; any other one is a foreign table or no table."""

_WITH_INDEXES = frozenset({"r", "p", "m"})


class PostgresCheck:
    """The check of one database.

    Args:
        address: The database.
        settings: Its tables.
        prefixes: Those under which its texts are read.
    """

    def __init__(self, address: Address, settings: PostgresSettings, prefixes: Mapping[str, str]) -> None:
        self._place = f"{address.host}:{address.port}/{address.database}"
        self._pool = Pool(address, 1)
        self._settings = settings
        self._prefixes = prefixes

    async def report(self) -> DatabaseReport:
        """Return what was found.

        Raises:
            Fault: The database cannot be reached, or does not let this user in.
            ConfigurationError: A table or column that the profile names is not there.
        """
        try:
            server = await self._server()
            found = {name: await self._columns(name) for name in names_of_tables(self._settings)}
            # Raises what is wrong with them.
            tables_of(self._settings, found)
            evidence = evidence_table(self._settings, found)
            relations = {"nodes": self._settings.nodes.table, "edges": self._settings.edges.table}
            if evidence is not None:
                relations["evidence"] = evidence.table
            tables = [await self._relation(role, name, found[name]) for role, name in relations.items()]
            beginnings = await self._beginnings()
            blank_nodes = await self._blank_nodes(tables_of(self._settings, found))
            kinds = {table.name: table.kind for table in tables}
            indexes = {
                index: await self._index(index, kinds[index.table])
                for index in wanted_indexes(self._settings, evidence)
                # A column that is the default may be absent.
                if index.keys[0] in found[index.table]
            }
        finally:
            await self._pool.close()
        claims = {**server, **{name: claim for table in tables for name, claim in table.claims.items()}}
        claims.update({name: found.claim() for name, found in beginnings.items()})
        claims["blank_nodes"] = blank_nodes
        claims.update({index.name: claim for index, claim in indexes.items()})
        lacking = [index for index, claim in indexes.items() if claim.value is False]
        statements = tuple(index.statement for index in lacking)
        warnings = [*_warnings(tables, lacking), *(text for found in beginnings.values() for text in found.warnings())]
        return DatabaseReport("PostgreSQL", "tables", self._place, claims, tuple(warnings), statements)

    async def _beginnings(self) -> dict[str, Beginnings]:
        ids, terms = mappings(self._settings, self._prefixes)
        nodes, edges = self._settings.nodes, self._settings.edges
        found: dict[str, Beginnings] = {}
        for name, what, table, column, mapping in (
            ("ids_read_as", "IDs", nodes.table, nodes.id, ids),
            ("predicates_read_as", "predicates", edges.table, edges.predicate, terms),
        ):
            query = filled("check/beginnings", table=identifier(table), column=identifier(column))
            found[name] = await Beginnings.found(what, mapping, self._rows(query, BEGINNINGS_OF))
        return found

    async def _blank_nodes(self, tables: Tables) -> Claim:
        """Return what share of the edges has a blank node at an end: those that `load` made nodes, or left out."""
        edges = self._settings.edges
        names = {name: identifier(getattr(edges, name)) for name in ("table", "subject", "object")}
        try:
            ((total, blank),) = await self._rows(filled("check/blank_edges", **names), BLANK_NODE, _COUNTED)
            types = await self._rows(tables.query("check/blank_types"), BLANK_NODE, _COUNTED)
            left = await self._rows(tables.query("left_out_terms"), [], None, None) if tables.left_out else []
        except Fault as fault:
            return not_determined(f"{fault.wrong} They were looked for {SECONDS_EACH:g} s at most.")
        _, terms = mappings(self._settings, self._prefixes)
        left_out = sum(count for kind, _, _, count in left if kind == "predicate")
        typed = [*types, *((entity_type, count) for kind, _, entity_type, count in left if kind == "type")]
        return share_of_blank_nodes(
            blank + left_out,
            total + left_out,
            [(terms.iri(text), count) for text, count in typed],
            PrefixMap(self._prefixes),
            is_bound=total >= _COUNTED,
            left_out=left_out,
        )

    async def _rows(self, query: str, *arguments: object) -> Sequence[Row]:
        return await self._pool.fetch(query, [*arguments, _ROWS], Deadline.after(SECONDS_EACH))

    async def _columns(self, table: str) -> Columns:
        return {str(name): str(kind) for _, name, kind in await self._rows(load("columns"), [identifier(table)])}

    async def _server(self) -> dict[str, Claim]:
        """Return what is known of the server; the first query, so that it raises what keeps this user out."""
        ((version, is_replica, milliseconds, has_trigrams, may_have_trigrams),) = await self._rows(load("check/server"))
        available = "it is there to be created" if may_have_trigrams else "the server does not have it installed"
        return {
            "version": Claim(str(version), "server_version"),
            "replica": Claim(bool(is_replica), "pg_is_in_recovery()"),
            "time_limit": Claim(
                f"{milliseconds / 1000:g} s" if milliseconds else "none",
                "statement_timeout of this user; the gateway sets a shorter one for each call",
            ),
            "trigrams": Claim(bool(has_trigrams), f"pg_trgm in pg_extension{'' if has_trigrams else f'; {available}'}"),
        }

    async def _relation(self, role: str, name: str, columns: Columns) -> _Relation:
        ((kind, may_write),) = await self._rows(load("check/table"), identifier(name))
        more = f" and {len(columns) - _COLUMNS_SHOWN} more" if len(columns) > _COLUMNS_SHOWN else ""
        what = f"{_KINDS.get(kind, 'another relation')} with {', '.join(list(columns)[:_COLUMNS_SHOWN])}{more}"
        claims = {role: Claim(name, what), f"{role}_rows": await self._counted(name)}
        return _Relation(name, kind, bool(may_write), claims)

    async def _counted(self, name: str) -> Claim:
        try:
            ((count,),) = await self._rows(filled("check/rows", table=identifier(name)), _COUNTED)
        except Fault as fault:
            return not_determined(f"{fault.wrong} It was counted for {SECONDS_EACH:g} s at most.")
        return Claim(int(count), f"counted, up to {_COUNTED:,}", at_least=count == _COUNTED)

    async def _index(self, wanted: WantedIndex, kind: str) -> Claim:
        if kind not in _WITH_INDEXES:
            return not_determined(f"{wanted.table} is no table: the tables below it have the indexes")
        rows = await self._rows(load("check/indexes"), identifier(wanted.table))
        there = [Index(method, operators, tuple(keys)) for method, operators, keys in rows]
        found = next(filter(wanted.is_served_by, there), None)
        if found is None:
            return Claim(False, f"none of the {len(there)} indexes of {wanted.table} begins with {wanted.keys[0]}")
        return Claim(True, f"{found.method} ({', '.join(found.keys)})")


@dataclass(frozen=True, slots=True)
class _Relation:
    """What is known of a table or view.

    Attributes:
        name: Its name.
        kind: Its `pg_class.relkind`.
        may_write: Whether this user may change its rows.
        claims: The claims.
    """

    name: str
    kind: str
    may_write: bool
    claims: Mapping[str, Claim]


def _warnings(tables: Sequence[_Relation], lacking: Sequence[WantedIndex]) -> Iterator[str]:
    if writable := [table.name for table in tables if table.may_write]:
        yield f"This user may change the rows of {', '.join(writable)}: give one who may only read."
    for index in lacking:
        yield f"{index.serves}: no index on {index.table} serves them, so each such query reads the whole table."
    for table in tables:
        if any(claim.value == 0 for name, claim in table.claims.items() if name in {"nodes_rows", "edges_rows"}):
            yield f"{table.name} is empty."
