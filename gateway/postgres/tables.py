"""Tables of PostgreSQL as edges and nodes, the indexes they need, and the table of edges that a load leaves out."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Final, Literal, Protocol, TypeAlias

import pyoxigraph

from gateway.databases.terms import IriMapping
from gateway.errors import ConfigurationError, quoted
from gateway.graph.call import Call
from gateway.graph.values import EdgeSelection, Iri, Neighbourhood
from gateway.postgres.sql import filled, identifier, is_identifier
from gateway.settings.databases import EvidenceTable, PostgresSettings
from gateway.settings.section import Section
from gateway.terms.iri import EVIDENCE_MARKERS, is_entity_type, is_sendable

Columns = Mapping[str, str]
"""The columns of a table by name, with their types."""

_NONE = "NULL::text"
_NO_TEXTS = "NULL::jsonb"

_TEXTS = frozenset({"text", "character varying"})
"""Types of columns that are compared with texts without a cast, so that an index on them serves."""

_OBJECTS = frozenset({"json", "jsonb"})
"""Types of columns that hold objects; in a text, an object would be a text as any other."""

_UNEQUAL = " of a nondeterministic collation"
"""The end of the type of a column in which different texts are equal (`columns.sql`)."""

_BUNDLE = ("bundle_evidence", "relationship_key", ("document_id", "section", "text_span", "confidence", "supports"))
"""The other table of evidence that the reference implementation knows: its name, key and columns."""


@dataclass(frozen=True, slots=True)
class Tables:
    """The tables as SQL.

    Attributes:
        nodes: The rows of the table of nodes.
        edges: The rows of the table of edges.
        evidence: The query for rows of evidence; empty if there is no such table.
        by_triple: Whether evidence refers to `subject:predicate:object`, not to the key of an edge.
        left_out: The rows that count edges which were left out; empty if there are none.
    """

    nodes: str
    edges: str
    evidence: str = ""
    by_triple: bool = False
    left_out: str = ""

    def query(self, name: str) -> str:
        """Return a query over these tables."""
        rule = filled("parts/rule")
        return filled(name, nodes=self.nodes, edges=self.edges, left_out=self.left_out, rule=rule)


def mappings(settings: PostgresSettings, prefixes: Mapping[str, str]) -> tuple[IriMapping, IriMapping]:
    """Return the IRIs of the IDs in the tables, and those of types, predicates and names of properties."""
    ids, terms = (IriMapping(base, prefixes, bracketed=True) for base in (settings.base, settings.vocabulary))
    return ids, terms


def names_of_tables(settings: PostgresSettings) -> list[str]:
    """Return the names of the tables that are looked for."""
    evidence = settings.evidence
    wanted = [settings.nodes.table, settings.edges.table, evidence.table]
    left_out = left_out_table(settings)
    further = (left_out,) if is_identifier(left_out) else ()
    return [name for name in (*wanted, *_other_evidence(settings), *further) if name]


def left_out_table(settings: PostgresSettings) -> str:
    """Return the name of the table in which `load` counts the edges that it leaves out."""
    return f"{settings.edges.table}_left_out"


def _left_out(settings: PostgresSettings, found: Mapping[str, Columns]) -> str:
    """Return the rows of this table as SQL; empty where there is none, or another one of its name."""
    name = left_out_table(settings)
    is_ours = set(LEFT_OUT_COLUMNS) <= set(found.get(name, ()))
    return filled("parts/left_out", table=identifier(name)) if is_ours else ""


def _other_evidence(settings: PostgresSettings) -> tuple[str, ...]:
    return () if "evidence" in settings.model_fields_set else (_BUNDLE[0],)


def tables_of(settings: PostgresSettings, found: Mapping[str, Columns]) -> Tables:
    """Return the tables that a profile names.

    Args:
        settings: The section of the profile.
        found: The columns of each table; none of one that is not there.

    Raises:
        ConfigurationError: A table or column that the profile names is not there, or no text.
    """
    nodes, edges = settings.nodes, settings.edges
    at_nodes = _Chosen(nodes.table, nodes, found.get(nodes.table, {}), texts=("id",))
    at_edges = _Chosen(edges.table, edges, found.get(edges.table, {}), texts=("subject", "predicate", "object"))
    evidence, by_triple = _evidence(settings, found, at_edges)
    return Tables(
        nodes=filled("parts/nodes", **{**at_nodes.sql("id", "type", "properties", "status"), **_names(at_nodes)}),
        edges=filled("parts/edges", **at_edges.sql("subject", "predicate", "object", "id", "properties")),
        evidence=evidence,
        by_triple=by_triple,
        left_out=_left_out(settings, found),
    )


def _names(nodes: _Chosen) -> dict[str, str]:
    """Return the name and the synonyms of nodes as SQL, and the columns with what of these is no name."""
    name, synonyms = nodes.column("name"), nodes.column("synonyms")
    left: dict[str, str] = {}
    texts = _NO_TEXTS
    if synonyms != _NONE:
        texts = filled("parts/texts", column=synonyms)
        left[synonyms] = filled("parts/not_only_texts", column=synonyms)
    if name != _NONE and nodes.has_several("name"):
        left[name] = filled("parts/not_only_texts", column=name)
        names = filled("parts/not_blank", texts=filled("parts/texts", column=name))
        name, texts = f"({names} ->> 0)", f"(coalesce({names} - 0, '[]') || coalesce({texts}, '[]'))"
    elif name != _NONE:
        left[name] = filled("parts/blank", column=name)
        name = f"{name}::text"
    return {"name": name, "synonyms": texts, "columns": _listed({**left, **nodes.shown})}


def evidence_table(settings: PostgresSettings, found: Mapping[str, Columns]) -> EvidenceTable | None:
    """Return the table of evidence: that of the profile, or the other one of the reference implementation; or none.

    Args:
        settings: The section of the profile.
        found: The columns of each table; none of one that is not there.
    """
    evidence = settings.evidence
    other, key, columns = _BUNDLE
    if not found.get(evidence.table) and _other_evidence(settings) and found.get(other):
        there = tuple(name for name in columns if name in found[other])
        evidence = evidence.model_copy(update={"table": other, "edge": "", "key": key, "columns": there})
    is_wanted = "table" in evidence.model_fields_set
    return evidence if evidence.table and (found.get(evidence.table) or is_wanted) else None


def _evidence(settings: PostgresSettings, found: Mapping[str, Columns], edges: _Chosen) -> tuple[str, bool]:
    """Return the query for evidence, and whether it asks by triple; an empty text if there is none to ask."""
    evidence = evidence_table(settings, found)
    if evidence is None:
        return "", False
    chosen = _Chosen(evidence.table, evidence, found.get(evidence.table, {}))
    refers_by = evidence.key or evidence.edge
    if not evidence.key and edges.column("id") == _NONE:
        return "", False
    texts = {
        **chosen.sql("properties"),
        "key": identifier(chosen.needed(refers_by)),
        "key_type": chosen.key_type(refers_by),
    }
    return filled("evidence", **texts), bool(evidence.key)


@dataclass(frozen=True, slots=True)
class _Chosen:
    """The columns of one table that a section of the profile chooses.

    Args:
        table: The name of the table.
        section: The section.
        columns: The columns that the table has.
        texts: Settings whose columns must be there, and texts.

    Raises:
        ConfigurationError: See `tables_of`.
    """

    table: str
    section: Section
    columns: Columns
    texts: Sequence[str] = ()

    def __post_init__(self) -> None:
        """Check what must be there."""
        if not self.columns:
            raise ConfigurationError(
                f"The database has no table or view {quoted(self.table)} that this user may see.",
                valid="The section [postgres] of the profile names the tables of nodes and of edges.",
                next_step="Correct it, or have the user granted USAGE on the schema.",
            )
        for setting in self.texts:
            name = self.needed(getattr(self.section, setting))
            if self.columns[name] not in _TEXTS:
                raise self._wrong_type(
                    name, "IDs and predicates are `text` or `varchar`, with a deterministic collation."
                )

    def _wrong_type(self, name: str, valid: str) -> ConfigurationError:
        return ConfigurationError(
            f"The column {quoted(name)} of {quoted(self.table)} has the type {quoted(self.columns[name])}.",
            valid=valid,
            next_step="Make a view that casts it, with an index on the expression, and name it in [postgres].",
        )

    def needed(self, name: str) -> str:
        """Return the name of a column that is there."""
        if name not in self.columns:
            known = ", ".join(sorted(self.columns)[:20])
            raise ConfigurationError(
                f"The table {quoted(self.table)} has no column {quoted(name)}.",
                valid=f"It has {known}.",
                next_step="Correct the section [postgres] of the profile.",
            )
        return name

    def key_type(self, name: str) -> str:
        """Return the type of a column of keys, as the database writes it."""
        kind = self.columns[name]
        if kind.endswith(_UNEQUAL):
            raise self._wrong_type(name, "A key has any type, with a deterministic collation.")
        return kind

    def column(self, setting: str) -> str:
        """Return a column as SQL: null where the profile names none, or the table lacks one that is the default."""
        name = getattr(self.section, setting)
        if not name or (name not in self.columns and setting not in self.section.model_fields_set):
            return _NONE
        if setting == "properties" and self.columns[self.needed(name)] not in _OBJECTS:
            raise self._wrong_type(
                name,
                "Properties are `json` or `jsonb`; `properties` may be empty, and `columns` name columns of any type.",
            )
        return identifier(self.needed(name))

    def sql(self, *settings: str) -> dict[str, str]:
        """Return some columns as SQL by their settings, the columns that are properties, and the table."""
        return {
            **{setting: self.column(setting) for setting in settings},
            "columns": _listed(self.shown),
            "table": identifier(self.table),
        }

    @property
    def shown(self) -> dict[str, str]:
        """The columns that are properties, as SQL by their quoted names."""
        chosen = self.section.model_dump()["columns"]
        if "columns" not in self.section.model_fields_set:
            chosen = [name for name in chosen if name in self.columns]
        return {name: name for name in (identifier(self.needed(name)) for name in chosen)}

    def has_several(self, setting: str) -> bool:
        """Return whether one value of a column may be several: a list, or JSON."""
        kind = self.columns[getattr(self.section, setting)]
        return kind.endswith("[]") or kind in _OBJECTS


def _listed(columns: Mapping[str, str]) -> str:
    """Return columns, as SQL by their quoted names, as SQL of all of them."""
    return ", ".join(f"{sql} AS {name}" for name, sql in columns.items())


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


Kind: TypeAlias = Literal["of_node", "predicate", "type", "name"]
"""What a row counts: edges of one node, all edges of a predicate, nodes of a type, nodes that have a name."""

LEFT_OUT_COLUMNS: Final = ("kind", "subject_id", "predicate", "object_id", "entity_type", "count")

LeftOutRow: TypeAlias = "tuple[Kind, str | None, str | None, str | None, str | None, int]"

_BATCH: Final = 1_000
"""Nodes that are asked about at once."""


class StatedEdges(Protocol):
    """Returns the edges of nodes, with the triples counted that have a blank node and are selected."""

    async def __call__(
        self, ids: Sequence[Iri], call: Call, *, selection: EdgeSelection
    ) -> Mapping[Iri, Neighbourhood]:
        """Return the edges of each node."""


@dataclass(frozen=True, slots=True)
class BlankEnds:
    """The blank nodes of a graph that are neither nodes nor evidence, by what touches them.

    Attributes:
        nodes: The nodes beside them, by predicate and whether the edge leads to the node.
        between: Triples between two of them, by predicate.
        types: How many have a type, by type.
        named: How many have a name.
    """

    nodes: Mapping[tuple[Iri, bool], Mapping[Iri, None]] = field(default_factory=dict)
    between: Mapping[Iri, int] = field(default_factory=dict)
    types: Mapping[Iri, int] = field(default_factory=dict)
    named: int = 0

    @classmethod
    def of(cls, graph: Iterable[pyoxigraph.Quad], types: Collection[Iri], names: Collection[Iri]) -> BlankEnds:
        """Return those of a graph in this process.

        Args:
            graph: The graph, which is read twice where it has some.
            types: The predicates that give nodes their types.
            names: The predicates that give nodes their names.
        """
        evidence = _blank_evidence(graph)
        if evidence is None:
            return cls()
        found = _Collected()
        for quad in graph:
            found.add(quad, evidence, types, names)
        return cls(
            dict(found.nodes),
            Counter(predicate for _, predicate, _ in found.between),
            Counter(entity_type for _, entity_type in found.typed),
            len(found.named),
        )

    async def rows(
        self, stated_edges: StatedEdges, ids: IriMapping, terms: IriMapping, allowance: Callable[[], Call]
    ) -> Sequence[LeftOutRow]:
        """Return what a database should say of them.

        Args:
            stated_edges: Says what is an edge, and counts for each predicate what it leads to alone.
            ids: Writes IDs.
            terms: Writes predicates and types.
            allowance: Returns what pays for one question.

        Raises:
            Fault: The graph could not be asked.
        """
        rows: list[LeftOutRow] = []
        totals = Counter(self.between)
        for (predicate, is_incoming), nodes in self.nodes.items():
            if not is_sendable(predicate):
                continue
            selected = EdgeSelection((), (predicate,)) if is_incoming else EdgeSelection((predicate,), ())
            waiting = filter(is_sendable, nodes)
            while batch := list(islice(waiting, _BATCH)):
                around = await stated_edges(batch, allowance(), selection=selected)
                for node, found in around.items():
                    if found.mark.fault is not None:
                        raise found.mark.fault
                    if found.blank_edges:
                        totals[predicate] += found.blank_edges
                        end = ids.text(node)
                        subject, target = (None, end) if is_incoming else (end, None)
                        rows.append(("of_node", subject, terms.text(predicate), target, None, found.blank_edges))
        rows += (("predicate", None, terms.text(each), None, None, count) for each, count in totals.items())
        rows += (("type", None, None, None, terms.text(each), count) for each, count in self.types.items())
        if self.named:
            rows.append(("name", None, None, None, None, self.named))
        return rows


def _blank_evidence(graph: Iterable[pyoxigraph.Quad]) -> frozenset[str] | None:
    """Return the labels of blank nodes that are evidence; None where no blank node is in the graph."""
    evidence: set[str] = set()
    has_some = False
    for quad in graph:
        if isinstance(quad.subject, pyoxigraph.BlankNode):
            has_some = True
            if quad.predicate.value in EVIDENCE_MARKERS:
                evidence.add(quad.subject.value)
        elif isinstance(quad.object, pyoxigraph.BlankNode):
            has_some = True
    return frozenset(evidence) if has_some else None


@dataclass(slots=True)
class _Collected:
    """What was found of blank nodes, each once: named graphs may have a triple several times."""

    nodes: defaultdict[tuple[Iri, bool], dict[Iri, None]] = field(default_factory=lambda: defaultdict(dict))
    between: set[tuple[str, Iri, str]] = field(default_factory=set)
    typed: set[tuple[str, Iri]] = field(default_factory=set)
    named: set[str] = field(default_factory=set)

    def add(
        self, quad: pyoxigraph.Quad, evidence: Collection[str], types: Collection[Iri], names: Collection[Iri]
    ) -> None:
        """Note a triple that has a blank node which is no evidence."""
        subject, predicate, target = quad.subject, quad.predicate.value, quad.object
        if isinstance(target, pyoxigraph.BlankNode):
            if target.value in evidence:
                return
            if isinstance(subject, pyoxigraph.NamedNode):
                self.nodes[predicate, False][subject.value] = None
            elif isinstance(subject, pyoxigraph.BlankNode) and subject.value not in evidence:
                self.between.add((subject.value, predicate, target.value))
        elif isinstance(subject, pyoxigraph.BlankNode) and subject.value not in evidence:
            if isinstance(target, pyoxigraph.NamedNode):
                self._add_object(subject.value, predicate, target.value, types)
            elif predicate in names:
                self.named.add(subject.value)

    def _add_object(self, label: str, predicate: Iri, target: Iri, types: Collection[Iri]) -> None:
        self.nodes[predicate, True][target] = None
        if predicate in types and is_entity_type(target):
            self.typed.add((label, target))
