"""The six tools, as six calls."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Self, TypedDict, TypeVar, Unpack

from gateway.engine.answers import (
    BfsResult,
    EntitiesResult,
    Entity,
    IntersectionResult,
    SchemaResult,
    SearchResult,
    Subgraph,
    ToolAnswer,
)
from gateway.engine.arguments import (
    AnyArguments,
    BfsQuery,
    DescribeEntities,
    DescribeEntity,
    DescribeSchema,
    IntersectSubgraphs,
    SearchEntities,
    parse,
)
from gateway.engine.presentation.explain import explained
from gateway.engine.presentation.size import size_of
from gateway.engine.presentation.size_limit import max_bytes
from gateway.engine.schema.cache import SchemaCache, SchemaStorage
from gateway.engine.tools.description import EntityDescriber
from gateway.engine.tools.schema import SchemaDescriber
from gateway.engine.tools.search import EntitySearcher
from gateway.engine.tools.traversal import Traverser
from gateway.errors import InputError, quoted
from gateway.graph.call import Call, Progress, no_progress
from gateway.graph.deadline import Clock, Deadline
from gateway.graph.store import GraphStore
from gateway.settings.profile import Profile
from gateway.telemetry import Record, Tally
from gateway.terms.prefixes import PrefixMap

AnyAnswer = TypeVar("AnyAnswer", bound=ToolAnswer)

OnRecord = Callable[[Record], object]
"""Told what each call cost, when it has ended; it must not raise."""


def ignored(_: Record) -> None:
    """Tell nobody."""


ReadNames = Callable[[Callable[[int, int], Awaitable[None]]], Awaitable[None]]
"""Waits until something is read; calls its argument with how much is read, and of how much."""


async def read_already(_: Callable[[int, int], Awaitable[None]]) -> None:
    """Wait for nothing."""


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
        explain: Say what the call cost, and which SPARQL was sent.
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
    explain: bool


class Gateway:
    """One graph behind the six tools of BFS-QL.

    Every call raises `InputError` for a wrong argument and `Fault` where the graph could not be asked; what a fault
    leaves of an answer is in the answer, marked.

    What each call cost goes to the log, and to `on_record`.

    Use `gateway.api.open_gateway` to make one.
    """

    def __init__(
        self,
        store: GraphStore,
        profile: Profile,
        prefixes: PrefixMap,
        clock: Clock = time.monotonic,
        on_record: OnRecord = ignored,
        storage: SchemaStorage | None = None,
        names_read: ReadNames = read_already,
    ) -> None:
        self._store = store
        self._names_read = names_read
        self._profile = profile
        self._prefixes = prefixes
        self._clock = clock
        self._on_record = on_record
        self._schema_cache = SchemaCache(store, profile, prefixes, clock, storage)
        self._schema_describer = SchemaDescriber(profile, prefixes, self._schema_cache)
        self._entity_searcher = EntitySearcher(store, profile, prefixes, self._schema_cache)
        self._entity_describer = EntityDescriber(store, profile, prefixes, self._schema_cache)
        self._traverser = Traverser(store, profile, prefixes, self._schema_cache, clock)

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
        self._traverser.forget()

    def forget(self) -> None:
        """Forget what was read of nodes and edges: the answers kept for paging, and the cache below them."""
        self._traverser.forget()
        self._store.forget()

    def start(self) -> None:
        """Begin to read the schema, in the running event loop, and to make ready what searches need."""
        self._schema_cache.start()
        self._store.prepare()

    def known_schema(self) -> SchemaResult | None:
        """Return what `describe_schema` would answer now, without asking the graph; None while nothing is known."""
        return self._schema_describer.known()

    def on_schema(self, listener: Callable[[], None]) -> None:
        """Have a function called, in the event loop, whenever `describe_schema` would answer something else."""
        self._schema_cache.on_change(listener)

    async def oriented(self) -> None:
        """Wait until the schema was read in full, or as far as the profile allows; where it is not being read, not."""
        await self._schema_cache.wait_until_read()

    async def prepared(self, progress: Progress = no_progress) -> None:
        """Wait until the schema is read in full, as far as the profile allows, and the names for searches are.

        Args:
            progress: Called after each page of names.
        """
        self._schema_cache.start()
        await progress(0, 1, "Reading types and predicates")
        await self._schema_cache.wait_until_read()

        async def told(read: int, total: int) -> None:
            await progress(read, total, f"Reading names of {total:,} entities")

        await self._names_read(told)

    async def close(self) -> None:
        """Stop what goes on in the background, and let go of connections."""
        await self._schema_cache.close()
        await self._store.close()

    async def __aenter__(self) -> Self:
        """Return the gateway itself."""
        return self

    async def __aexit__(self, *_: object) -> None:
        """Close the gateway."""
        await self.close()

    async def call(self, tool: str, arguments: Mapping[str, Any], progress: Progress = no_progress) -> ToolAnswer:
        """Call a tool by name with arguments as they came over a wire.

        Args:
            tool: One of the six names.
            arguments: Checked here.
            progress: Told after each hop.

        Raises:
            InputError: There is no such tool, or an argument is wrong.
            Fault: The graph could not be asked.
        """
        obeying = self._profile.server.explain
        match tool:
            case "describe_schema":
                return await self._answer(DescribeSchema, arguments, self._schema_describer.describe, explain=obeying)
            case "search_entities":
                return await self._answer(SearchEntities, arguments, self._entity_searcher.search, explain=obeying)
            case "bfs_query":
                return await self._answer(BfsQuery, arguments, self._traverser.bfs, progress, explain=obeying)
            case "describe_entity":
                return await self._answer(DescribeEntity, arguments, self._entity_describer.one, explain=obeying)
            case "describe_entities":
                return await self._answer(DescribeEntities, arguments, self._entity_describer.several, explain=obeying)
            case "intersect_subgraphs":
                return await self._answer(
                    IntersectSubgraphs, arguments, self._traverser.intersection, progress, explain=obeying
                )
            case _:
                raise InputError(f"There is no tool {quoted(tool)}.")

    async def describe_schema(self, *, explain: bool = False) -> SchemaResult:
        """Say what the graph contains: types, predicates and how to go on.

        Args:
            explain: Say what the call cost, and which SPARQL was sent.

        Raises:
            Fault: The graph could not be asked; one that is too large to enumerate in time has empty lists that
                are not comprehensive.
        """
        return await self._answer(DescribeSchema, {"explain": explain}, self._schema_describer.describe)

    async def search_entities(
        self, query: str, node_types: Sequence[str] | None = None, *, limit: int = 10, explain: bool = False
    ) -> SearchResult:
        """Resolve a name, an alias or a part of one to entities.

        Args:
            query: What to look for.
            node_types: Only entities of these types.
            limit: Hits at most, 1 to 100.
            explain: Say what the call cost, and which SPARQL was sent.
        """
        given = {"query": query, "node_types": node_types, "limit": limit, "explain": explain}
        return await self._answer(SearchEntities, given, self._entity_searcher.search)

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
        return await self._answer(BfsQuery, given, self._traverser.bfs, progress)

    async def describe_entity(
        self,
        id: str,  # noqa: A002 - the protocol's name
        *,
        max_tokens: int | None = None,
        explain: bool = False,
    ) -> Entity:
        """Return everything known about one entity beside its edges.

        Args:
            id: Its ID or IRI.
            max_tokens: Size of the answer; a token is 4 bytes.
            explain: Say what the call cost, and which SPARQL was sent.
        """
        given = {"id": id, "max_tokens": max_tokens, "explain": explain}
        return await self._answer(DescribeEntity, given, self._entity_describer.one)

    async def describe_entities(
        self, ids: Sequence[str], *, max_tokens: int | None = None, explain: bool = False
    ) -> EntitiesResult:
        """Return everything known about several entities beside their edges.

        Args:
            ids: IDs or IRIs, 1 to 200.
            max_tokens: Size of the answer; a token is 4 bytes.
            explain: Say what the call cost, and which SPARQL was sent.
        """
        given = {"ids": ids, "max_tokens": max_tokens, "explain": explain}
        return await self._answer(DescribeEntities, given, self._entity_describer.several)

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
        return await self._answer(IntersectSubgraphs, given, self._traverser.intersection, progress)

    async def _answer(
        self,
        model: type[AnyArguments],
        given: Mapping[str, Any],
        work: Callable[[AnyArguments, Call], Awaitable[AnyAnswer]],
        progress: Progress = no_progress,
        *,
        explain: bool = True,
    ) -> AnyAnswer:
        """Answer a call, and record what it cost, whatever becomes of it.

        Args:
            model: Its arguments.
            given: Its arguments, not yet checked.
            work: Makes the answer.
            progress: Receives each step of a traversal.
            explain: Whether `explain` is an argument.
        """
        tally = Tally(model.tool, self._clock)
        try:
            # What belongs to no other stage is presentation.
            with tally.stage("presentation"):
                arguments = parse(model, _with_lists(given), explain=explain)
                tally.keeps_queries = arguments.explain
                answer = await work(arguments, self._call(tally, progress))
        except BaseException as error:
            self._on_record(tally.failed(error))
            raise
        gaps = answer.incomplete or () if isinstance(answer, Subgraph) else ()
        record = tally.answered(complete=answer.complete, causes=[gap.cause for gap in gaps])
        self._on_record(record)
        if arguments.explain:
            limit, _ = max_bytes(self._profile.size, getattr(arguments, "max_tokens", None), explain=False)
            answer.explain = explained(record, limit - size_of(answer.as_json()))
        return answer

    def _call(self, tally: Tally, progress: Progress) -> Call:
        limits = self._profile.limits
        deadline = Deadline.after(limits.deadline_seconds, self._clock)
        return Call(deadline, limits.requests, limits.rows, limits.nodes, tally=tally, progress=progress)


def _with_lists(given: Mapping[str, object]) -> dict[str, object]:
    """Take tuples for the lists that the argument models ask for; what is neither is refused by them."""
    return {name: list(value) if isinstance(value, tuple) else value for name, value in given.items()}
