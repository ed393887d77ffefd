"""How many edges nodes have, counted up to a bound, so that a hub costs no more than that."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from gateway.graph.budget import Budget
from gateway.graph.values import Degree, Iri, Mark
from gateway.sparql.asking import Asker
from gateway.sparql.batches import Batches, batched, in_halves
from gateway.sparql.dialect import Dialect
from gateway.sparql.edge_rule import EdgeRule
from gateway.sparql.results import Row

_BRANCHES = 50
"""Nodes in one query that has a sub-select for each (field notes, ``sparql-endpoints.md`` 6.5)."""


class DegreeReader:
    """Counts edges."""

    def __init__(self, asker: Asker, rule: EdgeRule, dialect: Dialect, batch: int) -> None:
        self._asker = asker
        self._rule = rule
        self._dialect = dialect
        self._batch = batch

    async def degrees(self, ids: Sequence[Iri], at_most: int, budget: Budget) -> Mapping[Iri, Degree]:
        """Count the edges of each node; see `GraphStore.degrees`."""
        lateral = await self._dialect.lateral(budget)

        def read(batch: Sequence[Iri], rows: Sequence[Row], mark: Mark) -> dict[Iri, Degree]:
            # Where a sub-select stands for each node, one without edges has a row too.
            counts = dict.fromkeys(batch, 0) if lateral or not mark.whole else {}
            for row in rows:
                counts[row["n"].value] = int(row["degree"].value)
            if not counts.keys() <= set(batch):
                raise KeyError("n")
            return {node: Degree(counts[node], counts[node] <= at_most, mark) for node in batch}

        asking: Batches[Iri, Degree] = batched(
            self._asker,
            budget,
            "lateral/degrees" if lateral else "degrees",
            self._batch if lateral else _BRANCHES,
            lambda batch: {"nodes": batch, "most": at_most + 1, **self._rule.parameters},
            read,
        )
        return await asking.run(ids)

    async def packed(self, batch: Sequence[Iri], rows: int, budget: Budget) -> Sequence[Sequence[Iri]]:
        """Take apart a batch that has too many edges for one query: as few parts as its nodes' degrees allow."""
        degrees = await self.degrees(batch, rows, budget)
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
        return parts if len(parts) > 1 else await in_halves(batch)
