"""A `GraphStore` in front of a `GraphStore`, which asks it only for what no process has read into the shared place.

It stands below the cache in memory, which keeps two callers of one process from asking the same. Shared are whole
answers about single IDs, for one time to live. Searches, schemas and edges among nodes are asked by each process
itself, the last ones only where the edges of their nodes are not there.

Answers are written as bytes and read back with their types checked: what stands in a shared place may be anything.
Only whole answers are written. Hashes in an answer are those of one process, so an answer with any is not written.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Hashable, Mapping, Sequence
from hashlib import blake2b
from typing import Any, Generic, Protocol, TypeVar, cast

import msgspec

from gateway.cache.shared_values import SharedValues
from gateway.graph.call import Call
from gateway.graph.computing import Slices
from gateway.graph.counts import EdgeCounts
from gateway.graph.store import DelegatingStore, GraphStore, PortMethod
from gateway.graph.values import (
    ALL_EDGES,
    Assertion,
    BlankNode,
    Degree,
    Description,
    DirectSubclasses,
    EdgeSelection,
    Evidence,
    Existence,
    Identities,
    Iri,
    Marked,
    Neighbourhood,
    NodeFacts,
    NoValue,
    Quantity,
    Reach,
    Resource,
    Value,
)
from gateway.terms.literals import Literal

_RECEIVER = "on_answers"
"""The option of `edges` that decides on no answer."""

_ALL_EDGES = ("edges", ALL_EDGES, None)
"""The question for all edges of a node."""

_AT_ONCE = 100
"""Answers that are read or written between two looks at the clock."""

_FORMAT = "6"
"""Of the bytes; another one has other keys."""

_ReadBy = tuple[str, tuple[Iri, ...]]
"""The rules by which answers are read, and the predicates of names."""

Key = TypeVar("Key", bound=Hashable)
Answer = TypeVar("Answer", bound=Marked)
AnswerT = TypeVar("AnswerT")
Content = TypeVar("Content")

_encoder = msgspec.msgpack.Encoder()


class Codec(Generic[Answer]):
    """Writes and reads the answers of one kind that have no values in them.

    Args:
        kind: Their class.
    """

    def __init__(self, kind: type[Answer]) -> None:
        self._decoder = msgspec.msgpack.Decoder(kind, dec_hook=_refuse)

    def write(self, answer: Answer) -> bytes | None:
        """Return an answer as bytes; None if it is not to be shared."""
        if not answer.mark.whole or (isinstance(answer, Neighbourhood) and answer.left_out):
            return None
        return _encoder.encode(answer)

    def read(self, content: bytes) -> Answer | None:
        """Return the answer in some bytes; None if there is none."""
        answer = _decoded(self._decoder, content)
        return answer if answer is not None and answer.mark.whole else None


def _refuse(kind: type, _: object) -> Any:
    """Raise for what no whole answer has: the fault of a mark."""
    raise msgspec.ValidationError(f"a {kind.__name__} is not shared")


class _Literal(msgspec.Struct, tag="l", array_like=True):
    value: str
    datatype: str
    language: str


class _Resource(msgspec.Struct, tag="r", array_like=True):
    iri: Iri


class _NoValue(msgspec.Struct, tag="n", array_like=True):
    unknown: bool


class _Quantity(msgspec.Struct, tag="q", array_like=True):
    value: str
    datatype: str
    unit: Iri


class _BlankNode(msgspec.Struct, tag="b", array_like=True):
    properties: dict[str, list[_Value]]
    cut: bool


_Value = _Literal | _Resource | _NoValue | _Quantity | _BlankNode
_Properties = dict[str, list[_Value]]


class _Statement(msgspec.Struct, array_like=True):
    properties: _Properties
    sources: tuple[str, ...]


class _Statements(msgspec.Struct, array_like=True):
    statements: list[_Statement]
    left_out: int
    refined: bool


class EvidenceCodec:
    """Writes and reads evidence."""

    _decoder = msgspec.msgpack.Decoder(_Statements)

    def write(self, answer: Evidence) -> bytes | None:
        """Return evidence as bytes; None if it is not to be shared."""
        if not (answer.mark.whole and answer.refined):
            return None
        statements = [_Statement(_as_written(each.properties), each.sources) for each in answer.assertions]
        return _encoder.encode(_Statements(statements, answer.left_out, answer.refined))

    def read(self, content: bytes) -> Evidence | None:
        """Return the evidence in some bytes; None if there is none."""
        read = _decoded(self._decoder, content)
        if read is None:
            return None
        assertions = (Assertion(_read(each.properties), each.sources) for each in read.statements)
        return Evidence(tuple(assertions), left_out=read.left_out)


class DescriptionCodec:
    """Writes and reads descriptions, each as evidence with one statement."""

    def write(self, answer: Description) -> bytes | None:
        """Return a description as bytes; None if it is not to be shared."""
        return EVIDENCE.write(
            Evidence((Assertion(answer.properties),), answer.mark, answer.left_out, refined=answer.refined)
        )

    def read(self, content: bytes) -> Description | None:
        """Return the description in some bytes; None if there is none."""
        read = EVIDENCE.read(content)
        if read is None or len(read.assertions) != 1:
            return None
        return Description(read.assertions[0].properties, left_out=read.left_out)


def _decoded(decoder: msgspec.msgpack.Decoder[Content], content: bytes) -> Content | None:
    try:
        return decoder.decode(content)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None


def _as_written(properties: Mapping[Iri, Sequence[Value]]) -> _Properties:
    return {predicate: [_value(value) for value in values] for predicate, values in properties.items()}


def _value(value: Value) -> _Value:
    match value:
        case Literal():
            return _Literal(value.value, value.datatype, value.language)
        case Resource():
            return _Resource(value.iri)
        case NoValue():
            return _NoValue(value.unknown)
        case Quantity():
            return _Quantity(value.amount.value, value.amount.datatype, value.unit)
        case BlankNode():
            return _BlankNode(_as_written(value.properties), value.cut)


def _read(properties: _Properties) -> dict[Iri, tuple[Value, ...]]:
    return {predicate: tuple(map(_value_of, values)) for predicate, values in properties.items()}


def _value_of(value: _Value) -> Value:
    match value:
        case _Literal():
            return Literal(value.value, value.datatype, value.language)
        case _Resource():
            return Resource(value.iri)
        case _NoValue():
            return NoValue(value.unknown)
        case _Quantity():
            return Quantity(Literal(value.value, value.datatype), value.unit)
        case _BlankNode():
            return BlankNode(_read(value.properties), value.cut)


EDGES = Codec(Neighbourhood)
DEGREES = Codec(Degree)
COUNTS = Codec(EdgeCounts)
FACTS = Codec(NodeFacts)
EXISTENCE = Codec(Existence)
SUBCLASSES = Codec(DirectSubclasses)
IDENTITIES = Codec(Identities)
REACH = Codec(Reach)
DESCRIPTIONS = DescriptionCodec()
EVIDENCE = EvidenceCodec()


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

        *given_keys, call = given
        language = [call.language] if call.language and codec is FACTS else []
        return await self._answers((name, *given_keys, *parameters.values(), *language), keys, fetch, codec)

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
    edges = _shared(GraphStore.edges, EDGES)
    degrees = _shared(GraphStore.degrees, DEGREES)
    edge_counts = _shared(GraphStore.edge_counts, COUNTS)
    reach = _shared(GraphStore.reach, REACH)
    existing = _shared(GraphStore.existing, EXISTENCE)
    subjects = _shared(GraphStore.subjects, EXISTENCE)
    nodes = _shared(GraphStore.nodes, FACTS)
    predicates = _shared(GraphStore.predicates, FACTS)
    narrower = _shared(GraphStore.narrower, SUBCLASSES)
    identities = _shared(GraphStore.identities, IDENTITIES)
    mentions = _shared(GraphStore.mentions, DESCRIPTIONS)
    node_metadata = _shared(GraphStore.node_metadata, DESCRIPTIONS)
    edge_metadata = _shared(GraphStore.edge_metadata, EVIDENCE)

    async def edges_among(
        self, ids: Sequence[Iri], inside: frozenset[Iri], call: Call, *, predicates: tuple[Iri, ...] | None = None
    ) -> Mapping[Iri, Neighbourhood]:
        """Return, for each node, its outgoing edges whose object lies inside a set, of all predicates or of some."""
        wanted = list(dict.fromkeys(ids))
        known = await self._shared(_ALL_EDGES, wanted, EDGES)
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
