"""Edges of nodes in a database."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial

from gateway.databases.client import DatabaseClient, DatabaseReader, Row, in_batches
from gateway.databases.terms import IriMapping
from gateway.errors import EdgesCapped, EndpointFault, Fault
from gateway.files.class_expressions import beside_expressions
from gateway.graph.call import Call, Deadline, together
from gateway.graph.computing import in_thread
from gateway.graph.counts import EdgeCount, EdgeCounts, ends, in_order
from gateway.graph.reading import Neighbours, beside_blank_nodes, checked_counts, checked_edges, reach_of
from gateway.graph.store import OnAnswers
from gateway.graph.values import (
    ALL_EDGES,
    WHOLE,
    Degree,
    Edge,
    EdgeSelection,
    Iri,
    Mark,
    Neighbourhood,
    Reach,
    edges_of,
)
from gateway.settings.vocabulary import EdgeSettings

_FEW_ROWS = 4_000
"""Rows that become edges in some milliseconds."""

_INSIDE = 20_000
"""Nodes of a set that are sent with a query; of a larger one, all edges are read and compared here."""


_FRONTIER = 2_000
"""Nodes whose neighbours are asked for at once, each neighbour once: of fewer, more would come more than once."""


class EdgeReader(DatabaseReader):
    """Reads the edges of one graph."""

    def __init__(self, client: DatabaseClient, rule: Sequence[object], batch: int) -> None:
        super().__init__(client)
        self._rule = rule
        self._batch = batch

    async def _rows(self, query: str, batch: Sequence[Iri], call: Call, *arguments: object) -> Sequence[Row]:
        """Return all rows of a query about the edges of some nodes.

        Raises:
            Fault: They did not all come.
        """
        nodes = self._ids.texts_of(batch)
        return (await self._client.rows(query, call, *self._rule, nodes, *arguments)).whole()

    def _selected(self, selection: EdgeSelection) -> tuple[list[str] | None, list[str] | None]:
        """Return the predicates of outgoing and of incoming edges as the database has them; None for all."""
        outgoing, incoming = selection.outgoing, selection.incoming
        return (
            None if outgoing is None else self._terms.texts_of(outgoing),
            None if incoming is None else self._terms.texts_of(incoming),
        )

    async def around(
        self,
        ids: Sequence[Iri],
        call: Call,
        *,
        selection: EdgeSelection = ALL_EDGES,
        per_id: int | None = None,
        on_answers: OnAnswers | None = None,  # noqa: ARG002 - all answers come at once
    ) -> Mapping[Iri, Neighbourhood]:
        """Return the edges of each node; see `GraphStore.edges`."""
        selected, left_out_of = self._selected(selection), self._selected(beside_expressions(selection))

        async def ask(batch: Sequence[Iri]) -> Mapping[Iri, Neighbourhood]:
            nodes = self._ids.texts_of(batch)
            found = await self._client.rows("edges", call, *self._rule, nodes, *selected)
            if len(batch) == 1 and found.part()[1]:
                return {batch[0]: await self._paged(nodes, selected, call)}
            return await self._neighbourhoods(batch, found.whole(), selection, call)

        async def ask_and_count(batch: Sequence[Iri]) -> Mapping[Iri, Neighbourhood]:
            if not await self._client.leaves_out(call):
                return await asking(batch)
            async with together() as tasks:
                counting = tasks.create_task(self._left_out(batch, left_out_of, call))
                reading = tasks.create_task(asking(batch))
            left_out = counting.result()
            return {
                node: replace(found, blank_edges=left_out[node]) if node in left_out else found
                for node, found in reading.result().items()
            }

        async def ask_capped(batch: Sequence[Iri]) -> Mapping[Iri, Neighbourhood]:
            most = per_id or 0
            rows = await self._rows("edges_capped", batch, call, *selected, most + 1)
            own: dict[Iri, dict[Edge, None]] = {node: {} for node in batch}
            for row, edge in zip(rows, self._edges((row[2:] for row in rows), call.deadline), strict=True):
                own[self._ids.iri(row[0])][edge] = None
            # A database may have an edge many times: rows up to the bound may hide others.
            ends = Counter((text, is_incoming) for text, is_incoming, *_ in rows)
            hiding = {self._ids.iri(text) for (text, _), count in ends.items() if count > most}
            return {node: _capped(tuple(edges), most, is_cut=node in hiding) for node, edges in own.items()}

        asking = ask if per_id is None else ask_capped
        answers = await in_batches(ids, self._batch, call, ask_and_count, Neighbourhood)
        return await checked_edges(answers, call)

    async def _left_out(
        self, batch: Sequence[Iri], selected: tuple[list[str] | None, list[str] | None], call: Call
    ) -> Mapping[Iri, int]:
        """Return how many edges of nodes the database does not have, by node; without those that miss none."""
        found: Counter[Iri] = Counter()
        for text, count in await self._rows("left_out", batch, call, *selected):
            found[self._ids.iri(text)] += count
        return found

    async def _paged(
        self, nodes: Sequence[str], selected: tuple[list[str] | None, list[str] | None], call: Call
    ) -> Neighbourhood:
        """Return the edges of one node that has more than one query may return."""
        rows: list[Row] = []
        after: list[str] | None = None
        mark = Mark()
        while True:
            try:
                found = await self._client.rows("edges_page", call, *self._rule, nodes, *selected, after)
            except Fault as fault:
                mark = Mark(fault, len(rows))
                break
            page, is_cut = found.part()
            rows += page
            if not is_cut:
                break
            after = list(page[-1])
        return Neighbourhood(tuple(await in_thread(call, partial(self._edges, rows))), mark=mark)

    async def among(
        self, ids: Sequence[Iri], inside: frozenset[Iri], call: Call, *, predicates: tuple[Iri, ...] | None = None
    ) -> Mapping[Iri, Neighbourhood]:
        """Return the edges of each node whose object lies inside a set; see `GraphStore.edges_among`."""
        objects = self._ids.texts_of(inside) if len(inside) <= _INSIDE else None
        wanted = None if predicates is None else self._terms.texts_of(predicates)

        async def ask(batch: Sequence[Iri]) -> Mapping[Iri, Neighbourhood]:
            rows = await self._rows("edges_among", batch, call, objects, wanted)
            return await in_thread(call, partial(read, batch, rows), unless=len(rows) <= _FEW_ROWS)

        def read(batch: Sequence[Iri], rows: Sequence[Row], deadline: Deadline) -> Mapping[Iri, Neighbourhood]:
            edges: dict[Iri, dict[Edge, None]] = {node: {} for node in batch}
            for edge in self._edges(rows, deadline):
                if edge.subject not in edges:
                    raise _compares_otherwise()
                if edge.object in inside:
                    edges[edge.subject][edge] = None
            return {node: Neighbourhood(tuple(own)) for node, own in edges.items()}

        return await checked_edges(await in_batches(ids, self._batch, call, ask, Neighbourhood), call)

    async def degrees(
        self, ids: Sequence[Iri], at_most: int, call: Call, *, selection: EdgeSelection = ALL_EDGES
    ) -> Mapping[Iri, Degree]:
        """Count the edges of each node up to a bound; see `GraphStore.degrees`."""
        selected = self._selected(selection)

        async def ask(batch: Sequence[Iri]) -> Mapping[Iri, Degree]:
            degrees = dict.fromkeys(batch, Degree())
            for text, found, is_all in await self._rows("degrees", batch, call, *selected, at_most + 1):
                node = self._ids.iri(text)
                before = degrees[node]
                # A node that is written in several ways may have an edge in each: no more than one of them is sure.
                exact = before.exact and is_all and found <= at_most and not (before.count and found)
                degrees[node] = Degree(min(max(before.count, found), at_most + 1), exact)
            return degrees

        return await in_batches(ids, self._batch, call, ask, Degree)

    async def counts(self, ids: Sequence[Iri], call: Call) -> Mapping[Iri, EdgeCounts]:
        """Count the edges of each node by predicate and direction; see `GraphStore.edge_counts`."""

        async def ask(batch: Sequence[Iri]) -> Mapping[Iri, EdgeCounts]:
            rows = await self._rows("edge_counts", batch, call)
            counts: dict[Iri, dict[tuple[Iri, bool], EdgeCount]] = {node: {} for node in batch}
            doubtful: set[Iri] = set()
            for text, term, incoming, found, first, last in rows:
                node, predicate = self._ids.iri(text), self._terms.iri(term)
                one = EdgeCount(predicate, incoming, found, ends(*sorted((self._ids.iri(first), self._ids.iri(last)))))
                before = counts[node].get((predicate, incoming))
                if before is not None:
                    doubtful.add(node)
                    one = _surely(before, one)
                counts[node][predicate, incoming] = one
            left_out = await self._left_out(batch, (None, None), call) if await self._client.leaves_out(call) else {}
            return {
                node: EdgeCounts(
                    in_order(own.values()),
                    left_out.get(node, 0),
                    mark=_written_in_several_ways() if node in doubtful else WHOLE,
                )
                for node, own in counts.items()
            }

        return await checked_counts(await in_batches(ids, self._batch, call, ask, EdgeCounts), call)

    async def reach(self, ids: Sequence[Iri], hops: int, call: Call) -> Mapping[Iri, Reach]:
        """Return the nodes within some hops of each node; see `GraphStore.reach`."""
        return await reach_of(ids, hops, lambda frontier: self._neighbours(frontier, call), call)

    async def _neighbours(self, ids: Sequence[Iri], call: Call) -> Mapping[Iri, Neighbours]:
        """Return the nodes that are one hop from the nodes of each query."""

        async def ask(batch: Sequence[Iri]) -> Mapping[Iri, Neighbours]:
            rows = await self._rows("neighbours", batch, call)
            nodes = await in_thread(call, partial(read, rows), unless=len(rows) <= _FEW_ROWS)
            leaves_out = await self._client.leaves_out(call) and await self._left_out(batch, (None, None), call)
            return dict.fromkeys(batch, Neighbours(nodes, beside_blank_nodes() if leaves_out else WHOLE))

        def read(rows: Sequence[Row], deadline: Deadline) -> frozenset[Iri]:
            return frozenset(self._ids.iri(node) for (node,) in deadline.checking(rows))

        return await in_batches(ids, _FRONTIER, call, ask, Neighbours)

    async def _neighbourhoods(
        self, batch: Sequence[Iri], rows: Sequence[Row], selection: EdgeSelection, call: Call
    ) -> Mapping[Iri, Neighbourhood]:
        def read(deadline: Deadline) -> Mapping[Iri, Neighbourhood]:
            around: dict[Iri, dict[Edge, None]] = {node: {} for node in batch}
            is_all, selects = selection.is_all, selection.selects
            for edge in self._edges(rows, deadline):
                subject, target = edge.subject, edge.object
                outgoing, incoming = around.get(subject), around.get(target)
                if outgoing is None and incoming is None:
                    raise _compares_otherwise()
                if outgoing is not None and (is_all or selects(subject, edge)):
                    outgoing[edge] = None
                if incoming is not None and (is_all or selects(target, edge)):
                    incoming[edge] = None
            return {node: Neighbourhood(tuple(edges)) for node, edges in around.items()}

        return await in_thread(call, read, unless=len(rows) <= _FEW_ROWS)

    def _edges(self, rows: Iterable[Row], deadline: Deadline) -> list[Edge]:
        # Thousands of edges have the same few predicates and ends.
        node: Callable[[str], Iri] = cache(self._ids.iri)
        predicate: Callable[[str], Iri] = cache(self._terms.iri)
        edges: list[Edge] = []
        for some in deadline.slices(rows):
            subjects, predicates, objects = zip(*some, strict=True)
            edges += edges_of(map(node, subjects), map(predicate, predicates), map(node, objects))
        return edges


def _capped(edges: tuple[Edge, ...], most: int, *, is_cut: bool) -> Neighbourhood:
    """Return so many edges of a node at most, marked where there are more or, `is_cut`, may be."""
    if len(edges) <= most and not is_cut:
        return Neighbourhood(edges)
    capped = EdgesCapped("A node has more edges than are shown.")
    return Neighbourhood(edges[:most], mark=Mark(capped, min(len(edges), most + 1)))


def _surely(one: EdgeCount, other: EdgeCount) -> EdgeCount:
    """Return what is sure of two counts that may be of the same edges."""
    neighbours = (*one.neighbours, *other.neighbours)
    return replace(one, count=max(one.count, other.count), neighbours=ends(min(neighbours), max(neighbours)))


def _written_in_several_ways() -> Mark:
    fault = EndpointFault(
        "The database writes a node or a predicate in several ways, so that edges which are one were counted apart.",
        next_step="The operator of this gateway should make a view that writes each ID in one way.",
    )
    return Mark(fault)


def _compares_otherwise() -> EndpointFault:
    return EndpointFault(
        "The database takes IDs for equal that are not, by the collation of a column.",
        next_step="The operator of this gateway should make a view with a deterministic collation.",
    )


@dataclass(frozen=True, slots=True)
class Rule:
    """Which rows are edges.

    Attributes:
        excepted: Predicates that are no edges.
        allowed: Predicates that alone are edges, beside those that `begin` so; None for all.
        begin: Beginnings of such predicates.
        objects: Beginnings of the objects that edges alone lead to; None for all.
    """

    excepted: Sequence[str] = ()
    allowed: Sequence[str] | None = None
    begin: Sequence[str] = ()
    objects: Sequence[str] | None = None

    @classmethod
    def of(cls, edges: EdgeSettings, ids: IriMapping, terms: IriMapping) -> Rule:
        """Return the rule of a profile.

        Raises:
            ConfigurationError: A namespace of it takes in texts that are no IRIs.
        """
        return cls(
            terms.texts_of(edges.excluded),
            terms.texts_of(edges.allowed_predicates) if edges.allowed else None,
            _beginnings(terms, edges.allowed_namespaces),
            _beginnings(ids, edges.objects) if edges.objects else None,
        )


def _beginnings(mapping: IriMapping, namespaces: Iterable[str]) -> list[str]:
    return [text for namespace in namespaces for text in mapping.beginnings(namespace)]
