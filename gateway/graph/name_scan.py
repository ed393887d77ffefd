"""Compares all names of a graph with a text: which scans are made, in which order, and what they prove."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Protocol

from gateway.errors import Fault
from gateway.graph.call import Call
from gateway.graph.computing import FEW_FOR_A_THREAD, in_thread
from gateway.graph.values import Hits
from gateway.terms.names import MOST_WORDS, Fit, Sought, is_unspaced


class Scan(Protocol):
    """One scan of all names, of which a store reads so many and no more."""

    async def __call__(self, words: Sequence[str], *, every: bool, whole: bool) -> Hits:
        """Return the names with every word, or with any, and perhaps others: the caller compares again.

        Args:
            words: Words as `gateway.terms.names.folded_words` returns them.
            every: Whether a name is to have all of them, or begin with the text of which they are.
            whole: Whether names may be left out that have one of the words as a part of another only.
        """
        ...


async def compare_names(text: str, scan: Scan, call: Call) -> Hits:
    """Return the names with every word of a text; if there are none, those with some.

    Raises:
        Fault: The graph could not be asked.
    """
    sought = Sought.of(text)
    words = sought.words[:MOST_WORDS]
    found = looked_at = await _with_every(sought, words, scan, call)
    unseen = _unseen(words, found)
    if len(words) > 1 and not found.hits:
        some = await _with_any(words, scan)
        # What the first scan could not read whole may have every word.
        found = looked_at = replace(
            some, truncated=some.truncated or found.truncated, exhaustive=some.exhaustive and found.exhaustive
        )
    elif len(words) > 1 and unseen and found.exhaustive:
        looked_at = await _looked_for(unseen, scan, call)
    absent = () if looked_at.truncated or not looked_at.exhaustive else _unseen(unseen, looked_at)
    # A word that was not looked for may be all that a name has.
    return replace(found, exhaustive=found.exhaustive and words == sought.words, absent=absent)


async def _with_every(sought: Sought, words: Sequence[str], scan: Scan, call: Call) -> Hits:
    """Return the names that fit, at least by parts of words; where there are too many, all that fit by words first."""
    found = await scan(words, every=True, whole=False)
    hits = found.hits
    if found.truncated and not all(map(is_unspaced, words)):
        with suppress(Fault), call.reserving(requests=0.5, time=0.5):
            hits = (*(await scan(words, every=True, whole=True)).hits, *hits)
    fitting = await in_thread(
        call,
        lambda _: tuple(hit for hit in dict.fromkeys(hits) if sought.is_in(hit.text)),
        unless=len(hits) <= FEW_FOR_A_THREAD,
    )
    return replace(found, hits=fitting)


async def _with_any(words: Sequence[str], scan: Scan) -> Hits:
    """Return the names that have one of the words, or its singular or plural."""
    found = await scan(words, every=False, whole=True)
    sought = Sought("", tuple(words))
    return replace(found, hits=tuple(hit for hit in found.hits if min(sought.fits(hit.text)) <= Fit.FORM))


async def _looked_for(words: Sequence[str], scan: Scan, call: Call) -> Hits:
    """Look whether other names have some words; what is found is no proof of anything if there is no time for that."""
    try:
        with call.reserving(requests=0.5, time=0.5):
            return await _with_any(words, scan)
    except Fault:
        return Hits((), truncated=True, how="")


def _unseen(words: Sequence[str], found: Hits) -> tuple[str, ...]:
    """Return the words that none of the names has as a word."""
    unseen = tuple(words)
    for hit in found.hits:
        if not unseen:
            break
        fits = Sought("", unseen).fits(hit.text)
        unseen = tuple(word for word, fit in zip(unseen, fits, strict=True) if fit > Fit.FORM)
    return unseen
