"""Answers of the port as bytes and back, with their types checked: what stands in a shared place may be anything.

Only whole answers are written. Hashes in an answer are those of one process, so an answer with any is not written.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Generic, TypeVar

import msgspec

from gateway.graph.counts import EdgeCounts
from gateway.graph.values import (
    Assertion,
    BlankNode,
    Degree,
    Description,
    DirectSubclasses,
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

Answer = TypeVar("Answer", bound=Marked)
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


class DescriptionCodec:
    """Writes and reads descriptions."""

    _decoder = msgspec.msgpack.Decoder(_Statements)

    def write(self, answer: Description) -> bytes | None:
        """Return a description as bytes; None if it is not to be shared."""
        if not (answer.mark.whole and answer.refined):
            return None
        statement = _Statement(_written(answer.properties), ())
        return _encoder.encode(_Statements([statement], answer.left_out, answer.refined))

    def read(self, content: bytes) -> Description | None:
        """Return the description in some bytes; None if there is none."""
        read = _decoded(self._decoder, content)
        if read is None or len(read.statements) != 1:
            return None
        return Description(_read(read.statements[0].properties), left_out=read.left_out)


class EvidenceCodec:
    """Writes and reads evidence."""

    _decoder = msgspec.msgpack.Decoder(_Statements)

    def write(self, answer: Evidence) -> bytes | None:
        """Return evidence as bytes; None if it is not to be shared."""
        if not (answer.mark.whole and answer.refined):
            return None
        statements = [_Statement(_written(each.properties), each.sources) for each in answer.assertions]
        return _encoder.encode(_Statements(statements, answer.left_out, answer.refined))

    def read(self, content: bytes) -> Evidence | None:
        """Return the evidence in some bytes; None if there is none."""
        read = _decoded(self._decoder, content)
        if read is None:
            return None
        assertions = (Assertion(_read(each.properties), each.sources) for each in read.statements)
        return Evidence(tuple(assertions), left_out=read.left_out)


def _decoded(decoder: msgspec.msgpack.Decoder[Content], content: bytes) -> Content | None:
    try:
        return decoder.decode(content)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None


def _written(properties: Mapping[Iri, Sequence[Value]]) -> _Properties:
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
            return _BlankNode(_written(value.properties), value.cut)


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
