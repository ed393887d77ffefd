"""Many clients that call the tools of one server for some minutes: what they got, and the server's memory meanwhile.

Each client has a session of its own over streamable HTTP. All are in this process, whose own work is in the times.
"""

from __future__ import annotations

import asyncio
import random
import statistics
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from mcp import Client, MCPError

from benchmarks.latencies import Latencies
from benchmarks.random_graphs import HUBS, name, node
from benchmarks.served import Served

CLIENTS: Final = 64
_SAMPLE_SECONDS: Final = 1.0
_WARM_UP_SAMPLES: Final = 300
"""Samples of the size until what is stored is as much as it will be: answers are stored for 300 s."""
_SHOWN: Final = 300
"""Characters of an error."""

_DISTINCT: Final = 600
"""Nodes that are asked for: some answers come from the cache, some do not."""

Question = Callable[[random.Random], tuple[str, dict[str, Any]]]
"""Draws a tool and its arguments."""


@dataclass(frozen=True, slots=True)
class Load:
    """What the clients saw.

    Attributes:
        calls: How long calls took.
        failed: How often calls ended in which error.
        seconds: How long the clients called.
        sizes: Resident bytes of the server, a figure each second.
    """

    calls: Latencies
    failed: Counter[str]
    seconds: float
    sizes: list[int]

    @property
    def errors(self) -> int:
        """Calls that ended in an error."""
        return self.failed.total()

    @property
    def said(self) -> str:
        """How many calls there were, and the errors, in words."""
        return "; ".join([f"{len(self.calls.seconds):,} calls", *(f"{n}: {text}" for text, n in self.failed.items())])

    @property
    def per_second(self) -> float:
        """Calls in a second."""
        return len(self.calls.seconds) / self.seconds

    @property
    def growth(self) -> float:
        """The resident size in the last quarter of the time after the warm-up over that in the first.

        Where the clients called for less than ten minutes, half of the time is warm-up, so caches may still fill.
        """
        settled = self.sizes[min(_WARM_UP_SAMPLES, len(self.sizes) // 2) :]
        quarter = max(1, len(settled) // 4)
        return statistics.mean(settled[-quarter:]) / statistics.mean(settled[:quarter])

    @property
    def curve(self) -> str:
        """The resident size over time, in words."""
        shown = self.sizes[:: max(1, len(self.sizes) // 10)]
        return f"over time {', '.join(f'{size / 1e6:.0f}' for size in shown)} MB"


async def load(server: Served, minutes: float, question: Question) -> Load:
    """Let many clients call one tool after another for some minutes."""
    calls = Latencies()
    began = time.monotonic()
    until = began + minutes * 60
    measuring = asyncio.create_task(_sizes(server, until))
    failed: Counter[str] = Counter()
    await asyncio.gather(*(_calling(server, until, calls, failed, seed, question) for seed in range(CLIENTS)))
    seconds = time.monotonic() - began
    return Load(calls, failed, seconds, await measuring)


async def _sizes(server: Served, until: float) -> list[int]:
    sizes: list[int] = []
    while time.monotonic() < until:
        sizes.append(server.resident_bytes())
        await asyncio.sleep(_SAMPLE_SECONDS)
    return sizes


async def _calling(
    server: Served, until: float, calls: Latencies, failed: Counter[str], seed: int, question: Question
) -> None:
    draw = random.Random(seed)  # noqa: S311 - the same every time
    async with Client(server.url, mode="legacy", read_timeout_seconds=120) as client:
        while time.monotonic() < until:
            try:
                with calls.timed():
                    answer = await client.call_tool(*question(draw))
            except MCPError as error:
                failed[str(error)[:_SHOWN]] += 1
            else:
                if answer.is_error:
                    failed[str(answer.content[0])[:_SHOWN]] += 1


def of_any_tool(draw: random.Random) -> tuple[str, dict[str, Any]]:
    """Draw a question about `random_graphs.HUBS`, of any of the six tools."""
    one, other = (HUBS.nodes // 2 + number for number in draw.sample(range(_DISTINCT), 2))
    kinds: tuple[tuple[str, dict[str, Any]], ...] = (
        ("bfs_query", {"seeds": [node(one)], "max_hops": 1}),
        ("bfs_query", {"seeds": [node(one)], "max_hops": 2, "max_degree": 50, "topology_only": True}),
        ("intersect_subgraphs", {"seeds": [node(one), node(other)], "k": 1, "topology_only": True}),
        ("describe_entity", {"id": node(one)}),
        ("describe_entities", {"ids": [node(one), node(other)]}),
        ("search_entities", {"query": name(one)}),
        ("describe_schema", {}),
    )
    return draw.choice(kinds)
