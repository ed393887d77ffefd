"""From a topology to an answer: filters, order, pages, metadata and size."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from gateway.engine.arguments import BfsQuery
from gateway.engine.presentation.explain import room_for_explain
from gateway.engine.presentation.filters import (
    Filtered,
    Filters,
    NodeFilter,
    TraversalArguments,
    resolve,
    with_subclasses,
)
from gateway.engine.presentation.labels import Labeller, Labels, MentionedIds
from gateway.engine.presentation.metadata import MetadataWriter, negations
from gateway.engine.presentation.page import Item, Page, edges_across, edges_within
from gateway.engine.presentation.size import BYTES_PER_TOKEN, size_of
from gateway.engine.presentation.size_limit import cut_to
from gateway.engine.schema.cache import SchemaCache
from gateway.engine.schema.entity_type import UNKNOWN
from gateway.engine.schema.subclasses import Subclasses
from gateway.engine.schema.view import LONGEST_LABEL, SchemaView
from gateway.engine.traversal.gaps import Gap
from gateway.engine.traversal.topology import Topology
from gateway.errors import DeadlinePassed
from gateway.graph.call import Call
from gateway.graph.deadline import Deadline
from gateway.graph.store import GraphStore
from gateway.graph.values import Degree, Edge, Iri, NodeFacts
from gateway.settings.profile import Profile, SizeSettings
from gateway.terms.prefixes import PrefixMap, in_prose

GAP_IDS = 20
"""IDs that one entry of `incomplete` lists."""

_SMALLEST_NODE = 25
"""No stub is written in fewer bytes."""

_LABEL_BYTES = 40
"""What an ID and its label take, about."""

TIME_FOR_PRESENTATION = 0.15
"""Share of a call's time that the reading of the graph leaves for filters, metadata and the writing of the answer."""

_TIME_FOR_WRITING = 0.5
"""Share of that which the fetching of metadata and labels leaves for the writing."""

_SUMMARIZED = (1_000_000, 200, 100, 50, 20, 5)
"""Types, and predicates, that `schema_summary` lists: all, or as many as fit."""

_UNREAD = (
    "The names of {} types and predicates of this answer could not be read, so a filter may miss what it means by a "
    "name: ask again, or use IDs."
)

Json = dict[str, Any]


