"""The part of the port that lists all names of a graph, page by page, for an index of them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from gateway.graph.call import Call
from gateway.graph.values import Iri

OnProgress = Callable[[int, int], Awaitable[None]]
"""Receives how many entities were read, and of how many."""


@dataclass(frozen=True, slots=True)
class Name:
    """One name of one entity.

    Attributes:
        iri: The entity.
        text: The name.
        is_synonym: Whether it is a synonym.
        language: Its language tag in lower case; empty where it has none.
    """

    iri: Iri
    text: str
    is_synonym: bool
    language: str = ""


@dataclass(frozen=True, slots=True)
class NamesPage:
    """Names of one predicate: all names of each entity that is on the page.

    Attributes:
        names: The names.
        after: The last entity of the page, after which the next one begins; None: there is no next page.
        missing: Names of entities on the page that are known to be there and did not come.
    """

    names: tuple[Name, ...]
    after: Iri | None
    missing: int = 0


@dataclass(frozen=True, slots=True)
class EntityTypes:
    """The types of some entities.

    Attributes:
        types: The types of each.
        unknown: Entities whose types the endpoint cannot be asked for.
    """

    types: dict[Iri, tuple[Iri, ...]]
    unknown: frozenset[Iri]


class NameReader(Protocol):
    """Lists the names of a graph. Every coroutine raises a `Fault` if the graph could not be asked."""

    @property
    def predicates(self) -> Sequence[Iri]:
        """The predicates of names and of synonyms; they may change while the graph is in use."""
        ...

    async def find_predicates(self, call: Call) -> None:
        """Detect which predicates name nodes; a schema that is read does the same."""
        ...

    def use_predicates(self, found: Sequence[Iri]) -> None:
        """Use the name predicates that an earlier run detected in the same graph."""
        ...

    def on_change(self, listener: Callable[[], None]) -> None:
        """Call a function whenever the predicates change: facts that were read before contain the old names."""
        ...

    async def count(self, predicate: Iri, call: Call) -> int:
        """Return the number of entities that have a name by a predicate."""
        ...

    async def page(self, predicate: Iri, after: Iri, call: Call) -> NamesPage:
        """Return the page of names that begins after an entity; the first page if `after` is empty."""
        ...

    async def types(self, entities: Sequence[Iri], call: Call) -> EntityTypes:
        """Return the types of some entities."""
        ...
