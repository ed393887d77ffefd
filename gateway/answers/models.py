"""The typed answers of the six tools. `docs/tools.md` explains every field; a test keeps the two together.

No key is ever null: a field that has nothing to say is left out when an answer is written (`as_json`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, PrivateAttr

from gateway.errors import counted
from gateway.expand_compact import expand
from gateway.export.notebook import html_of, line_of
from gateway.export.subgraph import Subgraph as WholeSubgraph
from gateway.graph.values import SchemaMethod
from gateway.terms.spelling import did_you_mean
from gateway.traversal.gaps import Cause

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pandas as pd

    from gateway.export.conversions import ArrowTable, Kind

Match = Literal[
    "label", "alias", "code", "prefix", "all words", "part", "id", "some words", "similar", "type", "meaning"
]
"""How a name fits: it is the query, it is a further name and the query, it begins so, it has all words, it has all of
them but some as parts of words only, it has some words, or none as such, as it is with a word that was spelt otherwise.
"type": there was no query, and its type was asked for."""


class Answer(BaseModel):
    """The base of every answer."""

    model_config = ConfigDict(extra="forbid")

    def as_json(self) -> dict[str, Any]:
        """Return the answer as the protocol writes it: without what is absent."""
        return self.model_dump(exclude_none=True, by_alias=True)

    # Type checkers would take any name for an attribute then.
    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """Return what pydantic keeps apart, or say what has what is missing here."""
            try:
                return super().__getattr__(name)
            except AttributeError as error:
                if name.startswith("_"):
                    raise
                raise AttributeError(self._missing(name), name=name, obj=self) from error

    def _missing(self, name: str) -> str:
        missing = f"{type(self).__name__} has no {name}."
        if name.startswith(("to_", "write")) and hasattr(WholeSubgraph, name):
            return f"{missing} {self._instead(name)}"
        kinds = [kind for kind in type(self).__mro__ if issubclass(kind, Answer)]
        own = [one for kind in kinds for one in vars(kind) if not one.startswith(("_", "model_", "set_"))]
        known = list(dict.fromkeys([*type(self).model_fields, *own]))
        listed = f" It has {', '.join(known)}."
        return missing + (did_you_mean(name, known) or listed)

    def _instead(self, name: str) -> str:
        return f"A whole subgraph has {name}: graph.bfs_subgraph(ids, max_hops) returns one."


class Described(Answer):
    """What has an ID and a type, which tables and other libraries call so."""

    id: str
    entity_type: str

    @property
    def type(self) -> str:
        """The ID of its type."""
        return self.entity_type


class Result(Answer):
    """The base of what the tools answer: a line where it is printed, and a picture and tables in a notebook."""

    _show: str = PrivateAttr("both")
    _kinds: dict[str, Any] = PrivateAttr(default_factory=dict)
    _has_all_pages: bool = PrivateAttr(default=False)

    def set_show(self, show: str) -> None:
        """Note what stands for an entity in its rows, which no field says: both ID and name, or one of them."""
        self._show = show

    def set_all_pages(self) -> None:
        """Note that the caller is given the following pages too, so that its table is not short."""
        self._has_all_pages = True

    def set_kinds(self, known: Mapping[str, Kind]) -> Mapping[str, Kind]:
        """Note which types the columns of its table have on other pages, and return these and those of its own."""
        from gateway.export.conversions import kinds_of  # noqa: PLC0415 - few need it

        self._kinds = {**known, **kinds_of(self._table(), known)}
        return self._kinds

    def to_dataframe(self) -> pd.DataFrame:
        """Return its rows, groups, hits or nodes as a table, with the ID, the name and a typed column for each value.

        Raises:
            ConfigurationError: pandas is not installed.
        """
        from gateway.export.conversions import frame_of  # noqa: PLC0415 - few need it

        return frame_of(self._columns(), self._kinds)

    def to_arrow(self) -> ArrowTable:
        """Return the table of `to_dataframe` for polars, DuckDB and pyarrow, which ask for nanoarrow."""
        from gateway.export.conversions import ArrowTable  # noqa: PLC0415 - few need it

        return ArrowTable(self._columns(), self._kinds)

    def _columns(self) -> dict[str, list[Any]]:
        from gateway.export.answer_table import warn_of_cuts  # noqa: PLC0415 - few need it

        warn_of_cuts(self.as_json(), has_all_pages=self._has_all_pages)
        return self._table()

    def _table(self) -> dict[str, list[Any]]:
        from gateway.export.answer_table import answer_columns  # noqa: PLC0415 - few need it

        return answer_columns(self.as_json(), self._show)

    def __repr__(self) -> str:
        return line_of(type(self).__name__, self.as_json())

    def __str__(self) -> str:
        return repr(self)

    def _repr_html_(self) -> str:
        """Return it as a notebook shows it."""
        return html_of(self.as_json())


@dataclass(slots=True, repr=False)
class CompactAnswer:
    """An answer of any tool in the compact shape (docs/contract.md, "The two shapes of an answer").

    Attributes:
        written: The answer without its cost.
        explain: What the call cost; where asked for.
    """

    written: dict[str, Any]
    explain: Explain | None = None

    def as_json(self) -> dict[str, Any]:
        """Return the answer as it is sent."""
        return self.written if self.explain is None else {**self.written, "explain": self.explain.as_json()}

    def __repr__(self) -> str:
        return line_of(type(self).__name__, expand(self.written))

    def _repr_html_(self) -> str:
        """Return it as a notebook shows it: what it means, not how it is written."""
        return html_of(expand(self.written))


class SentQuery(Answer):
    """A query as it was sent to the endpoint."""

    template: str = Field(description="The template it was made from.")
    sparql: str
    rows: int
    bytes: int
    ms: float = Field(description="Milliseconds until the answer or the fault had come.")
    fault: str | None = Field(default=None, description="What went wrong.")


class Explain(Answer):
    """What a call cost."""

    queries: int = Field(description="Queries sent, those sent again included.")
    retries: int = Field(description="How many of them had been sent before.")
    rows: int
    bytes: int
    cache_hits: int
    cache_misses: int
    overflows: int = Field(description="Answers with more rows than one query may return.")
    splits: int = Field(description="Batches that were asked again in parts.")
    ms: dict[str, float] = Field(description="Milliseconds: in all, waiting for the endpoint, own, and by stage.")
    sent: list[SentQuery] = Field(description="The queries in the order they were sent.")
    texts_cut: int | None = Field(default=None, description="Queries in `sent` whose text is cut, to save room.")
    sent_left_out: int | None = Field(default=None, description="Queries that are not in `sent`, to save room.")


Cost = Annotated[Explain | None, Field(description="What the call cost; where asked for.")]
Labels = Annotated[
    dict[str, str] | None,
    Field(description="Names of the IDs in this answer that have none beside them, where IDs are opaque."),
]
Prefixes = Annotated[
    dict[str, str] | None,
    Field(description="Prefixes that the gateway coined for IDs in this answer."),
]


class Incomplete(Answer):
    """One cause for which an answer is not whole."""

    cause: Cause
    count: int = Field(description="How many nodes it concerns.")
    ids: list[str] = Field(description="Their IDs, 20 at most.")
    detail: str = Field(description="What happened.")


class Node(Described):
    """A node: with `metadata` a full one, without it a stub."""

    stub_name: str | None = Field(default=None, alias="name", description="On stubs where IDs are opaque.")
    on_the_way: bool | None = Field(
        default=None,
        description="True: shown only as a step of one shortest path to a node of `only_node_types`.",
    )
    via: list[list[str]] | None = Field(
        default=None,
        description="One shortest path to each seed: this node, predicate, node, ..., seed; ^ before a predicate whose "
        "edge leads against the step.",
    )
    metadata: dict[str, Any] | None = None

    @property
    def name(self) -> str | None:
        """Its name, wherever it stands."""
        return (self.metadata or {}).get("name", self.stub_name)


class Edge(Answer):
    """An edge; with `metadata` where its evidence is known and asked for."""

    subject: str
    predicate: str
    object: str
    metadata: dict[str, Any] | None = None


class SchemaSummary(Answer):
    """The types and predicates that are present, whatever the filters."""

    entity_types_found: list[str]
    predicates_found: list[str]
    entity_types_total: int | None = Field(
        default=None, description="How many there are, where only the most frequent are listed to save room."
    )
    predicates_total: int | None = Field(default=None, description="The same, for predicates.")


_FRONT = (
    *("only_predicates", "seeds", "max_hops", "k", "node_count", "edge_count", "complete", "page", "removed"),
    *("incomplete", "missing_seeds", "levels", "undecided"),
)
"""What a reader wants first; a long answer may be read in part."""


OtherLanguages = Annotated[
    dict[str, int] | None,
    Field(description="Texts in other languages that are not shown, by language."),
]
Where = Annotated[list[str] | None, Field(description="What each condition was taken for.")]
Tied = Annotated[
    int | None, Field(description="How many nodes, or groups, behind the page have the same value as its last one.")
]
ValuesComplete = Annotated[
    Literal[False] | None,
    Field(description="False: values of the columns are shortened, left out, or could not be read."),
]
Columns = Annotated[list[str] | None, Field(description="What the cells of `rows` behind the first are.")]
Rows = Annotated[
    list[list[Any]] | None,
    Field(description="The nodes asked about: what stands for each, and its values; several as a list, null for none."),
]


GroupColumns = Annotated[
    list[str] | None, Field(description="What the cells of `groups` are: the value of a group, and its figures.")
]
Groups = Annotated[
    list[list[Any]] | None, Field(description="Groups in place of nodes; null is the group without a value.")
]
GroupCount = Annotated[int | None, Field(description="How many groups there are.")]
Computed = Annotated[
    dict[str, Any] | None, Field(description="What was computed over all nodes found; null where there is no value.")
]


class Subgraph(Result):
    """What a traversal and an intersection have in common."""

    only_predicates: list[str] | list[list[str]] | None = Field(
        default=None, description="The predicates that were followed, where they were not asked for by these IDs."
    )
    seeds: list[str]
    node_count: int = Field(description="Nodes of the whole result, before paging.")
    edge_count: int = Field(description="Edges of the whole result, before paging.")
    complete: bool = Field(description="True: nothing was cut, and an absence is a fact.")
    incomplete: list[Incomplete] | None = Field(default=None, description="Why `complete` is false.")
    missing_seeds: list[str] | None = Field(default=None, description="Seeds that are not in the graph.")
    page: str | None = Field(default=None, description="Which nodes of how many, where there are several pages.")
    removed: dict[str, int] | None = Field(
        default=None,
        description="How many nodes each filter took away; partial_paths: nodes on no walk through all hops.",
    )
    undecided: dict[str, int] | None = Field(
        default=None,
        description="Nodes that a filter could not decide on, because what it needs could not be read; they stay, so "
        "`node_count` and `edge_count` may be too large.",
    )
    blank_node_edges: int | None = Field(
        default=None, description="Triples left out because one end is a blank node, which has no ID."
    )
    warnings: list[str] | None = None
    degraded: dict[str, int] | None = Field(
        default=None, description="What was left out so that the answer fits, by step, with counts."
    )
    omitted_texts: dict[str, int] | None = Field(
        default=None, description="Long quotes left out of edge metadata, by predicate."
    )
    other_languages: OtherLanguages = None
    where: Where = None
    found: Annotated[int | None, Field(description="How many nodes were asked about that fulfil all conditions.")] = (
        None
    )
    seeds_left_out: int | None = Field(default=None, description="Seeds that would be among these.")
    tied: Tied = None
    values_complete: ValuesComplete = None
    columns: Columns = None
    rows: Rows = None
    group_columns: GroupColumns = None
    groups: Groups = None
    group_count: GroupCount = None
    computed: Computed = None
    nodes: list[Node]
    edges: list[Edge]
    schema_summary: SchemaSummary
    labels: Labels = None
    prefixes: Prefixes = None
    edges_on_later_pages: int | None = Field(
        default=None, description="Edges of nodes on this page that stand on later pages."
    )
    next_offset: int | None = Field(default=None, description="The `offset` of the next page.")
    next_edge: int | None = Field(
        default=None, description="The `edge_offset` of the next page, which goes on with the edges of one node."
    )
    snapshot: str | None = Field(
        default=None,
        description="Names the answer that the pages belong to; may be sent back with the next page.",
    )
    result_changed: bool | None = Field(
        default=None,
        description="The snapshot is gone and the answer is another one now: start again at offset 0.",
    )
    explain: Cost = None

    def _instead(self, name: str) -> str:
        call = "bfs_subgraph" if isinstance(self, BfsResult) else "intersection_subgraph"
        return (
            f"This is a page, of {counted(self.node_count, 'node')} in all. A whole subgraph has {name}: graph.{call} "
            "takes the same arguments, but for those about pages and groups, and returns one."
        )

    def as_json(self) -> dict[str, Any]:
        """Return the answer as the protocol writes it, what matters most first."""
        written = super().as_json()
        return {key: written[key] for key in _FRONT if key in written} | written


class BfsResult(Subgraph):
    """The answer of `bfs_query`."""

    max_hops: int
    levels: list[int] = Field(description="Nodes of the result by distance from the seeds, from 0.")


class IntersectionResult(Subgraph):
    """The answer of `intersect_subgraphs`."""

    k: int


class SchemaBasis(Answer):
    """What a schema rests on."""

    methods: list[SchemaMethod] = Field(
        description="enumerated: every triple was read. sampled: some were. published: by a VoID description. "
        "declared: by the graph. met: by traversals."
    )
    read_at: str | None = Field(default=None, description="When, UTC.")
    sampled_triples: int | None = Field(default=None, description="Triples that were read, where not all were.")
    share: float | None = Field(default=None, description="Of all triples, where their number is known.")


class TypeShape(Answer):
    """What instances of one type have."""

    read: str = Field(description="How many instances were looked at: all (counted), or some (sampled).")
    subclasses: str | None = Field(default=None, description="Subclasses, whose instances are counted in.")
    predicates: dict[str, list[str]] = Field(
        description="{predicate: [share of the instances, one | several, kinds of values and types at the other end, "
        "range or examples]}; ^ before an incoming predicate."
    )
    predicates_total: int | None = Field(default=None, description="How many there are, where not all are listed.")


class SchemaResult(Result):
    """The answer of `describe_schema`."""

    graph_description: str
    complete: bool = Field(description="The same as `comprehensive`.")
    comprehensive: bool = Field(description="True: all are known, the totals are exact; false: there may be more.")
    entity_types: list[str]
    predicates: list[str]
    entity_types_total: int = Field(
        description="How many types are known; the 40 most frequent are listed, with `all` up to 200."
    )
    predicates_total: int = Field(description="How many predicates are known.")
    counts: dict[str, int] = Field(description="Nodes per listed type and edges per listed predicate.")
    labels: dict[str, str] | None = None
    values: dict[str, list[int | str]] | None = Field(
        default=None,
        description="Predicates of literals: {predicate: [nodes that have it, kinds, range or examples]}; "
        "at least: not all nodes were counted.",
    )
    values_total: int | None = Field(default=None, description="How many are known, where not all are listed.")
    shapes: dict[str, TypeShape] | None = Field(
        default=None, description="What instances of the types in `node_types` have, by type."
    )
    names: list[str] | None = Field(
        default=None, description="Predicates that carry names here; the first that a node has is its name."
    )
    basis: SchemaBasis = Field(description="How the lists were made, and when.")
    prefixes: dict[str, str]
    degraded: dict[str, int] | None = Field(default=None, description="What was left out so that the answer fits.")
    schema_version: str = Field(description="Changes when types, predicates or counts change.")
    warnings: list[str] | None = None
    next_steps: str
    tool_usage_notes: str | None = Field(default=None, description="Advice for every graph; absent beside shapes.")
    explain: Cost = None


class SearchHit(Described):
    """An entity that a search found."""

    name: str | None = None
    description: str | None = Field(default=None, description="What it is, the beginning.")
    match: Match = Field(description="How a name of it fits the query; the best first.")
    edges: int | str | None = Field(default=None, description="How many edges it has; `>=1000`: at least.")
    matched: str | None = Field(default=None, description="The name that fits, where that is not `name`.")
    differs: dict[str, Any] | None = Field(
        default=None, description="What tells it from others of its name and type, by predicate."
    )
    score: float | None = Field(default=None, description="How near its meaning is, 1 at most.")


class Searched(Answer):
    """How a search was made that may have missed names."""

    how: str
    truncated: bool | None = Field(
        default=None, description="True: there are more matches than could be read: ask for more words."
    )
    exhaustive: bool = Field(description="False: not every name was compared, so there may be others.")


class QueryResult(Answer):
    """The answer to one of several queries."""

    query: str
    result: list[SearchHit]
    guesses: list[SearchHit] | None = None
    by_meaning: list[SearchHit] | None = None
    complete: bool
    found: int | None = None
    searched: Searched | None = None
    next_steps: str | None = None
    warnings: list[str] | None = None


class SearchResult(Result):
    """The answer of `search_entities`."""

    result: list[SearchHit] = Field(description="Entities with a name that fits, the best first.")
    columns: Columns = None
    rows: Rows = None
    group_columns: GroupColumns = None
    groups: Groups = None
    group_count: GroupCount = None
    computed: Computed = None
    where: Where = None
    tied: Tied = None
    values_complete: ValuesComplete = None
    other_languages: OtherLanguages = None
    next_offset: int | None = Field(default=None, description="The `offset` of the next page.")
    guesses: list[SearchHit] | None = Field(
        default=None, description="Where no name fits: up to 3 names with some of the words, or spelt alike."
    )
    by_meaning: list[SearchHit] | None = Field(
        default=None, description="Names of near meaning, the nearest first: none of them fits."
    )
    queries: list[QueryResult] | None = Field(default=None, description="The answer to each of several queries.")
    complete: bool = Field(
        description="True: every name was compared. False: some were not, or nothing fits and there are nodes "
        "without names."
    )
    found: int | None = Field(default=None, description="How many fit, where more than are listed.")
    searched: Searched | None = Field(default=None, description="How it was searched, where names may be missed.")
    next_steps: str | None = Field(default=None, description="What to try, where nothing fits.")
    labels: dict[str, str] | None = Field(default=None, description="Names of the types, where IDs are opaque.")
    prefixes: Prefixes = None
    degraded: dict[str, int] | None = Field(default=None, description="What was left out so that the answer fits.")
    warnings: list[str] | None = None
    explain: Cost = None


Followable = Annotated[
    dict[str, list[int | str]] | None,
    Field(
        description='What could be followed: {"predicate name": [number of edges, "neighbor name", ...]}, ^ before an '
        "incoming predicate; {}: no edges."
    ),
]
AlsoIn = Annotated[
    dict[str, str | list[str]] | None,
    Field(description="Its ID in other graphs of this server, by graph; a list where it has several there."),
]
RowsTotal = Annotated[int | None, Field(description="Rows that `edges` would have, where some are left out.")]
BlankNodeEdges = Annotated[int | None, Field(description="Triples that are no edges: one end is a blank node.")]
OwnIri = Annotated[str | None, Field(description="Its IRI; a blank node has none.")]
Uncounted = Annotated[str | None, Field(description="Why not all edges were counted; there may be more.")]

Instances = Annotated[
    dict[str, Any] | None,
    Field(
        description="Of a type: `count`, how many nodes have it, and the arguments of `search_entities` that list them."
    ),
]

_AFTER_METADATA = (
    *("also_in", "instances", "edges", "edge_rows_total", "blank_node_edges", "edges_failed", "labels", "prefixes"),
)


class Entity(Result, Described):
    """The answer of `describe_entity`: flat, with the node's own keys beside these."""

    model_config = ConfigDict(extra="allow")

    iri: OwnIri = None
    also_in: AlsoIn = None
    instances: Instances = None
    edges: Followable = None
    edge_rows_total: RowsTotal = None
    blank_node_edges: BlankNodeEdges = None
    edges_failed: Uncounted = None
    complete: bool = Field(description="True: all was fetched; `degraded` tells what was shortened for size.")
    labels: Labels = None
    prefixes: Prefixes = None
    degraded: dict[str, int] | None = Field(default=None, description="What was shortened so that the answer fits.")
    warnings: list[str] | None = None
    explain: Cost = None

    @property
    def metadata(self) -> dict[str, Any]:
        """All that the graph says of it beside its edges, as `metadata` of other nodes."""
        return self.model_extra or {}

    @property
    def name(self) -> str | None:
        """Its name."""
        return self.metadata.get("name")

    def as_json(self) -> dict[str, Any]:
        """Return the answer as the protocol writes it: the metadata, then the edges, then names of what it mentions."""
        written = super().as_json()
        last = {key: written.pop(key) for key in _AFTER_METADATA if key in written}
        return written | last


