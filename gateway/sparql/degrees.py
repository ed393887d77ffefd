"""Edges counted, and the nodes within some hops.

Why not one property path: it walks through blank nodes and shared literals, which our hops do not, and fails on
several engines (docs/notes/endpoints.md, "Property paths").
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from sys import getsizeof

from gateway.graph.call import Call
from gateway.graph.counts import EdgeCount, EdgeCounts, ends, in_order
from gateway.graph.reading import Neighbours, are_beside_blank_nodes, beside_blank_nodes, checked_counts, reach_of
from gateway.graph.values import ALL_EDGES, Degree, EdgeSelection, Iri, Mark, Reach
from gateway.sparql.batches import BatchedQuery, about_nodes, in_halves
from gateway.sparql.client import SparqlClient
from gateway.sparql.learned import LateralProbe
from gateway.sparql.rule import EdgeRule, is_stand_in, selected_predicates, selection_parameters
from gateway.sparql.table import IriTerm, Table, UnexpectedRows, integer, iri, literal, read, term
from gateway.terms.bounded_map import BoundedMap

_BRANCHES = 50
"""Nodes in one query that has a sub-select for each (docs/notes/endpoints.md, "A limit for each node")."""

_TOGETHER = 100
_SCAN = 20_000
"""Nodes whose edges are counted together, and how many edges are read for that."""

_HUBS = 10
"""Nodes in one query for counts by predicate: each has many edges, and all of them are counted."""

_ROUNDS = 3
"""How often nodes are counted together before those that share a batch with a hub are counted one by one."""


class DegreeReader:
    """Counts edges."""

    def __init__(self, client: SparqlClient, rule: EdgeRule, lateral: LateralProbe, batch: int) -> None:
        self._client = client
        self._rule = rule
        self._lateral = lateral
        self._batch = batch

    async def degrees(
        self, ids: Sequence[Iri], at_most: int, call: Call, *, selection: EdgeSelection = ALL_EDGES
    ) -> Mapping[Iri, Degree]:
        """Count the edges of each node; see `GraphStore.degrees`.

        Most nodes have few edges, and are counted together. What is then not known, because the edges of a hub came
        first, is counted node by node.
        """
        if await self._lateral.is_supported(call):
            return await self._each(ids, at_most, call, selection, lateral=True)
        degrees: dict[Iri, Degree] = {}
        unknown: Sequence[Iri] = ids
        for _ in range(_ROUNDS):
            asked = len(unknown)
            degrees |= await self._together(unknown, at_most, call, selection)
            unknown = [node for node in unknown if not _is_known(degrees[node], at_most)]
            if len(unknown) in {0, asked}:
                break
        degrees |= await self._each(unknown, at_most, call, selection, lateral=False)
        return degrees

    async def _together(
        self, ids: Sequence[Iri], at_most: int, call: Call, selection: EdgeSelection
    ) -> Mapping[Iri, Degree]:
        """Count edges up to a bound on all of them: where it is reached, more than `at_most` is more, less is not."""

        def scan(batch: Sequence[Iri]) -> int:
            return min(max(_SCAN, at_most + 1), len(batch) * (at_most + 1))

        def read_counts(batch: Sequence[Iri], rows: Table, mark: Mark) -> dict[Iri, Degree]:
            counts = _counts(batch, rows)
            whole = sum(counts.values()) < scan(batch)
            return {
                node: Degree(min(count, at_most + 1), whole and count <= at_most, mark)
                for node, count in counts.items()
            }

        given = {**await self._rule.refreshed(call), **selection_parameters(selection)}
        query = BatchedQuery[Iri, Degree](
            self._client,
            "degrees",
            _TOGETHER,
            lambda batch: {"nodes": batch, "scan": scan(batch), **given},
            read_counts,
            beside=selected_predicates(selection),
        )
        return await query.run(ids, call)

    async def _each(
        self, ids: Sequence[Iri], at_most: int, call: Call, selection: EdgeSelection, *, lateral: bool
    ) -> Mapping[Iri, Degree]:
        """Count the edges of each node up to a bound of its own."""

        def read_counts(batch: Sequence[Iri], rows: Table, mark: Mark) -> dict[Iri, Degree]:
            counts = _counts(batch, rows)
            # With a sub-select for each node, a node without edges has a row too: a missing row is a fault.
            if mark.whole and not lateral and len(rows) < len(batch):
                raise UnexpectedRows
            return {node: Degree(count, count <= at_most, mark) for node, count in counts.items()}

        given = {**await self._rule.refreshed(call), **selection_parameters(selection)}
        query = about_nodes(
            self._client,
            "lateral/degrees" if lateral else "degrees_each",
            self._batch if lateral else _BRANCHES,
            {"most": at_most + 1, **given},
            read_counts,
            beside=selected_predicates(selection),
            beside_each_key=not lateral,
        )
        return await query.run(ids, call)

    async def packed(self, selection: EdgeSelection, batch: Sequence[Iri], call: Call) -> Sequence[Sequence[Iri]]:
        """Take apart a batch that has too many edges for one query: as few parts as its nodes' degrees allow."""
        rows = self._client.query_rows
        degrees = await self.degrees(batch, rows, call, selection=selection)
        parts: list[list[Iri]] = []
        room = 0
        for node in sorted(batch, key=lambda node: degrees[node].count):
            degree = degrees[node]
            if not parts or degree.count > room or not degree.mark.whole:
                parts.append([])
                room = rows
            parts[-1].append(node)
            room -= degree.count
        # Triples that are no edges for a blank node are rows as well, and may be what does not fit.
        return parts if len(parts) > 1 else await in_halves(batch, call)

    async def counts(self, ids: Sequence[Iri], call: Call) -> Mapping[Iri, EdgeCounts]:
        """Count the edges of each node by predicate and direction; see `GraphStore.edge_counts`."""
        rule = await self._rule.refreshed(call)
        query = about_nodes(self._client, "predicate_counts", _HUBS, rule, _read_counts)
        return await checked_counts(await query.run(ids, call), call)


