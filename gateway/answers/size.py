"""What makes a page fit into its size.

Nodes and edges come first; then, where the smallest form of an answer is still too large, its lists and sentences.
An ID may have 998 characters, and a call may name 200 of them, so what an answer says beside its nodes and edges may
alone be larger than the answer may be. What a call has cost is listed in the room that is left.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import accumulate
from typing import TypeVar

from gateway import messages
from gateway.answers.models import Explain, SentQuery
from gateway.answers.page import (
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
from gateway.answers.shape import Part, Shape, size_of
from gateway.answers.values import SHORTER, Shortener
from gateway.graph.call import Deadline
from gateway.graph.values import Iri
from gateway.settings.limits import SizeSettings
from gateway.telemetry.record import Record, Sent
from gateway.terms.names import cut

Item = TypeVar("Item")


def fitting(
    nodes: Sequence[Item],
    ends: Sequence[int],
    node_sizes: Sequence[int],
    edge_sizes: Sequence[Sequence[int]],
    room: int,
) -> tuple[list[Item], list[int]]:
    """Return the nodes that fit together with the edges that end at them, and the positions of these edges.

    If not even the first node fits with all its edges, it stays with as many of them as fit, and with at least one.

    Args:
        nodes: The nodes.
        ends: For each edge the position of its later end among the nodes; -1 for the node before them.
        node_sizes: The bytes of each node.
        edge_sizes: The bytes of the edges that end at the node before the page, and of those that end at each node.
        room: Bytes that all may take.
    """
    used, count, last = 0, len(nodes), len(edge_sizes[-1])
    for position, sizes in enumerate(edge_sizes):
        if not (position or sizes):
            continue
        size = node_sizes[position - 1] if position else 0
        if used + size + sum(sizes) > room:
            count, last = position - 1, len(edge_sizes[position - 1])
            if not used:
                count, last = position, max(1, sum(end <= room - size for end in accumulate(sizes)))
            break
        used += size + sum(sizes)
    places, of_last = [], 0
    for place, end in enumerate(ends):
        of_last += end == count - 1
        if end < count - 1 or (end == count - 1 and of_last <= last):
            places.append(place)
    return list(nodes[:count]), places


BYTES_PER_TOKEN = 4
"""An estimate: tokenizers differ, and the gateway does not know the client's (docs/contract.md)."""

_AT_ONCE = 50
"""Nodes or edges, whose metadata may be long, between two looks at the clock."""

_SENTENCES = ((5, 200), (1, 80), (0, 40))
"""Warnings that are left, and characters of each and of what is said about a gap, by how hard it must be tried."""

_TEXTS = (200, 80, 20)
"""Characters of a text that are left beside the IDs of the last hit, or of a schema without any ID, likewise."""

_END = object()


def max_bytes(size: SizeSettings, asked: int | None, *, explain: bool) -> int:
    """Return how many bytes an answer may have; in one with an explanation, room is reserved for that."""
    limit = (size.max_tokens if asked is None else min(asked, size.ceiling_tokens)) * BYTES_PER_TOKEN
    return limit - room_for_explain(limit) if explain else limit


