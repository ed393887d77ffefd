"""The names of stores on disk, their locks, what they take, and their removal; `stored_graph` has the layout."""

from __future__ import annotations

import logging
import os
import shutil
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import portalocker

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


def locked(file: IO[bytes] | int, how: portalocker.LockFlags) -> bool:
    """Lock a file until it is closed; return whether nobody else had it.

    Raises:
        OSError: Files cannot be locked there.
    """
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
            if not locked(file, portalocker.LockFlags.EXCLUSIVE):
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
