"""A topology becomes a page, under its header."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from operator import itemgetter

from gateway import messages
from gateway.answers.crossing import Crosser
from gateway.answers.filters import FilteredTopology, Filters, Question, TopologyFilter
from gateway.answers.folded_blank_nodes import BeyondReader
from gateway.answers.header import HeaderBuilder, are_types_asked
from gateway.answers.metadata import MetadataBuilder
from gateway.answers.names import Labeller, Labels, MentionedIds, needed, shown_name
from gateway.answers.page import (
    Header,
    PageEdge,
    PageNode,
    SubgraphPage,
    other_languages,
)
from gateway.answers.rows import MOST_GROUPS, RowWriter, fit_groups
from gateway.answers.shape import size_of
from gateway.answers.size import Window, above_ceiling, limit_subgraph_page
from gateway.answers.values import positions_of
from gateway.arguments import BfsQuery, IntersectSubgraphs
from gateway.errors import DeadlinePassed
from gateway.graph.call import Call, together
from gateway.graph.computing import FEW_FOR_A_THREAD, Slices, in_thread
from gateway.graph.store import GraphStore
from gateway.graph.values import Description, Edge, Evidence, Iri, NodeFacts
from gateway.members.expression_notes import (
    denied_edges,
    followed_edges,
    may_have_expressions,
    steps_that_may_not_hold,
)
from gateway.schema.cache import SchemaCache
from gateway.schema.view import names_in_doubt
from gateway.settings.profile import Profile, asks_ahead
from gateway.terms.iri import RDF_FIRST, RDF_REST, is_blank_node, is_denied
from gateway.terms.prefixes import PrefixMap
from gateway.traversal.topology import Path, Topology

TIME_FOR_PRESENTATION = 0.15
"""Share of a call's time that the reading of the graph leaves for filters, metadata and the writing of the answer."""

_AT_ONCE = 50
"""Nodes, which may have many edges, between two looks at the clock."""

_OF_CELLS = frozenset({RDF_FIRST, RDF_REST})
"""Predicates of the cells of a list; of well-formed lists, no blank node has them."""

_TIME_FOR_WRITING = 0.5
"""Share of that which the fetching of metadata and labels leaves for the writing."""


_MOST_PATHS = 100
"""Nodes of an intersection of whose paths it is looked at how class expressions say them."""


