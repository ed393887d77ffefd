"""A selection of edges as template parameters.

Nodes and predicates stand in two VALUES, so that a query is as long as both together and not as all pairs of them.
After them each template has ``BIND(?p AS ?asked)``: Oxigraph orders what it joins by size, and would read all edges of
a hub, or all triples of a predicate, in place of each pair. Over a BIND it moves nothing (docs/notes/endpoints.md,
"VALUES"). Inside LATERAL, where the node is known, another LATERAL does that; `degrees`, for engines without LATERAL,
has neither.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain

from gateway.graph.values import EdgeSelection, Iri
from gateway.sparql.template import Parameter

_NO_PREDICATE = "urn:bfs-ql:none"
"""Stands where no predicate is wanted: every engine finds no triple with it at once, but not every one takes VALUES
without a term."""


def selection_parameters(selection: EdgeSelection) -> dict[str, Parameter]:
    """Return the predicates of each direction; where all are wanted, the query names none."""
    return {"outgoing": _in_values(selection.outgoing), "incoming": _in_values(selection.incoming)}


def predicate_parameters(predicates: tuple[Iri, ...] | None) -> dict[str, Parameter]:
    """Return the predicates of a question about outgoing edges alone."""
    return {"predicates": _in_values(predicates)}


def selected_predicates(selection: EdgeSelection) -> Sequence[Iri]:
    """Return the predicates that stand in a query, one for each time; none where all edges are selected."""
    lists = [*_in_values(selection.outgoing), *_in_values(selection.incoming)]
    return tuple(chain.from_iterable(lists))


def _in_values(predicates: tuple[Iri, ...] | None) -> Sequence[Sequence[Iri]]:
    """Return one list of predicates for a block of a template, or no list."""
    return [] if predicates is None else [predicates or (_NO_PREDICATE,)]
