"""What an answer of `search_entities` says of the search and of its hits, and what of that is wrong."""

import re
from collections.abc import Callable, Collection, Mapping
from typing import Final

from gateway.answers.models import SearchResult
from tests import name_oracle as oracle
from tests.name_oracle import Fit

_SAID: Final = re.compile(r"No name(?: of these types)? has (?:the words? )?(('[^']*'(?:, )?)+)(?:\.| as )")

_TRUE_OF: Final[Mapping[str, frozenset[Fit]]] = {
    "label": frozenset({Fit.WORDS}),
    "alias": frozenset({Fit.WORDS}),
    "prefix": frozenset({Fit.WORDS, Fit.PLURAL, Fit.BEGINS, Fit.HARDLY_BEGINS}),
    "all words": frozenset({Fit.WORDS, Fit.PLURAL}),
    "part": frozenset({Fit.PART}),
}
"""How a name fits of which an answer says so."""

_LONGEST: Final = 200
"""Characters of a name that an answer shows."""


def found_in(answer: SearchResult) -> int:
    """Return how many entities fit; it is told where more fit than are listed."""
    assert answer.found is None or answer.found > len(answer.result)
    return len(answer.result) if answer.found is None else answer.found


def how(answer: SearchResult) -> str:
    """Return how it was searched, which is told where names may have been missed."""
    assert answer.searched is not None
    return answer.searched.how


def is_truncated(answer: SearchResult) -> bool:
    """Return whether there are more matches than could be read."""
    return answer.searched is not None and answer.searched.truncated is True


def is_exhaustive(answer: SearchResult) -> bool:
    """Return whether every name was compared."""
    return answer.searched is None or answer.searched.exhaustive


def compared_all(answer: SearchResult) -> bool:
    """Return whether an answer has to have every name that fits: it may be incomplete for nodes without a name."""
    return answer.complete or (answer.searched is None and not answer.warnings)


def unknown_words(answer: SearchResult) -> set[str]:
    """Return the words that an answer says no name has."""
    found = _SAID.search(answer.next_steps or "")
    return {word for text in re.findall("'([^']*)'", found[1]) for word in oracle.words(text)} if found else set()


def wrong_in(
    query: str, names: Mapping[str, Collection[str]], answer: SearchResult, expand: Callable[[str], str]
) -> list[str]:
    """Return what is wrong with an answer to a query that has words, by the names of each entity, or some of them."""
    shown = [(hit.matched or hit.name or "", hit.match) for hit in answer.result]
    fits = [oracle.fit(query, text) for text, _ in shown]
    wrong = [
        f"{text!r} is no {match!r}: {fit.value}"
        for (text, match), fit in zip(shown, fits, strict=True)
        if fit not in _TRUE_OF.get(match, ()) and len(text) < _LONGEST
    ]
    parts = [fit in {Fit.HARDLY_BEGINS, Fit.PART} for fit in fits]
    if parts != sorted(parts):
        wrong.append(f"a part stands before words: {shown}")
    every = [text for texts in names.values() for text in texts]
    wrong += [
        f"{word!r} is a word of a name"
        for word in unknown_words(answer)
        if any(oracle.has(word, name) is Fit.WORDS for name in every)
    ]
    if compared_all(answer) and answer.found is None:
        hits = {expand(hit.id) for hit in answer.result}
        wrong += [
            f"missed {iri}: {text!r}: {fit.value}"
            for iri in sorted(names.keys() - hits)
            for text in names[iri]
            if (fit := oracle.fit(query, text)) is not Fit.NOT
        ]
    return wrong
