"""`python -m tests.release.installed`: installs the wheel in each way, and prints the table of docs/installing.md.

Each way begins with an empty home directory and an empty cache. The seconds depend on the network.
"""

import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from email.parser import Parser
from pathlib import Path
from typing import Final

from tests.release.files import ROOT

_QUESTION: Final = ("search", "warfarin", "--quiet")
_TIMEOUT_S: Final = 600
_MEGABYTE: Final = 1_000_000
_SMALL_MB: Final = 0.5


@dataclass(frozen=True, slots=True)
class Way:
    """A way to install and ask.

    Attributes:
        line: What a person types.
        commands: What is run for it; the last one asks.
    """

    line: str
    commands: Sequence[Sequence[str]]


def ways(wheel: Path, tools: Path, home: Path) -> list[Way]:
    """Return the ways to install a wheel."""
    python, venv = sys.executable, home / "venv"
    return [
        Way("uvx bfsql-gateway", [[str(tools / "uvx"), "--from", str(wheel), "bfsql-gateway", *_QUESTION]]),
        Way(
            "pipx run bfsql-gateway", [[str(tools / "pipx"), "run", "--spec", str(wheel), "bfsql-gateway", *_QUESTION]]
        ),
        Way(
            "pip install bfsql-gateway",
            [
                [python, "-m", "venv", str(venv)],
                [str(venv / "bin" / "pip"), "install", "--quiet", "--disable-pip-version-check", str(wheel)],
                [str(venv / "bin" / "bfsql-gateway"), *_QUESTION],
            ],
        ),
    ]


def timed(way: Way, home: Path) -> float:
    """Return the seconds of a way from an empty home to its first answer."""
    kept = {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ}
    settings = {
        name: value for name, value in os.environ.items() if name.startswith(("PIP_", "UV_", "SSL_", "REQUESTS_"))
    }
    environment = {**kept, **settings, "HOME": str(home), "UV_CACHE_DIR": str(home / "uv"), "PIP_NO_CACHE_DIR": "1"}
    answer = ""
    began = time.perf_counter()
    for command in way.commands:
        answer = subprocess.run(  # noqa: S603 - our own commands
            command, env=environment, cwd=home, check=True, capture_output=True, text=True, timeout=_TIMEOUT_S
        ).stdout
    if "drug:warfarin" not in answer:
        raise RuntimeError(f"{way.line} answered {answer[:200]}")
    return time.perf_counter() - began


def megabytes(site: Path) -> dict[str, float]:
    """Return the size of each package in a folder of packages, by name."""
    sizes = {}
    for info in site.glob("*.dist-info"):
        name = Parser().parsestr((info / "METADATA").read_text(encoding="utf-8"))["Name"]
        listed = (line.partition(",")[0] for line in (info / "RECORD").read_text(encoding="utf-8").splitlines())
        files = {site / path for path in listed if not path.endswith(".pyc")}
        sizes[name] = sum(file.stat().st_size for file in files if file.is_file()) / _MEGABYTE
    return sizes


def main() -> None:
    """Print the seconds of each way, and the size of each package."""
    out = sys.stdout.write
    with tempfile.TemporaryDirectory(prefix="install-") as scratch:
        folder, tools, home = Path(scratch), Path(scratch) / "tools", Path(scratch) / "home"
        for command in (
            [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", scratch],
            [sys.executable, "-m", "venv", str(tools)],
            [str(tools / "bin" / "pip"), "install", "--quiet", "uv", "pipx"],
        ):
            subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.DEVNULL)  # noqa: S603 - our own commands
        [wheel] = folder.glob("*.whl")
        out("| line | seconds to the first answer |\n|---|---|\n")
        for way in ways(wheel, tools / "bin", home):
            shutil.rmtree(home, ignore_errors=True)
            home.mkdir()
            out(f"| `{way.line}` | {timed(way, home):.1f} |\n")
        [site] = (home / "venv" / "lib").glob("python*/site-packages")
        out(f"\n{table(megabytes(site))}\n")


def table(sizes: Mapping[str, float]) -> str:
    """Return the sizes of packages as a table, the largest first."""
    own = {name: size for name, size in sizes.items() if name not in {"pip", "setuptools"}}
    small = [size for size in own.values() if size < _SMALL_MB]
    rows = [f"| `{name}` | {size:.1f} |" for name, size in sorted(own.items(), key=lambda each: -each[1])]
    head = [f"In all {sum(own.values()):.0f} MB in {len(own)} packages:", "", "| package | MB |", "|---|---|"]
    return "\n".join([*head, *rows[: len(own) - len(small)], f"| {len(small)} smaller ones | {sum(small):.1f} |"])


if __name__ == "__main__":
    main()
