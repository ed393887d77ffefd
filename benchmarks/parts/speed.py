"""Acceptance line 6: time against the other ways to the same answer."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from functools import partial
from typing import Final

import aiohttp

from benchmarks.contenders import by_hand
from benchmarks.contenders.asking import PlainClient, plain_client
from benchmarks.contenders.base import Run, Size
from benchmarks.contenders.one_by_one import walk
from benchmarks.contenders.ours import size_of
from benchmarks.measure import Samples, interleaved
from benchmarks.questions import BOTH, TWO_HOPS
from benchmarks.race import OURS, Race, opened
from benchmarks.recording import Recording
from benchmarks.report import Line, Report
from benchmarks.sites import ENGINES, Site, Sites

ROUNDS: Final = 7
_PATIENCE_SECONDS: Final = 20.0
"""Time for a query by hand to finish at all; on some engines two paths in one query are a nested loop."""

_GRACE_SECONDS: Final = 5.0

BY_HAND: Final = "one query by hand"
SCRIPT: Final = "three queries by hand"
ONE_BY_ONE: Final = "one by one, the same edges"
AS_EXISTING: Final = "one by one, walking P31 too"


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
        ours = await opened(stack, site, question, far=far)
        ours.forget()
        with ours.wire.recording() as recorded:
            await ours.topology(question)
        clients = {
            name: await stack.enter_async_context(plain_client(url)) for name in (BY_HAND, ONE_BY_ONE, AS_EXISTING)
        }

        async def at_the_engine() -> Size:
            return size_of(await ours.topology(question))

        runs: dict[str, Run] = {
            OURS: at_the_engine,
            BY_HAND: partial(by_hand.one_query, clients[BY_HAND], question),
            ONE_BY_ONE: partial(walk, clients[ONE_BY_ONE], question, types_are_edges=False),
        }
        size = Size(question.nodes, question.edges)
        samples = await interleaved(runs, ROUNDS, before=ours.forget, once=[ONE_BY_ONE], size=size)
        if far:
            # It walks along P31, so it comes to another answer and has no part in the others' check.
            existing: Run = partial(walk, clients[AS_EXISTING], question, types_are_edges=True)
            samples |= await interleaved({AS_EXISTING: existing}, 1, once=[AS_EXISTING])
    return Race(site, far, samples, {OURS: recorded} | _per_run(clients, samples))


async def _intersection(site: Site, *, far: bool) -> Race:
    question, url = BOTH, site.far if far else site.near
    async with AsyncExitStack() as stack:
        ours = await opened(stack, site, question, far=far)
        ours.forget()
        with ours.wire.recording() as recorded:
            await ours.topology(question)
        clients = {
            name: await stack.enter_async_context(plain_client(url, _PATIENCE_SECONDS)) for name in (BY_HAND, SCRIPT)
        }

        async def at_the_engine() -> Size:
            return size_of(await ours.topology(question))

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


async def _finishes(run: Run) -> bool:
    try:
        async with asyncio.timeout(_PATIENCE_SECONDS + _GRACE_SECONDS):
            await run()
    except (TimeoutError, aiohttp.ClientResponseError, ValueError):
        # The server was told the same time: it says 503, or breaks off in the middle of its JSON.
        return False
    return True


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
    if not race.far:
        return []
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
    ]


def _lines_of_intersection(race: Race) -> Sequence[Line]:
    hands = [name for name in (BY_HAND, SCRIPT) if name in race.samples]
    best = min(hands, key=lambda name: race.samples[name].seconds)
    unfinished = "" if BY_HAND in hands else f"; in one query it takes over {_PATIENCE_SECONDS:.0f} s"
    what = f"intersection over the best by hand, {race.place}"
    return [Line("6 iv", what, "times", 2, race.ratio(best), note=f"{best}{unfinished}")]
