"""The client libraries, and how each is installed and run."""

import json
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from tests.suites.packages import node, run

_LIST: Final = Path(__file__).with_name("clients.toml")
_SCRIPTS: Final = Path(__file__).with_name("scripts")
_INSTALL_S: Final = 300


@dataclass(frozen=True, slots=True)
class Library:
    """A client library.

    Attributes:
        name: As its authors call it.
        script: The file in `scripts/` that lists the tools and calls one.
        requires: What is installed, with versions; the first is the library itself.
        note: What a user of it has to know.
    """

    name: str
    script: str
    requires: Sequence[str]
    note: str = ""

    @property
    def is_javascript(self) -> bool:
        """Whether npm installs it."""
        return self.script.endswith(".mjs")

    @property
    def package(self) -> tuple[str, str]:
        """The package and its version."""
        name, _, version = self.requires[0].rpartition("@" if self.is_javascript else "==")
        return name.partition("[")[0], version


def libraries() -> list[Library]:
    """Return what `clients.toml` lists."""
    return [Library(**each) for each in tomllib.loads(_LIST.read_text(encoding="utf-8"))["client"]]


def install(library: Library, folder: Path) -> list[str | Path]:
    """Install a library in a folder that is not there yet, and return the command that runs its script.

    Raises:
        subprocess.CalledProcessError: It cannot be installed here; `stderr` says why.
    """
    folder.mkdir()
    for shared in _SCRIPTS.glob(f"asked{Path(library.script).suffix}"):
        shutil.copy(shared, folder)
    copied = Path(shutil.copy(_SCRIPTS / library.script, folder))
    if library.is_javascript:
        options = ["--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error", "--prefix", str(folder)]
        _run(["npm", "install", *options, *library.requires])
        return [node(), copied]
    _run([sys.executable, "-m", "venv", "--without-pip", folder / "venv"])
    python = folder / "venv" / "bin" / "python"
    _run([sys.executable, "-m", "pip", "--python", python, "install", "--quiet", *library.requires])
    return [python, copied]


def asked(command: Sequence[str | Path], target: Sequence[str], folder: Path) -> dict[str, Any]:
    """Let a client list and call the tools of a server, and return what it reports.

    `target` is the URL of the server, or its command over stdio.

    Raises:
        ValueError: It reported nothing; the text is the end of its output.
    """
    done = run([*command, *target], folder)
    for line in reversed(done.output.splitlines()):
        if line.startswith('{"tools":'):
            report: dict[str, Any] = json.loads(line)
            return report
    raise ValueError(done.output[-1500:])


def _run(command: Sequence[str | Path]) -> None:
    # pip and npm, with the packages of clients.toml.
    subprocess.run(command, check=True, capture_output=True, text=True, timeout=_INSTALL_S)  # noqa: S603
