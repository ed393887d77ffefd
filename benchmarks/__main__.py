"""`python -m benchmarks [PART ...] [--against CHECKOUT] [--json FILE]`: all parts, or those that are named."""

from __future__ import annotations

import argparse
import asyncio
import json
import logging
import os
import signal
import sys
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from pathlib import Path

from rich.console import Console

from benchmarks.parts import (
    access,
    against,
    blank_hops,
    blank_nodes,
    clients,
    databases,
    degrees,
    explorer,
    fairness,
    growth,
    memory,
    pathological,
    policy,
    python,
    requests,
    rounds,
    schema,
    speed,
    start,
    values,
    wire,
    workers,
)
from benchmarks.report import Line, Report, show
from benchmarks.sites import Sites
from tests.servers.unavailable import ServerUnavailable

Part = Callable[[Sites, Report], Awaitable[None]]

PARTS: Mapping[str, Part] = {
    "requests": requests.measure,
    "speed": speed.measure,
    "wire": wire.measure,
    "degrees": degrees.measure,
    "databases": databases.measure,
    "growth": growth.measure,
    "memory": memory.measure,
    "start": start.measure,
    "schema": schema.measure,
    "values": values.measure,
    "blanknodes": blank_nodes.measure,
    "blankhops": blank_hops.measure,
    "fairness": fairness.measure,
    "access": access.measure,
    "explorer": explorer.measure,
    "python": python.measure,
    "clients": clients.measure,
    "workers": partial(workers.measure, minutes=clients.MINUTES),
    "pathological": pathological.measure,
    "policy": policy.measure,
    "rounds": rounds.measure,
    "session": rounds.measure_session,
}

_ONLY_BY_NAME = frozenset({"pathological", "policy"})
"""Parts that take longer than all others together."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the parts and print the tables; 1 where a target was missed."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description="What the gateway costs.")
    parser.add_argument(
        "parts",
        nargs="*",
        metavar="PART",
        help=f"{', '.join(PARTS)}, where none is named all but {', '.join(_ONLY_BY_NAME)}",
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all figures there too; - is standard output")
    parser.add_argument(
        "--against",
        type=Path,
        metavar="CHECKOUT",
        help="compare with the gateway of another checkout; only the named parts beside it",
    )
    parser.add_argument(
        "--minutes", type=float, default=clients.MINUTES, help="how long the parts clients and workers call"
    )
    options = parser.parse_args(arguments)
    wrong = [name for name in options.parts if name not in PARTS]
    if wrong:
        parser.error(f"no such part: {', '.join(wrong)}; there are {', '.join(PARTS)}")
    # Whoever ends a run still hears what it showed, and its servers are stopped.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    # The SDK's client logs a traceback for each message that comes after its session has ended.
    logging.getLogger("mcp").setLevel(logging.CRITICAL)
    report = Report()
    try:
        asyncio.run(_run(_chosen(options), report))
    except KeyboardInterrupt:
        return 130
    finally:
        # A run takes long: what it showed before something failed is told all the same.
        _tell(report, options.json)
    return 1 if any(line.verdict == "missed" for line in report.lines) else 0


def _chosen(options: argparse.Namespace) -> Mapping[str, Part]:
    """Return the parts to run: those that are named, all where nothing else is asked for."""
    timed = {
        "clients": partial(clients.measure, minutes=options.minutes),
        "workers": partial(workers.measure, minutes=options.minutes),
    }
    parts: dict[str, Part] = {**PARTS, **timed}
    if options.against is None:
        return {name: parts[name] for name in options.parts or (name for name in parts if name not in _ONLY_BY_NAME)}
    chosen = {name: parts[name] for name in options.parts}
    return {**chosen, "against": partial(against.measure, options.against.resolve())}


async def _run(parts: Mapping[str, Part], report: Report) -> None:
    with Sites() as sites:
        for name, measure in parts.items():
            began = time.monotonic()
            try:
                await measure(sites, report)
            except ServerUnavailable as error:
                report.lines.append(Line(name, "the whole part", "", None, None, note=error.reason))
                sys.stderr.write(f"{name}: not measured: {error}\n")
                continue
            # A run takes about one core and a half; more than two means that others were at work.
            sys.stderr.write(f"{name}: {time.monotonic() - began:.0f} s, load {os.getloadavg()[0]:.1f}\n")


def _tell(report: Report, file: Path | None) -> None:
    written = json.dumps(report.json, indent=1)
    if file == Path("-"):
        sys.stdout.write(f"{written}\n")
        return
    show(report, Console(width=None if sys.stdout.isatty() else 160))
    if file is not None:
        file.write_text(f"{written}\n", encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
