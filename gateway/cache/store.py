"""A `GraphStore` in front of a `GraphStore`, which asks it only for what is not known and not being asked already.

Remembered, for one time to live: whole answers, and answers that a rule of the caller's own cut, under that rule.
Never remembered: faults, and what an endpoint cut. Remembered values are shared, so nobody may change them.
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from gateway.cache.memory import Memory
from gateway.cache.single_flight import Answer, Key, Question, SingleFlight
from gateway.cache.sizes import size_of
from gateway.errors import EdgesCapped, Fault
from gateway.graph.call import Call
from gateway.graph.deadline import Clock
from gateway.graph.delegating_store import DelegatingStore
from gateway.graph.store import GraphStore, OnAnswers
from gateway.graph.values import (
    WHOLE,
    Degree,
    Description,
    DirectSubclasses,
    Edge,
    Evidence,
    Existence,
    Hits,
    Iri,
    Mark,
    Neighbourhood,
    NodeFacts,
    Reach,
    Schema,
    SearchTerms,
)

_MEGABYTE = 1 << 20

_ALL_EDGES = ("edges", None)
"""The question after all edges, whose answer serves other questions too."""


@dataclass(frozen=True, slots=True)
class Counters:
    """What a cache has done so far.

    Attributes:
        hits: Answers about single IDs that were remembered, or followed from what was.
        misses: Answers about single IDs that the graph was asked for.
        waited: Answers about single IDs that another call was asking for at that moment.
        evicted: Answers that had to go before their time, for want of room.
        bytes: About how much memory is in use.
    """

    hits: int
    misses: int
    waited: int
    evicted: int
    bytes: int


_NO_HITS = Hits((), truncated=False, how="")


@dataclass(frozen=True, slots=True)
class _Found:
    """What a search found, or why it did not."""

    hits: Hits = _NO_HITS
    mark: Mark = WHOLE


class CachedStore(DelegatingStore):
    """A graph store that remembers; see `gateway.graph.store.GraphStore` for what each method promises."""

    def __init__(self, inner: GraphStore, *, megabytes: int, ttl_seconds: float, clock: Clock = time.monotonic) -> None:
        super().__init__(inner)
        self._memory = Memory(megabytes * _MEGABYTE, ttl_seconds, clock)
        self._single_flight = SingleFlight()
        self._schema_version = ""
        names = inner.name_reader()
        if names is not None:
            names.on_change(self.forget_answers)

    def counters(self) -> Counters:
        """Return what was done so far."""
        counts = self._single_flight.counts
        return Counters(counts.hits, counts.misses, counts.waited, self._memory.evicted, self._memory.bytes)

    def forget(self) -> None:
        """Forget everything; what is being asked for now is told to those who wait, and not remembered."""
        self.forget_answers()
        self._inner.forget()

    def forget_answers(self) -> None:
        """Forget what the store below answered so far, as it answers otherwise from now on.

        Callers that wait for an answer still get it. It is not stored, and nobody who asks from now on waits for it.
        """
        self._memory.clear()
        self._single_flight.forget()

    async def edges(
        self, ids: Sequence[Iri], call: Call, *, per_id: int | None = None, on_answers: OnAnswers | None = None
    ) -> Mapping[Iri, Neighbourhood]:
        """Return the edges of each node, outgoing and incoming."""
        name = ("edges", per_id)

        def known(node: Iri) -> Neighbourhood | None:
            whole = cast("Neighbourhood | None", self._memory.get((_ALL_EDGES, node)))
            if whole is not None and (per_id is None or len(whole.edges) <= per_id):
                return whole
            return None if per_id is None else cast("Neighbourhood | None", self._memory.get((name, node)))

        def keep(node: Iri, answer: Neighbourhood) -> None:
            if answer.mark.whole:
                self._memory.put((_ALL_EDGES, node), answer)
            elif isinstance(answer.mark.fault, EdgesCapped):
                self._memory.put((name, node), answer)

        def fetch(nodes: Sequence[Iri]) -> Awaitable[Mapping[Iri, Neighbourhood]]:
            return self._inner.edges(nodes, call, per_id=per_id, on_answers=on_answers)

        return await self._ask(name, ids, fetch, Neighbourhood, call, known, keep)

    async def degrees(self, ids: Sequence[Iri], at_most: int, call: Call) -> Mapping[Iri, Degree]:
        """Count the edges of each node, up to a bound."""
        name = ("degrees", at_most)

        def known(node: Iri) -> Degree | None:
            whole = self._edges_of(node)
            if whole is None:
                return cast("Degree | None", self._memory.get((name, node)))
            return Degree(min(len(whole.edges), at_most + 1), len(whole.edges) <= at_most)

        return await self._ask(name, ids, lambda nodes: self._inner.degrees(nodes, at_most, call), Degree, call, known)

    async def reach(self, ids: Sequence[Iri], hops: int, call: Call) -> Mapping[Iri, Reach]:
        """Return the nodes within some hops of each node, without the edges between them."""
        return await self._ask(("reach", hops), ids, lambda nodes: self._inner.reach(nodes, hops, call), Reach, call)

    async def edges_among(self, ids: Sequence[Iri], inside: frozenset[Iri], call: Call) -> Mapping[Iri, Neighbourhood]:
        """Return, for each node, its outgoing edges whose object lies inside a set.

        They follow from the edges of the node. They are not remembered by themselves: another question has another
        set, so they would hardly ever be of use.
        """
        found: dict[Iri, Neighbourhood] = {}
        for node in ids:
            whole = self._edges_of(node)
            if whole is not None:
                found[node] = Neighbourhood(
                    tuple(edge for edge in whole.edges if edge.subject == node and edge.object in inside)
                )
        unknown = [node for node in dict.fromkeys(ids) if node not in found]
        self._single_flight.count(call, hits=len(found), misses=len(unknown))
        asked = await self._inner.edges_among(unknown, inside, call) if unknown else {}
        return {node: found[node] if node in found else asked[node] for node in ids}

    async def existing(self, ids: Sequence[Iri], call: Call) -> Mapping[Iri, Existence]:
        """Tell which nodes are subject or object of a triple."""

        def known(node: Iri) -> Existence | None:
            whole = self._edges_of(node)
            if whole is not None and (whole.edges or whole.blank_edges):
                return Existence(exists=True)
            return cast("Existence | None", self._memory.get(("existing", node)))

        return await self._ask("existing", ids, lambda nodes: self._inner.existing(nodes, call), Existence, call, known)

    async def subjects(self, ids: Sequence[Iri], call: Call) -> Mapping[Iri, Existence]:
        """Tell which nodes are subject of a triple."""
        return await self._ask("subjects", ids, lambda nodes: self._inner.subjects(nodes, call), Existence, call)

    async def nodes(
        self, ids: Sequence[Iri], call: Call, *, names: bool, descriptions: bool = False
    ) -> Mapping[Iri, NodeFacts]:
        """Return the types of each node, and its name and description where those are asked for."""
        return await self._ask(
            ("nodes", names, descriptions),
            ids,
            lambda nodes: self._inner.nodes(nodes, call, names=names, descriptions=descriptions),
            NodeFacts,
            call,
        )

    async def predicates(self, ids: Sequence[Iri], call: Call) -> Mapping[Iri, NodeFacts]:
        """Return the name of each predicate."""
        return await self._ask("predicates", ids, lambda iris: self._inner.predicates(iris, call), NodeFacts, call)

    async def narrower(self, ids: Sequence[Iri], call: Call) -> Mapping[Iri, DirectSubclasses]:
        """Return the direct subclasses of each class."""
        return await self._ask("narrower", ids, lambda nodes: self._inner.narrower(nodes, call), DirectSubclasses, call)

    async def mentions(self, ids: Sequence[Iri], call: Call) -> Mapping[Iri, Description]:
        """Return only what says how often each node is mentioned."""
        return await self._ask("mentions", ids, lambda nodes: self._inner.mentions(nodes, call), Description, call)

    async def node_metadata(
        self, ids: Sequence[Iri], call: Call, *, blank_nodes: bool, precise: bool = True
    ) -> Mapping[Iri, Description]:
        """Return what is known about each node beside its edges, blank nodes' content only on request."""
        return await self._ask(
            ("node_metadata", blank_nodes, precise),
            ids,
            lambda nodes: self._inner.node_metadata(nodes, call, blank_nodes=blank_nodes, precise=precise),
            Description,
            call,
            worth=lambda answer: answer.refined,
        )

    async def edge_metadata(self, edges: Sequence[Edge], call: Call) -> Mapping[Edge, Evidence]:
        """Return the statements about each edge."""
        return await self._ask(
            "edge_metadata",
            edges,
            lambda wanted: self._inner.edge_metadata(wanted, call),
            Evidence,
            call,
            worth=lambda answer: answer.refined,
        )

    async def quick_schema(self, call: Call) -> Schema:
        """Return what a short look shows, always looked at anew; see `schema`."""
        return self._compared(await self._inner.quick_schema(call))

    async def schema(self, call: Call) -> Schema:
        """Return the types and edge predicates of the graph, always read anew: the engine keeps them.

        Another version than last time means that the graph has changed, so everything is forgotten.
        """
        return self._compared(await self._inner.schema(call))

    def _compared(self, schema: Schema) -> Schema:
        if schema.exact:
            if self._schema_version not in {"", schema.version}:
                self.forget()
            self._schema_version = schema.version
        return schema

    async def search(self, sought: SearchTerms, types: Sequence[Iri], call: Call) -> Hits:
        """Find entities by their names and synonyms."""

        async def find(_: Sequence[SearchTerms]) -> Mapping[SearchTerms, _Found]:
            try:
                return {sought: _Found(await self._inner.search(sought, types, call))}
            except Fault as fault:
                return {sought: _Found(mark=Mark(fault))}

        name = ("search", tuple(types))

        def keep(key: SearchTerms, answer: _Found) -> None:
            if answer.mark.whole and answer.hits.fault is None:
                self._memory.put((name, key), answer, more=size_of(name))

        found = (await self._ask(name, [sought], find, _Found, call, keep=keep))[sought]
        if found.mark.fault is not None:
            raise found.mark.fault
        return found.hits

    def _edges_of(self, node: Iri) -> Neighbourhood | None:
        """Return all edges of a node, where they are remembered and none of them is left out."""
        found = cast("Neighbourhood | None", self._memory.get((_ALL_EDGES, node)))
        return None if found is None or found.left_out else found

    async def _ask(
        self,
        name: Hashable,
        keys: Sequence[Key],
        fetch: Callable[[Sequence[Key]], Awaitable[Mapping[Key, Answer]]],
        kind: Callable[..., Answer],
        call: Call,
        known: Callable[[Key], Answer | None] | None = None,
        keep: Callable[[Key, Answer], None] | None = None,
        worth: Callable[[Answer], bool] = lambda _: True,
    ) -> Mapping[Key, Answer]:
        """Ask a question; see `Question`.

        Args:
            name: The primitive and its parameters.
            keys: What it is about.
            fetch: Asks the inner store.
            kind: Makes an answer from a mark.
            call: The call that asks.
            known: Where another place than the question's own is to be looked into.
            keep: Where other answers than whole ones are to be remembered.
            worth: Which of the whole answers are to be remembered.
        """

        def remembered(key: Key) -> Answer | None:
            return cast("Answer | None", self._memory.get((name, key)))

        def remember(key: Key, answer: Answer) -> None:
            if answer.mark.whole and worth(answer):
                self._memory.put((name, key), answer)

        question = Question(name, known or remembered, fetch, keep or remember, lambda mark: kind(mark=mark))
        return await self._single_flight.ask(question, keys, call)
