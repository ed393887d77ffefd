"""`python -m tests.engines`: drawn questions on many engines; exit code 1 where one is wrong, or was not run."""

import argparse
import json
import logging
import sys
from collections.abc import Sequence
from pathlib import Path

from tests.engines.catalogue import ENGINES
from tests.engines.engine import Engine
from tests.engines.judged import EngineReport, fallen, write_table
from tests.engines.run import ask
from tests.servers.loaded import LoadError
from tests.servers.maven import ChecksumMismatchError
from tests.servers.oxigraph import OxigraphLoadError
from tests.servers.process import ServerStartError
from tests.servers.unavailable import ServerUnavailable

_NOT_RUN = (ServerUnavailable, ChecksumMismatchError, ServerStartError, LoadError, OxigraphLoadError)


def main(arguments: Sequence[str] | None = None) -> int:
    """Ask and return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.engines", description=__doc__)
    parser.add_argument("--questions", type=int, default=60, help="drawn for each engine")
    parser.add_argument("--seed", type=int, default=2026)
    parser.add_argument("--engines", type=_engines, default=list(ENGINES.values()), metavar="A,B", help="all if absent")
    parser.add_argument("--allow-missing", type=_engines, default=[], metavar="A,B", help="which need not run")
    parser.add_argument("--json", type=Path, metavar="FILE", help="where all answers go")
    parser.add_argument("--against", type=Path, metavar="FILE", help="such a file of an earlier run, to compare with")
    parser.add_argument("--table", type=Path, metavar="FILE", help="the page whose table is written")
    options = parser.parse_args(arguments)
    if options.table is not None and len(options.engines) < len(ENGINES):
        parser.error("the table is one of all engines: leave out --engines")
    reports = [_asked(engine, options.questions, options.seed) for engine in options.engines]
    run = {"questions": options.questions, "seed": options.seed}
    if options.json is not None:
        options.json.write_text(json.dumps({**run, "engines": [one.as_json() for one in reports]}), encoding="utf-8")
    if options.table is not None:
        write_table(options.table, options.engines, reports, run)
    if options.against is not None:
        for line in fallen(reports, json.loads(options.against.read_text(encoding="utf-8"))):
            sys.stdout.write(f"{line}\n")
    missing = {report.engine for report in reports if report.not_run} - {one.name for one in options.allow_missing}
    return 1 if missing or any(report.wrong for report in reports) else 0


def _asked(engine: Engine, questions: int, seed: int) -> EngineReport:
    """Ask one engine, and say at once what came of it."""
    try:
        report = ask(engine, questions, seed)
    except _NOT_RUN as error:
        report = EngineReport(engine.name, not_run=str(error))
    sys.stdout.write(report.as_text())
    sys.stdout.write(f"{'':16} {sum(one.cuts for one in report.answers)} cuts, {report.seconds:.0f} s\n")
    sys.stdout.flush()
    return report


def _engines(text: str) -> list[Engine]:
    unknown = [name for name in text.split(",") if name not in ENGINES]
    if unknown:
        raise argparse.ArgumentTypeError(f"no such engine: {', '.join(unknown)}; there are {', '.join(ENGINES)}")
    return [ENGINES[name] for name in text.split(",")]


if __name__ == "__main__":
    for chatty in ("gateway", "rdflib"):
        logging.getLogger(chatty).setLevel(logging.CRITICAL)
    sys.exit(main())
