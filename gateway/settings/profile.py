"""The typed shape of a profile. `docs/profiles.md` lists every setting; a test keeps the two together."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from gateway.terms.vocabulary import (
    DESCRIPTION_PREDICATES,
    NAME_PREDICATES,
    NO_EDGES,
    RDF_TYPE,
    SYNONYM_PREDICATES,
)

Iris = tuple[str, ...]

Seconds = Annotated[float, Field(gt=0, allow_inf_nan=False)]

NAMESPACE_MARK = "*"
"""Ends an entry of `edges.allowed` that means every predicate of a namespace."""


class _Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class Endpoint(_Section):
    """Where the graph is asked, and how that server wants to be asked."""

    url: str = Field(default="", description="The SPARQL query endpoint; `--endpoint` wins over it.")
    timeout_parameter: str = Field(
        default="",
        description="Form parameter that tells the server how many seconds are left; empty: none is sent.",
    )
    concurrency: Annotated[int, Field(ge=1, le=32)] = Field(
        default=4, description="Requests in flight at once, for the whole process."
    )
    delay_seconds: Annotated[float, Field(ge=0, le=60)] = Field(
        default=0.0, description="Time between the starts of two requests at least; for endpoints that ask for it."
    )
    retries: Annotated[int, Field(ge=0, le=10)] = Field(
        default=2, description="How often a query is sent again after a fault that may pass, with growing pauses."
    )
    failures_before_rest: Annotated[int, Field(ge=1)] = Field(
        default=5,
        description="Failures in a row after which a harmless query decides whether the endpoint is asked any more.",
    )
    rest_seconds: Seconds = Field(default=15.0, description="How long an endpoint that is down is left alone.")
    trusted: bool = Field(
        default=True,
        description="Whether what the endpoint sends as a whole answer is one. `false` for an endpoint that cuts "
        "answers without a sign: no traversal then says `complete: true`.",
    )
    graphs: Literal["default", "union"] | tuple[str, ...] = Field(
        default="default",
        description="`default`, `union` of all named graphs, or the IRIs of the named graphs that together are the "
        "graph; sent as `default-graph-uri`.",
    )
    union_graph: str = Field(
        default="urn:x-arq:UnionGraph", description="What the engine calls the union of all named graphs; Jena's name."
    )


class Edges(_Section):
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
    evidence_nodes: bool = Field(
        default=True,
        description="Whether nodes that state evidence (`rdf:reifies`, `rdf:subject`) may stand in the graph; "
        "their triples are then kept out of the edges.",
    )


class Hubs(_Section):
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


class Types(_Section):
    """Which of several types a node shows."""

    preferred: Iris = Field(default=(), description="Types that win over others, the strongest first.")


class Roles(_Section):
    """Which predicates mean what: IRIs, or bare local names, which match any namespace."""

    name: Iris = Field(default=NAME_PREDICATES, description="The display name; the first that a node has wins.")
    synonym: Iris = Field(default=SYNONYM_PREDICATES, description="Further names.")
    description: Iris = Field(default=DESCRIPTION_PREDICATES, description="A sentence or two about the node.")
    mentions: Iris = Field(
        default=("totalMentions", "mentions"),
        description="How often the node is mentioned: `total_mentions`.",
    )
    confidence: Iris = Field(
        default=("confidence", "score", "weight"), description="How sure the source is: `confidence`."
    )
    source: Iris = Field(
        default=("source", "wasDerivedFrom", "publications"),
        description="Which document says so: `source_documents`.",
    )
    source_id: str = Field(
        default="",
        description="Turns a source literal into the ID of its node, for example `paper:{value}`.",
    )

    @field_validator("name", "synonym", "description")
    @classmethod
    def _whole_iris(cls, value: Iris) -> Iris:
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


class Names(_Section):
    """Names of nodes, and their languages."""

    languages: tuple[str, ...] = Field(
        default=(), description="Preferred language tags, the best first; then untagged, `mul`, `en`, any."
    )
    on_stubs: bool = Field(
        default=False, description="Whether stubs carry `name`: for graphs with opaque IDs (`name_stubs`)."
    )

    predicate_entity: str = Field(
        default="",
        description="The predicate from a property's entity to the predicate itself (Wikidata: "
        "`wikibase:directClaim`), so that predicates have labels.",
    )

    @field_validator("languages")
    @classmethod
    def _lower_case(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(tag.lower() for tag in value)


class Limits(_Section):
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
        default=2_000_000, description="Triples that an exact enumeration of the schema may read."
    )
    schema_seconds: Seconds = Field(default=10.0, description="Time for the enumeration of the schema.")
    schema_hours: Annotated[float, Field(gt=0, allow_inf_nan=False)] = Field(
        default=24.0, description="How long an enumerated schema is believed."
    )
    body_megabytes: Annotated[int, Field(ge=1)] = Field(
        default=64, description="Size of one answer, uncompressed, above which it is refused."
    )


class Size(_Section):
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


class Snapshots(_Section):
    """Whole answers kept for their pages."""

    megabytes: Annotated[int, Field(ge=1)] = Field(default=64, description="Memory for kept answers.")
    ttl_seconds: Seconds = Field(default=300.0, description="How long an answer is kept.")


class Profile(_Section):
    """Everything an operator says about one graph."""

    description: str = Field(default="", description="What the graph is about, told as `graph_description`.")
    next_steps: str = Field(default="", description="Advice for this graph, put before the general `next_steps`.")
    prefixes: dict[str, str] = Field(default_factory=dict, description="Names of namespaces, for short IDs.")
    endpoint: Endpoint = Endpoint()
    edges: Edges = Edges()
    hubs: Hubs = Hubs()
    types: Types = Types()
    roles: Roles = Roles()
    names: Names = Names()
    limits: Limits = Limits()
    size: Size = Size()
    snapshots: Snapshots = Snapshots()
