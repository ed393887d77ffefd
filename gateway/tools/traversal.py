"""Makes the answers of `bfs_query` and `intersect_subgraphs`."""

from __future__ import annotations

from collections.abc import Awaitable, Sequence
from dataclasses import replace
from functools import partial

from gateway import messages
from gateway.answers.filters import Filters, Question, resolve
from gateway.answers.names import PageNames
from gateway.answers.page import SubgraphPage
from gateway.answers.presenter import TIME_FOR_PRESENTATION, Presenter
from gateway.answers.shape import Shape, size_of
from gateway.answers.size import max_bytes
from gateway.arguments import BfsQuery, IntersectSubgraphs, TraversalArguments
from gateway.errors import GatewayError, InputError, counted
from gateway.graph.call import Call, together
from gateway.graph.computing import FEW_FOR_A_THREAD, Slices, in_thread
from gateway.graph.store import GraphStore
from gateway.graph.values import Degree, EdgeSelection, Iri, Neighbourhood
from gateway.schema.cache import SchemaCache
from gateway.schema.view import SchemaView
from gateway.settings.profile import Profile, asks_together
from gateway.telemetry.tally import Clock
from gateway.terms.prefixes import PrefixMap, listed_ids
from gateway.tools.local_names import nearest_by_name, other_properties
from gateway.tools.member_names import MemberNames
from gateway.tools.readers import IdReader
from gateway.tools.steering_reader import SteeringReader
from gateway.traversal.builder import TopologyBuilder
from gateway.traversal.expander import HubRule
from gateway.traversal.redirects import Redirects, ResolvedSeeds
from gateway.traversal.steering import Steering, WalkEdges, reverse
from gateway.traversal.topology import Snapshots, Topology

_WARNED = 5
"""Seeds, and predicates, that warnings about the other direction name."""

_PART_OF_EXPLORING = 3 / 8
"""Share of the size of an answer that the first of several pages around some nodes takes, where nobody says how much.

A hub fills any page; who looks around chooses a relation next.
"""

_LEAST = 4_000
"""Bytes below which such a page is not made smaller."""


