"""`python -m tests.harness KIND`: drawn questions of one kind; exit code 1 where an answer is not as it has to be."""

import argparse
import json
import logging
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final

from tests import same_answers
from tests.blank_nodes import run as blank_nodes
from tests.drawn import run as drawn
from tests.engines import run as engines
from tests.harness.kind import Kind, UsageError
from tests.policy import run as policy
from tests.servers.process import ServerStartError
from tests.servers.unavailable import ServerUnavailable
from tests.sidecar import session as sidecar
from tests.soak import run as soak
from tests.values import run as values

KINDS: Final[Mapping[str, Kind]] = {
    "blanknodes": blank_nodes.KIND,
    "drawn": drawn.KIND,
    "engines": engines.KIND,
    "policy": policy.KIND,
    "same": same_answers.KIND,
    "sidecar": sidecar.KIND,
    "soak": soak.KIND,
    "values": values.KIND,
}


def main(arguments: Sequence[str] | None = None, every_kind: Mapping[str, Kind] = KINDS) -> int:
    """Ask questions of one kind and return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.harness", description=__doc__)
    kinds = parser.add_subparsers(dest="kind", required=True)
    for name, kind in every_kind.items():
        _add_options(kinds.add_parser(name, help=kind.about, description=kind.about), kind)
    options = parser.parse_args(arguments)
    begun = time.monotonic()
    try:
        run = every_kind[options.kind].run(options, _say)
    except UsageError as error:
        parser.error(str(error))
    except (ServerUnavailable, ServerStartError) as error:
        _say(f"cannot be had here: {error}")
        return 1
    _say(f"{time.monotonic() - begun:,.0f} s")
    sys.stdout.write(run.as_text())
    if options.json is not None:
        options.json.write_text(json.dumps(run.as_json(), indent=1, ensure_ascii=False), encoding="utf-8")
    return 0 if run.passed else 1


def _add_options(parser: argparse.ArgumentParser, kind: Kind) -> None:
    if kind.questions:
        parser.add_argument("--questions", type=int, default=kind.questions, help=kind.counted)
        parser.add_argument("--seed", type=int, default=kind.seed)
    if kind.engines:
        parser.add_argument(
            *("--engine", "--store"),
            type=_some_of(kind.engines),
            action="extend",
            metavar="A,B",
            help=f"of {', '.join(kind.engines)}; may be given again",
        )
    parser.add_argument("--json", type=Path, metavar="FILE", help="where the report goes")
    kind.options(parser)


def _some_of(known: Sequence[str]) -> Callable[[str], list[str]]:
    def read(text: str) -> list[str]:
        unknown = [name for name in text.split(",") if name not in known]
        if unknown:
            raise argparse.ArgumentTypeError(f"{', '.join(unknown)}: there are {', '.join(known)}")
        return text.split(",")

    return read


def _say(line: str) -> None:
    sys.stderr.write(f"{time.strftime('%H:%M:%S')} {line}\n")


if __name__ == "__main__":
    # Thousands of connections break here, and each break is logged.
    for chatty in ("gateway", "rdflib", "uvicorn"):
        logging.getLogger(chatty).setLevel(logging.CRITICAL + 1)
    sys.exit(main())
