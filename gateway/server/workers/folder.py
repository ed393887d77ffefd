"""The private folder of a server with several workers: their sockets and counts."""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from gateway.errors import ConfigurationError, quoted

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
