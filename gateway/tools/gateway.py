"""One graph behind the six tools: each a method, and all behind one `call` by name."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal, Self, Unpack, overload

from gateway import messages
from gateway.answers.compact import COMPACT
from gateway.answers.models import (
    BfsResult,
    CompactAnswer,
    EntitiesResult,
    Entity,
    IntersectionResult,
    SchemaResult,
    SearchResult,
    ToolAnswer,
)
from gateway.answers.reference import REFERENCE
from gateway.answers.shape import Shape
from gateway.arguments import (
    MAX_HITS,
    BfsQuery,
    DescribeEntities,
    DescribeEntity,
    DescribeSchema,
    IntersectSubgraphs,
    SearchEntities,
    SearchOptions,
    TraversalOptions,
    WholeBfsQuery,
    WholeIntersectSubgraphs,
    no_such_tool,
)
from gateway.export.subgraph import Subgraph
from gateway.files.graph_files import NO_FILES, FileChanges
from gateway.graph.call import Call, Deadline, GivenTerms, KnownIds, OtherGraphs, Progress, no_progress
from gateway.graph.store import GraphStore
from gateway.graph.values import Iri, NodeFacts
from gateway.schema.cache import SchemaCache, SchemaStorage
from gateway.search_index.name_vectors import NameVectorsSource
from gateway.settings.profile import Profile, ShapeName, with_unlimited_size
from gateway.telemetry.tally import Clock
from gateway.terms.prefixes import PrefixMap
from gateway.tools.answering import Answerer, Namespaces, OnRecord, Tool, drop_record
from gateway.tools.description import EntityDescriber
from gateway.tools.imports import ImportReader
from gateway.tools.member_names import MemberNames
from gateway.tools.options import with_options
from gateway.tools.progress import AnyProgress, as_progress
from gateway.tools.readers import IdReader
from gateway.tools.row_pages import pages_of_rows, typed_pages
from gateway.tools.schema import SchemaDescriber
from gateway.tools.search import EntitySearcher
from gateway.tools.shapes import ShapeReader
from gateway.tools.terms_by_meaning import TermsByMeaning
from gateway.tools.traversal import Traverser
from gateway.tools.whole_entities import listed_texts, whole_entities
from gateway.tools.whole_subgraph import NOT_WHOLE, Traversed, WholeSubgraphs

_SHAPES: Mapping[ShapeName, Shape] = {shape.name: shape for shape in (REFERENCE, COMPACT)}

_COUNTING_SECONDS = 600.0
"""Time for counting the nodes without a name before the first call, of which half may be used; two million triples take
17 s."""


class Gateway:
    """One graph behind the six tools of BFS-QL.

    Every call raises `InputError` for a wrong argument and `Fault` if the graph could not be queried. An answer that a
    fault made incomplete is returned, marked as incomplete.

    `gateway.api.open_gateway` opens one.

    Args:
        store: The graph.
        profile: The settings of the endpoint and its graph.
        prefixes: The prefixes of IDs.
        clock: The time in seconds.
        on_record: Receives the record of each call; the log receives it too.
        storage: Stores the schema between runs.
        changes: Whether the files of the graph are still what they were; answers say so if they are not.
        namespaces: Returns the namespaces of IRIs of a graph in this process, and whether these are all.
        meaning: Compares names by their meaning; the store closes it.

    Attributes:
        changes: See above.
    """

    def __init__(
        self,
        store: GraphStore,
        profile: Profile,
        prefixes: PrefixMap,
        clock: Clock = time.monotonic,
        on_record: OnRecord = drop_record,
        storage: SchemaStorage | None = None,
        changes: FileChanges = NO_FILES,
        namespaces: Namespaces | None = None,
        meaning: NameVectorsSource | None = None,
    ) -> None:
        self.changes = changes
        self._store = store
        self._profile = profile
        self._prefixes = prefixes
        self._clock = clock
        self._meaning = meaning
        self._schema_cache = SchemaCache(store, profile, prefixes, clock, storage)
        shapes = ShapeReader(store, profile, prefixes)
        terms = None if meaning is None else TermsByMeaning(meaning.embedder, profile, prefixes, shapes, clock)
        self._answerer = Answerer(
            profile, prefixes, self._schema_cache, clock, on_record, changes.note, namespaces, terms
        )
        self._subgraphs = WholeSubgraphs(
            self._traversed, prefixes, self._may_have_expressions, self._steps, self._predicates
        )
        member_names = MemberNames(store, profile, prefixes, self._schema_cache, shapes)
        imports = ImportReader(store)
        self._schema_describer = SchemaDescriber(store, profile, prefixes, self._schema_cache, shapes, imports, terms)
        searcher = EntitySearcher(store, profile, prefixes, self._schema_cache, member_names)
        self._id_reader = id_reader = IdReader(searcher, store, profile, prefixes, self._schema_cache)
        reading = profile, prefixes, self._schema_cache, id_reader, member_names, clock
        self._traverser = Traverser(store, *reading)
        describer = EntityDescriber(store, profile, prefixes, self._schema_cache, id_reader)
        bfs_result, intersection_result = BfsResult.model_validate, IntersectionResult.model_validate
        self._describe_schema = Tool(DescribeSchema, self._schema_describer.describe, SchemaResult.model_validate)
        self._search_entities = Tool(SearchEntities, searcher.search, SearchResult.model_validate)
        self._bfs_query = Tool(BfsQuery, self._traverser.page, bfs_result)
        self._describe_entity = Tool(DescribeEntity, describer.one, Entity.model_validate)
        self._describe_entities = Tool(DescribeEntities, describer.several, EntitiesResult.model_validate)
        self._intersect_subgraphs = Tool(IntersectSubgraphs, self._traverser.page, intersection_result)
        every: tuple[Tool[Any, Any], ...] = (
            *(self._describe_schema, self._search_entities, self._bfs_query),
            *(self._describe_entity, self._describe_entities, self._intersect_subgraphs),
        )
        self._tools = {tool.arguments.tool: tool for tool in every}
        # Its answers are of any size: a program or a person asked for all of them.
        roomy = with_unlimited_size(profile)
        self._whole_traverser = whole = Traverser(store, roomy, *reading[1:])
        whole_searcher = EntitySearcher(store, roomy, prefixes, self._schema_cache, member_names)
        self._whole_search = Tool(SearchEntities, whole_searcher.search, SearchResult.model_validate)
        self._whole: Mapping[str, Tool[Any, Any]] = {
            BfsQuery.tool: Tool(WholeBfsQuery, whole.page, bfs_result),
            IntersectSubgraphs.tool: Tool(WholeIntersectSubgraphs, whole.page, intersection_result),
        }
        whole_describer = EntityDescriber(store, roomy, prefixes, self._schema_cache, id_reader, lists_wrong=True)
        self._whole_entities = Tool(DescribeEntities, whole_describer.several, EntitiesResult.model_validate)

    @property
    def profile(self) -> Profile:
        """The profile in force."""
        return self._profile

    @property
    def is_in_process(self) -> bool:
        """Whether the graph is in this process, so that a question costs no request."""
        return self._store.has_degrees_at_hand()

    @property
    def prefixes(self) -> PrefixMap:
        """The prefixes in force."""
        return self._prefixes

    def set_others(self, others: OtherGraphs) -> None:
        """Say which other graphs descriptions look for entities in, where a call names none (`profile.identity`)."""
        self._answerer.others = others

    async def known_ids(self, iris: Sequence[Iri], call: Call) -> KnownIds:
        """Return which IRIs are nodes here, for a call about another graph, which pays for it.

        Raises:
            Fault: The graph could not be queried at all.
        """
        found = await self._store.existing(iris, replace(call, given=GivenTerms(frozenset(iris))))
        faults = {iri: existence.mark.fault for iri, existence in found.items()}
        failed = {iri: fault for iri, fault in faults.items() if fault is not None}
        # A coined prefix would have to be told beside the ID.
        write = self._prefixes.declared_form
        ids = {iri: write(iri) for iri, existence in found.items() if existence.mark.whole and existence.exists}
        return KnownIds(ids, failed)

    def forget_snapshots(self) -> None:
        """Drop all answers that are stored for paging."""
        self._traverser.forget()
        self._whole_traverser.forget()
        self._answerer.forget()

    def forget(self) -> None:
        """Drop all nodes and edges read so far: the answers stored for paging, and the cache."""
        self.forget_snapshots()
        self._schema_describer.forget()
        self._store.forget()

    def start(self) -> None:
        """Begin to read the schema and to build the label index, in the running event loop."""
        self._schema_cache.start()
        self._store.prepare()

    def known_schema(self) -> SchemaResult | None:
        """Return the answer of `describe_schema` as far as it is known, without a query; None if nothing is known."""
        page = self._schema_describer.latest()
        return None if page is None else SchemaResult.model_validate(page.written)

    def on_schema(self, listener: Callable[[], None]) -> None:
        """Register a function that is called, in the event loop, whenever the answer of `describe_schema` changes."""
        self._schema_cache.on_change(listener)

    async def wait_for_schema(self) -> None:
        """Wait until the schema is read in full, or as far as the profile allows; return at once if nobody reads it."""
        await self._schema_cache.wait_until_read()

    @property
    def knows_schema(self) -> bool:
        """Whether the schema was read as far as it can be."""
        return self._schema_cache.is_known

    def read_schema_again(self, *, at_once: bool) -> None:
        """Begin to read a schema again that could not be read: at once, or if it is due; see `SchemaCache.retry`."""
        self._schema_cache.retry(at_once=at_once)

    async def check_reachable(self, seconds: float) -> None:
        """Ask the endpoint something harmless, unless it answered a moment ago; a graph in this process needs none.

        Args:
            seconds: The time to wait for it at most.

        Raises:
            Fault: It did not answer, or may not be asked now.
        """
        await self._store.check_reachable(Deadline.after(seconds, self._clock))

    async def wait_until_ready(self, progress: AnyProgress = no_progress) -> None:
        """Wait until the schema is read, in full or as far as the profile allows, and the label index is complete.

        How many nodes have no name is counted too, which the first search that finds nothing would do otherwise.

        Args:
            progress: Called after each page of names.
        """
        self._schema_cache.start()
        tell = as_progress(progress)
        await tell(0, 1, "Reading types and predicates")
        await self._schema_cache.wait_until_read()
        await self.wait_for_names(tell)
        if (view := self._schema_cache.latest) is not None:
            counting = self._answerer.own_call("nameless", _COUNTING_SECONDS)
            await self._store.nameless(view.schema, counting)

    async def wait_for_names(self, progress: AnyProgress = no_progress) -> None:
        """Wait until all names can be compared, however long that takes; a call waits for half of its time at most.

        Args:
            progress: Called after each page of names.
        """
        tell = as_progress(progress)

        async def report(read: int, total: int) -> None:
            await tell(read, total, messages.reading_names(total))

        # It finds out which predicates are names.
        await self._schema_cache.view(self._answerer.own_call("names"))
        await self._store.prepared(report)
        if self._meaning is not None:
            await self._meaning.ready()

    def asks_by_name(self, tool: str, arguments: Mapping[str, Any]) -> bool:
        """Return whether a call with these arguments compares the names of the graph: it has a text that is no ID.

        Args:
            tool: The name of the tool.
            arguments: Its arguments.
        """
        if tool == SearchEntities.tool:
            return bool(arguments.get("query") or arguments.get("queries"))
        texts = [*arguments.get("seeds", ()), *arguments.get("ids", ()), arguments.get("id", "")]
        return self._id_reader.has_names([text for text in texts if text])

    async def close(self) -> None:
        """Stop background work and close connections."""
        await self._schema_cache.close()
        await self._store.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    @overload
    async def call(
        self,
        tool: str,
        arguments: Mapping[str, Any],
        progress: AnyProgress = no_progress,
        *,
        explain: bool | None = None,
        shape: Literal["reference"] = "reference",
        others: OtherGraphs | None = None,
    ) -> ToolAnswer: ...

    @overload
    async def call(
        self,
        tool: str,
        arguments: Mapping[str, Any],
        progress: AnyProgress = no_progress,
        *,
        explain: bool | None = None,
        shape: ShapeName,
        others: OtherGraphs | None = None,
    ) -> ToolAnswer | CompactAnswer: ...

    async def call(
        self,
        tool: str,
        arguments: Mapping[str, Any],
        progress: AnyProgress = no_progress,
        *,
        explain: bool | None = None,
        shape: ShapeName = "reference",
        others: OtherGraphs | None = None,
    ) -> ToolAnswer | CompactAnswer:
        """Call a tool by name, with arguments that are not checked yet.

        Args:
            tool: One of the six names.
            arguments: The arguments by name.
            progress: Called after each hop of a traversal.
            explain: Whether the argument `explain` is accepted; by default if the profile has `server.explain`.
            shape: The shape of the answer.
            others: The other graphs in which descriptions look for entities; by default those of `set_others`.
        """
        if tool not in self._tools:
            raise no_such_tool(tool, self._tools)
        accepted = self._profile.server.explain if explain is None else explain
        chosen = self._tools[tool]
        is_compact = shape == COMPACT.name
        answer: ToolAnswer | CompactAnswer = await self._answerer.answer(
            replace(chosen, answer=CompactAnswer) if is_compact else chosen,
            arguments,
            as_progress(progress),
            explain=accepted,
            shape=_SHAPES[shape],
            is_stored=is_compact,
            others=others,
        )
        return answer

    async def describe_schema(
        self,
        *,
        all: bool = False,  # noqa: A002 - the name of the argument over MCP
        node_types: Sequence[str] | None = None,
        query: str = "",
        language: str | None = None,
        explain: bool = False,
    ) -> SchemaResult:
        """Return what the graph contains: types, predicates, values and next steps.

        Args:
            all: List up to 200 types and 200 predicates, as many as fit into 15,000 bytes; otherwise the 40 most
                frequent of each. Of shapes, what fits into these, and not into 8,000.
            node_types: Return the shapes of these types, up to 20, and no lists.
            query: List only the types and predicates whose names have words of this question, the best first; with an
                embedder, those near in meaning are in `warnings`.
            language: The tag of the language in which labels come first.
            explain: Add the cost of the call and the SPARQL that was sent.

        Raises:
            Fault: The graph could not be queried. If it is only too large to enumerate in time, the lists are empty
                and not comprehensive.
            InputError: A type that is asked for does not exist.
        """
        given = {"all": all, "node_types": node_types, "query": query, "language": language, "explain": explain}
        return await self._answerer.answer(self._describe_schema, given)

    @with_options(SearchEntities)
    async def search_entities(
        self,
        query: str = "",
        node_types: Sequence[str] | None = None,
        **options: Unpack[SearchOptions],
    ) -> SearchResult:
        """Return the entities that match a name, an alias or a part of one, or all entities of some types.

        Args:
            query: The name; empty for all entities of `node_types`.
            node_types: Only entities of these types.
            **options: Conditions, columns, an order and a page; see `SearchOptions`.
        """
        given = {"query": query, "node_types": node_types, **options}
        return await self._answerer.answer(self._search_entities, given)

    @with_options(SearchEntities)
    async def search_pages(
        self,
        query: str = "",
        node_types: Sequence[str] | None = None,
        **options: Unpack[SearchOptions],
    ) -> AsyncIterator[SearchResult]:
        """Yield all pages of a list, for a program: what a name finds, entities of some types, rows or groups.

        A cell has all values, and whole texts. Tables of the pages agree on the types of their columns. `limit` is that
        of a page, by default the highest; several `queries` are answered on one page.

        Args:
            query: The name, of which all that fit are yielded; empty for all entities of `node_types`.
            node_types: Only entities of these types.
            **options: As in `search_entities`.

        Raises:
            InputError: An argument is wrong.
            Fault: A page could not be read, or the graph changed meanwhile.
        """
        given = {"query": query, "node_types": node_types, **options}

        async def ask(place: Mapping[str, Any]) -> SearchResult:
            return await self._answerer.answer(self._whole_search, {**given, **place})

        # The answer to several queries is one page.
        most = options.get("limit") or (None if options.get("queries") else MAX_HITS)
        pages = pages_of_rows(ask, most, None, self._prefixes.expand, options.get("offset") or 0)
        async for page in typed_pages(pages, ask, options.get("where")):
            yield page

    @with_options(BfsQuery)
    async def bfs_query(
        self,
        seeds: Sequence[str],
        max_hops: int,
        *,
        progress: AnyProgress = no_progress,
        **options: Unpack[TraversalOptions],
    ) -> BfsResult:
        """Return the union of the seeds' neighbourhoods.

        Args:
            seeds: IDs or IRIs, 1 to 50.
            max_hops: Distance from any seed, 1 to 5.
            progress: Called after each hop.
            **options: Filters, pages and sizes; see `TraversalOptions`.
        """
        given = {"seeds": seeds, "max_hops": max_hops, **options}
        return await self._answerer.answer(self._bfs_query, given, as_progress(progress))

    async def describe_entity(
        self,
        id: str,  # noqa: A002 - the protocol's name
        *,
        max_tokens: int | None = None,
        language: str | None = None,
        explain: bool = False,
    ) -> Entity:
        """Return everything known about one entity except its edges.

        Args:
            id: Its ID or IRI.
            max_tokens: Size of the answer; a token is 4 bytes.
            language: The tag of the language in which names and texts come first.
            explain: Add the cost of the call and the SPARQL that was sent.
        """
        given = {"id": id, "max_tokens": max_tokens, "language": language, "explain": explain}
        return await self._answerer.answer(self._describe_entity, given)

    async def describe_entities(
        self,
        ids: Iterable[str],
        *,
        max_tokens: int | None = None,
        language: str | None = None,
        explain: bool = False,
        progress: AnyProgress = no_progress,
    ) -> EntitiesResult:
        """Return everything known about any number of entities except their edges.

        Args:
            ids: IDs, IRIs or names; with `max_tokens`, 1 to 200.
            max_tokens: Size of the answer, as for a model; a token is 4 bytes. By default all are described, whatever
                the size, by a call for every 200.
            language: The tag of the language in which names and texts come first.
            explain: Add the cost of the call and the SPARQL that was sent; of up to 200 entities.
            progress: Called after each of several calls.
        """
        others = {"max_tokens": max_tokens, "language": language, "explain": explain}
        texts = listed_texts(ids)
        if max_tokens is not None:
            return await self._answerer.answer(self._describe_entities, {"ids": texts, **others})
        with self._prefixes.one_answer():
            return await whole_entities(self._described, texts, others, as_progress(progress), self._id_reader.is_id)

    async def _described(self, given: Mapping[str, Any]) -> EntitiesResult:
        return await self._answerer.answer(self._whole_entities, given)

    @with_options(IntersectSubgraphs)
    async def intersect_subgraphs(
        self,
        seeds: Sequence[str],
        k: int,
        *,
        via: bool | None = None,
        progress: AnyProgress = no_progress,
        **options: Unpack[TraversalOptions],
    ) -> IntersectionResult:
        """Return the nodes within k hops of every seed, and all edges among them.

        Args:
            seeds: IDs or IRIs, 2 to 50.
            k: Distance from every seed, 1 to 5.
            via: Give each node one shortest path to each seed: True all, False none, None as many as fit in a third of
                the answer.
            progress: Called after each hop.
            **options: Filters, pages and sizes; see `TraversalOptions`.
        """
        given = {"seeds": seeds, "k": k, "via": via, **options}
        return await self._answerer.answer(self._intersect_subgraphs, given, as_progress(progress))

    @with_options(BfsQuery, NOT_WHOLE)
    async def bfs_subgraph(
        self,
        seeds: Sequence[str],
        max_hops: int,
        *,
        progress: AnyProgress = no_progress,
        **options: Unpack[TraversalOptions],
    ) -> Subgraph:
        """Return the union of the seeds' neighbourhoods whole, for a program: all pages, whatever their size.

        Args:
            seeds: IDs or IRIs, 1 to 10,000.
            max_hops: Distance from any seed, 1 to 5.
            progress: Called after each hop.
            **options: What to follow and to show; not which page.

        Raises:
            InputError: An argument is wrong, or is about pages.
            Fault: The graph could not be queried, or changed meanwhile.
        """
        given = {"seeds": seeds, "max_hops": max_hops, **options}
        return await self.subgraph(BfsQuery.tool, given, progress)

    @with_options(IntersectSubgraphs, NOT_WHOLE)
    async def intersection_subgraph(
        self,
        seeds: Sequence[str],
        k: int,
        *,
        via: bool = False,
        progress: AnyProgress = no_progress,
        **options: Unpack[TraversalOptions],
    ) -> Subgraph:
        """Return the nodes within k hops of every seed and all edges among them, whole; see `bfs_subgraph`.

        Args:
            seeds: IDs or IRIs, 2 to 10,000.
            k: Distance from every seed, 1 to 5.
            via: Give each node one shortest path to each seed.
            progress: Called after each hop.
            **options: What to follow and to show; not which page.
        """
        given = {"seeds": seeds, "k": k, "via": via, **options}
        return await self.subgraph(IntersectSubgraphs.tool, given, progress)

    async def subgraph(self, tool: str, arguments: Mapping[str, Any], progress: AnyProgress = no_progress) -> Subgraph:
        """Return all pages of a traversal as one subgraph; see `bfs_subgraph`.

        Values that are asked for stand beside the metadata of the nodes, which are ordered by them.

        Args:
            tool: `bfs_query` or `intersect_subgraphs`.
            arguments: Its arguments, none about pages.
            progress: Called after each hop.
        """
        return await self._subgraphs.whole(tool, arguments, as_progress(progress))

    def pages(
        self, tool: str, arguments: Mapping[str, Any], progress: AnyProgress = no_progress
    ) -> AsyncIterator[Traversed]:
        """Return all pages of a traversal, whose sizes nothing limits; each has its own deadline. See `subgraph`."""
        return self._subgraphs.pages(tool, arguments, as_progress(progress))

    async def _may_have_expressions(self) -> bool:
        return await self._store.may_have_expressions(self._answerer.own_call("whole"))

    async def _steps(self, ids: Sequence[Iri]) -> Mapping[Iri, tuple[NodeFacts, Sequence[str]]]:
        call = self._answerer.own_call("whole")
        view = await self._schema_cache.view(call)
        found = await self._store.nodes(ids, call, names=True)
        return {iri: (facts, view.chooser.all_of(facts)) for iri, facts in found.items()}

    async def _predicates(self, iris: Sequence[Iri], language: str) -> Mapping[Iri, NodeFacts]:
        call = self._answerer.own_call("whole")
        with call.in_language(language):
            return await self._store.predicates(iris, call)

    async def _traversed(self, tool: str, arguments: Mapping[str, Any], progress: Progress, shape: Shape) -> Traversed:
        answer: Traversed = await self._answerer.answer(self._whole[tool], arguments, progress, shape=shape)
        return answer
