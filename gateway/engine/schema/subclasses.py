"""Adds subclasses to filters by type, if the profile names the predicate that leads to the superclass."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from gateway.engine import filter_messages
from gateway.graph.call import Call
from gateway.graph.store import GraphStore
from gateway.graph.values import Iri
from gateway.settings.profile import Profile
from gateway.terms.iri import is_iri
from gateway.terms.prefixes import PrefixMap

_LEVELS = 20
"""Levels of subclasses that are followed, each with at least one request."""

_MOST = 2_000
"""Subclasses of one filter; an answer warns of more."""


class Subclasses:
    """Adds to the types of a filter their subclasses, and theirs."""

    def __init__(self, store: GraphStore, profile: Profile, prefixes: PrefixMap) -> None:
        self._store = store
        self._prefixes = prefixes
        self._is_known = bool(profile.types.subclass_of)

    async def widened(self, argument: str, types: Collection[str], call: Call) -> tuple[frozenset[str], list[str]]:
        """Return the types and all their subclasses, and warnings if these are not all.

        Args:
            argument: The argument that names them, for messages.
            types: IRIs, and words such as `untyped`, which have no subclasses.
            call: The call that asks.
        """
        found = dict.fromkeys(sorted(types))
        frontier = [iri for iri in found if is_iri(iri)]
        if not self._is_known or not frontier:
            return frozenset(types), []
        failed: list[Iri] = []
        for _ in range(_LEVELS):
            with call.tally.stage("schema"):
                below = await self._store.narrower(frontier, call)
            failed += [iri for iri, narrower in below.items() if not narrower.mark.whole]
            new = dict.fromkeys(iri for narrower in below.values() for iri in narrower.classes if iri not in found)
            frontier = list(new)
            if not frontier:
                break
            found |= new
            if len(found) > _MOST:
                break
        return frozenset(found), self._warnings(argument, failed, cut=bool(frontier))

    def _warnings(self, argument: str, failed: Sequence[Iri], *, cut: bool) -> list[str]:
        warnings = []
        if failed:
            warnings.append(filter_messages.subclasses_unread(argument, self._prefixes.listed(failed)))
        if cut:
            warnings.append(filter_messages.too_many_subclasses(argument, _MOST))
        return warnings
