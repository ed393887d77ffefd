"""What each page says about the whole of a traversal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from heapq import nsmallest
from typing import Any

from gateway import messages
from gateway.answers.filters import FilteredTopology, Members, Question
from gateway.answers.page import (
    Header,
    IdList,
    MemberHeader,
    PageGap,
    TermSummary,
)
from gateway.answers.reference import header_counts
from gateway.answers.rows import titles
from gateway.answers.shape import size_of
from gateway.answers.size import limit_header
from gateway.arguments import BfsQuery, Steps, TraversalArguments
from gateway.graph.call import Call, Deadline
from gateway.graph.computing import FEW_FOR_A_THREAD, Slices, in_thread
from gateway.graph.values import Iri, NodeFacts
from gateway.members.reading import MemberQuestion
from gateway.schema.types import UNKNOWN
from gateway.schema.view import SchemaView
from gateway.terms.prefixes import PrefixMap
from gateway.traversal.gaps import Gap
from gateway.traversal.steering import Steering
from gateway.traversal.topology import Topology

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

    async def header(self, question: Question, left: FilteredTopology, warnings: Sequence[str]) -> Header:
        """Return what each page says about the whole traversal; of a small answer, it leaves a quarter to the rest."""
        topology, arguments, call, shorten = left.whole, question.arguments, question.call, self._prefixes.shorten
        limit, shape = question.limit, question.shape
        is_one_relation, are_chosen = await _edges_alone(question, left)
        header = Header(
            seeds=IdList([shorten(seed) for seed in question.seeds]),
            hops=arguments.max_hops if isinstance(arguments, BfsQuery) else arguments.k,
            node_count=len(left.nodes),
            edge_count=len(left.edges),
            levels=left.levels if isinstance(arguments, BfsQuery) else None,
            gaps=[await self._gap(gap, call) for gap in (*topology.gaps, *left.gaps)],
            removed=left.removed,
            undecided=left.undecided,
            missing_seeds=IdList([shorten(seed) for seed in topology.missing]),
            blank_node_edges=topology.blank_edges,
            warnings=list(warnings),
            summary=TermSummary((), ()),
            only_predicates=self._followed(question.steering, arguments.only_predicates),
            members=None if left.members is None else _member_header(question.members, left.members),
            is_one_relation=is_one_relation,
            are_chosen=are_chosen,
        )
        # Types and predicates take a third of the room at most, with their labels.
        room = (limit - size_of(header_counts(header))) // 3
        types = await _by_frequency(await _types(topology, left.known, call.call_deadline), call)
        predicates = await _by_frequency(topology.edges.predicate_counts, call)
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

    def _followed(self, steering: Steering, asked: Steps) -> Sequence[str] | Sequence[Sequence[str]] | None:
        """Return what was followed, unless that is what was asked for as it was written."""
        lists: list[list[str]] = [
            [f"{'^' * one.is_inverse}{self._prefixes.shorten(one.predicate)}" for one in followed]
            for followed in steering.lists
        ]
        followed: Sequence[Any] = lists if steering.is_listed else lists[0]
        return None if not followed or followed == self._as_shown(asked) else followed

    def _as_shown(self, asked: Steps) -> list[Any]:
        """Return what was asked for, without names, and with IRIs as they are shown: prefixes may have been coined."""
        return [self._as_shown([*one]) if not isinstance(one, str) else self._step(one) for one in asked or ()]

    def _step(self, asked: str) -> str:
        text = asked.partition(" ")[0]
        mark = "^" * text.startswith("^")
        iri = text.removeprefix("^").removeprefix("<").removesuffix(">")
        return text if self._prefixes.is_plain_curie(iri) else f"{mark}{self._prefixes.shorten(iri)}"

    async def _gap(self, gap: Gap, call: Call) -> PageGap:
        # A gap may concern as many nodes as there are, and is looked at for each page.
        first = await in_thread(
            call,
            lambda end: nsmallest(_GAP_IDS, end.checking(gap.ids), key=self._prefixes.declared_form),
            unless=len(gap.ids) <= FEW_FOR_A_THREAD,
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


async def _by_frequency(counts: Mapping[str, int], call: Call) -> list[str]:
    return await in_thread(
        call, lambda _: sorted(counts, key=lambda term: (-counts[term], term)), unless=len(counts) <= FEW_FOR_A_THREAD
    )


async def _edges_alone(question: Question, left: FilteredTopology) -> tuple[bool, bool]:
    """Return whether all that is left is a seed and one relation of it, in one direction; whether chosen edges."""
    arguments, whole = question.arguments, left.whole
    if not isinstance(arguments, BfsQuery) or not left.edges or are_types_asked(arguments):
        return False, False
    are_chosen = bool(arguments.only_predicates)
    # Besides a loop of the seed, each node has one edge.
    is_one = len(whole.edges.predicate_counts) == 1 and len(left.edges) <= len(left.nodes)
    is_one = is_one and arguments.max_hops == 1 and len(question.seeds) == 1
    if not (is_one or are_chosen):
        return False, False
    seed = question.seeds[0]

    def looked_at(end: Deadline) -> tuple[bool, bool]:
        leads_out: set[bool] = set()
        ends: set[Iri] = set()
        for edge in end.checking(left.edges):
            ends.update((edge.subject, edge.object))
            if edge.subject != edge.object:
                leads_out.add(edge.subject == seed)
        is_all = len(ends) == len(left.nodes)
        return is_one and is_all and len(leads_out) == 1, are_chosen and is_all

    return await in_thread(question.call, looked_at, unless=len(left.edges) <= FEW_FOR_A_THREAD)


def are_types_asked(arguments: TraversalArguments) -> bool:
    """Return whether every node is to stand below its type."""
    return arguments.show == "types" or bool(arguments.only_node_types)


def _member_header(asked: MemberQuestion, found: Members) -> MemberHeader:
    """Return what is said about nodes that were asked for by their values."""
    columns = titles(asked) if asked.is_in_rows else None
    is_grouped = asked.grouping is not None
    return MemberHeader(asked.written, columns, len(found.nodes), found.seeds_left_out, is_grouped=is_grouped)
