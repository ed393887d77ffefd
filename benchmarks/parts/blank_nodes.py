"""What blank nodes of a file cost beside IRIs in their place, in processes of their own.

`python -m benchmarks.parts.blank_nodes FILE` is such a process; it prints one JSON object.
"""

from __future__ import annotations

import asyncio
import json
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, Final

from benchmarks.graphs import BASE, readings
from benchmarks.report import Line, Report
from benchmarks.sites import Sites
from gateway.api import open_gateway

_TRIPLES: Final = 1_000_000
_ROUNDS: Final = 5
_ASKED: Final = 300
_LOADS, _ANSWERS = 1.6, 1.3


async def measure(sites: Sites, report: Report) -> None:
    """Load a graph of a million triples, half of them about blank nodes, and ask it, in turn with one of IRIs."""
    del sites  # It has graphs of its own.
    seen: dict[str, list[dict[str, float]]] = {"blank": [], "iris": []}
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        files = {name: Path(folder) / f"{name}.nt" for name in seen}
        for name, file in files.items():
            with file.open("w", encoding="ascii") as lines:
                lines.writelines(readings(_TRIPLES, blank=name == "blank"))
        for turn in range(_ROUNDS):
            for name in list(seen)[:: -1 if turn % 2 else 1]:
                seen[name].append(await _timed(files[name]))
    for number, what, target in (("load", "opening", _LOADS), ("answers", "two hops and a description", _ANSWERS)):
        pairs = zip(seen["blank"], seen["iris"], strict=True)
        ratio = statistics.median(one[number] / other[number] for one, other in pairs)
        seconds = ", ".join(f"{name} {statistics.median(run[number] for run in seen[name]):.2f} s" for name in seen)
        place = f"{what}, {_TRIPLES:,} triples, half about blank nodes"
        report.lines.append(Line("42.5", f"{place}: times that with IRIs", "", target, ratio, note=seconds))


async def _timed(file: Path) -> dict[str, float]:
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "benchmarks.parts.blank_nodes", str(file), stdout=asyncio.subprocess.PIPE
    )
    said, _ = await process.communicate()
    if process.returncode != 0:
        raise RuntimeError(f"the probe of {file.name} ended with code {process.returncode}")
    found: dict[str, float] = json.loads(said)
    return found


async def _probe(file: Path) -> dict[str, Any]:
    began = time.perf_counter()
    async with open_gateway(file) as gateway:
        await gateway.describe_entity(f"{BASE}item/0")
        loaded = time.perf_counter()
        for index in range(1, _ASKED):
            await gateway.bfs_query([f"{BASE}item/{index}"], max_hops=2)
            await gateway.describe_entity(f"{BASE}item/{index}")
        return {"load": loaded - began, "answers": time.perf_counter() - loaded}


if __name__ == "__main__":
    sys.stdout.write(json.dumps(asyncio.run(_probe(Path(sys.argv[1])))))
