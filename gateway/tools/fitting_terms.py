"""Types and predicates whose names have words of a question: by their letters, the best first.

A graph may have 12,000 predicates, of which no list shows more than 200. That a name has no word of a question says
nothing of what the term means, so nothing here is a reason to take one for absent.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TypeVar

from gateway.errors import quoted
from gateway.graph.call import Call, Deadline
from gateway.graph.computing import FEW_FOR_A_THREAD, in_thread
from gateway.graph.shapes import ValuePredicate
from gateway.graph.values import Iri, Term
from gateway.schema.view import SchemaView
from gateway.terms.iri import local_name
from gateway.terms.local_names import in_words
from gateway.terms.names import cut, folded_words, inflections
from gateway.terms.spelling import SHORTEST_MISSPELT, is_near, may_be_near
from gateway.tools.shapes import Values
from gateway.tools.small_words import telling

Item = TypeVar("Item")

_MOST_WORDS = 30
"""Words of a question that are compared."""

_ALIKE = 5
"""Letters with which two forms of a word begin: `interact`, `interaction`."""

_ENDINGS = 4
"""Letters behind these that one of them may have, and the other too."""

_EXACT, _INFLECTED, _FORM, _MISSPELT = 1.0, 0.9, 0.6, 0.5
"""What a word counts by how it fits."""

_OF_ALIAS = 0.8
"""The share of it that a word of an alias counts."""


@dataclass(frozen=True, slots=True)
class Fitting:
    """What fits a question, the best first.

    Attributes:
        types: The types.
        predicates: The predicates of edges.
        values: The predicates of literals.
        warnings: What a reader should know of the lists.
    """

    types: Sequence[Term]
    predicates: Sequence[Term]
    values: Sequence[ValuePredicate]
    warnings: Sequence[str] = field(default_factory=tuple)


async def fitting(question: str, view: SchemaView, values: Values | None, named: Sequence[Term], call: Call) -> Fitting:
    """Return the types and predicates whose names have words of a question.

    Args:
        question: The question, or some words.
        view: The schema.
        values: The predicates of literals, as far as they are known.
        named: The same, with their labels and aliases.
        call: The call.
    """
    schema = view.schema
    literals = () if values is None else values.found.shown
    labels: dict[Iri, list[str]] = defaultdict(list)
    aliases: dict[Iri, list[str]] = defaultdict(list)
    for term in named:
        labels[term.iri].append(term.label)
        aliases[term.iri] += term.aliases
    total = len(schema.types) + len(schema.predicates) + len(literals)

    def compared(deadline: Deadline) -> Fitting:
        wanted = telling([*dict.fromkeys(folded_words(question))])[:_MOST_WORDS]
        choose = partial(_chosen, wanted, deadline)
        return Fitting(
            choose(schema.types, lambda term: (local_name(term.iri), term.label), lambda term: term.aliases),
            choose(schema.predicates, lambda term: (local_name(term.iri), term.label), lambda term: term.aliases),
            choose(literals, lambda one: (local_name(one.iri), *labels[one.iri]), lambda one: aliases[one.iri]),
        )

    found = await in_thread(call, compared, unless=total < FEW_FOR_A_THREAD)
    count = len(found.types) + len(found.predicates) + len(found.values)
    asked = quoted(cut(question, _LONGEST))
    warning = some_fit(asked, count, total) if count else none_fits(asked, total)
    return Fitting(found.types, found.predicates, found.values, (warning,))


_LONGEST = 60
"""Characters of a question that a sentence repeats."""


def _chosen(
    wanted: Sequence[str],
    deadline: Deadline,
    terms: Sequence[Item],
    names: Callable[[Item], Sequence[str]],
    aliases: Callable[[Item], Sequence[str]],
) -> list[Item]:
    """Return the terms that have words that are wanted: by what these count, then as they stood."""
    words = [_words(names(term)) for term in deadline.checking(terms)]
    further = [_words(aliases(term)) for term in deadline.checking(terms)]
    frequency = Counter(word for one in zip(words, further, strict=True) for word in one[0] | one[1])
    counts: list[Mapping[str, float]] = []
    for word in wanted:
        forms = frozenset(inflections(word))
        fits = {other: _fit(word, forms, other) for other in deadline.checking(frequency)}
        known = {other: fit for other, fit in fits.items() if fit}
        # A word that many names have says less.
        rarity = math.log(1 + len(terms) / max(1, sum(frequency[other] for other in known)))
        counts.append({other: fit * rarity for other, fit in known.items()})
    scored = []
    for place, own in enumerate(deadline.checking(words)):
        score = sum(max(_best(own, of_word), _OF_ALIAS * _best(further[place], of_word)) for of_word in counts)
        if score:
            scored.append((-score, len(own), place))
    return [terms[place] for _, _, place in sorted(scored)]


def _words(names: Sequence[str]) -> frozenset[str]:
    return frozenset(folded_words(" ".join(map(in_words, names))))


def _best(words: Collection[str], counts: Mapping[str, float]) -> float:
    return max((counts[one] for one in words if one in counts), default=0.0)


def _fit(word: str, forms: Collection[str], other: str) -> float:
    """Return what a word of a name counts for a word that is wanted; 0 if it is another one."""
    if word == other:
        return _EXACT
    if other in forms:
        return _INFLECTED
    if word[:_ALIKE] == other[:_ALIKE] and min(len(word), len(other)) >= _ALIKE:
        shared = next((place for place, pair in enumerate(zip(word, other, strict=False)) if pair[0] != pair[1]), None)
        behind = min(len(word), len(other)) if shared is None else shared
        return _FORM if max(len(word), len(other)) - behind <= _ENDINGS else 0.0
    is_long = min(len(word), len(other)) >= SHORTEST_MISSPELT
    return _MISSPELT if is_long and may_be_near(word, other) and is_near(word, other) else 0.0


# --- sentences that a model reads ---


def best_listed(totals: Mapping[str, int], count: int, *, can_have_more: bool) -> str:
    """Return that lists have so many of what fits a question, and how to see the others; see `lists_cut`."""
    lists = ", ".join(f"the first {count:,} of {total:,} {name}" for name, total in totals.items())
    return f"Listed of what fits: {lists}.{' all=true lists up to 200 of each.' if can_have_more else ''}"


def some_fit(question: str, count: int, total: int) -> str:
    """Return what the lists have: so many of all types and predicates."""
    return (
        f"query: {count:,} of {total:,} types and predicates fit {question} by a word of their names, the best first. "
        "Others may mean the same under other names."
    )


def none_fits(question: str, total: int) -> str:
    """Return that no name has a word of a question."""
    return (
        f"query: none of {total:,} types and predicates has a word of {question} in its names; one may mean the same "
        "under another name. Try other words, or leave query out for the most frequent ones."
    )
