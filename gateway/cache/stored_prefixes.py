"""Coined prefixes stored on disk: a line for each, to which processes over the same graph append."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterable, Mapping
from pathlib import Path

import msgspec

from gateway.errors import ConfigurationError
from gateway.escaping import json_text
from gateway.settings.storage import append_to_file, opened, read_at_most

_log = logging.getLogger(__name__)

_FILE = "prefixes.jsonl"
_EARLIER_FILE = "prefixes.json"
"""One object, which earlier versions wrote anew with each prefix."""

_EARLIER_LARGEST = 1 << 20
_LARGEST = 32 << 20
"""Bytes of a file that are read, and written: as many namespaces of 250 bytes as are remembered."""

_Line = tuple[str, str]


class StoredPrefixes:
    """A file with namespaces by prefix; no call fails because of it.

    Args:
        folder: The folder of the graph, which outlives a change of its content.
    """

    def __init__(self, folder: Path) -> None:
        self._path = folder / _FILE
        self._read_bytes = 0
        self._names: set[str] = set()
        self._is_full = False
        self._not_loaded: dict[str, str] = {}
        self._add(_earlier(folder / _EARLIER_FILE).items())

    def load(self) -> Mapping[str, str]:
        """Return the namespaces stored since the last time; none if the file cannot be read."""
        self._read()
        found, self._not_loaded = self._not_loaded, {}
        return found

    def save(self, coined: Mapping[str, str]) -> None:
        """Store namespaces beside those that are stored, if the file has room; what a stored prefix means stays."""
        self._read()
        lines = [json_text([name, namespace]) for name, namespace in coined.items() if name not in self._names]
        if not lines or self._is_full:
            return
        # Where a process ended while it wrote, its line has no end.
        text = "\n" + "\n".join(lines) + "\n"
        # A longer file would not be read, so that all of it would be lost.
        if self._read_bytes + len(text.encode()) > _LARGEST:
            self._is_full = True
            _log.warning("%s has no room for further coined prefixes: the next run may not know them", self._path)
            return
        try:
            append_to_file(self._path, text)
        except ConfigurationError as error:
            _log.warning("the coined prefixes cannot be stored: %s", error)

    def _read(self) -> None:
        """Read what was appended since the last time."""
        try:
            with opened(self._path) as file:
                size = file.seek(0, os.SEEK_END)
                if size == self._read_bytes or self._is_full:
                    return
                if size > _LARGEST:
                    self._is_full = True
                    _log.warning("%s has more than %s bytes, and is ignored", self._path, f"{_LARGEST:,}")
                    return
                # It may have been deleted and begun anew.
                self._read_bytes = 0 if size < self._read_bytes else self._read_bytes
                file.seek(self._read_bytes)
                appended = file.read(size - self._read_bytes)
        except FileNotFoundError:
            return
        except OSError as error:
            _log.warning("%s cannot be read, and is ignored: %s", self._path, error)
            return
        whole = appended[: appended.rfind(b"\n") + 1]
        self._read_bytes += len(whole)
        self._add(filter(None, map(_decoded, whole.split(b"\n"))))

    def _add(self, found: Iterable[_Line]) -> None:
        for name, namespace in found:
            if name not in self._names:
                self._names.add(name)
                self._not_loaded[name] = namespace


def _decoded(line: bytes) -> _Line | None:
    """Return what a line says; None for a line that was not written to its end."""
    try:
        return msgspec.json.decode(line, type=_Line) if line else None
    except (msgspec.DecodeError, RecursionError):
        return None


def _earlier(path: Path) -> Mapping[str, str]:
    try:
        return msgspec.json.decode(read_at_most(path, _EARLIER_LARGEST), type=dict[str, str])
    except FileNotFoundError:
        return {}
    except (OSError, msgspec.DecodeError, RecursionError) as error:
        _log.warning("%s cannot be read, and is ignored: %s", path, error)
        return {}
