"""Expands nodes: reads the edges that a question follows from them, as far as the hub rule wants them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from types import MappingProxyType

from gateway.engine import messages
from gateway.engine.traversal.gaps import GapCollector
from gateway.engine.traversal.hub_rule import HubRule
from gateway.errors import EdgesCapped
from gateway.graph.call import Call
from gateway.graph.computing import FEW, Slices, in_thread
from gateway.graph.store import GraphStore, OnAnswers
from gateway.graph.values import Degree, EdgeSelection, Iri, Neighbourhood


class NodeExpander:
    """Reads the edges of nodes, and notes what is not read.

    Attributes:
        gaps: What could not be expanded.
    """

    def __init__(
        self,
        store: GraphStore,
        rule: HubRule,
        call: Call,
        seeds: Collection[Iri],
        read_ahead: Mapping[Iri, Neighbourhood] = MappingProxyType({}),
    ) -> None:
        """Expand nodes of one question; its seeds are expanded whatever their degree.

        Args:
            store: The graph.
            rule: What is done with hubs.
            call: The call that asks.
            seeds: The seeds of the question.
            read_ahead: What was read of them before, as the first hop reads it.
        """
        self._store = store
        self._rule = rule
        self._call = call
        self._seeds = frozenset(seeds)
        self._read_ahead = dict(read_ahead)
        self._capped: set[Iri] = set()
        self.gaps = GapCollector()

    @property
    def is_unlimited(self) -> bool:
        """Whether every node is expanded whole."""
        return self._rule.is_off

    async def expand(
        self, frontier: Sequence[Iri], selection: EdgeSelection, on_answers: OnAnswers | None = None
    ) -> dict[Iri, Neighbourhood]:
        """Return the selected edges of the nodes that the rule does not leave out."""
        rule, answers = self._rule, dict[Iri, Neighbourhood]()
        # Without a cap, a seed is expanded whatever its degree.
        counted = [] if rule.is_off else [node for node in frontier if rule.max_edges or node not in self._seeds]
        slices = Slices()
        left_out, capped = await self._by_degree(counted, selection, answers) if counted else (set(), [])
        # Once: a later hop may follow other edges of a seed.
        answers |= {node: self._read_ahead.pop(node) for node in frontier if node in self._read_ahead}
        await slices.end_one()
        whole = [node for node in frontier if node not in left_out and node not in capped and node not in answers]
        if whole:
            answers |= await self._store.edges(whole, self._call, selection=selection, on_answers=on_answers)
        if capped:
            answers |= await self._store.edges(capped, self._call, selection=selection, per_id=rule.max_edges)
        marks = (
            (node, neighbourhood.mark)
            for node, neighbourhood in answers.items()
            if node not in self._capped or not isinstance(neighbourhood.mark.fault, EdgesCapped)
        )
        await in_thread(self._call, lambda _: self.gaps.add_marks(marks), unless=len(answers) <= FEW)
        return answers

    async def _by_degree(
        self, nodes: Sequence[Iri], selection: EdgeSelection, answers: dict[Iri, Neighbourhood]
    ) -> tuple[set[Iri], list[Iri]]:
        """Return the nodes that are not expanded, with gaps for them, and those that are expanded in part."""
        degrees = await self._store.degrees(nodes, self._rule.counted, self._call, selection=selection)
        left_out, capped = await in_thread(
            self._call, lambda _: self._judged(nodes, degrees, answers), unless=len(nodes) <= FEW
        )
        self._capped.update(capped)
        return left_out, capped

    def _judged(
        self, nodes: Sequence[Iri], degrees: Mapping[Iri, Degree], answers: dict[Iri, Neighbourhood]
    ) -> tuple[set[Iri], list[Iri]]:
        rule = self._rule
        left_out: set[Iri] = set()
        capped: list[Iri] = []
        self.gaps.add_marks((node, degrees[node].mark) for node in nodes)
        for node in nodes:
            degree, is_seed = degrees[node], node in self._seeds
            if degree.mark.fault is not None:
                left_out.add(node)
                if is_seed:
                    answers[node] = Neighbourhood(mark=degree.mark)
            elif rule.is_hub(degree.count) and not is_seed:
                self.gaps.add_degree("hub_not_expanded", node, degree, messages.hub(rule.max_degree))
                left_out.add(node)
            elif rule.is_capped(degree.count):
                self.gaps.add_degree("edges_capped", node, degree, messages.edges_capped(rule.max_edges))
                capped.append(node)
        return left_out, capped
