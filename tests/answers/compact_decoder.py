"""Reads what a compact subgraph says as sets, by docs/contract.md alone: nothing of the gateway is used.

It knows no blank nodes within edges. `compared` asks drawn questions in both shapes and in pages.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from gateway.tools.gateway import Gateway

Json = Mapping[str, Any]
Edge = tuple[str, str, str]


def ends_and_edges(answer: Json) -> Iterator[tuple[str, list[Edge]]]:
    """Yield the ID at which each entry of an adjacency list ends, with the edges that it stands for."""
    for key, steps in answer["edges"].items():
        node = first_word(key)
        for step, entry in steps.items():
            predicate = first_word(step).removeprefix("<->").removeprefix("^")
            for other in entry if isinstance(entry, list) else [entry]:
                for text in [other] if isinstance(other, str) else others_of(other):
                    end = first_word(text)
                    out, into = (node, predicate, end), (end, predicate, node)
                    both = step.startswith("<->")
                    yield end, [out, into] if both else [into] if step.startswith("^") else [out]


def others_of(entry: Json) -> Json:
    """Return the other ends that have evidence; a blank node within an edge is none."""
    return {} if "_" in entry else entry


def first_word(text: str) -> str:
    """Return the ID with which a text begins."""
    return text.split(" ", maxsplit=1)[0]


def sets(answer: Json) -> tuple[set[str], set[Edge]]:
    """Return the IDs of the nodes of a page and its edges."""
    nodes = {
        first_word(text)
        for group in ("nodes", "on_the_way")
        for listed in answer.get(group, {}).values()
        for entry in listed
        for text in ([entry] if isinstance(entry, str) else entry)
    }
    edges: set[Edge] = set()
    for end, stated in ends_and_edges(answer):
        edges |= set(stated)
        if end != answer.get("continued"):
            nodes.add(end)
    is_first = answer.get("page", "1-").startswith("1-")
    return nodes | (
        {first_word(key) for key in answer["edges"]} if "node_count" not in answer and is_first else set()
    ), edges


def types(answer: Json) -> dict[str, str]:
    """Return the types that an answer tells, by node."""
    told = {
        first_word(text): first_word(key)
        for group in ("nodes", "on_the_way")
        for key, listed in answer.get(group, {}).items()
        for entry in listed
        for text in ([entry] if isinstance(entry, str) else entry)
    }
    by_step = answer.get("types", {})
    seen: set[str] = set(told)
    for steps in answer["edges"].values():
        for step, entry in steps.items():
            for other in entry if isinstance(entry, list) else [entry]:
                for text in [other] if isinstance(other, str) else others_of(other):
                    end = first_word(text)
                    said = by_step if isinstance(by_step, str) else by_step.get(first_word(step))
                    if end not in seen and end != answer.get("continued") and isinstance(said, str):
                        told[end] = first_word(said)
                    seen.add(end)
    return told


async def compared(gateway: Gateway, nodes: Sequence[str], dice: random.Random, validate: Any) -> int:
    """Ask one drawn question in both shapes and in pages, assert that the sets are the same, and return the pages."""
    seeds = [f"<{node}>" for node in dice.sample(nodes, k=dice.randint(1, 3))]
    arguments: dict[str, Any] = {"seeds": seeds, "topology_only": dice.random() < 0.6}
    tool = dice.choice(["bfs_query", "bfs_query", "intersect_subgraphs"]) if len(seeds) > 1 else "bfs_query"
    arguments["max_hops" if tool == "bfs_query" else "k"] = dice.randint(1, 2)
    if dice.random() < 0.2:
        arguments["show"] = "types"
    whole = await asked(gateway, tool, {**arguments, "max_tokens": 12_000}, "reference")
    followed = whole["schema_summary"]["predicates_found"]
    if tool == "bfs_query" and followed and dice.random() < 0.4:
        arguments["only_predicates"] = dice.sample(followed, k=dice.randint(1, len(followed)))
        whole = await asked(gateway, tool, {**arguments, "max_tokens": 12_000}, "reference")
    wanted = {node["id"]: node["entity_type"] for node in whole["nodes"]}
    edges = {(edge["subject"], edge["predicate"], edge["object"]) for edge in whole["edges"]}
    if "next_offset" in whole:
        return 0
    pages = 0
    limits = {"limit": dice.randint(1, 7)} if dice.random() < 0.5 else {"max_tokens": dice.randint(400, 900)}
    for paging in ({"max_tokens": 12_000}, limits):
        found: dict[str, str] = {}
        ids: set[str] = set()
        listed: set[Edge] = set()
        next_page = dict[str, Any]()
        while True:
            page = await asked(gateway, tool, {**arguments, **paging, **next_page}, "compact")
            validate(tool, page)
            some, others = sets(page)
            ids, listed, found = ids | some, listed | others, {**found, **types(page)}
            pages += 1
            if "next_offset" not in page:
                break
            next_page = {"offset": page["next_offset"], "edge_offset": page.get("next_edge", 0)}
        assert ids == wanted.keys(), (tool, arguments, paging)
        assert listed == edges, (tool, arguments, paging)
        assert found.items() <= wanted.items(), (tool, arguments, paging)
        assert arguments.get("show") != "types" or found.keys() == wanted.keys()
    return pages


async def asked(gateway: Gateway, tool: str, arguments: Json, shape: Any) -> Json:
    """Return an answer as JSON."""
    answer: Json = json.loads(json.dumps((await gateway.call(tool, arguments, shape=shape)).as_json()))
    return answer
