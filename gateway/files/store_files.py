"""The files of a stored graph: their names, locks and fingerprint, and the loading in bulk.

It uses the one loader that lets go of the GIL while it sorts and writes: `bulk_extend` holds it for seconds, and a
server that loads has to answer meanwhile.
"""

from __future__ import annotations

import hashlib
import io
import logging
import os
import shutil
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import IO, BinaryIO

import pyoxigraph
from typing_extensions import Buffer

from gateway.files.parser_streams import PieceReader, Readable

_log = logging.getLogger(__name__)

STORE = "store-"
UNFINISHED = f"{STORE}new-"
LOCK = ".lock"

GRAPH = "graph"
"""The folder of the stores of one list of files, in the folder of that list."""

PARSING = "lock"
"""The file that a process holds while it makes a store."""


@dataclass(frozen=True, slots=True)
class StoreSize:
    """A store, and what it takes.

    Attributes:
        path: Its folder.
        size: In bytes.
        used_ns: When it was opened last, in nanoseconds since the epoch; 0 for one that was never finished.
    """

    path: Path
    size: int
    used_ns: int


def locked(file: IO[bytes] | int, *, shared: bool = False) -> bool:
    """Lock a file until it is closed; return whether nobody else had it.

    Args:
        file: The file, or its descriptor.
        shared: Whether others may have it too, who share it.

    Raises:
        OSError: Files cannot be locked there.
    """
    # It imports the client of Redis where that is installed, a sixth of the time to start; most graphs need no lock.
    import portalocker  # noqa: PLC0415 - see above

    how = portalocker.LockFlags.SHARED if shared else portalocker.LockFlags.EXCLUSIVE
    try:
        portalocker.lock(file, how | portalocker.LockFlags.NON_BLOCKING)
    except portalocker.AlreadyLocked:
        return False
    except portalocker.LockException as error:
        raise OSError(f"a file cannot be locked: {error}") from error
    return True


def note_use(store: Path) -> None:
    """Note that a store is opened now."""
    with suppress(OSError):
        os.utime(lock_of(store))


def lock_of(store: Path) -> Path:
    """Return the file that each process holds which reads a store."""
    return store.with_name(store.name + LOCK)


def sizes(directory: Path) -> Iterator[StoreSize]:
    """Yield all stores in a directory, of all lists of files."""
    for store in directory.glob(f"*/{GRAPH}/{STORE}*"):
        if store.suffix == LOCK or store.is_symlink():
            continue
        with suppress(OSError):
            files = [file.lstat() for file in store.rglob("*")]
            is_finished = not store.name.startswith(UNFINISHED)
            used = lock_of(store).stat().st_mtime_ns if is_finished else 0
            yield StoreSize(store, sum(file.st_size for file in files), used)


def remove_unused(store: Path) -> bool:
    """Remove a store unless a process reads or makes it; return whether it is gone."""
    lock = store.with_name(PARSING) if store.name.startswith(UNFINISHED) else lock_of(store)
    try:
        with lock.open("ab") as file:
            if not locked(file):
                return False
            remove(store)
    except OSError as error:
        _log.info("%s stays: %s", store, error)
    return not store.exists()


def remove_unfinished(directory: Path) -> None:
    """Remove what killed processes left in a directory, of all lists of files; what a process makes now stays."""
    for store in directory.glob(f"*/{GRAPH}/{UNFINISHED}*"):
        remove_unused(store)


def remove(store: Path) -> None:
    """Remove a store, as far as that is possible."""
    shutil.rmtree(store, ignore_errors=True)
    if not store.exists():
        with suppress(OSError):
            lock_of(store).unlink(missing_ok=True)


_QUIET_NS = 2_000_000_000
"""A file that changed so shortly before it was read may have changed again within one tick of the system's clock."""


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """A file's size, times and content.

    Attributes:
        size: In bytes.
        times: When its content and when its state changed, in nanoseconds; empty where they prove nothing.
        sha256: The hash of its content, in hexadecimal.
    """

    size: int
    times: tuple[int, ...]
    sha256: str

    @classmethod
    def of(cls, size: int, times: tuple[int, int], sha256: str, opened_ns: int) -> Fingerprint:
        """Return the fingerprint of a file, by its state before it was read; times are nanoseconds since the epoch."""
        return cls(size, times if max(times) + _QUIET_NS < opened_ns else (), sha256)

    @classmethod
    def read(cls, path: Path, *, ours: bool = False) -> Fingerprint:
        """Read a file through.

        Args:
            path: The file.
            ours: Whether nobody writes to it again; then its times are valid at once.

        Raises:
            OSError: It cannot be read.
        """
        opened_ns = sys.maxsize if ours else time.time_ns()
        with path.open("rb") as file:
            stat = os.fstat(file.fileno())
            times = (stat.st_mtime_ns, stat.st_ctime_ns)
            return cls.of(stat.st_size, times, hashlib.file_digest(file, "sha256").hexdigest(), opened_ns)

    def now(self, path: Path) -> Fingerprint | None:
        """Return the fingerprint of a file whose content is still the same, or None where it is another.

        The file is read only where its size is the same and its times are not.

        Raises:
            OSError: It cannot be read.
        """
        stat = path.stat()
        if stat.st_size != self.size:
            return None
        if self.times == (stat.st_mtime_ns, stat.st_ctime_ns):
            return self
        found = Fingerprint.read(path)
        return found if found.sha256 == self.sha256 and found.size == self.size else None


