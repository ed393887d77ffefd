"""A `GraphStore` in front of a `GraphStore`, which asks it only for what no process has read into the shared place.

It stands below the cache in memory, which keeps two callers of one process from asking the same. Shared are whole
answers about single IDs, for one time to live. Searches, schemas and edges among nodes are asked by each process
itself, the last ones only where the edges of their nodes are not there.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Hashable, Mapping, Sequence
from hashlib import blake2b
from typing import Any, Protocol, TypeVar, cast

from gateway.cache import shared_codec
from gateway.cache.shared_values import SharedValues
from gateway.graph.call import Call
from gateway.graph.computing import Slices
from gateway.graph.store import DelegatingStore, GraphStore, PortMethod
from gateway.graph.values import (
    ALL_EDGES,
    EdgeSelection,
    Iri,
    Marked,
    Neighbourhood,
)

_RECEIVER = "on_answers"
"""The option of `edges` that decides on no answer."""

_EDGES = ("edges", ALL_EDGES, None)
"""The question for all edges of a node."""

_AT_ONCE = 100
"""Answers that are read or written between two looks at the clock."""

_FORMAT = "3"
"""Of the bytes; another one has other keys."""

_ReadBy = tuple[str, tuple[Iri, ...]]
"""The rules by which answers are read, and the predicates of names."""

Key = TypeVar("Key", bound=Hashable)
Answer = TypeVar("Answer", bound=Marked)
AnswerT = TypeVar("AnswerT")


class _Codec(Protocol[AnswerT]):
    def write(self, answer: AnswerT, /) -> bytes | None: ...

    def read(self, content: bytes, /) -> AnswerT | None: ...


def _shared(method: PortMethod, codec: _Codec[Any]) -> PortMethod:
    """Return a method of the port whose answers about single keys are shared by its name and parameters.

    Args:
        method: The method, which takes the keys, its parameters and the call.
        codec: Its answers as bytes.
    """
    name, defaults = method.__name__, method.__kwdefaults__ or {}

    async def answers(self: SharedStore, keys: Sequence[Any], *given: Any, **options: Any) -> Mapping[Any, Any]:
        parameters = {key: value for key, value in (defaults | options).items() if key != _RECEIVER}

        def fetch(unknown: Sequence[Any]) -> Awaitable[Mapping[Any, Any]]:
            asked: Awaitable[Mapping[Any, Any]] = getattr(self._inner, name)(unknown, *given, **options)
            return asked

        return await self._answers((name, *given[:-1], *parameters.values()), keys, fetch, codec)

    return cast("PortMethod", answers)


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

    # A whole answer is whole under each bound, but may be more than another bound lets through.
    edges = _shared(GraphStore.edges, shared_codec.EDGES)
    degrees = _shared(GraphStore.degrees, shared_codec.DEGREES)
    edge_counts = _shared(GraphStore.edge_counts, shared_codec.COUNTS)
    reach = _shared(GraphStore.reach, shared_codec.REACH)
    existing = _shared(GraphStore.existing, shared_codec.EXISTENCE)
    subjects = _shared(GraphStore.subjects, shared_codec.EXISTENCE)
    nodes = _shared(GraphStore.nodes, shared_codec.FACTS)
    predicates = _shared(GraphStore.predicates, shared_codec.FACTS)
    narrower = _shared(GraphStore.narrower, shared_codec.SUBCLASSES)
    identities = _shared(GraphStore.identities, shared_codec.IDENTITIES)
    mentions = _shared(GraphStore.mentions, shared_codec.DESCRIPTIONS)
    node_metadata = _shared(GraphStore.node_metadata, shared_codec.DESCRIPTIONS)
    edge_metadata = _shared(GraphStore.edge_metadata, shared_codec.EVIDENCE)

    async def edges_among(
        self, ids: Sequence[Iri], inside: frozenset[Iri], call: Call, *, predicates: tuple[Iri, ...] | None = None
    ) -> Mapping[Iri, Neighbourhood]:
        """Return, for each node, its outgoing edges whose object lies inside a set, of all predicates or of some."""
        wanted = list(dict.fromkeys(ids))
        known = await self._shared(_EDGES, wanted, shared_codec.EDGES)
        outgoing = EdgeSelection(predicates, incoming=())
        found = {
            node: Neighbourhood(outgoing.selected(node, (edge for edge in whole.edges if edge.object in inside)))
            for node, whole in known.items()
        }
        unknown = [node for node in wanted if node not in found]
        asked = await self._inner.edges_among(unknown, inside, call, predicates=predicates) if unknown else {}
        return {node: found[node] if node in found else asked[node] for node in ids}

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
