"""Side by side in one run: contenders take turns, so that whatever else the machine does falls on all of them."""

from __future__ import annotations

import gc
import statistics
import time
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from benchmarks.contenders.base import NO_ANSWER, Run, Size, WrongAnswerError


@dataclass(frozen=True, slots=True)
class Sample:
    """One run of one contender.

    Attributes:
        seconds: From the question to the answer.
        cpu_seconds: Of this process, all threads; the server and the proxy are others.
    """

    seconds: float
    cpu_seconds: float


@dataclass(frozen=True, slots=True)
class Samples:
    """All runs of one contender."""

    runs: tuple[Sample, ...]

    @property
    def seconds(self) -> float:
        """The median time."""
        return statistics.median(run.seconds for run in self.runs)

    @property
    def cpu_seconds(self) -> float:
        """The median CPU time."""
        return statistics.median(run.cpu_seconds for run in self.runs)


def median_ratio(ours: Samples, theirs: Samples) -> float:
    """Return the median of the ratios of runs that stood next to each other, or of the medians where one ran once."""
    if len(ours.runs) == len(theirs.runs):
        pairs = zip(ours.runs, theirs.runs, strict=True)
        return statistics.median(one.seconds / other.seconds for one, other in pairs)
    return ours.seconds / theirs.seconds


def median_difference(ours: Samples, theirs: Samples) -> float:
    """Return the median of the differences, in seconds, of runs that stood next to each other."""
    return statistics.median(one.seconds - other.seconds for one, other in zip(ours.runs, theirs.runs, strict=True))


def area_under_curve(ones: Sequence[float], others: Sequence[float]) -> float:
    """Return the share of pairs in which one of the ones is the larger; it is 0.5 where nothing tells them apart."""
    ordered = sorted(others)
    below = sum(bisect_left(ordered, one) + bisect_right(ordered, one) for one in ones)
    return below / (2 * len(ones) * len(others))


async def interleaved(
    contenders: Mapping[str, Run],
    rounds: int,
    *,
    before: Callable[[], None] = lambda: None,
    once: Sequence[str] = (),
    size: Size | None = None,
) -> dict[str, Samples]:
    """Let the contenders answer in turn, round after round, after one round that is not counted.

    Every other round goes backwards, because whoever comes second at a server finds its caches warm.

    Args:
        contenders: Who runs, by name.
        rounds: Rounds that are counted.
        before: Done before each run and not counted: caches are emptied.
        once: Those that are too slow to run more than once; they run in the middle of the rounds, not warmed up.
        size: What every contender that makes an answer must come to.

    Raises:
        WrongAnswerError: A contender came to something else.
    """
    samples: dict[str, list[Sample]] = {name: [] for name in contenders}
    for turn in range(-1, rounds):
        for name in list(contenders)[:: -1 if turn % 2 else 1]:
            if name in once and turn != rounds // 2:
                continue
            before()
            sample, answer = await _sampled(contenders[name])
            if size is not None and answer not in {size, NO_ANSWER}:
                raise WrongAnswerError(f"{name}: {answer}, and {size} is right")
            if turn >= 0:
                samples[name].append(sample)
    return {name: Samples(tuple(runs)) for name, runs in samples.items()}


async def _sampled(run: Run) -> tuple[Sample, Size]:
    gc.collect()
    cpu, began = time.process_time(), time.perf_counter()
    answer = await run()
    return Sample(time.perf_counter() - began, time.process_time() - cpu), answer
