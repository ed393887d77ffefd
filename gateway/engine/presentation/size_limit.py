"""Makes an answer fit: the order in which its parts are shortened and left out, every step counted.

Nodes and edges come first; then, where the smallest form of an answer is still too large, its lists and sentences.
An ID may have 998 characters, and a call may name 200 of them, so what an answer says beside its nodes and edges may
alone be larger than the answer may be.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

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
    PageEdge,
    PageNode,
    SchemaPage,
    SearchPage,
    Step,
    SubgraphPage,
    TermSummary,
)
from gateway.engine.presentation.paging import fitting
from gateway.engine.presentation.shape import Part, Shape, size_of, size_of_degraded
from gateway.engine.presentation.values import SHORTER, NodeMetadata, Shortener
from gateway.graph.deadline import Deadline
from gateway.graph.values import Iri
from gateway.settings.limits import SizeSettings
from gateway.terms.words import cut

BYTES_PER_TOKEN = 4
"""An estimate: tokenizers differ, and the gateway does not know the client's (docs/contract.md)."""

_AT_ONCE = 50
"""Nodes or edges, whose metadata may be long, between two looks at the clock."""

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


@dataclass(slots=True)
class Window:
    """The nodes and edges that a page may show.

    Attributes:
        nodes: Nodes in order.
        edges: Edges in order.
        ends: For each edge the position of its later end among the nodes; -1 for the node before the page.
        totals: How many edges have their later end at the node before the page, and at each node.
        shape: The shape in which the page is written.
        deadline: When the call must have answered; what takes long here raises `DeadlinePassed` after it.
    """

    nodes: list[PageNode]
    edges: list[PageEdge]
    ends: list[int]
    totals: Sequence[int]
    shape: Shape
    deadline: Deadline

    def __post_init__(self) -> None:
        """Set what nodes and edges take beside their own bytes."""
        self.shape.set_frames(self.nodes, self.edges, self.ends)

    @property
    def size(self) -> int:
        """Bytes that nodes and edges take."""
        return sum([item.frame + (item.size or self.shape.measure(item)) for item in self._items])

    @property
    def degraded(self) -> Degraded:
        """What is left out of nodes and edges, by step."""
        items: list[PageNode | PageEdge] = [*self.nodes, *self.edges]
        steps: Degraded = {
            "values_shortened": sum(item.shortened for item in items),
            "nodes_as_stubs": sum(node.is_reduced for node in self.nodes),
            "edges_bare": sum(edge.is_reduced for edge in self.edges),
            "ids_left_out": sum(item.ids_left_out for item in items),
            "precision_failed": sum(item.unrefined and not item.is_reduced for item in items),
            "metadata_failed": sum(item.failed for item in items),
            "also_in_failed": sum(node.also_in_failed and node.metadata is not None for node in self.nodes),
            "paths_left_out": sum(node.paths_left_out for node in self.nodes),
        }
        return {step: count for step, count in steps.items() if count}

    @property
    def omitted_texts(self) -> Mapping[Iri, int]:
        """Long texts left out of the metadata that is shown, by predicate."""
        counts: dict[Iri, int] = {}
        for edge in self.edges:
            for predicate, count in edge.omitted_texts.items() if not edge.is_reduced else ():
                counts[predicate] = counts.get(predicate, 0) + count
        return counts

    @property
    def warnings(self) -> list[str]:
        """What a reader should know about these edges."""
        negated = [edge for edge in self.edges if edge.negations]
        wholly = sum(edge.negations == edge.assertions for edge in negated)
        return [messages.negated(len(negated), wholly)] if negated else []

    @property
    def _items(self) -> Iterator[PageNode | PageEdge]:
        return self.deadline.checking((*self.nodes, *self.edges), _AT_ONCE)

    def shrink(self, room: int, *, names_on_stubs: bool) -> None:
        """Leave things out until nodes and edges fit, as far as that goes without leaving out any of them.

        In this order: long texts are shortened, the farthest nodes become stubs, edges lose their metadata.
        """
        size = self.size
        if size > room:
            size = self._shorten(size, room)
        items: list[PageNode | PageEdge] = [*reversed(self.nodes), *reversed(self.edges)]
        for item in self.deadline.checking(items, _AT_ONCE):
            if size <= room:
                return
            if item.metadata is not None:
                size -= self._size(item)
                if isinstance(item, PageNode):
                    item.make_stub(with_name=names_on_stubs)
                else:
                    item.make_bare()
                size += self._size(item)

    def _shorten(self, size: int, room: int) -> int:
        described = [item for item in self._items if item.metadata is not None]
        for text, elements in SHORTER if described else ():
            for item in self.deadline.checking(described, _AT_ONCE):
                item.shorten(Shortener(text, elements))
            size = self.size
            if size <= room:
                break
        return size

    def cut(self, room: int) -> None:
        """Leave out the last nodes, and the edges that end at them, until the rest fits; the page is never empty."""
        if self.size > room:
            sizes: list[list[int]] = [[] for _ in range(len(self.nodes) + 1)]
            for end, edge in zip(self.ends, self.edges, strict=True):
                sizes[end + 1].append(self._size(edge))
            of_nodes = [self._size(node) for node in self.nodes]
            self.nodes, places = fitting(self.nodes, self.ends, of_nodes, sizes, room)
            self.edges = [self.edges[place] for place in places]
            self.ends = [self.ends[place] for place in places]

    def _size(self, item: PageNode | PageEdge) -> int:
        return item.frame + self.shape.measure(item)

    @property
    def is_smallest(self) -> bool:
        """Whether nothing more can be left for the next page."""
        return len(self.nodes) <= 1 and len(self.edges) <= 1

    @property
    def last_edges(self) -> tuple[int, int]:
        """How many edges that end at the last node are on the page, and how many there are."""
        last = len(self.nodes) - 1
        return self.ends.count(last), self.totals[last + 1] if self.totals else 0