class FullNode(Described):
    """A node of `describe_entities`."""

    iri: OwnIri = None
    metadata: dict[str, Any]
    also_in: AlsoIn = None
    instances: Instances = None
    edges: Followable = None
    edge_rows_total: RowsTotal = None
    blank_node_edges: BlankNodeEdges = None
    edges_failed: Uncounted = None

    @property
    def name(self) -> str | None:
        """Its name."""
        return self.metadata.get("name")


class EntitiesResult(Result):
    """The answer of `describe_entities`."""

    result: list[FullNode]
    complete: bool = Field(description="True: every ID was looked up; false: some are in `failed`.")
    not_found: list[str] = Field(description="IDs that are not in the graph.")
    failed: list[str] | None = Field(default=None, description="IDs that could not be looked up: try them again.")
    labels: Labels = None
    prefixes: Prefixes = None
    degraded: dict[str, int] | None = Field(default=None, description="What was shortened so that the answer fits.")
    warnings: list[str] | None = None
    remaining_ids: list[str] | None = Field(
        default=None, description="IDs that did not fit into this answer: ask for them in another call."
    )
    explain: Cost = None


ToolAnswer = SchemaResult | SearchResult | BfsResult | Entity | EntitiesResult | IntersectionResult
"""What a tool answers."""
