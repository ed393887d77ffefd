"""Names found by the text index of an engine.

A word is letters, digits and marks; it is quoted for the query language of the index, or refused. So no operator,
wildcard or field name of that language comes from what somebody typed.

Sources: docs/notes/endpoints.md, "Text search"; docs/notes/blazegraph.md, "Features".

A missing index is often silent, and one that is there may lack a predicate: so it has to find a node by a word of a
name that the node really has, for each predicate (docs/notes/endpoints.md, "Text search").
"""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Protocol, TypeVar

from gateway.errors import Fault, InputError, QueryRefused, QueryTooLong, quoted
from gateway.graph.call import Call, Deadline
from gateway.graph.computing import FEW_FOR_A_THREAD, in_thread
from gateway.graph.reading import local_hits
from gateway.graph.values import Hit, HitKind, Hits, Iri
from gateway.settings.endpoint import EngineName
from gateway.settings.profile import Profile
from gateway.sparql.client import SparqlClient
from gateway.sparql.nodes import NamePredicates, name_parameters
from gateway.sparql.table import Table, binding, iri, literal, read
from gateway.sparql.template import Parameter
from gateway.terms.iri import LOCAL_NAME, is_walk, local_name
from gateway.terms.name_predicates import plain
from gateway.terms.names import Sought, is_word, listed_words, one_line, words_of
from gateway.terms.prefixes import in_prose

_PREFIX = 4
"""Characters that a word needs before it may be the beginning of one: Virtuoso refuses fewer."""

_PLURALS = ((("ies",), 3, 5), (("ses", "xes", "zes", "ches", "shes"), 2, _PREFIX), (("s",), 1, _PREFIX))
"""Endings, how many of their characters a singular may not have, and characters that have to be left."""

_LONGEST = 60
"""Characters of a word that an index is asked for, as its beginning: on a word of 1,000 Virtuoso fails with 500."""

_LONG_WORD = re.compile(r"[a-z]{4,24}")
_SHORTEST_WORD = 3
"""Characters of a word that an index is probed with, at least: shorter ones are often stop words."""

Named = TypeVar("Named")


def lucene_query(words: Sequence[str], *, every: bool, whole: bool = False) -> str:
    """Write a query of Lucene's classic syntax, which Jena takes.

    A word of capitals would be an operator and a word of digits a number's; inside of quotes it is neither. The
    beginning of a word stands outside of them, where a lower-case word is only ever a term.
    """
    return _joined([f'"{_word(word)}"' if whole else _lucene_word(word) for word in words], every=every)


def virtuoso_query(words: Sequence[str], *, every: bool, whole: bool = False) -> str:
    """Write a query of Virtuoso's, which takes digits and other scripts only in quotes."""
    return _joined([f'"{_word(word)}"' if whole else _virtuoso_word(word) for word in words], every=every)


def blazegraph_query(words: Sequence[str], *, every: bool, whole: bool = False) -> str:  # noqa: ARG001 - it takes `every` beside the words
    """Write a query of words and nothing else, as Blazegraph takes it: it knows no operators."""
    return " ".join(map(_word if whole else _begun, words))


def _lucene_word(word: str) -> str:
    begun = _begun(word)
    if not begun.endswith("*"):
        return f'"{begun}"'
    whole = [f'"{one}"' for one in (word[:_LONGEST], *_short_singulars(word))]
    return f"({' OR '.join([*whole, begun])})"


def _virtuoso_word(word: str) -> str:
    terms = [f'"{one}"' for one in (*_short_singulars(word), _begun(word))]
    return f"({' OR '.join(terms)})" if len(terms) > 1 else terms[0]


def _begun(word: str) -> str:
    """Let a word be the beginning of one where it is long enough."""
    return f"{_without_plural(_word(word))}*" if len(word) >= _PREFIX else _word(word)


def _word(word: str) -> str:
    if not is_word(word) or word != word.lower():
        raise InputError(
            f"{quoted(word)} is no word to search for.", valid="Lower-case letters, digits and the marks upon them."
        )
    return word[:_LONGEST]


def _without_plural(word: str) -> str:
    """Return the beginning that an English plural has in common with its singular; else the word."""
    for endings, length, least in _PLURALS:
        if word.endswith(endings) and not word.endswith("ss") and len(word) - length >= least:
            return word[:-length]
    return word


def _short_singulars(word: str) -> list[str]:
    """Return the English singulars of a word that do not begin as it is asked for: too little of them is left."""
    if len(word) < _PREFIX or word.endswith("ss"):
        return []
    begun = _without_plural(word)
    stems = [f"{word[:-3]}y"] if word.endswith("ies") else []
    stems += [word[:-length] for endings, length, _ in _PLURALS if length < len("ies") and word.endswith(endings)]
    return [stem[:_LONGEST] for stem in dict.fromkeys(stems) if not stem.startswith(begun) and len(stem) > 1]


def _joined(terms: Sequence[str], *, every: bool) -> str:
    return (" AND " if every else " OR ").join(terms)


class QueryWriter(Protocol):
    """Writes words in the query language of an index."""

    def __call__(self, words: Sequence[str], *, every: bool, whole: bool = False) -> str:
        """Write a query for names with every word, or with some; as a whole, or else as the beginning of one too."""
        ...


