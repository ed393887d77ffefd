"""The sections of a profile about edges, and about nodes with too many of them."""

from __future__ import annotations

from typing import Annotated, Self

from pydantic import Field, model_validator

from gateway.settings.section import Iris, Section
from gateway.terms.known_iris import NO_EDGES, RDF_TYPE

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
