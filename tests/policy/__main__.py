"""`python -m tests.policy`: drawn questions under a policy; exit code 1 where an answer tells what is hidden."""

import argparse
import asyncio
import logging
import sys
from collections.abc import Sequence

from tests.policy.test_nothing_leaves import asked_about

_EACH = 50
"""Questions about one graph."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Ask and return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.policy", description=__doc__)
    parser.add_argument("--questions", type=int, default=2_000)
    parser.add_argument("--seed", type=int, default=2026, help="that of the first graph")
    parser.add_argument("--http", action="store_true", help="by a token that may not see the whole graph")
    options = parser.parse_args(arguments)
    for chatty in ("gateway", "uvicorn"):
        logging.getLogger(chatty).setLevel(logging.CRITICAL + 1)
    graphs = -(-options.questions // _EACH)
    found = []
    for seed in range(options.seed, options.seed + graphs):
        found += asyncio.run(asked_about(seed, "compact" if seed % 2 else "reference", _EACH, over_http=options.http))
    sys.stdout.write("".join(f"{finding}\n" for finding in found))
    sys.stdout.write(f"{graphs * _EACH} questions about {graphs} graphs, {len(found)} findings\n")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
