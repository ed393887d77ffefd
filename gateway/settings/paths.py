"""Paths as people and clients give them: with `~`, which only a shell expands, or as a `file:` URL."""

from __future__ import annotations

import os
import re
from pathlib import Path
from urllib.parse import unquote, urlsplit
from urllib.request import url2pathname

from gateway.errors import ConfigurationError, quoted

_FILE_URL = re.compile(r"file:", re.IGNORECASE)
_LOCAL_HOSTS = ("", "localhost")


def path_text(given: str | Path) -> str:
    """Return a path without `~` at its beginning, and not as a `file:` URL; `~` that names no user stays.

    Raises:
        ConfigurationError: It is the URL of a file on another machine, or of none.
    """
    text = os.fspath(given)
    # What is a Path was made by a program.
    if not isinstance(given, str):
        return text
    if _FILE_URL.match(text) and not Path(text).exists():
        return _path_of_url(text)
    return os.path.expanduser(text)  # noqa: PTH111 - Path refuses a user that is not there


def local_path(given: str | Path) -> Path:
    """Return the path that is meant; see `path_text`."""
    return Path(path_text(given))


def is_file(name: str) -> bool:
    """Return whether a text is the path of a file; one that can be no path is none."""
    try:
        return local_path(name).is_file()
    except (OSError, ValueError):
        # It is too long, for example.
        return False


def _path_of_url(url: str) -> str:
    parts = urlsplit(url)
    if parts.netloc.lower() not in _LOCAL_HOSTS or not parts.path.startswith("/") or parts.query or parts.fragment:
        raise ConfigurationError(
            f"{quoted(url)} names no file on this machine.", valid="A file is a path, or file:///PATH."
        )
    return unquote(parts.path) if os.name == "posix" else url2pathname(parts.path)
