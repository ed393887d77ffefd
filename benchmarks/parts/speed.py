"""Acceptance line 6: time against the other ways to the same answer, and CPU time for a row."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from functools import partial
from typing import Final

import aiohttp

from benchmarks.contenders import by_hand
from benchmarks.contenders.asking import PlainClient, plain_client
from benchmarks.contenders.bare import resend
from benchmarks.contenders.base import Run, Size
from benchmarks.contenders.one_by_one import walk
from benchmarks.contenders.ours import Ours, connected, size_of
from benchmarks.measure import Samples, interleaved, median_ratio
from benchmarks.questions import BOTH, TWO_HOPS, Question
from benchmarks.recording import Recording
from benchmarks.report import Line, Measurement, Report
from benchmarks.sites import ENGINES, FAR, Site, Sites

ROUNDS: Final = 7
_PATIENCE_SECONDS: Final = 20.0
"""Time for a query by hand to finish at all; on some engines two paths in one query are a nested loop."""

_GRACE_SECONDS: Final = 5.0

OURS: Final = "this gateway, at the engine"
PRESENTED: Final = "with presentation"
PUBLISHED: Final = "with presentation and MCP"
ALL_AT_ONCE: Final = "bare client, all requests at once"
IN_STEPS: Final = "bare client, in the gateway's steps"
BY_HAND: Final = "one query by hand"
SCRIPT: Final = "three queries by hand"
ONE_BY_ONE: Final = "one by one, the same edges"
AS_EXISTING: Final = "one by one, walking P31 too"


@dataclass(frozen=True, slots=True)
class Race:
    """What one race showed.

    Attributes:
        site: Where it was.
        far: Whether every request took longer.
        samples: Runs by contender.
        seen: Requests, rows and bytes by contender, where they were counted.
    """

    site: Site
    far: bool
    samples: Mapping[str, Samples]
    seen: Mapping[str, Recording]

    @property
    def place(self) -> str:
        """Where, in words."""
        return f"{self.site.engine} at +{FAR * 1000 if self.far else 0:.0f} ms"

    def ratio(self, other: str) -> float:
        """Return the gateway's time over another's."""
        return median_ratio(self.samples[OURS], self.samples[other])

    def measurements(self, question: Question) -> list[Measurement]:
        """Return the table's rows about this race."""
        ours = self.samples[OURS].seconds
        return [
            Measurement(
                question=question.name,
                engine=self.site.engine,
                delay_ms=round(FAR * 1000) if self.far else 0,
                contender=name,
                seconds=samples.seconds,
                ratio=samples.seconds / ours,
                requests=len(seen.requests) if (seen := self.seen.get(name)) else None,
                rows=seen.rows if seen else None,
                bytes=seen.bytes if seen else None,
                cpu_us_per_row=samples.cpu_seconds / seen.rows * 1e6 if seen else None,
                runs=len(samples.runs),
            )
            for name, samples in self.samples.items()
        ]


async def measure(sites: Sites, report: Report) -> None:
    """Run the traversal and the intersection on every engine, near and far."""
    for engine in ENGINES:
        site = sites.at(engine, "codex-m")
        for far in (False, True):
            race = await _traversal(site, far=far)
            report.measurements += race.measurements(TWO_HOPS)
            report.lines += _lines_of_traversal(race)
        for far in (False, True):
            race = await _intersection(site, far=far)
            report.measurements += race.measurements(BOTH)
            report.lines += _lines_of_intersection(race)


async def _traversal(site: Site, *, far: bool) -> Race:
    question, url = TWO_HOPS, site.far if far else site.near
    async with AsyncExitStack() as stack:
        ours = await _opened(stack, url, question)
        ours.forget()
        with ours.wire.recording() as recorded:
            await ours.topology(question)
        clients = {
            name: await stack.enter_async_context(plain_client(url))
            for name in (IN_STEPS, ALL_AT_ONCE, BY_HAND, ONE_BY_ONE, AS_EXISTING)
        }
        concurrency = ours.profile.endpoint.requests.concurrency
        gateway = ours.gateway()
        model = await stack.enter_async_context(connected(gateway))
        arguments = {"seeds": list(question.seeds), "max_hops": question.hops, "topology_only": True}

        async def at_the_engine() -> Size:
            return size_of(await ours.topology(question))

        async def presented() -> Size:
            answer = await gateway.call("bfs_query", arguments)
            return _told(answer.as_json())

        async def published() -> Size:
            result = await model.call_tool("bfs_query", arguments)
            return _told(result.structured_content or {})

        runs: dict[str, Run] = {
            OURS: at_the_engine,
            PRESENTED: presented,
            PUBLISHED: published,
            IN_STEPS: partial(resend, clients[IN_STEPS], recorded, concurrency, in_steps=True),
            ALL_AT_ONCE: partial(resend, clients[ALL_AT_ONCE], recorded, concurrency, in_steps=False),
            BY_HAND: partial(by_hand.one_query, clients[BY_HAND], question),
            ONE_BY_ONE: partial(walk, clients[ONE_BY_ONE], question, types_are_edges=False),
        }
        size = Size(question.nodes, question.edges)
        samples = await interleaved(runs, ROUNDS, before=gateway.forget, once=[ONE_BY_ONE], size=size)
        if far:
            # It walks along P31, so it comes to another answer and has no part in the others' check.
            existing: Run = partial(walk, clients[AS_EXISTING], question, types_are_edges=True)
            samples |= await interleaved({AS_EXISTING: existing}, 1, once=[AS_EXISTING])
    seen = {OURS: recorded, IN_STEPS: recorded, ALL_AT_ONCE: recorded}
    return Race(site, far, samples, seen | _per_run(clients, samples))


