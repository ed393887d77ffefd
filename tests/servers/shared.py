"""Servers that all processes of a test run share: the first that needs one has it started, and it ends with the last.

A keeper process holds each server, because the process that asked first may end before the others. Every process that
uses the server holds a shared lock on one file. The keeper waits for an exclusive lock on it, and then stops the
server. The operating system drops the locks of a process that dies, so no server outlives a run that was killed.
"""

import atexit
import fcntl
import json
import signal
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from typing import Any, Final

from tests.servers.cache import CHECKOUT, locked
from tests.servers.unavailable import ServerUnavailable

_POLL_S: Final = 0.05
_START_TIMEOUT_S: Final = 900.0
"""Loading all graphs for the first time takes minutes."""

_LOG_TAIL: Final = 3_000
_USERS, _READY, _LOG = "users.lock", "ready.json", "keeper.log"
_KEEPERS: Final[list[subprocess.Popen[bytes]]] = []
"""Referenced until this process ends, because Python warns of a process that is forgotten while it runs."""


@atexit.register
def _leave() -> None:
    # Others may use their servers still, so nobody waits for these. Python warns of a process without a return code.
    for keeper in _KEEPERS:
        if keeper.poll() is None:
            keeper.returncode = 0


class KeeperError(Exception):
    """A server was not started; the text has the end of its keeper's log."""


@contextmanager
def shared(folder: Path, keeper: Sequence[str]) -> Iterator[Any]:
    """Use a server that other processes may use at the same time; give what its keeper says of it.

    Args:
        folder: Of the server, the same for all processes that share it.
        keeper: The command of the keeper, which calls `keep`; the folder is added as its last argument.

    Raises:
        ServerUnavailable: This machine cannot run the server.
        KeeperError: The keeper ended before the server was ready.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / _USERS).open("w") as users:
        # Waits while a keeper stops the server; then it has to be started again.
        fcntl.flock(users, fcntl.LOCK_SH)
        with locked(folder, "start"):
            ready = folder / _READY
            if not ready.exists():
                _start(folder, keeper)
            said = json.loads(ready.read_text(encoding="utf-8"))
        if "unavailable" in said:
            raise ServerUnavailable(said["unavailable"])
        yield said["server"]


def keep(folder: Path, server: AbstractContextManager[Any]) -> None:
    """Hold a server until nobody uses it; run by the keeper.

    Args:
        folder: As `shared` has it.
        server: Starts the server; gives what to say of it, as JSON has it.
    """
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with suppress(KeyboardInterrupt), (folder / _USERS).open("w") as users:
        try:
            with server as said:
                _say(folder, {"server": said})
                fcntl.flock(users, fcntl.LOCK_EX)
                (folder / _READY).unlink()
        except ServerUnavailable as error:
            _say(folder, {"unavailable": error.reason})


def _say(folder: Path, said: object) -> None:
    written = folder / f"{_READY}.new"
    written.write_text(json.dumps(said), encoding="utf-8")
    written.rename(folder / _READY)


def _start(folder: Path, command: Sequence[str]) -> None:
    with (folder / _LOG).open("wb") as log:
        # A command of the tests themselves.
        keeper = subprocess.Popen(  # noqa: S603
            [*command, str(folder)],
            cwd=CHECKOUT,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
        )
    _KEEPERS.append(keeper)
    deadline = time.monotonic() + _START_TIMEOUT_S
    while not (folder / _READY).exists():
        # Asked first: a keeper of what cannot be had says so and ends.
        ended = keeper.poll() is not None or time.monotonic() > deadline
        if ended and not (folder / _READY).exists():
            text = (folder / _LOG).read_text(encoding="utf-8", errors="replace").strip()[-_LOG_TAIL:]
            raise KeeperError(f"{folder.name} was not started:\n{text}")
        time.sleep(_POLL_S)