def above_ceiling(size: SizeSettings, asked: int | None) -> list[str]:
    """Return a warning where more was asked for than the operator allows."""
    if asked is None or asked <= size.ceiling_tokens:
        return []
    return [messages.above_ceiling("max_tokens", asked, size.ceiling_tokens)]


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
            "labels_failed": len(
                frozenset().union(
                    *(node.unnamed_beyond for node in self.nodes if node.metadata is not None and node.metadata.beyond)
                )
            ),
            "beyond_left_out": sum(node.beyond_left_out and node.metadata is not None for node in self.nodes),
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

        In this order: blank nodes no longer say where they lead beyond the answer, long texts are shortened, the
        farthest nodes become stubs, edges lose their metadata.
        """
        size = self.size
        if size > room:
            for node in self.nodes:
                node.drop_beyond()
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
        """Whether nothing more can be left out, or for the next page."""
        items: list[PageNode | PageEdge] = [*self.nodes, *self.edges]
        is_bare = all(item.metadata is None or item.is_reduced for item in items)
        return is_bare and len(self.nodes) <= 1 and len(self.edges) <= 1

    @property
    def last_edges(self) -> tuple[int, int]:
        """How many edges that end at the last node are on the page, and how many there are."""
        last = len(self.nodes) - 1
        return self.ends.count(last), self.totals[last + 1] if self.totals else 0


_OtherPage = EntityPage | EntitiesPage | SearchPage | SchemaPage


def limit_header(header: Header, limit: int, shape: Shape) -> None:
    """Cut the sentences and lists of a header until it takes so many bytes, as far as that goes."""
    _make(_cuts_of_header(header, header, limit, shape), header, limit, shape)


def limit_subgraph_page(page: SubgraphPage, limit: int, shape: Shape) -> None:
    """Cut a page of at most one node and one edge, each as small as it gets, until it takes so many bytes.

    Their IDs stay, because what is on no page would be missing. Where these alone are too large, the page says so.
    """
    _make(_cuts_of_subgraph(page, limit, shape), page, limit, shape)
    _tell_if_too_large(page, page.header.warnings, limit, shape)


def limit_page(page: _OtherPage, limit: int, shape: Shape) -> None:
    """Cut the labels, sentences and lists of IDs of a page until it takes so many bytes.

    The IDs of one entity or hit stay. Where these alone are too large, the page says so.
    """
    _make(_cuts_of_page(page, limit, shape), page, limit, shape)
    _tell_if_too_large(page, page.warnings, limit, shape)


def limit_lists(page: EntitiesPage, room: int) -> None:
    """Drop the last of the IDs that a page lists beside its entities, until they take so many bytes."""
    for listed in (page.remaining, page.not_found, page.failed):
        _cut_ids(listed, page.degraded, _size_of_lists(page) - room)
    # What is in neither list is not accounted for.
    page.complete = page.complete and not (page.not_found.left_out or page.failed.left_out)


def _make(cuts: Iterator[None], part: Part, limit: int, shape: Shape) -> None:
    """Make one cut after the other, until a part of an answer fits or there is none left."""
    while shape.size_of_part(part) > limit and next(cuts, _END) is not _END:
        pass


def _cuts_of_header(header: Header, part: Part, limit: int, shape: Shape) -> Iterator[None]:
    """Make the next cut of a header, which is, or is in, the part that must fit, at each step."""
    _shorten_sentences(header, 0)
    yield
    types, predicates = header.summary.types, header.summary.predicates
    totals = header.summary.types_total or len(types), header.summary.predicates_total or len(predicates)
    header.summary = TermSummary((), (), *totals)
    yield
    # How many there are stays.
    header.gaps = [replace(gap, ids=()) for gap in header.gaps]
    yield
    _shorten_sentences(header, 1)
    yield
    # All together: fewer would be another question.
    lists = header.only_predicates or ()
    _count(header.degraded, "ids_not_listed", sum(1 if isinstance(one, str) else len(one) for one in lists))
    header.only_predicates = None
    yield
    for ids in (header.missing_seeds, header.seeds):
        _cut_ids(ids, header.degraded, shape.size_of_part(part) - limit)


def _cuts_of_subgraph(page: SubgraphPage, limit: int, shape: Shape) -> Iterator[None]:
    header = page.header
    _drop_labels(page, header.degraded)
    yield
    _count(header.degraded, "languages_left_out", len(page.other_languages))
    page.other_languages = {}
    yield
    _count(header.degraded, "quotes_left_out", sum(page.omitted_texts.values()))
    page.omitted_texts = {}
    yield
    yield from _cuts_of_header(header, page, limit, shape)
    yield
    for node in page.nodes:
        _count(header.degraded, "paths_left_out", len(node.paths))
        node.paths = ()
        yield
        _count(header.degraded, "labels_left_out", int(node.name is not None))
        node.name = None
        yield
    _shorten_sentences(header, 2)


def _cuts_of_page(page: _OtherPage, limit: int, shape: Shape) -> Iterator[None]:
    _drop_labels(page, page.degraded)
    yield
    _shorten_sentences(page, 0)
    yield
    if isinstance(page, EntitiesPage):
        limit_lists(page, _size_of_lists(page) - (shape.size_of_part(page) - limit))
        yield
    for longest in _TEXTS:
        if isinstance(page, SearchPage):
            _shorten_search(page, longest)
        elif isinstance(page, SchemaPage):
            _shorten_schema(page, longest)
        yield
    if isinstance(page, SearchPage):
        for one in (page, *page.queries):
            one.hits, one.guesses, one.by_meaning = (
                [replace(hit, edges=None, differs={}) for hit in hits]
                for hits in (one.hits, one.guesses, one.by_meaning)
            )
        yield
    if isinstance(page, SchemaPage) and page.names:
        names = IdList(list(page.names))
        _cut_ids(names, page.degraded, shape.size_of_part(page) - limit)
        page.names = names.ids
        yield
    for strength in (1, 2):
        _shorten_sentences(page, strength)
        yield


def _shorten_sentences(part: Header | _OtherPage, strength: int) -> None:
    """Leave fewer and shorter warnings, and less of what is said about each gap."""
    most, longest = _SENTENCES[strength]
    _count(part.degraded, "warnings_left_out", len(part.warnings) - most)
    part.warnings = [cut(text, longest) for text in part.warnings[:most]]
    for one in part.queries if isinstance(part, SearchPage) else ():
        _count(part.degraded, "warnings_left_out", len(one.warnings) - most)
        one.warnings = [cut(text, longest) for text in one.warnings[:most]]
    if isinstance(part, Header):
        part.gaps = [replace(gap, detail=cut(gap.detail, longest)) for gap in part.gaps]


def _shorten_search(page: SearchPage, longest: int) -> None:
    shortener = Shortener(longest, 1)
    for one in (page, *page.queries):
        one.how, one.next_steps = shortener(one.how), shortener(one.next_steps)
        one.hits, one.guesses, one.by_meaning = (
            [hit.shortened(shortener) for hit in hits] for hits in (one.hits, one.guesses, one.by_meaning)
        )
        one.query = shortener(one.query)
    _note_shortened(page, shortener)


def _shorten_schema(page: SchemaPage, longest: int) -> None:
    shortener = Shortener(longest, 1)
    page.description, page.next_steps = shortener(page.description), shortener(page.next_steps)
    page.usage_notes = shortener(page.usage_notes)
    _note_shortened(page, shortener)


def _note_shortened(page: SearchPage | SchemaPage, shortener: Shortener) -> None:
    # What was cut before was cut again.
    if shortener.shortened:
        page.degraded["values_shortened"] = shortener.shortened


def _tell_if_too_large(page: AnyPage, warnings: list[str], limit: int, shape: Shape) -> None:
    if shape.size_of_part(page) > limit:
        warnings.append(messages.LARGER_THAN_ASKED)
        shape.size_of_part(page)


def _size_of_lists(page: EntitiesPage) -> int:
    return sum(size_of(listed.ids) for listed in (page.remaining, page.not_found, page.failed))


def _cut_ids(listed: IdList, degraded: Degraded, excess: int) -> None:
    """Drop the last IDs of a list, until the excess and the count of them are made up for."""
    count = len(listed.ids)
    allowed = -size_of({"degraded": {"ids_not_listed": count}})
    while listed.ids and excess > allowed:
        excess -= size_of(listed.ids.pop())
        listed.left_out += 1
    _count(degraded, "ids_not_listed", count - len(listed.ids))


def _drop_labels(page: AnyPage, degraded: Degraded) -> None:
    _count(degraded, "labels_left_out", len(page.labels))
    page.labels = {}


def _count(degraded: Degraded, step: Step, number: int) -> None:
    if number > 0:
        degraded[step] = degraded.get(step, 0) + number


_SHARE_EXPLAINED = 4
"""One part in so many of an answer is reserved for its explanation."""

_LEAST_EXPLAINED = 220
"""Bytes that are reserved for it in a small answer: what it takes without a single query and the times of stages."""

_TIMES_SHOWN = frozenset({"total", "waiting", "own"})
"""Times that it has however short the room is, and if they are 0."""

_QUERY_LENGTHS = (1_000_000_000, 4_000, 1_000, 300, 100)
"""Characters of a query that are left, by how hard it must be tried; the first is all of them."""


def room_for_explain(limit: int) -> int:
    """Return how many bytes of an answer its explanation may count on; what else is left it gets, too."""
    return max(limit // _SHARE_EXPLAINED, _LEAST_EXPLAINED)


def explained(record: Record, room: int) -> Explain:
    """Return a record as an answer lists it, in so many bytes: texts are cut first, then the last queries left out."""
    whole, *shorter = _QUERY_LENGTHS
    explain = _explain_with(record, record.sent, whole)
    for longest in shorter:
        if _size_of_explain(explain) <= room:
            return explain
        explain = _explain_with(record, record.sent, longest)
    explain = _explain_with(record, record.sent[: _how_many_queries(explain, room)], shorter[-1])
    if _size_of_explain(explain) > room:
        explain.ms = {stage: ms for stage, ms in explain.ms.items() if stage in _TIMES_SHOWN}
    return explain


def _explain_with(record: Record, sent: Sequence[Sent], longest: int) -> Explain:
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
        ms={stage: ms for stage, ms in times.items() if ms or stage in _TIMES_SHOWN},
        sent=[_sent_query(query, longest) for query in sent],
        texts_cut=sum(len(query.sparql) > longest for query in sent) or None,
        sent_left_out=len(record.sent) - len(sent) or None,
    )


def _sent_query(query: Sent, longest: int) -> SentQuery:
    return SentQuery(
        template=query.template,
        sparql=cut(query.sparql, longest),
        rows=query.rows,
        bytes=query.bytes,
        ms=query.ms,
        fault=query.fault or None,
    )


def _how_many_queries(explain: Explain, room: int) -> int:
    """Return how many of the queries fit."""
    left_out = len(explain.sent)
    room -= _size_of_explain(explain.model_copy(update={"sent": [], "texts_cut": left_out, "sent_left_out": left_out}))
    for position, query in enumerate(explain.sent):
        room -= size_of(query.as_json())
        if room < 0:
            return position
    return left_out


def _size_of_explain(explain: Explain) -> int:
    return size_of({"explain": explain.as_json()})
