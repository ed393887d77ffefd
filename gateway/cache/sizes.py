"""How much memory an answer takes, so that a bound in bytes is one.

Within one answer, equal texts count once, as stores keep them; what two answers share counts twice, so the bound
holds. `tests/cache/test_sizes.py` compares with what Python allocates.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from itertools import chain
from sys import getsizeof
from typing import Any

from gateway.graph.values import WHOLE, Degree, Existence, Iri, Neighbourhood, NodeFacts

_SMALL = 100
"""Bytes of an answer that is a number or a flag."""

_EDGE = 72
"""Bytes of an edge without its IRIs: a tuple of three, and its place in the neighbourhood."""

_HASH = 40
"""Bytes of a large whole number."""

_ROUNDED = 8
"""Bytes that an object takes beyond its size, because memory comes in pieces of 16."""

_MARK = 450
"""Bytes of a mark that is not `WHOLE`, with its fault."""


def size_of(answer: object) -> int:
    """Return about how many bytes an answer of a graph store takes, or what it was asked about."""
    return _WAYS.get(type(answer), _of_any)(answer)


def _of_edges(answer: Neighbourhood) -> int:
    texts = sum(map(getsizeof, set(chain.from_iterable(answer.edges))))
    left_out = getsizeof(answer.left_out) + _HASH * len(answer.left_out)
    return _SMALL + _EDGE * len(answer.edges) + texts + left_out + (0 if answer.mark.whole else _MARK)


def _of_facts(answer: NodeFacts) -> int:
    return _SMALL + _of_types(answer.types) + getsizeof(answer.name)


@lru_cache(maxsize=4096)
def _of_types(types: tuple[Iri, ...]) -> int:
    """Return the bytes of a node's types; thousands of nodes have the same."""
    return getsizeof(types) + sum(map(getsizeof, types))


def _of_number(_: Degree | Existence) -> int:
    return _SMALL


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
    elif isinstance(value, tuple):
        inner = value
    else:
        inner = [getattr(value, name) for name in getattr(type(value), "__slots__", ())]
    return getsizeof(value) + _ROUNDED + sum(_walked(part, seen) for part in inner)
