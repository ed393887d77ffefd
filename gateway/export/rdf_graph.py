"""A subgraph as triples, as an object of rdflib."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from rdflib import RDF, RDFS, BNode, Graph, Literal, URIRef

from gateway.escaping import json_text
from gateway.export.subgraph import Subgraph, SubgraphEdge
from gateway.terms.literals import Literal as TypedLiteral

_NAMESPACE = "urn:x-bfsql:"

DISPLAY_NAME = URIRef(f"{_NAMESPACE}name")
"""The name that answers show. Which predicate it was read by, and in which language, is not known any more, so that
`rdfs:label` would be a triple that the graph does not have."""

_JSON = URIRef(f"{RDF}JSON")
_LANGUAGE = re.compile(r"[a-zA-Z]+(-[a-zA-Z0-9]+)*")
"""The tags that rdflib takes."""


def to_rdflib(subgraph: Subgraph) -> Graph:
    """Return a subgraph as triples: its edges, and the types (`rdf:type`) and names (`DISPLAY_NAME`) of its nodes.

    A walk of several predicates is no triple, and is left out. What class expressions say of classes is stated about,
    and not asserted. A node without a type, a name and an edge is in no triple, so it is absent. The evidence of an
    edge is one `rdf:Statement` about it (RDF 1.1 Semantics, Appendix D.1), with the evidence as JSON in its
    `rdf:value`. Values that were asked for by single predicates are triples with their datatypes and languages. Other
    metadata of nodes is left out: its values have lost these.
    """
    graph = Graph(bind_namespaces="none")
    own = {"rdf": str(RDF), "rdfs": str(RDFS), "bfsql": _NAMESPACE}
    for name, namespace in {**own, **subgraph.prefixes}.items():
        graph.bind(name, namespace)
    iris = {name_id: _term(iri) for name_id, iri in subgraph.iris.items() if name_id not in subgraph.walks}
    edges = [edge for edge in subgraph.edges if edge.predicate not in subgraph.walks]
    stated = [edge for edge in edges if not _is_of_expressions(edge.evidence)]
    for node in subgraph.nodes:
        for name_id in node.types:
            if not name_id.startswith("("):
                graph.add((iris[node.id], RDF.type, iris[name_id]))
        if node.name:
            graph.add((iris[node.id], DISPLAY_NAME, Literal(node.name)))
    for edge in stated:
        graph.add((iris[edge.subject], iris[edge.predicate], iris[edge.object]))
    for subject, predicate, value in subgraph.triples:
        graph.add((_term(subject), URIRef(predicate), _term(value) if isinstance(value, str) else _literal(value)))
    for edge in edges:
        triple = (iris[edge.subject], iris[edge.predicate], iris[edge.object])
        if edge.evidence is not None:
            _add_evidence(graph, triple, edge)
    return graph


def _is_of_expressions(evidence: Mapping[str, Any] | None) -> bool:
    """Return whether class expressions alone say an edge: of members of a class, or of one of several classes."""
    assertions = [] if evidence is None else evidence.get("assertions", [evidence])
    are_uncertain = [not {"restriction", "one of"}.isdisjoint(one) for one in assertions]
    is_certain = any("stated" in one or "position" in one or one.keys() == {"of"} for one in assertions)
    return any(are_uncertain) and not is_certain


def _term(iri: str) -> URIRef | BNode:
    return BNode(iri[2:]) if iri.startswith("_:") else URIRef(iri)


def _literal(value: TypedLiteral) -> Literal:
    if value.language and _LANGUAGE.fullmatch(value.language):
        return Literal(value.value, lang=value.language)
    # As the graph has it: 1.50 is no 1.5.
    return Literal(value.value, datatype=URIRef(value.datatype) if value.datatype else None, normalize=False)


def _add_evidence(graph: Graph, triple: tuple[URIRef | BNode, ...], edge: SubgraphEdge) -> None:
    statement = BNode()
    graph.add((statement, RDF.type, RDF.Statement))
    for part, term in zip((RDF.subject, RDF.predicate, RDF.object), triple, strict=True):
        graph.add((statement, part, term))
    graph.add((statement, RDF.value, Literal(json_text(dict(edge.evidence or {})), datatype=_JSON)))
