"""The packages of others, each at the version and hash of a committed lock, in a folder of `.servers/`."""

import hashlib
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tests.servers.cache import kept
from tests.servers.unavailable import ServerUnavailable

_LOCKS: Final = Path(__file__).with_name("packages")
_NPM_FILES: Final = ("package.json", "package-lock.json")
_FETCH_TIMEOUT_S: Final = 300
_TIMEOUT_S: Final = 240
_OLDEST_NODE: Final = 22

CONFORMANCE: Final = "@modelcontextprotocol/conformance/dist/index.js"
FUZZER: Final = _LOCKS / "fuzzer.lock"
INSPECTOR: Final = "@modelcontextprotocol/inspector/clients/launcher/build/index.js"


def script(path: str) -> list[Path]:
    """Return the command that runs a script of the npm packages.

    Raises:
        ServerUnavailable: npm is absent or could not fetch the packages, or there is no Node new enough.
    """
    modules = npm_modules(_LOCKS)
    return [node(), modules / path]


def node() -> Path:
    """Return a Node that is new enough: that of the packages, or for other machines than theirs one that is installed.

    Raises:
        ServerUnavailable: npm is absent or could not fetch the packages, or there is no Node new enough.
    """
    return node_in(npm_modules(_LOCKS))


def node_in(modules: Path) -> Path:
    """Return the Node of some packages that is new enough, or for other machines than theirs one that is installed.

    Raises:
        ServerUnavailable: There is none.
    """
    for binary in sorted(modules.glob("node-linux-*/bin/node")):
        return binary
    found = shutil.which("node")
    if found is not None:
        version = _run([found, "--version"], modules)
        match = re.match(r"v(\d+)", version)
        if match and int(match[1]) >= _OLDEST_NODE:
            return Path(found)
    raise ServerUnavailable(f"needs Node {_OLDEST_NODE} or newer; the packages have one for Linux alone")


def python_folder(file: Path) -> Path:
    """Return a folder with the Python packages of a lock file, for PYTHONPATH.

    Raises:
        ServerUnavailable: pip could not fetch them.
    """
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--require-hashes"]
    version = f"{sys.version_info.major}{sys.version_info.minor}"

    def fill(folder: Path) -> None:
        _run([*command, "--target", folder, "-r", file], folder)

    return kept(f"{file.stem}-py{version}-{_hash(file)}", fill)


def npm_modules(folder: Path) -> Path:
    """Return the modules of the lock file in a folder.

    Raises:
        ServerUnavailable: npm is absent or could not fetch them.
    """
    files = [folder / name for name in _NPM_FILES]
    return kept(f"npm-{_hash(*files)}", lambda folder: _install(folder, files)) / "node_modules"


def _install(folder: Path, files: Sequence[Path]) -> None:
    npm = shutil.which("npm")
    if npm is None:
        raise ServerUnavailable(
            "needs npm, which fetches Node and the suites: install it (Debian: apt-get install npm)"
        )
    for file in files:
        shutil.copy(file, folder)
    # No script of a package is run: Node comes as a package that holds its binary.
    _run([npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"], folder)


def _run(command: Sequence[str | Path], folder: Path) -> str:
    try:
        # npm, pip or node, with arguments of our own making.
        done = subprocess.run(  # noqa: S603
            command, cwd=folder, capture_output=True, text=True, timeout=_FETCH_TIMEOUT_S, check=True, env=os.environ
        )
    except subprocess.CalledProcessError as error:
        raise ServerUnavailable(f"{Path(command[0]).name} failed: {error.stderr[-500:].strip()}") from error
    except (OSError, subprocess.TimeoutExpired) as error:
        raise ServerUnavailable(f"{Path(command[0]).name} failed: {error}") from error
    return done.stdout


def _hash(*files: Path) -> str:
    return hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()[:16]


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
