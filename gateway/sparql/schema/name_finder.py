"""Finds out which predicates name a graph's nodes, and has them used from then on."""

from __future__ import annotations

import asyncio
from itertools import chain
from typing import Final

from gateway.errors import EndpointFault, Fault
from gateway.graph.budget import Budget
from gateway.graph.values import Iri
from gateway.settings.profile import Profile
from gateway.sparql.asking import Asker, Overflow
from gateway.sparql.naming import Naming
from gateway.sparql.results import LiteralTerm
from gateway.sparql.schema.own_names import Text, own_names
from gateway.terms.iri import is_iri

_TRIPLES = 2_000
"""Neighbouring triples whose literals are looked at."""

_PLACES: Final = (0, 30_000)


class NameFinder:
    """Looks for names among the literals of a graph."""

    def __init__(self, asker: Asker, naming: Naming, profile: Profile) -> None:
        self._asker = asker
        self._naming = naming
        self._roles = profile.roles
        self._is_pinned = "name" in profile.roles.model_fields_set

    async def find(self, budget: Budget, triples: int | None = None) -> tuple[Iri, ...] | None:
        """Return the predicates that carry names here, the best first; None where that could not be found out.

        Where the usual ones name hardly any node, one of the graph's own may; the profile's word goes before both.

        Args:
            budget: Pays for it.
            triples: How many triples the graph has, where that is known: there is nothing to see behind the last one.
        """
        usual = self._naming.names
        if self._is_pinned:
            return await self._used(usual, budget)
        places = [place for place in _PLACES if triples is None or place < triples]
        used, texts = await asyncio.gather(
            self._used(usual, budget), asyncio.gather(*(self._texts(place, budget) for place in places))
        )
        read = [place for place in texts if place is not None]
        own = own_names(list(chain(*read)), usual, (*self._roles.synonym, *self._roles.description))
        self._naming.use((*own, *usual))
        names = tuple(dict.fromkeys((*own, *(used or ()))))
        # That there are none is known only where all was read that should have been.
        return names if names or (used is not None and len(read) == len(texts)) else None

    async def _used(self, predicates: tuple[Iri, ...], budget: Budget) -> tuple[Iri, ...] | None:
        try:
            rows = await self._asker.rows("schema/used_names", budget, {"predicates": predicates})
            used = {row["p"].value for row in rows}
        except (Fault, KeyError):
            return None
        return tuple(iri for iri in predicates if iri in used)

    async def _texts(self, place: int, budget: Budget) -> list[Text] | None:
        try:
            rows = await self._asker.rows("schema/literals", budget, {"skip": place, "scan": _TRIPLES})
        except Overflow as cut:
            rows = cut.rows
        except Fault:
            return None
        texts: list[Text] = []
        try:
            for row in rows:
                literal = row["v"]
                if isinstance(literal, LiteralTerm) and is_iri(row["p"].value):
                    texts.append((row["s"].value, row["p"].value, literal))
        except KeyError as error:
            raise EndpointFault("The endpoint's rows lack what the query asked for.") from error
        return texts
