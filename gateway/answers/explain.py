"""The cost of a call as its answer lists it where that is asked for, cut to the room that an answer has."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict

from gateway.answers.models import Explain, SentQuery
from gateway.answers.shape import size_of
from gateway.telemetry.record import Record, Sent
from gateway.terms.names import cut

_SHARE = 4
"""One part in so many of an answer is reserved for its explanation."""

_LEAST = 220
"""Bytes that are reserved for it in a small answer: what it takes without a single query and the times of stages."""

_ALWAYS = frozenset({"total", "waiting", "own"})
"""Times that it has however short the room is, and if they are 0."""

_TEXTS = (1_000_000_000, 4_000, 1_000, 300, 100)
"""Characters of a query that are left, by how hard it must be tried; the first is all of them."""


def room_for_explain(limit: int) -> int:
    """Return how many bytes of an answer its explanation may count on; what else is left it gets, too."""
    return max(limit // _SHARE, _LEAST)


def explained(record: Record, room: int) -> Explain:
    """Return a record as an answer lists it, in so many bytes: texts are cut first, then the last queries left out."""
    whole, *shorter = _TEXTS
    explain = _with(record, record.sent, whole)
    for longest in shorter:
        if _size(explain) <= room:
            return explain
        explain = _with(record, record.sent, longest)
    explain = _with(record, record.sent[: _how_many(explain, room)], shorter[-1])
    if _size(explain) > room:
        explain.ms = {stage: ms for stage, ms in explain.ms.items() if stage in _ALWAYS}
    return explain


def _with(record: Record, sent: Sequence[Sent], longest: int) -> Explain:
    """Return the explanation with these queries, each text no longer than so many characters."""
    times = {**asdict(record.ms), "own": record.ms.own}
    return Explain(
        queries=record.queries,
        retries=record.retries,
        rows=record.rows,
        bytes=record.bytes,
        cache_hits=record.cache_hits,
        cache_misses=record.cache_misses,
        overflows=record.overflows,
        splits=record.splits,
        ms={stage: ms for stage, ms in times.items() if ms or stage in _ALWAYS},
        sent=[_written(query, longest) for query in sent],
        texts_cut=sum(len(query.sparql) > longest for query in sent) or None,
        sent_left_out=len(record.sent) - len(sent) or None,
    )


def _written(query: Sent, longest: int) -> SentQuery:
    return SentQuery(
        template=query.template,
        sparql=cut(query.sparql, longest),
        rows=query.rows,
        bytes=query.bytes,
        ms=query.ms,
        fault=query.fault or None,
    )


def _how_many(explain: Explain, room: int) -> int:
    """Return how many of the queries fit."""
    left_out = len(explain.sent)
    room -= _size(explain.model_copy(update={"sent": [], "texts_cut": left_out, "sent_left_out": left_out}))
    for position, query in enumerate(explain.sent):
        room -= size_of(query.as_json())
        if room < 0:
            return position
    return left_out


def _size(explain: Explain) -> int:
    return size_of({"explain": explain.as_json()})
