"""`python -m tests.policy`: drawn questions under a policy; exit code 1 where an answer tells what is hidden."""

import argparse
import asyncio
import logging
import sys
from collections.abc import Iterable, Sequence
from typing import get_args

from tests.policy.asking import Finding
from tests.policy.endpoints import PolicyEngine
from tests.policy.test_endpoints import asked_at
from tests.policy.test_nothing_leaves import asked_about

_EACH = 50
"""Questions about one graph."""

_SHOWN = 3
"""Findings that are printed; each is as long as two answers."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Ask and return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.policy", description=__doc__)
    parser.add_argument("--questions", type=int, default=2_000)
    parser.add_argument("--seed", type=int, default=2026, help="that of the first graph")
    parser.add_argument("--http", action="store_true", help="by a token that may not see the whole graph")
    parser.add_argument(
        "--engine", choices=get_args(PolicyEngine), help="of an endpoint with the graph; by default a file"
    )
    options = parser.parse_args(arguments)
    for chatty in ("gateway", "uvicorn"):
        logging.getLogger(chatty).setLevel(logging.CRITICAL + 1)
    graphs = -(-options.questions // _EACH)
    seeds = range(options.seed, options.seed + graphs)
    if options.engine:
        found = asyncio.run(asked_at(options.engine, seeds, _EACH))
    else:
        found = asyncio.run(_asked_of_files(seeds, over_http=options.http))
    sys.stdout.write("".join(f"{finding}\n" for finding in found[:_SHOWN]))
    sys.stdout.write(f"{graphs * _EACH} questions about {graphs} graphs, {len(found)} findings\n")
    return 1 if found else 0


async def _asked_of_files(seeds: Iterable[int], *, over_http: bool) -> list[Finding]:
    found = []
    for seed in seeds:
        found += await asked_about(seed, "compact" if seed % 2 else "reference", _EACH, over_http=over_http)
    return found


if __name__ == "__main__":
    sys.exit(main())
