"""Which blank nodes a page shows within the edge that leads to them (docs/contract.md, "The two shapes of an answer").

A blank node with one edge that leads to it mostly stands for one value with parts: a reader wants it where it is used,
and its ID says nothing. Nothing that is counted depends on it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from gateway.answers.page import PageNode, SubgraphPage
from gateway.answers.reference import also_in, node_metadata
from gateway.answers.shape import size_of
from gateway.answers.values import NodeMetadata
from gateway.expand_compact import BEYOND, is_among

_DEEPEST = 3
"""Nodes within each other."""

_ALIKE = 10
"""Nodes that say something about the same and lead to no node: of more, rows among the nodes say the keys once."""

_LARGEST = 1_200
"""Bytes of what a node says that is shown within an edge, of which half may be where it leads beyond the answer."""


def folded_nodes(page: SubgraphPage) -> Mapping[str, PageNode]:
    """Return the nodes that are shown within an edge, by ID."""
    foldable = {node.id: node for node in page.nodes if node.foldable and node.metadata is not None and not node.paths}
    if not foldable:
        return {}
    ids = frozenset(node.id for node in page.nodes)
    outer = {edge.ends[0] for edge in page.edges}
    alike = Counter(_keys(node) for name_id, node in foldable.items() if name_id not in outer)
    leading, incoming = Counter(edge.ends[1] for edge in page.edges), Counter(edge.object for edge in page.edges)
    owners = {
        edge.ends[1]: edge.ends[0] for edge in page.edges if leading[edge.ends[1]] == 1 and incoming[edge.ends[1]] <= 1
    }
    predicates: dict[str, set[str]] = {}
    for edge in page.edges:
        if not edge.is_incoming:
            predicates.setdefault(edge.ends[0], set()).add(edge.predicate)
    depths: dict[str, int] = {}
    # What leads to a node stands before it.
    for name_id, node in foldable.items():
        if name_id not in outer and alike[_keys(node)] > _ALIKE:
            continue
        owner = owners.get(name_id, name_id)
        depth = depths.get(owner, 0) + 1
        if owner != name_id and depth <= _DEEPEST and _fits(node, predicates.get(name_id, set()), ids):
            depths[name_id] = depth
    return {name_id: foldable[name_id] for name_id in depths}


def _keys(node: PageNode) -> tuple[str, ...]:
    """Return what a node says something about."""
    metadata = node.metadata or NodeMetadata()
    return (node.entity_type, *metadata.fields_said, *metadata.properties)


def _fits(node: PageNode, predicates: set[str], ids: frozenset[str]) -> bool:
    """Return whether what a node says is short, and none of it could be taken for one of its edges."""
    written = {**node_metadata(node.metadata or NodeMetadata()), **also_in(node)}
    said = (value for key, value in written.items() if key != BEYOND)
    return (
        written.keys().isdisjoint(predicates)
        and not any(is_among(value, ids) for value in said)
        and size_of(written) <= _LARGEST
    )
