"""Which files a caller means: those named one by one, those of a folder, and those that fit a pattern."""

from __future__ import annotations

import errno
import fnmatch
import glob
import itertools
import logging
import os
import re
import stat
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NoReturn, TypeAlias
from urllib.parse import urlsplit

from gateway.errors import ConfigurationError, quoted
from gateway.files import recognition
from gateway.files.graph_files import GraphFiles
from gateway.settings.paths import path_text
from gateway.settings.urls import is_database_url

_MOST = 10_000
"""Files of one graph."""

_MOST_FOLDERS = 100_000
"""Folders that are looked into: a link may lead to a whole disk."""

_OF_SYSTEM = frozenset({"lost+found", "System Volume Information", "$RECYCLE.BIN"})
"""Folders of file systems, which only the system may read."""

_URL = re.compile(r"https?://", re.IGNORECASE)
_SAFE_NAME = re.compile(r"[^A-Za-z0-9._-]+")

_ANY = "**"
"""The part of a pattern that stands for any folders inside."""

_Looked: TypeAlias = set[tuple[int, int]]
"""The folders that were looked into, by file system and number."""

_log = logging.getLogger(__name__)


def graph_files(given: Iterable[str | Path]) -> GraphFiles:
    """Return the files that are meant, in the order given, those of a folder or pattern by name.

    Of a folder, with those inside it, and of a pattern (`data/*.ttl`), these are the files whose suffix names an RDF
    format. Links to folders are followed, and a folder that several lead to is read once. Hidden files and folders are
    left out, and so is what is no file, such as a pipe, or no graph by its name, such as `package.json`.

    Raises:
        ConfigurationError: A folder or pattern has no such file, or too many, or a folder inside cannot be listed; or a
            URL or an empty path is given.
    """
    files: list[tuple[Path, str]] = []
    for entry in given:
        if not isinstance(entry, str | Path):
            raise no_path(entry)
        text = path_text(entry)
        if not text.strip():
            raise _empty_path()
        if _URL.match(text):
            raise _url_given(text)
        if is_database_url(text):
            # Not repeated: it may hold a password.
            raise ConfigurationError(
                "The URL of a database was given as a file.", next_step="Give it by --endpoint (endpoint= in Python)."
            )
        path = Path(text)
        if os.path.isdir(path):  # noqa: PTH112 - it does not raise
            files += _named(_checked(text, sorted(_inside(path))), path)
        elif glob.has_magic(text) and not os.path.lexists(path):
            base = _without_magic(path)
            found = _checked(text, _matching(base, path.parts[len(base.parts) :]))
            files += _named(found, base)
        else:
            files.append((path, path.name))
    return GraphFiles(files)


def no_path(given: object) -> ConfigurationError:
    """Return the error of a graph that a program gives as something that is none."""
    return ConfigurationError(
        f"A {type(given).__name__} is no path of a graph file.",
        valid="A graph is a path, a list of paths, or an rdflib Graph.",
    )


def _empty_path() -> ConfigurationError:
    return ConfigurationError(
        "The path of a graph is empty.",
        valid="A graph is a file, a folder or a pattern.",
        next_step='Give its path; for all graph files of the current folder, write ".".',
    )


def _named(paths: Iterable[Path], folder: Path) -> list[tuple[Path, str]]:
    return [(path, path.relative_to(folder).as_posix()) for path in paths]


def _without_magic(pattern: Path) -> Path:
    """Return the folder in which a pattern begins to match."""
    plain = list(itertools.takewhile(lambda part: not glob.has_magic(part), pattern.parts))
    return Path(*plain)


def _inside(folder: Path) -> Iterator[Path]:
    """Yield the graph files of a folder and of those inside it, links among them."""
    for each in _folders_in(folder, set()):
        yield from (path for path in _listed(each) if _is_graph(path) and _may_be_read(path))


