"""A subgraph as objects of NetworkX and rdflib."""

from __future__ import annotations

import io
import re
from typing import TYPE_CHECKING, Any

from rdflib import RDF, RDFS, BNode, Graph, Literal, URIRef

from gateway.escaping import json_text
from gateway.export.subgraph import Subgraph, SubgraphEdge, needs
from gateway.export.texts import edge_rows, node_rows, plain

if TYPE_CHECKING:
    import networkx as nx

_NOT_IN_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that no XML 1.0 document can hold (https://www.w3.org/TR/xml/, 2.2)."""

_EDGE_ATTRIBUTES = ("predicate_name", "predicate_iri", "evidence")


def to_networkx(subgraph: Subgraph) -> nx.MultiDiGraph[str]:
    """Return a subgraph as a directed graph with parallel edges.

    Nodes are IDs, with the columns of `rows` as attributes. The key of an edge is the ID of its predicate; its
    attributes are the predicate's name and IRI, and the evidence. The graph has `seeds`, `complete` and `notes`.

    Raises:
        ConfigurationError: networkx is not installed.
    """
    graph = _empty()
    graph.graph.update(seeds=list(subgraph.seeds), complete=subgraph.complete, notes=list(subgraph.notes))
    for row in node_rows(subgraph):
        graph.add_node(row.pop("id"), **row)
    for row in edge_rows(subgraph):
        attributes = {name: row[name] for name in _EDGE_ATTRIBUTES}
        graph.add_edge(row["subject"], row["object"], key=row["predicate"], **attributes)
    return graph


def graphml(subgraph: Subgraph) -> bytes:
    r"""Return a subgraph as GraphML: metadata and evidence are JSON, edges have their predicate as an attribute too.

    A character that XML cannot hold is written as `\uXXXX`.

    Raises:
        ConfigurationError: networkx is not installed.
    """
    graph = _empty()
    for row in node_rows(subgraph):
        graph.add_node(row.pop("id"), **_xml(plain(row)))
    for row in edge_rows(subgraph):
        values = _xml(plain({name: row[name] for name in ("predicate", *_EDGE_ATTRIBUTES)}))
        graph.add_edge(row["subject"], row["object"], key=row["predicate"], **values)
    graph.graph["complete"] = subgraph.complete
    graph.graph["notes"] = _xml_text("\n".join(subgraph.notes))
    file = io.BytesIO()
    _networkx().write_graphml_xml(graph, file)
    return file.getvalue()


def _empty() -> nx.MultiDiGraph[str]:
    graph: nx.MultiDiGraph[str] = _networkx().MultiDiGraph()
    return graph


def _networkx() -> Any:
    with needs("networkx", "export"):
        import networkx as nx  # noqa: PLC0415 - an extra

    return nx


def _xml(row: dict[str, Any]) -> dict[str, Any]:
    """Return a row as GraphML can hold it: an attribute that is absent is no empty text."""
    kept = {name: value for name, value in row.items() if value != ""}
    return {name: _xml_text(value) if isinstance(value, str) else value for name, value in kept.items()}


def _xml_text(text: str) -> str:
    return _NOT_IN_XML.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


_JSON = URIRef(f"{RDF}JSON")


def to_rdflib(subgraph: Subgraph) -> Graph:
    """Return a subgraph as triples: its edges, and the types (`rdf:type`) and names (`rdfs:label`) of its nodes.

    A walk of several predicates is no triple, and is left out. A node without a type, a name and an edge is an
    `rdfs:Resource`, or it would be absent. The evidence of an edge is one `rdf:Statement` about it (RDF 1.1 Semantics,
    Appendix D.1), with the evidence as JSON in its `rdf:value`. Other metadata of nodes is left out: its values have
    lost their datatypes.
    """
    graph = Graph(bind_namespaces="none")
    for name, namespace in {"rdf": str(RDF), "rdfs": str(RDFS), **subgraph.prefixes}.items():
        graph.bind(name, namespace)
    iris = {name_id: _term(iri) for name_id, iri in subgraph.iris.items() if name_id not in subgraph.walks}
    edges = [edge for edge in subgraph.edges if edge.predicate not in subgraph.walks]
    has_edge = {end for edge in edges for end in (edge.subject, edge.object)}
    for node in subgraph.nodes:
        types = [name_id for name_id in node.types if not name_id.startswith("(")]
        for name_id in types:
            graph.add((iris[node.id], RDF.type, iris[name_id]))
        if node.name:
            graph.add((iris[node.id], RDFS.label, Literal(node.name)))
        if not types and not node.name and node.id not in has_edge:
            graph.add((iris[node.id], RDF.type, RDFS.Resource))
    for edge in edges:
        triple = (iris[edge.subject], iris[edge.predicate], iris[edge.object])
        graph.add(triple)
        if edge.evidence is not None:
            _add_evidence(graph, triple, edge)
    return graph


def _term(iri: str) -> URIRef | BNode:
    return BNode(iri[2:]) if iri.startswith("_:") else URIRef(iri)


def _add_evidence(graph: Graph, triple: tuple[URIRef | BNode, ...], edge: SubgraphEdge) -> None:
    statement = BNode()
    graph.add((statement, RDF.type, RDF.Statement))
    for part, term in zip((RDF.subject, RDF.predicate, RDF.object), triple, strict=True):
        graph.add((statement, part, term))
    graph.add((statement, RDF.value, Literal(json_text(dict(edge.evidence or {})), datatype=_JSON)))
