"""One run of a program that others wrote."""

import os
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

_TIMEOUT_S: Final = 240


@dataclass(frozen=True, slots=True)
class Run:
    """What a program left.

    Attributes:
        code: Its exit code.
        output: What it wrote to standard output and standard error.
    """

    code: int
    output: str


def run(command: Sequence[str | Path], folder: Path, environment: Mapping[str, str] | None = None) -> Run:
    """Run a program in a folder, which is its home too: some leave files there.

    Raises:
        subprocess.TimeoutExpired: It did not end.
    """
    given = os.environ | {"HOME": str(folder), "CI": "true"} | dict(environment or {})
    # A script that `packages.py` fetched, by its hash.
    done = subprocess.run(  # noqa: S603
        command,
        cwd=folder,
        env=given,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=_TIMEOUT_S,
        check=False,
    )
    return Run(done.returncode, done.stdout)
