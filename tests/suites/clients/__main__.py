"""`python -m tests.suites.clients`: let every client library list and call the tools over stdio and HTTP."""

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

from gateway.arguments import BY_TOOL
from tests.graphs import fixture
from tests.servers.unavailable import ServerUnavailable
from tests.suites.clients.library import Library, asked, install, libraries
from tests.suites.programs import command, served_over_http

_EXPECTED = {"tools": list(BY_TOOL), "nodes": 16, "complete": True}
"""One hop from warfarin in the demo graph (fixtures/README.md)."""


def main() -> int:
    """Install and run the libraries, one after another; return 1 if one of them got another answer."""
    parser = argparse.ArgumentParser(prog="python -m tests.suites.clients", description=__doc__)
    parser.add_argument("--only", metavar="TEXT", default="", help="libraries with this in their name")
    only = parser.parse_args().only.lower()
    chosen = [library for library in libraries() if only in library.name.lower()]
    graph = fixture("medical")
    with tempfile.TemporaryDirectory(prefix="clients-") as scratch, served_over_http(Path(scratch), graph) as url:
        targets = {"stdio": command(graph), "HTTP": [url]}
        good = [_try(library, Path(scratch) / library.script.replace(".", "-"), targets) for library in chosen]
    return 0 if chosen and all(good) else 1


def _try(library: Library, folder: Path, targets: dict[str, list[str]]) -> bool:
    package, version = library.package
    head = f"{library.name} ({package} {version})"
    try:
        client = install(library, folder)
        wrong = {
            wire: report for wire, target in targets.items() if (report := asked(client, target, folder)) != _EXPECTED
        }
    except subprocess.CalledProcessError as error:
        return _say(head, f"cannot be installed here: {error.stderr[-500:].strip()}")
    except (ServerUnavailable, ValueError) as error:
        return _say(head, f"fails: {error}")
    return _say(head, "" if not wrong else f"reports {wrong}")


def _say(head: str, problem: str) -> bool:
    sys.stdout.write(f"{'WRONG' if problem else 'ok   '}  {head}{': ' * bool(problem)}{problem}\n")
    sys.stdout.flush()
    return not problem


if __name__ == "__main__":
    sys.exit(main())
