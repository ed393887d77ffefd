"""rdflib-endpoint: RDFLib's evaluator behind FastAPI, in an interpreter that sees its own packages alone."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from tests.suites.packages import python_folder

VERSION: Final = "0.6.3"
PATH: Final = ""

_LOCK: Final = Path(__file__).parents[1] / "packages" / "rdflib-endpoint.lock"


def command(file: Path, port: int, _: Path) -> Sequence[str | Path]:
    """Return the command that serves a file.

    Raises:
        ServerUnavailable: pip could not fetch the packages.
    """
    packages = python_folder(_LOCK)
    # -S leaves the packages of the tests out, among which is an RDFLib too.
    serve = [sys.executable, "-S", "-m", "rdflib_endpoint", "serve", "--host", "127.0.0.1", "--port", str(port)]
    return ["env", f"PYTHONPATH={packages}", *serve, file]