def _counts(batch: Sequence[Iri], rows: Table) -> Mapping[Iri, int]:
    """Return the count of each node; one without a row has no edges."""
    counts = dict.fromkeys(batch, 0)
    # A sub-select for each node names the node itself, and what was sent in the place of a hidden one has no edges.
    counts.update((node, count) for node, count in read(rows, iri("n"), integer("degree")) if not is_stand_in(node))
    if len(counts) > len(batch):
        raise UnexpectedRows
    return counts


def _is_known(degree: Degree, at_most: int) -> bool:
    """Return whether a count answers the question: all edges, more than `at_most`, or a fault."""
    return degree.exact or degree.count > at_most or not degree.mark.whole


def _read_counts(batch: Sequence[Iri], rows: Table, mark: Mark) -> dict[Iri, EdgeCounts]:
    counts: dict[Iri, list[EdgeCount]] = {node: [] for node in batch}
    blank = dict.fromkeys(batch, 0)
    columns = iri("n"), iri("p"), literal("kind"), integer("count"), literal("first"), literal("last")
    for node, predicate, kind, count, first, last in read(rows, *columns):
        if kind.value == "blank":
            blank[node] += count
        elif kind.value in {"out", "in"}:
            counts[node].append(EdgeCount(predicate, kind.value == "in", count, ends(first.value, last.value)))
        else:
            raise UnexpectedRows
    return {node: EdgeCounts(in_order(found), blank[node], mark=mark) for node, found in counts.items()}


_REMEMBERED_BYTES = 4 << 20
"""Bytes of nodes that are known to be near blank nodes, for whose sets no query is sent."""


class ReachReader:
    """Reads sets of nodes."""

    def __init__(self, client: SparqlClient, rule: EdgeRule, batch: int) -> None:
        self._client = client
        self._rule = rule
        self._batch = batch
        self._near_blanks: BoundedMap[tuple[Iri, int], None] = BoundedMap(_REMEMBERED_BYTES)

    async def reach(self, ids: Sequence[Iri], hops: int, call: Call) -> Mapping[Iri, Reach]:
        """Return the nodes within some hops of each node; see `GraphStore.reach`."""
        rule = await self._rule.refreshed(call)
        query = about_nodes(self._client, "neighbours", self._batch, rule, _read_neighbours)
        near = {node: Reach(mark=beside_blank_nodes()) for node in ids if (node, hops) in self._near_blanks.known}
        others = [node for node in ids if node not in near]
        found = await reach_of(others, hops, lambda frontier: query.run(frontier, call), call)
        for node, reached in found.items():
            if are_beside_blank_nodes(reached.mark):
                self._near_blanks.add((node, hops), None, getsizeof(node) + getsizeof((node, hops)))
        return {**near, **found}


def _read_neighbours(batch: Sequence[Iri], rows: Table, mark: Mark) -> dict[Iri, Neighbours]:
    nodes = frozenset(node.value for node in term("n")(rows) if isinstance(node, IriTerm))
    if len(nodes) < len(rows) and mark.whole:
        mark = beside_blank_nodes()
    return dict.fromkeys(batch, Neighbours(nodes, mark))
