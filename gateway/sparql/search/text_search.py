"""Searches by the endpoint's text index, which is trusted only for predicates whose names it has found.

A missing index is often silent, and one that is there may lack a predicate: so it has to find a node by a word of a
name that the node really has, for each predicate (docs/notes/endpoints.md, "Text search").
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

from gateway.errors import Fault, QueryRefused
from gateway.graph.call import Call
from gateway.graph.values import Hits, Iri
from gateway.settings.profile import Profile
from gateway.sparql.client import SparqlClient
from gateway.sparql.nodes.names import NamePredicates
from gateway.sparql.search.hit_reader import HitReader, Scope
from gateway.sparql.search.text_index import INDEXES, TextIndex, distinctive_words, long_words
from gateway.sparql.template import Parameter
from gateway.terms.iri import local_name
from gateway.terms.prefixes import in_prose
from gateway.terms.words import Sought, listed_words

_log = logging.getLogger(__name__)

_NAMES = 50
_WORDS = 3
"""Names that are read to probe an index, and the words of each predicate's names that are tried."""

_ATTEMPTS = 3
"""Probes that may fail for another reason than the index, before it is left alone."""

_MATCHES = 2_000
_MATCHES_BEFORE_TYPES = 100_000
"""What an index is asked for at most, where it counts before a query can look at types."""


@dataclass(frozen=True, slots=True)
class Coverage:
    """The predicates whose names an index was seen to find, and those that have names, none of which it found."""

    index: TextIndex
    predicates: tuple[Iri, ...]
    lacking: tuple[Iri, ...]


class TextSearch:
    """Asks the endpoint's text index, if there is one."""

    def __init__(self, client: SparqlClient, profile: Profile, name_predicates: NamePredicates) -> None:
        self._client = client
        self._settings = profile.search
        self._hits = HitReader(client, profile, name_predicates)
        self._name_predicates = name_predicates
        self._coverage: Coverage | None = None
        self._probed_for: tuple[Iri, ...] | None = None
        self._failed = 0
        self._probing = asyncio.Lock()

    async def find(self, words: Sequence[str], types: Sequence[Iri], call: Call, *, every: bool) -> Hits | None:
        """Find names with every word, or with some; None where there is no index that could be asked."""
        known = await self._known(call)
        if known is None:
            return None
        scope = Scope(self._name_predicates.all, types)
        # Not every index has short words as they are written here, and the last one may be unfinished.
        asked = (long_words(words) if every else []) or words
        found = await self._ask(known.index, known.predicates, scope, asked, call, every=every)
        hits = found.hits
        if len(asked) < len(words):
            sought = Sought.of(" ".join(words))
            hits = tuple(hit for hit in hits if sought.is_in(hit.text))
        if found.truncated:
            # Names with the very words must not be lost among those with words that begin so.
            with suppress(Fault), call.reserving(requests=0.5, time=0.5):
                whole = await self._ask(known.index, known.predicates, scope, words, call, every=every, whole=True)
                hits = tuple(dict.fromkeys((*whole.hits, *hits)))
        return Hits(hits, found.truncated, _how(known, words, every=every), exhaustive=False)

    async def _known(self, call: Call) -> Coverage | None:
        """Return what the index covers, after having probed it once."""
        async with self._probing:
            if self._probed_for != self._name_predicates.all and self._failed < _ATTEMPTS:
                try:
                    self._coverage = await self._probe(call)
                except Fault as fault:
                    self._failed += 1
                    _log.info("the text index could not be probed: %s", fault)
                    return None
                self._probed_for = self._name_predicates.all
            return self._coverage

    async def _probe(self, call: Call) -> Coverage | None:
        wanted = self._settings.index
        if wanted == "auto":
            engine = await self._client.engine(call)
            index = INDEXES.get(engine)
        else:
            index = None if wanted == "none" else INDEXES[wanted]
        if index is None:
            return None
        finds: dict[Iri, bool] = {}
        try:
            for predicate, named in (await self._hits.sample(_NAMES, call)).items():
                finds[predicate] = await self._finds(index, predicate, named, call)
        except QueryRefused:
            _log.info("there is no text index: %s is refused", index.name)
            return None
        covered = tuple(predicate for predicate in self._name_predicates.all if finds.get(predicate))
        lacking = tuple(predicate for predicate in self._name_predicates.all if finds.get(predicate) is False)
        _log.info("the text index %s finds %s, and not %s", index.name, _listed(covered), _listed(lacking))
        return Coverage(index, covered, lacking) if covered else None

    async def _finds(self, index: TextIndex, predicate: Iri, named: Sequence[tuple[Iri, str]], call: Call) -> bool:
        """Tell whether the index finds one of some nodes by a word of its name."""
        for node, word in distinctive_words(named, _WORDS):
            found = await self._ask(index, (predicate,), Scope((predicate,)), [word], call, every=True)
            if any(hit.iri == node and word in hit.text.lower() for hit in found.hits):
                return True
        return False

    async def _ask(
        self,
        index: TextIndex,
        covered: Sequence[Iri],
        scope: Scope,
        words: Sequence[str],
        call: Call,
        *,
        every: bool,
        whole: bool = False,
    ) -> Hits:
        matches = _MATCHES_BEFORE_TYPES if scope.types else _MATCHES
        own: dict[str, Parameter] = {"covered": covered, "matches": matches, "every": str(every).lower()}
        parameters = {
            "text": index.write(words, every=every, whole=whole),
            **{name: value for name, value in own.items() if name in index.takes},
        }
        found = await self._hits.hits(index.template, parameters, scope, call)
        at_its_cap = "matches" in index.takes and len({hit.iri for hit in found.hits}) >= matches
        return Hits(found.hits, found.truncated or at_its_cap, how="", exhaustive=False)


def _how(known: Coverage, words: Sequence[str], *, every: bool) -> str:
    which = "every word" if every else "any word of"
    lacking = f" (it does not cover {_listed(known.lacking)})" if known.lacking else ""
    return (
        f"the endpoint's text index, {known.index.name} on {_listed(known.predicates)}{lacking}, for names with "
        f"{which}: {listed_words(words)}"
    )


def _listed(predicates: Sequence[Iri]) -> str:
    return ", ".join(in_prose(local_name(iri)) for iri in predicates) or "nothing"
