"""Follows walks whose steps each have edges of their own: "the religion of the siblings".

Another search than breadth-first: a node is expanded at each step where a walk arrives at it, seen before or not.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from gateway.engine import messages
from gateway.engine.traversal.breadth_first import Exploration, Reading, joined, settle_seeds
from gateway.engine.traversal.node_expander import NodeExpander
from gateway.graph.call import Call
from gateway.graph.store import GraphStore, OnAnswers
from gateway.graph.values import Edge, EdgeSelection, Iri, Neighbourhood, other_end


class WalkSearch:
    """All walks from the seeds that follow one selection of edges after the other."""

    def __init__(
        self,
        store: GraphStore,
        seeds: Sequence[Iri],
        selections: Sequence[EdgeSelection],
        expander: NodeExpander,
        call: Call,
    ) -> None:
        self._store = store
        self._seeds = seeds
        self._selections = selections
        self._expander = expander
        self._call = call
        self._read: dict[EdgeSelection, dict[Iri, Neighbourhood]] = {}

    async def run(self, on_answers: OnAnswers | None = None) -> Exploration:
        """Return the nodes and edges on walks through all steps; a node's distance is that of its first arrival.

        Args:
            on_answers: Receives parts of the last step, see `GraphStore.edges`.

        Raises:
            Fault: Nothing could be learnt about any seed.
        """
        found = Exploration([dict.fromkeys(self._seeds, 0)], gaps=self._expander.gaps)
        (distance,) = found.distances
        layers = [list(self._seeds)]
        last = len(self._selections)
        for step, selection in enumerate(self._selections, 1):
            if step > 1 and self._is_over_budget(layers[-1], distance, found):
                break
            await self._expand(layers[-1], selection, on_answers if step == last else None)
            if step == 1:
                found.known = dict(self._read[selection])
                await settle_seeds(found, self._store, self._call)
                layers[0] = list(distance)
            layers.append(list(dict.fromkeys(other for _, other in self._steps(layers[-1], selection))))
            for node in layers[-1]:
                distance.setdefault(node, 0 if node in found.unsure else step)
            await self._call.progress(step, last + 1, messages.hop_done(step, last, len(distance)))
        edges = self._through(layers) if len(layers) > last else set()
        found.known = self._known(edges)
        shown = {end for edge in edges for end in (edge.subject, edge.object)}
        kept = {node: steps for node, steps in distance.items() if node in shown or not steps}
        found.partial = len(distance) - len(kept)
        found.distances = [kept]
        return found

    async def _expand(self, layer: Sequence[Iri], selection: EdgeSelection, on_answers: OnAnswers | None) -> None:
        read = self._read.setdefault(selection, {})
        unread = [node for node in layer if node not in read]
        if unread:
            read.update(await self._expander.expand(unread, selection, on_answers))

    def _steps(self, layer: Sequence[Iri], selection: EdgeSelection) -> list[tuple[Edge, Iri]]:
        """Return the edges that a step follows from the nodes of a layer, with the nodes where they end."""
        read = self._read[selection]
        return [(edge, other_end(node, edge)) for node in layer if node in read for edge in read[node].edges]

    def _through(self, layers: Sequence[Sequence[Iri]]) -> set[Edge]:
        """Return the edges that lie on a walk through all steps."""
        edges: set[Edge] = set()
        goals = set(layers[-1])
        for layer, selection in zip(reversed(layers[:-1]), reversed(self._selections), strict=True):
            starts: set[Iri] = set()
            for node in layer:
                on_the_way = [edge for edge, other in self._steps([node], selection) if other in goals]
                edges.update(on_the_way)
                if on_the_way:
                    starts.add(node)
            goals = starts
        return edges

    def _known(self, edges: set[Edge]) -> dict[Iri, Neighbourhood]:
        """Return what was read of each node, with those of its edges only that are shown."""
        readings: dict[Iri, list[Reading]] = {}
        for selection, read in self._read.items():
            for node, one in read.items():
                shown = Neighbourhood(
                    tuple(edge for edge in one.edges if edge in edges), one.blank_edges, one.mark, one.left_out
                )
                readings.setdefault(node, []).append((selection, shown))
        return {node: joined(each) for node, each in readings.items()}

    def _is_over_budget(self, layer: Sequence[Iri], distance: Mapping[Iri, int], found: Exploration) -> bool:
        if not layer or len(distance) <= self._call.nodes:
            return False
        found.gaps.add("budget", layer, messages.nodes_used_up(self._call.nodes))
        return True
