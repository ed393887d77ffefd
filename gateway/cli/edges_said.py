"""How class expressions say the edges of descriptions, which have their edges without evidence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from gateway.answers.models import Answer, CompactAnswer, EntitiesResult, Entity, FullNode
from gateway.arguments import MAX_SEEDS
from gateway.errors import Fault
from gateway.export.subgraph import how_said
from gateway.terms.iri import SCHEMA_TERM_CLASSES
from gateway.tools.gateway import Gateway

_NODES = 2_000
"""Nodes around the terms of one call whose edges are looked at, at most."""

_EDGES_OF_NODE = 1_000


@dataclass(frozen=True, slots=True)
class EdgesSaid:
    """How the edges of some entities are said.

    Attributes:
        ways: By entity, predicate (with `^` where the edge comes in) and the other end; empty where merely stated.
        terms: The entities whose edges were looked for.
    """

    ways: Mapping[tuple[str, str, str], str] = field(default_factory=dict)
    terms: frozenset[str] = frozenset()

    def of(self, entity: str, key: str, neighbor: str) -> str:
        """Return how an edge is said; empty where it is merely stated, or nothing is known of it."""
        return self.ways.get((entity, key, _id(neighbor)), "")

    def lacks(self, entity: str, edges: Mapping[str, Sequence[int | str]]) -> bool:
        """Return whether it was not read how some of the edges that are shown of an entity are said."""
        return entity in self.terms and any(
            (entity, key, _id(str(neighbor))) not in self.ways
            for key, (_, *neighbors) in edges.items()
            for neighbor in neighbors
        )


async def how_edges_are_said(gateway: Gateway, answer: Answer | CompactAnswer) -> EdgesSaid:
    """Return how the edges of those described entities are said that are terms of a vocabulary, such as classes.

    Of a graph at a server nothing is read: it would take more requests than the description itself.

    Args:
        gateway: The gateway that answered.
        answer: The answer; of one that is no description nothing is read.
    """
    described: Sequence[Entity | FullNode] = ()
    if isinstance(answer, Entity | EntitiesResult) and gateway.is_in_process:
        described = [answer] if isinstance(answer, Entity) else answer.result
    # A type need not be an IRI: nodes without one are untyped.
    kinds = frozenset(map(gateway.prefixes.shorten, SCHEMA_TERM_CLASSES))
    terms = [one.id for one in described if one.edges and not kinds.isdisjoint(_types(one))]
    ways: dict[tuple[str, str, str], str] = {}
    for start in range(0, len(terms), MAX_SEEDS):
        seeds = terms[start : start + MAX_SEEDS]
        try:
            around = await gateway.bfs_query(
                seeds,
                1,
                limit=_NODES,
                max_edges_per_node=_EDGES_OF_NODE,
                max_tokens=gateway.profile.size.ceiling_tokens,
            )
        except Fault:
            continue
        for edge in around.edges:
            said = how_said(edge.metadata, definitions=True)
            ways[edge.subject, edge.predicate, edge.object] = said
            ways[edge.object, f"^{edge.predicate}", edge.subject] = said
    return EdgesSaid(ways, frozenset(terms))


def _types(described: Entity | FullNode) -> list[str]:
    return [described.entity_type, *map(str, described.metadata.get("types") or ())]


def _id(neighbor: str) -> str:
    """Return the ID of a neighbor, which may have its name behind it."""
    return neighbor.partition(" ")[0]
