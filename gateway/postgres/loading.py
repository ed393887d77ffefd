"""Graph files loaded into tables of PostgreSQL."""

from __future__ import annotations

import json
import logging
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from typing import Any, Final, TypeVar

import asyncpg
import pyoxigraph

from gateway.databases.terms import TYPES, IriMapping, JsonEncoder
from gateway.errors import BrokenAnswer, ConfigurationError, EndpointFault, GatewayError
from gateway.graph.call import Call, Deadline
from gateway.graph.store import GraphStore
from gateway.graph.values import Description, Edge, EdgeSelection, Iri, Marked, NodeFacts
from gateway.postgres.connection import Address, connected, fault_of
from gateway.postgres.sql import filled, identifier
from gateway.postgres.tables import LEFT_OUT_COLUMNS, BlankEnds, StatedEdges, left_out_table, mappings
from gateway.settings.databases import PostgresSettings
from gateway.settings.vocabulary import RoleSettings
from gateway.terms.iri import EVIDENCE_MARKERS, LOCAL_NAME, is_walk, local_name
from gateway.terms.literals import Literal
from gateway.terms.name_predicates import is_code, joined_name
from gateway.terms.names import one_line

_KNOWN: Final = {
    "42P07": (
        ConfigurationError,
        "The database has tables of these names already.",
        "A graph is loaded into new tables, or with --replace in place of those that are there.",
        "Name other tables in the section [postgres] of the profile, or give --replace.",
    ),
    "3F000": (
        ConfigurationError,
        "The database has no such schema.",
        "The schema that the profile names before a table must be there.",
        "Make it: CREATE SCHEMA.",
    ),
    "42501": (
        ConfigurationError,
        "The user may not make tables there.",
        "A load needs a user with the right CREATE on the schema, and with --replace the owner of the tables.",
        "Give that user with --user; serve the graph as one who may only read.",
    ),
    "25006": (
        ConfigurationError,
        "The database takes no changes.",
        "It is a read replica, or its default_transaction_read_only is on.",
        "Give the URL of the primary.",
    ),
    "2BP01": (
        ConfigurationError,
        "The tables cannot be replaced, because views or other objects depend on them.",
        "A load into other tables needs no replacement.",
        "Name other tables in the section [postgres] of the profile.",
    ),
    "55P03": (
        EndpointFault,
        "The tables are in use, so they could not be replaced in time.",
        "They can be when no query reads them.",
        "Try again, or load into other tables.",
    ),
    "54000": (
        EndpointFault,
        "An ID or a name is too long for an index.",
        "PostgreSQL indexes about 2,700 bytes of one row.",
        "Shorten or leave out the long names and IRIs of the graph.",
    ),
    "53100": (
        EndpointFault,
        "The disk of the database is full.",
        "Tables and indexes take a few times the size of the graph as N-Triples.",
        "Make room, and load again.",
    ),
}
"""The kind and the parts of an error by SQLSTATE (PostgreSQL's documentation, appendix A)."""

_NUL: Final = frozenset({"22021", "22P05"})
"""SQLSTATEs of a text that a column cannot hold."""


def loading_fault_of(error: Exception, deadline: Deadline) -> GatewayError:
    """Return the error of the command that an error of the database means.

    Args:
        error: An `OSError`, or an error of asyncpg.
        deadline: Of the load.
    """
    state = getattr(error, "sqlstate", None)
    if state in _NUL:
        return EndpointFault(
            "A text of the graph has a character that PostgreSQL cannot hold, such as U+0000.",
            valid="All other characters of Unicode can be in a text.",
            next_step="Correct the graph.",
        )
    if isinstance(error, asyncpg.PostgresError) and state in _KNOWN:
        kind, wrong, valid, next_step = _KNOWN[state]
        return kind(f"{wrong} (SQLSTATE {state})", valid=valid, next_step=next_step)
    return fault_of(error, deadline)


_log = logging.getLogger(__name__)

_UNBOUNDED = 1 << 40
"""Seconds: a load takes as long as it takes."""


class _UndoneError(Exception):
    """Ends a transaction that was only tried."""


