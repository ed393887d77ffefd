"""`python -m tests.sidecar`: a gateway and a Fuseki that die in turn; exit code 1 where one stays dead."""

import argparse
import asyncio
import json
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from gateway import resources
from tests.servers.process import ServerStartError
from tests.servers.unavailable import ServerUnavailable
from tests.sidecar.session import Outcome, run_session


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the session and return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.sidecar", description=__doc__)
    parser.add_argument("--seconds", type=float, default=10.0, help="how long clients ask in each state")
    parser.add_argument("--json", type=Path, metavar="FILE", help="where the report goes")
    options = parser.parse_args(arguments)
    graph = resources.folder("fixtures") / "medical.ttl"
    with tempfile.TemporaryDirectory(prefix="sidecar-") as folder:
        try:
            outcome = asyncio.run(run_session(Path(folder), graph, seconds=options.seconds, say=_say))
        except (ServerUnavailable, ServerStartError) as error:
            _say(str(error))
            return 1
    _say(f"Starts: {outcome.starts}. Wrong answers: {len(outcome.wrong)}.")
    for wrong in outcome.wrong:
        _say(wrong[:500])
    if options.json is not None:
        options.json.write_text(json.dumps(outcome.as_json(), indent=1), encoding="utf-8")
    return 0 if is_good(outcome) else 1


def is_good(outcome: Outcome) -> bool:
    """Return whether no answer was wrong, and each half recovered from the death of the other."""
    return not outcome.wrong and all(phase.is_whole_after for phase in outcome.phases)


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
