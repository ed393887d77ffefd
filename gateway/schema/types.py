"""The types of nodes: the one that a node shows, and the subclasses that a filter means too."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence

from gateway import messages
from gateway.errors import InputError
from gateway.graph.call import Call
from gateway.graph.counts import ClassHierarchy
from gateway.graph.store import GraphStore
from gateway.graph.values import Iri, Mark, NodeFacts, Schema
from gateway.settings.vocabulary import TypeSettings
from gateway.terms.iri import (
    GENERIC_TYPES,
    KINDS_OF_SCHEMA_TERMS,
    SCHEMA_TERM_CLASSES,
    is_entity_type,
    is_iri,
)
from gateway.terms.prefixes import PrefixMap

_LEVELS = 20
"""Levels of subclasses that are followed, each with at least one request."""


_MOST = 2_000
"""Subclasses of one filter; an answer warns of more."""


class Subclasses:
    """Adds to the types of a filter their subclasses, and theirs."""

    def __init__(self, store: GraphStore, prefixes: PrefixMap) -> None:
        self._store = store
        self._prefixes = prefixes

    async def widened(self, argument: str, types: Collection[str], call: Call) -> tuple[frozenset[str], list[str]]:
        """Return types and all their subclasses, with warnings if these are not all; words have no subclasses."""
        found, failed, is_cut = await self._found(types, call)
        return found, self._warnings(argument, list(failed), cut=is_cut)

    async def _found(self, types: Collection[str], call: Call) -> tuple[frozenset[str], Mapping[Iri, Mark], bool]:
        """Return types and their subclasses, types whose subclasses are unread, and whether there are more."""
        found = dict.fromkeys(sorted(types))
        frontier = [iri for iri in found if is_iri(iri)]
        failed: dict[Iri, Mark] = {}
        if not frontier:
            return frozenset(types), failed, False
        for _ in range(_LEVELS):
            with call.tally.stage("schema"):
                below = await self._store.narrower(frontier, call)
            failed |= {iri: narrower.mark for iri, narrower in below.items() if not narrower.mark.whole}
            new = dict.fromkeys(iri for narrower in below.values() for iri in narrower.classes if iri not in found)
            frontier = list(new)
            if not frontier:
                break
            found |= new
            if len(found) > _MOST:
                break
        return frozenset(found), failed, bool(frontier)

    async def all_of(self, argument: str, types: Collection[str], call: Call) -> frozenset[str]:
        """Return types and all their subclasses.

        Raises:
            InputError: There are more than are read.
            Fault: Some could not be read.
        """
        found, failed, is_cut = await self._found(types, call)
        for mark in failed.values():
            if mark.fault is not None:
                raise mark.fault
        if is_cut:
            raise InputError(messages.too_many_subclasses(argument, _MOST))
        return found

    def _warnings(self, argument: str, failed: Sequence[Iri], *, cut: bool) -> list[str]:
        warnings = []
        if failed:
            warnings.append(messages.subclasses_unread(argument, self._prefixes.listed(failed)))
        if cut:
            warnings.append(messages.too_many_subclasses(argument, _MOST))
        return warnings


UNTYPED = "untyped"
"""The `entity_type` of a node without any type."""


UNKNOWN = "unknown"
"""The `entity_type` of a node whose types could not be fetched."""


WORDS = (UNTYPED, UNKNOWN)
"""What stands in the place of a type."""


class TypeChooser:
    """Chooses one type for each node; the choice depends only on the profile and the schema version."""

    def __init__(self, schema: Schema, settings: TypeSettings, prefixes: PrefixMap) -> None:
        sign = -1 if settings.shown == "commonest" else 1
        self._ranks = {term.iri: sign * (term.count or 0) for term in schema.types} if schema.exact else {}
        self._preferred = {iri: rank for rank, iri in enumerate(settings.preferred)}
        self._hierarchy = ClassHierarchy(schema.superclasses if settings.subclass_of else {})
        self._prefixes = prefixes

    def all_of(self, facts: NodeFacts) -> Sequence[Iri]:
        """Return the entity types of a node, the one that is shown first; generic types only if there are no others."""
        types = _telling(facts)
        return types if len(types) <= 1 else sorted(types, key=self._order(types))

    def filterable(self, facts: NodeFacts) -> tuple[str, ...]:
        """Return the types that a filter can match: all types of the node, or the word for none or unknown ones."""
        if not facts.are_types_known:
            return (UNKNOWN,)
        return tuple(iri for iri in facts.types if is_entity_type(iri)) or (UNTYPED,)

    def selected(self, facts: NodeFacts, asked: Collection[str], meant: Collection[str]) -> str:
        """Return the type by which a filter selects a node: one that is asked for, else one that it means too.

        If the types of the node do not tell, it is the type that the node shows.
        """
        types = self.filterable(facts)
        fitting = [iri for iri in types if iri in asked] or [iri for iri in types if iri in meant]
        return self._first(fitting) or self.chosen(facts)

    def chosen(self, facts: NodeFacts) -> str:
        """Return the type that a node shows, or the word for none or unknown ones."""
        if not facts.are_types_known:
            return UNKNOWN
        return self._first(_telling(facts)) or UNTYPED

    def shown(self, facts: NodeFacts) -> str:
        """Return `entity_type` as it is written in an answer."""
        return self.written(self.chosen(facts))

    def written(self, chosen: str) -> str:
        """Return the ID of a type, or the word that stands for none."""
        return chosen if chosen in WORDS else self._prefixes.shorten(chosen)

    def _first(self, types: Sequence[str]) -> str | None:
        """Return the first of types in order, or None if there are none."""
        return types[0] if len(types) == 1 else min(types, key=self._order(types), default=None)

    def _order(self, types: Sequence[str]) -> Callable[[str], tuple[int, bool, int, int, str]]:
        above, last = self._hierarchy.above_others(types), len(self._preferred)

        def order(iri: str) -> tuple[int, bool, int, int, str]:
            preference, rank = self._preferred.get(iri, last), self._ranks.get(iri, 0)
            place = 0 if iri in self._preferred else _place_of_kind(iri)
            return (place, iri in above, preference, rank, self._prefixes.declared_form(iri))

        return order


_PLACES = {iri: place for place, iri in enumerate(KINDS_OF_SCHEMA_TERMS, 1)}


def _place_of_kind(iri: Iri) -> int:
    """Return where a type of schema terms stands behind all other types."""
    return _PLACES.get(iri, len(_PLACES) + 1) if iri in SCHEMA_TERM_CLASSES else 0


def _telling(facts: NodeFacts) -> list[Iri]:
    """Return the entity types of a node, generic ones only if there are no others."""
    types = [iri for iri in facts.types if is_entity_type(iri)]
    return [iri for iri in types if iri not in GENERIC_TYPES] or types
