"""The order of hits: how well a name fits first, then how much the entity matters in the graph.

It depends on the names, the query and the graph, and not on the order or the scores of whoever found them, so it is the
same on every engine.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, groupby

from gateway.engine.answers import Match
from gateway.engine.presentation.metadata import MetadataBuilder
from gateway.graph.call import Call
from gateway.graph.store import GraphStore
from gateway.graph.values import Hit, Iri
from gateway.terms.folding import fold, fold_accents

_ORDER: Mapping[Match, int] = {"label": 0, "alias": 1, "prefix": 2, "all words": 3, "some words": 4, "similar": 5}

_WEIGHED = 50
"""Entities whose weight is asked for: the best by their names."""

_HUB = 1_000
"""Edges that are counted at most; a node that has more matters enough."""


@dataclass(frozen=True, slots=True)
class Ranked:
    """An entity that was found.

    Attributes:
        hit: Its name that fits best.
        match: How that fits.
        missing: How many words of the query the name has not, and how long they are: a long word says more.
    """

    hit: Hit
    match: Match
    missing: tuple[int, int]


def ranked(hits: Iterable[Hit], query: str, words: Sequence[str]) -> list[Ranked]:
    """Return one hit per entity, the one whose name fits best first, and of equal ones the shorter name."""
    wanted, folded = fold_accents(query), [fold_accents(word) for word in words]
    best: dict[Iri, Ranked] = {}
    for one in sorted((_ranked(hit, wanted, folded) for hit in hits), key=lambda one: (_fit(one, query), _last(one))):
        best.setdefault(one.hit.iri, one)
    return list(best.values())


def weighted(best: Sequence[Ranked], query: str, weights: Mapping[Iri, float]) -> list[Ranked]:
    """Put those that fit equally well in the order of their weights; behind the last that has one, all stays."""
    end = 1 + max((place for place, one in enumerate(best) if one.hit.iri in weights), default=-1)
    first = sorted(best[:end], key=lambda one: (_fit(one, query), -weights.get(one.hit.iri, 0.0), _last(one)))
    return [*first, *best[end:]]


async def weights_of(
    best: Sequence[Ranked], query: str, limit: int, store: GraphStore, metadata_builder: MetadataBuilder, call: Call
) -> Mapping[Iri, float]:
    """Return how much entities matter: how often they are mentioned, or how many edges they have.

    Only those are asked about whose order depends on it and is seen. Where it cannot be learnt of all of them it is
    known of none, so that no order comes from a fault.
    """
    nodes = _tied(best, query, limit)
    if not nodes:
        return {}
    with call.reserving(requests=0.5, time=0.5):
        described = await store.mentions(nodes, call)
        mentions = {node: metadata_builder.mentions(described[node].properties) for node in nodes}
        if any(mentions.values()):
            whole = all(described[node].mark.whole for node in nodes)
            return {node: count or 0.0 for node, count in mentions.items()} if whole else {}
        degrees = await store.degrees(nodes, _HUB, call)
    whole = all(degrees[node].mark.whole for node in nodes)
    return {node: float(degrees[node].count) for node in nodes} if whole else {}


def _tied(best: Sequence[Ranked], query: str, limit: int) -> list[Iri]:
    """Return the entities that others fit as well as, so far as one of them would be shown."""
    groups = [list(group) for _, group in groupby(best[:_WEIGHED], key=lambda one: _fit(one, query))]
    starts = accumulate(map(len, groups), initial=0)
    shown = (group for group, start in zip(groups, starts, strict=False) if start < limit)
    return [one.hit.iri for group in shown if len(group) > 1 for one in group]


def _ranked(hit: Hit, wanted: str, words: Sequence[str]) -> Ranked:
    text = fold_accents(hit.text)
    missing = [word for word in words if word not in text]
    match: Match
    if text == wanted:
        match = "alias" if hit.is_synonym else "label"
    elif wanted and text.startswith(wanted):
        match = "prefix"
    elif not missing:
        match = "all words"
    else:
        match = "some words" if len(missing) < len(words) else "similar"
    return Ranked(hit, match, (len(missing), sum(map(len, missing))))


def _fit(one: Ranked, query: str) -> tuple[int, tuple[int, int], bool]:
    # Without its accents a name may be another name, so the very text comes before those that only read alike.
    return (_ORDER[one.match], one.missing, one.match in {"label", "alias"} and fold(one.hit.text) != fold(query))


def _last(one: Ranked) -> tuple[int, bool, Iri, str]:
    return (len(fold(one.hit.text)), one.hit.is_synonym, one.hit.iri, one.hit.text)
