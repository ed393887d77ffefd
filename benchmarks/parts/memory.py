"""Acceptance line 8: memory, measured in processes of their own that do nothing else.

`python -m benchmarks.parts.memory peak|held URL` is such a process; it prints one JSON object.
"""

from __future__ import annotations

import asyncio
import gc
import json
import sys
from pathlib import Path
from typing import Any, Final, Literal

from benchmarks.contenders.base import WrongAnswerError
from benchmarks.contenders.ours import Ours
from benchmarks.graphs import PLANTED_SEED, node
from benchmarks.questions import Question, planted
from benchmarks.report import Line, Report
from benchmarks.sites import Sites
from gateway.settings.limits import LimitSettings

GRAPH: Final = 1_000_000
_HALF, _ALL = 500, 1_000
_MEGABYTE: Final = 1_000_000
_HUBS: Final = 150
_PATIENT: Final = LimitSettings(deadline_seconds=300)
"""A slow machine must not spare itself a part of the traversal."""

Probe = Literal["peak", "held"]


def large() -> Question:
    """Return a question with more than 100,000 edges in its answer: what surrounds the largest hubs."""
    hubs = tuple(node(index) for index in range(_HUBS))
    return Question(f"1 hop from {_HUBS} hubs", str(GRAPH), "local", hubs, 1)


async def measure(sites: Sites, report: Report) -> None:
    """Run both probes over the generated graph of a million triples on Oxigraph."""
    url = sites.at("oxigraph", str(GRAPH)).near
    peak = await _probed("peak", url)
    report.lines.append(
        Line(
            "8",
            f"peak above idle of a traversal of {peak['edges']:,} edges",
            "MB",
            200,
            (peak["peak"] - peak["idle"]) / _MEGABYTE,
            note=f"{peak['nodes']:,} nodes; idle is {peak['idle'] / _MEGABYTE:.0f} MB",
        )
    )
    held = await _probed("held", url)
    report.lines.append(
        Line(
            "8",
            f"held after {_ALL:,} different traversals (2 hops, max_degree 100) over what was held after {_HALF}",
            "times",
            1.1,
            held["all"] / held["half"],
            note=f"{held['half'] / _MEGABYTE:.0f} and {held['all'] / _MEGABYTE:.0f} MB",
        )
    )


async def _probed(probe: Probe, url: str) -> dict[str, Any]:
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "benchmarks.parts.memory", probe, url, stdout=asyncio.subprocess.PIPE
    )
    said, _ = await process.communicate()
    if process.returncode != 0:
        raise RuntimeError(f"the memory probe {probe} ended with code {process.returncode}")
    found: dict[str, Any] = json.loads(said)
    return found


async def _peak(url: str) -> dict[str, Any]:
    question = large()
    ours = Ours.at(url, question.profile)
    ours.profile = ours.profile.model_copy(update={"limits": _PATIENT})
    await ours.topology(planted(GRAPH))
    gc.collect()
    idle = _resident("VmRSS")
    _forget_the_peak()
    topology = await ours.topology(question)
    peak = _resident("VmHWM")
    await ours.close()
    if not topology.complete:
        raise WrongAnswerError(f"the traversal is not whole: {topology.gaps}")
    return {"idle": idle, "peak": peak, "nodes": len(topology.nodes), "edges": len(topology.edges)}


async def _held(url: str) -> dict[str, Any]:
    ours = Ours.at(url, planted(GRAPH).profile)
    gateway = ours.gateway()
    await gateway.bfs_query([PLANTED_SEED], 2)
    held: dict[int, int] = {}
    for count in range(1, _ALL + 1):
        # Ordinary nodes, and each neighbourhood another.
        await gateway.call(
            "bfs_query", {"seeds": [node(20_000 + 53 * count)], "max_hops": 2, "max_degree": 100, "topology_only": True}
        )
        if count in {_HALF, _ALL}:
            gc.collect()
            held[count] = _resident("VmRSS")
    await ours.close()
    return {"half": held[_HALF], "all": held[_ALL]}


def _resident(name: str) -> int:
    """Return a size of this process in bytes, as the kernel tells it."""
    for line in Path("/proc/self/status").read_text(encoding="ascii").splitlines():
        if line.startswith(f"{name}:"):
            return int(line.split()[1]) * 1024
    raise RuntimeError(f"this system tells no {name}; memory is measured on Linux only")


def _forget_the_peak() -> None:
    """Set the peak to what is resident now: starting up may have taken more (proc(5), clear_refs)."""
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")


def main() -> None:
    """Run one probe and print what it found."""
    probe, url = sys.argv[1:]
    found = asyncio.run(_peak(url) if probe == "peak" else _held(url))
    sys.stdout.write(json.dumps(found))


if __name__ == "__main__":
    main()
