"""Which triples are edges, as the templates take it."""

from __future__ import annotations

from dataclasses import dataclass

from gateway.graph.values import Iri
from gateway.settings.profile import NAMESPACE_MARK, Edges
from gateway.sparql.template import Parameter
from gateway.terms.vocabulary import EVIDENCE_MARKERS

_NAMESPACE_ENDS = ("/", "#", NAMESPACE_MARK)


@dataclass(frozen=True, slots=True)
class EdgeRule:
    """A profile's edge rule, as the templates take it.

    Attributes:
        excepted: Predicates that are no edges.
        allowed: Predicates that alone are edges; with `namespaces` empty too, every predicate is one.
        namespaces: Namespaces whose predicates alone are edges.
        objects: How the IRIs begin that alone are objects of edges; empty: any IRI is one.
        markers: Predicates that make their subject an evidence node.
    """

    excepted: tuple[Iri, ...]
    allowed: tuple[Iri, ...]
    namespaces: tuple[str, ...]
    objects: tuple[str, ...]
    markers: tuple[Iri, ...]

    @classmethod
    def of(cls, edges: Edges) -> EdgeRule:
        """Return the rule that a profile states."""
        return cls(
            excepted=tuple(dict.fromkeys((*edges.types, *edges.excepted, *edges.also_excepted, *edges.redirects))),
            allowed=tuple(entry for entry in edges.allowed if not entry.endswith(_NAMESPACE_ENDS)),
            namespaces=tuple(
                entry.removesuffix(NAMESPACE_MARK) for entry in edges.allowed if entry.endswith(_NAMESPACE_ENDS)
            ),
            objects=edges.objects,
            markers=EVIDENCE_MARKERS if edges.evidence_nodes else (),
        )

    def allows(self, predicate: Iri) -> bool:
        """Tell whether the rule's allow-list, if there is one, has the predicate."""
        if not (self.allowed or self.namespaces):
            return True
        return predicate in self.allowed or predicate.startswith(self.namespaces)

    @property
    def ends(self) -> dict[str, Parameter]:
        """What may stand at the end of an edge, as template parameters."""
        return {"any_object": not self.objects, "objects": self.objects}

    @property
    def predicates(self) -> dict[str, Parameter]:
        """The allow-list of predicates, as template parameters."""
        return {
            "any_predicate": not (self.allowed or self.namespaces),
            "allowed": self.allowed,
            "namespaces": self.namespaces,
        }

    @property
    def parameters(self) -> dict[str, Parameter]:
        """The rule as template parameters."""
        return {"excepted": self.excepted, "markers": self.markers, **self.predicates, **self.ends}
