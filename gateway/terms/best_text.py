"""Which of several names or descriptions is shown."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from gateway.terms.literals import Literal, in_best_language


def best_text(texts: Mapping[str, Collection[Literal]], predicates: Sequence[str], languages: Sequence[str]) -> str:
    """Return the name or description to show: empty if there is none.

    Args:
        texts: The texts of a node, by predicate.
        predicates: The first of these that has a text decides.
        languages: The languages, the best first; of several texts in the best one, the first by code point.
    """
    for predicate in predicates:
        found = texts.get(predicate)
        if found:
            if len(found) == 1:
                (text,) = found
                return str(text.json)
            return min(str(text.json) for text in in_best_language(found, languages))
    return ""
