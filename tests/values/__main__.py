"""`python -m tests.values`: drawn questions about values; exit code 1 where an answer is wrong or many are refused."""

import argparse
import asyncio
import json
import logging
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Final

from tests.values.asking import ask_all
from tests.values.faulty import ask_through_faults
from tests.values.graphs import KINDS, DrawnGraph, drawn
from tests.values.run import Report
from tests.values.stores import BEHIND_HTTP, STORES, StoreName, store_with

_SHOWN: Final = 5
"""Findings of a store that are printed."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Ask and return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.values", description=__doc__)
    parser.add_argument("--questions", type=int, default=400, help="on each store")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--graphs", type=int, default=2 * len(KINDS), help="drawn graphs")
    parser.add_argument("--store", action="append", choices=STORES, help="may be given again; `files` where absent")
    parser.add_argument("--faults", action="store_true", help="through a proxy that injects the faults of the soak")
    parser.add_argument("--json", type=Path, metavar="FILE", help="where all findings go")
    options = parser.parse_args(arguments)
    stores: Sequence[StoreName] = options.store or ["files"]
    if options.faults and (others := [name for name in stores if name not in BEHIND_HTTP]):
        parser.error(f"--faults: {', '.join(others)} is no SPARQL server; those are {', '.join(BEHIND_HTTP)}")
    for chatty in ("gateway", "rdflib"):
        logging.getLogger(chatty).setLevel(logging.CRITICAL)
    graphs = [drawn(number) for number in range(options.graphs)]
    reports = [_asked(name, graphs, options.seed, options.questions, faults=options.faults) for name in stores]
    sys.stdout.write("".join(report.as_text() for report in reports))
    for report in reports:
        for finding in report.findings[:_SHOWN]:
            sys.stdout.write(f"{json.dumps(finding, ensure_ascii=False)}\n")
    if options.json is not None:
        findings = [finding for report in reports for finding in report.findings]
        options.json.write_text(json.dumps(findings, indent=1, ensure_ascii=False), encoding="utf-8")
    return 0 if all(report.is_good for report in reports) else 1


def _asked(name: StoreName, graphs: Sequence[DrawnGraph], seed: int, count: int, *, faults: bool) -> Report:
    report, begun, of_each = Report(name), time.monotonic(), -(-count // len(graphs))
    with tempfile.TemporaryDirectory(prefix="values-") as folder, ExitStack() as servers:
        store = servers.enter_context(store_with(name, Path(folder), graphs))
        if faults:
            report = asyncio.run(ask_through_faults(store, graphs, seed, of_each))
        else:
            asyncio.run(ask_all(store, graphs, seed, of_each, report))
    sys.stderr.write(f"{name}: {time.monotonic() - begun:,.0f} s\n")
    return report


if __name__ == "__main__":
    sys.exit(main())
