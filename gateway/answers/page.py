"""The typed page that the engine ends in: what an answer says, in no wire format.

Two modules write a page, as pure functions of it: `reference` and `compact`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Generic, Literal, TypeVar, get_args

from gateway import messages
from gateway.answers.models import Match
from gateway.answers.values import NEGATED, EdgeMetadata, EdgeSurvey, NodeMetadata, Shortener
from gateway.graph.values import Basis, Edge, Iri
from gateway.graph.walks import Ends, Walk
from gateway.schema.view import LONGEST_LABEL
from gateway.terms.literals import JsonScalar
from gateway.terms.names import cut
from gateway.traversal.gaps import Cause

Step = Literal[
    "properties_left_out",
    "examples_left_out",
    "values_shortened",
    "nodes_as_stubs",
    "edges_bare",
    "ids_left_out",
    "precision_failed",
    "metadata_failed",
    "labels_failed",
    "labels_left_out",
    "also_in_failed",
    "beyond_left_out",
    "also_in_left_out",
    "languages_left_out",
    "quotes_left_out",
    "paths_left_out",
    "ids_not_listed",
    "warnings_left_out",
]
STEPS: tuple[Step, ...] = get_args(Step)
Degraded = dict[Step, int]
"""What is left out of an answer to save room, or because it could not be fetched, by step."""


Metadata = TypeVar("Metadata", NodeMetadata, EdgeMetadata)


@dataclass(slots=True, kw_only=True)
class _PageItem(Generic[Metadata]):
    """What nodes and edges on a page have in common.

    Attributes:
        metadata: What is known of it.
        is_reduced: Whether metadata that was asked for is left out to save room.
        failed: Whether metadata that was asked for could not be fetched.
        unrefined: Whether it lacks precisions of dates and units of quantities, because these could not be fetched.
        shortened: How many values of the metadata are shortened.
        ids_left_out: How many types and values are left out because no caller could send their IDs back.
        other_languages: How many of its texts are not shown because others say the same, by language.
        size: Bytes that it takes by itself; None until it is measured.
        frame: Bytes that it takes beside these, among those before it on the page.
    """

    metadata: Metadata | None = None
    is_reduced: bool = False
    failed: bool = False
    unrefined: bool = False
    shortened: int = 0
    ids_left_out: int = 0
    other_languages: Mapping[str, int] = field(default_factory=dict)
    size: int | None = None
    frame: int = 0

    def shorten(self, shortener: Shortener) -> None:
        """Shorten the texts and lists of its metadata."""
        if self.metadata is not None:
            self.metadata, self.size = self.metadata.shortened(shortener), None
            self.shortened = max(self.shortened, shortener.shortened)

    def reduce(self, metadata: Metadata | None) -> None:
        """Leave no more than this of its metadata, to save room."""
        self.metadata, self.is_reduced, self.shortened, self.size = metadata, True, 0, None
        self.other_languages = {}


@dataclass(frozen=True, slots=True)
class Instances:
    """The nodes of a type.

    Attributes:
        count: How many there are, those of subclasses not counted; None where that is not known.
    """

    count: int | None


@dataclass(slots=True)
class PageNode(_PageItem[NodeMetadata]):
    """A node on a page: with metadata a full one, without it a stub.

    Attributes:
        iri: The node.
        id: Its canonical ID.
        entity_type: The ID of its type, or the word that stands for none.
        name: Its name, where stubs carry names.
        on_the_way: Whether it is shown only as a step to nodes of `only_node_types`.
        foldable: Whether it is a blank node that was not asked for as such, so that it may stand within an edge.
        may_be_in_edges: Whether it may stand only where an edge leads to it: it is no seed, and its type was not asked
            for.
        paths: Paths to the seeds: its ID, then for each step the ID of the predicate, with `^` where its edge leads
            against the step, and that of the node.
        paths_left_out: How many paths are not shown, to save room or time.
        survey: What could be followed from it; None where that was not asked for.
        instances: Of a type, how many nodes have it, as far as that is known; None where it is no type.
        also_in: Its IDs in other graphs of the server, by graph.
        also_in_failed: Whether these could not all be found out.
        beyond_left_out: Whether it does not say where it leads beyond the answer, to save room or because that could
            not all be read.
        row: What stands for it in a row, and the cells of that; None where it is in no row.
        ends: Where the walks of these cells end, as the graph has it.
        unnamed_beyond: The IDs there whose name could not be fetched.
    """

    iri: Iri
    id: str
    entity_type: str
    name: str | None = None
    on_the_way: bool = False
    foldable: bool = False
    may_be_in_edges: bool = False
    paths: Sequence[Sequence[str]] = ()
    paths_left_out: int = 0
    survey: EdgeSurvey | None = None
    instances: Instances | None = None
    also_in: Mapping[str, Sequence[str]] = field(default_factory=dict)
    also_in_failed: bool = False
    beyond_left_out: bool = False
    unnamed_beyond: frozenset[str] = frozenset()
    row: Sequence[Any] | None = None
    ends: Mapping[Walk, Ends] = field(default_factory=dict)

    def set_row(self, row: Sequence[Any], shortened: int) -> None:
        """Show it as a row; `shortened` of its values are not shown whole."""
        self.row, self.shortened, self.size = row, shortened, None

    def set_metadata(self, metadata: NodeMetadata) -> None:
        """Make it a full node; its name is in the metadata."""
        self.metadata, self.name, self.size = metadata, None, None

    def drop_beyond(self) -> None:
        """Leave out where it leads beyond the answer, to save room."""
        if self.metadata is not None and self.metadata.beyond is not None:
            self.metadata, self.size = replace(self.metadata, beyond=None), None
            self.beyond_left_out = True

    def make_stub(self, *, with_name: bool) -> None:
        """Drop its metadata, to save room."""
        if with_name and self.metadata is not None and self.metadata.name is not None:
            self.name = cut(self.metadata.name, LONGEST_LABEL)
        self.reduce(None)


@dataclass(slots=True)
class PageEdge(_PageItem[EdgeMetadata]):
    """An edge on a page.

    Attributes:
        edge: The edge.
        subject: The ID of its subject.
        predicate: The ID of its predicate.
        object: The ID of its object.
        is_incoming: Whether its object stands before its subject in the order of nodes.
        ends: The IDs of its ends, as they stand in the order of nodes.
        omitted_texts: Long texts left out of the metadata, by predicate.
        negations: How many of its assertions deny it.
        assertions: How many assertions it has.
    """

    edge: Edge
    subject: str
    predicate: str
    object: str
    is_incoming: bool = False
    ends: tuple[str, str] = field(init=False)
    omitted_texts: dict[Iri, int] = field(default_factory=dict)
    negations: int = 0
    assertions: int = 0

    def __post_init__(self) -> None:
        self.ends = (self.object, self.subject) if self.is_incoming else (self.subject, self.object)

    def set_metadata(self, metadata: EdgeMetadata) -> None:
        """Add its evidence."""
        self.metadata, self.size = metadata, None
        self.negations, self.assertions = metadata.negations, len(metadata.assertions)

    def make_bare(self) -> None:
        """Drop its evidence, to save room, but not that every assertion denies it."""
        self.reduce(NEGATED if self.metadata is not None and self.metadata.is_negated else None)


@dataclass(slots=True)
class IdList:
    """IDs that the caller has sent, and how many of them are left out to save room."""

    ids: list[str]
    left_out: int = 0

    @property
    def shown(self) -> list[str] | None:
        """The IDs; None where there is nothing to say, not even that some are left out."""
        return self.ids if self.ids or self.left_out else None


@dataclass(slots=True)
class PageGap:
    """One cause for which an answer is not whole: how many nodes it concerns, the first of them, and what happened."""

    cause: Cause
    count: int
    ids: Sequence[str]
    detail: str


@dataclass(slots=True)
class TermSummary:
    """The IDs of the types and predicates of a traversal, sorted, and how many there are where not all are listed."""

    types: Sequence[str]
    predicates: Sequence[str]
    types_total: int | None = None
    predicates_total: int | None = None


NO_TERMS = TermSummary((), ())


@dataclass(slots=True)
class PageGroups:
    """Groups of the nodes that were found, with what is computed over each; or what is computed over all.

    Attributes:
        columns: What the rows show: the value of a group, where there are several, and the figures.
        rows: The groups of this page, or one row of figures.
        count: How many groups there are; None where all nodes are in one.
    """

    columns: Sequence[str]
    rows: Sequence[Sequence[Any]]
    count: int | None


@dataclass(slots=True)
class MemberHeader:
    """What an answer says about nodes that were chosen, shown or ordered by values.

    Attributes:
        where: What each condition was taken for.
        columns: What the rows show; None where there are none.
        found: How many nodes there are.
        seeds_left_out: How many seeds would be among them.
        tied: How many nodes behind the page have the same value as its last one.
        are_values_complete: Whether every value of the columns is shown, and whole.
        groups: Groups in place of the nodes; None where none were asked for, or none can be told.
        is_grouped: Whether groups were asked for.
        other_languages: How many texts have no part in groups because others say the same, by language.
    """

    where: Sequence[str] = ()
    columns: Sequence[str] | None = None
    found: int = 0
    seeds_left_out: int = 0
    tied: int = 0
    are_values_complete: bool = True
    groups: PageGroups | None = None
    is_grouped: bool = False
    other_languages: Mapping[str, int] = field(default_factory=dict)


@dataclass(slots=True)
class Header:
    """What an answer says about the whole traversal, on each of its pages.

    Attributes:
        seeds: The seeds of the question.
        hops: `max_hops` of a neighbourhood, `k` of an intersection.
        node_count: Nodes that the filters leave.
        edge_count: Edges that the filters leave.
        levels: Nodes by distance; None for an intersection, whose nodes have a distance for each seed.
        gaps: Why the traversal is not complete.
        removed: How many nodes each filter removed, by filter.
        undecided: How many nodes a filter could not decide on, by filter.
        missing_seeds: Seeds that do not exist.
        blank_node_edges: Triples left out because one end is a blank node.
        warnings: What a reader should know.
        summary: The types and predicates, whatever the filters.
        degraded: What is left out to save room, or because it could not be fetched.
        only_predicates: IDs of the predicates that were followed, `^` before those of incoming edges only: one list, or
            one a hop or seed; None for all, and where they are what the caller wrote.
        members: What it says about the nodes that were asked for by their values; None where none were.
        is_one_relation: Whether all of it is one seed and one relation of it.
        are_chosen: Whether all of it is edges by predicates that were chosen, and their ends.
    """

    seeds: IdList
    hops: int
    node_count: int
    edge_count: int
    levels: Sequence[int] | None
    gaps: Sequence[PageGap]
    removed: Mapping[str, int]
    undecided: Mapping[str, int]
    missing_seeds: IdList
    blank_node_edges: int
    warnings: list[str]
    summary: TermSummary
    degraded: Degraded = field(default_factory=dict)
    only_predicates: Sequence[str] | Sequence[Sequence[str]] | None = None
    members: MemberHeader | None = None
    is_one_relation: bool = False
    are_chosen: bool = False

    def without_repetition(self) -> Header:
        """Return what is said of an answer that is all on one page: neither the question nor what the page shows."""
        return replace(self, seeds=IdList([]), summary=self.summary if self.removed else NO_TERMS)


@dataclass(slots=True, kw_only=True)
class Page:
    """What all pages have in common.

    Attributes:
        labels: Names of IDs, where IDs are opaque.
        coined: The namespaces of the coined prefixes that its IDs may have.
        written: It as JSON, as a shape wrote it when it was measured last; what changes it measures it again.
    """

    labels: Mapping[str, str] = field(default_factory=dict)
    coined: Mapping[str, str] = field(default_factory=dict)
    written: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)


@dataclass(slots=True)
class SubgraphPage(Page):
    """One page of a traversal.

    Attributes:
        header: What is said about the whole of it.
        nodes: Nodes in order.
        edges: Edges in order.
        omitted_texts: Long texts left out of the metadata, by the ID of the predicate.
        other_languages: How many texts of nodes and edges are not shown because others say the same, by language.
        before: The ID of the node before the page, where edges of it are on the page; None where there are none.
        place: Which nodes of how many are on the page; empty where this page is all of it.
        next_offset: Where the next page begins; None for the last one.
        next_edge: How many edges of the last node so far were shown, where the next page goes on with the others.
        edges_on_later_pages: Edges of nodes on this page that are on later ones; None where there is only one page.
        snapshot: A hash of the whole answer; None where this page is all of it.
        is_result_changed: Whether the caller's snapshot is another one.
    """

    header: Header
    nodes: Sequence[PageNode]
    edges: Sequence[PageEdge]
    omitted_texts: Mapping[str, int] = field(default_factory=dict)
    other_languages: Mapping[str, int] = field(default_factory=dict)
    before: str | None = None
    place: str = ""
    next_offset: int | None = None
    next_edge: int | None = None
    edges_on_later_pages: int | None = None
    snapshot: str | None = None
    is_result_changed: bool = False

    @property
    def complete(self) -> bool:
        """Whether nothing is missing in the whole traversal."""
        return not self.header.gaps


_LANGUAGES = 10
"""Languages whose texts are counted where they are not shown."""


def first_languages(counts: Mapping[str, int]) -> dict[str, int]:
    """Return the numbers of texts of the languages that have most, by language."""
    first = sorted(counts.items(), key=lambda one: (-one[1], one[0]))[:_LANGUAGES]
    return dict(sorted(first))


def other_languages(items: Iterable[PageNode | PageEdge]) -> dict[str, int]:
    """Return how many texts of some nodes and edges are not shown because others say the same, by language."""
    counts: Counter[str] = Counter()
    for item in items:
        if item.other_languages:
            counts.update(item.other_languages)
    return first_languages(counts)


@dataclass(slots=True, kw_only=True)
class _OtherPage(Page):
    """What the pages that are no subgraph have in common.

    Attributes:
        complete: Whether nothing is missing: all was looked up, read and listed, or every name was compared.
        warnings: What a reader should know.
        degraded: What is left out to save room, or because it could not be fetched.
    """

    complete: bool
    warnings: list[str]
    degraded: Degraded = field(default_factory=dict)


@dataclass(slots=True)
class EntityPage(_OtherPage):
    """One entity, with metadata."""

    entity: PageNode


@dataclass(slots=True)
class EntitiesPage(_OtherPage):
    """Several entities.

    Attributes:
        entities: The entities, with metadata, in the order asked.
        not_found: IDs that are not in the graph.
        failed: IDs that could not be looked up.
        remaining: IDs of entities that did not fit.
    """

    entities: Sequence[PageNode]
    not_found: IdList
    failed: IdList
    remaining: IdList


@dataclass(frozen=True, slots=True)
class PageHit:
    """An entity that a search found.

    Attributes:
        id: Its canonical ID.
        entity_type: The ID of its type, or the word that stands for none.
        name: Its name; empty where it has none.
        description: The beginning of its description; empty where it has none.
        match: How a name of it fits the query.
        matched: The name that fits, where that is another one.
        differs: A value by which it is told from other hits of its name and type, by the ID of the predicate.
        edges: How many edges it has, or at least has (`>=1000`); None where that is not known.
        is_in_language: Whether a name that is the query is in the language of the call, or in none.
        score: How near its meaning is, where it was found by that.
    """

    id: str
    entity_type: str
    name: str
    description: str
    match: Match
    matched: str | None
    differs: Mapping[str, JsonScalar] = field(default_factory=dict)
    edges: int | str | None = None
    is_in_language: bool = True
    score: float | None = None

    def shortened(self, shortener: Shortener) -> PageHit:
        """Return it with shorter texts."""
        return replace(
            self,
            name=shortener(self.name),
            description=shortener(self.description),
            matched=None if self.matched is None else shortener(self.matched),
        )


@dataclass(slots=True)
class SearchPage(_OtherPage):
    """The hits of a search, the best first.

    Attributes:
        hits: The hits that are shown, whose names fit.
        guesses: What is shown where no name fits.
        by_meaning: What is shown beside these, because its meaning is near.
        next_steps: What to try where no name fits; empty otherwise.
        how: How it was searched.
        found: How many entities have a name that fits.
        truncated: Whether there are more matches than could be read.
        exhaustive: Whether every name was compared.
        members: What is said of entities that were chosen, shown or ordered by values; None where none were.
        rows: The entities that stand in rows, in the place of hits.
        next_offset: Where the next page begins; None for the last one.
        query: The text whose hits these are.
        queries: The answers to several queries, in place of hits; their labels stand here.
        has_all_names: Whether nothing is missing but perhaps nodes that are found by local names.
    """

    hits: Sequence[PageHit]
    guesses: Sequence[PageHit]
    next_steps: str
    how: str
    found: int
    truncated: bool
    exhaustive: bool
    members: MemberHeader | None = None
    rows: Sequence[PageNode] = ()
    next_offset: int | None = None
    query: str = ""
    queries: Sequence[SearchPage] = ()
    by_meaning: Sequence[PageHit] = ()
    has_all_names: bool = False


@dataclass(frozen=True, slots=True)
class PageValuePredicate:
    """A predicate of literals.

    Attributes:
        id: Its ID.
        nodes: How many nodes have it, or at least have it where not all were counted.
        is_counted: Whether they all were.
        kinds: The kinds of its values, those of most values first.
        texts: The range of its values, or examples, quoted.
    """

    id: str
    nodes: int
    is_counted: bool
    kinds: str
    texts: Sequence[str]


@dataclass(frozen=True, slots=True)
class PageShapeRow:
    """What instances of a type have by one predicate in one direction.

    Attributes:
        predicate: The ID of the predicate.
        is_incoming: Whether the edges come in.
        share: Which share of the instances has it, as a text.
        has_several: Whether some have several values by it, or edges.
        kinds: The kinds of its values, and the types at the other ends.
        texts: The range of its values, or an example or two.
        ids: The IDs in `kinds` and `texts`.
    """

    predicate: str
    is_incoming: bool
    share: str
    has_several: bool
    kinds: str
    texts: Sequence[str]
    ids: Sequence[str]


@dataclass(frozen=True, slots=True)
class PageShape:
    """The shape of a type.

    Attributes:
        id: The ID of the type.
        read: How many instances were looked at, and of how many.
        subclasses: The IDs of the first subclasses whose instances are among them, and how many others there are.
        rows: What they have; the first where not all rows fit.
        total: How many rows there are.
    """

    id: str
    read: str
    subclasses: str
    rows: Sequence[PageShapeRow]
    total: int


@dataclass(slots=True)
class SchemaPage(_OtherPage):
    """What a graph contains: types and predicates, the most frequent first.

    With shapes, what these types have, and no advice.

    Attributes:
        description: What the graph is about.
        types: IDs of the types that are listed.
        predicates: IDs of the predicates that are listed.
        types_total: How many types are known.
        predicates_total: How many predicates are known.
        counts: Nodes of each listed type and edges of each listed predicate, where they were counted.
        names: IDs of the predicates that carry names, the best first; None if they could not be detected.
        basis: How the lists were made.
        prefixes: Namespaces by prefix.
        version: Changes when types, predicates or counts change.
        next_steps: Advice for this graph.
        usage_notes: Advice for every graph.
        values: The predicates of literals that are listed, those that most nodes have first; None where not known.
        values_total: How many of these are known.
        shapes: The shapes that were asked for; None where only the lists were.
    """

    description: str
    types: Sequence[str]
    predicates: Sequence[str]
    types_total: int
    predicates_total: int
    counts: Mapping[str, int]
    names: Sequence[str] | None
    basis: Basis
    prefixes: Mapping[str, str]
    version: str
    next_steps: str
    usage_notes: str = messages.TOOL_USAGE_NOTES
    values: Sequence[PageValuePredicate] | None = None
    values_total: int = 0
    shapes: Sequence[PageShape] | None = None


AnyPage = SubgraphPage | EntityPage | EntitiesPage | SearchPage | SchemaPage
"""What one of the tools answers."""
