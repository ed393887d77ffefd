"""Which files a caller means: files, folders, patterns, and standard input."""

from __future__ import annotations

import errno
import glob
import logging
import os
import re
import stat
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import BinaryIO
from urllib.parse import urlsplit

from gateway.errors import ConfigurationError, quoted
from gateway.files import recognition
from gateway.settings import storage
from gateway.settings.urls import is_database_url

_log = logging.getLogger(__name__)

STDIN = "-"
"""Stands for standard input; a suffix behind it says its format, as in `-.ttl`."""

_MOST = 10_000
"""Files of one graph."""

_URL = re.compile(r"https?://", re.IGNORECASE)
_SAFE_NAME = re.compile(r"[^A-Za-z0-9._-]+")


def graph_files(given: Iterable[str | Path]) -> list[Path]:
    """Return the files that are meant, in the order given, those of a folder or pattern by name.

    Of a folder, with those inside it, and of a pattern (`data/*.ttl`), these are the files whose suffix names an RDF
    format. Hidden files and folders are left out, and so is what is no file, such as a pipe.

    Raises:
        ConfigurationError: A folder or pattern has no such file, or too many, or a URL is given.
    """
    files: list[Path] = []
    for entry in given:
        text = os.fspath(entry)
        if _URL.match(text):
            raise _url_given(text)
        if is_database_url(text):
            # Not repeated: it may hold a password.
            raise ConfigurationError(
                "The URL of a database was given as a file.", next_step="Give it by --endpoint (endpoint= in Python)."
            )
        path = Path(entry)
        if path.is_dir():
            files += _checked(text, sorted(_inside(path)))
        elif glob.has_magic(text) and not path.exists():
            matches = sorted(Path(match) for match in glob.iglob(text, recursive=True))  # noqa: PTH207 - any anchor
            files += _checked(text, [match for match in matches if _is_graph(match) and _may_be_read(match)])
        else:
            files.append(path)
    return files


def is_stdin(path: Path) -> bool:
    """Return whether a path stands for standard input."""
    return (
        (path.name == STDIN or (path.stem == STDIN and _is_graph(path))) and path.parent == Path() and not path.exists()
    )


def opened(path: Path) -> BinaryIO:
    """Open a file, a pipe, or standard input.

    Raises:
        ConfigurationError: It cannot be opened, is neither of them, or nobody writes to the pipe.
    """
    try:
        if is_stdin(path):
            return os.fdopen(os.dup(sys.__stdin__.fileno()), "rb") if sys.__stdin__ is not None else path.open("rb")
        return storage.opened(path)
    except OSError as error:
        is_special = error.errno in {errno.EINVAL, errno.ENXIO, errno.ETIMEDOUT}
        raise ConfigurationError(
            f"{path}: {error.strerror or error}.",
            next_step="Give -, and lead into standard input what shall be read." if is_special else "",
        ) from error


def refuse_stdin(paths: Sequence[Path]) -> None:
    """Refuse standard input where the graph is to be stored: it cannot be compared with what was stored.

    Raises:
        ConfigurationError: It is given.
    """
    if any(map(is_stdin, paths)):
        raise ConfigurationError(
            "Standard input cannot be stored.", next_step="Write it to a file first, or leave --store away."
        )


def _inside(folder: Path) -> Iterable[Path]:
    for root, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if not name.startswith(".")]
        yield from (path for name in names if _is_graph(path := Path(root, name)) and _may_be_read(path))


def _may_be_read(path: Path) -> bool:
    """Return whether a name in a folder is that of a file; where that is not known, opening it will say why."""
    try:
        mode = path.stat().st_mode
    except OSError:
        return True
    if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
        _log.warning("%s is no file, and is left out", path)
    return stat.S_ISREG(mode)


def _is_graph(path: Path) -> bool:
    return not path.name.startswith(".") and bool(recognition.format_by_name(path.name))


def _checked(given: str, files: Sequence[Path]) -> Sequence[Path]:
    if not files:
        raise ConfigurationError(
            f"{given}: no file there has the suffix of an RDF format.",
            valid=f"Suffixes are {', '.join(recognition.FORMATS)}, each also with {', '.join(recognition.PACKINGS)}.",
        )
    if len(files) > _MOST:
        raise ConfigurationError(f"{given}: these are more than {_MOST:,} files.", next_step="Give fewer at once.")
    return files


def _url_given(url: str) -> ConfigurationError:
    name = _SAFE_NAME.sub("_", urlsplit(url).path.rpartition("/")[2]).lstrip("-.") or "graph.ttl"
    return ConfigurationError(
        f"{quoted(url)} is a URL; graphs are read from files.",
        valid="A SPARQL endpoint is given by --endpoint (endpoint= in Python).",
        next_step=f"Fetch the file first: curl --fail --location --output {name} {quoted(url)}",
    )
