"""A `GraphStore` over another one: its base class answers every call by the store below."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

from gateway.graph.store import GraphStore

Method = TypeVar("Method", bound=Callable[..., Any])


class _Delegated:
    """The method of the store below, looked up each time: it costs no frame, and a subclass may define its own."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __get__(self, store: DelegatingStore | None, _: type[DelegatingStore]) -> object:
        return self if store is None else getattr(store._inner, self._name)  # noqa: SLF001 - the two are one


def _delegated(method: Method) -> Method:
    """Return a method of the port that the store below answers."""
    return cast("Method", _Delegated(method.__name__))


class DelegatingStore:
    """All methods of `gateway.graph.store.GraphStore`, answered by another store."""

    def __init__(self, inner: GraphStore) -> None:
        self._inner = inner

    edges = _delegated(GraphStore.edges)
    degrees = _delegated(GraphStore.degrees)
    reach = _delegated(GraphStore.reach)
    edges_among = _delegated(GraphStore.edges_among)
    existing = _delegated(GraphStore.existing)
    subjects = _delegated(GraphStore.subjects)
    nodes = _delegated(GraphStore.nodes)
    predicates = _delegated(GraphStore.predicates)
    narrower = _delegated(GraphStore.narrower)
    mentions = _delegated(GraphStore.mentions)
    node_metadata = _delegated(GraphStore.node_metadata)
    edge_metadata = _delegated(GraphStore.edge_metadata)
    quick_schema = _delegated(GraphStore.quick_schema)
    schema = _delegated(GraphStore.schema)
    search = _delegated(GraphStore.search)
    named = _delegated(GraphStore.named)
    name_reader = _delegated(GraphStore.name_reader)
    prepare = _delegated(GraphStore.prepare)
    prepared = _delegated(GraphStore.prepared)
    forget = _delegated(GraphStore.forget)
    close = _delegated(GraphStore.close)
