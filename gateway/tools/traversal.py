"""Makes the answers of `bfs_query` and `intersect_subgraphs`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from gateway import messages
from gateway.answers import written_iris
from gateway.answers.filters import Traversal, resolve
from gateway.answers.names import PageNames
from gateway.answers.page import SubgraphPage
from gateway.answers.presenter import TIME_FOR_PRESENTATION, Presenter
from gateway.answers.shape import Shape
from gateway.arguments import BfsQuery, IntersectSubgraphs, TraversalArguments
from gateway.errors import InputError
from gateway.graph.call import Call, Freshness, together
from gateway.graph.computing import FEW_FOR_A_THREAD, Slices, in_thread
from gateway.graph.store import GraphStore
from gateway.graph.values import Degree, EdgeSelection, Iri, Neighbourhood
from gateway.schema.cache import SchemaCache
from gateway.schema.view import SchemaView
from gateway.settings.profile import Profile
from gateway.telemetry.tally import Clock
from gateway.terms.prefixes import PrefixMap, listed_ids
from gateway.tools.readers import IdReader, SteeringReader
from gateway.traversal.builder import TopologyBuilder
from gateway.traversal.expander import HubRule
from gateway.traversal.redirects import Redirects, ResolvedSeeds
from gateway.traversal.snapshots import Snapshots
from gateway.traversal.steering import Steering, reverse
from gateway.traversal.topology import Topology

_WARNED = 5
"""Seeds, and predicates, that warnings about the other direction name."""


class Traverser:
    """Answers traversals of one graph, and stores their topologies for further pages."""

    def __init__(
        self,
        store: GraphStore,
        profile: Profile,
        prefixes: PrefixMap,
        schema_cache: SchemaCache,
        id_reader: IdReader,
        clock: Clock,
    ) -> None:
        self._profile = profile
        self._prefixes = prefixes
        self._schema_cache = schema_cache
        self._id_reader = id_reader
        self._topology_builder = TopologyBuilder(store, prefixes, profile)
        self._redirects = Redirects(store, profile, prefixes)
        self._steering_reader = SteeringReader(profile, prefixes)
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
            raise messages.edge_offset_alone(arguments.tool)
        hops = arguments.max_hops if isinstance(arguments, BfsQuery) else arguments.k
        read = await self._id_reader.read("seeds", arguments.seeds, call)
        steering, notes = await self._checked(arguments, len(read.iris), call)
        seeds, steering = _merged(read.iris, steering, arguments)
        rule = HubRule.of(self._profile.hubs, arguments.max_degree, arguments.max_edges_per_node)
        epoch, continues = self._snapshots.epoch, bool(arguments.offset) or arguments.snapshot is not None
        question = (arguments.tool, hops, rule, steering, *seeds)
        is_new = self._snapshots.get(question, Freshness(), continues=continues) is None
        resolved, read_ahead = await self._resolved(
            seeds, rule, steering, call, reads_ahead=is_new and isinstance(arguments, BfsQuery)
        )
        seeds, steering = _merged(resolved.seeds, steering, arguments)
        via = arguments.via if isinstance(arguments, IntersectSubgraphs) else False
        question = (arguments.tool, hops, rule, steering, *seeds)
        topology = self._snapshots.get(question, call.freshness, continues=continues)
        slices = Slices()
        names = PageNames(self._store, self._profile, self._prefixes, arguments, shape, call)
        if topology is None or not _has_paths(topology, via):
            with call.tally.stage("expansion"), call.reserving(requests=0.0, time=TIME_FOR_PRESENTATION):
                topology = await self._built(arguments, seeds, rule, steering, read_ahead, names, call)
            topology = resolved.with_gaps(topology)
            await self._measure(topology, call)
            self._snapshots.put(question, topology, epoch)
        await call.progress(hops + 1, hops + 1, messages.traversal_done(len(topology.nodes), len(topology.edges)))
        # No sentence and no ID is written before that: an answer writes each namespace in one way.
        await slices.end_one()
        self._prefixes.coin(written_iris.of_topology(topology, arguments.offset))
        await slices.end_one()
        other_way = [self._other_way(seed, steering, *found) for seed, found in topology.other_way.items()]
        is_alone = isinstance(arguments, IntersectSubgraphs) and len(seeds) == 1
        warnings = [
            *read.warnings(self._prefixes),
            *resolved.warnings,
            *([messages.one_seed_only(self._prefixes.in_prose(seeds[0]), hops)] if is_alone else []),
            *self._redirects.doubts(resolved, topology),
            *rule.warnings,
            *notes,
            *other_way[:_WARNED],
        ]
        traversal = Traversal(arguments, seeds, topology, warnings, steering)
        return await self._presenter.present(traversal, names, shape, call)

    async def _built(
        self,
        arguments: TraversalArguments,
        seeds: Sequence[Iri],
        rule: HubRule,
        steering: Steering,
        read_ahead: Mapping[Iri, Neighbourhood],
        names: PageNames,
        call: Call,
    ) -> Topology:
        """Build the topology of a question, and read names of its page beside it."""
        if isinstance(arguments, BfsQuery):
            return await self._topology_builder.neighbourhood(
                seeds, arguments.max_hops, rule, call, steering, read_ahead=read_ahead, on_order=names.read_ahead
            )
        return await self._topology_builder.intersection(
            seeds, arguments.k, rule, call, via=arguments.via, steering=steering, on_order=names.read_ahead
        )

    async def _resolved(
        self, seeds: Sequence[Iri], rule: HubRule, steering: Steering, call: Call, *, reads_ahead: bool
    ) -> tuple[ResolvedSeeds, Mapping[Iri, Neighbourhood]]:
        """Return the seeds, merged ones replaced, and what was read meanwhile of those that were not merged.

        Few seeds were merged, so a far endpoint is asked one time less after the other.
        """
        if not (reads_ahead and self._redirects.are_asked_for):
            return await self._redirects.resolved(seeds, call), {}
        async with together() as tasks:
            reading = tasks.create_task(self._topology_builder.read_ahead(seeds, rule, call, steering))
            resolved = await self._redirects.resolved(seeds, call)
        read = reading.result()
        return resolved, {seed: read[seed] for seed in resolved.seeds if seed in read}

    async def _measure(self, topology: Topology, call: Call) -> None:
        """Measure a topology, and so make what all its pages need; a large one in a thread.

        Raises:
            DeadlinePassed: The time was not enough.
        """
        is_small = len(topology.nodes) + len(topology.edges) <= FEW_FOR_A_THREAD
        await in_thread(call, lambda _: topology.size_bytes, unless=is_small)

    async def _checked(self, arguments: TraversalArguments, seeds: int, call: Call) -> tuple[Steering, list[str]]:
        """Return which edges to follow; a misspelt name fails here, before the graph is asked for anything.

        Raises:
            InputError: A name matches nothing.
        """

        def resolved(known: SchemaView) -> tuple[Steering, list[str]]:
            resolve(arguments, known)
            return self._steering_reader.read(arguments, seeds, known)

        try:
            return resolved(await self._schema_cache.view(call))
        except InputError:
            return resolved(await self._schema_cache.view(call, unknown_term=True))

    def _other_way(self, seed: Iri, steering: Steering, other: EdgeSelection, degree: Degree) -> str:
        """Return a warning: a seed has edges in the direction that was not asked for."""
        followed = next(one for one in steering.selections if reverse(one) == other)
        return messages.other_way(
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
