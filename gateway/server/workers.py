"""Worker processes, the folder that they share, and their supervisor."""

from __future__ import annotations

import fcntl
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

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


_COUNTS = "PROMETHEUS_MULTIPROC_DIR"
"""Where prometheus_client shares the counts of several processes."""

_SHORT_SECONDS = 5.0
_MOST_SHORT_LIVES = 5
"""A worker that lives for less time has failed to start; so many in a row end a server that never ran."""

_LONGEST_PAUSE = 60.0
_LOOK_SECONDS = 0.1
"""How long a worker waits at most that fails again and again in a server that ran, and how often that is looked at."""


class Supervisor:
    """The process that starts workers and accepts no connection itself.

    Args:
        count: How many workers.
        listening: The socket at which they accept connections.
        arguments: The command line of a worker, without the program.
        note: Prints a line for the operator.
        reloads: Whether workers take SIGHUP for an order to read files again; it is passed on then.
    """

    def __init__(
        self,
        count: int,
        listening: socket.socket,
        arguments: Sequence[str],
        note: Callable[[str], None],
        *,
        reloads: bool = False,
    ) -> None:
        self._count = count
        self._listening = listening
        self._arguments = arguments
        self._note = note
        self._reloads = reloads
        self._has_run = False
        self._waiting: dict[int, float] = {}
        self._workers: dict[int, tuple[int, subprocess.Popen[bytes], float]] = {}
        self._signal = 0
        self._is_ending = False
        self._short_lives = 0

    def run(self) -> int:
        """Run the workers until a signal arrives or they cannot be started; return the number of the signal, else 0.

        Each worker sees by a pipe that this process is gone, however that ends.

        Raises:
            ConfigurationError: There is no place for the sockets of workers.
        """
        read, write = os.pipe()
        handlers = {number: signal.signal(number, self._handle) for number in _signals()}
        try:
            with workers_folder() as folder:
                counts = folder / "counts"
                counts.mkdir()
                for index in range(self._count):
                    self._start(index, read, folder)
                while self._workers or (self._waiting and not self._is_ending):
                    self._wait(read, folder)
        finally:
            os.close(write)
            os.close(read)
            for number, handler in handlers.items():
                signal.signal(number, handler)
        return self._signal

    @property
    def has_failed(self) -> bool:
        """Whether workers ended again and again soon after their start, and none ever ran."""
        return not self._has_run and self._short_lives >= _MOST_SHORT_LIVES

    def _start(self, index: int, pipe: int, folder: Path) -> None:
        worker = Worker(index, self._count, self._listening.fileno(), pipe, folder, os.getpid())
        environment = {_COUNTS: str(folder / "counts"), **os.environ, **worker.environment}
        with _hang_up_held_back():
            process = subprocess.Popen(  # noqa: S603 - our own command
                [sys.executable, "-m", "gateway", *self._arguments],
                env=environment,
                stdin=subprocess.DEVNULL,
                pass_fds=(worker.descriptor, pipe),
                # Ctrl-C at a terminal goes to this process alone, which passes it on.
                start_new_session=True,
            )
        self._workers[process.pid] = (index, process, time.monotonic())
        if self._is_ending:
            # The signal came while this one was being started.
            process.send_signal(signal.SIGTERM)

    def _wait(self, pipe: int, folder: Path) -> None:
        """Wait until a worker ends, and start it anew unless the server ends; so too those whose pause is over."""
        self._start_waiting(pipe, folder)
        ended = self._ended()
        if ended not in self._workers:
            return
        index, _, began = self._workers.pop(ended)
        drop_gauges(folder / "counts", ended)
        if self._is_ending:
            return
        self._has_run = self._has_run or any(socket_in(folder, one).exists() for one in range(self._count))
        self._short_lives = self._short_lives + 1 if time.monotonic() - began < _SHORT_SECONDS else 0
        if self.has_failed:
            self._is_ending = True
            self._pass_on(signal.SIGTERM)
            return
        pause = min(_LONGEST_PAUSE, 2.0 ** min(self._short_lives - 2, 10)) if self._short_lives > 1 else 0.0
        again = f" in {pause:.0f} s" if pause else ""
        self._note(f"Worker {index} ended and is started anew{again}.")
        self._waiting[index] = time.monotonic() + pause

    def _start_waiting(self, pipe: int, folder: Path) -> None:
        for index in [index for index, until in self._waiting.items() if until <= time.monotonic()]:
            if self._is_ending:
                return
            del self._waiting[index]
            self._start(index, pipe, folder)

    def _ended(self) -> int:
        """Wait until a process ends, and return its ID; 0 after a moment while a worker waits to be started."""
        if not self._waiting:
            return os.wait()[0]
        time.sleep(_LOOK_SECONDS)
        return os.waitpid(-1, os.WNOHANG)[0] if self._workers else 0

    def _handle(self, number: int, _frame: FrameType | None) -> None:
        if number in {signal.SIGINT, signal.SIGTERM}:
            # A second signal ends workers at once, as it does a server of one process.
            self._signal, self._is_ending = self._signal or number, True
            number = signal.SIGTERM
        elif not self._reloads:
            # Nothing is read again, and a worker that does not expect the signal would end.
            return
        self._pass_on(number)

    def _pass_on(self, number: int) -> None:
        for _, process, _ in self._workers.values():
            process.send_signal(number)


def drop_gauges(counts: Path, ended: int) -> None:
    """Drop what a worker that has ended counted as its own at that moment, such as requests under way."""
    with suppress(ImportError):
        # Nothing is counted without this package of an extra.
        from prometheus_client.multiprocess import mark_process_dead  # noqa: PLC0415

        mark_process_dead(ended, str(counts))  # type: ignore[no-untyped-call]  # it has no types there


@contextmanager
def _hang_up_held_back() -> Iterator[None]:
    """Hold SIGHUP back in what is started in the block, until that has a handler: before, it would end by it."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGHUP})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _signals() -> list[int]:
    """Return the signals that are passed on."""
    return [signal.SIGINT, signal.SIGTERM, *([signal.SIGHUP] if hasattr(signal, "SIGHUP") else [])]