CHUNK = 1 << 18
"""Bytes read at once."""


PART = 1 << 26
"""Bytes of N-Triples that a store gets at once: it sorts them in memory, some 500 MB for this."""


def bulk_load(
    triples: BinaryIO, engine: pyoxigraph.Store, copy: pyoxigraph.Store | None = None, *, part: int | None = None
) -> None:
    """Load N-Triples that a parser has checked into a store, and at the same time into a copy of it.

    Args:
        triples: The triples.
        engine: The store.
        copy: The copy; None for none.
        part: Bytes after which a store gets the next triples apart, which takes less memory; None for never. A label of
            a blank node then means another node in each part.

    Raises:
        OSError: The source cannot be read, or a store cannot be written; what else the source raises is raised too.
        RuntimeError: A store cannot be written.
    """
    load = _load if part is None else partial(_load_parts, part=part)
    if copy is None:
        load(triples, engine)
        return
    reading, writing = os.pipe()
    with open(writing, "wb", buffering=0) as output:  # noqa: PTH123 - a descriptor
        loader = _CopyLoader(copy, reading, load)
        loader.start()
        try:
            with io.BufferedReader(_Copied(triples, output), CHUNK) as source:
                load(source, engine)
        finally:
            output.close()
            loader.join()
    if loader.error is not None:
        raise loader.error
    if not loader.is_whole:
        raise RuntimeError("the copy was not loaded to its end")


def _load(triples: IO[bytes], engine: pyoxigraph.Store) -> None:
    engine.bulk_load(triples, pyoxigraph.RdfFormat.N_TRIPLES, lenient=True)


def _load_parts(triples: BinaryIO, engine: pyoxigraph.Store, part: int) -> None:
    is_last = False
    while not is_last:
        lines = _Part(triples, part)
        _load(io.BufferedReader(lines, CHUNK), engine)
        is_last = lines.are_last


class _Part(PieceReader):
    """The next lines of a stream, about so many bytes.

    Attributes:
        are_last: Whether the stream has ended.
    """

    def __init__(self, triples: BinaryIO, size: int) -> None:
        self._triples = triples
        self._left = size
        self.are_last = False

    def _piece(self) -> bytes:
        if self._left <= 0:
            return b""
        lines = b"".join(self._triples.readlines(CHUNK))
        self.are_last = not lines
        self._left -= len(lines)
        return lines


class _CopyLoader(threading.Thread):
    """Loads what comes out of a pipe into a store."""

    def __init__(
        self, engine: pyoxigraph.Store, reading: int, load: Callable[[BinaryIO, pyoxigraph.Store], None]
    ) -> None:
        super().__init__(name="copying", daemon=True)
        self._load = load
        self._engine: pyoxigraph.Store | None = engine
        self._reading = reading
        self.error: OSError | RuntimeError | SyntaxError | None = None
        # Whatever else ends the thread, an engine's panic or too little memory, leaves a part of the graph.
        self.is_whole = False

    def run(self) -> None:
        try:
            with open(self._reading, "rb") as source:  # noqa: PTH123 - a descriptor
                if self._engine is not None:
                    self._load(source, self._engine)
            self.is_whole = True
        except (OSError, RuntimeError, SyntaxError) as error:
            # A source that was cut ends within a triple; then the caller raises what cut it.
            self.error = error
        finally:
            # Oxigraph closes a store when no name holds it.
            self._engine = None


class _Copied(Readable):
    """A stream that writes to a pipe what is read from it, as long as somebody reads the pipe."""

    def __init__(self, source: BinaryIO, output: io.FileIO) -> None:
        super().__init__()
        self._source = source
        self._output: io.FileIO | None = output

    def readinto(self, buffer: Buffer, /) -> int:
        view = memoryview(buffer).cast("B")
        chunk = self._source.read(view.nbytes)
        view[: len(chunk)] = chunk
        rest = memoryview(chunk)
        while self._output is not None and rest:
            try:
                rest = rest[self._output.write(rest) :]
            except BrokenPipeError:
                self._output = None
        return len(chunk)
