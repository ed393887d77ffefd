"""The strict check of the MCP Inspector: whether clients of all kinds can use the schemas of the tools."""

from pathlib import Path
from typing import Literal

from tests.suites.packages import INSPECTOR, script
from tests.suites.tool import Run, run

Era = Literal["legacy", "modern"]


def strict(era: Era, target: list[str], folder: Path) -> Run:
    """List the tools of a server and check their schemas; exit code 6 is an error in one of them.

    `target` is `["--server-url", URL]`, or the command of a server over stdio.

    Raises:
        ServerUnavailable: The Inspector is not to be had here.
    """
    options = ["--cli", "--method", "tools/list", "--strict", "--protocol-era", era]
    return run([*script(INSPECTOR), *options, *target], folder)
