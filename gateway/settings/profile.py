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

    types: Iris = Field(default=(RDF_TYPE,), description="Predicates that give a node its types. They are not edges.")
    excepted: Iris = Field(
        default=NO_EDGES,
        description=(
            "Predicates that are not edges, beside the type predicates. Your list replaces the default. Their values "
            "are shown as metadata of the node, except those of the reification predicates."
        ),
    )
    also_excepted: Iris = Field(
        default=(),
        description="Further predicates that are not edges. Their values are shown as metadata of the node.",
    )
    allowed: Iris = Field(
        default=(),
        description=(
            "If set, only these predicates are edges. A prefix alone (`wdt:`), or an IRI that ends in `/`, `#` or "
            "`*`, allows every predicate that begins with it."
        ),
    )
    objects: Iris = Field(
        default=(),
        description=(
            "If set, only triples whose object's IRI begins with one of these are edges (`wd:Q`). Other values of an "
            "allowed predicate are shown as metadata of the node."
        ),
    )
    redirects: Iris = Field(
        default=(),
        description=(
            "Predicates from a merged node to the node it was merged into (Wikidata: `owl:sameAs`). A traversal "
            "follows those of its seeds, up to five in a row. Of several targets it follows the first by IRI."
        ),
    )
    evidence_nodes: bool = Field(
        default=True,
        description=(
            "Whether the graph may have evidence nodes (subjects of `rdf:reifies` or `rdf:subject`, singleton "
            "properties, associations). Their triples are then excluded from the edges, at a cost: [decision "
            "0006](decisions/0006-evidence-nodes-are-kept-out-in-the-query.md), "
            "[0013](decisions/0013-what-is-evidence-and-what-is-a-node.md)."
        ),
    )


