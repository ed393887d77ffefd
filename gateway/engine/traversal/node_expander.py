"""Expands nodes: reads the edges that a question follows from them, as far as the hub rule wants them."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

from gateway.engine import messages
from gateway.engine.traversal.gaps import GapCollector
from gateway.errors import EdgesCapped
from gateway.graph.call import Call
from gateway.graph.store import GraphStore, OnAnswers
from gateway.graph.values import EdgeSelection, Iri, Neighbourhood
from gateway.settings.limits import HubSettings

_COUNTED_BEYOND = 10
"""Edges are counted up to so many times the rule's limit, for the degree of a hub in the answer."""

_COUNTED = 1_000
"""Edges that are counted in any case."""


@dataclass(frozen=True, slots=True)
class HubRule:
    """Which nodes are shown but not expanded, and how many edges a node shows.

    Attributes:
        max_degree: A node with more edges is not expanded, unless it is a seed; None: every node is.
        max_edges: Edges that an expanded node shows at most; None: all.
        warnings: What the caller asked for and did not get; rules that differ in these only are equal.
    """

    max_degree: int | None = None
    max_edges: int | None = None
    warnings: tuple[str, ...] = field(default=(), compare=False)

    @classmethod
    def of(cls, profile: HubSettings, max_degree: int | None, max_edges: int | None) -> HubRule:
        """Return the rule of one call: its arguments, else the profile, never above the operator's ceilings."""
        warnings: list[str] = []

        def allowed(name: str, wanted: int | None, usual: int | None, ceiling: int | None) -> int | None:
            limit = wanted if wanted is not None else usual
            if ceiling is None or (limit is not None and limit <= ceiling):
                return limit
            if wanted is not None:
                warnings.append(messages.above_ceiling(name, wanted, ceiling))
            return ceiling

        return cls(
            allowed("max_degree", max_degree, profile.max_degree, profile.max_degree_ceiling),
            allowed("max_edges_per_node", max_edges, profile.max_edges_per_node, profile.max_edges_ceiling),
            tuple(warnings),
        )

    @property
    def is_off(self) -> bool:
        """Whether every node is expanded whole."""
        return self.max_degree is None and self.max_edges is None

    @property
    def counted(self) -> int:
        """How many edges of a node are counted at most."""
        return max(
            _COUNTED, *(_COUNTED_BEYOND * limit for limit in (self.max_degree, self.max_edges) if limit is not None)
        )

    def is_hub(self, degree: int) -> bool:
        """Return whether a node with so many edges is not expanded."""
        return self.max_degree is not None and degree > self.max_degree

    def is_capped(self, degree: int) -> bool:
        """Return whether a node with so many edges shows only some."""
        return self.max_edges is not None and degree > self.max_edges


class NodeExpander:
    """Reads the edges of nodes, and notes what is not read.

    Attributes:
        gaps: What could not be expanded.
    """

    def __init__(self, store: GraphStore, rule: HubRule, call: Call, seeds: Collection[Iri]) -> None:
        """Expand nodes of one question; its seeds are expanded whatever their degree."""
        self._store = store
        self._rule = rule
        self._call = call
        self._seeds = frozenset(seeds)
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
        left_out, capped = await self._by_degree(counted, selection, answers) if counted else (set(), [])
        whole = [node for node in frontier if node not in left_out and node not in capped]
        if whole:
            answers |= await self._store.edges(whole, self._call, selection=selection, on_answers=on_answers)
        if capped:
            answers |= await self._store.edges(capped, self._call, selection=selection, per_id=rule.max_edges)
        for node, neighbourhood in answers.items():
            if node not in self._capped or not isinstance(neighbourhood.mark.fault, EdgesCapped):
                self.gaps.add_mark(node, neighbourhood.mark)
        return answers

    async def _by_degree(
        self, nodes: Sequence[Iri], selection: EdgeSelection, answers: dict[Iri, Neighbourhood]
    ) -> tuple[set[Iri], list[Iri]]:
        """Return the nodes that are not expanded, with gaps for them, and those that are expanded in part."""
        rule = self._rule
        degrees = await self._store.degrees(nodes, rule.counted, self._call, selection=selection)
        left_out: set[Iri] = set()
        capped: list[Iri] = []
        for node in nodes:
            degree, is_seed = degrees[node], node in self._seeds
            if degree.mark.fault is not None:
                self.gaps.add_mark(node, degree.mark)
                left_out.add(node)
                if is_seed:
                    answers[node] = Neighbourhood(mark=degree.mark)
            elif rule.is_hub(degree.count) and not is_seed:
                self.gaps.add_degree("hub_not_expanded", node, degree, messages.hub(rule.max_degree))
                left_out.add(node)
            elif rule.is_capped(degree.count):
                self.gaps.add_degree("edges_capped", node, degree, messages.edges_capped(rule.max_edges))
                capped.append(node)
        self._capped.update(capped)
        return left_out, capped
