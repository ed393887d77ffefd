"""The size of an answer, and what is cut where its smallest form is still too large: lists and sentences, counted.

An ID may have 998 characters, and a call may name 200 of them, so what an answer says beside its nodes and edges may
alone be larger than the answer may be.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from gateway.engine import messages
from gateway.engine.presentation.explain import room_for_explain
from gateway.engine.presentation.labels import Labels, MentionedIds
from gateway.engine.presentation.page import (
    AnyPage,
    Degraded,
    EntitiesPage,
    EntityPage,
    Header,
    IdList,
    PageNode,
    SchemaPage,
    SearchPage,
    Step,
    SubgraphPage,
    TermSummary,
)
from gateway.engine.presentation.reference_shape import (
    size_of,
    size_of_degraded,
    size_of_entity,
    size_of_field,
    size_of_part,
)
from gateway.engine.presentation.values import SHORTER, NodeMetadata, Shortener
from gateway.graph.deadline import Deadline
from gateway.settings.limits import SizeSettings
from gateway.terms.words import cut

BYTES_PER_TOKEN = 4
"""An estimate: tokenizers differ, and the gateway does not know the client's (docs/contract.md)."""

_TEXT = 200
"""Characters of a sentence that are left."""

_WARNINGS = 5
"""Warnings that are left; one sentence counts the others."""


def max_bytes(size: SizeSettings, asked: int | None, *, explain: bool) -> tuple[int, list[str]]:
    """Return how many bytes an answer may have, and a warning where more was asked for than the operator allows.

    In an answer with an explanation, room is reserved for it.
    """
    tokens = size.max_tokens if asked is None else min(asked, size.ceiling_tokens)
    limit = tokens * BYTES_PER_TOKEN
    warnings = []
    if asked is not None and asked > size.ceiling_tokens:
        warnings.append(messages.above_ceiling("max_tokens", asked, size.ceiling_tokens))
    return limit - room_for_explain(limit, wanted=explain), warnings


def limit_header(header: Header, limit: int, page: SubgraphPage | None = None) -> None:
    """Cut the sentences and lists of a header until it, or its page, takes so many bytes, as far as that goes."""
    part = page or header
    if size_of_part(part) > limit:
        header.warnings = _shorter(header.warnings)
        header.gaps = [replace(gap, detail=cut(gap.detail, _TEXT)) for gap in header.gaps]
    if size_of_part(part) > limit:
        types, predicates = header.summary.types, header.summary.predicates
        totals = header.summary.types_total or len(types), header.summary.predicates_total or len(predicates)
        header.summary = TermSummary((), (), *totals)
    if size_of_part(part) > limit:
        # How many there are stays.
        header.gaps = [replace(gap, ids=()) for gap in header.gaps]
    if size_of_part(part) > limit:
        for ids in (header.missing_seeds, header.seeds):
            _cut_ids(ids, header.degraded, size_of_part(part) - limit)


def limit_subgraph_page(page: SubgraphPage, limit: int) -> None:
    """Cut a page whose nodes and edges are as small as they get until it takes so many bytes, as far as that goes."""
    if size_of_part(page) > limit:
        _drop_labels(page, page.header.degraded)
    if size_of_part(page) > limit:
        _count(page.header.degraded, "quotes_left_out", sum(page.omitted_texts.values()))
        page.omitted_texts = {}
    limit_header(page.header, limit, page)
    if size_of_part(page) > limit:
        for node in page.nodes:
            _count(page.header.degraded, "paths_left_out", len(node.paths))
            node.paths = ()
    if size_of_part(page) > limit and len(page.nodes) == 1:
        # These are edges of the one node with itself.
        _count(page.header.degraded, "edges_left_out", len(page.edges))
        page.edges = []


def limit_page(page: EntityPage | EntitiesPage | SearchPage | SchemaPage, limit: int) -> None:
    """Cut the labels, sentences and lists of IDs of a page until it takes so many bytes, as far as that goes."""
    if size_of_part(page) > limit:
        _drop_labels(page, page.degraded)
    if size_of_part(page) > limit:
        page.warnings = _shorter(page.warnings)
        if isinstance(page, SearchPage):
            page.how = cut(page.how, _TEXT)
    if size_of_part(page) > limit and isinstance(page, EntitiesPage):
        for ids in (page.remaining, page.not_found, page.failed):
            _cut_ids(ids, page.degraded, size_of_part(page) - limit)
            # What is in neither list is not accounted for.
            page.complete = page.complete and not (page.not_found.left_out or page.failed.left_out)


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


def _drop_labels(page: AnyPage, degraded: Degraded) -> None:
    _count(degraded, "labels_left_out", len(page.labels))
    page.labels = {}


def _count(degraded: Degraded, step: Step, number: int) -> None:
    if number:
        degraded[step] = degraded.get(step, 0) + number


def shorten_entities(entities: Sequence[PageNode], limit: int, labels: Labels, deadline: Deadline) -> Degraded:
    """Shorten long values, harder and harder, until entities fit; then drop the last values of those too long.

    Together they may still be longer than the limit; each by itself is not. Returns what was left out.

    Raises:
        DeadlinePassed: The time was not enough.
    """
    degraded: Degraded = {}
    whole = [entity.metadata or NodeMetadata() for entity in entities]
    for text, elements in SHORTER:
        if _size_with_labels(entities, labels) <= limit:
            break
        shortener = Shortener(text, elements)
        for entity, metadata in deadline.checking(zip(entities, whole, strict=True), at_once=1):
            entity.metadata = metadata.shortened(shortener)
        if shortener.shortened:
            degraded["values_shortened"] = shortener.shortened
    if left_out := sum(_drop_last(entity, limit, labels) for entity in deadline.checking(entities, at_once=1)):
        degraded["properties_left_out"] = left_out
    return degraded


def how_many_fit(entities: Sequence[PageNode], limit: int, labels: Labels, deadline: Deadline) -> int:
    """Return how many entities fit together with the IDs of the others; at least one."""
    used, named = 0, 0
    left = sum(size_of(entity.id) for entity in entities)
    mentioned = MentionedIds()
    for count, entity in enumerate(deadline.checking(entities, at_once=1)):
        left -= size_of(entity.id)
        used += size_of_entity(entity)
        mentioned.add_nodes([entity])
        named = size_of(labels.of(mentioned)) if labels.by_id else 0
        if used + named + left > limit and count:
            return count
    return len(entities)


def _drop_last(entity: PageNode, limit: int, labels: Labels) -> int:
    """Drop the last values of an entity that alone is too long, and return how many."""
    excess = _size_with_labels([entity], labels) - limit
    if excess <= 0:
        return 0
    parts = (entity.metadata or NodeMetadata()).parts
    count = len(parts)
    while excess > 0 and parts:
        while excess > 0 and parts:
            excess -= size_of_field(parts.pop())
        entity.metadata = NodeMetadata.of_parts(parts)
        excess = _size_with_labels([entity], labels) - limit
    return count - len(parts)


def _size_with_labels(entities: Sequence[PageNode], labels: Labels) -> int:
    """Return the bytes that entities take, with the names of the IDs that they mention."""
    return sum(map(size_of_entity, entities)) + size_of(labels.of(MentionedIds.in_nodes(entities)))
