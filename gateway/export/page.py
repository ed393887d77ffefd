"""A subgraph as the explorer page with the answer inside: one file that asks no gateway and loads nothing."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from typing import Any

from gateway.errors import ConfigurationError
from gateway.escaping import json_text
from gateway.export.subgraph import Subgraph, SubgraphEdge, SubgraphNode
from gateway.resources import explorer_page, policy_of

MOST_NODES = 3_000
MOST_EDGES = 10_000
"""Nodes and edges that the page lays out in a few seconds and moves without stutter (docs/explorer.md)."""

_FRAME_PIXELS = 600
"""The height of the page in a notebook."""


def page(subgraph: Subgraph) -> bytes:
    """Return the explorer page with a subgraph inside.

    Raises:
        ConfigurationError: It has more than 3,000 nodes or 10,000 edges.
    """
    if len(subgraph.nodes) > MOST_NODES or len(subgraph.edges) > MOST_EDGES:
        raise ConfigurationError(
            f"{len(subgraph.nodes):,} nodes and {len(subgraph.edges):,} edges are too many for one page.",
            valid=f"A page shows up to {MOST_NODES:,} nodes and {MOST_EDGES:,} edges.",
            next_step="Ask for fewer hops, select predicates or types, or write graphml for another program.",
        )
    built = explorer_page().read_bytes()
    policy = f'<meta http-equiv="Content-Security-Policy" content="{policy_of(built, connects=False)}" />'
    # Inside a script element only "<" could end or change it.
    answer = json_text(_embedded(subgraph)).replace("<", r"\u003c")
    before, body, after = built.partition(b"<body>")
    head, charset, others = before.partition(b'<meta charset="utf-8" />')
    data = f'<script type="application/json" id="answer">{answer}</script>'
    return b"".join([head, charset, policy.encode(), others, body, data.encode(), after])


def notebook_frame(subgraph: Subgraph) -> str:
    """Return HTML that shows a subgraph in a notebook: the page in a frame that may only run its own scripts.

    A subgraph that is too large for a page is said to be so.
    """
    try:
        content = page(subgraph).decode()
    except ConfigurationError as error:
        return f"<p>{escape(str(error))}</p>"
    # The text of a page in `srcdoc` has the policy of its notebook too.
    return (
        f'<iframe sandbox="allow-scripts" title="Graph" style="width: 100%; height: {_FRAME_PIXELS}px; border: 0"'
        f' srcdoc="{escape(content)}"></iframe>'
    )


def _embedded(subgraph: Subgraph) -> dict[str, Any]:
    """Return what the page reads (`gateway/web/src/file.ts`): the answer in the reference shape."""
    answer = {
        "nodes": [_node(node) for node in subgraph.nodes],
        "edges": [_edge(edge) for edge in subgraph.edges],
        "node_count": len(subgraph.nodes),
        "edge_count": len(subgraph.edges),
        "complete": subgraph.complete,
        "warnings": list(subgraph.notes),
        "labels": dict(subgraph.labels),
    }
    call = {"tool": subgraph.tool, "arguments": dict(subgraph.arguments)}
    return {"call": call, "answer": answer, "iris": dict(subgraph.iris)}


def _node(node: SubgraphNode) -> dict[str, Any]:
    # Metadata of the graph comes first, so that no key of it replaces one of ours.
    return {
        "id": node.id,
        "entity_type": node.type,
        "types": list(node.types),
        "metadata": {**node.metadata, **_present(node.values or {}), **({"name": node.name} if node.name else {})},
    }


def _present(values: Mapping[str, Any]) -> dict[str, Any]:
    return {column: value for column, value in values.items() if value is not None}


def _edge(edge: SubgraphEdge) -> dict[str, Any]:
    metadata = {} if edge.evidence is None else {"metadata": dict(edge.evidence)}
    return {"subject": edge.subject, "predicate": edge.predicate, "object": edge.object, **metadata}
