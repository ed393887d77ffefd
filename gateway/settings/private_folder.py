"""Folders and files that only the user of this program may change, and files by their names, which may be no files."""

from __future__ import annotations

import errno
import os
import queue
import stat
import sys
import tempfile
import threading
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

from gateway.errors import ConfigurationError

_OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH
_WRITER_SECONDS = 30.0
"""How long a named pipe may be without a writer."""

_ANOTHER = "Give another folder with --store; it is created if it does not exist."


def check_private(folder: Path, *further: Path) -> None:
    """Raise if another user made a folder or may write to it, because the program trusts its content.

    Folders need not exist. `folder` is the operator's choice and may be the operator's own link; the `further` ones,
    inside it, must not be links.

    Raises:
        ConfigurationError: One of them is another user's, may be written by others, or is a link; not on Windows.
    """
    if sys.platform == "win32":
        return
    try:
        if folder.is_symlink():
            _check_owner(folder, folder.lstat())
        for each in (folder.resolve(), *further):
            with suppress(FileNotFoundError, NotADirectoryError):
                _check_private(each)
    except OSError as error:
        raise ConfigurationError(
            f"The folder {folder} cannot be used: {error.strerror or error}.", next_step=_ANOTHER
        ) from error


def _check_private(folder: Path) -> None:
    found = folder.lstat()
    if stat.S_ISLNK(found.st_mode):
        raise ConfigurationError(f"{folder} is a symbolic link, which this program never creates.", next_step=_ANOTHER)
    _check_owner(folder, found)
    if found.st_mode & _OTHERS_WRITE:
        mode = f"{stat.S_IMODE(found.st_mode):04o}"
        raise ConfigurationError(
            f"Other users may write to {folder} (mode {mode}), so its content is not used.",
            next_step=f"If you trust its content: chmod go-w {folder}. Otherwise give another folder with --store.",
        )


def _check_owner(folder: Path, found: os.stat_result) -> None:
    if sys.platform != "win32" and found.st_uid != os.geteuid():
        raise ConfigurationError(
            f"{folder} belongs to another user (uid {found.st_uid}), so its content is not used.",
            next_step=_ANOTHER,
        )


def make_private(place: Path) -> None:
    """Make a folder and its missing parents, readable for the user alone.

    Raises:
        OSError: It cannot be made.
    """
    if not place.parent.exists():
        make_private(place.parent)
    place.mkdir(mode=0o700, exist_ok=True)


def make_folder(place: Path) -> None:
    """Make a folder that only the user may read, because the graph may be confidential.

    Raises:
        ConfigurationError: It cannot be made.
    """
    try:
        make_private(place)
    except OSError as error:
        raise ConfigurationError(
            f"The folder {place} cannot be created: {error.strerror or error}.",
            next_step="Give another one with --store.",
        ) from error


def write_file(path: Path, text: str) -> None:
    """Write a whole file or nothing; readers meanwhile read the old one.

    Raises:
        ConfigurationError: It cannot be written.
    """
    make_folder(path.parent)
    try:
        handle, temporary = tempfile.mkstemp(prefix=f"{path.name}.", dir=path.parent)
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                file.write(text)
            Path(temporary).replace(path)
        finally:
            Path(temporary).unlink(missing_ok=True)
    except OSError as error:
        raise ConfigurationError(
            f"{path} cannot be written: {error.strerror or error}.", next_step="Give another folder with --store."
        ) from error


def opened(path: Path, writer_seconds: float = _WRITER_SECONDS) -> BinaryIO:
    """Open a file, or a pipe, to read it.

    Args:
        path: Where it is.
        writer_seconds: How long to wait until somebody writes to a pipe that has a name.

    Raises:
        OSError: It cannot be opened, is neither a file nor a pipe, or nobody writes to the pipe.
    """
    found = path.stat().st_mode
    if stat.S_ISFIFO(found):
        return _opened_pipe(path, writer_seconds)
    # A device may have no end, and its reader wait for ever.
    if not (stat.S_ISREG(found) or stat.S_ISDIR(found)):
        raise OSError(errno.EINVAL, "it is neither a file nor a pipe", str(path))
    return path.open("rb")


def _opened_pipe(path: Path, writer_seconds: float) -> BinaryIO:
    """Open a pipe as soon as somebody writes to it: the system waits for that without an end."""
    result: queue.SimpleQueue[int | OSError] = queue.SimpleQueue()

    def wait() -> None:
        try:
            result.put(os.open(path, os.O_RDONLY))
        except OSError as error:
            result.put(error)

    threading.Thread(target=wait, name="waiting for a writer", daemon=True).start()
    try:
        found = result.get(timeout=writer_seconds)
    except queue.Empty:
        with suppress(OSError, queue.Empty):
            # A writer, for a moment: the thread goes on, and ends.
            os.close(os.open(path, os.O_WRONLY | os.O_NONBLOCK))
            found = result.get(timeout=1)
            if isinstance(found, int):
                os.close(found)
        raise OSError(
            errno.ETIMEDOUT, f"nobody wrote to this pipe for {writer_seconds:.0f} seconds", str(path)
        ) from None
    if isinstance(found, OSError):
        raise found
    return os.fdopen(found, "rb")


def read_at_most(path: Path, size: int) -> bytes:
    """Return the content of a file, or of a pipe.

    Raises:
        OSError: As `opened`; or it cannot be read, or has more than `size` bytes.
    """
    with opened(path) as file:
        content = file.read(size + 1)
    if len(content) > size:
        raise OSError(errno.EFBIG, f"{os.strerror(errno.EFBIG)} (more than {size:,} bytes)", str(path))
    return content
