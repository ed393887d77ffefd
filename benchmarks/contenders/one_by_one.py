"""One query per node and direction, one after another, types ten nodes a request: as wware/bfs-ql asks.

Its engine sends up to five edge queries at once and all type queries one after another; the type queries are 96 % of
its requests. Here everything is sent one after another.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from benchmarks.contenders.asking import PlainClient, query
from benchmarks.contenders.base import Size
from benchmarks.questions import WDT, Question

_TYPES_AT_ONCE: Final = 10
_TYPE: Final = f"{WDT}P31"
_ROWS: Final = 1_000_000


async def walk(client: PlainClient, question: Question, *, types_are_edges: bool) -> Size:
    """Answer a traversal of a Wikidata-shaped graph node by node.

    Args:
        client: Who asks.
        question: A traversal.
        types_are_edges: Whether it walks along P31 too, as the existing implementation does unless it is told to
            leave that out: a larger answer and more requests.
    """
    excepted = [] if types_are_edges else [_TYPE]
    distance = dict.fromkeys(question.seeds, 0)
    edges: set[tuple[str, str, str]] = set()
    for hop in range(question.hops):
        for node in [node for node, steps in distance.items() if steps == hop]:
            for direction in ("one_out", "one_in"):
                rows = await client.rows(
                    query(direction, {"node": node, "excepted": excepted, "namespace": WDT, "rows": _ROWS})
                )
                for row in rows:
                    other = row["n"]["value"]
                    ends = (node, other) if direction == "one_out" else (other, node)
                    edges.add((ends[0], row["p"]["value"], ends[1]))
                    distance.setdefault(other, hop + 1)
    for nodes in _tens(list(distance)):
        await client.rows(query("types", {"nodes": nodes, "type": _TYPE, "rows": _ROWS}))
    return Size(len(distance), len(edges))


def _tens(nodes: Sequence[str]) -> Iterator[Sequence[str]]:
    for start in range(0, len(nodes), _TYPES_AT_ONCE):
        yield nodes[start : start + _TYPES_AT_ONCE]
