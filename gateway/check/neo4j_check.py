"""Checks a database of Neo4j that holds a graph: what is there, and which index is missing. It only reads."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import cast

from gateway.check.databases import BEGINNINGS_OF, Beginnings, DatabaseReport
from gateway.check.probes import SECONDS_EACH
from gateway.check.report import Claim, not_determined
from gateway.databases.client import Row
from gateway.databases.terms import IriMapping
from gateway.errors import Fault, quoted
from gateway.graph.call import Deadline
from gateway.neo4j.connection import Address, DriverPool
from gateway.neo4j.cypher import filled, identifier, identifiers
from gateway.neo4j.store import (
    MOST_INDEXES,
    MOST_LABELS,
    SAMPLED_NODES,
    SAMPLED_TEXTS,
    FullTextIndex,
    GraphModel,
    are_found,
    best_index,
    found_among,
    not_names,
)
from gateway.settings.databases import Neo4jSettings
from gateway.terms.iri import NEOSEMANTICS_BLANK

_ROWS = 2_000
"""Indexes that are read."""

_COUNTED = 1_000_000
"""Nodes, and relationships, that are counted at most."""

_SHOWN = 20
"""Labels that the report names."""

_SERVING = frozenset({"RANGE", "TEXT"})
"""Kinds of indexes by which Neo4j finds a text."""


class Neo4jCheck:
    """The check of one database.

    Args:
        address: The database.
        settings: What the graph is made of.
        prefixes: Those under which its texts are read.
    """

    def __init__(self, address: Address, settings: Neo4jSettings, prefixes: Mapping[str, str]) -> None:
        self._place = f"{address.url.partition('://')[2]}/{address.database or ''}".rstrip("/")
        self._pool = DriverPool(address, 1)
        self._settings = settings
        self._ids = IriMapping(settings.base, prefixes)

    async def report(self) -> DatabaseReport:
        """Return what was found.

        Raises:
            Fault: The database cannot be reached, or does not let this user in.
            ConfigurationError: It has no labels, or one whose name cannot stand in a query.
        """
        try:
            server = await self._server()
            labels = self._settings.nodes.labels or await self._labels()
            model = await self._model(labels)
            nodes = await self._nodes(model)
            query = model.query("check/beginnings")
            beginnings = await Beginnings.found("IDs", self._ids, self._rows(query, BEGINNINGS_OF, _ROWS))
            edges = await self._edges(model)
            lacking = await self._without_index(labels)
            names = await self._index_of_names(model)
        finally:
            await self._pool.close()
        claims = {**server, "labels": _named(labels), **nodes.claims(self._settings.nodes.id)}
        claims["ids_read_as"] = beginnings.claim()
        claims["blank_nodes"] = blank_nodes = _blank_nodes(beginnings)
        claims["edges_rows"] = edges
        claims["names"] = _names_claim(model)
        claims["index_nodes"] = _index_claim(labels, lacking, self._settings.nodes.id)
        claims["index_names"] = names.claim()
        warnings = [*_label_warnings(labels), *nodes.warnings(self._settings.nodes.id), *_index_warnings(lacking)]
        warnings += [*names.warnings(), *beginnings.warnings()]
        warnings += [_OF_BLANK_NODES] if blank_nodes.value else []
        if edges.value == 0:
            warnings.append("No relationship between nodes that are read: the graph has no edges.")
        statements = [self._statement(label, is_unique=nodes.are_unique) for label in lacking]
        if names.is_missing:
            statements.append(self._full_text_statement(model))
        return DatabaseReport(
            "Neo4j", "nodes and relationships", self._place, claims, tuple(warnings), tuple(statements)
        )

    async def _rows(self, query: str, *arguments: object) -> Sequence[Row]:
        return await self._pool.fetch(query, arguments, Deadline.after(SECONDS_EACH))

    async def _server(self) -> dict[str, Claim]:
        """Return what is known of the server; the first query, so that it raises what keeps this user out."""
        ((version, edition),) = await self._rows(filled("check/server"), 1)
        try:
            limits = [str(value) for (value,) in await self._rows(filled("check/time_limit"), 1)]
        except Fault as fault:
            limit = not_determined(fault.wrong)
        else:
            why = "db.transaction.timeout; the gateway sets a shorter one for each query"
            limit = Claim(limits[0] if limits and limits[0] != "0s" else "none", why)
        return {"version": Claim(f"{version} {edition}", "dbms.components()"), "time_limit": limit}

    async def _labels(self) -> list[str]:
        rows = await self._rows(filled("labels"), MOST_LABELS + 1)
        return sorted(str(label) for (label,) in rows)

    async def _model(self, labels: Sequence[str]) -> GraphModel:
        """Return what the graph is made of, with the properties that are called names."""
        model, nodes = GraphModel(self._settings, labels), self._settings.nodes
        if not are_found(nodes):
            return model
        try:
            rows = await self._rows(model.query("sampled_texts"), not_names(nodes), SAMPLED_NODES, SAMPLED_TEXTS)
        except Fault:
            return model
        return replace(model, found=found_among(nodes, rows))

    async def _nodes(self, model: GraphModel) -> _Nodes:
        try:
            rows = await self._rows(model.query("check/nodes"), _COUNTED, 1)
        except Fault as fault:
            return _Nodes(why=f"{fault.wrong} They were counted for {SECONDS_EACH:g} s at most.")
        found, with_id, texts, distinct = cast("Sequence[int]", rows[0])
        return _Nodes(found, with_id, texts, distinct)

    async def _edges(self, model: GraphModel) -> Claim:
        try:
            ((count,),) = await self._rows(model.query("check/edges"), _COUNTED, 1)
        except Fault as fault:
            return not_determined(f"{fault.wrong} They were counted for {SECONDS_EACH:g} s at most.")
        found = cast("int", count)
        return Claim(found, f"relationships, counted up to {_COUNTED:,}", at_least=found == _COUNTED)

    async def _without_index(self, labels: Sequence[str]) -> list[str]:
        """Return the labels without an index that finds a node by its ID."""
        rows = await self._rows(filled("check/indexes"), _ROWS)
        served = {
            label
            for kind, state, of, properties in rows
            if kind in _SERVING and state == "ONLINE" and properties == [self._settings.nodes.id]
            for label in cast("Sequence[str]", of)
        }
        return [label for label in labels if label not in served]

    async def _index_of_names(self, model: GraphModel) -> _IndexOfNames:
        ((nodes,),) = await self._rows(filled("node_count"), 1)
        rows = await self._rows(filled("full_text_indexes"), MOST_INDEXES)
        # A graph without names has nothing to index.
        is_large = bool(model.names.all) and (cast("int", nodes) > self._settings.nodes.full_text_above)
        return _IndexOfNames(best_index(rows, model.labels, model.names.all), is_large=is_large)

    def _full_text_statement(self, model: GraphModel) -> str:
        properties = ", ".join(f"n.{identifier(name)}" for name in model.names.all)
        return filled("check/missing_full_text_index", labels=identifiers(model.labels, "|"), properties=properties)

    def _statement(self, label: str, *, is_unique: bool) -> str:
        """Return the statement that makes a missing index; the IDs of a constraint must be unique."""
        name = "check/missing_constraint" if is_unique else "check/missing_index"
        return filled(name, label=identifier(label), id=identifier(self._settings.nodes.id))


@dataclass(frozen=True, slots=True)
class _IndexOfNames:
    """The full-text index of names.

    Attributes:
        found: The one that has the most of them; None if none has any.
        is_large: Whether there are names, and so many nodes that a search asks it.
    """

    found: FullTextIndex | None
    is_large: bool

    @property
    def is_missing(self) -> bool:
        return self.is_large and self.found is None

    def claim(self) -> Claim:
        if self.found is None:
            return Claim(False, "no full-text index has a property with names")
        where = "asked by a search" if self.is_large else "not asked: neo4j.nodes.full_text_above has more nodes"
        which = "all" if self.found.has_all else "some of the"
        return Claim(self.found.has_all, f"{quoted(self.found.name)}, of {which} labels and names; {where}")

    def warnings(self) -> Iterator[str]:
        if self.is_missing:
            yield "Names: no full-text index has them, so each search compares the names of all nodes."
        elif self.is_large and self.found is not None and not self.found.has_all:
            name = quoted(self.found.name)
            yield f"Names: the full-text index {name} is not of all labels and all properties with names."


@dataclass(frozen=True, slots=True)
class _Nodes:
    """The nodes with a label that is read.

    Attributes:
        found: How many there are, up to a bound.
        with_id: How many of them have an ID.
        texts: How many of them have a text as their ID.
        distinct: How many different texts these are.
        why: Why they were not counted; empty if they were.
    """

    found: int = 0
    with_id: int = 0
    texts: int = 0
    distinct: int = 0
    why: str = ""

    @property
    def shared(self) -> int:
        """How many nodes have the ID of another one."""
        return self.texts - self.distinct

    @property
    def are_unique(self) -> bool:
        """Whether it is known that no two nodes have one ID."""
        return not self.why and self.found < _COUNTED and not self.shared

    def claims(self, name: str) -> dict[str, Claim]:
        """Return them as claims; `name` is that of the ID."""
        if self.why:
            return dict.fromkeys(("nodes_rows", "ids"), not_determined(self.why))
        is_bound = self.found == _COUNTED
        return {
            "nodes_rows": Claim(self.found, f"nodes with a label, counted up to {_COUNTED:,}", at_least=is_bound),
            "ids": Claim(self.distinct, f"different texts in the property {name} of these nodes", at_least=is_bound),
        }

    def warnings(self, name: str) -> Iterator[str]:
        if self.why:
            return
        if not self.texts:
            yield f"No node has a text in the property {quoted(name)}: name the ID as neo4j.nodes.id in the profile."
        elif self.texts < self.found:
            yield (
                f"{self.found - self.texts:,} of {self.found:,} nodes have no text in the property {quoted(name)} "
                f"({self.found - self.with_id:,} have nothing in it): these and their edges are not in the graph."
            )
        if self.shared:
            yield f"{self.shared:,} nodes have the ID of another node: nodes with one ID are read as one node."


_OF_BLANK_NODES = (
    "Nodes whose ID begins with bnode:// are those that neosemantics made of blank nodes: their IDs mean other nodes, "
    "or nothing, once the database is loaded anew."
)


def _blank_nodes(beginnings: Beginnings) -> Claim:
    """Return how many nodes neosemantics made of blank nodes."""
    if beginnings.why:
        return beginnings.claim()
    looked_at = sum(count for _, count, _ in beginnings.rows)
    made = sum(count for beginning, count, _ in beginnings.rows if beginning == NEOSEMANTICS_BLANK.partition(":")[0])
    return Claim(
        made,
        f"of {looked_at:,} IDs that were looked at, so many begin with {NEOSEMANTICS_BLANK}, as neosemantics has it",
    )


def _named(labels: Sequence[str]) -> Claim:
    more = f" and {len(labels) - _SHOWN} more" if len(labels) > _SHOWN else ""
    return Claim(len(labels), f"{', '.join(labels[:_SHOWN])}{more}", at_least=len(labels) > MOST_LABELS)


def _names_claim(model: GraphModel) -> Claim:
    further = f"; further names: {', '.join(model.names.synonyms)}" if model.names.synonyms else ""
    how = "of a sample of nodes; neo4j.nodes.names sets them" if model.found else "as the profile says"
    return Claim(", ".join(model.names.names) or "none", f"the properties of display names, {how}{further}")


def _label_warnings(labels: Sequence[str]) -> Iterator[str]:
    if len(labels) > MOST_LABELS:
        yield f"The database has more than {MOST_LABELS} labels: name those of the graph as neo4j.nodes.labels."


def _index_claim(labels: Sequence[str], lacking: Sequence[str], name: str) -> Claim:
    """Return whether every label has an index on the ID."""
    if not lacking:
        return Claim(True, f"on {name}, for each label")
    return Claim(False, f"on {name}: {len(lacking)} of {len(labels)} labels have none that is online")


def _index_warnings(lacking: Sequence[str]) -> Iterator[str]:
    if lacking:
        names = ", ".join(lacking[:_SHOWN])
        yield f"Nodes by ID: no index serves {names}, so each question reads all nodes of such a label."