class Traverser:
    """Answers traversals of one graph, and stores their topologies for further pages."""

    def __init__(
        self,
        store: GraphStore,
        profile: Profile,
        prefixes: PrefixMap,
        schema_cache: SchemaCache,
        id_reader: IdReader,
        member_names: MemberNames,
        clock: Clock,
    ) -> None:
        self._profile = profile
        self._prefixes = prefixes
        self._schema_cache = schema_cache
        self._id_reader = id_reader
        store = WalkEdges(store)
        self._topology_builder = TopologyBuilder(store, prefixes, profile)
        self._redirects = Redirects(store, profile, prefixes)
        self._steering_reader = SteeringReader(profile, prefixes, store)
        self._member_names = member_names
        self._store = store
        self._presenter = Presenter(store, profile, prefixes, schema_cache)
        self._snapshots = Snapshots(profile.snapshots.megabytes, profile.snapshots.ttl_seconds, clock)
        schema_cache.on_change(self._compare)

    def forget(self) -> None:
        """Drop all snapshots."""
        self._snapshots.clear()

    async def page(self, arguments: TraversalArguments, shape: Shape, call: Call) -> SubgraphPage:
        """Return the page of a traversal that its arguments ask for.

        Raises:
            InputError: A seed is neither an ID nor the name of one entity only, no seed exists, or a filter names what
                the graph does not have.
            Fault: Nothing could be learnt about any seed; for an intersection, about some seed.
        """
        if arguments.edge_offset and not arguments.offset:
            raise edge_offset_alone(arguments.tool)
        hops = arguments.max_hops if isinstance(arguments, BfsQuery) else arguments.k
        via = arguments.via if isinstance(arguments, IntersectSubgraphs) else False
        is_any = isinstance(arguments, BfsQuery)
        read = await self._id_reader.read("seeds", arguments.seeds, call, leaves_out=is_any)
        known, filters, steering, notes, doubts = await self._names_read(arguments, len(read.iris), call)
        members = (await self._member_names.read(arguments, known, call)).with_doubts(doubts)
        seeds, steering = _merged(read.iris, steering, arguments)
        rule = HubRule.of(self._profile.hubs, arguments.max_degree, arguments.max_edges_per_node)
        epoch, continues = self._snapshots.epoch, bool(arguments.offset) or arguments.snapshot is not None
        key = (arguments.tool, hops, rule, steering, call.language, *seeds)
        topology = self._snapshots.get(key, call.freshness, continues=continues)
        resolved, read_ahead = ResolvedSeeds(seeds), dict[Iri, Neighbourhood]()
        if self._redirects.are_asked_for:
            begins = asks_together(self._profile) and self._topology_builder.begins_with_edges(
                seeds, hops, rule, steering, via=via
            )
            reads_ahead = topology is None and (is_any or begins)
            resolved, read_ahead = await self._resolved(seeds, rule, steering, call, reads_ahead=reads_ahead)
        if resolved.seeds != seeds:
            seeds, steering = _merged(resolved.seeds, steering, arguments)
            key = (arguments.tool, hops, rule, steering, call.language, *seeds)
            topology = self._snapshots.get(key, call.freshness, continues=continues)
        slices = Slices()
        limit = max_bytes(self._profile.size, arguments.max_tokens, explain=arguments.explain)
        less = int(limit * _PART_OF_EXPLORING)
        explores = less >= _LEAST and shape.names_stubs and not members.is_of_members and _explores(arguments)
        advice = size_of({"warnings": [FOLLOW_ONE]})
        names = PageNames(self._store, self._profile, self._prefixes, arguments, shape, limit, call)
        if topology is None or not _has_paths(topology, via):
            build = (
                partial(self._topology_builder.neighbourhood, read_ahead=read_ahead)
                if isinstance(arguments, BfsQuery)
                else partial(self._topology_builder.intersection, via=arguments.via, read_ahead=read_ahead)
            )
            with call.tally.stage("expansion"), call.reserving(requests=0.0, time=TIME_FOR_PRESENTATION):
                answer = build(seeds, hops, rule, call, steering=steering, on_order=names.read_ahead)
                built = await self._told_nearest(answer, seeds[0], call)
            topology = found = resolved.with_gaps(built) if resolved.unread or resolved.endless else built
            # To measure it makes what all its pages need; of a large one in a thread.
            is_small = len(found.nodes) + len(found.edges) <= FEW_FOR_A_THREAD
            await in_thread(call, lambda _: found.size_bytes, unless=is_small)
            self._snapshots.put(key, found, epoch)
        await call.progress(hops + 1, hops + 1, traversal_done(len(topology.nodes), len(topology.edges)))
        await slices.end_one()
        other_way = [self._other_way(seed, steering, *found) for seed, found in topology.other_way.items()]
        is_alone = isinstance(arguments, IntersectSubgraphs) and len(seeds) == 1
        warnings = [
            *read.warnings(self._prefixes),
            *resolved.warnings,
            *([one_seed_only(self._prefixes.in_prose(seeds[0]), hops)] if is_alone else []),
            *(self._redirects.doubts(resolved, topology) if resolved.unread else []),
            *rule.warnings,
            *notes,
            *members.warnings,
            *other_way[:_WARNED],
        ]
        spared = read.spared(self._prefixes) if shape.names_stubs else {}
        question = Question(arguments, seeds, steering, known, filters, warnings, shape, limit, names, call, members)
        question = replace(question, less=less - advice if explores else None, spared=spared)
        page = await self._presenter.present(question, topology)
        if explores and page.next_offset is not None and shape.size_of_part(page) + advice <= limit:
            page.header.warnings.append(FOLLOW_ONE)
            # A page keeps how it is written.
            shape.size_of_part(page)
        return page

    async def _told_nearest(self, answer: Awaitable[Topology], seed: Iri, call: Call) -> Topology:
        """Return an answer; the error of seeds that do not exist says what is called like the first.

        Raises:
            InputError: No seed exists.
        """
        try:
            return await answer
        except InputError as error:
            nearest = await nearest_by_name(seed, self._prefixes, self._store, call)
            valid = " ".join(filter(None, [error.valid, messages.nearest_by_name(nearest)]))
            raise InputError(error.wrong, valid=valid, next_step=error.next_step) from error

    async def _resolved(
        self, seeds: Sequence[Iri], rule: HubRule, steering: Steering, call: Call, *, reads_ahead: bool
    ) -> tuple[ResolvedSeeds, dict[Iri, Neighbourhood]]:
        """Return the seeds, merged ones replaced, and what was read meanwhile of those that were not merged.

        Few seeds were merged, so a far endpoint is asked one time less after the other.
        """
        if not reads_ahead:
            return await self._redirects.resolved(seeds, call), {}
        async with together() as tasks:
            reading = tasks.create_task(self._topology_builder.read_ahead(seeds, rule, call, steering))
            resolved = await self._redirects.resolved(seeds, call)
        read = reading.result()
        return resolved, {seed: read[seed] for seed in resolved.seeds if seed in read}

    async def _names_read(
        self, arguments: TraversalArguments, seeds: int, call: Call
    ) -> tuple[SchemaView, Filters, Steering, list[str], Sequence[str]]:
        """Return what filters mean and which edges to follow, by which schema, with warnings and doubts.

        A misspelt name fails here, before the graph is asked for anything.

        Raises:
            InputError: A name matches nothing.
            Fault: A name matches nothing, and not all names could be read.
        """
        listed = await self._schema_cache.view(call, may_be_old=True)
        names = self._steering_reader.names_of(arguments.only_predicates or ())
        others = await other_properties(names, listed, self._store, call)
        known = listed.with_predicates(others.iris) if others.iris else listed
        try:
            filters = resolve(arguments, known, leaves_out=False)
            steering, notes = self._steering_reader.read(arguments, seeds, known)
        except GatewayError:
            listed = await self._schema_cache.view(call, unknown_term=True)
            known = listed.with_predicates(others.iris) if others.iris else listed
            filters = resolve(arguments, known)
            steering, notes = self._steering_reader.read(arguments, seeds, known, leaves_out=True)
        if any(steering.lists):
            filters = replace(filters, has_details=False)
        return known, filters, steering, notes, others.doubts

    def _other_way(self, seed: Iri, steering: Steering, other: EdgeSelection, degree: Degree) -> str:
        """Return a warning: a seed has edges in the direction that was not asked for."""
        followed = next(one for one in steering.selections if reverse(one) == other)
        return other_way(
            self._prefixes.in_prose(seed), self._written(followed), self._written(other), messages.edges_of(degree)
        )

    def _written(self, selection: EdgeSelection) -> str:
        """Return the predicates of a selection for a sentence, those of incoming edges with `^`."""
        if selection.outgoing is None or selection.incoming is None:
            return "an outgoing edge" if selection.incoming == () else "an incoming edge"
        signed = [("", iri) for iri in selection.outgoing] + [("^", iri) for iri in selection.incoming]
        return listed_ids([f"{sign}{self._prefixes.shorten(iri)}" for sign, iri in signed], _WARNED)

    def _compare(self) -> None:
        if self._schema_cache.latest is not None:
            self._snapshots.compare(self._schema_cache.latest.schema)