def _matching(base: Path, parts: Sequence[str]) -> Sequence[Path]:
    """Return the graph files that fit a pattern.

    `glob` passes over folders that it cannot list, and loses itself in links that lead back.

    Args:
        base: The folder in which it begins to match.
        parts: The patterns of names below it.
    """
    folders = [base] if _is_folder(base) else []
    for part in parts[:-1]:
        looked: _Looked = set()
        if part == _ANY:
            folders = [each for folder in folders for each in _folders_in(folder, looked)]
        else:
            inside = [path for folder in folders for path in _fitting(folder, part) if _leads_to_folder(path)]
            folders = [path for path in sorted(inside, key=_links_last) if _is_new(path, looked)]
    if parts[-1] == _ANY:
        looked = set()
        folders = [each for folder in folders for each in _folders_in(folder, looked)]
    files = (path for folder in folders for path in _fitting(folder, parts[-1]))
    return sorted(path for path in files if _is_graph(path) and _may_be_read(path))


def _fitting(folder: Path, part: str) -> Iterable[Path]:
    """Return what a folder has by one part of a pattern; hidden names by one that begins so alone."""
    if not glob.has_magic(part):
        path = folder / part
        try:
            path.lstat()
        except (FileNotFoundError, NotADirectoryError):
            return []
        except OSError as error:
            _refuse_unlisted(error)
        return [path]
    names = fnmatch.filter((path.name for path in _listed(folder)), part)
    return [folder / name for name in names if part.startswith(".") or not name.startswith(".")]


def _folders_in(start: Path, looked: _Looked) -> Iterator[Path]:
    """Yield a folder and those inside it, links among them, each once.

    Linked ones come last, so that a folder inside has the name that it has without the link.
    """
    waiting = [start]
    while waiting:
        linked: list[Path] = []
        while waiting:
            folder = waiting.pop()
            if not _is_new(folder, looked):
                continue
            if len(looked) > _MOST_FOLDERS:
                raise ConfigurationError(
                    f"{start}: these are more than {_MOST_FOLDERS:,} folders.", next_step="Give fewer at once."
                )
            yield folder
            inside = sorted(path for path in _listed(folder) if _is_looked_into(path) and _leads_to_folder(path))
            linked += [path for path in inside if path.is_symlink()]
            waiting += [path for path in inside if not path.is_symlink()]
        waiting = sorted(linked, reverse=True)


def _listed(folder: Path) -> list[Path]:
    try:
        return list(folder.iterdir())
    except OSError as error:
        _refuse_unlisted(error)


def _is_folder(path: Path) -> bool:
    # `Path.is_dir` takes one that may not be entered for none, from Python 3.14 on.
    try:
        return stat.S_ISDIR(path.stat().st_mode)
    except OSError as error:
        if error.errno in {errno.ENOENT, errno.ENOTDIR, errno.ELOOP}:
            return False
        _refuse_unlisted(error)


def _leads_to_folder(path: Path) -> bool:
    """Return whether a name in a folder is that of a folder, or of a link to one.

    Raises:
        ConfigurationError: It leads nowhere, and no suffix says that it led to a file.
    """
    _refuse_lost_folder(path)
    return _is_folder(path)


def _links_last(path: Path) -> tuple[bool, Path]:
    return path.is_symlink(), path


def _is_looked_into(folder: Path) -> bool:
    return not folder.name.startswith(".") and folder.name not in _OF_SYSTEM


def _is_new(folder: Path, looked: _Looked) -> bool:
    """Note that a folder is looked into; return whether it was not before, by any name."""
    try:
        found = folder.stat()
    except OSError as error:
        _refuse_unlisted(error)
    place = (found.st_dev, found.st_ino)
    if place in looked:
        return False
    looked.add(place)
    return True


def _refuse_unlisted(error: OSError) -> NoReturn:
    raise ConfigurationError(
        f"{error.filename}: this folder, or what is in it, cannot be looked at: {error.strerror or error}.",
        next_step="Let this user read the folder, or give what is beside it, one by one.",
    ) from error


def _refuse_lost_folder(path: Path) -> None:
    """Refuse a link that leads nowhere, unless its suffix says that it was one to a file."""
    if any(map(str.isalpha, path.suffix)) or path.name.startswith("."):
        return
    try:
        path.stat()
    except OSError as error:
        raise ConfigurationError(
            f"{path}: what this leads to cannot be looked at: {error.strerror or error}.",
            valid="It may be a folder of graph files.",
            next_step="Repair or remove the link, or give what is beside it, one by one or by a pattern.",
        ) from error


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
    if path.name.startswith(".") or not recognition.format_by_name(path.name):
        return False
    if recognition.is_no_graph(path.name):
        _log.warning("%s is no graph by its name, and is left out; give it by its path to have it read", path)
        return False
    return True


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
