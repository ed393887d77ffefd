"""Selections of edges with the predicates of class expressions that may say an edge."""

from __future__ import annotations

from typing import Final

from gateway.files.class_expressions import COMPLEMENT, DOMAIN, EQUIVALENT, RANGE, SETS, SUBCLASS
from gateway.graph.values import EdgeSelection, Iri
from gateway.terms.iri import OWL, RDF_FIRST

READ_OUTWARDS: Final = frozenset(term[1:-1] for term in (SUBCLASS, EQUIVALENT, DOMAIN, RANGE, *SETS))
"""Predicates by which a node leads to an expression that says something of it."""

READ_INWARDS: Final = frozenset(
    [f"{OWL}{name}" for name in ("someValuesFrom", "allValuesFrom", "hasValue", "onClass")]
    + [COMPLEMENT[1:-1], EQUIVALENT[1:-1], RDF_FIRST]
)
"""Predicates by which an expression leads to a node."""


def beside_expressions(selection: EdgeSelection) -> EdgeSelection:
    """Return a selection with the predicates between nodes and the expressions that may say an edge of it.

    A restriction says an edge of a predicate that no triple beside the node has.
    """
    return EdgeSelection(_with(READ_OUTWARDS, selection.outgoing), _with(READ_INWARDS, selection.incoming))


def _with(further: frozenset[Iri], predicates: tuple[Iri, ...] | None) -> tuple[Iri, ...] | None:
    return tuple(sorted(further.union(predicates))) if predicates else predicates
