"""The best that someone who knows SPARQL and this very graph would write: one query, or the few of a script.

The negated property sets stand for this gateway's edge rule only because codex-m has no other predicates between
IRIs than `wdt:` ones and no hub rule is asked for.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Final

from benchmarks.contenders.asking import Binding, PlainClient, query
from benchmarks.contenders.base import Size
from benchmarks.questions import WDT, Question
from gateway.sparql.template import Parameter

_TYPE: Final = f"{WDT}P31"
_ROWS: Final = 1_000_000

Rows = Sequence[Mapping[str, Binding]]
Triple = tuple[str, str, str]


async def one_query(client: PlainClient, question: Question) -> Size:
    """Answer a question about two hops with one query: edges, and the types of all nodes."""
    rule: dict[str, Parameter] = {"type": _TYPE, "namespace": WDT, "rows": _ROWS}
    if question.kind == "traversal":
        (seed,) = question.seeds
        text = query("hand_neighbourhood", {**rule, "seed": seed})
        edges, _ = _sorted_out(await client.rows(text))
        return Size(len({end for s, _, o in edges for end in (s, o)} | {seed}), len(edges))
    one, other = question.seeds
    edges, types = _sorted_out(await client.rows(query("hand_intersection", {**rule, "one": one, "other": other})))
    # Every node here has a type or an edge; what has neither would be missing from the answer.
    return Size(len({end for s, _, o in edges for end in (s, o)} | {s for s, _, _ in types}), len(edges))


async def three_queries(client: PlainClient, question: Question) -> Size:
    """Answer an intersection with a path query for each seed at once, and one for edges and types among the nodes."""
    near = await asyncio.gather(
        *(client.rows(query("hand_nodes", {"seed": seed, "type": _TYPE, "rows": _ROWS})) for seed in question.seeds)
    )
    common = set.intersection(*({row["s"]["value"] for row in rows} for rows in near))
    rows = await client.rows(query("hand_among", {"nodes": sorted(common), "namespace": WDT, "rows": _ROWS}))
    edges, _ = _sorted_out(rows)
    return Size(len(common), len({edge for edge in edges if edge[2] in common}))


def _sorted_out(rows: Rows) -> tuple[set[Triple], set[Triple]]:
    """Tell the edges from the triples that say a type."""
    found = {(row["s"]["value"], row["p"]["value"], row["o"]["value"]) for row in rows}
    types = {triple for triple in found if triple[1] == _TYPE}
    return found - types, types
