"""Thousands of calls while a database fails: none may be answered wrongly, or with a part that is called complete."""

import argparse
import asyncio
import logging
import random
import sys
from collections import Counter
from collections.abc import Callable, Coroutine, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from typing import Any, Final, Literal, Protocol, get_args

from gateway.errors import Fault
from gateway.tools.gateway import Gateway
from tests.databases.chain import around, near

FaultName = Literal["killed", "cancelled", "cut", "exhausted"]
"""The server ends the connection; it cancels the query, as by its time-out; the connection breaks off in the middle of
an answer; more calls come than one connection serves in their time."""

FAULTS: Final[tuple[FaultName, ...]] = get_args(FaultName)

_EACH: Final = 8
"""Calls to one gateway, which would send nothing for a while after more failures."""

_KINDS: Final = ("complete", "incomplete", "error")


class FailingDatabase(Protocol):
    """A database with the chain, which can be let fail."""

    def open(self, fault: FaultName) -> Gateway:
        """Open a gateway over it, without a cache; to see it exhausted, with one connection and little time."""

    def failing(self, fault: FaultName, draw: random.Random) -> AbstractAsyncContextManager[None]:
        """Let it fail while a block runs."""


@dataclass(slots=True)
class Report:
    """What came of the calls.

    Attributes:
        outcomes: Calls by fault and outcome: `complete`, `incomplete` or `error`.
        wrong: Calls whose answer was wrong, or not whole and complete.
    """

    outcomes: Counter[tuple[FaultName, str]] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)

    def as_text(self) -> str:
        """Return the figures, a line for each fault."""
        lines = [
            f"{fault}: " + ", ".join(f"{self.outcomes[fault, kind]} {kind}" for kind in _KINDS) for fault in FAULTS
        ]
        return "\n".join([*lines, f"wrong: {len(self.wrong)}", *self.wrong[:20], ""])


async def faulted(database: FailingDatabase, calls: int, seed: int) -> Report:
    """Make so many calls, under each fault in turn, and compare each answer with what is right."""
    report, draw = Report(), random.Random(seed)  # noqa: S311 - a test that can be repeated
    for number in range(-(-calls // _EACH)):
        fault = FAULTS[number % len(FAULTS)]
        nodes = [draw.randrange(61) for _ in range(min(_EACH, calls - number * _EACH))]
        async with database.open(fault) as gateway:
            if fault == "exhausted":
                await asyncio.gather(*(count_call(gateway, node, fault, report) for node in nodes))
                continue
            for node in nodes:
                async with database.failing(fault, draw):
                    await count_call(gateway, node, fault, report)
    return report


async def count_call(gateway: Gateway, node: int, fault: FaultName, report: Report) -> None:
    """Make one call, and count what came of it."""
    try:
        complete, found = await around(gateway, node)
    except Fault:
        report.outcomes[fault, "error"] += 1
        return
    report.outcomes[fault, "complete" if complete else "incomplete"] += 1
    if not found <= near(node) or (complete and found != near(node)):
        report.wrong.append(f"{fault}: node {node}, {'complete' if complete else 'incomplete'}, {sorted(found)}")


def main(
    module: str,
    make_calls: Callable[[int, int], Coroutine[Any, Any, Report]],
    arguments: Sequence[str] | None = None,
) -> int:
    """Make the calls, print the figures, and return the exit code: 1 when one was answered wrongly.

    Args:
        module: What is run with `python -m`.
        make_calls: Makes so many calls, drawn by a seed.
        arguments: Those of the command line.
    """
    parser = argparse.ArgumentParser(prog=f"python -m {module}", description=__doc__)
    parser.add_argument("--calls", type=int, default=2_000)
    parser.add_argument("--seed", type=int, default=2026)
    options = parser.parse_args(arguments)
    # Thousands of connections break here, and each break is logged.
    logging.getLogger("gateway").setLevel(logging.CRITICAL)
    report = asyncio.run(make_calls(options.calls, options.seed))
    sys.stdout.write(report.as_text())
    return 1 if report.wrong else 0


def check(report: Report, calls: int) -> None:
    """Fail if a call was answered wrongly, or a fault did nothing."""
    assert report.wrong == []
    assert report.outcomes.total() == calls
    assert {fault for fault, _ in report.outcomes} == set(FAULTS)
    assert {kind for _, kind in report.outcomes} > {"complete"}
