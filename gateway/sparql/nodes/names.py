"""Which predicates name nodes."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from gateway.graph.values import Iri
from gateway.settings.vocabulary import RoleSettings


class NamePredicates:
    """The predicates of names and synonyms that are in force, shared by everything that reads or searches names.

    They can change while the graph is in use, because they are detected from the data.

    Attributes:
        names: Predicates of the display name, the best first.
        synonyms: Predicates of further names, without those of names.
    """

    def __init__(self, roles: RoleSettings) -> None:
        self._roles = roles
        self._listeners: list[Callable[[], None]] = []
        self.names: tuple[Iri, ...] = roles.name
        self.synonyms: tuple[Iri, ...] = roles.synonym
        self._set(roles.name)

    @property
    def all(self) -> tuple[Iri, ...]:
        """Both, the names first."""
        return (*self.names, *self.synonyms)

    @property
    def configured(self) -> tuple[Iri, ...]:
        """The predicates of names that the profile gives."""
        return self._roles.name

    def use(self, names: Iterable[Iri]) -> None:
        """Let other predicates be the names, the best first, and call the listeners if they are not those in force."""
        before = self.all
        self._set(names)
        if self.all != before:
            for listener in self._listeners:
                listener()

    def on_change(self, listener: Callable[[], None]) -> None:
        """Call a function whenever other predicates are in force: stored answers contain names by the old ones."""
        self._listeners.append(listener)

    def _set(self, names: Iterable[Iri]) -> None:
        self.names = tuple(dict.fromkeys(names))
        self.synonyms = tuple(iri for iri in dict.fromkeys(self._roles.synonym) if iri not in self.names)
