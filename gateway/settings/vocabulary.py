"""The sections of a profile about what terms of a graph mean."""

from __future__ import annotations

from typing import Annotated, Any, Literal, get_args

from pydantic import BeforeValidator, Field, field_validator

from gateway.settings.section import Iris, Section, Words
from gateway.terms.iri import (
    DESCRIPTION_PREDICATES,
    NAME_PREDICATES,
    NO_EDGES,
    RDF_TYPE,
    REIFICATION,
    SUBCLASS_OF,
    SYNONYM_PREDICATES,
    is_iri,
)

NAMESPACE_MARK = "*"
"""Ends an entry of `edges.allowed` that means every predicate of a namespace."""

NAMESPACE_ENDS = ("/", "#", NAMESPACE_MARK)
"""What an entry of `edges.allowed` ends in that means a namespace."""


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

    @property
    def excluded(self) -> tuple[str, ...]:
        """The predicates that are no edges, whatever the allow-list says."""
        return tuple(dict.fromkeys((*self.types, *self.excepted, *self.also_excepted, *self.redirects)))

    @property
    def shown(self) -> tuple[str, ...]:
        """The predicates that are no edges and whose values are shown, though they may be nodes."""
        listed = (*self.also_excepted, *self.redirects, *self.excepted)
        return tuple(predicate for predicate in listed if predicate not in REIFICATION)

    @property
    def allowed_predicates(self) -> tuple[str, ...]:
        """The predicates that the allow-list names one by one."""
        return tuple(entry for entry in self.allowed if not entry.endswith(NAMESPACE_ENDS))

    @property
    def allowed_namespaces(self) -> tuple[str, ...]:
        """How the other predicates begin that the allow-list allows."""
        return tuple(entry.removesuffix(NAMESPACE_MARK) for entry in self.allowed if entry.endswith(NAMESPACE_ENDS))

    def allows(self, predicate: str) -> bool:
        """Return whether a triple with this predicate may be an edge."""
        if predicate in self.excluded:
            return False
        return not self.allowed or predicate in self.allowed_predicates or predicate.startswith(self.allowed_namespaces)


EvidenceWay = Literal[
    "annotations",
    "statements",
    "axioms",
    "wikibase",
    "singleton_properties",
    "oban",
    "biolink",
    "named_graphs",
    "nanopublications",
]


def _known(ways: Any) -> Any:
    """Say in one sentence what is wrong, where pydantic would list each alternative."""
    if ways in ("auto", "refused"):
        return ways
    known = get_args(EvidenceWay)
    if not isinstance(ways, list | tuple) or not set(map(str, ways)) <= set(known):
        raise ValueError(f'it must be "auto", "refused" or a list of {", ".join(known)}')
    return tuple(ways)


class EvidenceSettings(Section):
    """How the graph states something about an edge."""

    ways: Annotated[Literal["auto", "refused"] | tuple[EvidenceWay, ...], BeforeValidator(_known)] = Field(
        default="auto",
        description=(
            "The ways that are read. `auto` detects with one query which of them the graph uses, and repeats that "
            "after 5 minutes. `named_graphs` and `nanopublications` are detected only if `endpoint.graphs` is "
            "`union` or lists two graphs or more. `refused` reads none, because the endpoint refuses the queries that "
            "it takes (`check` finds that out), and answers and `describe_schema` warn of it; it needs "
            "`edges.evidence_nodes = false`."
        ),
    )

    @property
    def read(self) -> tuple[EvidenceWay, ...] | None:
        """The ways that are read; None where those in use are detected."""
        if self.ways == "auto":
            return None
        return () if self.ways == "refused" else self.ways


class TypeSettings(Section):
    """Which of several types a node shows."""

    preferred: Iris = Field(
        default=(),
        description=(
            "Types that are shown before others, the strongest first. After them `types.shown` decides, then the first "
            "by ID."
        ),
    )
    shown: Literal["rarest", "commonest"] = Field(
        default="rarest",
        description=(
            "Whether the rarest or the commonest of several types is shown, where the nodes of each type were counted. "
            "`commonest` suits graphs that give a node types which few others have."
        ),
    )
    subclass_of: Iris = Field(
        default=(),
        description=(
            "Predicates from a class to its superclass, such as `wdt:P279`. Filters by type include the subclasses of "
            "a type; where this is not set, those by `rdfs:subClassOf`. If set, a node does not show a type that is a "
            "superclass of another of its types."
        ),
    )

    @property
    def narrowed_by(self) -> tuple[str, ...]:
        """The predicates by which filters include the subclasses of a type."""
        return tuple(self.subclass_of) or (SUBCLASS_OF,)


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
        description=(
            "Marks an assertion that the edge does **not** hold, by `true`, 1 or `yes`. Shown as `negated: true` "
            "and in a warning."
        ),
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
                raise ValueError(f"{entry!r} is neither an IRI nor a CURIE; this role takes no bare local names")
        return value

    @field_validator("source_id")
    @classmethod
    def _has_place(cls, value: str) -> str:
        if value and "{value}" not in value:
            raise ValueError("it must contain {value} where the literal goes")
        return value


class NameSettings(Section):
    """Names of nodes, and their languages."""

    languages: tuple[str, ...] = Field(
        default=(),
        description="Preferred languages, the best first; before them the `language` of a call. After them: untagged, "
        "`mul`, `en`, then the language in which most names of a sample are.",
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


class NodeSettings(Section):
    """Which terms are nodes."""

    blank: Literal["on", "off"] = Field(
        default="on",
        description=(
            "Whether [blank nodes](contract.md#blank-nodes-and-lists) are nodes, in files and in what `load` writes. "
            "`off`: for graphs in which they are noise; their edges are then left out and counted, and answers that "
            "leave some out are not complete. In a Wikibase (`values.wikibase`) they are unknown values."
        ),
    )


class ValueSettings(Section):
    """Values of nodes and of what is stated about edges."""

    wikibase: bool = Field(
        default=False,
        description=(
            "Whether the graph is a Wikibase. Precisions of dates and units of quantities are then read from its "
            "value nodes, with one more query per batch of nodes or edges that have dates or decimals."
        ),
    )


VALUE_MARK = "$1"
"""Where the value goes in a formatter, as Wikidata writes it (https://www.wikidata.org/wiki/Property:P1921)."""


class IdentitySettings(Section):
    """Which predicates say by which IRIs other graphs know a node."""

    same_as: Iris = Field(
        default=(),
        description=(
            "Predicates between two IRIs of one thing, such as `owl:sameAs` and `skos:exactMatch`, read in both "
            "directions."
        ),
    )
    formatters: dict[str, str] = Field(
        default_factory=dict,
        description=(
            'Predicates whose values are identifiers, each with the IRI that they are part of: `"wdt:P352" = '
            '"http://purl.uniprot.org/uniprot/$1"`.'
        ),
    )

    @field_validator("formatters")
    @classmethod
    def _have_places(cls, value: dict[str, str]) -> dict[str, str]:
        for predicate, formatter in value.items():
            if ":" not in predicate:
                raise ValueError(f"{predicate!r} is neither an IRI nor a CURIE")
            if formatter.count(VALUE_MARK) != 1 or not is_iri(formatter.replace(VALUE_MARK, "1")):
                raise ValueError(f"the formatter of {predicate!r} must be an IRI with one {VALUE_MARK} for the value")
        return value

    @property
    def predicates(self) -> tuple[str, ...]:
        """All predicates that are read; none where a node's IRIs in other graphs are not known."""
        return tuple(dict.fromkeys((*self.same_as, *self.formatters)))
