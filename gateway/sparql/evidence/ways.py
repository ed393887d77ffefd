"""The ways of stating something about an edge: the template that reads each, and its parameters."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from gateway.graph.values import Iri
from gateway.settings.vocabulary import EvidenceWay
from gateway.sparql.template import Parameter
from gateway.terms.known_iris import (
    BIOLINK,
    OBAN,
    RDF,
    RDF_OBJECT,
    RDF_PREDICATE,
    RDF_SUBJECT,
    REIFICATION,
)


@dataclass(frozen=True, slots=True)
class Way:
    """One way of stating something about an edge.

    Attributes:
        template: The template that reads it.
        parameters: What the template takes beside the edges and the graphs.
        over_graphs: Whether it looks into named graphs.
        is_wikibase: Whether its values are those of Wikibase, where a blank node means "not known".
        names_sources: Whether its nodes are documents, each the source of what it states.
    """

    template: str
    parameters: Mapping[str, Parameter] = field(default_factory=dict)
    over_graphs: bool = False
    is_wikibase: bool = False
    names_sources: bool = False


_OBAN = tuple(f"{OBAN}association_has_{name}" for name in ("subject", "predicate", "object_property", "object"))
_BIOLINK = tuple(f"{BIOLINK}{name}" for name in ("subject", "predicate", "object"))


def _reified(subject: Iri, predicates: tuple[Iri, ...], target: Iri, stated_by: tuple[Iri, ...] = ()) -> Way:
    """Return a way by nodes that name the three terms of their triple.

    Args:
        subject: The predicate to the triple's subject.
        predicates: Those to its predicate.
        target: The predicate to its object.
        stated_by: Predicates to its subject by which another way returns such a node.
    """
    return Way(
        "evidence/reified",
        {
            "subject": subject,
            "predicates": predicates,
            "object": target,
            # One node may name its triple in two vocabularies.
            "unsaid": (*REIFICATION, *_OBAN, *_BIOLINK),
            "stated_by": stated_by,
        },
    )


WAYS: Mapping[EvidenceWay, Way] = {
    "annotations": Way("evidence/annotations", {"stated_by": (RDF_SUBJECT,)}),
    "statements": _reified(RDF_SUBJECT, (RDF_PREDICATE,), RDF_OBJECT),
    "wikibase": Way("evidence/wikibase", is_wikibase=True),
    "singleton_properties": Way("evidence/singletons"),
    "oban": _reified(_OBAN[0], _OBAN[1:3], _OBAN[3], stated_by=(RDF_SUBJECT,)),
    "biolink": _reified(_BIOLINK[0], _BIOLINK[1:2], _BIOLINK[2], stated_by=(RDF_SUBJECT,)),
    "named_graphs": Way("evidence/graphs", over_graphs=True),
    "nanopublications": Way("evidence/nanopublications", over_graphs=True, names_sources=True),
}
"""In the order in which they are asked."""

SAYING_NOTHING = frozenset(
    {f"{RDF}Statement", f"{RDF}SingletonProperty", f"{OBAN}association", f"{BIOLINK}Association"}
)
"""Types of evidence nodes that say no more than that they are such nodes."""
