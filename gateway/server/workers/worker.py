"""One of several processes behind one address, as it knows itself."""

from __future__ import annotations

import os
import signal
import socket
from dataclasses import dataclass
from pathlib import Path

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
