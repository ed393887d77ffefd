"""A subgraph as triples."""

from __future__ import annotations

from rdflib import RDF, RDFS, BNode, Graph, Literal, URIRef

from gateway.escaping import json_text
from gateway.export.subgraph import Subgraph, SubgraphEdge

_JSON = URIRef(f"{RDF}JSON")


def to_rdflib(subgraph: Subgraph) -> Graph:
    """Return a subgraph as triples: its edges, and the types (`rdf:type`) and names (`rdfs:label`) of its nodes.

    A node without a type, a name and an edge is an `rdfs:Resource`, or it would be absent. The evidence of an edge is
    one `rdf:Statement` about it (RDF 1.1 Semantics, Appendix D.1), with the evidence as JSON in its `rdf:value`. Other
    metadata of nodes is left out: its values have lost their datatypes.
    """
    graph = Graph(bind_namespaces="none")
    for name, namespace in {"rdf": str(RDF), "rdfs": str(RDFS), **subgraph.prefixes}.items():
        graph.bind(name, namespace)
    iris = {name_id: URIRef(iri) for name_id, iri in subgraph.iris.items()}
    has_edge = {end for edge in subgraph.edges for end in (edge.subject, edge.object)}
    for node in subgraph.nodes:
        for name_id in node.types:
            graph.add((iris[node.id], RDF.type, iris[name_id]))
        if node.name:
            graph.add((iris[node.id], RDFS.label, Literal(node.name)))
        if not node.types and not node.name and node.id not in has_edge:
            graph.add((iris[node.id], RDF.type, RDFS.Resource))
    for edge in subgraph.edges:
        triple = (iris[edge.subject], iris[edge.predicate], iris[edge.object])
        graph.add(triple)
        if edge.evidence is not None:
            _add_evidence(graph, triple, edge)
    return graph


def _add_evidence(graph: Graph, triple: tuple[URIRef, URIRef, URIRef], edge: SubgraphEdge) -> None:
    statement = BNode()
    graph.add((statement, RDF.type, RDF.Statement))
    for part, term in zip((RDF.subject, RDF.predicate, RDF.object), triple, strict=True):
        graph.add((statement, part, term))
    graph.add((statement, RDF.value, Literal(json_text(dict(edge.evidence or {})), datatype=_JSON)))
