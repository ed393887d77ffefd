"""A `GraphStore` in front of a `GraphStore`, which asks it only for what no process has read into the shared place.

It stands below the cache in memory, which keeps two callers of one process from asking the same. Shared are whole
answers about single IDs, for one time to live. Searches, schemas and edges among nodes are asked by each process
itself, the last ones only where the edges of their nodes are not there.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Hashable, Mapping, Sequence
from hashlib import blake2b
from typing import Protocol, TypeVar

from gateway.cache.shared import codec
from gateway.cache.shared.values import SharedValues
from gateway.graph.call import Call
from gateway.graph.computing import Slices
from gateway.graph.edge_counts import EdgeCounts
from gateway.graph.store import DelegatingStore, GraphStore, OnAnswers
from gateway.graph.values import (
    ALL_EDGES,
    Degree,
    Description,
    DirectSubclasses,
    Edge,
    EdgeSelection,
    Evidence,
    Existence,
    Identities,
    Iri,
    Marked,
    Neighbourhood,
    NodeFacts,
    Reach,
)

_AT_ONCE = 100
"""Answers that are read or written between two looks at the clock."""

_FORMAT = "2"
"""Of the bytes; another one has other keys."""

_ReadBy = tuple[str, tuple[Iri, ...]]
"""The rules by which answers are read, and the predicates of names."""

Key = TypeVar("Key", bound=Hashable)
Answer = TypeVar("Answer", bound=Marked)
AnswerT = TypeVar("AnswerT")


class _Codec(Protocol[AnswerT]):
    def write(self, answer: AnswerT, /) -> bytes | None: ...

    def read(self, content: bytes, /) -> AnswerT | None: ...


class SharedStore(DelegatingStore):
    """A graph store whose answers several processes share; see `gateway.graph.store.GraphStore`.

    Args:
        inner: The store that is asked.
        values: Where answers are shared.
        ttl_seconds: How long an answer is used.
        rules: Tells by which rules answers are read as whole or cut: those of the engine, as this process has found it
            out; None while that is not known. What one process could not see to be cut, another must not take for
            whole. So nothing is shared without them, and only among processes of which they are the same.
    """

    def __init__(
        self, inner: GraphStore, values: SharedValues, ttl_seconds: float, rules: Callable[[], str | None]
    ) -> None:
        super().__init__(inner)
        self._rules = rules
        self._values = values
        self._ttl = ttl_seconds
        self._names = inner.name_reader()

    async def edges(
        self,
        ids: Sequence[Iri],
        call: Call,
        *,
        selection: EdgeSelection = ALL_EDGES,
        per_id: int | None = None,
        on_answers: OnAnswers | None = None,
    ) -> Mapping[Iri, Neighbourhood]:
        """Return the edges of each node, outgoing and incoming, or those selected."""

        def fetch(nodes: Sequence[Iri]) -> Awaitable[Mapping[Iri, Neighbourhood]]:
            return self._inner.edges(nodes, call, selection=selection, per_id=per_id, on_answers=on_answers)

        # A whole answer is whole under each bound, but may be more than another bound lets through.
        question = ("edges", per_id, selection.outgoing, selection.incoming)
        return await self._answers(question, ids, fetch, codec.EDGES)

    async def degrees(
        self, ids: Sequence[Iri], at_most: int, call: Call, *, selection: EdgeSelection = ALL_EDGES
    ) -> Mapping[Iri, Degree]:
        """Count the edges of each node, or those selected, up to a bound."""

        def fetch(nodes: Sequence[Iri]) -> Awaitable[Mapping[Iri, Degree]]:
            return self._inner.degrees(nodes, at_most, call, selection=selection)

        question = ("degrees", at_most, selection.outgoing, selection.incoming)
        return await self._answers(question, ids, fetch, codec.DEGREES)

    async def edge_counts(self, ids: Sequence[Iri], call: Call) -> Mapping[Iri, EdgeCounts]:
        """Count the edges of each node by predicate and direction."""
        return await self._answers(
            ("edge_counts",), ids, lambda nodes: self._inner.edge_counts(nodes, call), codec.COUNTS
        )

    async def reach(self, ids: Sequence[Iri], hops: int, call: Call) -> Mapping[Iri, Reach]:
        """Return the nodes within some hops of each node, without the edges between them."""
        return await self._answers(
            ("reach", hops), ids, lambda nodes: self._inner.reach(nodes, hops, call), codec.REACH
        )

    async def edges_among(
        self, ids: Sequence[Iri], inside: frozenset[Iri], call: Call, *, predicates: tuple[Iri, ...] | None = None
    ) -> Mapping[Iri, Neighbourhood]:
        """Return, for each node, its outgoing edges whose object lies inside a set, of all predicates or of some."""
        wanted = list(dict.fromkeys(ids))
        known = await self._shared(("edges", None, None, None), wanted, codec.EDGES)
        outgoing = EdgeSelection(predicates, incoming=())
        found = {
            node: Neighbourhood(outgoing.selected(node, (edge for edge in whole.edges if edge.object in inside)))
            for node, whole in known.items()
        }
        unknown = [node for node in wanted if node not in found]
        asked = await self._inner.edges_among(unknown, inside, call, predicates=predicates) if unknown else {}
        return {node: found[node] if node in found else asked[node] for node in ids}

    async def existing(self, ids: Sequence[Iri], call: Call) -> Mapping[Iri, Existence]:
        """Return which nodes are subject or object of a triple."""
        return await self._answers(("existing",), ids, lambda nodes: self._inner.existing(nodes, call), codec.EXISTENCE)

    async def subjects(self, ids: Sequence[Iri], call: Call) -> Mapping[Iri, Existence]:
        """Return which nodes are subject of a triple."""
        return await self._answers(("subjects",), ids, lambda nodes: self._inner.subjects(nodes, call), codec.EXISTENCE)

    async def nodes(
        self, ids: Sequence[Iri], call: Call, *, names: bool, descriptions: bool = False
    ) -> Mapping[Iri, NodeFacts]:
        """Return the types of each node, and its name and description where those are asked for."""

        def fetch(nodes: Sequence[Iri]) -> Awaitable[Mapping[Iri, NodeFacts]]:
            return self._inner.nodes(nodes, call, names=names, descriptions=descriptions)

        return await self._answers(("nodes", names, descriptions), ids, fetch, codec.FACTS)

    async def predicates(self, ids: Sequence[Iri], call: Call) -> Mapping[Iri, NodeFacts]:
        """Return the name of each predicate."""
        return await self._answers(("predicates",), ids, lambda iris: self._inner.predicates(iris, call), codec.FACTS)

    async def narrower(self, ids: Sequence[Iri], call: Call) -> Mapping[Iri, DirectSubclasses]:
        """Return the direct subclasses of each class."""
        return await self._answers(
            ("narrower",), ids, lambda nodes: self._inner.narrower(nodes, call), codec.SUBCLASSES
        )

    async def identities(self, ids: Sequence[Iri], call: Call) -> Mapping[Iri, Identities]:
        """Return the IRIs by which other graphs may know each node."""
        return await self._answers(
            ("identities",), ids, lambda nodes: self._inner.identities(nodes, call), codec.IDENTITIES
        )

    async def mentions(self, ids: Sequence[Iri], call: Call) -> Mapping[Iri, Description]:
        """Return only what says how often each node is mentioned."""
        return await self._answers(
            ("mentions",), ids, lambda nodes: self._inner.mentions(nodes, call), codec.DESCRIPTIONS
        )

    async def node_metadata(
        self, ids: Sequence[Iri], call: Call, *, blank_nodes: bool, precise: bool = True
    ) -> Mapping[Iri, Description]:
        """Return what is known about each node beside its edges, blank nodes' content only on request."""

        def fetch(nodes: Sequence[Iri]) -> Awaitable[Mapping[Iri, Description]]:
            return self._inner.node_metadata(nodes, call, blank_nodes=blank_nodes, precise=precise)

        return await self._answers(("node_metadata", blank_nodes, precise), ids, fetch, codec.DESCRIPTIONS)

    async def edge_metadata(self, edges: Sequence[Edge], call: Call) -> Mapping[Edge, Evidence]:
        """Return the statements about each edge."""
        return await self._answers(
            ("edge_metadata",), edges, lambda wanted: self._inner.edge_metadata(wanted, call), codec.EVIDENCE
        )

    def forget(self) -> None:
        """Forget all answers, of all processes, and below."""
        self._values.forget()
        self._inner.forget()

    async def close(self) -> None:
        """Close the connections, here and below."""
        await self._values.close()
        await self._inner.close()

    async def _answers(
        self,
        question: tuple[object, ...],
        keys: Sequence[Key],
        fetch: Callable[[Sequence[Key]], Awaitable[Mapping[Key, Answer]]],
        codec_: _Codec[Answer],
    ) -> Mapping[Key, Answer]:
        """Return an answer for each key: shared, or fetched and then shared if it is whole."""
        wanted = list(dict.fromkeys(keys))
        read_by = self._read_by
        found = await self._shared(question, wanted, codec_)
        unknown = [key for key in wanted if key not in found]
        if unknown:
            generation = self._values.generation
            fetched = await fetch(unknown)
            # Names by other predicates may have come meanwhile.
            if read_by is not None and read_by == self._read_by:
                await self._values.put(await _written(read_by, question, fetched, codec_), self._ttl, generation)
            found |= fetched
        return {key: found[key] for key in keys}

    @property
    def _read_by(self) -> _ReadBy | None:
        """What each process finds out by itself and answers depend on: the rules, and the predicates of names."""
        rules = self._rules()
        if rules is None:
            return None
        return rules, () if self._names is None else tuple(self._names.predicates)

    async def _shared(
        self, question: tuple[object, ...], keys: Sequence[Key], codec_: _Codec[Answer]
    ) -> dict[Key, Answer]:
        """Return the answers that are shared."""
        read_by = self._read_by
        if read_by is None:
            return {}
        contents = await self._values.get([_name(read_by, question, key) for key in keys])
        found: dict[Key, Answer] = {}
        slices = Slices()
        for at, (key, content) in enumerate(zip(keys, contents, strict=True), start=1):
            answer = None if content is None else codec_.read(content)
            if answer is not None:
                found[key] = answer
            if not at % _AT_ONCE:
                await slices.end_one()
        return found


async def _written(
    read_by: _ReadBy, question: tuple[object, ...], answers: Mapping[Key, Answer], codec_: _Codec[Answer]
) -> list[tuple[str, bytes]]:
    """Return the answers that may be shared as bytes, by their keys."""
    written: list[tuple[str, bytes]] = []
    slices = Slices()
    for at, (key, answer) in enumerate(answers.items(), start=1):
        content = codec_.write(answer)
        if content is not None:
            written.append((_name(read_by, question, key), content))
        if not at % _AT_ONCE:
            await slices.end_one()
    return written


def _name(read_by: _ReadBy, question: tuple[object, ...], key: object) -> str:
    """Return the key of an answer, which says nothing of the graph."""
    return blake2b(repr((_FORMAT, read_by, question, key)).encode(errors="surrogatepass"), digest_size=20).hexdigest()