def limit_header(header: Header, limit: int, shape: Shape, page: SubgraphPage | None = None) -> None:
    """Cut the sentences and lists of a header until it, or its page, takes so many bytes, as far as that goes."""
    part: Part = page or header
    if shape.size_of_part(part) > limit:
        header.warnings = _shorter(header.warnings)
        header.gaps = [replace(gap, detail=cut(gap.detail, _TEXT)) for gap in header.gaps]
    if shape.size_of_part(part) > limit:
        types, predicates = header.summary.types, header.summary.predicates
        totals = header.summary.types_total or len(types), header.summary.predicates_total or len(predicates)
        header.summary = TermSummary((), (), *totals)
    if shape.size_of_part(part) > limit:
        # How many there are stays.
        header.gaps = [replace(gap, ids=()) for gap in header.gaps]
    if shape.size_of_part(part) > limit:
        for ids in (header.missing_seeds, header.seeds):
            _cut_ids(ids, header.degraded, shape.size_of_part(part) - limit)


def limit_subgraph_page(page: SubgraphPage, limit: int, shape: Shape) -> None:
    """Cut a page of at most one node and one edge, each as small as it gets, until it takes so many bytes if it can."""
    if shape.size_of_part(page) > limit:
        _drop_labels(page, page.header.degraded)
    if shape.size_of_part(page) > limit:
        _count(page.header.degraded, "quotes_left_out", sum(page.omitted_texts.values()))
        page.omitted_texts = {}
    limit_header(page.header, limit, shape, page)
    if shape.size_of_part(page) > limit:
        for node in page.nodes:
            _count(page.header.degraded, "paths_left_out", len(node.paths))
            node.paths = ()
    if shape.size_of_part(page) > limit:
        page.header.degraded.pop("edges_bare", None)
        _count(page.header.degraded, "edges_left_out", len(page.edges))
        page.edges = []


def limit_page(page: EntityPage | EntitiesPage | SearchPage | SchemaPage, limit: int, shape: Shape) -> None:
    """Cut the labels, sentences and lists of IDs of a page until it takes so many bytes, as far as that goes."""
    if shape.size_of_part(page) > limit:
        _drop_labels(page, page.degraded)
    if shape.size_of_part(page) > limit:
        page.warnings = _shorter(page.warnings)
        if isinstance(page, SearchPage):
            page.how = cut(page.how, _TEXT)
    if shape.size_of_part(page) > limit and isinstance(page, EntitiesPage):
        for ids in (page.remaining, page.not_found, page.failed):
            _cut_ids(ids, page.degraded, shape.size_of_part(page) - limit)
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