class HubSettings(Section):
    """Nodes with very many edges."""

    max_degree: Annotated[int, Field(ge=1)] | None = Field(
        default=None,
        description=(
            "A node with more edges is shown and not expanded, unless it is a seed. Absent: every node is expanded. "
            "The argument `max_degree` overrides it."
        ),
    )
    max_degree_ceiling: Annotated[int, Field(ge=1)] | None = Field(
        default=None,
        description=(
            "Upper limit for the argument `max_degree`. A call that asks for more gets the ceiling and a warning."
        ),
    )
    max_edges_per_node: Annotated[int, Field(ge=1)] | None = Field(
        default=None,
        description=(
            "Edges shown of an expanded node. Which ones is stable within one snapshot only. Absent: all. The "
            "argument `max_edges_per_node` overrides it."
        ),
    )
    max_edges_ceiling: Annotated[int, Field(ge=1)] | None = Field(
        default=None, description="Upper limit for the argument `max_edges_per_node`."
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

    preferred: Iris = Field(
        default=(),
        description=(
            "Types that are shown before others, the strongest first. After them the rarest type is shown, then the "
            "first by ID."
        ),
    )
    subclass_of: Iris = Field(
        default=(),
        description=(
            "Predicates from a class to its superclass, such as `rdfs:subClassOf` or `wdt:P279`. If set, `node_types`"
            " and `exclude_node_types` include the subclasses of a type."
        ),
    )


class RoleSettings(Section):
    """Which predicates mean what: IRIs, or bare local names, which match any namespace."""

    name: Words = Field(
        default=NAME_PREDICATES,
        description="The display name. The first predicate that a node has is used; the others are synonyms.",
    )
    synonym: Words = Field(default=SYNONYM_PREDICATES, description="Further names. They are searched too.")
    description: Words = Field(default=DESCRIPTION_PREDICATES, description="A sentence or two about the node.")
    mentions: Words = Field(
        default=("totalMentions", "mentions"),
        description="How often the node is mentioned: `total_mentions`.",
    )
    confidence: Words = Field(
        default=("confidence", "score", "weight"),
        description="How sure the source is: `confidence`. Under a bare local name only numbers from 0 to 1 count.",
    )
    source: Words = Field(
        default=("source", "wasDerivedFrom", "hadPrimarySource", "publications"),
        description="The document that says so: `source_documents`. Also read from the references of a statement.",
    )
    negated: Words = Field(
        default=("negated",),
        description="Marks an assertion that the edge does **not** hold. Shown as `negated: true` and in a warning.",
    )
    source_id: str = Field(
        default="",
        description=(
            "Turns a source literal into the ID of its node: with `paper:{value}`, the source `P8` becomes `paper:P8`."
        ),
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
        default=(),
        description="Preferred languages, the best first. After them: untagged, `mul`, `en`, then the first tag.",
    )
    on_stubs: bool = Field(
        default=False,
        description="Whether stubs include `name` and answers include `labels`. For graphs with opaque IDs.",
    )

    predicate_entity: Iris = Field(
        default=(),
        description=(
            "Predicates from the entity of a property to the predicates it stands for (Wikidata: "
            "`wikibase:directClaim` and others), so that these have labels."
        ),
    )

    @field_validator("languages")
    @classmethod
    def _lower_case(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(tag.lower() for tag in value)


class SearchSettings(Section):
    """How names are searched."""

    index: Literal["auto", "none", "fuseki", "virtuoso", "blazegraph"] = Field(
        default="auto",
        description=(
            "The endpoint's text index. `auto`: that of Fuseki, Virtuoso or Blazegraph, if one is found and the graph"
            " has more than 100,000 names; in smaller graphs all names are compared. A named index is used for every "
            "graph. `none`: no index."
        ),
    )
    scan_triples: Annotated[int, Field(ge=0)] = Field(
        default=2_000_000,
        description=(
            "Largest number of names and synonyms for which all are compared. A graph in this process is always "
            "compared in full."
        ),
    )
    api: Annotated[str, Unquoted()] = Field(
        default="",
        description=(
            "The `api.php` of the Wikibase whose entities the endpoint has (`https://www.wikidata.org/w/api.php`). "
            "Names are then searched there, and `index` and `scan_triples` have no effect. Ignored if a graph file is"
            " given."
        ),
    )
    api_language: str = Field(
        default="",
        description=(
            "Language of these searches; the wiki falls back to others. Empty: the first of `names.languages` except "
            "`mul`, else `en`."
        ),
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


class LimitSettings(Section):
    """The budget of one tool call, and the size of one query."""

    deadline_seconds: Seconds = Field(
        default=30.0,
        description=(
            "Time for one tool call. A traversal reserves 15 % of it for filters, metadata and writing the answer."
        ),
    )
    requests: Annotated[int, Field(ge=1)] = Field(default=200, description="Queries per tool call.")
    rows: Annotated[int, Field(ge=1)] = Field(default=500_000, description="Rows read per tool call.")
    nodes: Annotated[int, Field(ge=1)] = Field(default=200_000, description="Nodes reached per traversal.")
    batch: Annotated[int, Field(ge=1, le=1000)] = Field(
        default=100, description="Nodes in one expansion query. The optimum is at 100 to 250."
    )
    facts_batch: Annotated[int, Field(ge=1, le=1000)] = Field(
        default=500, description="Nodes in one query for types, names and literals."
    )
    query_rows: Annotated[int, Field(ge=10)] = Field(
        default=50_000,
        description=(
            "Rows per query. It must be below the endpoint's own row cap: a cut at exactly that cap cannot be seen "
            "otherwise."
        ),
    )
    scan_rows: Annotated[int, Field(ge=1)] = Field(
        default=100_000_000,
        description="Triples read to enumerate the schema. The schema of a larger graph is not `comprehensive`.",
    )
    schema_seconds: Seconds = Field(default=10.0, description="Time for the first look at the schema.")
    schema_hours: Annotated[float, Field(gt=0, allow_inf_nan=False)] = Field(
        default=24.0, description="How long an enumerated schema is used before it is read again."
    )
    body_megabytes: Annotated[int, Field(ge=1)] = Field(
        default=64, description="Largest response accepted from the endpoint, uncompressed."
    )


class OrientationSettings(Section):
    """How the types and predicates of the graph become known."""

    vouched: bool = Field(
        default=False,
        description=(
            "Set to `true` if you know that the lists are complete although not every triple was read. It does not "
            "apply to lists that are known to lack terms, and it ends when a traversal meets a term that is missing."
        ),
    )
    glance_triples: Annotated[int, Field(ge=1)] = Field(
        default=200_000,
        description="Graphs up to this size are read in full at the first look. For files the default is 1,000,000.",
    )
    patience_seconds: Annotated[float, Field(ge=0, allow_inf_nan=False)] = Field(
        default=1.0,
        description="How long the first calls wait for the whole schema before they continue with a sample.",
    )
    enumeration_seconds: Annotated[float, Field(ge=0, allow_inf_nan=False)] | None = Field(
        default=None,
        description=(
            "Time for reading a larger graph in full, in the background; `0`: never. Absent: 600 for files and for an"
            " endpoint on your own network (a private address, a name without a domain), else 0; also 0 for an "
            "endpoint that is asked one query at a time or counts query time."
        ),
    )


class SizeSettings(Section):
    """How large an answer to the model may be; a token counts as 4 bytes."""

    max_tokens: Annotated[int, Field(ge=200)] = Field(
        default=8_000, description="Default size limit of an answer. A token counts as 4 bytes."
    )
    ceiling_tokens: Annotated[int, Field(ge=200)] = Field(
        default=12_000, description="Upper limit for the argument `max_tokens`. Some clients cut at 50,000 characters."
    )
    evidence_text: Annotated[int, Field(ge=0)] = Field(
        default=60,
        description="A longer text on an edge, in characters, is left out as a quote and counted in `omitted_texts`.",
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
        description=(
            "Whether the graph is a Wikibase. Precisions of dates and units of quantities are then read from its "
            "value nodes, with one more query per batch of nodes or edges that have dates or decimals."
        ),
    )


class SnapshotSettings(Section):
    """Whole answers kept for their pages."""

    megabytes: Annotated[int, Field(ge=1)] = Field(default=64, description="Memory for stored answers.")
    ttl_seconds: Seconds = Field(default=300.0, description="How long an answer is stored.")


class CacheSettings(Section):
    """What was read of single nodes and edges, kept for all calls."""

    megabytes: Annotated[int, Field(ge=0)] | None = Field(
        default=None,
        description=(
            "Memory for the cache, shared by all calls; `0`: no cache. Absent: 64 for an endpoint, 0 for a graph in "
            "this process."
        ),
    )
    ttl_seconds: Seconds = Field(
        default=300.0,
        description=(
            "How long an entry is used: [what that means](limits.md#what-no-gateway-can-know). A graph in this "
            "process never changes, so its entries do not expire."
        ),
    )


class ServerSettings(Section):
    """What clients may do."""

    explain: bool = Field(
        default=False,
        description=(
            "Whether the tools accept `explain`, which shows [the cost of a "
            "call](tools.md#explain-the-cost-of-a-call) and the SPARQL that was sent."
        ),
    )


class Profile(Section):
    """Everything an operator says about one graph."""

    extends: str = Field(
        default="",
        description=(
            "The profile that this one changes: the name of a built-in profile, or a path relative to this file."
        ),
    )
    description: str = Field(
        default="",
        description="What the graph is about, shown as `graph_description`. Empty: a sentence made from the counts.",
    )
    next_steps: str = Field(default="", description="Advice for this graph, shown before the general `next_steps`.")
    prefixes: dict[str, str] = Field(default_factory=dict, description="Prefixes of namespaces, for short IDs.")
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
