"""A server as a subprocess: started, waited for, and stopped by its own pid."""

import http.client
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

from tests.servers.loopback import send

_POLL_S: Final = 0.05
_GRACE_S: Final = 10.0
_LOG_TAIL: Final = 3000


class ServerStartError(Exception):
    """A server died or did not answer in time; the text has the end of its log."""


@dataclass(frozen=True, slots=True)
class Running:
    """A server that has answered once."""

    pid: int
    log: Path
    _process: subprocess.Popen[bytes]

    def wait(self) -> int:
        """Wait until the server ends by itself and return its exit code."""
        return self._process.wait()

    def end(self) -> None:
        """Ask the server to end, and wait until it has, however long it takes to write what it has."""
        self._process.terminate()
        self._process.wait()

    @contextmanager
    def stopped(self) -> Iterator[None]:
        """Stop the server and its processes while a block runs: connections stay, and nothing is answered (Linux)."""
        try:
            signal_all(self.pid, signal.SIGSTOP)
            yield
        finally:
            signal_all(self.pid, signal.SIGCONT)

    def kill(self) -> None:
        """End the server at once, in the middle of what it does, unless it has ended."""
        self._process.kill()
        self._process.wait()


def signal_all(pid: int, number: signal.Signals) -> None:
    """Send a signal to a process and those that it started (Linux)."""
    # First to itself: a process that is stopped starts no other.
    os.kill(pid, number)
    for child in Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii").split():
        with suppress(ProcessLookupError):
            os.kill(int(child), number)


@contextmanager
def running(
    command: Sequence[str | Path],
    *,
    ready_url: str = "",
    log: Path,
    cwd: Path,
    deadline_s: float = 60.0,
    ready_status: int = http.client.OK,
    is_ready: Callable[[], bool] | None = None,
) -> Iterator[Running]:
    """Run a server from its first 200, or other `ready_status`, at the given URL to the end of the context.

    `is_ready` says it in the place of the URL for a server that does not speak HTTP.

    The server ends with the thread that enters here, should that die first (on Linux).

    Raises:
        ServerStartError: it died, gave no 200 within the deadline, or another server has its port.
    """
    ask = is_ready or partial(_is_ready, ready_url, ready_status)
    if ask():
        raise ServerStartError(f"another server answers at {ready_url} already; choose another port")
    launcher = Path(__file__).with_name("launch.py")
    shim = [sys.executable, "-I", "-S", str(launcher), str(os.getpid())]
    with log.open("wb") as output:
        # A command put together by the modules beside this one.
        process = subprocess.Popen(  # noqa: S603
            [*shim, *map(str, command)],
            cwd=cwd,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
        )
    try:
        _wait_until_ready(process, ask, ready_url, log, deadline_s)
        yield Running(process.pid, log, process)
    finally:
        _stop(process)


def _wait_until_ready(
    process: subprocess.Popen[bytes], is_ready: Callable[[], bool], url: str, log: Path, deadline_s: float
) -> None:
    deadline = time.monotonic() + deadline_s
    while True:
        ready = is_ready()
        # Asked second: an answer counts only from a server that lives, not from another on its port.
        if (code := process.poll()) is not None:
            raise ServerStartError(f"the server ended with code {code} at its start:\n{_tail(log)}")
        if ready:
            return
        if time.monotonic() > deadline:
            raise ServerStartError(f"no answer at {url} within {deadline_s:g} s:\n{_tail(log)}")
        time.sleep(_POLL_S)


def _is_ready(url: str, status: int) -> bool:
    try:
        return send("GET", url, timeout_s=2).status == status
    except (OSError, http.client.HTTPException):
        return False


def _stop(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    try:
        process.wait(_GRACE_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _tail(log: Path) -> str:
    return log.read_text(encoding="utf-8", errors="replace")[-_LOG_TAIL:].strip() or "(its log is empty)"
