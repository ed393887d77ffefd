"""The size of an answer, and what is cut where its smallest form is still too large: lists and sentences, counted.

An ID may have 998 characters, and a call may name 200 of them, so what an answer says beside its nodes and edges may
alone be larger than the answer may be.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from gateway.engine import messages
from gateway.engine.answers import SchemaResult
from gateway.engine.presentation.explain import room_for_explain
from gateway.engine.presentation.page import (
    Degraded,
    EntitiesPage,
    EntityPage,
    Header,
    IdList,
    Page,
    SearchPage,
    Step,
    TermSummary,
)
from gateway.engine.presentation.reference_shape import (
    size_of_degraded,
    size_of_entities_page,
    size_of_entity_page,
    size_of_header,
    size_of_page,
    size_of_search_page,
)
from gateway.engine.presentation.size import BYTES_PER_TOKEN, size_of
from gateway.settings.limits import SizeSettings
from gateway.terms.words import cut

_TEXT = 200
"""Characters of a sentence that are left."""

_WARNINGS = 5
"""Warnings that are left; one sentence counts the others."""


def max_bytes(size: SizeSettings, asked: int | None, *, explain: bool) -> tuple[int, list[str]]:
    """Return how many bytes an answer may have, and a warning where more was asked for than the operator allows.

    Args:
        size: What the operator allows.
        asked: The argument `max_tokens`.
        explain: Whether an explanation follows, for which room is reserved.
    """
    tokens = size.max_tokens if asked is None else min(asked, size.ceiling_tokens)
    limit = tokens * BYTES_PER_TOKEN
    warnings = []
    if asked is not None and asked > size.ceiling_tokens:
        warnings.append(messages.above_ceiling("max_tokens", asked, size.ceiling_tokens))
    return limit - room_for_explain(limit, wanted=explain), warnings


def limit_header(header: Header, limit: int) -> None:
    """Cut the sentences and lists of a header until it takes so many bytes, as far as that goes."""
    _limit_header(header, limit, lambda: size_of_header(header))


def limit_page(page: Page, limit: int) -> None:
    """Cut a page whose nodes and edges are as small as they get until it takes so many bytes, as far as that goes."""
    if size_of_page(page) > limit:
        _drop_labels(page, page.header.degraded)
    if size_of_page(page) > limit:
        _count(page.header.degraded, "quotes_left_out", sum(page.omitted_texts.values()))
        page.omitted_texts = {}
    _limit_header(page.header, limit, lambda: size_of_page(page))
    if size_of_page(page) > limit:
        for node in page.nodes:
            _count(page.header.degraded, "paths_left_out", len(node.paths))
            node.paths = ()
    if size_of_page(page) > limit and len(page.nodes) == 1:
        # These are edges of the one node with itself.
        _count(page.header.degraded, "edges_left_out", len(page.edges))
        page.edges = []


def limit_entity_page(page: EntityPage, limit: int) -> None:
    """Cut the labels and sentences about one entity until the answer takes so many bytes, as far as that goes."""
    if size_of_entity_page(page) > limit:
        _drop_labels(page, page.degraded)
    if size_of_entity_page(page) > limit:
        page.warnings = _shorter(page.warnings)


def limit_entities_page(page: EntitiesPage, limit: int) -> None:
    """Cut the labels, sentences and IDs beside several entities until the answer takes so many bytes."""
    if size_of_entities_page(page) > limit:
        _drop_labels(page, page.degraded)
    if size_of_entities_page(page) > limit:
        page.warnings = _shorter(page.warnings)
    if size_of_entities_page(page) <= limit:
        return
    for ids in (page.remaining, page.not_found, page.failed):
        _cut_ids(ids, page.degraded, size_of_entities_page(page) - limit)
        # What is in neither list is not accounted for.
        page.complete = page.complete and not (page.not_found.left_out or page.failed.left_out)


def limit_search_page(page: SearchPage, limit: int) -> None:
    """Cut the labels and sentences beside hits until the answer takes so many bytes, as far as that goes."""
    if size_of_search_page(page) > limit:
        _drop_labels(page, page.degraded)
    if size_of_search_page(page) > limit:
        page.warnings = _shorter(page.warnings)
        page.how = cut(page.how, _TEXT)


def limit_schema(answer: SchemaResult, limit: int) -> None:
    """Cut the labels and sentences of a schema until it takes so many bytes, as far as that goes."""
    if size_of(answer.as_json()) > limit and answer.labels:
        answer.degraded, answer.labels = {"labels_left_out": len(answer.labels)}, None
    if size_of(answer.as_json()) > limit and answer.warnings:
        answer.warnings = _shorter(answer.warnings)


def _limit_header(header: Header, limit: int, size: Callable[[], int]) -> None:
    """Cut a header until what it is a part of takes so many bytes, as far as that goes."""
    if size() > limit:
        header.warnings = _shorter(header.warnings)
        header.gaps = [replace(gap, detail=cut(gap.detail, _TEXT)) for gap in header.gaps]
    if size() > limit:
        types, predicates = header.summary.types, header.summary.predicates
        totals = header.summary.types_total or len(types), header.summary.predicates_total or len(predicates)
        header.summary = TermSummary((), (), *totals)
    if size() > limit:
        # How many there are stays.
        header.gaps = [replace(gap, ids=()) for gap in header.gaps]
    if size() > limit:
        for ids in (header.missing_seeds, header.seeds):
            _cut_ids(ids, header.degraded, size() - limit)


def _cut_ids(listed: IdList, degraded: Degraded, excess: int) -> None:
    """Drop the last IDs that the caller has sent, until the excess and the count of them are made up for."""
    count = len(listed.ids)
    allowed = -size_of_degraded("ids_not_listed", count)
    while listed.ids and excess > allowed:
        excess -= size_of(listed.ids.pop())
        listed.left_out += 1
    _count(degraded, "ids_not_listed", count - len(listed.ids))


def _shorter(warnings: Sequence[str]) -> list[str]:
    rest = len(warnings) - _WARNINGS
    return [*(cut(text, _TEXT) for text in warnings[:_WARNINGS]), *([messages.more_warnings(rest)] if rest > 0 else [])]


def _drop_labels(page: Page | EntityPage | EntitiesPage | SearchPage, degraded: Degraded) -> None:
    _count(degraded, "labels_left_out", len(page.labels))
    page.labels = {}


def _count(degraded: Degraded, step: Step, number: int) -> None:
    if number:
        degraded[step] = degraded.get(step, 0) + number
