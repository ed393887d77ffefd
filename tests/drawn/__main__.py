"""`python -m tests.drawn`: drawn questions on every engine; exit code 1 where an answer is wrong."""

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

from tests.drawn.judging import Truth
from tests.drawn.questions import Question
from tests.drawn.run import ENGINES, EngineName, Report, ask_all, drawn, engine_with, opened, truth_of

_SHARES: Final = {
    "names": 0.2,
    "random": 0.2,
    "medical": 0.08,
    "films": 0.06,
    "wikidata-slice": 0.04,
    "associations": 0.03,
    "singletons": 0.03,
    "awkward": 0.08,
    "movies": 0.06,
    "medlit": 0.1,
    "codex-m": 0.06,
    "wd50k": 0.06,
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Ask and return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.drawn", description=__doc__)
    parser.add_argument("--questions", type=int, default=5_000, help="on each engine")
    parser.add_argument("--seed", type=int, default=2026)
    parser.add_argument("--engine", action="append", choices=ENGINES, help="may be given again; all where absent")
    parser.add_argument("--graph", action="append", choices=list(_SHARES), help="may be given again; all where absent")
    parser.add_argument("--steered", type=float, default=0.5, metavar="SHARE", help="of the traversals")
    parser.add_argument("--json", type=Path, metavar="FILE", help="where the findings go")
    options = parser.parse_args(arguments)
    for chatty in ("gateway", "rdflib"):
        logging.getLogger(chatty).setLevel(logging.CRITICAL)
    reports = [
        _asked(name, options.graph or list(_SHARES), options.seed, options.questions, options.steered)
        for name in options.engine or ENGINES
    ]
    findings = [finding for report in reports for finding in report.findings]
    sys.stdout.write("".join(report.as_text() for report in reports))
    sys.stdout.write(f"{sum(sum(report.verdicts.values()) for report in reports)} answers, {len(findings)} findings\n")
    for finding in findings[:20]:
        sys.stdout.write(f"{json.dumps(finding)}\n")
    if options.json is not None:
        options.json.write_text(json.dumps(findings, indent=1), encoding="utf-8")
    return 1 if findings else 0


def _asked(engine: EngineName, graphs: Sequence[str], seed: int, count: int, steered: float) -> Report:
    with tempfile.TemporaryDirectory(prefix="drawn-") as folder, ExitStack() as servers:
        there = servers.enter_context(engine_with(engine, Path(folder), graphs))
        held = [graph for graph in graphs if graph in there.files]
        whole = sum(_SHARES[graph] for graph in held)
        truths: dict[str, Truth] = {graph: truth_of(graph, there.files[graph]) for graph in held}
        as_loaded = truths | {
            graph: truth_of(graph, there.files[graph], engine) for graph in held if graph == "awkward"
        }
        questions: dict[str, list[Question]] = {
            graph: drawn(graph, truths[graph], seed, round(count * _SHARES[graph] / whole), engine, steered)
            for graph in held
        }
        begun = time.monotonic()
        report = Report(engine)
        asyncio.run(ask_all(lambda graph: opened(engine, there, graph), questions, as_loaded, report))
        sys.stderr.write(f"{engine}: {sum(report.verdicts.values())} answers in {time.monotonic() - begun:,.0f} s\n")
        return report


if __name__ == "__main__":
    sys.exit(main())
