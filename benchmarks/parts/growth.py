"""Acceptance line 7: the same neighbourhood inside graphs of three sizes."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AsyncExitStack
from functools import partial
from typing import Final

from benchmarks.contenders.asking import plain_client
from benchmarks.contenders.bare import resend
from benchmarks.contenders.base import Run, Size
from benchmarks.contenders.ours import Ours, size_of
from benchmarks.graphs import SIZES
from benchmarks.measure import interleaved, median_difference
from benchmarks.questions import Question, planted
from benchmarks.recording import Recording
from benchmarks.report import Line, Measurement, Report
from benchmarks.sites import Sites

ROUNDS: Final = 60
"""A small question: what is compared are a few milliseconds."""


async def measure(sites: Sites, report: Report) -> None:
    """Ask the planted question in every size, all sizes in the same rounds."""
    questions = {size: planted(size) for size in SIZES}
    seen: dict[int, Recording] = {}
    runs: dict[str, Run] = {}
    forgetting: list[Callable[[], None]] = []

    def forget() -> None:
        for one in forgetting:
            one()

    async with AsyncExitStack() as stack:
        for size, question in questions.items():
            url = sites.at("oxigraph", question.graph).near
            ours = Ours.at(url, question.profile)
            stack.push_async_callback(ours.close)
            await ours.topology(question)
            ours.forget()
            forgetting.append(ours.forget)
            with ours.wire.recording() as seen[size]:
                await ours.topology(question)
            client = await stack.enter_async_context(plain_client(url))
            concurrency = ours.profile.endpoint.requests.concurrency
            runs[f"ours {size}"] = partial(_answer, ours, question)
            runs[f"bare {size}"] = partial(resend, client, seen[size], concurrency, in_steps=True)
        answer = questions[SIZES[0]]
        samples = await interleaved(runs, ROUNDS, before=forget, size=Size(answer.nodes, answer.edges))
    for size, question in questions.items():
        for name in ("ours", "bare"):
            one = samples[f"{name} {size}"]
            report.measurements.append(
                Measurement(
                    question=question.name,
                    engine="oxigraph",
                    delay_ms=0,
                    contender="this gateway, at the engine"
                    if name == "ours"
                    else "bare client, in the gateway's steps",
                    seconds=one.seconds,
                    ratio=one.seconds / samples[f"ours {size}"].seconds,
                    requests=len(seen[size].requests),
                    rows=seen[size].rows,
                    bytes=seen[size].bytes,
                    cpu_us_per_row=one.cpu_seconds / seen[size].rows * 1e6,
                    runs=len(one.runs),
                )
            )
    own = [median_difference(samples[f"ours {size}"], samples[f"bare {size}"]) for size in SIZES]
    requests = [len(seen[size].requests) for size in SIZES]
    report.lines += [
        Line(
            "7",
            f"difference in requests between {SIZES[0]:,} and {SIZES[-1]:,} triples",
            "requests",
            0,
            max(requests) - min(requests),
            note=f"{requests[0]} at the smallest",
        ),
        Line(
            "7",
            f"time minus the bare client's at {SIZES[-1]:,} triples over that at {SIZES[0]:,}",
            "times",
            1.3,
            own[-1] / own[0],
            note=", ".join(f"{seconds * 1000:.1f} ms" for seconds in own),
        ),
    ]


async def _answer(ours: Ours, question: Question) -> Size:
    return size_of(await ours.topology(question))
