"""Walks in the place of predicates: an edge may stand for a walk, from where it begins to where it ends.

What searches and presents edges knows predicates alone. So a walk has an IRI of the gateway's own, from which it can be
read back, and a store in front of the others answers questions about such a predicate by where the walk ends.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace

from gateway.errors import EdgesCapped
from gateway.graph.call import Call, together
from gateway.graph.store import DelegatingStore, OnAnswers
from gateway.graph.values import (
    ALL_EDGES,
    Degree,
    Edge,
    EdgeSelection,
    Evidence,
    Iri,
    Mark,
    Neighbourhood,
    NodeFacts,
)
from gateway.graph.walks import Ends, Step, Walk
from gateway.terms.iri import is_walk, walk_steps


def walk_of(iri: Iri) -> Walk:
    """Return the walk for which an IRI stands."""
    return tuple(Step((predicate,), is_inverse) for predicate, is_inverse in walk_steps(iri))


def turned(walk: Walk) -> Walk:
    """Return the walk from the end of another one to its beginning."""
    return tuple(Step(step.predicates, not step.is_inverse) for step in reversed(walk))


class WalkEdges(DelegatingStore):
    """A graph whose predicates may be walks; see `gateway.graph.store.GraphStore` for what each method promises."""

    async def edges(
        self,
        ids: Sequence[Iri],
        call: Call,
        *,
        selection: EdgeSelection = ALL_EDGES,
        per_id: int | None = None,
        on_answers: OnAnswers | None = None,
    ) -> Mapping[Iri, Neighbourhood]:
        """Return the edges of each node, those among them that stand for walks."""
        outgoing, incoming = _walks(selection.outgoing), _walks(selection.incoming)
        if not (outgoing or incoming):
            return await self._inner.edges(ids, call, selection=selection, per_id=per_id, on_answers=on_answers)
        others = EdgeSelection(_without_walks(selection.outgoing), _without_walks(selection.incoming))
        async with together() as tasks:
            walks = tasks.create_task(self._along(ids, outgoing, incoming, call))
            found = (
                {node: Neighbourhood() for node in ids}
                if others == EdgeSelection((), ())
                else await self._inner.edges(ids, call, selection=others, per_id=per_id)
            )
        whole = {node: _joined(found[node], walks.result()[node]) for node in found}
        return whole if per_id is None else {node: _capped(one, per_id) for node, one in whole.items()}

    async def degrees(
        self, ids: Sequence[Iri], at_most: int, call: Call, *, selection: EdgeSelection = ALL_EDGES
    ) -> Mapping[Iri, Degree]:
        """Return the number of edges of each node; walks are read to be counted."""
        if not (_walks(selection.outgoing) or _walks(selection.incoming)):
            return await self._inner.degrees(ids, at_most, call, selection=selection)
        around = await self.edges(ids, call, selection=selection)
        return {
            node: Degree(min(len(one.edges), at_most + 1), len(one.edges) <= at_most and one.mark.whole, _counted(one))
            for node, one in around.items()
        }

    async def edges_among(
        self, ids: Sequence[Iri], inside: frozenset[Iri], call: Call, *, predicates: tuple[Iri, ...] | None = None
    ) -> Mapping[Iri, Neighbourhood]:
        """Return the edges from each node into a set; walks lead from seeds alone, and not among what they reach."""
        rest = predicates if predicates is None else _without_walks(predicates)
        if rest == () and predicates:
            return {node: Neighbourhood() for node in ids}
        return await self._inner.edges_among(ids, inside, call, predicates=rest)

    async def edge_metadata(self, edges: Sequence[Edge], call: Call) -> Mapping[Edge, Evidence]:
        """Return the statements about each edge; about one that stands for a walk there are none."""
        stated = [edge for edge in edges if not is_walk(edge.predicate)]
        found = await self._inner.edge_metadata(stated, call) if stated else {}
        return {edge: found.get(edge, _NO_EVIDENCE) for edge in edges}

    async def predicates(self, ids: Sequence[Iri], call: Call) -> Mapping[Iri, NodeFacts]:
        """Return the name of each predicate; a walk has none."""
        named = [iri for iri in ids if not is_walk(iri)]
        found = await self._inner.predicates(named, call) if named else {}
        return {iri: found.get(iri, _NO_FACTS) for iri in ids}

    async def _along(
        self, ids: Sequence[Iri], outgoing: Collection[Iri], incoming: Collection[Iri], call: Call
    ) -> Mapping[Iri, Neighbourhood]:
        """Return the edges that stand for walks."""
        directed = [(iri, walk_of(iri), False) for iri in outgoing] + [
            (iri, turned(walk_of(iri)), True) for iri in incoming
        ]
        async with together() as tasks:
            readings = [
                (iri, is_in, tasks.create_task(self._inner.ends(ids, walk, call))) for iri, walk, is_in in directed
            ]
        found = {node: Neighbourhood() for node in ids}
        for iri, is_in, reading in readings:
            for node, ends in reading.result().items():
                found[node] = _joined(found[node], _edges_of(node, iri, ends, is_in=is_in))
        return found


_NO_EVIDENCE = Evidence()
_NO_FACTS = NodeFacts()


def _edges_of(node: Iri, walk: Iri, ends: Ends, *, is_in: bool) -> Neighbourhood:
    nodes = [end for end in ends.ends if isinstance(end, str)]
    edges = tuple(Edge(end, walk, node) if is_in else Edge(node, walk, end) for end in nodes)
    return Neighbourhood(edges, ends.blank, ends.mark)


def _joined(one: Neighbourhood, other: Neighbourhood) -> Neighbourhood:
    """Return the edges of both, under the worse mark."""
    mark = one.mark if not one.mark.whole else other.mark
    edges = tuple(dict.fromkeys((*one.edges, *other.edges)))
    return Neighbourhood(edges, one.blank_edges + other.blank_edges, mark, one.left_out | other.left_out)


def _capped(one: Neighbourhood, per_id: int) -> Neighbourhood:
    """Return any so many edges of a node."""
    if len(one.edges) <= per_id:
        return one
    return replace(
        one,
        edges=one.edges[:per_id],
        mark=Mark(EdgesCapped("A node has more edges than are shown."), at_least=len(one.edges)),
    )


def _counted(one: Neighbourhood) -> Mark:
    """Return the mark of a count: one that is known in part is a lower bound."""
    return Mark() if one.mark.answered else one.mark


def _walks(predicates: Iterable[Iri] | None) -> list[Iri]:
    return [iri for iri in predicates or () if is_walk(iri)]


def _without_walks(predicates: Iterable[Iri] | None) -> tuple[Iri, ...] | None:
    return None if predicates is None else tuple(iri for iri in predicates if not is_walk(iri))
