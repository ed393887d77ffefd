"""The typed shape of a profile. `docs/profiles.md` lists every setting; a test keeps the two together."""

from __future__ import annotations

import re
from typing import Annotated, Literal, Self

from pydantic import Field, field_validator, model_validator

from gateway.settings.endpoint import EndpointSettings
from gateway.settings.evidence import EvidenceSettings
from gateway.settings.files import FileSettings
from gateway.settings.secret import Unquoted
from gateway.settings.section import Iris, Seconds, Section, Words
from gateway.settings.urls import url_problem
from gateway.terms.known_iris import (
    DESCRIPTION_PREDICATES,
    NAME_PREDICATES,
    NO_EDGES,
    RDF_TYPE,
    SYNONYM_PREDICATES,
)

_LANGUAGE = re.compile(r"[a-z]{2,12}(-[a-z0-9]{1,12})*")

NAMESPACE_MARK = "*"
"""Ends an entry of `edges.allowed` that means every predicate of a namespace."""


class EdgeSettings(Section):
    """Which triples are edges."""

    types: Iris = Field(default=(RDF_TYPE,), description="Predicates that give a node its types; they are no edges.")
    excepted: Iris = Field(default=NO_EDGES, description="Predicates that are no edges, beside the type predicates.")
    also_excepted: Iris = Field(
        default=(),
        description="Further predicates that are no edges; what they point to is told as metadata of the node.",
    )
    allowed: Iris = Field(
        default=(),
        description="When given, only these predicates are edges; `wdt:` (a prefix alone), or an IRI that ends in "
        "`/`, `#` or `*`, means every predicate that begins so.",
    )
    objects: Iris = Field(
        default=(),
        description="When given, only triples whose object's IRI begins so are edges (`wd:Q`); to what else an allowed "
        "predicate points is told as metadata of the node.",
    )
    redirects: Iris = Field(
        default=(),
        description="Predicates from a node that was merged into another one to that one (Wikidata: `owl:sameAs`); "
        "they are told, and traversals follow them.",
    )
    evidence_nodes: bool = Field(
        default=True,
        description="Whether nodes that state evidence (`rdf:reifies`, `rdf:subject`) may stand in the graph; "
        "their triples are then kept out of the edges.",
    )


class HubSettings(Section):
    """Nodes with very many edges."""

    max_degree: Annotated[int, Field(ge=1)] | None = Field(
        default=None,
        description="A node with more edges is shown and not expanded, unless it is a seed; absent: every node is "
        "expanded. The argument `max_degree` wins over it.",
    )
    max_degree_ceiling: Annotated[int, Field(ge=1)] | None = Field(
        default=None, description="The most that the argument `max_degree` may ask for; absent: no bound."
    )
    max_edges_per_node: Annotated[int, Field(ge=1)] | None = Field(
        default=None,
        description="Edges that an expanded node shows at most; absent: all. The argument `max_edges_per_node` wins "
        "over it.",
    )
    max_edges_ceiling: Annotated[int, Field(ge=1)] | None = Field(
        default=None, description="The most that the argument `max_edges_per_node` may ask for; absent: no bound."
    )

    @model_validator(mode="after")
    def _below_the_ceilings(self) -> Self:
        for name, usual, ceiling in (
            ("max_degree", self.max_degree, self.max_degree_ceiling),
            ("max_edges_per_node", self.max_edges_per_node, self.max_edges_ceiling),
        ):
            if usual is not None and ceiling is not None and usual > ceiling:
                raise ValueError(f"{name} = {usual} is above its ceiling of {ceiling}")
        return self


class TypeSettings(Section):
    """Which of several types a node shows."""

    preferred: Iris = Field(default=(), description="Types that win over others, the strongest first.")
    subclass_of: Iris = Field(
        default=(),
        description="Predicates from a class to its superclass; then a filter by a type means its subclasses too.",
    )


