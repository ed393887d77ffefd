"""The edges of a frontier read, and hubs spared."""

from __future__ import annotations

import logging
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from types import MappingProxyType

from gateway import messages
from gateway.errors import EdgesCapped, EndpointFault
from gateway.graph.call import Call, Deadline
from gateway.graph.computing import FEW_FOR_A_THREAD, Slices, in_thread
from gateway.graph.store import GraphStore, OnAnswers
from gateway.graph.values import Degree, Edge, EdgeSelection, Iri, Mark, Neighbourhood, ends_of
from gateway.settings.limits import HubSettings
from gateway.traversal.gaps import GapCollector

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


_log = logging.getLogger(__name__)


class EdgeNotReturned(EndpointFault):
    """The answer about a node lacks an edge that the answer about its other end has."""

    def __init__(self) -> None:
        super().__init__(
            "The answer about a node lacks an edge that the answer about its other end has: the endpoint leaves out "
            "rows, or the graph has changed meanwhile.",
            next_step="Ask again.",
        )


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
        self,
        frontier: Sequence[Iri],
        selection: EdgeSelection,
        on_answers: OnAnswers | None = None,
        *,
        read_before: Mapping[Iri, Neighbourhood] = MappingProxyType({}),
    ) -> dict[Iri, Neighbourhood]:
        """Return the selected edges of the nodes that the rule does not leave out.

        An edge that was read before from the other end has to come back, where it is selected: else the answer about
        the node is not whole.

        Args:
            frontier: The nodes.
            selection: The edges of each that are followed.
            on_answers: Receives parts of the answer, see `GraphStore.edges`.
            read_before: What was read of other nodes.
        """
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
        is_little = sum(len(one.edges) for one in chain(answers.values(), read_before.values())) <= FEW_FOR_A_THREAD
        doubtful = await in_thread(
            self._call, lambda end: _lacking(answers, selection, read_before, end), unless=is_little
        )
        if doubtful:
            _log.warning("answers about %d nodes lack edges that those about their other ends have", len(doubtful))
            self._store.forget()
            answers |= doubtful
        marks = (
            (node, neighbourhood.mark)
            for node, neighbourhood in answers.items()
            if node not in self._capped or not isinstance(neighbourhood.mark.fault, EdgesCapped)
        )
        await in_thread(self._call, lambda _: self.gaps.add_marks(marks), unless=len(answers) <= FEW_FOR_A_THREAD)
        return answers

    async def _by_degree(
        self, nodes: Sequence[Iri], selection: EdgeSelection, answers: dict[Iri, Neighbourhood]
    ) -> tuple[set[Iri], list[Iri]]:
        """Return the nodes that are not expanded, with gaps for them, and those that are expanded in part."""
        degrees = await self._store.degrees(nodes, self._rule.counted, self._call, selection=selection)
        left_out, capped = await in_thread(
            self._call, lambda _: self._judged(nodes, degrees, answers), unless=len(nodes) <= FEW_FOR_A_THREAD
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


def _lacking(
    answers: Mapping[Iri, Neighbourhood],
    selection: EdgeSelection,
    read_before: Mapping[Iri, Neighbourhood],
    deadline: Deadline,
) -> dict[Iri, Neighbourhood]:
    """Return the answers that claim to be whole and lack an edge that was read before, under a mark that says so."""
    lacking: dict[Iri, Neighbourhood] = {}
    edges: dict[Iri, frozenset[Edge]] = {}
    for near in read_before.values():
        if answers.keys().isdisjoint(ends_of(near.edges)):
            continue
        for edge in deadline.checking(near.edges):
            for node in (edge.subject, edge.object):
                answer = answers.get(node)
                if answer is None or not answer.mark.whole or node in lacking or not selection.selects(node, edge):
                    continue
                if node not in edges:
                    edges[node] = frozenset(answer.edges)
                if edge not in edges[node]:
                    lacking[node] = replace(answer, mark=Mark(EdgeNotReturned(), at_least=len(answer.edges)))
    return lacking
