"""Copies a graph into tables of a database: all of it, or nothing."""

from __future__ import annotations

import json
import uuid
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from typing import Any, Final, TypeVar

import pyoxigraph

from gateway.databases.iri_mapping import IriMapping
from gateway.databases.json_encoding import JsonEncoder
from gateway.databases.json_values import TYPES
from gateway.errors import BrokenAnswer
from gateway.graph.call import Call
from gateway.graph.deadline import Deadline
from gateway.graph.store import GraphStore
from gateway.graph.values import Description, Edge, EdgeSelection, Evidence, Iri, Marked, NodeFacts
from gateway.postgres.new_tables import NewTables
from gateway.postgres.tables import mappings
from gateway.settings.vocabulary import RoleSettings
from gateway.terms.known_iris import EVIDENCE_MARKERS
from gateway.terms.literals import Literal

_Answer = TypeVar("_Answer", bound=Marked)

_BATCH = 1_000
"""Nodes that are read and written at once."""

_BATCH_SECONDS = 600.0
_UNBOUNDED = 1 << 40
"""Time for reading a batch; requests, rows and nodes of it are not limited."""

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
        tables: The tables, which are not there yet, or are replaced.
        roles: The predicates of names and synonyms.
        on_loaded: Called after each batch.
        prefixes: Those under which the tables will be read: an IRI that looks as a CURIE of them is written otherwise.
    """

    store: GraphStore
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

    async def load(self, nodes: Iterable[Iri], *, replace: bool = False) -> Loaded:
        """Write the nodes of the graph, their outgoing edges and what is stated about these, in one transaction.

        Args:
            nodes: The nodes of the graph.
            replace: Whether tables of these names are removed first, in the same transaction.

        Raises:
            Fault: Something could not be read or written; then nothing is changed.
            ConfigurationError: The tables are there already, or cannot be made there.
        """
        async with self.tables.made(replace=replace) as connection:
            loaded = await self._copy(connection, iter(nodes))
            await self.tables.index(connection)
        return loaded

    async def _copy(self, connection: Any, nodes: Iterator[Iri]) -> Loaded:
        loaded = Loaded()
        while batch := list(islice(nodes, _BATCH)):
            entities = await self._entities(batch, loaded)
            edges, statements = await self._edges(batch, loaded)
            names = self.tables.names
            await _copied(connection, names.nodes.table, _ENTITY, entities)
            await _copied(connection, names.edges.table, _RELATIONSHIP, edges)
            await _copied(connection, names.evidence.table, _EVIDENCE, statements)
            loaded.nodes += len(entities)
            loaded.edges += len(edges)
            loaded.statements += len(statements)
            await self.on_loaded(loaded.nodes)
        return loaded

    async def _entities(self, batch: Sequence[Iri], loaded: Loaded) -> list[tuple[object, ...]]:
        facts = await self.store.nodes(batch, _allowance(), names=True)
        described = await self.store.node_metadata(batch, _allowance(), blank_nodes=True)
        loaded.unsendable += sum(facts[node].left_out + described[node].left_out for node in batch)
        return [self._entity(node, _whole(facts[node]), _whole(described[node])) for node in batch]

    def _entity(self, node: Iri, facts: NodeFacts, described: Description) -> tuple[object, ...]:
        properties = self._json.properties(described.properties)
        ids, terms = self._mappings
        types = [*map(terms.text, facts.types)]
        if types[1:]:
            properties[TYPES] = types[1:]
        names = (
            value.value
            for predicate in (*self.roles.name, *self.roles.synonym)
            for value in described.properties.get(predicate, ())
            if isinstance(value, Literal)
        )
        synonyms = [name for name in dict.fromkeys(names) if name != facts.name]
        return (
            ids.text(node),
            next(iter(types), None),
            facts.name or None,
            _json(synonyms),
            _json(properties),
        )

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
        return rows, [row for edge in edges for row in self._statements(keys[edge], _whole(stated[edge]))]

    def _statements(self, edge: uuid.UUID, evidence: Evidence) -> list[tuple[object, ...]]:
        return [(edge, _json(self._json.assertion(assertion))) for assertion in evidence.assertions]


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