@dataclass(frozen=True, slots=True)
class NewTables:
    """The tables that a graph is loaded into.

    Attributes:
        address: The database; its user may create tables.
        names: The names of the tables.
    """

    address: Address
    names: PostgresSettings

    @asynccontextmanager
    async def made(self, *, replace: bool = False) -> AsyncIterator[Any]:
        """Begin a transaction and make the tables; the block may write to them, and what it raises undoes all.

        Args:
            replace: Whether tables of these names are removed first.

        Raises:
            Fault: The database could not be asked; then nothing is changed.
            ConfigurationError: The tables are there already, or cannot be made there.
        """
        try:
            async with connected(self.address) as connection, connection.transaction():
                if replace:
                    await connection.execute(self._sql("drop"))
                await connection.execute(self._sql("create"))
                yield connection
        except (OSError, asyncpg.PostgresError, asyncpg.InterfaceError, asyncpg.InternalClientError) as error:
            # Its text may hold data of the graph.
            raise loading_fault_of(error, Deadline.after(_UNBOUNDED)) from None

    async def check(self, *, replace: bool = False) -> None:
        """Find at once what would refuse the tables: make them, and undo it; see `made`."""
        with suppress(_UndoneError):
            async with self.made(replace=replace):
                raise _UndoneError

    async def finish_left_out(self, connection: Any, *, is_empty: bool) -> None:
        """Index the table of what is left out, or remove it where that is nothing."""
        await connection.execute(self._sql("drop_left_out" if is_empty else "index_left_out"))

    async def index(self, connection: Any) -> None:
        """Make the indexes, and the one for parts of names if the database has the extension for it."""
        await connection.execute(self._sql("index"))
        try:
            async with connection.transaction():
                await connection.execute(self._sql("trigrams"))
        except asyncpg.PostgresError as error:
            _log.warning("no trigram index was made (SQLSTATE %s): searches compare all names", error.sqlstate)

    def _sql(self, name: str) -> str:
        names = self.names
        return filled(
            f"load/{name}",
            nodes=identifier(names.nodes.table),
            edges=identifier(names.edges.table),
            evidence=identifier(names.evidence.table),
            left_out=identifier(left_out_table(names)),
        )


_Answer = TypeVar("_Answer", bound=Marked)

_BATCH = 1_000
"""Nodes that are read and written at once."""

_BATCH_SECONDS = 600.0

_EDGE_IDS: Final = uuid.UUID("5d0c5d2e-3a0f-5a2b-9b63-6f6c2b0c8a11")
"""The namespace of the IDs of edges (RFC 9562, section 5.5), so that the same graph has the same ones."""

OnLoaded = Callable[[int], Awaitable[None]]
"""Receives how many nodes were written so far."""


async def report_nothing(_: int) -> None:
    """Be an `OnLoaded` that reports nothing."""


@dataclass(slots=True)
class Loaded:
    """What was written, and what was left out.

    Attributes:
        nodes: Nodes.
        edges: Edges.
        statements: Statements about edges.
        blank_edges: Edges left out because an end has no IRI.
        unsendable: Types, edges, predicates and values left out because an IRI is none, or is too long for an ID.
    """

    nodes: int = 0
    edges: int = 0
    statements: int = 0
    blank_edges: int = 0
    unsendable: int = 0


def nodes_of(graph: Iterable[pyoxigraph.Quad]) -> list[Iri]:
    """Return the nodes of a graph in this process that get a row: all, except those that are evidence."""
    found: dict[Iri, None] = {}
    evidence: set[Iri] = set()
    for quad in graph:
        for term in (quad.subject, quad.object):
            if isinstance(term, pyoxigraph.NamedNode):
                found[term.value] = None
        if isinstance(quad.subject, pyoxigraph.NamedNode) and quad.predicate.value in EVIDENCE_MARKERS:
            evidence.add(quad.subject.value)
    return [node for node in found if node not in evidence]