class RoleSettings(Section):
    """Which predicates mean what: IRIs, or bare local names, which match any namespace."""

    name: Words = Field(default=NAME_PREDICATES, description="The display name; the first that a node has wins.")
    synonym: Words = Field(default=SYNONYM_PREDICATES, description="Further names.")
    description: Words = Field(default=DESCRIPTION_PREDICATES, description="A sentence or two about the node.")
    mentions: Words = Field(
        default=("totalMentions", "mentions"),
        description="How often the node is mentioned: `total_mentions`.",
    )
    confidence: Words = Field(
        default=("confidence", "score", "weight"), description="How sure the source is: `confidence`."
    )
    source: Words = Field(
        default=("source", "wasDerivedFrom", "hadPrimarySource", "publications"),
        description="Which document says so: `source_documents`.",
    )
    negated: Words = Field(
        default=("negated",), description="A flag of an assertion: it says that the edge does not hold."
    )
    source_id: str = Field(
        default="",
        description="Turns a source literal into the ID of its node, for example `paper:{value}`.",
    )

    @field_validator("name", "synonym", "description")
    @classmethod
    def _whole_iris(cls, value: Words) -> Words:
        for entry in value:
            if ":" not in entry:
                raise ValueError(f"{entry!r} is no IRI and no CURIE; this role takes no bare local names")
        return value

    @field_validator("source_id")
    @classmethod
    def _has_place(cls, value: str) -> str:
        if value and "{value}" not in value:
            raise ValueError("it needs {value} where the literal goes")
        return value


