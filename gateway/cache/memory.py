"""The cache in memory: answers by primitive and key, bounded in bytes, each for one time to live.

Every object in an answer and its key counts once. Stores share equal texts within one answer; what two answers share
counts twice, so the sum is never too small. `tests/cache/test_memory.py` compares it with what Python allocates.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping
from itertools import chain
from struct import calcsize
from sys import getsizeof
from typing import Any

from gateway.errors import EdgesCapped
from gateway.graph.call import Epoch, Freshness
from gateway.graph.values import WHOLE, Degree, Edge, Existence, Mark, Neighbourhood, NodeFacts, all_terms
from gateway.telemetry.tally import Clock

_ENTRY = 320
"""Bytes of an entry beside its answer and its key."""

Key = tuple[Hashable, Hashable]
"""A primitive with its parameters, and the ID that it was asked about."""

_Entry = tuple[object, int, float]
"""An answer, its size in bytes, and when it expires on the clock."""


class Sizes:
    """The bytes of answers that are stored together, each counted once: thousands of nodes share the same facts.

    Args:
        at_most: Counting stops above it.
    """

    def __init__(self, at_most: int) -> None:
        self._at_most = at_most
        # With the answer itself: the number of one that is gone may be that of another.
        self._known: dict[int, tuple[object, int]] = {}

    def of(self, answer: object) -> int:
        """Return the bytes that an answer takes; see `memory_size`."""
        known = self._known.get(id(answer))
        if known is None:
            known = self._known[id(answer)] = (answer, memory_size(answer, self._at_most))
        return known[1]


class MemoryCache:
    """Answers by key: those used last, as many as there is room for.

    A cache of cachetools takes five times as long to store an answer, and a large call brings thousands
    (docs/decisions/0028-own-computing-leaves-the-event-loop.md).

    Attributes:
        bytes: Bytes in use.
        evicted: How many answers were removed before their time, to make room.
    """

    def __init__(self, bytes_: int, ttl_seconds: float, clock: Clock) -> None:
        self.bytes = 0
        self.evicted = 0
        self._limit = bytes_
        self._entries: OrderedDict[Key, _Entry] = OrderedDict()
        self._ttl = ttl_seconds
        self._clock = clock
        self._epoch = Epoch()

    def get(self, key: Key, freshness: Freshness) -> object | None:
        """Return the answer under a key, and note until when it holds; None if there is none, or it has expired."""
        entry = self._entries.get(key)
        if entry is None:
            return None
        answer, size, until = entry
        if until <= self._clock():
            del self._entries[key]
            self.bytes -= size
            return None
        self._entries.move_to_end(key)
        freshness.used(until, self._clock, self._epoch)
        return answer

    def put(self, primitive: Hashable, answers: Mapping[Any, object], sizes: Sizes, *, more: int = 0) -> None:
        """Store the answers to one question, but those that are larger than the cache.

        Args:
            primitive: The primitive and its parameters.
            answers: The answers by the ID that was asked about.
            sizes: The sizes of the answers that are stored together with these.
            more: Bytes of the primitive's parameters, for each answer.
        """
        entries, until = self._entries, self._clock() + self._ttl
        more += _ENTRY
        for id_, answer in answers.items():
            size = sizes.of(answer) + more
            # Most IDs are texts: without a call for each.
            if type(id_) is not str:
                size += memory_size(id_)
            elif not (type(answer) is Neighbourhood and _is_in(id_, answer)):
                size += getsizeof(id_)
            if size > self._limit:
                continue
            key = (primitive, id_)
            if (before := entries.pop(key, None)) is not None:
                self.bytes -= before[1]
            entries[key] = (answer, size, until)
            self.bytes += size
            while self.bytes > self._limit:
                _, (_, removed, _) = entries.popitem(last=False)
                self.bytes -= removed
                self.evicted += 1

    def sizes(self) -> Sizes:
        """Return sizes for answers that are stored together."""
        return Sizes(self._limit)

    def clear(self) -> None:
        """Remove all answers."""
        self._entries.clear()
        self.bytes = 0
        self._epoch.is_over = True
        self._epoch = Epoch()


_ROUNDED = 8
"""Bytes that an object takes beyond its size, because memory comes in pieces of 16."""

_CONSTANTS = frozenset(map(id, (WHOLE, "", (), frozenset(), None, True, False, *range(257))))
"""Objects of which Python has one, which all answers share."""

_UNBOUNDED = 1 << 62

_PARTS: dict[type, Callable[[Any], Iterable[object]]] = {}
"""What lists the objects that an object of a type refers to, for each type met."""


def memory_size(answer: object, at_most: int = _UNBOUNDED) -> int:
    """Return the bytes that an answer or a key takes; counting stops above `at_most`."""
    count = _QUICK.get(type(answer))
    return _walked(answer, at_most) if count is None else count(answer)


def _walked(answer: object, at_most: int = _UNBOUNDED) -> int:
    """Count an object and all that it refers to."""
    seen = set(_CONSTANTS)
    waiting = [answer]
    total = 0
    while waiting and total <= at_most:
        part = waiting.pop()
        if id(part) not in seen:
            seen.add(id(part))
            total += getsizeof(part) + _ROUNDED
            kind = type(part)
            waiting.extend((_PARTS.get(kind) or _PARTS.setdefault(kind, _parts_of(kind)))(part))
    return total


def _parts_of(kind: type) -> Callable[[Any], Iterable[object]]:
    """Return what lists the objects that an object of a type refers to."""
    if issubclass(kind, Mapping):
        return lambda mapping: chain(mapping.keys(), mapping.values())
    if issubclass(kind, tuple | list | set | frozenset):
        return iter
    if issubclass(kind, BaseException):
        return lambda error: (error.args, vars(error))
    names = [name for base in kind.__mro__ for name in getattr(base, "__slots__", ())]
    return lambda value: [getattr(value, name) for name in names]


# A call brings thousands of these, and thousands of edges: a walk would take five times as long.

_LARGE = 1_000
"""A number that Python does not share."""

_SAMPLES = (Neighbourhood(), NodeFacts(), Degree(_LARGE), Existence())
_EMPTY = {type(sample): _walked(sample) for sample in _SAMPLES}
_FACTS = _EMPTY[NodeFacts]
_MARK = _walked(Mark(EdgesCapped("")))
_EDGE = getsizeof(Edge("", "", "")) + _ROUNDED + calcsize("P")
_HASH = getsizeof(1 << 62) + _ROUNDED


def _of_edges(answer: Neighbourhood) -> int:
    texts = set(all_terms(answer.edges))
    left_out = getsizeof(answer.left_out) + _HASH * len(answer.left_out) if answer.left_out else 0
    return _EMPTY[Neighbourhood] + _EDGE * len(answer.edges) + _of_texts(texts) + left_out + _of_mark(answer.mark)


def _is_in(node: str, answer: Neighbourhood) -> bool:
    """Return whether the very text of a node is in its edges, and so is counted with them."""
    return bool(answer.edges) and (answer.edges[0].subject is node or answer.edges[0].object is node)


def _of_facts(answer: NodeFacts) -> int:
    # Without one generator or list: a call brings more of these than of anything else.
    size = _FACTS + getsizeof(answer.types)
    # There is one empty text, which all share.
    if answer.name:
        size += getsizeof(answer.name) + _ROUNDED
    if answer.description:
        size += getsizeof(answer.description) + _ROUNDED
    for type_ in answer.types:
        size += getsizeof(type_) + _ROUNDED
    if answer.aliases:
        size += getsizeof(answer.aliases) + _of_texts(answer.aliases)
    return size if answer.mark is WHOLE else size + _of_mark(answer.mark)


def _of_number(answer: Degree | Existence) -> int:
    return _EMPTY[type(answer)] + _of_mark(answer.mark)


def _of_texts(texts: Collection[str]) -> int:
    return sum(map(getsizeof, texts)) + _ROUNDED * len(texts)


def _of_mark(mark: Mark) -> int:
    fault = mark.fault
    return 0 if fault is None else _MARK + _of_texts((fault.wrong, fault.valid, fault.next_step, str(fault)))


_QUICK: Mapping[type, Callable[[Any], int]] = {
    str: getsizeof,
    Neighbourhood: _of_edges,
    NodeFacts: _of_facts,
    Degree: _of_number,
    Existence: _of_number,
}