def shorten_entities(
    entities: Sequence[PageNode], limit: int, labels: Labels, shape: Shape, deadline: Deadline
) -> Degraded:
    """Shorten entities until they fit; then drop the last values of those that are too long by themselves.

    Long values are shortened first, and harder when the examples of their surveys are left out. What can be followed
    stays longest: a row is short, and the next call needs it.

    Together they may still be longer than the limit; each by itself is not. Returns what was left out.

    Raises:
        DeadlinePassed: The time was not enough.
    """
    degraded: Degraded = {}
    whole = [entity.metadata or NodeMetadata() for entity in entities]
    surveys = [entity.survey for entity in entities if entity.survey is not None]
    for text, elements in SHORTER:
        if _size_with_labels(entities, labels, shape) <= limit:
            break
        if (text, elements) == SHORTER[-1]:
            _count(degraded, "examples_left_out", sum(survey.drop_examples() for survey in surveys))
            if _size_with_labels(entities, labels, shape) <= limit:
                break
        shortener = Shortener(text, elements)
        for entity, metadata in deadline.checking(zip(entities, whole, strict=True), at_once=1):
            entity.metadata = metadata.shortened(shortener)
        if shortener.shortened:
            degraded["values_shortened"] = shortener.shortened
    if left_out := sum(
        _drop_last(entity, limit, labels, shape, degraded) for entity in deadline.checking(entities, at_once=1)
    ):
        degraded["properties_left_out"] = left_out
    return degraded


def how_many_fit(entities: Sequence[PageNode], limit: int, labels: Labels, shape: Shape, deadline: Deadline) -> int:
    """Return how many entities fit together with the IDs of the others; at least one."""
    used, named = 0, 0
    left = sum(size_of(entity.id) for entity in entities)
    mentioned = MentionedIds()
    for count, entity in enumerate(deadline.checking(entities, at_once=1)):
        left -= size_of(entity.id)
        used += shape.size_of_entity(entity)
        mentioned.add_nodes([entity])
        named = size_of(labels.of(mentioned)) if labels.by_id else 0
        if used + named + left > limit and count:
            return count
    return len(entities)


def _drop_last(entity: PageNode, limit: int, labels: Labels, shape: Shape, degraded: Degraded) -> int:
    """Drop the last values of an entity that alone is too long, and return how many.

    Its properties are dropped first, then the rows of its survey, its IDs in other graphs, its names and types.
    """
    metadata = entity.metadata or NodeMetadata()
    dropped = _drop_parts(entity, len(metadata.fields_said), limit, labels, shape)
    if (survey := entity.survey) is not None:
        while survey.rows and _size_with_labels([entity], labels, shape) > limit:
            survey.cut(len(survey.rows) // 2)
    if entity.also_in and _size_with_labels([entity], labels, shape) > limit:
        _count(degraded, "also_in_left_out", sum(map(len, entity.also_in.values())))
        entity.also_in = {}
    return dropped + _drop_parts(entity, 0, limit, labels, shape)


def _drop_parts(entity: PageNode, least: int, limit: int, labels: Labels, shape: Shape) -> int:
    """Drop the last values of an entity until it fits or so many are left, and return how many."""
    excess = _size_with_labels([entity], labels, shape) - limit
    parts = (entity.metadata or NodeMetadata()).parts
    count = len(parts)
    while excess > 0 and len(parts) > least:
        while excess > 0 and len(parts) > least:
            excess -= shape.size_of_field(parts.pop())
        entity.metadata = NodeMetadata.of_parts(parts)
        excess = _size_with_labels([entity], labels, shape) - limit
    return count - len(parts)


def _size_with_labels(entities: Sequence[PageNode], labels: Labels, shape: Shape) -> int:
    """Return the bytes that entities take, with the names of the IDs that they mention."""
    return sum(map(shape.size_of_entity, entities)) + size_of(labels.of(MentionedIds.in_nodes(entities)))
