"""`python -m tests.soak`: thousands of calls through the fault proxy; exit code 1 when a target is missed."""

import argparse
import json
import logging
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

from tests.columns import COLUMNS, column
from tests.servers.unavailable import ServerUnavailable
from tests.soak.questions import GRAPHS
from tests.soak.run import replay, soak

_CALLS = 10_000
_LEAST = 50


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the soak and return the exit code."""
    over_http = [name for name in COLUMNS if name != "in-process"]
    parser = argparse.ArgumentParser(prog="python -m tests.soak", description=__doc__)
    parser.add_argument("--calls", type=int, default=_CALLS)
    parser.add_argument("--seed", type=int, default=2026)
    parser.add_argument("--least", type=int, help="times each fault on each engine; 50 in a whole run")
    parser.add_argument("--engine", action="append", choices=over_http, help="may be given again; all where absent")
    parser.add_argument("--json", type=Path, metavar="FILE", help="where the report goes")
    parser.add_argument("--replay", type=Path, metavar="FILE", help="make the failed calls of a report again")
    options = parser.parse_args(arguments)
    # Thousands of connections break here, and each break is logged.
    logging.getLogger("gateway").setLevel(logging.CRITICAL)
    least = options.least if options.least is not None else _LEAST * options.calls // _CALLS
    with tempfile.TemporaryDirectory(prefix="soak-") as folder, ExitStack() as servers:
        columns = []
        for name in options.engine or over_http:
            place = Path(folder) / name
            place.mkdir()
            try:
                columns.append(servers.enter_context(column(name, place, GRAPHS)))
            except ServerUnavailable as error:
                _say(f"{name} cannot be had here: {error.reason}")
                return 1
        if options.replay is not None:
            failures = json.loads(options.replay.read_text(encoding="utf-8"))["failures"]
            report = replay(columns, failures, _say)
        else:
            report = soak(columns, calls=options.calls, seed=options.seed, least=least, say=_say)
    sys.stdout.write(report.as_text())
    if options.json is not None:
        options.json.write_text(json.dumps(report.as_json(), indent=1), encoding="utf-8")
    return 0 if report.passed else 1


def _say(line: str) -> None:
    sys.stderr.write(f"{time.strftime('%H:%M:%S')} {line}\n")


if __name__ == "__main__":
    sys.exit(main())
