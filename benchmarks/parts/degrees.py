"""How hubs are recognised without LATERAL: edges of many nodes counted together, against a sub-select for each node."""

from __future__ import annotations

import tempfile
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Final

from benchmarks.contenders.base import Run, Size
from benchmarks.measure import interleaved, median_ratio
from benchmarks.report import Line, Report
from benchmarks.sites import Sites
from gateway.graph.call import Call, Deadline
from gateway.graph.values import ALL_EDGES
from gateway.settings.load import load_profile
from gateway.sparql import table, template
from gateway.sparql.json_rows import decode
from gateway.sparql.rule import EdgeRule, selection_parameters
from gateway.sparql.store import SparqlStore
from gateway.transport.base import Transport
from tests.columns import Column, column
from tests.oracle import EdgeRule as OraclesRule
from tests.oracle import OracleGraph
from tests.servers.engines import ColumnName

ROUNDS: Final = 7
_ENGINES: Final[tuple[ColumnName, ...]] = ("virtuoso", "blazegraph")
_GRAPH: Final = "wd50k"
_DIRECT: Final = "http://www.wikidata.org/prop/direct/"
_NODES: Final = 50
_MOST: Final = 1_000
"""Edges of a node that are counted."""

_FROM: Final[Mapping[str, int]] = {"the largest hubs": 0, "nodes between": 500, "nodes with few edges": 8_000}
"""Where in the order of their degrees the nodes begin."""

_TARGET: Final = 0.5
_TOGETHER: Final = "together"
_EACH: Final = "a sub-select for each"


async def measure(_: Sites, report: Report) -> None:
    """Count the edges of nodes with many and few of them, in both ways, by turns."""
    with tempfile.TemporaryDirectory(prefix="bench-") as scratch:
        for engine in _ENGINES:
            folder = Path(scratch) / engine
            folder.mkdir()
            with column(engine, folder, {_GRAPH}) as there:
                report.lines += await _lines_at(there)


async def _lines_at(there: Column) -> list[Line]:
    rule = OraclesRule(frozenset({f"{_DIRECT}P31"}), allowed_namespaces=(_DIRECT,), evidence=False)
    oracle = OracleGraph.from_files(there.files[_GRAPH], rule)
    degrees = {node: len(oracle.edges_of(node)) for node in oracle.nodes}
    order = sorted(degrees, key=lambda node: (-degrees[node], node))
    profile = there.settle(_GRAPH, load_profile("wikidata-local"))
    transport = there.transport(_GRAPH)
    store = SparqlStore(transport, profile)
    lines = []
    for name, start in _FROM.items():
        nodes = order[start : start + _NODES]
        right = Size(_NODES, sum(min(degrees[node], _MOST + 1) for node in nodes))
        contenders = _contenders(store, transport, EdgeRule.of(profile.edges), nodes)
        samples = await interleaved(contenders, ROUNDS, size=right)
        together, each = samples[_TOGETHER], samples[_EACH]
        lines.append(
            Line(
                "hubs",
                f"counting edges of {_NODES} {name} of {_GRAPH} together, against a sub-select for each: {there.name}",
                "times",
                _TARGET if start else None,
                median_ratio(together, each),
                note=f"{together.seconds * 1000:.0f} and {each.seconds * 1000:.0f} ms, medians of {ROUNDS}; "
                f"{degrees[nodes[0]]:,} to {degrees[nodes[-1]]:,} edges, up to {_MOST:,} of each counted",
            )
        )
    await store.close()
    return lines


def _contenders(store: SparqlStore, transport: Transport, rule: EdgeRule, nodes: Sequence[str]) -> Mapping[str, Run]:
    by_one = template.load("degrees_each")
    given = {**rule.parameters, **selection_parameters(ALL_EDGES)}
    query = by_one.render({"nodes": nodes, "most": _MOST + 1, "rows": _NODES + 1, **given})

    async def together() -> Size:
        found = await store.degrees(nodes, _MOST, Call(Deadline.after(60), 1_000, 1_000_000, 1_000_000))
        return _size([degree.count for degree in found.values()])

    async def each() -> Size:
        rows = decode(await transport.select(query, Deadline.after(60)), by_one.variables)
        return _size([*table.integer("degree")(rows)])

    return {_TOGETHER: together, _EACH: each}


def _size(counts: Collection[int]) -> Size:
    return Size(len(counts), sum(counts))
