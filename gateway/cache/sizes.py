"""How much memory an answer takes, so that a bound in bytes is one.

Within one answer, equal texts count once, as stores keep them; what two answers share counts twice, so the bound
holds. `tests/cache/test_sizes.py` compares with what Python allocates.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from itertools import chain
from sys import getsizeof
from typing import Any

from gateway.graph.values import WHOLE, Degree, Existence, Mark, Neighbourhood, NodeFacts

_SMALL = 100
"""Bytes of an answer that is a number or a flag."""

_EDGE = 72
"""Bytes of an edge without its IRIs: a tuple of three, and its place in the neighbourhood."""

_HASH = 40
"""Bytes of a large whole number."""

_ROUNDED = 8
"""Bytes that an object takes beyond its size, because memory comes in pieces of 16."""

_MARK = 450
"""Bytes of a mark that is not `WHOLE`, with its fault, without the fault's texts."""


def size_of(answer: object) -> int:
    """Return about how many bytes an answer of a graph store takes, or what it was asked about."""
    return _WAYS.get(type(answer), _of_any)(answer)


def _of_edges(answer: Neighbourhood) -> int:
    texts = sum(map(getsizeof, set(chain.from_iterable(answer.edges))))
    left_out = getsizeof(answer.left_out) + _HASH * len(answer.left_out)
    return _SMALL + _EDGE * len(answer.edges) + texts + left_out + _of_mark(answer.mark)


def _of_facts(answer: NodeFacts) -> int:
    # There is one empty text, which all share.
    texts = sum(map(getsizeof, filter(None, (answer.name, answer.description, *answer.types))))
    return _SMALL + getsizeof(answer.types) + texts + _of_mark(answer.mark)


def _of_number(answer: Degree | Existence) -> int:
    return _SMALL + _of_mark(answer.mark)


def _of_mark(mark: Mark) -> int:
    if mark.fault is None:
        return 0
    return _MARK + sum(map(getsizeof, (mark.fault.wrong, mark.fault.valid, mark.fault.next_step, str(mark.fault))))


def _of_any(answer: object) -> int:
    return _walked(answer, {id(WHOLE)})


_WAYS: Mapping[type, Callable[[Any], int]] = {
    str: getsizeof,
    Neighbourhood: _of_edges,
    NodeFacts: _of_facts,
    Degree: _of_number,
    Existence: _of_number,
}
"""Quick ways for the answers of which there are many."""


def _walked(value: object, seen: set[int]) -> int:
    """Add up an object and all that it holds."""
    if id(value) in seen:
        return 0
    seen.add(id(value))
    inner: Iterable[object]
    if isinstance(value, str):
        inner = ()
    elif isinstance(value, Mapping):
        inner = chain(value.keys(), value.values())
    elif isinstance(value, tuple | list | set | frozenset):
        inner = value
    elif isinstance(value, Mark):
        return _SMALL + _of_mark(value)
    else:
        inner = [getattr(value, name) for name in getattr(type(value), "__slots__", ())]
    return getsizeof(value) + _ROUNDED + sum(_walked(part, seen) for part in inner)