def _explores(arguments: TraversalArguments) -> bool:
    """Return whether a call asks for what is around some nodes, and neither for a part of it nor for how much."""
    says_what = arguments.only_predicates or arguments.names_terms or arguments.show != "both"
    says_how_much = arguments.max_tokens is not None or arguments.limit is not None or arguments.offset
    return isinstance(arguments, BfsQuery) and not (says_what or says_how_much)


def _has_paths(topology: Topology, via: bool | None) -> bool:
    """Return whether a stored topology has the paths that are asked for."""
    return topology.via is via or topology.via is True or via is False


def _merged(seeds: Sequence[Iri], steering: Steering, arguments: TraversalArguments) -> tuple[Sequence[Iri], Steering]:
    """Return the seeds without duplicates; one that has several lists of predicates stays once for each."""
    if not (steering.is_listed and isinstance(arguments, IntersectSubgraphs)):
        return list(dict.fromkeys(seeds)), steering
    pairs = dict.fromkeys(zip(seeds, steering.lists, strict=True))
    lists = tuple(followed for _, followed in pairs)
    return [seed for seed, _ in pairs], replace(steering, lists=lists, is_listed=len(lists) > 1)


# --- sentences that a model reads ---

FOLLOW_ONE = (
    "This is the first page of what is around the seeds. describe_entity counts the edges of each relation; "
    "only_predicates follows one."
)


def one_seed_only(seed: str, k: int) -> str:
    """Return a warning: all seeds of an intersection are one entity."""
    return f"seeds: all of them are {seed}, so this is what lies within {k} hop{'s' if k > 1 else ''} of it alone."


def other_way(seed: str, followed: str, other: str, count: str) -> str:
    """Return a warning: a seed has no edge in the direction asked for, and some in the other."""
    return f"{seed} has no edge by {followed}, but {count} by {other}: ask for that direction."


def traversal_done(nodes: int, edges: int) -> str:
    """Return the progress of a traversal at its end."""
    return f"{counted(nodes, 'node')}, {counted(edges, 'edge')}"


def edge_offset_alone(tool: str) -> InputError:
    """Return the error of a page that goes on with the edges of a node, and does not say of which."""
    return InputError(
        f"{tool}: edge_offset is given without offset.",
        valid="Both together: next_edge and next_offset of the page before.",
    )
