"""The header of a page: counts, gaps, and the types and predicates that a traversal met."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from heapq import nsmallest

from gateway.engine import messages
from gateway.engine.arguments import BfsQuery
from gateway.engine.presentation.filters import FilteredTopology
from gateway.engine.presentation.page import Header, IdList, PageGap, TermSummary
from gateway.engine.presentation.shape import Shape
from gateway.engine.presentation.size_limit import limit_header
from gateway.engine.schema.view import UNKNOWN, SchemaView
from gateway.engine.traversal.gaps import Gap
from gateway.engine.traversal.steering import Steering
from gateway.engine.traversal.topology import Topology
from gateway.graph.call import Call
from gateway.graph.computing import FEW, Slices, in_thread
from gateway.graph.deadline import Deadline
from gateway.graph.values import NodeFacts
from gateway.terms.prefixes import PrefixMap

_GAP_IDS = 20
"""IDs that one gap lists."""

_KINDS_AT_ONCE = 10
"""Sets of types, of which each may have thousands, between two looks at the clock."""

_LABEL_BYTES = 40
"""What an ID and its label take, about."""

_TERM_BYTES = 6
"""What the ID of a type or a predicate takes at least: a character before the colon and after it, and what parts it."""

_LISTED = (200, 100, 50, 20, 5)
"""Types, and predicates, that the summary lists where not all fit."""


class HeaderBuilder:
    """Builds the headers of one graph's pages."""

    def __init__(self, prefixes: PrefixMap, *, has_labels: bool) -> None:
        self._prefixes = prefixes
        self._has_labels = has_labels

    async def header(
        self,
        filtered: FilteredTopology,
        known: SchemaView,
        warnings: Sequence[str],
        limit: int,
        shape: Shape,
        call: Call,
    ) -> Header:
        """Return what each page says about the whole traversal; of a small answer, it leaves a quarter to the rest."""
        traversal, shorten = filtered.traversal, self._prefixes.shorten
        topology, arguments = filtered.whole, traversal.arguments
        header = Header(
            seeds=IdList([shorten(seed) for seed in traversal.seeds]),
            hops=arguments.max_hops if isinstance(arguments, BfsQuery) else arguments.k,
            node_count=len(filtered.nodes),
            edge_count=len(filtered.edges),
            levels=filtered.levels if isinstance(arguments, BfsQuery) else None,
            gaps=[await self._gap(gap, call) for gap in topology.gaps],
            removed=filtered.removed,
            undecided=filtered.undecided,
            missing_seeds=IdList([shorten(seed) for seed in topology.missing]),
            blank_node_edges=topology.blank_edges,
            warnings=list(warnings),
            summary=TermSummary((), ()),
            only_predicates=self._followed(traversal.steering),
            direction=None if arguments.direction == "both" else arguments.direction,
        )
        # Types and predicates take a third of the room at most, with their labels.
        room = (limit - shape.size_of_counts(header)) // 3
        types = _by_frequency(await _types(topology, known, call.call_deadline))
        predicates = _by_frequency(topology.edges.predicate_counts)
        for count in (max(room // _TERM_BYTES, _LISTED[0]), *_LISTED):
            header.summary = self._summary(types, predicates, count)
            listed = len(header.summary.types) + len(header.summary.predicates)
            if shape.size_of_part(header.summary) + (_LABEL_BYTES * listed if self._has_labels else 0) <= room:
                break
        limit_header(header, limit * 3 // 4, shape)
        return header

    def _summary(self, types: Sequence[str], predicates: Sequence[str], count: int) -> TermSummary:
        return TermSummary(
            self._prefixes.in_order(types[:count]),
            self._prefixes.in_order(predicates[:count]),
            len(types) if len(types) > count else None,
            len(predicates) if len(predicates) > count else None,
        )

    def _followed(self, steering: Steering) -> Sequence[str] | Sequence[Sequence[str]] | None:
        lists = [
            [f"{'^' * one.is_inverse}{self._prefixes.shorten(one.predicate)}" for one in followed]
            for followed in steering.lists
        ]
        return lists if steering.is_listed else lists[0] or None

    async def _gap(self, gap: Gap, call: Call) -> PageGap:
        # A gap may concern as many nodes as there are, and is looked at for each page.
        first = await in_thread(
            call,
            lambda end: nsmallest(_GAP_IDS, end.checking(gap.ids), key=self._prefixes.declared_form),
            unless=len(gap.ids) <= FEW,
        )
        ids, detail = [self._prefixes.shorten(iri) for iri in first], gap.detail
        if gap.degrees:
            detail = messages.with_degrees(
                detail, [(name, gap.degrees[iri]) for name, iri in zip(ids, first, strict=True)]
            )
        return PageGap(gap.cause, len(gap.ids), ids, detail)


async def _types(topology: Topology, known: SchemaView, deadline: Deadline) -> Counter[str]:
    """Return how many nodes show each type, or a word in its place."""
    types: Counter[str] = Counter()
    kinds = deadline.checking(topology.kinds.items(), _KINDS_AT_ONCE)
    async for (iris, are_known), count in Slices().over(kinds, _KINDS_AT_ONCE):
        types[known.chooser.chosen(NodeFacts(iris)) if are_known else UNKNOWN] += count
    return types


def _by_frequency(counts: Mapping[str, int]) -> list[str]:
    return sorted(counts, key=lambda term: (-counts[term], term))
