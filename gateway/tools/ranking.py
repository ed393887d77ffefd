"""The order of hits: how well a name fits first, then how much the entity matters in the graph.

It depends on the names, the query and the graph, and on no order or score of an engine, so it is the same
on every engine.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate, groupby, islice

from gateway.answers.metadata import MetadataBuilder
from gateway.answers.models import Match
from gateway.graph.call import Call
from gateway.graph.store import GraphStore
from gateway.graph.values import Degree, Hit, Iri
from gateway.terms.names import SHORTEST_PART, Fit, Sought, fold, fold_accents, folded_words
from gateway.terms.spelling import SHORTEST_MISSPELT, is_near, may_be_near
from gateway.terms.transliteration import latin_words
from gateway.tools.small_words import IN_NAMES

_ORDER: Mapping[Match, int] = {
    "label": 0,
    "alias": 1,
    "code": 2,
    "prefix": 3,
    "all words": 4,
    "part": 6,
    "id": 7,
    "some words": 8,
    "similar": 9,
    "type": 10,
    "meaning": 11,
}
_HARDLY_BEGUN = 5
"""The order of a name that begins with the query within a number, or after one letter of a word: `IL-18` is no better
than a part for `IL-1`, nor is `kilo` for `K`."""

_GUESSES: frozenset[Match] = frozenset({"some words", "similar"})

_OF_THE_QUERY = 0.4
_OF_THE_NAME = 0.5
"""The shares of the letters of a query and of a name, one of which they must have in common if a guess is near."""

_TELLING = 7
"""Letters of a query that few other words are spelt like."""

_WORDS_COMPARED = 16
_LONGEST_WORD_COMPARED = 30
_LONGEST_NAME_COMPARED = 100
"""Words of a query and of a name, and letters of a word and of all words, whose spellings are compared at most."""

_SPELLINGS_COMPARED = 10_000
"""Spellings that one search compares at most, those of the best hits first: it takes a second at worst."""

WEIGHED = 50
"""Entities, the best by their names, for which weights are read."""

MOST_EDGES = 999
"""Edges of an entity that are counted: one that has more has at least a thousand."""


@dataclass(frozen=True, slots=True)
class RankedHit:
    """An entity that was found.

    Attributes:
        hit: Its name that fits best.
        match: How that fits.
        missing: The number of words of the query that the name does not have as they are, but in the singular or
            plural, as a part of a word or not at all, and their length: a long word means more.
        worst: How it has the word of the query that it has least.
        has_none: Whether it has no word of the query, not even as a part of a word.
        hardly_begun: Whether it begins with the query within a number, or after one letter of a word.
        score: How near its meaning is, where it was found by that.
        in_other_letters: Whether it is near in Latin letters alone: a guess after all others.
    """

    hit: Hit
    match: Match
    missing: tuple[int, int] = (0, 0)
    worst: Fit = Fit.WHOLE
    has_none: bool = False
    hardly_begun: bool = False
    score: float | None = None
    in_other_letters: bool = False

    @property
    def is_guess(self) -> bool:
        """Whether the name lacks words of the query, in whatever form."""
        return self.match in _GUESSES

    @property
    def is_exact(self) -> bool:
        """Whether the name, or a synonym, is the query."""
        return self.match in {"label", "alias", "code"}


def ranked(hits: Iterable[Hit], query: str) -> list[RankedHit]:
    """Return one hit for each entity, the best first; of two names that fit equally well, the shorter one."""
    sought = Sought.of(query)
    best: dict[Iri, RankedHit] = {}
    for one in sorted((_ranked(hit, sought) for hit in hits), key=lambda one: (_fit(one, query), _last(one))):
        best.setdefault(one.hit.iri, one)
    return list(best.values())


def by_id(hits: Iterable[Hit]) -> list[RankedHit]:
    """Return the entities that a list of types has, by their IDs."""
    return [RankedHit(hit, "type") for hit in sorted(hits, key=lambda hit: hit.iri)]


def near_guesses(best: Iterable[RankedHit], query: str, known: Collection[Iri] = ()) -> list[RankedHit]:
    """Return the guesses that may be meant: those that are spelt alike as a whole, and these.

    A name that has some of the words is near if these have two fifths of the letters of the query, or half of its own:
    "Python" for "Python programming language", but not "Great Britain" for "Basil the Great". One that has none is near
    if more than half of its letters, and of those of the query, are in words that are spelt alike: "Rick Springfield"
    for "Springfeld", but not "Kuala Lumpur" for "koala". Of a query of seven letters or more that is spelt alike as a
    whole, two fifths of the name will do: "Cushing syndrome" for "Cushnig".

    Of very many or very long names, spellings are not all compared: the last ones are near by the words they have.

    Args:
        best: Entities, the best first.
        query: The query.
        known: Entities that an API found, which has the words elsewhere on their pages.
    """
    spellings = _Spellings(Sought.of(query).words, latin_words(query))
    found, late = [], []
    for one in best:
        if one.is_guess and (spellings.near(one) or (one.has_none and one.hit.iri in known)):
            found.append(one)
        elif one.is_guess and spellings.near_in_latin(one):
            late.append(replace(one, in_other_letters=True))
    return [*found, *late]


class _Spellings:
    """Compares names with the words of one query."""

    def __init__(self, words: Sequence[str], latin: Sequence[str]) -> None:
        self._words = words
        self._latin = latin
        self._compared = 0

    def near(self, one: RankedHit) -> bool:
        """Return whether a name that does not fit is near as it is."""
        return self._are_near(self._words, folded_words(one.hit.text), has_none=one.has_none)

    def near_in_latin(self, one: RankedHit) -> bool:
        """Return whether a name that does not fit is near in Latin letters."""
        own, latin = folded_words(one.hit.text), latin_words(one.hit.text)
        # Of two texts of one script, the letters themselves say whether they are near.
        if bool(latin) == bool(self._latin):
            return False
        words, names = self._latin or self._words, latin or own
        # That a word is spelt in another way is usual between scripts, however many others the name has.
        return self._are_near(words, names, has_none=set(words).isdisjoint(names), least=0.0)

    def _are_near(
        self, words: Sequence[str], own: Sequence[str], *, has_none: bool, least: float = _OF_THE_QUERY
    ) -> bool:
        asked, text = " ".join(words), " ".join(own)
        if max(len(text), len(asked)) <= _LONGEST_NAME_COMPARED and self._is_near(text, asked):
            return True
        of_the_query, of_the_name = _among(words, own, text), _among(own, words, asked)
        self._add_alike(words, of_the_query, of_the_name, own)
        query_share, name_share = _share_of(words, of_the_query), _share_of(own, of_the_name)
        if has_none:
            is_all = query_share == 1 and len(asked) >= _TELLING and name_share >= least
            return is_all or min(query_share, name_share) > _OF_THE_NAME
        return query_share >= _OF_THE_QUERY or name_share >= _OF_THE_NAME

    def _add_alike(
        self, words: Sequence[str], of_the_query: set[str], of_the_name: set[str], own: Sequence[str]
    ) -> None:
        """Add the words that are spelt like one of the others to those that are among them."""
        others = _comparable(own)
        for word in _comparable(words):
            for other in others:
                if (word not in of_the_query or other not in of_the_name) and self._is_near(word, other):
                    of_the_query.add(word)
                    of_the_name.add(other)

    def _is_near(self, one: str, other: str) -> bool:
        if self._compared >= _SPELLINGS_COMPARED or not may_be_near(one, other):
            return False
        self._compared += 1
        return is_near(one, other)


def _comparable(words: Iterable[str]) -> list[str]:
    """Return the first words, each once, that are neither too short to be near another one nor too long to compare."""
    found = (word for word in dict.fromkeys(words) if SHORTEST_MISSPELT <= len(word) <= _LONGEST_WORD_COMPARED)
    return [*islice(found, _WORDS_COMPARED)]


def _among(words: Iterable[str], others: Collection[str], text: str) -> set[str]:
    """Return the words that are among the others, or stand inside one; their text has a blank between two."""
    whole = set(others)
    return {word for word in words if word in whole or (len(word) >= SHORTEST_PART and word in text)}


def _share_of(words: Sequence[str], shared: Collection[str]) -> float:
    """Return the share of the letters of words in those that are shared, common ones left out."""
    of_shared = sum(len(word) for word in words if word in shared and word not in IN_NAMES)
    return of_shared / max(1, sum(map(len, words)))


def ordered_by_weight(best: Sequence[RankedHit], query: str, weights: Mapping[Iri, float]) -> list[RankedHit]:
    """Return the hits with those that fit equally well in the order of their weights, as far as they have weights."""
    end = 1 + max((place for place, one in enumerate(best) if one.hit.iri in weights), default=-1)
    first = sorted(best[:end], key=lambda one: (_fit(one, query), -weights.get(one.hit.iri, 0.0), _last(one)))
    return [*first, *best[end:]]


@dataclass(frozen=True, slots=True)
class Weights:
    """How much entities matter in a graph.

    Attributes:
        of_nodes: How often they are mentioned, or how many edges they have.
        degrees: How many edges they have, as far as they were counted for that.
    """

    of_nodes: Mapping[Iri, float] = field(default_factory=dict)
    degrees: Mapping[Iri, Degree] = field(default_factory=dict)


async def weights_of(
    best: Sequence[RankedHit], query: str, limit: int, store: GraphStore, metadata_builder: MetadataBuilder, call: Call
) -> Weights:
    """Return the weights of entities: how often they are mentioned, or how many edges they have.

    Only entities whose order depends on it and is visible have a weight. If one of the weights cannot be read, none is
    returned, because no order should follow from a fault.
    """
    nodes = _tied(best, query, limit)
    if not nodes:
        return Weights()
    with call.reserving(requests=0.5, time=0.5):
        described = await store.mentions(nodes, call)
        mentions = {node: metadata_builder.mentions(described[node].properties) for node in nodes}
        if any(mentions.values()):
            whole = all(described[node].mark.whole for node in nodes)
            return Weights({node: count or 0.0 for node, count in mentions.items()} if whole else {})
        degrees = await store.degrees(nodes, MOST_EDGES, call)
    whole = all(degrees[node].mark.whole for node in nodes)
    return Weights({node: float(degrees[node].count) for node in nodes} if whole else {}, degrees)


def _tied(best: Sequence[RankedHit], query: str, limit: int) -> list[Iri]:
    """Return the entities that share their fit with others, if one of these is shown."""
    groups = [list(group) for _, group in groupby(best[:WEIGHED], key=lambda one: _fit(one, query))]
    starts = accumulate(map(len, groups), initial=0)
    shown = (group for group, start in zip(groups, starts, strict=False) if start < limit)
    return [one.hit.iri for group in shown if len(group) > 1 for one in group]


def _ranked(hit: Hit, sought: Sought) -> RankedHit:
    text, fits = fold_accents(hit.text), sought.fits(hit.text)
    worst = max(fits, default=Fit.WHOLE)
    match: Match
    if text == sought.text:
        match = "alias" if hit.is_synonym else "label"
    elif sought.begins(text):
        match = "prefix"
    elif worst <= Fit.FORM:
        match = "all words"
    elif worst < Fit.ABSENT:
        match = "part"
    else:
        match = "some words" if min(fits) <= Fit.FORM else "similar"
    if match not in _GUESSES:
        # A local name is no name, and a code is found where it is the query.
        match = hit.kind if hit.kind != "name" else match
    missing = [word for word, fit in zip(sought.words, fits, strict=True) if fit > Fit.WHOLE]
    has_none = worst == min(fits, default=Fit.WHOLE) == Fit.ABSENT
    end = len(sought.text)
    # The word within which a name begins with the query is the last one of the query.
    begun = sought.words[fits.index(worst)] if match == "prefix" and worst > Fit.FORM else ""
    hardly = len(begun) == 1 or (begun != "" and text[end - 1 : end + 1].isdigit())
    return RankedHit(hit, match, (len(missing), sum(map(len, missing))), worst, has_none, hardly)


def _fit(one: RankedHit, query: str) -> tuple[int, tuple[int, int], Fit, bool]:
    order = _HARDLY_BEGUN if one.hardly_begun else len(_ORDER) if one.in_other_letters else _ORDER[one.match]
    # Without its accents a name may be another name, so the very text comes before those that only read alike.
    return (order, one.missing, one.worst, one.is_exact and fold(one.hit.text) != fold(query))


def _last(one: RankedHit) -> tuple[int, bool, Iri, str]:
    return (len(fold(one.hit.text)), one.hit.is_synonym, one.hit.iri, one.hit.text)
