"""Resolving names: words in, ranked entities out."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence

from gateway.engine.answers import SearchResult
from gateway.engine.arguments import SearchEntities
from gateway.engine.book import Known, SchemaBook
from gateway.engine.presenting import max_bytes
from gateway.engine.size import Shortener, size_of
from gateway.engine.types import UNKNOWN, UNTYPED
from gateway.errors import InputError, quoted
from gateway.graph.budget import Budget
from gateway.graph.store import GraphStore
from gateway.graph.values import Hit, Hits, Iri, NodeFacts, Sought
from gateway.settings.profile import Profile
from gateway.terms.folding import fold
from gateway.terms.prefixes import PrefixMap

_MOST_WORDS = 12
_NOTHING = Hits((), truncated=False, how="nothing: none of the types asked for is known here")

_HEAD = 4_000
"""Bytes of an answer that are kept for how it was searched, and for warnings."""

_NAME_LENGTH = 200
"""Characters of a name that an answer shows."""


class Searcher:
    """Answers `search_entities` for one graph."""

    def __init__(self, store: GraphStore, profile: Profile, prefixes: PrefixMap, book: SchemaBook) -> None:
        self._store = store
        self._profile = profile
        self._prefixes = prefixes
        self._book = book

    async def search(self, arguments: SearchEntities, budget: Budget) -> SearchResult:
        """Return the entities whose names have the words of the query, the best first.

        Raises:
            InputError: The query has no word, or a type is none of the graph's.
            Fault: The graph could not be asked.
        """
        words = words_of(arguments.query)
        if not words:
            raise InputError(
                f"search_entities: query {quoted(arguments.query)} has no letter or digit.",
                valid="query: a name, an alias or a part of it.",
            )
        sought = Sought(arguments.query, tuple(words))
        known = await self._book.known(budget)
        asked = arguments.node_types or ()
        try:
            types = known.types.choose("node_types", asked, known.types.iris_of(asked))
        except InputError:
            known = await self._book.known(budget, doubted=True)
            types = known.types.choose("node_types", asked, known.types.iris_of(asked))
        with budget.tally.stage("search"):
            hits = await self._hits(sought, types.iris, budget) if types.iris or not asked else _NOTHING
        best = best_hits(hits.hits, arguments.query, words)
        if UNTYPED in types.iris:
            best = await self._of_types(best, types.iris, known, budget)
        shown = best[: arguments.limit]
        with budget.tally.stage("facts"):
            facts = await self._store.nodes([hit.iri for hit in shown], budget, names=True)
        limit, _ = max_bytes(self._profile.size, None, explain=arguments.explain)
        return SearchResult.model_validate(
            {
                "result": _fitting([self._entry(hit, facts[hit.iri], known) for hit in shown], limit - _HEAD),
                "complete": not hits.truncated and all(fact.mark.whole for fact in facts.values()),
                "searched": {"how": hits.how, "found": len(best), "truncated": hits.truncated},
                "warnings": list(types.warnings) or None,
            }
        )

    async def _hits(self, sought: Sought, types: frozenset[str], budget: Budget) -> Hits:
        # "untyped" is no type that a query could ask for; those who mean it are sorted out afterwards.
        wanted = () if UNTYPED in types else sorted(types - {UNKNOWN})
        if types and types <= {UNKNOWN}:
            return _NOTHING
        return await self._store.search(sought, wanted, budget)

    async def _of_types(self, hits: Sequence[Hit], types: frozenset[str], known: Known, budget: Budget) -> list[Hit]:
        with budget.tally.stage("facts"):
            facts = await self._store.nodes([hit.iri for hit in hits], budget, names=False)
        for fact in facts.values():
            if fact.mark.fault is not None:
                raise fact.mark.fault
        return [hit for hit in hits if not types.isdisjoint(known.chooser.filterable(facts[hit.iri]))]

    def _entry(self, hit: Hit, facts: NodeFacts, known: Known) -> dict[str, str | None]:
        name = facts.name or ("" if hit.is_synonym else hit.text)
        shorter = Shortener(_NAME_LENGTH, 1)
        return {
            "id": self._prefixes.shorten(hit.iri),
            "entity_type": known.chooser.shown(facts),
            "name": shorter(name) or None,
            "matched": shorter(hit.text) if hit.is_synonym and hit.text != name else None,
        }


def words_of(query: str) -> list[str]:
    """Take a query apart into lower-case words; single characters only where there is nothing longer.

    What is no letter or digit never reaches a query (field notes, ``sparql-endpoints.md`` 3).
    """
    spaced = "".join(character if _in_word(character) else " " for character in query.lower())
    words = [word for word in dict.fromkeys(spaced.split()) if any(map(str.isalnum, word))]
    longer = [word for word in words if len(word) > 1]
    return (longer or words)[:_MOST_WORDS]


def _fitting(entries: list[dict[str, str | None]], limit: int) -> list[dict[str, str | None]]:
    """Leave out the last entries of an answer that would be too large; `found` tells how many there are."""
    while len(entries) > 1 and size_of(entries) > limit:
        entries.pop()
    return entries


def _in_word(character: str) -> bool:
    """Tell whether a character is a letter, a digit or a mark upon one, as vowel signs are."""
    return character.isalnum() or unicodedata.category(character).startswith("M")


def best_hits(hits: Iterable[Hit], query: str, words: Sequence[str]) -> list[Hit]:
    """Return one hit per entity, the best first.

    Exact name, exact synonym, name that begins so, then the more of the words a name has, the shorter it is, and
    by IRI: the order does not depend on the engine's.
    """
    wanted = fold(query)

    def rank(hit: Hit) -> tuple[int, int, int, str, str]:
        text = fold(hit.text)
        lowered = hit.text.lower()
        missing = sum(word not in lowered for word in words)
        if text == wanted:
            place = 1 if hit.is_synonym else 0
        elif text.startswith(wanted):
            place = 2
        else:
            place = 3 + missing
        return (place, len(text), int(hit.is_synonym), hit.iri, hit.text)

    best: dict[Iri, Hit] = {}
    for hit in sorted(hits, key=rank):
        best.setdefault(hit.iri, hit)
    return list(best.values())
