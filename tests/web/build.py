"""Checks and builds the explorer page with the npm packages of its lock file: `python -m tests.web.build`."""

import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from gateway.resources import explorer_page
from tests.servers.unavailable import ServerUnavailable
from tests.suites.packages import node, npm_modules

PAGE: Final = explorer_page()
SOURCES: Final = PAGE.parent.parent
_TIMEOUT_S: Final = 240
_CHECK: Final = ("typescript/bin/tsc", "--noEmit")
_TEST: Final = ("vitest/vitest.mjs", "run")
_BUILD: Final = ("vite/bin/vite.js", "build", "--logLevel=error")


class BuildError(Exception):
    """A tool refused the sources; the text is what it wrote."""


@contextmanager
def project() -> Iterator[Path]:
    """Give a copy of the sources with their packages beside them.

    Raises:
        ServerUnavailable: npm is absent or could not fetch the packages.
    """
    modules = npm_modules(SOURCES)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "web"
        shutil.copytree(SOURCES, folder, ignore=shutil.ignore_patterns("node_modules", "built"))
        (folder / "node_modules").symlink_to(modules)
        yield folder


def checked(folder: Path) -> None:
    """Check the types of a project, and run its tests.

    Raises:
        BuildError: A type is wrong, or a test failed.
    """
    _run(folder, *_CHECK)
    _run(folder, *_TEST)


def built(folder: Path) -> bytes:
    """Return the page of a project.

    Raises:
        BuildError: The sources cannot be built.
    """
    _run(folder, *_BUILD)
    return (folder / "built" / PAGE.name).read_bytes()


def harness(folder: Path) -> str:
    """Return the page of a host of MCP Apps, which the browser test drives in the place of a chat.

    Raises:
        BuildError: The sources cannot be built.
    """
    _run(folder, *_BUILD, "--config", "vite.harness.config.ts")
    return (folder / "harness" / "host.html").read_text(encoding="utf-8")


def _run(folder: Path, script: str, *arguments: str) -> None:
    command = [str(node()), str(folder / "node_modules" / script), *arguments]
    # Node and the scripts that the lock file names by their hashes.
    done = subprocess.run(  # noqa: S603
        command, cwd=folder, capture_output=True, text=True, timeout=_TIMEOUT_S, check=False
    )
    if done.returncode:
        raise BuildError(f"{script} {' '.join(arguments)}:\n{done.stdout}{done.stderr}")


def main() -> None:
    """Check the sources and write the page."""
    try:
        with project() as folder:
            checked(folder)
            page = built(folder)
    except (ServerUnavailable, BuildError) as error:
        sys.exit(str(error))
    PAGE.parent.mkdir(exist_ok=True)
    PAGE.write_bytes(page)


if __name__ == "__main__":
    main()
