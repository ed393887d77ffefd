"""Makes an answer about entities fit: what is left out of each, and how many of them it has."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import TypeVar

from gateway.answers.names import Labels, MentionedIds
from gateway.answers.page import Degraded, EntitiesPage, EntityPage, PageNode, Step
from gateway.answers.reference import node_metadata
from gateway.answers.shape import Shape, size_of
from gateway.answers.size import limit_lists, limit_page
from gateway.answers.values import SHORTER, NodeMetadata, Shortener
from gateway.graph.call import Deadline

_Page = TypeVar("_Page", EntityPage, EntitiesPage)

_PART_OF_LISTS = 2
"""The IDs of entities that are not shown take one part in so many of an answer, or less."""


def page_of_entities(
    entities: Sequence[PageNode],
    write: Callable[[Sequence[PageNode], Sequence[PageNode], Degraded], _Page],
    limit: int,
    labels: Labels,
    shape: Shape,
    deadline: Deadline,
) -> _Page:
    """Return a page of as many entities as fit, but of one at least, each shortened as far as it must be.

    Args:
        entities: The entities, which are shortened.
        write: Returns the page, given the entities on it, the others, and what is left out of those on it.
        limit: Bytes that the page may take.
        labels: The names of what the entities mention.
        shape: The shape in which it is written.
        deadline: When the call must have answered.

    Raises:
        DeadlinePassed: The time was not enough.
    """
    whole = write(entities, (), {})
    # Measured one by one, entities repeat the names that stand once on a page.
    if shape.size_of_part(whole) <= limit:
        return whole
    room, step = limit, 0
    left_out: list[Counter[Step]] = [Counter() for _ in entities]
    while True:
        _shorten(entities, left_out, room, labels, shape, deadline)
        count = _how_many_fit(entities, room, limit // _PART_OF_LISTS, labels, shape, deadline)
        total = sum(left_out[:count], Counter[Step]())
        page = write(entities[:count], entities[count:], dict(total))
        if isinstance(page, EntitiesPage):
            limit_lists(page, limit // _PART_OF_LISTS)
        excess = shape.size_of_part(page) - limit
        if excess <= 0:
            return page
        if room <= 0:
            limit_page(page, limit, shape)
            return page
        # By twice as much each time: what cannot be shortened may exceed the limit by a few bytes again and again.
        step = max(excess, 2 * step)
        room -= step


def _shorten(
    entities: Sequence[PageNode],
    left_out: Sequence[Counter[Step]],
    limit: int,
    labels: Labels,
    shape: Shape,
    deadline: Deadline,
) -> None:
    """Shorten entities until they fit; then drop the last values of those that are too long by themselves.

    Long values are shortened first, and harder when the examples of their surveys are left out. What can be followed
    stays longest: a row is short, and the next call needs it.

    Together they may still be longer than the limit; each by itself is not. What is left out of each is counted.
    """
    for text, elements in SHORTER:
        if _size_with_labels(entities, labels, shape) <= limit:
            break
        if (text, elements) == SHORTER[-1]:
            for entity, counts in zip(entities, left_out, strict=True):
                counts["examples_left_out"] += 0 if entity.survey is None else entity.survey.drop_examples()
            if _size_with_labels(entities, labels, shape) <= limit:
                break
        for entity, counts in deadline.checking(zip(entities, left_out, strict=True), at_once=1):
            entity.shorten(Shortener(text, elements))
            counts["values_shortened"] = entity.shortened
    for entity, counts in deadline.checking(zip(entities, left_out, strict=True), at_once=1):
        _drop_last(entity, limit, labels, shape, counts)


def _how_many_fit(
    entities: Sequence[PageNode], limit: int, most_left: int, labels: Labels, shape: Shape, deadline: Deadline
) -> int:
    """Return how many entities fit together with the IDs of the others; at least one."""
    used, named = 0, 0
    left = sum(size_of(entity.id) for entity in entities)
    mentioned = MentionedIds()
    for count, entity in enumerate(deadline.checking(entities, at_once=1)):
        left -= size_of(entity.id)
        used += shape.size_of_entity(entity)
        mentioned.add_nodes([entity])
        named = size_of(labels.of(mentioned)) if labels.by_id else 0
        if used + named + min(left, most_left) > limit and count:
            return count
    return len(entities)


def _drop_last(entity: PageNode, limit: int, labels: Labels, shape: Shape, left_out: Counter[Step]) -> None:
    """Drop the last values of an entity that alone is too long, and count them.

    Its properties are dropped first, then the rows of its survey, its IDs in other graphs, its names and types.
    """
    metadata = entity.metadata or NodeMetadata()
    _drop_parts(entity, len(metadata.fields_said), limit, labels, shape, left_out)
    if (survey := entity.survey) is not None:
        while survey.rows and _size_with_labels([entity], labels, shape) > limit:
            survey.cut(len(survey.rows) // 2)
    if entity.also_in and _size_with_labels([entity], labels, shape) > limit:
        left_out["also_in_left_out"] += sum(map(len, entity.also_in.values()))
        entity.also_in = {}
    _drop_parts(entity, 0, limit, labels, shape, left_out)


def _drop_parts(
    entity: PageNode, least: int, limit: int, labels: Labels, shape: Shape, left_out: Counter[Step]
) -> None:
    """Drop the last values of an entity until it fits or so many are left, and count them."""
    excess = _size_with_labels([entity], labels, shape) - limit
    parts = (entity.metadata or NodeMetadata()).parts
    count = len(parts)
    while excess > 0 and len(parts) > least:
        while excess > 0 and len(parts) > least:
            # Without the braces: it stands among others.
            excess -= size_of(node_metadata(parts.pop())) - 2
        entity.metadata = NodeMetadata.of_parts(parts)
        excess = _size_with_labels([entity], labels, shape) - limit
    left_out["properties_left_out"] += count - len(parts)


def _size_with_labels(entities: Sequence[PageNode], labels: Labels, shape: Shape) -> int:
    """Return the bytes that entities take, with the names of the IDs that they mention."""
    return sum(map(shape.size_of_entity, entities)) + size_of(labels.of(MentionedIds.in_nodes(entities)))