class Presenter:
    """Writes the answers of `bfs_query` and `intersect_subgraphs` for one graph."""

    def __init__(self, store: GraphStore, profile: Profile, prefixes: PrefixMap, schema_cache: SchemaCache) -> None:
        self._store = store
        self._profile = profile
        self._prefixes = prefixes
        self._schema_cache = schema_cache
        self._subclasses = Subclasses(store, profile, prefixes)
        self._labeller = Labeller(store, profile, prefixes)
        self._writer = MetadataWriter(profile, prefixes)
        self._node_filter = NodeFilter(store, prefixes, self._writer)

    async def present(
        self,
        topology: Topology,
        arguments: TraversalArguments,
        seeds: Sequence[Iri],
        warnings: Sequence[str],
        call: Call,
    ) -> Json:
        """Return an answer's fields.

        Args:
            topology: The whole answer.
            arguments: The call's arguments.
            seeds: The seeds of the question.
            warnings: What the reader should know about how it was traversed.
            call: The call that asks.

        Raises:
            InputError: A filter names what the graph does not have.
            DeadlinePassed: The time was not enough for writing the answer.
        """
        try:
            return await self._presented(topology, arguments, seeds, warnings, call)
        except DeadlinePassed as late:
            raise DeadlinePassed(
                f"The time of this call ended while the answer about {len(topology.nodes):,} nodes and "
                f"{len(topology.edges):,} edges was being written.",
                next_step="Ask for fewer seeds or hops, or ask again when the gateway has fewer calls to answer.",
            ) from late

    async def _presented(
        self,
        topology: Topology,
        arguments: TraversalArguments,
        seeds: Sequence[Iri],
        warnings: Sequence[str],
        call: Call,
    ) -> Json:
        deadline = call.call_deadline
        # What is fetched here may take half of the time: what came has to be written.
        with call.reserving(requests=0.0, time=_TIME_FOR_WRITING):
            kept, filters, known, unread = await self._filtered(topology, arguments, call)
            limit, warning = max_bytes(self._profile.size, arguments.max_tokens, explain=arguments.explain)
            if unread:
                warning.append(_UNREAD.format(unread))
            if arguments.offset >= len(kept.nodes) > 0:
                warning.append(f"offset: {arguments.offset} is past the end; there are {len(kept.nodes)} nodes.")
            if hint := self._prefixes.undeclared(topology.missing):
                warning.append(f"missing_seeds: {hint}")
            head = self._head(topology, kept, seeds, [*warnings, *kept.warnings, *warning])
            head |= {"schema_summary": self._summary(topology, known, limit - size_of(head), deadline)}
            if isinstance(arguments, BfsQuery):
                head |= {"max_hops": arguments.max_hops, "levels": kept.levels}
            else:  # a node of an intersection has one distance for each seed
                head |= {"k": arguments.k}
            # Of a small answer, what is said about it leaves a quarter to nodes and edges.
            head = cut_to(head, limit * 3 // 4)
            room = limit - size_of(head)
            page, window, edges = self._page(kept, arguments, known, room, deadline)
            if not arguments.topology_only:
                await self._detail(page, window, edges, filters, topology, known, room, call)
            mentioned = MentionedIds.in_subgraph(head | self._body(page, head, kept, arguments))
            deadline.check()
            labels = await self._labeller.labels(mentioned, known, call)
        return self._fitted(page, head, limit, kept, arguments, labels)

    async def _filtered(
        self, topology: Topology, arguments: TraversalArguments, call: Call
    ) -> tuple[Filtered, Filters, SchemaView, int]:
        """Return what the filters leave, the filters, the schema, and how many labels could not be read for them."""
        self._schema_cache.observe(
            {
                iri
                for node, facts in call.call_deadline.checking(topology.facts.items())
                if topology.nodes[node]
                for iri in facts.types
            },
            topology.predicates,
        )
        known = await self._schema_cache.view(call)
        named, unread = await self._labeller.named(topology, known, call) if arguments.names_terms else ({}, 0)
        filters = await with_subclasses(resolve(arguments, known, topology, named), self._subclasses, call)
        if unread:
            filters = replace(filters, excludes_all=False)
        kept = await self._node_filter.apply(topology, filters, arguments.min_mentions, known, call)
        return kept, filters, known, unread

    def _page(
        self, kept: Filtered, arguments: TraversalArguments, known: SchemaView, room: int, deadline: Deadline
    ) -> tuple[Page, Sequence[Iri], Sequence[Edge]]:
        """Return the page without metadata, and its nodes and edges: no more of them than could fit."""
        stop = len(kept.nodes) if arguments.limit is None else arguments.offset + arguments.limit
        window = kept.nodes[arguments.offset : min(stop, arguments.offset + max(1, room // _SMALLEST_NODE))]
        within = edges_within(window, kept.edges, deadline)
        page = Page(
            [Item(self._stub(node, kept.topology, known)) for node in deadline.checking(window)],
            [Item(self._bare(edge)) for _, edge in deadline.checking(within)],
            [end for end, _ in within],
            deadline,
        )
        return page, window, [edge for _, edge in within]

    def _head(
        self,
        topology: Topology,
        kept: Filtered,
        seeds: Sequence[Iri],
        warnings: Sequence[str],
    ) -> Json:
        """Return all of an answer but its nodes and edges."""
        shorten = self._prefixes.shorten
        head: Json = {
            "seeds": [shorten(seed) for seed in seeds],
            "node_count": len(kept.nodes),
            "edge_count": len(kept.edges),
            "complete": topology.complete,
            "incomplete": [self._incomplete(gap) for gap in topology.gaps],
            "undecided": kept.undecided,
            "missing_seeds": [shorten(seed) for seed in topology.missing],
            "blank_node_edges": topology.blank_edges,
            "warnings": list(warnings),
        }
        always = {"seeds", "node_count", "edge_count", "complete"}
        return {key: value for key, value in head.items() if value or key in always}

    def _summary(self, topology: Topology, known: SchemaView, room: int, deadline: Deadline) -> Json:
        """Return `schema_summary`, of which, with its labels, a third of the room is the limit.

        Where there are more types and predicates than that, the most frequent are listed and the totals told.
        """
        # Many nodes have the same types.
        alike: Counter[tuple[Iri, ...] | None] = Counter(
            facts.types if facts.are_types_known else None for facts in deadline.checking(topology.facts.values())
        )
        types: Counter[str] = Counter()
        for iris, count in deadline.checking(alike.items()):
            types[UNKNOWN if iris is None else known.chooser.shown(NodeFacts(iris))] += count
        predicates = Counter(edge.predicate for edge in deadline.checking(topology.edges))
        summary: Json = {}
        for count in _SUMMARIZED:
            summary = self._summarized(types, predicates, count)
            listed = len(summary["entity_types_found"]) + len(summary["predicates_found"])
            labels = _LABEL_BYTES * listed if self._profile.names.on_stubs else 0
            if size_of(summary) + labels <= room // 3:
                break
        return summary

    def _summarized(self, types: Counter[str], predicates: Counter[Iri], count: int) -> Json:
        found, used = _most_frequent(types, count), _most_frequent(predicates, count)
        summary: Json = {
            "entity_types_found": sorted(found),
            "predicates_found": sorted(self._prefixes.shorten(predicate) for predicate in used),
        }
        if len(found) < len(types):
            summary["entity_types_total"] = len(types)
        if len(used) < len(predicates):
            summary["predicates_total"] = len(predicates)
        return summary

    def _incomplete(self, gap: Gap) -> Json:
        ids = sorted(self._prefixes.shorten(iri) for iri in gap.ids)
        shown = ids[:GAP_IDS]
        detail = gap.detail
        if gap.degrees:
            degrees = {self._prefixes.shorten(iri): degree for iri, degree in gap.degrees.items()}
            detail += ": " + ", ".join(f"{in_prose(name)} has {_counted(degrees[name])}" for name in shown)
        return {"cause": gap.cause, "count": len(ids), "ids": shown, "detail": detail}

    def _stub(self, node: Iri, topology: Topology, known: SchemaView) -> Json:
        facts = topology.facts[node]
        stub: Json = {"id": self._prefixes.shorten(node), "entity_type": known.chooser.shown(facts)}
        if facts.name:
            stub["name"] = facts.name[:LONGEST_LABEL]
        if node in topology.paths:
            stub["via"] = [[self._prefixes.shorten(step) for step in path] for path in topology.paths[node]]
        return stub

    def _bare(self, edge: Edge) -> Json:
        shorten = self._prefixes.shorten
        return {
            "subject": shorten(edge.subject),
            "predicate": shorten(edge.predicate),
            "object": shorten(edge.object),
        }

    async def _detail(
        self,
        page: Page,
        window: Sequence[Iri],
        edges: Sequence[Edge],
        filters: Filters,
        topology: Topology,
        known: SchemaView,
        room: int,
        call: Call,
    ) -> None:
        """Give the page its metadata, unless even its bare topology does not fit."""
        full_nodes = [
            (item, node)
            for item, node in zip(page.nodes, window, strict=True)
            if filters.details_node(known.chooser.filterable(topology.facts[node]))
        ]
        full_edges = [
            (item, edge) for item, edge in zip(page.edges, edges, strict=True) if filters.details_edge(edge.predicate)
        ]
        if page.size > room:
            for item, _ in (*full_nodes, *full_edges):
                item.lost = True
            return
        with call.tally.stage("metadata"):
            described = await self._store.node_metadata([node for _, node in full_nodes], call, blank_nodes=False)
            evidence = await self._store.edge_metadata([edge for _, edge in full_edges], call)
        for item, node in page.deadline.checking(full_nodes, at_once=1):
            item.failed = not described[node].mark.whole
            item.unrefined = not item.failed and not described[node].refined
            if not item.failed:
                item.left_out = described[node].left_out + topology.facts[node].left_out
                item.json.pop("name", None)
                types = known.chooser.all_of(topology.facts[node])
                item.json["metadata"] = self._writer.node(described[node].properties, types, known.schema.names or ())
        for item, edge in page.deadline.checking(full_edges, at_once=1):
            item.failed = not evidence[edge].mark.whole
            item.left_out = evidence[edge].left_out
            item.unrefined = not item.failed and not evidence[edge].refined
            if not item.failed and (metadata := self._writer.edge(evidence[edge], item.omitted)):
                item.json["metadata"] = metadata
                item.negated = negations(metadata)

    def _fitted(
        self,
        page: Page,
        head: Json,
        limit: int,
        kept: Filtered,
        arguments: TraversalArguments,
        labels: Labels,
    ) -> Json:
        """Make the page smaller until the whole answer, with all that must be told about it, fits."""
        room = limit - size_of(head)
        while True:
            page.shrink(room, names_on_stubs=self._profile.names.on_stubs)
            page.cut(room)
            answer = _labelled(head | self._body(page, head, kept, arguments), labels)
            if negated := page.negated:
                answer["warnings"] = [*answer.get("warnings", ()), negated]
            excess = size_of(answer) - limit
            if excess <= 0 or len(page.nodes) <= 1:
                return answer
            room = min(room, page.size) - excess

    def _body(self, page: Page, head: Json, kept: Filtered, arguments: TraversalArguments) -> Json:
        """Return nodes and edges, and what is to be told about them."""
        end = arguments.offset + len(page.nodes)
        body: Json = {"nodes": [node.json for node in page.nodes], "edges": [edge.json for edge in page.edges]}
        if degraded := {**head.get("degraded", {}), **page.degraded}:
            body["degraded"] = degraded
        if omitted := page.omitted:
            body["omitted_texts"] = omitted
        if end < len(kept.nodes):
            body["next_offset"] = end
        if arguments.offset or end < len(kept.nodes):
            window = kept.nodes[arguments.offset : end]
            body["edges_across_pages"] = edges_across(window, kept.edges, page.deadline)
            body["snapshot"] = kept.content
        if arguments.snapshot is not None and arguments.snapshot != kept.content:
            body["result_changed"] = True
        return body


def max_bytes(size: SizeSettings, asked: int | None, *, explain: bool) -> tuple[int, list[str]]:
    """Return how many bytes an answer may have, and a warning where more was asked for than the operator allows.

    Args:
        size: What the operator allows.
        asked: The argument `max_tokens`.
        explain: Whether an explanation follows, for which room is kept.
    """
    tokens = size.max_tokens if asked is None else min(asked, size.ceiling_tokens)
    limit = tokens * BYTES_PER_TOKEN
    warnings = []
    if asked is not None and asked > size.ceiling_tokens:
        warnings.append(f"max_tokens: {asked} is above this gateway's ceiling; {size.ceiling_tokens} was used.")
    return limit - room_for_explain(limit, wanted=explain), warnings


def _labelled(answer: Json, labels: Labels) -> Json:
    """Add the names of the IDs that an answer mentions, and how many of them could not be fetched."""
    mentioned = MentionedIds.in_subgraph(answer)
    if named := labels.of(mentioned):
        answer["labels"] = named
    if degraded := labels.degraded(mentioned, answer.get("degraded", {})):
        answer["degraded"] = degraded
    return answer


def _counted(degree: Degree) -> str:
    return f"{degree.count:,}" if degree.exact else f"at least {degree.count:,}"


def _most_frequent(counts: Counter[str], most: int) -> list[str]:
    return sorted(counts, key=lambda term: (-counts[term], term))[:most]