async def _intersection(site: Site, *, far: bool) -> Race:
    question, url = BOTH, site.far if far else site.near
    async with AsyncExitStack() as stack:
        ours = await _opened(stack, url, question)
        # By hand no names are asked for, so the gateway does without them too.
        ours.forget()
        with ours.wire.recording() as recorded:
            await ours.topology(question, names=False)
        clients = {
            name: await stack.enter_async_context(plain_client(url, _PATIENCE_SECONDS)) for name in (BY_HAND, SCRIPT)
        }

        async def at_the_engine() -> Size:
            return size_of(await ours.topology(question, names=False))

        runs: dict[str, Run] = {
            OURS: at_the_engine,
            SCRIPT: partial(by_hand.three_queries, clients[SCRIPT], question),
        }
        by_one: Run = partial(by_hand.one_query, clients[BY_HAND], question)
        if await _finishes(by_one):
            runs[BY_HAND] = by_one
            clients[BY_HAND].seen = Recording()
        size = Size(question.nodes, question.edges)
        samples = await interleaved(runs, ROUNDS, before=ours.forget, size=size)
    return Race(site, far, samples, {OURS: recorded} | _per_run(clients, samples))


async def _opened(stack: AsyncExitStack, url: str, question: Question) -> Ours:
    """Open this gateway and let it learn about the endpoint what it will."""
    ours = Ours.at(url, question.profile)
    stack.push_async_callback(ours.close)
    await ours.topology(question)
    return ours


async def _finishes(run: Run) -> bool:
    try:
        async with asyncio.timeout(_PATIENCE_SECONDS + _GRACE_SECONDS):
            await run()
    except (TimeoutError, aiohttp.ClientResponseError, ValueError):
        # The server was told the same time: it says 503, or breaks off in the middle of its JSON.
        return False
    return True


def _told(answer: Mapping[str, object]) -> Size:
    nodes, edges = answer.get("node_count"), answer.get("edge_count")
    return Size(nodes if isinstance(nodes, int) else 0, edges if isinstance(edges, int) else 0)


def _per_run(clients: Mapping[str, PlainClient], samples: Mapping[str, Samples]) -> dict[str, Recording]:
    """Return what each plain client saw in one run; its warm-up counts as one, and each run sees the same."""
    found: dict[str, Recording] = {}
    for name, client in clients.items():
        seen = client.seen
        if not seen.answers or name not in samples:
            continue
        runs = len(samples[name].runs) + (0 if name in {ONE_BY_ONE, AS_EXISTING} else 1)
        found[name] = Recording(seen.requests[: len(seen.requests) // runs], seen.rows // runs, seen.bytes // runs)
    return found


def _lines_of_traversal(race: Race) -> Sequence[Line]:
    rows = race.seen[OURS].rows
    cpu = race.samples[OURS].cpu_seconds / rows * 1e6
    at_once, in_steps = race.ratio(ALL_AT_ONCE), race.ratio(IN_STEPS)
    if not race.far:
        return [
            Line("6 ii", f"own CPU for a row of 2 hops, {race.place}", "µs", 10, cpu),
            Line("6 iii", f"time over the bare client's, {race.place}", "times", None, at_once, note="all at once"),
            Line("6 iii", f"time over the bare client's, {race.place}", "times", None, in_steps, note="in steps"),
        ]
    same = 1 / race.ratio(ONE_BY_ONE)
    existing = 1 / race.ratio(AS_EXISTING)
    asked = len(race.seen[ONE_BY_ONE].requests), len(race.seen[AS_EXISTING].requests)
    return [
        Line(
            "6 i",
            f"faster than one by one as the existing implementation asks, {race.place}",
            "times",
            100,
            existing,
            at_least=True,
            note=f"{asked[1]:,} requests, one run",
        ),
        Line(
            "6 i",
            f"faster than one by one with our own edges, {race.place}",
            "times",
            None,
            same,
            at_least=True,
            note=f"{asked[0]:,} requests, one run",
        ),
        Line("6 iii", f"time over the bare client's, {race.place}", "times", 1.5, at_once, note="all at once"),
        Line("6 iii", f"time over the bare client's, {race.place}", "times", 1.5, in_steps, note="in steps"),
    ]


def _lines_of_intersection(race: Race) -> Sequence[Line]:
    hands = [name for name in (BY_HAND, SCRIPT) if name in race.samples]
    best = min(hands, key=lambda name: race.samples[name].seconds)
    unfinished = "" if BY_HAND in hands else f"; in one query it takes over {_PATIENCE_SECONDS:.0f} s"
    what = f"intersection over the best by hand, {race.place}"
    return [Line("6 iv", what, "times", 2, race.ratio(best), note=f"{best}{unfinished}")]