class NameSettings(Section):
    """Names of nodes, and their languages."""

    languages: tuple[str, ...] = Field(
        default=(), description="Preferred language tags, the best first; then untagged, `mul`, `en`, any."
    )
    on_stubs: bool = Field(
        default=False, description="Whether stubs carry `name`: for graphs with opaque IDs (`name_stubs`)."
    )

    predicate_entity: Iris = Field(
        default=(),
        description="The predicates from a property's entity to the predicates that it stands for (Wikidata: "
        "`wikibase:directClaim` and others), so that these have labels.",
    )

    @field_validator("languages")
    @classmethod
    def _lower_case(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(tag.lower() for tag in value)


class SearchSettings(Section):
    """How names are searched."""

    index: Literal["auto", "none", "fuseki", "virtuoso", "blazegraph", "qlever", "graphdb", "stardog"] = Field(
        default="auto",
        description="The endpoint's text index. `auto`: Fuseki's, Virtuoso's or Blazegraph's where it is found, for "
        "graphs too large to compare every name; one that is named is asked for every graph; `none`: none is.",
    )
    connector: str = Field(
        default="", description='GraphDB\'s Lucene connector, as the IRI of its instance; with `index = "graphdb"`.'
    )
    scan_triples: Annotated[int, Field(ge=0)] = Field(
        default=2_000_000,
        description="Names and synonyms that a graph may have at most so that a search compares every one of them.",
    )
    api: Annotated[str, Unquoted()] = Field(
        default="",
        description="The `api.php` of the Wikibase whose entities the endpoint has; searches then go there.",
    )
    api_language: str = Field(
        default="",
        description="The language in which it is asked; empty: the first of `names.languages` but `mul`, else `en`.",
    )

    @field_validator("api")
    @classmethod
    def _no_secret_url(cls, value: str) -> str:
        if value and (problem := url_problem(value)):
            raise ValueError(problem)
        if "?" in value or "#" in value:
            raise ValueError("it is the URL of api.php alone, without anything after it")
        return value

    @field_validator("api_language")
    @classmethod
    def _is_a_code(cls, value: str) -> str:
        if value and not _LANGUAGE.fullmatch(value):
            raise ValueError("it is a language code of the wiki, in lower case: `en`, `pt-br`")
        return value

    @model_validator(mode="after")
    def _connected(self) -> Self:
        if (self.index == "graphdb") != bool(self.connector):
            raise ValueError('`connector` and index = "graphdb" go together')
        return self


class LimitSettings(Section):
    """The budget of one tool call, and the size of one query."""

    deadline_seconds: Seconds = Field(default=30.0, description="Time for one tool call.")
    requests: Annotated[int, Field(ge=1)] = Field(default=200, description="Queries that one tool call may send.")
    rows: Annotated[int, Field(ge=1)] = Field(default=500_000, description="Rows that one tool call may read.")
    nodes: Annotated[int, Field(ge=1)] = Field(default=200_000, description="Nodes that one traversal may reach.")
    batch: Annotated[int, Field(ge=1, le=1000)] = Field(
        default=100, description="Nodes in one expansion query; 100 to 250 is the knee of the curve."
    )
    facts_batch: Annotated[int, Field(ge=1, le=1000)] = Field(
        default=500, description="Nodes in one query for types, names and literals, whose answers are short."
    )
    query_rows: Annotated[int, Field(ge=10)] = Field(
        default=50_000, description="Rows that one query may return; below the endpoint's own cap."
    )
    scan_rows: Annotated[int, Field(ge=1)] = Field(
        default=100_000_000, description="Triples that an exact enumeration of the schema may read."
    )
    schema_seconds: Seconds = Field(default=10.0, description="Time for a first look at the schema.")
    schema_hours: Annotated[float, Field(gt=0, allow_inf_nan=False)] = Field(
        default=24.0, description="How long an enumerated schema is believed."
    )
    body_megabytes: Annotated[int, Field(ge=1)] = Field(
        default=64, description="Size of one answer, uncompressed, above which it is refused."
    )


class OrientationSettings(Section):
    """How the types and predicates of the graph become known."""

    vouched: bool = Field(
        default=False,
        description="Whether the operator vouches that the lists are complete although not every triple was read.",
    )
    glance_triples: Annotated[int, Field(ge=1)] = Field(
        default=200_000,
        description="Triples of a graph that is small enough to be read in full at the first look; of a larger one "
        "samples are read.",
    )
    patience_seconds: Annotated[float, Field(ge=0, allow_inf_nan=False)] = Field(
        default=1.0, description="How long the first calls wait for the whole schema; then they go on with a sample."
    )
    enumeration_seconds: Annotated[float, Field(ge=0, allow_inf_nan=False)] | None = Field(
        default=None,
        description="Time for reading a larger graph in full, in the background, while calls go on; 0: never. Absent: "
        "600 for a graph in this process or on the operator's own network, 0 for the endpoint of somebody else.",
    )


class SizeSettings(Section):
    """How large an answer to the model may be; a token counts as 4 bytes."""

    max_tokens: Annotated[int, Field(ge=200)] = Field(default=8_000, description="The usual limit of one answer.")
    ceiling_tokens: Annotated[int, Field(ge=200)] = Field(
        default=12_000, description="The most that the argument `max_tokens` may ask for."
    )
    evidence_text: Annotated[int, Field(ge=0)] = Field(
        default=60, description="Characters above which a text on an edge counts as a quote and is left out."
    )

    @model_validator(mode="after")
    def _below_the_ceiling(self) -> Self:
        if self.max_tokens > self.ceiling_tokens:
            raise ValueError(f"max_tokens = {self.max_tokens} is above ceiling_tokens = {self.ceiling_tokens}")
        return self


class ValueSettings(Section):
    """Values of nodes and of what is stated about edges."""

    wikibase: bool = Field(
        default=False,
        description="Whether the graph is a Wikibase: precisions of dates and units of quantities are read from its "
        "value nodes, by one more query for a batch of nodes or edges that have dates or quantities.",
    )


class SnapshotSettings(Section):
    """Whole answers kept for their pages."""

    megabytes: Annotated[int, Field(ge=1)] = Field(default=64, description="Memory for kept answers.")
    ttl_seconds: Seconds = Field(default=300.0, description="How long an answer is kept.")


class CacheSettings(Section):
    """What was read of single nodes and edges, kept for all calls."""

    megabytes: Annotated[int, Field(ge=0)] | None = Field(
        default=None,
        description="Memory for it; 0: nothing is kept. Absent: 64 for an endpoint, 0 for a graph in this process.",
    )
    ttl_seconds: Seconds = Field(
        default=300.0,
        description="How long it is believed. A graph in this process never changes, so there it has no end.",
    )


class ServerSettings(Section):
    """What clients may do."""

    explain: bool = Field(
        default=False,
        description="Whether the tools take `explain`, which shows what a call cost and the SPARQL that was sent.",
    )


class Profile(Section):
    """Everything an operator says about one graph."""

    extends: str = Field(
        default="",
        description="The profile that this one changes: the name of a built-in one, or a path from this file.",
    )
    description: str = Field(default="", description="What the graph is about, told as `graph_description`.")
    next_steps: str = Field(default="", description="Advice for this graph, put before the general `next_steps`.")
    prefixes: dict[str, str] = Field(default_factory=dict, description="Names of namespaces, for short IDs.")
    endpoint: EndpointSettings = EndpointSettings()
    edges: EdgeSettings = EdgeSettings()
    hubs: HubSettings = HubSettings()
    types: TypeSettings = TypeSettings()
    roles: RoleSettings = RoleSettings()
    evidence: EvidenceSettings = EvidenceSettings()
    names: NameSettings = NameSettings()
    values: ValueSettings = ValueSettings()
    search: SearchSettings = SearchSettings()
    limits: LimitSettings = LimitSettings()
    files: FileSettings = FileSettings()
    orientation: OrientationSettings = OrientationSettings()
    size: SizeSettings = SizeSettings()
    snapshots: SnapshotSettings = SnapshotSettings()
    cache: CacheSettings = CacheSettings()
    server: ServerSettings = ServerSettings()
