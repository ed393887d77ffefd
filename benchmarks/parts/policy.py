"""Line 3 of issue 39: whether the time of a call tells a node that a policy hides from one that never existed.

Each call is timed for a hidden node with many edges and for an unknown one, one right after the other in random order:
first with nothing stored in the gateway, then again from what the first call stored.
"""

from __future__ import annotations

import random
import statistics
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import islice, product
from pathlib import Path
from typing import Any, Final, get_args

from benchmarks.measure import area_under_curve
from benchmarks.report import Line, Report
from benchmarks.sites import Sites
from gateway.api import open_gateway
from gateway.errors import InputError
from gateway.settings.hidden import HiddenSettings
from gateway.settings.limits import OrientationSettings
from gateway.settings.profile import Profile
from gateway.tools.gateway import Gateway
from tests.harness.stores import store_with
from tests.policy.run import PolicyEngine

PAIRS: Final = 1_000
_ISSUE: Final = "39.3"
_TARGET: Final = 0.55
_X: Final = "https://example.org/"
_A: Final = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"
_LABEL: Final = "<http://www.w3.org/2000/01/rdf-schema#label>"
_NODES: Final = 50
"""Hidden nodes, and as many unknown ones."""

_EDGES: Final = 500
"""Those of each hidden node."""

_SEEN: Final = 50
"""Edges of each visible node that may be seen."""

_PREDICATES: Final = 400
"""Predicates of the hidden edges of visible nodes, which lead to the hidden nodes."""

_HIDDEN_EDGES: Final[Mapping[str, int]] = {"none": 0, "few": 500, "many": 20_000}
"""Visible nodes, and their edges that are hidden."""

_ROUNDS: Final = 5
_OPEN_NODE: Final = f"{_X}open"
"""A node with one edge."""

_QUESTIONS: Final[Mapping[str, dict[str, Any]]] = {
    "bfs_query": {"seeds": ["?"], "max_hops": 1},
    "intersect_subgraphs": {"seeds": [_OPEN_NODE, "?"], "k": 1},
    "describe_entity": {"id": "?"},
    "describe_entities": {"ids": [_OPEN_NODE, "?"]},
    "search_entities": {"query": "?"},
}
"""The arguments of each tool, with `?` in the place of the node."""


@dataclass(frozen=True, slots=True)
class _Nodes:
    """Nodes whose IRIs tell nothing."""

    hidden: list[str]
    unknown: list[str]


@dataclass(slots=True)
class _Times:
    """Milliseconds of the calls about hidden nodes and about unknown ones, in the order of the pairs."""

    hidden: list[float] = field(default_factory=list)
    unknown: list[float] = field(default_factory=list)


async def measure(_: Sites, report: Report) -> None:
    """Ask each engine about hidden and unknown nodes by every tool."""
    dice = random.Random(39)  # noqa: S311 - no secret
    numbers = dice.sample(range(100_000, 1_000_000), 2 * _NODES)
    iris = [f"{_X}node/{number}" for number in numbers]
    nodes = _Nodes(iris[:_NODES], iris[_NODES:])
    # To read all of a graph under a policy takes minutes, and none of the questions needs it.
    some = OrientationSettings(glance_triples=1_000, enumeration_seconds=0)
    profile = Profile(hidden=HiddenSettings(types=(f"{_X}Secret",)), orientation=some)
    with tempfile.TemporaryDirectory(prefix="bench-") as scratch:
        file = Path(scratch) / "graph.nt"
        with file.open("w", encoding="utf-8") as written:
            written.writelines(f"{line} .\n" for line in _triples(nodes))
        for engine in get_args(PolicyEngine):
            with store_with(engine, Path(scratch), {"graph": [file]}) as column:
                async with open_gateway(endpoint=column.url("graph"), profile=profile) as gateway:
                    await gateway.wait_until_ready()
                    for tool in _QUESTIONS:
                        report.lines += await _lines_of(gateway, engine, tool, nodes, dice)
                    report.lines += await _lines_of_visible(gateway, engine)


def _triples(nodes: _Nodes) -> Iterator[str]:
    """Yield the graph."""
    yield f"<{_OPEN_NODE}> <{_X}knows> <{_X}end/0>"
    for iri in nodes.hidden:
        yield f"<{iri}> {_A} <{_X}Secret>"
        yield f'<{iri}> {_LABEL} "nobody {iri[-6:]}"'
        yield from (f"<{iri}> <{_X}p0> <{_X}end/{number}>" for number in range(_EDGES))
    for name, count in _HIDDEN_EDGES.items():
        node = f"<{_X}visible/{name}>"
        yield from (f"{node} <{_X}knows> <{_X}end/{number}>" for number in range(_SEEN))
        leading = product(range(_PREDICATES), nodes.hidden)
        yield from (f"{node} <{_X}p{number}> <{hidden}>" for number, hidden in islice(leading, count))


async def _lines_of(
    gateway: Gateway, engine: PolicyEngine, tool: str, nodes: _Nodes, dice: random.Random
) -> Iterator[Line]:
    """Return how well the times of one tool tell the nodes apart."""
    cold, warm = _Times(), _Times()
    for _ in range(PAIRS):
        pair = [("hidden", dice.choice(nodes.hidden)), ("unknown", dice.choice(nodes.unknown))]
        for kind, node in dice.sample(pair, 2):
            gateway.forget()
            for times in (cold, warm):
                getattr(times, kind).append(await _milliseconds(gateway, tool, node))
    return (_line(engine, tool, name, times) for name, times in (("cold", cold), ("warm", warm)))


def _line(engine: PolicyEngine, tool: str, name: str, times: _Times) -> Line:
    area = area_under_curve(times.hidden, times.unknown)
    return Line(
        _ISSUE,
        f"telling hidden nodes of {_EDGES} edges from unknown ones by the time of {tool}, {name}: {engine}",
        "AUC",
        _TARGET,
        max(area, 1 - area),
        note=f"{statistics.median(times.hidden):.1f} and {statistics.median(times.unknown):.1f} ms, "
        f"medians of {len(times.hidden)}",
    )


async def _lines_of_visible(gateway: Gateway, engine: PolicyEngine) -> Iterator[Line]:
    """Return how much longer a call about a visible node takes for its hidden edges."""
    times: dict[str, list[float]] = {name: [] for name in _HIDDEN_EDGES}
    for _ in range(_ROUNDS):
        for name, some in times.items():
            gateway.forget()
            some.append(await _milliseconds(gateway, "bfs_query", f"{_X}visible/{name}"))
    base = statistics.median(times["none"])
    return (
        Line(
            _ISSUE,
            f"bfs_query of a visible node with {_SEEN} edges and {count:,} hidden ones, over one without: {engine}",
            "ms",
            None,
            statistics.median(times[name]) - base,
            note=f"{base:.0f} ms without, medians of {_ROUNDS}",
        )
        for name, count in islice(_HIDDEN_EDGES.items(), 1, None)
    )


async def _milliseconds(gateway: Gateway, tool: str, node: str) -> float:
    """Return how long a call takes, whether it finds the node or not."""
    arguments = {name: _filled(value, node) for name, value in _QUESTIONS[tool].items()}
    began = time.perf_counter()
    with suppress(InputError):
        await gateway.call(tool, arguments, shape="compact")
    return (time.perf_counter() - began) * 1_000


def _filled(value: Any, node: str) -> Any:
    if isinstance(value, list):
        return [_filled(one, node) for one in value]
    return node if value == "?" else value
