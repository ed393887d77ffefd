"""Types and predicates of a graph, and the predicates of its literals: of all nodes, or of a sample of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import NamedTuple

from gateway.databases.client import DatabaseClient, DatabaseReader, only_row
from gateway.databases.nodes import NodeReader
from gateway.databases.search import SearchReader
from gateway.errors import DeadlinePassed, Fault, GaveUp
from gateway.graph.call import Call, together
from gateway.graph.counts import (
    HUB_EDGES,
    MOST_HUBS,
    TermCounts,
    by_frequency,
    entity_types,
    schema_of,
    types_of_hubs,
    without_counts,
)
from gateway.graph.shapes import NO_VALUES, ValuePredicates, value_predicates_of
from gateway.graph.values import Basis, BlankCounts, Iri, NamelessNodes, Schema
from gateway.telemetry.tally import Clock

_QUICK_SECONDS = 1.4
"""Time for counting all rows when the first answer should come within two seconds."""

_SAMPLE = 20_000
"""Nodes and edges in a sample."""

_TERMS = 20_000
"""Types or predicates that are listed at most."""

_FEW_EDGES = 20_000
"""Edges up to which the ends of all are looked at for names at once."""

_COUNTED = 200_000
"""Edges up to which that is done where the ends of some have a name each: only it shows that all have one."""

_SAMPLED = 200
"""Edges of a larger graph whose ends are looked at."""

_CUT = "the graph has more than {:,} types or predicates"


class _Counts(NamedTuple):
    """The rows of each term, and whether there are more terms."""

    counts: Mapping[Iri, int]
    is_cut: bool


class _Counted(NamedTuple):
    """What counting all rows shows."""

    found: TermCounts
    basis: Basis
    hubs: tuple[Iri, ...]


class SchemaReader(DatabaseReader):
    """Reads the schema of one graph."""

    def __init__(self, client: DatabaseClient, rule: Sequence[object], nodes: NodeReader, wall_clock: Clock) -> None:
        super().__init__(client)
        self._rule = rule
        self._nodes = nodes
        self._wall_clock = wall_clock
        self._nameless: NamelessNodes | None = None
        self._nameless_of: tuple[str, bool] | None = None

    async def quick_schema(self, call: Call) -> Schema:
        """Return the whole schema where it is counted in a moment, and what a sample shows of a larger graph."""
        # Of what the graph is made of now.
        self._forget()
        try:
            with call.within(_QUICK_SECONDS):
                counted = await self._counted(call)
        except (DeadlinePassed, GaveUp):
            call.deadline.check()
        else:
            # Lists without labels would be taken for whole ones until they are read again, so these may take longer.
            return await self._schema_of_counted(counted, call)
        began = self._wall_clock()
        types = await self._counts("sampled_types", call, _SAMPLE)
        predicates = await self._counts("sampled_predicates", call, *self._rule, _SAMPLE)
        read = sum(predicates.counts.values())
        seen = TermCounts(
            without_counts(entity_types(types.counts)),
            without_counts(predicates.counts),
            is_cut=types.is_cut or predicates.is_cut,
        )
        reason = f"only {read:,} edges of a large database were read"
        return await self._schema(seen, Basis(("sampled",), began, read, None), reason, call)

    async def read(self, call: Call) -> Schema:
        """Return the schema by counting every row, or of a graph with very many types or predicates, a part of it.

        Raises:
            Fault: They could not be counted, in this time or at all.
        """
        # Of what the graph is made of now.
        self._forget()
        return await self._schema_of_counted(await self._counted(call), call)

    def _forget(self) -> None:
        self._client.forget()
        self._nameless_of = None

    async def _counted(self, call: Call) -> _Counted:
        began = self._wall_clock()
        types = await self._counts("type_counts", call)
        predicates = await self._counts("predicate_counts", call, *self._rule)
        is_cut = types.is_cut or predicates.is_cut
        found = TermCounts(by_frequency(entity_types(types.counts)), by_frequency(predicates.counts), is_cut)
        edges = sum(predicates.counts.values())
        basis = Basis(("sampled",), began, edges, None) if is_cut else Basis(("enumerated",), began, 0, edges)
        return _Counted(found, basis, await types_of_hubs(partial(self._hubs, call), self._nodes, call))

    async def _schema_of_counted(self, counted: _Counted, call: Call) -> Schema:
        reason = _CUT.format(min(_TERMS, self._client.query_rows)) if counted.found.is_cut else ""
        return replace(await self._schema(counted.found, counted.basis, reason, call), hubs=counted.hubs)

    async def _schema(self, found: TermCounts, basis: Basis, reason: str, call: Call) -> Schema:
        is_whole = True

        async def broader(classes: Sequence[Iri], asking: Call) -> Mapping[Iri, tuple[Iri, ...]]:
            nonlocal is_whole
            above, are_all = await self._nodes.broader(classes, asking)
            is_whole = is_whole and are_all
            return above

        schema = await schema_of(found, basis, reason, self._nodes.labels, call, broader=broader)
        names, blank = self._profile.roles.name[:1], await self._blank(call)
        # Lists without all labels are read again soon; those with a part of the hierarchy should be, too.
        return replace(schema, names=names, labelled=schema.labelled and is_whole, blank=blank)

    async def _blank(self, call: Call) -> BlankCounts:
        """Return what the database does not have, because it is about blank nodes that are no nodes.

        Raises:
            Fault: It could not be read.
        """
        # In a Wikibase these are unknown values.
        if self._profile.values.wikibase or not await self._client.leaves_out(call):
            return BlankCounts(are_all=True)
        types: Counter[Iri] = Counter()
        predicates: Counter[Iri] = Counter()
        are_named = False
        for kind, predicate, entity_type, count in (
            await self._client.rows("left_out_terms", call, *self._rule)
        ).whole():
            if kind == "predicate":
                predicates[self._terms.iri(predicate)] += count
            elif kind == "type":
                types[self._terms.iri(entity_type)] += count
            else:
                are_named = True
        return BlankCounts(types, predicates, are_named, are_all=True)

    async def has_blank_nodes(self, types: Sequence[Iri], call: Call, *, named: bool) -> bool:
        """Return whether blank nodes were left out that a search could miss; see `GraphStore.has_blank_nodes`."""
        blank = await self._blank(call)
        return (blank.are_named or not named) and (not types or any(iri in blank.types for iri in types))

    async def _counts(self, query: str, call: Call, *arguments: object) -> _Counts:
        """Return how many rows each term has, of the most frequent terms.

        Raises:
            Fault: They could not be counted.
        """
        rows, is_cut = (await self._client.rows(query, call, *arguments, at_most=_TERMS)).part()
        counts: Counter[Iri] = Counter()
        for text, count in rows:
            counts[self._terms.iri(text)] += count
        return _Counts(counts, is_cut)

    async def _hubs(self, call: Call) -> Mapping[Iri, int]:
        rows, _ = (await self._client.rows("hubs", call, *self._rule, HUB_EDGES, at_most=MOST_HUBS)).part()
        return {self._nodes.iri(node): count for node, count in rows}

    async def nameless(self, schema: Schema, call: Call) -> NamelessNodes | None:
        """Return how many ends of edges have no name, counted once for each schema; see `GraphStore.nameless`."""
        if self._nameless_of != (schema.version, schema.exact):
            try:
                with call.reserving(requests=0.5, time=0.5):
                    self._nameless = await self._count_nameless(schema, call)
            except Fault:
                return None
            self._nameless_of = schema.version, schema.exact
        return self._nameless

    async def _count_nameless(self, schema: Schema, call: Call) -> NamelessNodes:
        triples = schema.basis.triples if schema.exact else None
        if triples is None or triples > _FEW_EDGES:
            some = await self._nameless_among(_SAMPLED, call, is_whole=False)
            if some.count or triples is None or triples > _COUNTED:
                return some
        return await self._nameless_among(_COUNTED, call, is_whole=True)

    async def _nameless_among(self, edges: int, call: Call, *, is_whole: bool) -> NamelessNodes:
        rows = await self._client.rows("nameless", call, *self._rule, edges)
        found, nameless = only_row(rows.whole())
        return NamelessNodes(nameless, found, exact=is_whole)


_NODES = 2_000
"""Nodes of a database that are all read; of one with more, the first ones that it gives, fewer of them."""


_TYPES = 20
_OF_TYPE = 20
"""Types of a larger one, the most frequent ones, and nodes of each that are read."""


class ValuePredicateReader:
    """Reads which names of properties have literals, and which literals."""

    def __init__(self, client: DatabaseClient, nodes: NodeReader, search: SearchReader) -> None:
        self._client = client
        self._nodes = nodes
        self._search = search

    async def predicates(self, schema: Schema, call: Call) -> ValuePredicates:
        """Return the predicates of literals; see `GraphStore.value_predicates`."""
        rows, is_cut = (await self._client.rows("sampled_nodes", call, at_most=_NODES)).part()
        nodes = dict.fromkeys(self._nodes.iri(text) for (text,) in rows)
        if is_cut:
            async with together() as tasks:
                listing = [
                    tasks.create_task(self._search.of_types([term.iri], call, at_most=_OF_TYPE))
                    for term in schema.types[:_TYPES]
                ]
            of_types = (hit.iri for task in listing for hit in task.result().hits)
            nodes = dict.fromkeys([*of_types, *list(nodes)[:_SAMPLED]])
        if not nodes:
            return NO_VALUES if is_cut else ValuePredicates((), counted=True)
        described = await self._nodes.metadata(list(nodes), call, blank_nodes=False)
        faults = [description.mark.fault for description in described.values()]
        if (first := faults[0]) is not None and None not in faults:
            raise first
        return value_predicates_of(described.values(), counted=not is_cut)
