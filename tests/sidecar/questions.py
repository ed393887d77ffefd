"""Drawn questions, and whether what came is right: the same graph in another process answers them too."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal

from gateway.tools.gateway import Gateway

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
    says_whole = answer["complete"] if "complete" in answer else not answer.get("remaining_ids")
    if not says_whole:
        return "in part" if _terms(answer) <= _terms(expected) else "WRONG"
    if _facts(answer) == _facts(expected):
        return "right"
    # What could not be read about nodes and edges is told apart from `complete`, which is about the traversal.
    is_degraded = answer.get("degraded") != expected.get("degraded")
    return "in part" if is_degraded and _terms(answer) == _terms(expected) else "WRONG"


def _facts(answer: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return what an answer says of the graph: nodes and edges, or entities, and what the graph does not have."""
    return {key: answer.get(key) for key in ("nodes", "edges", "levels", "node_count", "result", "not_found")}


def _terms(answer: Mapping[str, Any]) -> frozenset[tuple[str, ...]]:
    """Return the nodes, entities and edges of an answer, and what the graph does not have."""
    nodes = {(node["id"],) for node in (*answer.get("nodes", ()), *answer.get("result", ()))}
    edges = {(edge["subject"], edge["predicate"], edge["object"]) for edge in answer.get("edges", ())}
    return frozenset({*nodes, *edges, *(("not found", one) for one in answer.get("not_found", ()))})
