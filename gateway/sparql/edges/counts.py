"""Counts the edges of hubs by predicate and direction: a query returns the counts, not the edges."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from gateway.graph.call import Call
from gateway.graph.edge_counts import EdgeCount, EdgeCounts, ends, in_order
from gateway.graph.values import Iri, Mark
from gateway.sparql.batches import BatchedQuery
from gateway.sparql.client import SparqlClient
from gateway.sparql.edges.rule import EdgeRule
from gateway.sparql.results.columns import UnexpectedRows, integer, iri, literal, read
from gateway.sparql.results.table import Table

_HUBS = 10
"""Nodes in one query: each has many edges, and all of them are counted."""


class EdgeCountReader:
    """Counts edges by predicate and direction."""

    def __init__(self, client: SparqlClient, rule: EdgeRule) -> None:
        self._client = client
        self._rule = rule

    async def counts(self, ids: Sequence[Iri], call: Call) -> Mapping[Iri, EdgeCounts]:
        """Count the edges of each node; see `GraphStore.edge_counts`."""
        rule = await self._rule.refreshed(call)
        query = BatchedQuery[Iri, EdgeCounts](
            self._client, "predicate_counts", _HUBS, lambda batch: {"nodes": batch, **rule}, _read_counts
        )
        return await query.run(ids, call)


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
