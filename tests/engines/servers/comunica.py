"""Comunica: the engine for files as its npm package has it, bound to loopback by a script that is loaded first."""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from tests.suites.packages import node_in, npm_modules

VERSION: Final = "4.5.0"
PATH: Final = "sparql"

_PACKAGES: Final = Path(__file__).parents[1] / "packages" / "comunica"
_SCRIPT: Final = "@comunica/query-sparql-file/bin/http.js"
_FIRST: Final = Path(__file__).with_name("loopback.cjs")


def command(file: Path, port: int, _: Path) -> Sequence[str | Path]:
    """Return the command that serves a file.

    Raises:
        ServerUnavailable: npm is absent or could not fetch the packages, or there is no Node new enough.
    """
    modules = npm_modules(_PACKAGES)
    # Its workers are given the same script.
    return [node_in(modules), "--require", _FIRST, modules / _SCRIPT, "--port", str(port), "--workers", "1", file]
