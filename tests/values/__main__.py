"""`python -m tests.values`: drawn questions about values; exit code 1 where an answer is wrong or many are refused."""

import argparse
import asyncio
import json
import logging
import random
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Final

from tests.values.graphs import KINDS, PREFIXES, DrawnGraph, drawn
from tests.values.questions import draw
from tests.values.run import Report, ask
from tests.values.stores import STORES, Store, StoreName, store_with
from tests.values.walks import Graph

_SHOWN: Final = 5
"""Findings of a store that are printed."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Ask and return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.values", description=__doc__)
    parser.add_argument("--questions", type=int, default=400, help="on each store")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--graphs", type=int, default=2 * len(KINDS), help="drawn graphs")
    parser.add_argument("--store", action="append", choices=STORES, help="may be given again; `files` where absent")
    parser.add_argument("--json", type=Path, metavar="FILE", help="where all findings go")
    options = parser.parse_args(arguments)
    for chatty in ("gateway", "rdflib"):
        logging.getLogger(chatty).setLevel(logging.CRITICAL)
    graphs = [drawn(number) for number in range(options.graphs)]
    reports = [_asked(name, graphs, options.seed, options.questions) for name in options.store or ["files"]]
    sys.stdout.write("".join(report.as_text() for report in reports))
    for report in reports:
        for finding in report.findings[:_SHOWN]:
            sys.stdout.write(f"{json.dumps(finding, ensure_ascii=False)}\n")
    if options.json is not None:
        findings = [finding for report in reports for finding in report.findings]
        options.json.write_text(json.dumps(findings, indent=1, ensure_ascii=False), encoding="utf-8")
    return 0 if all(report.is_good for report in reports) else 1


def _asked(name: StoreName, graphs: Sequence[DrawnGraph], seed: int, count: int) -> Report:
    report, begun = Report(name), time.monotonic()
    with tempfile.TemporaryDirectory(prefix="values-") as folder, ExitStack() as servers:
        store = servers.enter_context(store_with(name, Path(folder), graphs))
        asyncio.run(_ask(store, graphs, seed, -(-count // len(graphs)), report))
    sys.stderr.write(f"{name}: {time.monotonic() - begun:,.0f} s\n")
    return report


async def _ask(store: Store, graphs: Sequence[DrawnGraph], seed: int, count: int, report: Report) -> None:
    for graph in graphs:
        name = f"drawn {graph.number} ({graph.kind})"
        dice = random.Random(f"{seed} {name}")  # noqa: S311 - not for security
        # A store that cannot hold blank nodes has not every predicate.
        known = replace(graph, triples=store.held(graph)) if store.lacks_blank_nodes else graph
        questions = draw(known, dice, count, blank_nodes=store.blank_nodes)
        held = Graph(store.held(graph), PREFIXES, blank_nodes=store.blank_nodes)
        async with store.open(graph) as gateway:
            await ask(gateway, name, held, questions, report)


if __name__ == "__main__":
    sys.exit(main())
