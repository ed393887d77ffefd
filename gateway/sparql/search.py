"""Finding entities by the words in their names, by a scan that every engine can run."""

from __future__ import annotations

from collections.abc import Sequence

from gateway.errors import EndpointFault
from gateway.graph.budget import Budget
from gateway.graph.values import Hit, Hits, Iri, Sought
from gateway.settings.profile import Profile
from gateway.sparql.asking import Asker, Overflow
from gateway.sparql.naming import Naming
from gateway.sparql.results import Row
from gateway.terms.vocabulary import RDF_TYPE

_CANDIDATES = 5_000
"""Matches that are read before they are ranked; more is told as truncated."""


class SearchReader:
    """Searches names and synonyms."""

    def __init__(self, asker: Asker, profile: Profile, naming: Naming) -> None:
        self._asker = asker
        self._profile = profile
        self._naming = naming

    async def find(self, sought: Sought, types: Sequence[Iri], budget: Budget) -> Hits:
        """Find entities; see `GraphStore.search`."""
        hits = await self._scan(sought.words, types, budget, every_word=True)
        if hits.hits or len(sought.words) == 1:
            return hits
        return await self._scan(sought.words, types, budget, every_word=False)

    async def _scan(self, words: Sequence[str], types: Sequence[Iri], budget: Budget, *, every_word: bool) -> Hits:
        rows: Sequence[Row]
        try:
            rows, truncated = (
                await self._asker.rows(
                    "search" if every_word else "search_some",
                    budget,
                    {
                        "predicates": self._naming.all,
                        "words": words,
                        "any_type": not types,
                        "type_predicates": self._profile.edges.types or (RDF_TYPE,),
                        "types": types,
                    },
                    at_most=_CANDIDATES,
                ),
                False,
            )
        except Overflow as cut:
            rows, truncated = cut.rows, True
        synonyms = set(self._naming.synonyms)
        try:
            hits = tuple(Hit(row["n"].value, row["v"].value, is_synonym=row["p"].value in synonyms) for row in rows)
        except KeyError as error:
            raise EndpointFault("The endpoint's rows lack what the query asked for.") from error
        named = ", ".join(words)
        how = (
            f"names and synonyms with every word: {named}"
            if every_word
            else f"names and synonyms with any word of: {named}"
        )
        return Hits(hits, truncated, how)
