"""One question, asked by several contenders at one place in turn."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass
from typing import Final

from benchmarks.contenders.ours import Ours
from benchmarks.measure import Samples, median_ratio
from benchmarks.questions import Question
from benchmarks.recording import Recording
from benchmarks.report import Measurement
from benchmarks.sites import FAR, Site

OURS: Final = "this gateway, at the engine"


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


async def opened(stack: AsyncExitStack, site: Site, question: Question, *, far: bool) -> Ours:
    """Open this gateway at a site, until the stack closes, and let it learn about the endpoint what it will."""
    ours = Ours.at(site.far if far else site.near, question.profile, site.named)
    stack.push_async_callback(ours.close)
    await ours.topology(question)
    return ours
