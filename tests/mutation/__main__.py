"""`python -m tests.mutation`: draw mutants of a checkout, and see which of them the tests notice."""

import argparse
import json
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from pathlib import Path
from queue import SimpleQueue
from typing import Final

from tests.mutation.running import TARGETS, BrokenCheckoutError, Mutant, Outcome, copied, covering, draw, outcome

_HERE: Final = Path(__file__).resolve().parents[2]


def main(arguments: Sequence[str] | None = None) -> int:
    """Report on mutants as JSON; return 1 if the tests cannot be run."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutation", description=__doc__)
    parser.add_argument("--mutants", type=int, default=300, help="how many to draw")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--checkout", type=Path, default=_HERE, help="another checkout, such as an older commit's")
    parser.add_argument("--target", action="append", help="a file or folder to mutate; may be given again")
    parser.add_argument("--tests", action="append", help="which tests to run; may be given again; all if absent")
    parser.add_argument("--json", type=Path, metavar="FILE", help="where the report goes; standard output if absent")
    options = parser.parse_args(arguments)
    targets = options.target or TARGETS
    checkout = options.checkout.resolve()
    mutants = draw(checkout, targets, options.mutants, options.seed)
    try:
        outcomes, failed = _outcomes(checkout, targets, mutants, options.tests or ["tests"], options.workers)
    except BrokenCheckoutError as error:
        sys.stderr.write(f"The tests cannot be run:\n{error}\n")
        return 1
    report = json.dumps({"seed": options.seed, "failed_before": failed, **summary(mutants, outcomes)}, indent=1)
    if options.json is None:
        sys.stdout.write(f"{report}\n")
    else:
        options.json.write_text(report, encoding="utf-8")
    return 0


def summary(mutants: Sequence[Mutant], outcomes: Sequence[Outcome]) -> dict[str, object]:
    """Return counts, the share that was noticed, and what nobody noticed."""
    counts = Counter(outcomes)
    noticed = counts["killed"] + counts["timed out"]
    unnoticed = [
        {"outcome": became, **{key: value for key, value in asdict(mutant).items() if key != "code"}}
        for mutant, became in zip(mutants, outcomes, strict=True)
        if became in {"survived", "not covered"}
    ]
    share = round(noticed / len(mutants), 4) if mutants else None
    return {"mutants": len(mutants), "outcomes": dict(counts), "share_noticed": share, "unnoticed": unnoticed}


def _outcomes(
    checkout: Path, targets: Sequence[str], mutants: Sequence[Mutant], tests: Sequence[str], workers: int
) -> tuple[list[Outcome], Sequence[str]]:
    """Return what became of each mutant, and which tests were left out because they fail without one."""
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder, ThreadPoolExecutor(workers) as pool:
        copies: SimpleQueue[Path] = SimpleQueue()
        for number in range(workers):
            copies.put(copied(checkout, Path(folder).resolve() / f"checkout-{number}"))
        first = copies.get()
        _say("which tests run which lines ...")
        found = covering(first, targets, tests)
        copies.put(first)

        def one(mutant: Mutant) -> Outcome:
            copy = copies.get()
            try:
                became = outcome(copy, mutant, found)
            finally:
                copies.put(copy)
            _say(f"{became}: {mutant.file}:{mutant.line}")
            return became

        return list(pool.map(one, mutants)), found.failed


def _say(line: str) -> None:
    sys.stderr.write(f"{line}\n")


if __name__ == "__main__":
    sys.exit(main())
