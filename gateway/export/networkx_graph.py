"""A subgraph as a graph of NetworkX, and as GraphML."""

from __future__ import annotations

import io
import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from gateway.export.conversions import (
    by_title,
    edge_rows,
    evidence_titles,
    metadata_titles,
    node_rows,
    plain,
    predicate_name,
)
from gateway.export.subgraph import Subgraph, SubgraphNode, needs

if TYPE_CHECKING:
    import networkx as nx

_NOT_IN_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that no XML 1.0 document can hold (https://www.w3.org/TR/xml/, 2.2)."""

_EDGE_ATTRIBUTES = ("predicate_name", "predicate_iri", "evidence")


def to_networkx(subgraph: Subgraph) -> nx.MultiDiGraph[str]:
    """Return a subgraph as a directed graph with parallel edges.

    Nodes are IDs, with the columns of `rows` and each kind of metadata as attributes. The key of an edge is the ID of
    its predicate; its attributes are the predicate's name and IRI, and the evidence, whole and by kind. The graph has
    `seeds`, `complete` and `notes`. Where paths of an intersection were asked for, their steps are in the graph too:
    nodes and edges that are no others of the subgraph have the attribute `on_the_way`.

    Raises:
        ConfigurationError: networkx is not installed.
    """
    graph = _empty()
    graph.graph.update(seeds=list(subgraph.seeds), complete=subgraph.complete, notes=list(subgraph.notes))
    # Not as keywords: networkx has some of its own, and a graph may have predicates of these names.
    titles = metadata_titles(subgraph)
    for row, node in zip(node_rows(subgraph), subgraph.nodes, strict=True):
        graph.add_node(row.pop("id"))
        graph.nodes[node.id].update(row | by_title(node.metadata, titles))
    titles = evidence_titles(subgraph)
    for row, edge in zip(edge_rows(subgraph), subgraph.edges, strict=True):
        graph.add_edge(edge.subject, edge.object, key=edge.predicate)
        attributes = {name: row[name] for name in _EDGE_ATTRIBUTES} | by_title(edge.evidence or {}, titles)
        graph.edges[edge.subject, edge.object, edge.predicate].update(attributes)
    _add_paths(graph, subgraph)
    return graph


def _add_paths(graph: nx.MultiDiGraph[str], subgraph: Subgraph) -> None:
    """Add the steps of paths that are not there, and say of all nodes that are only steps that they are."""
    for node in subgraph.nodes:
        if node.on_the_way:
            graph.nodes[node.id]["on_the_way"] = True
    paths = [path for node in subgraph.nodes for path in node.via]
    for name_id in (name_id for path in paths for name_id in path[::2] if name_id not in graph):
        unread = SubgraphNode(name_id, "unknown", name=subgraph.labels.get(name_id, ""), on_the_way=True)
        step = subgraph.steps.get(name_id, unread)
        graph.add_node(name_id)
        row = next(node_rows(replace(subgraph, nodes=[step], columns=())))
        graph.nodes[name_id].update({key: row[key] for key in row if key != "id"}, on_the_way=True)
    of_edges = {edge.predicate for edge in subgraph.edges}
    steps = (step for path in paths for step in zip(path[::2], path[1::2], path[2::2], strict=False))
    for start, written, end in steps:
        predicate = written.removeprefix("^")
        # Of a walk, `^` may be a part: unless edges show that it is none, the step stands as the path has it.
        is_backwards = predicate in of_edges and written not in of_edges
        if predicate == written or (predicate in subgraph.walks and not is_backwards):
            ends = start, end, written
        else:
            ends = end, start, predicate
        if not graph.has_edge(*ends):
            graph.add_edge(ends[0], ends[1], key=ends[2])
            graph.edges[ends].update(
                predicate_name=predicate_name(predicate, subgraph),
                predicate_iri=subgraph.iris[predicate],
                evidence=None,
                on_the_way=True,
            )


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
