"""Oxigraph: the binary of the PyPI package, serving files, read-only unless a test writes."""

import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tests.servers.loopback import HOST, free_port
from tests.servers.process import Running, running
from tests.servers.unavailable import ServerUnavailable

_LOAD_TIMEOUT_S: Final = 240


@dataclass(frozen=True, slots=True)
class OxigraphServer:
    """An Oxigraph that answers."""

    port: int
    process: Running

    @property
    def endpoint(self) -> str:
        """The URL of the query endpoint."""
        return f"http://{HOST}:{self.port}/query"

    @property
    def update(self) -> str:
        """The URL that takes updates, where it is written to."""
        return f"http://{HOST}:{self.port}/update"


class OxigraphLoadError(Exception):
    """Oxigraph refused a file; the text is its own."""


def find_oxigraph() -> Path:
    """Return the binary, from beside this Python or from PATH.

    Raises:
        ServerUnavailable: there is none.
    """
    beside = Path(sys.executable).with_name("oxigraph")
    found = str(beside) if beside.is_file() else shutil.which("oxigraph")
    if found is None:
        raise ServerUnavailable("needs the oxigraph binary: `pip install oxigraph`")
    return Path(found)


@contextmanager
def running_oxigraph(
    files: Sequence[Path],
    *,
    workdir: Path,
    port: int | None = None,
    timeout_s: int | None = None,
    is_written_to: bool = False,
) -> Iterator[OxigraphServer]:
    """Serve graph files, gzipped or not, in one default graph; blank nodes stay those of their file.

    Args:
        files: any that Oxigraph knows by their suffix.
        workdir: a folder for the database, removed with the server, and the log.
        port: on loopback; a free one when absent.
        timeout_s: after which the server cuts a query off, with a 200 and a broken body.
        is_written_to: whether it takes updates.

    Raises:
        ServerUnavailable: there is no binary.
        OxigraphLoadError: a file was refused.
        ServerStartError: the server died at its start.
    """
    binary = find_oxigraph()
    port = free_port() if port is None else port
    folder = workdir / f"oxigraph-{port}"
    limit = () if timeout_s is None else ("--timeout-s", str(timeout_s))
    try:
        _load(binary, folder, files)
        with running(
            [
                binary,
                "serve" if is_written_to else "serve-read-only",
                "--location",
                folder,
                "--bind",
                f"{HOST}:{port}",
                *limit,
            ],
            ready_url=f"http://{HOST}:{port}/query?query=ASK%7B%7D",
            log=workdir / f"oxigraph-{port}.log",
            cwd=workdir,
        ) as process:
            yield OxigraphServer(port, process)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _load(binary: Path, folder: Path, files: Sequence[Path]) -> None:
    # Without a file it would read standard input; an empty graph comes from that at its end.
    source = ["--file", *map(str, files)] if files else ["--format", "nt"]
    # The binary found above, on files of the test's own.
    done = subprocess.run(  # noqa: S603
        [binary, "load", "--location", folder, *source],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=_LOAD_TIMEOUT_S,
        check=False,
    )
    if done.returncode != 0:
        raise OxigraphLoadError(done.stderr.strip())