class Presenter:
    """Makes the pages of `bfs_query` and `intersect_subgraphs` for one graph."""

    def __init__(self, store: GraphStore, profile: Profile, prefixes: PrefixMap, schema_cache: SchemaCache) -> None:
        self._store = store
        self._profile = profile
        self._prefixes = prefixes
        self._schema_cache = schema_cache
        self._labeller = Labeller(store, profile, prefixes)
        self._metadata_builder = MetadataBuilder(profile, prefixes)
        self._header_builder = HeaderBuilder(prefixes, has_labels=profile.names.on_stubs)
        self._crosser = Crosser(store, profile, prefixes)
        self._beyond = BeyondReader(store, prefixes, self._labeller, self._metadata_builder)
        self._filter = TopologyFilter(store, profile, prefixes, self._labeller)
        self._rows = RowWriter(store, profile.size, prefixes)

    async def present(self, question: Question, topology: Topology) -> SubgraphPage:
        """Return the page of a traversal that its arguments ask for.

        Args:
            question: The question.
            topology: What was found.

        Raises:
            InputError: A filter names what the graph does not have.
            DeadlinePassed: The time was not enough for writing the answer.
        """
        arguments, call, shape, names = question.arguments, question.call, question.shape, question.names
        try:
            # What is fetched here may take half of the time: what came has to be written.
            with call.reserving(requests=0.0, time=_TIME_FOR_WRITING):
                slices = Slices()
                await self._schema_cache.observe(topology.reached_types, topology.predicates)
                known = await self._schema_cache.view(call, may_be_old=True)
                left = await self._filter.filtered(question, topology, known)
                warnings = [*question.warnings, *left.warnings, *self._warnings(question, left)]
                warnings += await self._about_open_steps(question, left)
                await slices.end_one()
                header = await self._header_builder.header(question, left, warnings)
                # What a shape says of the whole traversal where all of it is on one page.
                shown = header if shape.always_summarizes else header.without_repetition()
                if question.members.grouping is not None:
                    return await self._groups_page(question, left, header, shown)
                room = question.limit - shape.size_of_part(shown)
                await slices.end_one()
                window = await self._window(question, left, room, slices)
                is_small = len(topology.edges) <= FEW_FOR_A_THREAD
                if (len(window.nodes) < len(left.nodes) or not is_small) and not topology.is_hashed:
                    # Each page of several says what it is a page of.
                    await in_thread(call, lambda _: topology.content, unless=is_small)
                ahead: Mapping[Iri, NodeFacts] = {}
                if isinstance(arguments, IntersectSubgraphs) and arguments.via is not False:
                    self._add_paths(window, question, topology, via=arguments.via)
                if header.members is not None and question.members.is_in_rows:
                    window.cut(room)
                    header.warnings += await self._rows.add_to(window.nodes, question.members, header.members, call)
                elif not arguments.topology_only:
                    async with together() as tasks:
                        naming = tasks.create_task(self._names_ahead(window, header, room, left, call))
                        await self._add_metadata(window, question, left, room)
                    ahead = naming.result()
                elif names.are_wanted:
                    window.cut(room)
                    await names.add_to(window.nodes, topology)
                call.call_deadline.check()
                labels = Labels()
                if self._labeller.is_wanted:
                    mentioned = MentionedIds.in_page(header, window.nodes, window.edges)
                    read = ahead or (topology.facts if topology.has_names else names.known)
                    labels = await self._labeller.labels(mentioned, known, call, read)
            return self._fit_to_limit(window, header, shown, labels, room, question, left)
        except DeadlinePassed as late:
            raise messages.answer_too_late(len(topology.nodes), len(topology.edges)) from late

    async def _names_ahead(
        self, window: Window, header: Header, room: int, left: FilteredTopology, call: Call
    ) -> Mapping[Iri, NodeFacts]:
        """Return facts with the names of what a page mentions without metadata, if all of it may be shown.

        Where queries run one at a time, they are asked for with what metadata mention.
        """
        topology = left.whole
        is_early = topology.has_names and window.size <= room and asks_ahead(self._profile)
        if not (is_early and self._labeller.is_wanted):
            return {}
        mentioned = MentionedIds.in_page(header, window.nodes, window.edges)
        return await self._labeller.facts_ahead(mentioned, left.known, call, topology.facts)

    async def _groups_page(
        self, question: Question, left: FilteredTopology, header: Header, whole: Header
    ) -> SubgraphPage:
        """Return a page with groups in the place of nodes; `whole` is what it says where all of them are on it."""
        arguments, shape, call, offset = question.arguments, question.shape, question.call, question.arguments.offset
        grouped = None if left.members is None else left.members.grouped
        page = SubgraphPage(header if offset else whole, [], [])
        page.is_result_changed = arguments.snapshot is not None and arguments.snapshot != left.content

        def is_too_large(next_offset: int | None) -> bool:
            page.next_offset = next_offset
            is_all = not offset and next_offset is None
            page.header, page.snapshot = (whole, None) if is_all else (header, left.content)
            page.coined = self._prefixes.coined_in_answer
            return shape.size_of_part(page) > question.limit

        if grouped is not None and header.members is not None:
            limit = arguments.limit or MOST_GROUPS
            groups = await self._rows.add_groups(header.members, grouped, question.members, offset, limit, call)
            if offset or (groups.count or 0) > len(groups.rows):
                # Each page of several says what it is a page of.
                await in_thread(call, lambda _: left.content, unless=len(left.nodes) <= FEW_FOR_A_THREAD)
            fit_groups(header.members, grouped, offset, is_too_large)
        if is_too_large(page.next_offset):
            limit_subgraph_page(page, question.limit, shape)
        return page

    def _warnings(self, question: Question, left: FilteredTopology) -> Iterator[str]:
        """Yield what a reader should know about the page and the seeds."""
        arguments, topology, known = question.arguments, left.whole, left.known
        yield from above_ceiling(self._profile.size, arguments.max_tokens)
        # The edges of the last node may go on after it.
        listed: Sequence[object] = left.in_rows if question.members.is_in_rows else left.nodes
        if left.members is not None and left.members.grouped is not None:
            listed = left.members.grouped.groups
        if arguments.offset >= len(listed) + bool(arguments.edge_offset) and listed:
            yield messages.offset_past_end(arguments.offset, len(listed))
        if not _OF_CELLS.isdisjoint(topology.predicates) and any(
            edge.predicate in _OF_CELLS and is_blank_node(edge.subject) for edge in topology.edges
        ):
            yield messages.MALFORMED_LIST
        if hint := self._prefixes.undeclared(topology.missing):
            yield messages.missing_seeds(hint)
        seeds_listed = {*question.seeds}.difference(known.types.unlisted(question.seeds))
        if types := _without_edges(seeds_listed, topology, is_intersection=arguments.tool == IntersectSubgraphs.tool):
            yield messages.seeds_are_types(self._prefixes.listed(types), len(types))
        if not arguments.topology_only and names_in_doubt(known, self._profile):
            yield messages.NAME_KEYS_UNKNOWN
        if self._profile.evidence.ways == "refused":
            yield messages.EVIDENCE_REFUSED
        members = question.members
        is_bare = members.is_in_rows or members.grouping is not None or not members.edges
        denied = sorted(filter(is_denied, topology.predicates))
        # No evidence says so there.
        if denied and (is_bare or arguments.topology_only):
            count = sum(edge.predicate in denied for edge in left.edges)
            yield from [denied_edges(count, self._prefixes.listed(denied))] if count else []

    async def _about_open_steps(self, question: Question, left: FilteredTopology) -> list[str]:
        """Return a warning of edges that members or paths rest on, and that are not said to hold."""
        members, arguments = question.members, question.arguments
        has_paths = isinstance(arguments, IntersectSubgraphs) and arguments.via is not False
        follows = members.follows or has_paths
        if not (follows and await may_have_expressions(self._store, left.known, question.call)):
            return []
        nodes = left.nodes if left.members is None else left.members.nodes
        if members.grouping is None:
            nodes = nodes[arguments.offset : None if arguments.limit is None else arguments.offset + arguments.limit]
        if has_paths and not members.follows:
            paths = {node: left.whole.paths.get(node, ()) for node in nodes[:_MOST_PATHS]}
            steps = dict.fromkeys(edge for node, some in paths.items() for path in some for edge in _steps(node, path))
            are_all = len(nodes) <= _MOST_PATHS
            return await followed_edges(self._store, self._prefixes, list(steps), question.call, are_all=are_all)
        return await steps_that_may_not_hold(self._store, self._prefixes, nodes, members.walks, question.call)

    async def _window(self, question: Question, left: FilteredTopology, room: int, slices: Slices) -> Window:
        """Return nodes and edges without metadata, up to the first that does not fit any more."""
        arguments, order, edges = question.arguments, left.nodes, left.edges
        facts, names, shorten = left.whole.facts, question.names.known, self._prefixes.shorten
        # What stands in rows is behind all else, and pages count rows.
        lead = len(order) - len(left.in_rows) if question.members.is_in_rows else 0
        offset, shape, deadline, used = lead + arguments.offset, question.shape, question.call.call_deadline, 0
        distances = left.whole.nodes
        # Who asks for nodes of some types asks for no neighbourhood.
        folds = isinstance(arguments, BfsQuery) and not arguments.only_node_types
        types_asked = question.members.is_in_rows or are_types_asked(arguments)
        seeds = frozenset(question.seeds)
        # The edges of the node before the page may go on here.
        start = min(offset - bool(arguments.edge_offset), len(order))
        stop = len(order) if arguments.limit is None else min(offset + arguments.limit, len(order))
        nodes: list[PageNode] = []
        # Many nodes share the same facts.
        types: dict[int, str] = {}
        totals: list[int] = [] if arguments.edge_offset else [0]
        found: list[tuple[int, PageEdge, int]] = []
        for position, ending in deadline.checking(edges.ending(start, max(stop, start)), _AT_ONCE):
            if not position % _AT_ONCE:
                await slices.end_one()
            if position >= offset:
                node = order[position]
                fact = facts[node]
                if id(fact) not in types:
                    types[id(fact)] = left.known.chooser.shown(fact)
                stub = PageNode(node, shorten(node), types[id(fact)], name=shown_name(names.get(node, fact)))
                stub.on_the_way = node in left.on_the_way
                stub.foldable = folds and is_blank_node(node) and distances[node] > 0
                stub.may_be_in_edges = question.members.edges and not types_asked and node not in seeds
                nodes.append(stub)
                # Where it stands in an edge, that has the bytes.
                used += 0 if stub.may_be_in_edges and ending else shape.measure(stub)
            rest = ending if position >= offset else ending[arguments.edge_offset :]
            if not question.members.edges:
                rest = rest[:0]
            totals.append(len(rest))
            for place in rest:
                bare = self._bare(edges[place], order[position])
                found.append((place, bare, position - offset))
                used += shape.measure(bare)
                if used > room:
                    break
            if used > room:
                break
        found.sort(key=itemgetter(0))
        return Window(
            nodes,
            [edge for _, edge, _ in found],
            [end for _, _, end in found],
            totals or [0],
            shape,
            deadline,
        )

    def _add_paths(self, window: Window, question: Question, topology: Topology, *, via: bool | None) -> None:
        """Add the paths to the seeds; unless they were asked for, those that fit in a third of the answer."""
        room = question.limit // 3
        for node in window.deadline.checking(window.nodes):
            paths = topology.paths.get(node.iri)
            if paths is not None and not via:
                # An edge between two nodes of the answer is shown as such.
                paths = tuple(path for path in paths if len(path) > 1 or (path and path[0].node not in topology.nodes))
            written = [self._path(node.iri, path) for path in paths or ()]
            room -= size_of([" ".join(path) for path in written])
            if paths is not None and (via or room >= 0):
                node.paths, node.size = written, None
            else:
                node.paths_left_out = len(question.seeds if paths is None else paths)

    def _path(self, node: Iri, path: Path) -> list[str]:
        shorten = self._prefixes.shorten
        steps = ((f"{'^' * step.is_inverse}{shorten(step.predicate)}", shorten(step.node)) for step in path)
        return [shorten(node), *chain.from_iterable(steps)]

    def _bare(self, edge: Edge, later: Iri) -> PageEdge:
        """Return an edge without metadata, given which of its ends comes later in the order of nodes."""
        shorten = self._prefixes.shorten
        is_incoming = edge.subject == later != edge.object
        return PageEdge(edge, shorten(edge.subject), shorten(edge.predicate), shorten(edge.object), is_incoming)

    async def _add_metadata(self, window: Window, question: Question, left: FilteredTopology, room: int) -> None:
        """Add the metadata that is asked for; if even the bare topology does not fit, only what denies edges."""
        topology, filters, names, call = left.whole, left.filters, question.names, question.call
        if not (is_whole := window.size <= room):
            # Names are asked for only where they may be shown.
            window.cut(room)
        nodes = [
            node
            for node in window.nodes
            if not node.on_the_way and filters.details_node(left.known.chooser, topology.facts[node.iri])
        ]
        edges = [edge for edge in window.edges if filters.details_edge(edge.edge.predicate)]
        if names.are_wanted or not filters.has_details:
            detailed = {node.iri for node in nodes} if is_whole else frozenset()
            await names.add_to([node for node in window.nodes if node.iri not in detailed], topology)
        if not is_whole or window.size > room:
            window.cut(room)
            if names.are_wanted:
                await names.add_to(window.nodes, topology)
            for node in nodes:
                node.is_reduced = True
            await self._add_denials(window, filters, call)
            return
        hops = question.arguments.max_hops if isinstance(question.arguments, BfsQuery) else None
        last = [node for node in nodes if is_blank_node(node.iri) and topology.nodes[node.iri] == hops]
        with call.tally.stage("metadata"):
            async with together() as tasks:
                denying = tasks.create_task(self._store.edge_metadata([edge.edge for edge in edges], call))
                described = await self._store.node_metadata([node.iri for node in nodes], call, blank_nodes=False)
                beyond = await self._beyond.read(last, described, left, call) if last else {}
            evidence = denying.result()
        if call.others:
            await self._add_crossings(nodes, call)
        values = sum(described[node.iri].value_count + len(topology.facts[node.iri].types) for node in nodes)
        is_little = values <= FEW_FOR_A_THREAD
        await in_thread(
            call, lambda end: self._describe(end.checking(nodes, at_once=1), described, left, call), unless=is_little
        )
        if beyond:
            await self._beyond.add(last, beyond, described, left.known, call)
        if names.are_wanted:
            await names.add_to([node for node in nodes if node.failed], topology)
        builder = self._metadata_builder.for_call(call, left.known.schema)
        for edge in window.deadline.checking(edges, at_once=1):
            self._add_evidence(edge, evidence[edge.edge], builder)

    async def _add_crossings(self, nodes: Sequence[PageNode], call: Call) -> None:
        crossings = await self._crosser.cross([node.iri for node in nodes], call)
        for node in nodes:
            node.also_in = crossings.also_in.get(node.iri, {})
            node.also_in_failed = node.iri in crossings.in_doubt

    async def _add_denials(self, window: Window, filters: Filters, call: Call) -> None:
        """Add to edges, whose evidence has no room, that it denies them: else they would look like facts."""
        edges = [edge for edge in window.edges if filters.details_edge(edge.edge.predicate)]
        with call.tally.stage("metadata"):
            evidence = await self._store.edge_metadata([edge.edge for edge in edges], call)
        for edge in window.deadline.checking(edges, at_once=1):
            self._add_evidence(edge, evidence[edge.edge], self._metadata_builder)
            if edge.metadata is not None:
                edge.make_bare()

    def _describe(
        self, nodes: Iterable[PageNode], described: Mapping[Iri, Description], left: FilteredTopology, call: Call
    ) -> None:
        chooser, schema = left.known.chooser, left.known.schema
        builder = self._metadata_builder.for_call(call, schema)
        for node in nodes:
            description, facts = described[node.iri], left.whole.facts[node.iri]
            node.failed = not description.mark.whole
            node.unrefined = not (node.failed or description.refined)
            if not node.failed:
                node.ids_left_out = description.left_out + facts.left_out
                types = chooser.all_of(facts)
                metadata = builder.node(description.properties, types, schema)
                # They are counted for the whole page: each node of many would say the same.
                node.other_languages = metadata.other_languages
                node.set_metadata(replace(metadata, other_languages={}))

    def _add_evidence(self, edge: PageEdge, evidence: Evidence, builder: MetadataBuilder) -> None:
        edge.failed = not evidence.mark.whole
        edge.unrefined = not (edge.failed or evidence.refined)
        edge.ids_left_out = evidence.left_out
        # Where a member stands in a list is known, whatever else is stated about the edge.
        known = positions_of(evidence) if edge.failed else evidence
        if metadata := builder.edge(known, edge.omitted_texts):
            edge.set_metadata(metadata)
        edge.other_languages = builder.other_languages_of(known)

    def _fit_to_limit(
        self,
        window: Window,
        header: Header,
        shown: Header,
        labels: Labels,
        room: int,
        question: Question,
        left: FilteredTopology,
    ) -> SubgraphPage:
        """Make nodes and edges smaller until the whole page, with all that must be said about it, fits."""
        limit, shape, beside = question.limit, question.shape, question.limit - room
        less = question.less
        while True:
            window.shrink(room, names_on_stubs=question.names.are_wanted)
            window.cut(room)
            page = _page(window, header, shown, labels, question, left, self._prefixes)
            omitted = window.omitted_texts
            order = sorted(omitted, key=self._prefixes.declared_form)
            page.other_languages = other_languages([*window.nodes, *window.edges])
            page.omitted_texts = {self._prefixes.shorten(predicate): omitted[predicate] for predicate in order}
            page.coined = self._prefixes.coined_in_answer
            size_of_page = shape.size_of_part(page)
            if size_of_page <= limit and less is not None and page.next_offset is not None:
                # What is on several pages anyway has no metadata any more: less room moves nodes to the next page.
                limit, less = less if shape.size_of_part(page.header) <= less // 2 else limit, None
            excess = size_of_page - limit
            if excess <= 0:
                return page
            if window.is_smallest:
                # The name of the one node may be cut.
                page.header.warnings = [*header.warnings, *window.warnings]
                limit_subgraph_page(page, limit, shape)
                return page
            # What is measured one by one may take more together: less of it is left out than is too much.
            size = window.size
            room = min(room, size) - max(1, excess * size // max(size, limit + excess - beside))


def _steps(node: Iri, path: Path) -> Iterator[Edge]:
    """Yield the edges of a path from a node."""
    for step in path:
        ends = (step.node, node) if step.is_inverse else (node, step.node)
        yield Edge(ends[0], step.predicate, ends[1])
        node = step.node


def _without_edges(types: Iterable[Iri], topology: Topology, *, is_intersection: bool) -> list[Iri]:
    """Return those types among the seeds from which no edge led to anything in the answer."""
    if is_intersection:
        return [] if topology.nodes else list(types)
    # Seeds come first.
    places = {seed: place for place, seed in enumerate(topology.seeds)}
    return [type_ for type_ in types if type_ not in places or not topology.edges.has_any_at(places[type_])]


def _page(
    window: Window,
    header: Header,
    shown: Header,
    labels: Labels,
    question: Question,
    left: FilteredTopology,
    prefixes: PrefixMap,
) -> SubgraphPage:
    """Return the page with these nodes and edges; `shown` is what it says of the whole traversal if it is all."""
    arguments, lead = question.arguments, 0
    end, count = arguments.offset + len(window.nodes), len(left.nodes)
    if question.members.is_in_rows:
        count = len(left.in_rows)
        lead = len(left.nodes) - count
    if left.members is not None and left.members.order is not None and header.members is not None:
        header.members.tied = left.members.order.tied(end)
    last_shown, last_total = window.last_edges
    is_split = last_shown < last_total
    next_offset = end if end < count or is_split else None
    is_all = not arguments.offset and next_offset is None
    said = shown if is_all else header
    warnings = needed(header.warnings, question.spared, window.nodes)
    page = SubgraphPage(
        replace(said, warnings=[*warnings, *window.warnings], degraded={**header.degraded, **window.degraded}),
        window.nodes,
        window.edges,
        next_offset=next_offset,
        next_edge=last_shown + (0 if window.nodes else arguments.edge_offset) if is_split else None,
        is_result_changed=arguments.snapshot is not None and arguments.snapshot != left.content,
    )
    if labels.are_any:
        mentioned = MentionedIds.in_page(said, window.nodes, window.edges)
        page.labels = labels.of(mentioned)
        page.header.degraded |= labels.degraded(mentioned)
    if -1 in window.ends:
        page.before = prefixes.shorten(left.nodes[lead + arguments.offset - 1])
    if not is_all:
        begun = left.edges.begun_in(lead + min(arguments.offset, count), lead + min(end, count))
        page.edges_on_later_pages = begun + last_total - last_shown if question.members.edges else None
        page.snapshot = left.content
        page.place = f"{arguments.offset + 1:,}-{end:,} of {count:,}" if window.nodes else f"none of {count:,}"
    return page
