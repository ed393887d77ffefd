"""One worker process, and the folder that all share."""

from __future__ import annotations

import fcntl
import os
import shutil
import signal
import socket
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from gateway.errors import ConfigurationError, quoted

_VARIABLE = "BFSQL_WORKER"
"""What the supervisor tells a worker: its own process ID; the worker's index and the count of workers; the descriptors
of the socket and of the pipe; and the folder."""

_BACKLOG = 128


def socket_in(folder: Path, index: int) -> Path:
    """Return the socket at which a worker takes the requests of others; it makes it when it serves."""
    return folder / str(index)


@dataclass(frozen=True, slots=True)
class Worker:
    """A worker.

    Attributes:
        index: Its number, from 0.
        count: How many there are.
        descriptor: The socket at which all accept connections.
        pipe: The end of a pipe that closes when the supervisor is gone.
        folder: A private folder with the socket of each worker for the others.
        supervisor: The process ID of the supervisor; 0 for none.
    """

    index: int
    count: int
    descriptor: int
    pipe: int
    folder: Path
    supervisor: int = 0

    @classmethod
    def from_environment(cls) -> Worker | None:
        """Return which worker this process is; None if it is none."""
        text = os.environ.get(_VARIABLE)
        if not text:
            return None
        *numbers, folder = text.split(":", 5)
        supervisor, index, count, descriptor, pipe = map(int, numbers)
        return cls(index, count, descriptor, pipe, Path(folder), supervisor)

    @property
    def environment(self) -> dict[str, str]:
        """The variable by which the process of this worker knows it."""
        numbers = self.supervisor, self.index, self.count, self.descriptor, self.pipe
        return {_VARIABLE: f"{':'.join(map(str, numbers))}:{self.folder}"}

    @property
    def listening(self) -> socket.socket:
        """The socket at which all workers accept connections."""
        return socket.socket(fileno=self.descriptor)

    def path_of(self, index: int) -> Path:
        """Return the socket at which a worker takes the requests of others."""
        return socket_in(self.folder, index)

    def ask_all_to_reload(self) -> None:
        """Have the supervisor let all workers read files again: one that starts may read another version than they did.

        Where the supervisor is gone, this worker ends soon, and some other process is its parent.
        """
        if os.getppid() == self.supervisor:
            os.kill(self.supervisor, signal.SIGHUP)

    def listen_to_others(self) -> socket.socket:
        """Return a new socket for the requests of other workers; that of one that died before is removed."""
        path = self.path_of(self.index)
        path.unlink(missing_ok=True)
        listening = socket.socket(socket.AF_UNIX)
        listening.bind(str(path))
        listening.listen(_BACKLOG)
        return listening


_PREFIX = "bfsql-"
_LOCK = "lock"
"""The file that a running server holds locked."""

_MOST_PATH_BYTES = 103
"""The longest path of a Unix socket on every system: macOS has 104 bytes, with the zero at the end."""

_MOST_DIGITS = 3
"""Of the number of a worker, which is the name of its socket."""

_YOUNG_SECONDS = 60.0
"""A younger lock may belong to a server that has made it and not yet locked it."""


@contextmanager
def workers_folder() -> Iterator[Path]:
    """Have a private folder while the block runs, and remove those that killed servers left.

    Raises:
        ConfigurationError: The folder for temporary files cannot be used, or its path is too long for a socket.
    """
    parent = Path(tempfile.gettempdir())
    _remove_left(parent)
    try:
        temporary = tempfile.TemporaryDirectory(prefix=_PREFIX, dir=parent)
    except OSError as error:
        raise ConfigurationError(
            f"No folder can be made in {quoted(str(parent))}: {error.strerror or error}.",
            next_step="Set TMPDIR to a folder that this user may write to.",
        ) from error
    with temporary as name:
        folder = Path(name)
        if (size := len(os.fsencode(folder)) + 1 + _MOST_DIGITS) > _MOST_PATH_BYTES:
            raise ConfigurationError(
                f"The folder for temporary files, {quoted(str(parent))}, is too long for sockets of workers: "
                f"their paths have {size} bytes, and at most {_MOST_PATH_BYTES} are valid.",
                next_step="Set TMPDIR to a shorter path, such as /tmp.",
            )
        with (folder / _LOCK).open("wb") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            yield folder


def _remove_left(parent: Path) -> None:
    """Remove the folders of this user's servers that ended without doing so."""
    for folder in parent.glob(f"{_PREFIX}*"):
        try:
            # `lstat`: nobody else may lead this to another folder.
            if folder.lstat().st_uid == os.getuid() and not folder.is_symlink() and _is_left(folder / _LOCK):
                shutil.rmtree(folder)
        except OSError:
            # It belongs to a running server, is no folder of ours, or was removed meanwhile.
            continue


def _is_left(path: Path) -> bool:
    """Return whether nobody holds a lock.

    Raises:
        OSError: Somebody holds it, or there is none.
    """
    with path.open("rb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return time.time() - os.fstat(lock.fileno()).st_mtime >= _YOUNG_SECONDS
