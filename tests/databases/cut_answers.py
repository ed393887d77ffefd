"""Answers of a database of which rows are left out in good order: none may be wrong and complete.

`CUT_ANSWERS=150` tries more.
"""

import os
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from gateway.engine.gateway import Gateway
from gateway.errors import GatewayError
from tests.neo4j.proxy import Proxy
from tests.random_graphs import corpus

CALLS: Final = int(os.environ.get("CUT_ANSWERS", "60"))
"""Calls with an answer that is cut."""

_HOW_IT_WAS_READ: Final = frozenset({"cost", "snapshot", "warnings", "as_of", "searched", "read"})


@dataclass(slots=True)
class CutReport:
    """What came of the calls.

    Attributes:
        calls: Calls of which an answer of the database was cut.
        told: Those that failed or were not complete.
        believed: Those that were complete and wrong.
    """

    calls: int = 0
    told: int = 0
    believed: list[str] = field(default_factory=list)


async def cut_answers(open_: Callable[[], Gateway], proxy: Proxy, seed: str, calls: int = CALLS) -> CutReport:
    """Make calls of which one answer of the database, or each one, is cut, and compare them with what is right."""
    report, draw = CutReport(), random.Random(seed)  # noqa: S311 - a test that can be repeated
    while report.calls < calls:
        tool, arguments = _question(draw)
        proxy.short, proxy.answers = None, 0
        right = await _asked(open_(), tool, arguments)
        if not right.get("complete", True):
            # A schema takes longer than its time on a machine that is busy.
            continue
        number, share = draw.randrange(proxy.answers), draw.choice([0.0, 0.5, 1.0])
        proxy.short, proxy.answers, proxy.cuts = _plan(number, share, is_each=draw.random() < 0.3), 0, 0
        answer = await _asked(open_(), tool, arguments)
        if not proxy.cuts:
            continue
        report.calls += 1
        if not answer.get("complete", True) or answer.get("degraded"):
            report.told += 1
        elif _content(answer) != _content(right):
            report.believed.append(f"{tool} {arguments}: answer {number}, {share}")
    return report


def _plan(number: int, share: float, *, is_each: bool) -> Callable[[int, int], int]:
    """Return how many rows of each answer are left: a share of them, but not the last one."""
    return lambda at, rows: min(int(share * rows), rows - 1) if is_each or at == number else rows


def _question(draw: random.Random) -> tuple[str, Mapping[str, Any]]:
    """Draw a question about a graph of the corpus."""
    nodes: Sequence[str] = draw.choice([graph for graph in corpus() if len(graph.nodes) > 1]).nodes
    some = [f"<{node}>" for node in draw.sample(nodes, 2)]
    questions: list[tuple[str, Mapping[str, Any]]] = [
        ("bfs_query", {"seeds": some[:1], "max_hops": 2}),
        ("bfs_query", {"seeds": some, "max_hops": 1, "topology_only": True}),
        ("intersect_subgraphs", {"seeds": some, "k": 2}),
        ("describe_entity", {"id": some[0]}),
        ("describe_entities", {"ids": some}),
        ("search_entities", {"query": draw.choice(["a", "the", "work", "person", "place"]) + "*"}),
        ("describe_schema", {}),
    ]
    return draw.choice(questions)


async def _asked(gateway: Gateway, tool: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return an answer, or the error as one that is not complete."""
    async with gateway:
        try:
            return dict((await gateway.call(tool, arguments)).as_json())
        except GatewayError as error:
            return {"complete": False, "error": str(error)}


def _content(answer: Mapping[str, Any]) -> dict[str, Any]:
    """Return what an answer says of the graph."""
    found = {key: _with_all_types(value) for key, value in answer.items() if key not in _HOW_IT_WAS_READ}
    found.pop("schema_summary", None)
    return found


def _with_all_types(value: Any) -> Any:
    """Return a part of an answer without the choice of one type of several: it depends on whether a schema was read."""
    if isinstance(value, list):
        return [_with_all_types(one) for one in value]
    if not isinstance(value, dict):
        return value
    found = {key: _with_all_types(one) for key, one in value.items()}
    metadata = value.get("metadata")
    if "entity_type" in value and ("types" in value or metadata is None or "types" in metadata):
        found["entity_type"] = value["entity_type"] != "untyped"
    return found
