"""From the wire to the reader: time over the bare requests, own CPU for a row, presentation and MCP."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from functools import partial
from typing import Final

from benchmarks.contenders.asking import plain_client
from benchmarks.contenders.bare import resend
from benchmarks.contenders.base import Run, Size, WrongAnswerError
from benchmarks.contenders.ours import connected, size_of
from benchmarks.contenders.reading import RowReader
from benchmarks.measure import interleaved
from benchmarks.questions import TWO_HOPS
from benchmarks.race import OURS, Race, opened
from benchmarks.report import Line, Report
from benchmarks.sites import ENGINES, EngineName, Site, Sites
from gateway.server.run import collected_between_calls

ROUNDS: Final = 5
WIRE_ENGINES: Final[tuple[EngineName, ...]] = (*ENGINES, "virtuoso")

PRESENTED: Final = "with presentation"
PUBLISHED: Final = "with presentation and MCP"
ALL_AT_ONCE: Final = "bare client, all requests at once"
IN_STEPS: Final = "bare client, in the gateway's steps"
ROWS: Final = "bare client, in steps, that reads rows"
READING: Final = "the bodies read into rows, nothing else"

_SHOWN: Final = 1_000
"""Characters of an error that shows an answer."""

_FLOOR: Final = 3.0
_OVER_BARE: Final = 1.5
_OVER_ENGINE: Final = 1.15


async def measure(sites: Sites, report: Report) -> None:
    """Run the traversal on every engine, near and far."""
    for engine in WIRE_ENGINES:
        site = sites.at(engine, TWO_HOPS.graph)
        for far in (False, True):
            race = await _race(site, far=far)
            report.measurements += race.measurements(TWO_HOPS)
            report.lines += _lines_far(race) if far else _lines_near(race)


async def _race(site: Site, *, far: bool) -> Race:
    question = TWO_HOPS
    async with AsyncExitStack() as stack:
        # As in a server: a full collection during an answer would be in the time of whoever it hits.
        await stack.enter_async_context(collected_between_calls(is_idle=lambda: False))
        ours = await opened(stack, site, question, far=far)
        ours.forget()
        with ours.wire.recording() as recorded:
            await ours.topology(question, for_page=True)
        bare = await stack.enter_async_context(plain_client(site.far if far else site.near))
        concurrency = ours.profile.endpoint.requests.concurrency
        gateway = ours.gateway()
        # A server reads the schema in full at its start; without labels of types, each answer would ask for some.
        gateway.start()
        await gateway.wait_until_ready()
        model = await stack.enter_async_context(connected(gateway))
        arguments = {"seeds": list(question.seeds), "max_hops": question.hops, "topology_only": True}

        async def at_the_engine() -> Size:
            return size_of(await ours.topology(question, for_page=True))

        async def presented() -> Size:
            answer = await gateway.call("bfs_query", arguments, shape="compact")
            return _told(answer.as_json())

        async def published() -> Size:
            result = await model.call_tool("bfs_query", arguments)
            return _told(result.structured_content or {})

        runs: dict[str, Run] = {
            OURS: at_the_engine,
            PRESENTED: presented,
            PUBLISHED: published,
            IN_STEPS: partial(resend, bare, recorded, concurrency, in_steps=True),
            ALL_AT_ONCE: partial(resend, bare, recorded, concurrency, in_steps=False),
        }
        if not far:
            rows = RowReader(bare, recorded)
            runs[ROWS] = partial(resend, rows, recorded, concurrency, in_steps=True)
            runs[READING] = rows.read_recorded
        size = Size(question.nodes, question.edges)
        samples = await interleaved(runs, ROUNDS, before=gateway.forget, size=size)
    return Race(site, far, samples, dict.fromkeys(runs, recorded))


def _told(answer: Mapping[str, object]) -> Size:
    if not answer.get("complete"):
        raise WrongAnswerError(f"incomplete: {answer.get('incomplete') or answer}"[:_SHOWN])
    nodes, edges = answer.get("node_count"), answer.get("edge_count")
    return Size(nodes if isinstance(nodes, int) else 0, edges if isinstance(edges, int) else 0)


def _lines_near(race: Race) -> Sequence[Line]:
    engine, floor = race.samples[OURS].cpu_seconds, race.samples[READING].cpu_seconds
    microseconds = engine / race.seen[OURS].rows * 1e6
    return [
        Line(
            "wire 1", f"time over the bare client's, {race.place}", "times", None, race.ratio(ALL_AT_ONCE), note=_ONCE
        ),
        Line("wire 1", f"time over the bare client's, {race.place}", "times", None, race.ratio(IN_STEPS), note=_STEPS),
        Line(
            "wire 2",
            f"own CPU over that of reading the bodies into rows, {race.place}",
            "times",
            _FLOOR,
            engine / floor,
            note=f"{microseconds:.1f} µs a row",
        ),
        Line(
            "wire 2",
            f"own CPU over that of a bare client that reads rows, {race.place}",
            "times",
            None,
            engine / race.samples[ROWS].cpu_seconds,
        ),
        *_lines_over_engine(race, _OVER_ENGINE),
    ]


def _lines_far(race: Race) -> Sequence[Line]:
    # Virtuoso takes so long to answer that the ratio says nothing about the gateway.
    target = None if race.site.engine == "virtuoso" else _OVER_BARE
    return [
        Line(
            "wire 1", f"time over the bare client's, {race.place}", "times", target, race.ratio(ALL_AT_ONCE), note=_ONCE
        ),
        Line("wire 1", f"time over the bare client's, {race.place}", "times", None, race.ratio(IN_STEPS), note=_STEPS),
        *_lines_over_engine(race, None),
    ]


def _lines_over_engine(race: Race, target: float | None) -> Sequence[Line]:
    return [
        Line("wire 3", f"time {name} over the engine alone, {race.place}", "times", target, 1 / race.ratio(name))
        for name in (PRESENTED, PUBLISHED)
    ]


_ONCE: Final = "all at once"
_STEPS: Final = "in steps"
