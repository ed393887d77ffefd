"""How entities that are described in full are made to fit into an answer."""

from __future__ import annotations

from collections.abc import Sequence

from gateway.engine.presentation.labels import Labels, MentionedIds
from gateway.engine.presentation.page import Degraded, PageNode
from gateway.engine.presentation.reference_shape import size_of_entity, size_of_field
from gateway.engine.presentation.size import shorteners, size_of
from gateway.engine.presentation.values import NodeMetadata
from gateway.graph.deadline import Deadline


def shortened(entities: Sequence[PageNode], limit: int, labels: Labels, deadline: Deadline) -> Degraded:
    """Shorten long values, harder and harder, until entities fit; then drop the last values of those too long.

    Together they may still be longer than the limit; each by itself is not.

    Raises:
        DeadlinePassed: The time was not enough.

    Returns:
        What was left out, by step.
    """
    degraded: Degraded = {}
    whole = [entity.metadata or NodeMetadata() for entity in entities]
    for shortener in shorteners():
        if _size(entities, labels) <= limit:
            break
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
    excess = _size([entity], labels) - limit
    if excess <= 0:
        return 0
    parts = (entity.metadata or NodeMetadata()).parts
    count = len(parts)
    while excess > 0 and parts:
        while excess > 0 and parts:
            excess -= size_of_field(parts.pop())
        entity.metadata = NodeMetadata.of_parts(parts)
        excess = _size([entity], labels) - limit
    return count - len(parts)


def _size(entities: Sequence[PageNode], labels: Labels) -> int:
    """Return the bytes that entities take, with the names of the IDs that they mention."""
    return sum(map(size_of_entity, entities)) + size_of(labels.of(MentionedIds.in_nodes(entities)))
