"""The same questions to the gateways of two checkouts, in turn, at the same servers."""

from __future__ import annotations

import asyncio
import json
import os
import random
import statistics
import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from benchmarks import driver
from benchmarks.contenders.base import WrongAnswerError
from benchmarks.questions import TWO_HOPS, WDT
from benchmarks.report import Line, Report
from benchmarks.sites import EngineName, Site, Sites, graph_file
from tests.oracle import EdgeRule, OracleGraph, bfs, degree
from tests.servers.cache import CHECKOUT

ROUNDS: Final = 7
_WARM_UP: Final = 3
"""Rounds that are not counted: Fuseki compiles its code while it runs."""

_CAP: Final = 10_000
"""Rows that Virtuoso sends at most."""

_SAMPLE: Final = int(os.environ.get("BFSQL_ROW_CAP_NODES", "20"))
"""Nodes whose second hop is asked for."""

_SEED: Final = 4
_SIZE: Final = TWO_HOPS.nodes, TWO_HOPS.edges
_KINDS: Final = {"topology": "at the engine", "answer": "with presentation"}
_FASTER: Final = 2.0
_FASTER_ABOVE_CAP: Final = 3.0
_LINE_BYTES: Final = 1 << 16


@dataclass(frozen=True, slots=True)
class _Pair:
    """The figures of one question in both checkouts."""

    other: Mapping[str, Any]
    this: Mapping[str, Any]

    @property
    def ratio(self) -> float:
        """The time of the other over that of this one."""
        other: float = self.other["seconds"]
        this: float = self.this["seconds"]
        return other / this


class _Asked:
    """The gateway of a checkout, in a process of its own."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        self._questions, self._answers = process.stdin, process.stdout

    async def answer(self, kind: str, seeds: Sequence[str], hops: int) -> Mapping[str, Any]:
        self._questions.write(json.dumps({"kind": kind, "seeds": list(seeds), "hops": hops}).encode() + b"\n")
        await self._questions.drain()
        line = await self._answers.readline()
        if not line:
            raise RuntimeError("the gateway of a checkout ended; its error is above")
        figures: Mapping[str, Any] = json.loads(line)
        return figures


async def measure(checkout: Path, sites: Sites, report: Report) -> None:
    """Compare this checkout with another one."""
    for engine in ("fuseki", "oxigraph"):
        report.lines += await _two_hops(checkout, sites, engine)
    report.lines += await _second_hops(checkout, sites)


async def _two_hops(checkout: Path, sites: Sites, engine: EngineName) -> list[Line]:
    site = sites.at(engine, TWO_HOPS.graph)
    pairs: dict[str, list[_Pair]] = {kind: [] for kind in _KINDS}
    async with _both(checkout, site) as (other, this):
        for turn in range(-_WARM_UP, ROUNDS):
            for kind in _KINDS:
                pair = await _pair(other, this, kind, TWO_HOPS.seeds, TWO_HOPS.hops, turn)
                for figures in (pair.other, pair.this):
                    if (figures["nodes"], figures["edges"], figures["complete"]) != (*_SIZE, True):
                        raise WrongAnswerError(f"{TWO_HOPS.name}: {figures}")
                if turn >= 0:
                    pairs[kind].append(pair)
    what = f"faster than the other checkout, {TWO_HOPS.name}, {engine} at +0 ms"
    return [
        Line(
            "against",
            f"{what}, {_KINDS[kind]}",
            "times",
            _FASTER if engine == "fuseki" and kind == "topology" else None,
            _faster(found),
            at_least=True,
            note=_medians(found),
        )
        for kind, found in pairs.items()
    ]


async def _second_hops(checkout: Path, sites: Sites) -> list[Line]:
    """Ask for the edges of second hops that have more rows than Virtuoso sends, and compare them with the oracle's."""
    rule = EdgeRule(frozenset({f"{WDT}P31"}), allowed_namespaces=(WDT,), evidence=False)
    graph = OracleGraph.from_files([graph_file("codex-m")], rule)
    above = [node for node in sorted(graph.nodes) if _rows_of_second_hop(graph, node) > _CAP]
    # Whoever measures again must ask the same.
    nodes = random.Random(_SEED).sample(above, _SAMPLE)  # noqa: S311
    exact = 0
    pairs: list[_Pair] = []
    async with _both(checkout, sites.at("virtuoso", "codex-m")) as (other, this):
        for turn, node in enumerate(nodes):
            pair = await _pair(other, this, "edges", [node], 2, turn)
            right = driver.digest(bfs(graph, [node], 2).edges)
            if pair.this["complete"] and pair.this["digest"] != right:
                raise WrongAnswerError(f"the second hop of {node} is wrong and says that it is complete")
            exact += pair.this["complete"]
            pairs.append(pair)
    what = f"second hops above the row cap, virtuoso, of {len(nodes)}"
    return [
        Line(
            "against",
            f"faster than the other checkout, {what}",
            "times",
            3,
            _faster(pairs),
            at_least=True,
            note=_medians(pairs),
        ),
        Line("against", f"exact, {what}", "answers", len(nodes), exact, at_least=True),
    ]


def _rows_of_second_hop(graph: OracleGraph, node: str) -> int:
    near = {end for edge in graph.edges_of(node) for end in (edge[0], edge[2])} - {node}
    return sum(degree(graph, other) for other in near)


async def _pair(other: _Asked, this: _Asked, kind: str, seeds: Sequence[str], hops: int, turn: int) -> _Pair:
    """Ask both; every other time this checkout first, because whoever comes second finds the server's caches warm."""
    if turn % 2:
        mine = await this.answer(kind, seeds, hops)
        return _Pair(await other.answer(kind, seeds, hops), mine)
    theirs = await other.answer(kind, seeds, hops)
    return _Pair(theirs, await this.answer(kind, seeds, hops))


def _faster(pairs: Sequence[_Pair]) -> float:
    return statistics.median(pair.ratio for pair in pairs)


def _medians(pairs: Sequence[_Pair]) -> str:
    other = statistics.median(pair.other["seconds"] for pair in pairs)
    this = statistics.median(pair.this["seconds"] for pair in pairs)
    return f"{other * 1000:.0f} ms and {this * 1000:.0f} ms"


@asynccontextmanager
async def _both(checkout: Path, site: Site) -> AsyncIterator[tuple[_Asked, _Asked]]:
    async with _running(checkout, site) as other, _running(CHECKOUT, site) as this:
        yield other, this


@asynccontextmanager
async def _running(checkout: Path, site: Site) -> AsyncIterator[_Asked]:
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-P",
        driver.__file__,
        site.near,
        *site.named,
        cwd=checkout,
        env={**os.environ, "PYTHONPATH": str(checkout)},
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        limit=_LINE_BYTES,
    )
    try:
        yield _Asked(process)
    finally:
        assert process.stdin is not None
        process.stdin.close()
        await process.wait()
