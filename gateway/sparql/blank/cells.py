"""The cells of the lists that some cells of an endpoint belong to, read at once by their keys."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from gateway.graph.call import Call
from gateway.graph.values import WHOLE, Iri, Mark
from gateway.sparql.batches import BatchedQuery
from gateway.sparql.blank.keys import Way, bindings_of, can_state, keys_in, parameters_of, template_of
from gateway.sparql.client import SparqlClient
from gateway.sparql.table import Table

_BATCH: Final = 100
"""Cells in one query."""


@dataclass(frozen=True, slots=True)
class Cells:
    """The cells of a list, as far as the mark says."""

    cells: tuple[Iri, ...] = ()
    mark: Mark = WHOLE


async def cells_beside(keys: Sequence[Iri], client: SparqlClient, way: Way, call: Call) -> Mapping[Iri, Cells]:
    """Return the cells of the lists of some cells, for those that queries can state."""
    query = BatchedQuery[Iri, Cells](
        client,
        template_of("cells", way),
        _BATCH,
        lambda batch: parameters_of(way, batch),
        _read_cells,
        bindings=lambda batch: bindings_of(way, batch),
    )
    return await query.run([key for key in keys if can_state(way, key)], call)


def _read_cells(batch: Sequence[Iri], rows: Table, mark: Mark) -> dict[Iri, Cells]:
    found: dict[Iri, dict[Iri, None]] = {key: {key: None} for key in batch}
    for cell, other in zip(keys_in(rows, "n"), keys_in(rows, "v"), strict=True):
        found[cell][other] = None
    return {key: Cells(tuple(cells), mark) for key, cells in found.items()}