@dataclass(frozen=True, slots=True)
class TextIndex:
    """A kind of text index.

    Attributes:
        name: The function or predicate that queries it.
        template: The template that queries it.
        write: Writes its queries.
        takes: Parameters of its template that the others lack.
    """

    name: str
    template: str
    write: QueryWriter
    takes: frozenset[str] = frozenset()


INDEXES: Mapping[EngineName, TextIndex] = {
    "fuseki": TextIndex("text:query", "search/fuseki", lucene_query, frozenset({"covered", "matches"})),
    "virtuoso": TextIndex("bif:contains", "search/virtuoso", virtuoso_query),
    "blazegraph": TextIndex("bds:search", "search/blazegraph", blazegraph_query, frozenset({"every"})),
}
"""The text index of each engine that has one which is known here."""


def long_words(words: Sequence[str]) -> list[str]:
    """Return the words that may be beginnings of words, if others are among them; none if all words are such."""
    long = [word for word in words if len(word) >= _PREFIX]
    return long if len(long) < len(words) else []


def distinctive_words(names: Iterable[tuple[Named, str]], most: int) -> list[tuple[Named, str]]:
    """Return the longest words of names, so many at most, each with whose it is: a long one is no stop word."""
    found = {word: named for named, text in names for word in words_of(text) if len(word) >= _SHORTEST_WORD}
    plain = {word: named for word, named in found.items() if _LONG_WORD.fullmatch(word)} or found
    longest = sorted(plain, key=lambda word: (-len(word), word))[:most]
    return [(plain[word], word) for word in longest]


_CANDIDATES = 5_000
"""Matches that are read before they are ranked; if there are more, the hits are `truncated`."""


@dataclass(frozen=True, slots=True)
class Scope:
    """The names that a search looks at: of these predicates, and of entities with one of the types; empty for all.

    `typed` is the text that a code has to be.
    """

    predicates: Sequence[Iri]
    types: Sequence[Iri] = ()
    typed: str = ""


_LOOKUP = "search/exact"
_SCANS = frozenset({"search/folded", "search/every_word", "search/any_word", _LOOKUP})
"""Templates that read names from the graph, and not from an index."""


class HitReader:
    """Sends search templates and reads their hits."""

    def __init__(self, client: SparqlClient, profile: Profile, name_predicates: NamePredicates) -> None:
        self._client = client
        self._type_predicates = profile.edges.types
        self._name_predicates = name_predicates

    async def hits(self, template: str, parameters: Mapping[str, Parameter], scope: Scope, call: Call) -> Hits:
        """Return the names that a template finds; the caller fills in `how`."""
        among: dict[str, Parameter] = {
            **self._names(template, scope.predicates, scope.typed),
            "type_predicates": self._type_predicates,
            "types": [scope.types] if scope.types else [],
        }
        try:
            rows, truncated = await self._rows(template, {**among, **parameters}, _CANDIDATES, call)
        except QueryTooLong:
            if not among.get("pairs") or parameters.get("local"):
                # Without local names it may be short enough.
                raise
            self._name_predicates.join_none()
            rows, truncated = await self._rows(template, {**among, "pairs": [], **parameters}, _CANDIDATES, call)
        synonyms, codes = set(self._name_predicates.synonyms), set(self._name_predicates.codes)

        def found(_: Deadline) -> tuple[Hit, ...]:
            hits: dict[Hit, None] = {}
            for entity, by, name in read(rows, iri("n"), iri("p"), literal("v")):
                if by == LOCAL_NAME:
                    hits.update(dict.fromkeys(local_hits(entity, scope.typed)))
                    continue
                kind: HitKind = "code" if by in codes else "name"
                hits[Hit(entity, one_line(name.value), by in synonyms, kind, name.language)] = None
            return tuple(hits)

        return Hits(await in_thread(call, found, unless=len(rows) <= FEW_FOR_A_THREAD), truncated, how="")

    def _names(self, template: str, predicates: Sequence[Iri], typed: str) -> dict[str, Parameter]:
        """Return the names that a template looks at: a text index has none that are one step away."""
        given = name_parameters(predicates)
        if template == _LOOKUP:
            return given
        if template in _SCANS:
            names = self._name_predicates
            return {**given, "pairs": names.pairs_compared, "codes": names.codes, "typed": typed.strip().lower()}
        return {"predicates": given["predicates"]}

    async def sample(self, most: int, call: Call) -> Mapping[Iri, Sequence[tuple[Iri, str]]]:
        """Return some entities and their names, by the predicate that names them."""
        parameters: dict[str, Parameter] = {"predicates": plain(self._name_predicates.all), "most": most}
        found: dict[Iri, list[tuple[Iri, str]]] = {}
        # A part of the names is a sample as well.
        rows, _ = await self._rows("search/sample", parameters, _CANDIDATES, call)
        for entity, predicate, name in read(binding(rows, "n", "p", "v"), iri("n"), iri("p"), literal("v")):
            found.setdefault(predicate, []).append((entity, name.value))
        return found

    async def _rows(
        self, template: str, parameters: Mapping[str, Parameter], most: int, call: Call
    ) -> tuple[Table, bool]:
        return (await self._client.rows(template, call, parameters, at_most=most)).part()


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
        lacking = tuple(one for one in self._name_predicates.all if is_walk(one) or finds.get(one) is False)
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
