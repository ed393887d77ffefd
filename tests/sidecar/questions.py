"""Drawn questions, and whether what came is right: the same graph in another process answers them too."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal

from gateway.engine.gateway import Gateway

Verdict = Literal["right", "in part", "refused", "WRONG"]

Question = tuple[str, Mapping[str, Any]]


async def ids_of(gateway: Gateway, seed: str) -> Sequence[str]:
    """Return the IDs near a node."""
    answer = await gateway.bfs_query([seed], max_hops=3, topology_only=True, limit=500)
    return sorted(node.id for node in answer.nodes)


def drawn(ids: Sequence[str], seed: str) -> Iterator[Question]:
    """Draw questions without end; hardly any comes twice."""
    draw = random.Random(seed)  # noqa: S311 - no secret
    while True:
        first, second = draw.sample(ids, 2)
        choices: list[Question] = [
            ("bfs_query", {"seeds": [first, second], "max_hops": draw.randint(1, 3), "topology_only": True}),
            ("bfs_query", {"seeds": draw.sample(ids, 4), "max_hops": 1}),
            ("intersect_subgraphs", {"seeds": [first, second], "k": draw.randint(1, 2), "topology_only": True}),
            ("describe_entities", {"ids": draw.sample(ids, 5)}),
        ]
        yield draw.choice(choices)


async def verdict(question: Question, answer: Mapping[str, Any] | None, oracle: Gateway) -> Verdict:
    """Compare an answer with that of a graph in this process; None is an error."""
    if answer is None:
        return "refused"
    tool, arguments = question
    expected = (await oracle.call(tool, arguments)).as_json()
    found, all_of = _facts(answer), _facts(expected)
    if answer["complete"]:
        return "right" if found == all_of else "WRONG"
    return "in part" if found <= all_of else "WRONG"


def _facts(answer: Mapping[str, Any]) -> frozenset[tuple[str, ...]]:
    """Return the nodes and edges of an answer, or the entities with their types and names."""
    nodes = {(node["id"],) for node in answer.get("nodes", ())}
    edges = {(edge["subject"], edge["predicate"], edge["object"]) for edge in answer.get("edges", ())}
    entities = {(entity["id"], entity["entity_type"], entity.get("name", "")) for entity in answer.get("entities", ())}
    return frozenset(nodes | edges | entities)
