"""`python -m tests.fuzz`: hostile input for some minutes; exit code 1 where something went wrong."""

import argparse
import asyncio
import logging
import os
import random
import sys
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from tests.fuzz.targets import TARGETS

_MOST_GROWTH: Final = 64 << 20
"""Bytes by which the process may grow after its first tenth: allocators keep what they had."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Fuzz and return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--seed", type=int, default=2026)
    parser.add_argument("--target", action="append", choices=list(TARGETS), help="may be given again; all where absent")
    options = parser.parse_args(arguments)
    logging.disable(logging.CRITICAL)
    return asyncio.run(_fuzz(options.target or list(TARGETS), options.seed, 60 * options.minutes))


async def _fuzz(targets: Sequence[str], seed: int, seconds: float) -> int:
    rounds: Counter[str] = Counter()
    findings: Counter[str] = Counter()
    begun = time.monotonic()
    settled = 0
    reported = begun
    while (now := time.monotonic()) - begun < seconds:
        target = targets[sum(rounds.values()) % len(targets)]
        name = f"{seed} {target} {rounds[target]}"
        rounds[target] += 1
        try:
            problems = await TARGETS[target](random.Random(name))  # noqa: S311 - seeded, so that it can be repeated
        except Exception as error:  # noqa: BLE001 - whatever is raised is what this looks for
            problems = [f"{type(error).__name__}: {str(error)[:500]}"]
        for problem in problems:
            findings[target] += 1
            if findings[target] <= 20:
                sys.stdout.write(f"[{name}] {problem[:700]}\n")
        if not settled and now - begun > seconds / 10:
            settled = _resident()
        if now - reported > 60:
            reported = now
            sys.stderr.write(f"{now - begun:,.0f} s {dict(rounds)} {dict(findings)} {_resident() >> 20} MiB\n")
    grown = _resident() - settled
    sys.stdout.write(f"rounds {dict(rounds)}, findings {dict(findings)}, grown by {grown / (1 << 20):.1f} MiB\n")
    return 1 if findings or grown > _MOST_GROWTH else 0


def _resident() -> int:
    """Return the memory of this process, in bytes; 0 where the system does not say."""
    statm = Path("/proc/self/statm")
    return int(statm.read_text(encoding="ascii").split()[1]) * os.sysconf("SC_PAGE_SIZE") if statm.exists() else 0


if __name__ == "__main__":
    sys.exit(main())
