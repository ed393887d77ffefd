"""Acceptance line 5: how many requests a question costs."""

from __future__ import annotations

import random
import statistics
from collections.abc import Mapping, Sequence
from typing import Any, Final

from benchmarks.contenders.base import WrongAnswerError
from benchmarks.contenders.ours import Ours
from benchmarks.questions import MEDLIT, WDT
from benchmarks.recording import Recording
from benchmarks.report import Line, Report
from benchmarks.sites import ENGINES, Sites, graph_file
from gateway.settings.limits import SizeSettings
from gateway.tools.gateway import Gateway
from tests.oracle import EdgeRule, OracleGraph, bfs, degree, intersect

_SAMPLE: Final = 50
_SEED: Final = 4
_DEGREES: Final = range(12, 17)
_MAX_DEGREE: Final = 100
_ROOM: Final = SizeSettings(max_tokens=1_000_000, ceiling_tokens=1_000_000)
"""So that no metadata is left out for size."""

_RULE: Final = EdgeRule(type_predicates=frozenset({f"{WDT}P31"}), allowed_namespaces=(WDT,), evidence=False)


async def measure(sites: Sites, report: Report) -> None:
    """Count on every engine: what is learnt about the endpoint is warm, what is learnt about the graph is cold."""
    oracle = OracleGraph.from_files([graph_file("codex-m")], _RULE)
    for engine in ENGINES:
        report.lines.append(await _full_metadata(sites, engine))
        report.lines += await _typical_nodes(sites, engine, oracle)


async def _full_metadata(sites: Sites, engine: Any) -> Line:
    ours = Ours.at(sites.at(engine, MEDLIT.graph).near, MEDLIT.profile)
    ours.profile = ours.profile.model_copy(update={"size": _ROOM})
    try:
        elsewhere = _far_from(MEDLIT.seeds[0], OracleGraph.from_files([graph_file(MEDLIT.graph)]))
        gateway = ours.gateway()
        await gateway.bfs_query([elsewhere], 1)
        seen, answer = await _counted(
            ours, gateway, "bfs_query", {"seeds": list(MEDLIT.seeds), "max_hops": MEDLIT.hops}
        )
    finally:
        await ours.close()
    _check(answer, MEDLIT.nodes, MEDLIT.edges)
    if "degraded" in answer or len(answer["nodes"]) != MEDLIT.nodes:
        raise WrongAnswerError(f"{MEDLIT.name}: the answer lacks metadata or nodes")
    return Line("5", f"{MEDLIT.name}, full metadata, {engine}", "requests", 8, len(seen.requests))


async def _typical_nodes(sites: Sites, engine: Any, oracle: OracleGraph) -> list[Line]:
    two_hops = f"2 hops from a node of codex-m, max_degree {_MAX_DEGREE}, median of {_SAMPLE}, {engine}"
    both = f"k=2 of two nodes of codex-m, max_degree {_MAX_DEGREE}, median of {_SAMPLE}, {engine}"
    typical = sorted(node for node in oracle.nodes if degree(oracle, node) in _DEGREES)
    # Whoever counts again must count the same.
    draw = random.Random(_SEED)  # noqa: S311
    seeds = [[node] for node in draw.sample(typical, _SAMPLE)]
    pairs = [draw.sample(typical, 2) for _ in range(_SAMPLE)]
    ours = Ours.at(sites.at(engine, "codex-m").near, "wikidata-local")
    try:
        gateway = ours.gateway()
        await _asked(ours, gateway, "bfs_query", seeds[0], "max_hops")
        hops, steps = [], []
        for seed in seeds:
            right = bfs(oracle, seed, 2, _MAX_DEGREE)
            seen, answer = await _asked(ours, gateway, "bfs_query", seed, "max_hops")
            _check(answer, len(right.distance), len(right.edges), hubs=len(right.hubs))
            hops.append(len(seen.requests))
        for pair in pairs:
            common = intersect(oracle, pair, 2, _MAX_DEGREE)
            seen, answer = await _asked(ours, gateway, "intersect_subgraphs", pair, "k")
            _check(answer, len(common.nodes), len(common.edges), hubs=None)
            steps.append(len(seen.requests))
    finally:
        await ours.close()
    return [
        Line("5", two_hops, "requests", 6, statistics.median(hops), note=f"{max(hops)} at most"),
        Line("5", both, "requests", 8, statistics.median(steps), note=f"{max(steps)} at most"),
    ]


async def _asked(
    ours: Ours, gateway: Gateway, tool: str, seeds: Sequence[str], radius: str
) -> tuple[Recording, Mapping[str, Any]]:
    arguments = {"seeds": list(seeds), radius: 2, "topology_only": True, "max_degree": _MAX_DEGREE}
    return await _counted(ours, gateway, tool, arguments)


async def _counted(
    ours: Ours, gateway: Gateway, tool: str, arguments: Mapping[str, Any]
) -> tuple[Recording, Mapping[str, Any]]:
    """Ask a gateway that knows its schema and no answer, and note what it sends."""
    gateway.forget()
    with ours.wire.recording() as seen:
        answer = await gateway.call(tool, arguments)
    return seen, answer.as_json()


def _far_from(seed: str, oracle: OracleGraph) -> str:
    """Return a node with edges whose own edges are not among those that the seed's question is about."""
    near = bfs(oracle, [seed], 5).distance
    return min(edge[0] for edge in oracle.edges if edge[0] not in near)


def _check(answer: Mapping[str, Any], nodes: int, edges: int, hubs: int | None = 0) -> None:
    """Compare an answer with the oracle's.

    Raises:
        WrongAnswerError: It differs, or says that something is missing beside the hubs that are left unexpanded.
    """
    told = (answer["node_count"], answer["edge_count"])
    if told != (nodes, edges):
        raise WrongAnswerError(f"{told[0]} nodes and {told[1]} edges, and {nodes} and {edges} are right")
    missing = {entry["cause"]: entry["count"] for entry in answer.get("incomplete", ())}
    unexpanded = missing.pop("hub_not_expanded", 0)
    if missing or (hubs is not None and unexpanded != hubs):
        raise WrongAnswerError(f"the answer is not whole: {answer.get('incomplete')}")
