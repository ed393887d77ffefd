"""A subgraph in DOT, the language of Graphviz (https://graphviz.org/doc/info/lang.html)."""

from __future__ import annotations

import re

from gateway.escaping import visible
from gateway.export.extras import needs
from gateway.export.rows import edge_rows, node_rows
from gateway.export.subgraph import Subgraph

_REFERENCE = re.compile(r"&(?=#?\w+;)")
"""The beginning of a character reference (https://graphviz.org/doc/info/lang.html, "Character encodings")."""


def dot(subgraph: Subgraph) -> str:
    """Return a subgraph in DOT: nodes are labelled by name, edges by predicate; types and IRIs become tooltips.

    Evidence is left out, because DOT has no place for it.

    Raises:
        ConfigurationError: pydot is not installed.
    """
    with needs("pydot", "export"):
        import pydot  # noqa: PLC0415 - an extra

    graph = pydot.Dot("subgraph", graph_type="digraph", rankdir="LR")
    for row in node_rows(subgraph):
        graph.add_node(
            pydot.Node(
                pydot.make_quoted(row["id"]),
                label=pydot.make_quoted(_label(row["name"] or row["id"])),
                tooltip=pydot.make_quoted(_label(f"{row['iri']} ({row['type']})")),
            )
        )
    for row in edge_rows(subgraph):
        graph.add_edge(
            pydot.Edge(
                pydot.make_quoted(row["subject"]),
                pydot.make_quoted(row["object"]),
                label=pydot.make_quoted(_label(row["predicate_name"] or row["predicate"])),
                tooltip=pydot.make_quoted(_label(row["predicate_iri"])),
            )
        )
    return str(graph.to_string())


def _label(text: str) -> str:
    """Return a text as a label: Graphviz reads backslashes and HTML's character references in it."""
    shown = visible(text).replace("\\\\", "\\").replace("\\", "\\\\")
    return _REFERENCE.sub("&amp;", shown)