@dataclass(frozen=True)
class Loader:
    """Copies a graph.

    Attributes:
        store: The graph.
        stated_edges: Returns its edges, with blank nodes counted by the predicates that lead to them.
        tables: The tables, which are not there yet, or are replaced.
        roles: The predicates of names and synonyms.
        on_loaded: Called after each batch.
        prefixes: Those under which the tables will be read: an IRI that looks as a CURIE of them is written otherwise.
    """

    store: GraphStore
    stated_edges: StatedEdges
    tables: NewTables
    roles: RoleSettings
    on_loaded: OnLoaded = report_nothing
    prefixes: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def _mappings(self) -> tuple[IriMapping, IriMapping]:
        return mappings(self.tables.names, self.prefixes)

    @cached_property
    def _json(self) -> JsonEncoder:
        return JsonEncoder(*self._mappings)

    async def load(self, nodes: Iterable[Iri], blank_ends: BlankEnds, *, replace: bool = False) -> Loaded:
        """Write the nodes of the graph, their outgoing edges and what is stated about these, in one transaction.

        Args:
            nodes: The nodes of the graph.
            blank_ends: Its blank nodes that are no nodes: edges to these are counted in a table of their own.
            replace: Whether tables of these names are removed first, in the same transaction.

        Raises:
            Fault: Something could not be read or written; then nothing is changed.
            ConfigurationError: The tables are there already, or cannot be made there.
        """
        names = await self._predicates_of_names()
        async with self.tables.made(replace=replace) as connection:
            loaded = await self._copy(connection, iter(nodes), names)
            await self._count_left_out(connection, blank_ends)
            await self.tables.index(connection)
        return loaded

    async def _predicates_of_names(self) -> Sequence[Iri]:
        """Return the predicates of names and synonyms that the graph has, the best first."""
        reader = self.store.name_reader()
        if reader is None:
            return (*self.roles.name, *self.roles.synonym)
        await reader.find_predicates(_allowance())
        return [one for one in reader.predicates if one != LOCAL_NAME and not is_code(local_name(one))]

    async def _count_left_out(self, connection: Any, blank_ends: BlankEnds) -> None:
        rows = await blank_ends.rows(self.stated_edges, *self._mappings, _allowance)
        await _copied(connection, left_out_table(self.tables.names), LEFT_OUT_COLUMNS, rows)
        # Without this table, readers ask nothing more.
        await self.tables.finish_left_out(connection, is_empty=not rows)

    async def _copy(self, connection: Any, nodes: Iterator[Iri], names: Sequence[Iri]) -> Loaded:
        loaded = Loaded()
        while batch := list(islice(nodes, _BATCH)):
            entities = await self._entities(batch, names, loaded)
            edges, statements = await self._edges(batch, loaded)
            tables = self.tables.names
            await _copied(connection, tables.nodes.table, _ENTITY, entities)
            await _copied(connection, tables.edges.table, _RELATIONSHIP, edges)
            await _copied(connection, tables.evidence.table, _EVIDENCE, statements)
            loaded.nodes += len(entities)
            loaded.edges += len(edges)
            loaded.statements += len(statements)
            await self.on_loaded(loaded.nodes)
        return loaded

    async def _entities(self, batch: Sequence[Iri], names: Sequence[Iri], loaded: Loaded) -> list[tuple[object, ...]]:
        facts = await self.store.nodes(batch, _allowance(), names=True)
        described = await self.store.node_metadata(batch, _allowance(), blank_nodes=True)
        loaded.unsendable += sum(facts[node].left_out + described[node].left_out for node in batch)
        return [self._entity(node, _whole(facts[node]), _whole(described[node]), names) for node in batch]

    def _entity(
        self, node: Iri, facts: NodeFacts, described: Description, predicates: Sequence[Iri]
    ) -> tuple[object, ...]:
        own = {predicate: values for predicate, values in described.properties.items() if not is_walk(predicate)}
        properties = self._json.properties(own)
        ids, terms = self._mappings
        types = [*map(terms.text, facts.types)]
        if types[1:]:
            properties[TYPES] = types[1:]
        names = (
            one_line(value.value)
            for predicate in predicates
            for value in described.properties.get(predicate, ())
            if isinstance(value, Literal)
        )
        synonyms = [name for name in dict.fromkeys((*names, self._joined(described))) if name and name != facts.name]
        return (
            ids.text(node),
            next(iter(types), None),
            facts.name or None,
            _json(synonyms),
            _json(properties),
        )

    def _joined(self, described: Description) -> str:
        """Return a given and a family name as one, unless the profile says what names are."""
        if "name" in self.roles.model_fields_set:
            return ""
        found = described.properties.items()
        texts = {predicate: [one for one in values if isinstance(one, Literal)] for predicate, values in found}
        return joined_name(texts, ())

    async def _edges(
        self, batch: Sequence[Iri], loaded: Loaded
    ) -> tuple[list[tuple[object, ...]], list[tuple[object, ...]]]:
        outgoing = EdgeSelection(outgoing=None, incoming=())
        around = await self.store.edges(batch, _allowance(), selection=outgoing)
        edges: list[Edge] = []
        for node in batch:
            found = _whole(around[node])
            edges += found.edges
            loaded.blank_edges += found.blank_edges
            loaded.unsendable += len(found.left_out)
        stated = await self.store.edge_metadata(edges, _allowance())
        loaded.unsendable += sum(evidence.left_out for evidence in stated.values())
        ids, terms = self._mappings
        keys = {edge: uuid.uuid5(_EDGE_IDS, " ".join(edge.triple)) for edge in edges}
        rows: list[tuple[object, ...]] = [
            (keys[edge], ids.text(edge.subject), terms.text(edge.predicate), ids.text(edge.object)) for edge in edges
        ]
        return rows, [
            (keys[edge], _json(self._json.assertion(assertion)))
            for edge in edges
            for assertion in _whole(stated[edge]).assertions
        ]


_ENTITY = ("entity_id", "entity_type", "name", "synonyms", "properties")
_RELATIONSHIP = ("id", "subject_id", "predicate", "object_id")
_EVIDENCE = ("relationship_id", "metadata_")
"""The columns that are written; the others of the reference implementation are left empty."""


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def _allowance() -> Call:
    return Call(Deadline.after(_BATCH_SECONDS), _UNBOUNDED, _UNBOUNDED, _UNBOUNDED)


def _whole(answer: _Answer) -> _Answer:
    """Return an answer that is whole.

    Raises:
        Fault: It is not.
    """
    if answer.mark.fault is not None:
        raise answer.mark.fault
    return answer


async def _copied(connection: Any, table: str, columns: Sequence[str], rows: Sequence[tuple[object, ...]]) -> None:
    """Write rows into a table.

    Raises:
        BrokenAnswer: Not all of them arrived.
    """
    schema, _, name = table.rpartition(".")
    tag = await connection.copy_records_to_table(name, schema_name=schema or None, columns=columns, records=rows)
    if tag != f"COPY {len(rows)}":
        raise BrokenAnswer("The database says that it took other rows than were sent, so nothing was loaded.")
