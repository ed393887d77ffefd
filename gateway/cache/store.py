"""A `GraphStore` in front of a `GraphStore`, which asks it only for answers that are neither stored nor being fetched.

Stored, for one time to live: whole answers, and answers that the caller's own limit cut, under that limit. Never
stored: faults, and answers that an endpoint cut. Callers share stored values, so none may change them. Edges of some
predicates or of one direction answer that question alone.
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from typing import Any, cast

from gateway.cache.memory import MemoryCache, memory_size
from gateway.cache.single_flight import Answer, Key, Lookup, SingleFlight
from gateway.errors import EdgesCapped, Fault
from gateway.graph.call import Call
from gateway.graph.counts import EdgeCounts
from gateway.graph.store import DelegatingStore, GraphStore, OnAnswers, PortMethod
from gateway.graph.values import (
    ALL_EDGES,
    WHOLE,
    BlankNode,
    Degree,
    Description,
    DirectSubclasses,
    EdgeSelection,
    Evidence,
    Existence,
    Hits,
    Identities,
    Iri,
    Mark,
    Neighbourhood,
    NodeFacts,
    Reach,
    Schema,
    SearchTerms,
)
from gateway.graph.walks import Aggregated, Ends
from gateway.telemetry.tally import Clock

_ALL_EDGES = ("edges", None)
"""The lookup of all edges; other lookups derive answers from its answers."""


def _question(primitive: str, bound: int | None, selection: EdgeSelection) -> tuple[Hashable, ...]:
    """Return the name of a lookup about edges.

    A selection stands in it as a digest: it may have 400 predicates, and each entry of the cache has the name.
    """
    if selection.is_all:
        return (primitive, bound)
    text = repr((selection.outgoing, selection.incoming)).encode()
    return (primitive, bound, blake2b(text, digest_size=16).digest())


@dataclass(frozen=True, slots=True)
class CacheStatistics:
    """Answers about single IDs so far, and the memory in use.

    Attributes:
        hits: Answers that were stored, or followed from stored ones.
        misses: Answers that were fetched.
        shared: Answers that another call's fetch brought.
        evicted: Stored answers that were removed before their time, to make room.
        bytes: Bytes in use.
    """

    hits: int
    misses: int
    shared: int
    evicted: int
    bytes: int


_NO_HITS = Hits((), truncated=False, how="")


@dataclass(frozen=True, slots=True)
class _SearchAnswer:
    """The hits of a search, or the fault that it raised."""

    hits: Hits = _NO_HITS
    mark: Mark = WHOLE


_FEW_KEYS = 200
"""Keys of a question for which richer answers are looked up too: of more, that takes time."""


@dataclass(frozen=True, slots=True)
class _Richer:
    """Questions whose answers have more than is asked for.

    Attributes:
        options: Returns the options of those, by the options of a question.
        part: Returns what of such an answer is the answer to the question; None where it is none.
    """

    options: Callable[[Mapping[str, Any]], Iterable[Mapping[str, Any]]]
    part: Callable[[Any], Any]


def _stored(
    method: PortMethod,
    kind: Callable[..., Answer],
    is_storable: Callable[[Answer], bool] | None = None,
    following: Callable[[Iri, Neighbourhood], Answer | None] | None = None,
    *,
    is_named: bool = False,
    richer: _Richer | None = None,
) -> PortMethod:
    """Return a method of the port whose answers about single keys are stored by its name and parameters.

    Args:
        method: The method, which takes the keys, its parameters and the call.
        kind: The type of its answers.
        is_storable: Whether a whole answer may be stored.
        following: Returns the answer that follows from all edges of a node; None where none does.
        is_named: Whether answers have names, which depend on the language that a call asks for.
        richer: By what richer answers a question about few keys is answered, too.
    """
    name, defaults = method.__name__, method.__kwdefaults__ or {}

    async def answers(self: CachedStore, keys: Sequence[Any], *given: Any, **options: Any) -> Mapping[Any, Answer]:
        *parameters, call = given
        question = (name, *parameters, *(defaults | options).values()) if parameters or options or defaults else name
        if call.language and is_named:
            question = (question, call.language)
        others: list[Hashable] = []
        if richer is not None and len(keys) <= _FEW_KEYS:
            others = [(name, *one.values()) for one in richer.options(defaults | options)]
            # What is left of them is the same in all languages.
            others += [(one, call.language) for one in others if call.language and is_named]

        def fetch(unknown: Sequence[Any]) -> Awaitable[Mapping[Any, Answer]]:
            asked: Awaitable[Mapping[Any, Answer]] = getattr(self._inner, name)(unknown, *given, **options)
            return asked

        def cached(node: Any) -> Any:
            whole = self._edges_of(node, call)
            answer = None if whole is None or following is None else following(node, whole)
            return self._memory.get((question, node), call.freshness) if answer is None else answer

        def cached_or_richer(node: Any) -> Any:
            answer = self._memory.get((question, node), call.freshness)
            if answer is not None or richer is None:
                return answer
            stored = (self._memory.get((one, node), call.freshness) for one in others)
            return next((found for one in stored if one is not None and (found := richer.part(one)) is not None), None)

        looked_up = cached if following is not None else cached_or_richer if others else None
        lookup = self._lookup(call, question, fetch, kind, looked_up, is_storable=is_storable)
        return await self._single_flight.answers(lookup, keys, call)

    return cast("PortMethod", answers)


def _richer_facts(options: Mapping[str, Any]) -> Iterable[Mapping[str, Any]]:
    is_plain = not options["names"] and not options["descriptions"]
    return ({**options, "names": True, "descriptions": more} for more in (True, False)) if is_plain else ()


def _types_alone(facts: NodeFacts) -> NodeFacts:
    return replace(facts, name="", description="", is_described=True, is_deprecated=False)


def _richer_descriptions(options: Mapping[str, Any]) -> Iterable[Mapping[str, Any]]:
    """Return what has more: contents of blank nodes, and precisions, which an answer without them need not lack."""
    if options["blank_nodes"]:
        return ()
    precise = (True,) if options["precise"] else (True, False)
    return (
        {**options, "precise": one, "blank_nodes": blank}
        for one in precise
        for blank in (False, True)
        if blank or one is not options["precise"]
    )


def _without_blank_nodes(description: Description) -> Description | None:
    """Return a description if blank nodes say nothing in it."""
    has_some = any(isinstance(value, BlankNode) for values in description.properties.values() for value in values)
    return None if has_some else description


def _counts_of(node: Iri, whole: Neighbourhood) -> EdgeCounts:
    """Return the counts with as many neighbours as a query returns: an answer does not depend on what is stored."""
    return EdgeCounts.of(node, whole, with_ends_only=True)


def _existence_of(_: Iri, whole: Neighbourhood) -> Existence | None:
    return Existence(exists=True) if whole.edges or whole.blank_edges else None


class CachedStore(DelegatingStore):
    """A graph store with a cache; see `gateway.graph.store.GraphStore` for what each method promises."""

    def __init__(self, inner: GraphStore, *, megabytes: int, ttl_seconds: float, clock: Clock = time.monotonic) -> None:
        super().__init__(inner)
        self._memory = MemoryCache(megabytes << 20, ttl_seconds, clock)
        self._single_flight = SingleFlight()
        self._schema_version = ""
        names = inner.name_reader()
        if names is not None:
            names.on_change(self.forget_answers)

    def statistics(self) -> CacheStatistics:
        """Return the counts so far."""
        flight = self._single_flight
        return CacheStatistics(flight.hits, flight.misses, flight.shared, self._memory.evicted, self._memory.bytes)

    def forget(self) -> None:
        """Forget all answers, here and below; see `forget_answers`."""
        self.forget_answers()
        self._inner.forget()

    def forget_answers(self) -> None:
        """Forget all answers, because the store below answers differently from now on.

        Callers that wait for an answer still get it. It is not stored, and later callers do not wait for it.
        """
        self._memory.clear()
        self._single_flight.forget()

    edge_counts = _stored(GraphStore.edge_counts, EdgeCounts, following=_counts_of)
    reach = _stored(GraphStore.reach, Reach)
    existing = _stored(GraphStore.existing, Existence, following=_existence_of)
    subjects = _stored(GraphStore.subjects, Existence)
    nodes = _stored(GraphStore.nodes, NodeFacts, is_named=True, richer=_Richer(_richer_facts, _types_alone))
    predicates = _stored(GraphStore.predicates, NodeFacts, is_named=True)
    narrower = _stored(GraphStore.narrower, DirectSubclasses)
    identities = _stored(GraphStore.identities, Identities)
    mentions = _stored(GraphStore.mentions, Description)
    node_metadata = _stored(
        GraphStore.node_metadata,
        Description,
        lambda answer: answer.refined,
        richer=_Richer(_richer_descriptions, _without_blank_nodes),
    )
    edge_metadata = _stored(GraphStore.edge_metadata, Evidence, lambda answer: answer.refined)
    ends = _stored(GraphStore.ends, Ends)
    aggregates = _stored(GraphStore.aggregates, Aggregated)

    async def edges(
        self,
        ids: Sequence[Iri],
        call: Call,
        *,
        selection: EdgeSelection = ALL_EDGES,
        per_id: int | None = None,
        on_answers: OnAnswers | None = None,
    ) -> Mapping[Iri, Neighbourhood]:
        """Return the edges of each node, outgoing and incoming, or those selected.

        Those selected follow from all edges of the node, where these are stored and none leads to a blank node: such
        triples are counted, but not by predicate.
        """
        all_of_them = _question("edges", None, selection)
        name = _question("edges", per_id, selection)
        parameters = 0 if selection.is_all else memory_size(name)

        def whole_answer(node: Iri) -> Neighbourhood | None:
            stored = cast("Neighbourhood | None", self._memory.get((all_of_them, node), call.freshness))
            if stored is not None or selection.is_all:
                return stored
            whole = self._edges_of(node, call)
            if whole is None or whole.blank_edges:
                return None
            return Neighbourhood(selection.selected(node, whole.edges))

        def cached(node: Iri) -> Neighbourhood | None:
            whole = whole_answer(node)
            if whole is not None and (per_id is None or len(whole.edges) <= per_id):
                return whole
            return (
                None if per_id is None else cast("Neighbourhood | None", self._memory.get((name, node), call.freshness))
            )

        sizes = self._memory.sizes()

        def store(answers: Mapping[Iri, Neighbourhood]) -> None:
            capped = {node: one for node, one in answers.items() if isinstance(one.mark.fault, EdgesCapped)}
            self._memory.put(all_of_them, _whole(answers), sizes, more=parameters)
            self._memory.put(name, capped, sizes, more=parameters)

        def fetch(nodes: Sequence[Iri]) -> Awaitable[Mapping[Iri, Neighbourhood]]:
            return self._inner.edges(nodes, call, selection=selection, per_id=per_id, on_answers=on_answers)

        return await self._single_flight.answers(
            self._lookup(call, name, fetch, Neighbourhood, cached, store), ids, call
        )

    async def degrees(
        self, ids: Sequence[Iri], at_most: int, call: Call, *, selection: EdgeSelection = ALL_EDGES
    ) -> Mapping[Iri, Degree]:
        """Count the edges of each node, or those selected, up to a bound."""
        name = _question("degrees", at_most, selection)
        parameters = 0 if selection.is_all else memory_size(name)

        def cached(node: Iri) -> Degree | None:
            whole = self._edges_of(node, call)
            if whole is None:
                return cast("Degree | None", self._memory.get((name, node), call.freshness))
            count = len(whole.edges if selection.is_all else selection.selected(node, whole.edges))
            return Degree(min(count, at_most + 1), count <= at_most)

        def fetch(nodes: Sequence[Iri]) -> Awaitable[Mapping[Iri, Degree]]:
            return self._inner.degrees(nodes, at_most, call, selection=selection)

        lookup = self._lookup(call, name, fetch, Degree, cached, more=parameters)
        return await self._single_flight.answers(lookup, ids, call)

    async def edges_among(
        self, ids: Sequence[Iri], inside: frozenset[Iri], call: Call, *, predicates: tuple[Iri, ...] | None = None
    ) -> Mapping[Iri, Neighbourhood]:
        """Return, for each node, its outgoing edges whose object lies inside a set, of all predicates or of some.

        They follow from all edges of the node, where those are stored. They are not stored themselves: the next call
        has another set.
        """
        found: dict[Iri, Neighbourhood] = {}
        outgoing = EdgeSelection(predicates, incoming=())
        for node in ids:
            whole = self._edges_of(node, call)
            if whole is not None:
                towards = (edge for edge in whole.edges if edge.object in inside)
                found[node] = Neighbourhood(outgoing.selected(node, towards))
        unknown = [node for node in dict.fromkeys(ids) if node not in found]
        self._single_flight.count(call, hits=len(found), misses=len(unknown))
        asked = await self._inner.edges_among(unknown, inside, call, predicates=predicates) if unknown else {}
        return {node: found[node] if node in found else asked[node] for node in ids}

    async def quick_schema(self, call: Call) -> Schema:
        """Return what a short reading finds; not cached, see `schema`."""
        return self._compared(await self._inner.quick_schema(call))

    async def schema(self, call: Call) -> Schema:
        """Return the types and edge predicates of the graph; not cached, because the engine caches them.

        A version other than the last one means that the graph has changed, so all answers are forgotten.
        """
        return self._compared(await self._inner.schema(call))

    def _compared(self, schema: Schema) -> Schema:
        if schema.exact:
            if self._schema_version not in {"", schema.version}:
                self.forget()
            self._schema_version = schema.version
        return schema

    async def search(self, terms: SearchTerms, types: Sequence[Iri], call: Call) -> Hits:
        """Find entities by their names and synonyms."""
        name = ("search", tuple(types), call.language)
        return await self._found(name, terms, lambda: self._inner.search(terms, types, call), call)

    async def of_types(self, types: Sequence[Iri], call: Call, *, at_most: int | None = None) -> Hits:
        """Return the entities of some types."""
        name = ("of_types", at_most)
        return await self._found(name, tuple(types), lambda: self._inner.of_types(types, call, at_most=at_most), call)

    async def _found(self, name: Hashable, key: Key, search: Callable[[], Awaitable[Hits]], call: Call) -> Hits:
        """Return the hits that are stored under a name and a key, or those of a search."""

        async def find(_: Sequence[Key]) -> Mapping[Key, _SearchAnswer]:
            try:
                return {key: _SearchAnswer(await search())}
            except Fault as fault:
                return {key: _SearchAnswer(mark=Mark(fault))}

        def is_whole(answer: _SearchAnswer) -> bool:
            return answer.hits.fault is None

        lookup = self._lookup(call, name, find, _SearchAnswer, is_storable=is_whole, more=memory_size(name))
        found = (await self._single_flight.answers(lookup, [key], call))[key]
        if found.mark.fault is not None:
            raise found.mark.fault
        return found.hits

    def _edges_of(self, node: Iri, call: Call) -> Neighbourhood | None:
        """Return all edges of a node; None if they are not stored, or some of them are left out."""
        found = cast("Neighbourhood | None", self._memory.get((_ALL_EDGES, node), call.freshness))
        return None if found is None or found.left_out else found

    def _lookup(
        self,
        call: Call,
        name: Hashable,
        fetch: Callable[[Sequence[Key]], Awaitable[Mapping[Key, Answer]]],
        kind: Callable[..., Answer],
        cached: Callable[[Key], Answer | None] | None = None,
        store: Callable[[Mapping[Key, Answer]], None] | None = None,
        is_storable: Callable[[Answer], bool] | None = None,
        *,
        more: int = 0,
    ) -> Lookup[Key, Answer]:
        """Return the lookup of a primitive under a name, which takes so many bytes more in each entry.

        By default it finds what is stored under this name, and stores whole answers that are storable.
        """

        # Without a cast, which is a call: a large question looks up thousands of answers.
        def cached_by_name(key: Key) -> Any:
            return self._memory.get((name, key), call.freshness)

        sizes = self._memory.sizes()

        def store_by_name(answers: Mapping[Key, Answer]) -> None:
            storable = _whole(answers)
            if is_storable is not None:
                storable = {key: answer for key, answer in storable.items() if is_storable(answer)}
            self._memory.put(name, storable, sizes, more=more)

        return Lookup(name, cached or cached_by_name, fetch, store or store_by_name, lambda mark: kind(mark=mark))


def _whole(answers: Mapping[Key, Answer]) -> Mapping[Key, Answer]:
    return {key: answer for key, answer in answers.items() if answer.mark.fault is None}
