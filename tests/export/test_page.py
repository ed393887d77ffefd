"""A subgraph inside the explorer page: what the page reads is the subgraph, and no text of it is markup."""

import json
import re
from html import unescape
from typing import Any

import pytest
from hypothesis import given, settings

from gateway.errors import ConfigurationError
from gateway.export.page import MOST_NODES, notebook_frame, page
from gateway.export.subgraph import Subgraph, SubgraphNode
from gateway.resources import explorer_page
from tests.export.drawn import subgraphs

_DATA = re.compile(r'<script type="application/json" id="answer">(.*?)</script>', re.DOTALL)


def too_many() -> Subgraph:
    nodes = [SubgraphNode(f"e:{n}", "untyped") for n in range(MOST_NODES + 1)]
    return Subgraph((), nodes, [], True, [], {}, {}, {})


def embedded(content: str) -> dict[str, Any]:
    """Return what the page reads."""
    [data] = _DATA.findall(content)
    read: dict[str, Any] = json.loads(data)
    return read


@pytest.mark.slow
@settings(max_examples=30)
@given(subgraphs())
def test_the_page_holds_every_node_and_edge_with_its_metadata(subgraph: Subgraph) -> None:
    content = page(subgraph).decode()
    answer = embedded(content)["answer"]
    assert [node["id"] for node in answer["nodes"]] == [node.id for node in subgraph.nodes]
    assert [node["metadata"].get("name", "") for node in answer["nodes"]] == [
        node.name or node.metadata.get("name", "") for node in subgraph.nodes
    ]
    assert [(edge["subject"], edge["predicate"], edge["object"], edge.get("metadata")) for edge in answer["edges"]] == [
        (edge.subject, edge.predicate, edge.object, edge.evidence) for edge in subgraph.edges
    ]
    assert answer["complete"] == subgraph.complete
    # Beside the data, it is the built page and its policy.
    bare = re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*/>', "", _DATA.sub("", content))
    assert bare.encode() == explorer_page().read_bytes()


def test_its_policy_lets_it_connect_to_nothing() -> None:
    content = page(Subgraph((), [], [], True, [], {}, {}, {})).decode()
    [policy] = re.findall(r'<meta http-equiv="Content-Security-Policy" content="([^"]*)"', content)
    assert "default-src 'none'" in policy
    assert "connect-src 'none'" in policy


def test_a_notebook_gets_the_same_page_in_a_frame() -> None:
    subgraph = Subgraph(("e:a",), [SubgraphNode("e:a", "untyped", (), '"><b>')], [], True, [], {}, {}, {})
    [inside] = re.findall(r'srcdoc="([^"]*)"', notebook_frame(subgraph))
    assert unescape(inside) == page(subgraph).decode()


def test_a_subgraph_that_is_too_large_is_refused_and_a_notebook_says_so() -> None:
    with pytest.raises(ConfigurationError, match="3,001 nodes"):
        page(too_many())
    assert "3,001 nodes" in notebook_frame(too_many())
