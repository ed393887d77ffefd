"""The six tools, as six calls."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any, Self, TypedDict, Unpack

from gateway.engine.answers import (
    Answer,
    BfsResult,
    EntitiesResult,
    Entity,
    IntersectionResult,
    SchemaResult,
    SearchResult,
)
from gateway.engine.arguments import (
    BfsQuery,
    DescribeEntities,
    DescribeEntity,
    DescribeSchema,
    IntersectSubgraphs,
    SearchEntities,
    parse,
)
from gateway.engine.book import SchemaBook
from gateway.engine.describing import Describer, expanded
from gateway.engine.exploring import Progress, no_progress
from gateway.engine.filtering import TraversalArguments, resolve
from gateway.engine.hubs import HubRule
from gateway.engine.orienting import Orienter
from gateway.engine.presenting import Presenter
from gateway.engine.searching import Searcher
from gateway.engine.snapshots import Snapshots
from gateway.engine.topology import Cartographer
from gateway.errors import InputError, quoted
from gateway.graph.budget import Budget, Clock, Deadline
from gateway.graph.store import GraphStore
from gateway.settings.profile import Profile
from gateway.terms.prefixes import PrefixMap


class Detail(TypedDict, total=False):
    """What `bfs_query` and `intersect_subgraphs` show, and how much of it.

    Attributes:
        node_types: Nodes of these types come with metadata; the others as stubs.
        predicates: Edges of these predicates come with metadata; the others bare.
        topology_only: Only IDs, types and triples.
        exclude_node_types: Remove nodes of these types and the edges that touch them.
        min_mentions: Remove nodes that are mentioned less often.
        limit: Nodes on the page.
        offset: Nodes to skip: `next_offset` of the page before.
        max_tokens: Size of the answer; a token is 4 bytes.
        max_degree: Nodes with more edges are shown but not expanded, seeds excepted.
        max_edges_per_node: Edges that an expanded node shows at most.
        snapshot: The `snapshot` of the page before.
    """

    node_types: Sequence[str] | None
    predicates: Sequence[str] | None
    topology_only: bool
    exclude_node_types: Sequence[str] | None
    min_mentions: int
    limit: int | None
    offset: int
    max_tokens: int | None
    max_degree: int | None
    max_edges_per_node: int | None
    snapshot: str | None


class Gateway:
    """One graph behind the six tools of BFS-QL.

    Every call raises `InputError` for a wrong argument and `Fault` where the graph could not be asked; what a fault
    leaves of an answer is in the answer, marked.

    Use `gateway.api.open_gateway` to make one.
    """

    def __init__(self, store: GraphStore, profile: Profile, prefixes: PrefixMap, clock: Clock = time.monotonic) -> None:
        self._store = store
        self._profile = profile
        self._prefixes = prefixes
        self._clock = clock
        self._book = SchemaBook(store, profile, prefixes)
        self._cartographer = Cartographer(store, prefixes, profile)
        self._presenter = Presenter(store, profile, prefixes, self._book)
        self._orienter = Orienter(profile, prefixes, self._book)
        self._searcher = Searcher(store, profile, prefixes, self._book)
        self._describer = Describer(store, profile, prefixes, self._book)
        self._snapshots = Snapshots(profile.snapshots.megabytes, profile.snapshots.ttl_seconds, clock)

    @property
    def profile(self) -> Profile:
        """The profile in force."""
        return self._profile

    @property
    def prefixes(self) -> PrefixMap:
        """The prefixes in force."""
        return self._prefixes

    def forget_snapshots(self) -> None:
        """Forget all answers kept for paging."""
        self._snapshots.clear()

    def forget(self) -> None:
        """Forget what was read of nodes and edges: the answers kept for paging, and the cache below them."""
        self._snapshots.clear()
        self._store.forget()

    async def close(self) -> None:
        """Let go of connections."""
        await self._store.close()

    async def __aenter__(self) -> Self:
        """Return the gateway itself."""
        return self

    async def __aexit__(self, *_: object) -> None:
        """Close the gateway."""
        await self.close()

    async def call(self, tool: str, arguments: Mapping[str, Any], progress: Progress = no_progress) -> Answer:
        """Call a tool by name with arguments as they came over a wire.

        Args:
            tool: One of the six names.
            arguments: Checked here.
            progress: Told after each hop.

        Raises:
            InputError: There is no such tool, or an argument is wrong.
            Fault: The graph could not be asked.
        """
        match tool:
            case "describe_schema":
                parse(DescribeSchema, arguments)
                return await self.describe_schema()
            case "search_entities":
                return await self._searcher.search(parse(SearchEntities, arguments), self._budget())
            case "bfs_query":
                return await self._bfs(parse(BfsQuery, arguments), progress)
            case "describe_entity":
                return await self._describer.one(parse(DescribeEntity, arguments), self._budget())
            case "describe_entities":
                return await self._describer.several(parse(DescribeEntities, arguments), self._budget())
            case "intersect_subgraphs":
                return await self._intersect(parse(IntersectSubgraphs, arguments), progress)
            case _:
                raise InputError(f"There is no tool {quoted(tool)}.")

    async def describe_schema(self) -> SchemaResult:
        """Say what the graph contains: types, predicates and how to go on.

        Raises:
            Fault: The graph could not be asked; one that is too large to enumerate in time has empty lists that
                are not comprehensive.
        """
        return await self._orienter.describe(self._budget())

    async def search_entities(
        self, query: str, node_types: Sequence[str] | None = None, *, limit: int = 10
    ) -> SearchResult:
        """Resolve a name, an alias or a part of one to entities.

        Args:
            query: What to look for.
            node_types: Only entities of these types.
            limit: Hits at most, 1 to 100.
        """
        given = {"query": query, "node_types": node_types, "limit": limit}
        return await self._searcher.search(parse(SearchEntities, _with_lists(given)), self._budget())

    async def bfs_query(
        self,
        seeds: Sequence[str],
        max_hops: int,
        *,
        progress: Progress = no_progress,
        **detail: Unpack[Detail],
    ) -> BfsResult:
        """Return the union of the seeds' neighbourhoods.

        Args:
            seeds: IDs or IRIs, 1 to 50.
            max_hops: Distance from any seed, 1 to 5.
            progress: Told after each hop.
            **detail: What is shown and how much of it; see `Detail`.
        """
        given = {"seeds": seeds, "max_hops": max_hops, **detail}
        return await self._bfs(parse(BfsQuery, _with_lists(given)), progress)

    async def describe_entity(self, id: str, *, max_tokens: int | None = None) -> Entity:  # noqa: A002 - the protocol's name
        """Return everything known about one entity beside its edges.

        Args:
            id: Its ID or IRI.
            max_tokens: Size of the answer; a token is 4 bytes.
        """
        return await self._describer.one(parse(DescribeEntity, {"id": id, "max_tokens": max_tokens}), self._budget())

    async def describe_entities(self, ids: Sequence[str], *, max_tokens: int | None = None) -> EntitiesResult:
        """Return everything known about several entities beside their edges.

        Args:
            ids: IDs or IRIs, 1 to 200.
            max_tokens: Size of the answer; a token is 4 bytes.
        """
        return await self._describer.several(
            parse(DescribeEntities, _with_lists({"ids": ids, "max_tokens": max_tokens})), self._budget()
        )

    async def intersect_subgraphs(
        self,
        seeds: Sequence[str],
        k: int,
        *,
        via: bool = False,
        progress: Progress = no_progress,
        **detail: Unpack[Detail],
    ) -> IntersectionResult:
        """Return the nodes within k hops of every seed, and all edges among them.

        Args:
            seeds: IDs or IRIs, 2 to 50.
            k: Distance from every seed, 1 to 5.
            via: Give each node one shortest path to each seed.
            progress: Told after each hop.
            **detail: What is shown and how much of it; see `Detail`.
        """
        given = {"seeds": seeds, "k": k, "via": via, **detail}
        return await self._intersect(parse(IntersectSubgraphs, _with_lists(given)), progress)

    async def _bfs(self, arguments: BfsQuery, progress: Progress) -> BfsResult:
        return BfsResult.model_validate(await self._subgraph(arguments, arguments.max_hops, progress))

    async def _intersect(self, arguments: IntersectSubgraphs, progress: Progress) -> IntersectionResult:
        return IntersectionResult.model_validate(await self._subgraph(arguments, arguments.k, progress))

    async def _subgraph(self, arguments: TraversalArguments, hops: int, progress: Progress) -> dict[str, Any]:
        budget = self._budget()
        seeds = expanded("seeds", arguments.seeds, self._prefixes)
        if isinstance(arguments, IntersectSubgraphs) and len(seeds) < 2:  # noqa: PLR2004 - an intersection has two sides
            raise InputError(
                "intersect_subgraphs: the seeds are one entity, written more than once.",
                valid="seeds takes 2 to 50 different IDs.",
                next_step="Use bfs_query for the neighborhood of one entity.",
            )
        # A misspelt filter fails before the graph is asked for anything.
        known = await self._book.known(budget)
        try:
            resolve(arguments, known)
        except InputError:
            resolve(arguments, await self._book.known(budget, doubted=True))
        rule = HubRule.of(self._profile.hubs, arguments.max_degree, arguments.max_edges_per_node)
        via = isinstance(arguments, IntersectSubgraphs) and arguments.via
        question = (arguments.tool, tuple(seeds), hops, rule.question, via)
        going_on = bool(arguments.offset) or arguments.snapshot is not None
        topology = self._snapshots.get(question, going_on=going_on)
        if topology is None:
            if isinstance(arguments, BfsQuery):
                topology = await self._cartographer.neighbourhood(seeds, hops, rule, budget, progress)
            else:
                topology = await self._cartographer.intersection(seeds, hops, rule, budget, progress, via=via)
            self._snapshots.put(question, topology)
        await progress(hops + 1, hops + 1, f"{len(topology.nodes)} nodes, {len(topology.edges)} edges")
        return await self._presenter.present(topology, arguments, seeds, rule.warnings, budget)

    def _budget(self) -> Budget:
        limits = self._profile.limits
        return Budget(Deadline.after(limits.deadline_seconds, self._clock), limits.requests, limits.rows, limits.nodes)


def _with_lists(given: Mapping[str, object]) -> dict[str, object]:
    """Take tuples for the lists that the argument models ask for; what is neither is refused by them."""
    return {name: list(value) if isinstance(value, tuple) else value for name, value in given.items()}
