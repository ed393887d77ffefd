"""Schemas, what an endpoint taught, and coined prefixes, stored on disk.

The next run over an endpoint begins with them. A schema of files belongs to exactly their content, so it stays
complete, and so does the number of nodes without a name. Of prefixes there is a line for each, to which processes over
the same graph append.
"""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping
from pathlib import Path
from typing import TypeVar

import msgspec

from gateway.errors import ConfigurationError
from gateway.escaping import in_json, json_text
from gateway.graph.call import Call
from gateway.graph.kept import Fact
from gateway.graph.store import DelegatingStore, GraphStore
from gateway.graph.values import Iri, NamelessNodes, Schema
from gateway.settings.storage import append_to_file, opened, read_at_most, write_file
from gateway.telemetry.tally import Clock

_log = logging.getLogger(__name__)

_FILE = "schema.json"
_FORMAT = 9
"""A file of another format is ignored, and read again from the graph."""

_NAMELESS = "nameless.json"

_LARGEST = 64 << 20
"""Bytes of a schema that are read."""

_LATEST = 253_402_300_799
"""Seconds since the epoch until the end of the year 9999, the last that a date can show."""


_FACTS = "facts.json"
_LARGEST_OF_FACTS = 1 << 20
"""Bytes of facts that are read."""


class _Content(msgspec.Struct, forbid_unknown_fields=True):
    format: int
    schema: Schema
    profile: str = ""


class _Facts(msgspec.Struct, forbid_unknown_fields=True):
    """What was found out about an endpoint under a profile, each fact with the seconds since the epoch."""

    format: int
    profile: str
    facts: dict[str, tuple[float, Fact]]


class _Counted(msgspec.Struct, forbid_unknown_fields=True):
    """How many nodes have no name by some predicates."""

    format: int
    names: tuple[Iri, ...]
    nameless: NamelessNodes


_File = TypeVar("_File", _Content, _Counted, _Facts)
_Decoded = TypeVar("_Decoded")


class StoredSchema:
    """A file with one schema; no call fails because of it.

    Args:
        folder: The folder of the graph; see `gateway.settings.storage.graph_folder`.
        profile: A hash of what decides how the graph is read; see `gateway.settings.storage.profile_digest`.
        wall_clock: Seconds since the epoch.
    """

    def __init__(self, folder: Path, profile: str = "", wall_clock: Clock = time.time) -> None:
        self._path = folder / _FILE
        self._profile = profile
        self._wall_clock = wall_clock

    def load(self) -> Schema | None:
        """Return the schema that an earlier run stored; None if there is none that this version can read."""
        content = self._content()
        return None if content is None else content.schema

    def recent(self, seconds: float) -> Schema | None:
        """Return the schema if it was read under the same profile no more than so many seconds ago, with all of it."""
        content = self._content()
        if content is None or content.profile != self._profile:
            return None
        schema = content.schema
        return schema if 0 <= self.age(schema) < seconds and schema.labelled and schema.names is not None else None

    def age(self, schema: Schema) -> float:
        """Return how many seconds ago a schema was read."""
        return self._wall_clock() - (schema.basis.read_at or 0.0)

    def save(self, schema: Schema) -> None:
        """Store a schema in place of the one before."""
        _write(self._path, _Content(_FORMAT, schema, self._profile))

    def _content(self) -> _Content | None:
        content = _read(self._path, _Content)
        if content is not None and not 0 <= (content.schema.basis.read_at or 0) <= _LATEST:
            _log.warning("%s says that it was read at no possible time, and is ignored", self._path)
            return None
        return content


class StoredFacts:
    """A file with what an endpoint taught; no call fails because of it.

    Args:
        folder: The folder of the graph.
        profile: A hash of what decides how the graph is read: what was found out under another one is ignored.
    """

    def __init__(self, folder: Path, profile: str) -> None:
        self._path = folder / _FACTS
        self._profile = profile

    def load(self) -> Mapping[str, tuple[float, Fact]]:
        """Return the facts that are stored; none where this version cannot read them."""
        content = _read(self._path, _Facts, _LARGEST_OF_FACTS)
        return {} if content is None or content.profile != self._profile else content.facts

    def save(self, facts: Mapping[str, tuple[float, Fact]]) -> None:
        """Store facts in place of those before."""
        _write(self._path, _Facts(_FORMAT, self._profile, dict(facts)))


def _read(path: Path, kind: type[_File], most_bytes: int = _LARGEST) -> _File | None:
    content = _decoded(path, kind, most_bytes)
    if content is not None and content.format != _FORMAT:
        _log.info("%s is of format %d, not %d, and is ignored", path, content.format, _FORMAT)
        return None
    return content


def _decoded(path: Path, kind: type[_Decoded], most_bytes: int) -> _Decoded | None:
    try:
        return msgspec.json.decode(read_at_most(path, most_bytes), type=kind)
    except FileNotFoundError:
        return None
    except (OSError, msgspec.DecodeError, RecursionError) as error:
        _log.warning("%s cannot be read, and is ignored: %s", path, error)
        return None


def _write(path: Path, content: _Content | _Counted | _Facts) -> None:
    try:
        write_file(path, in_json(msgspec.json.encode(content).decode()))
    except ConfigurationError as error:
        _log.warning("%s cannot be stored: %s", path.stem, error)


class FixedContentStore(DelegatingStore):
    """A graph store whose content never changes, so its complete schema is read once and stored.

    Args:
        inner: The graph.
        folder: The folder of the graph, as it is read by one profile.
    """

    def __init__(self, inner: GraphStore, folder: Path) -> None:
        super().__init__(inner)
        self._stored = StoredSchema(folder)
        self._nameless = folder / _NAMELESS

    async def quick_schema(self, call: Call) -> Schema:
        """Return the stored schema, or read a quick one."""
        return await self._read(self._inner.quick_schema, call)

    async def schema(self, call: Call) -> Schema:
        """Return the stored schema, or read it."""
        return await self._read(self._inner.schema, call)

    async def nameless(self, schema: Schema, call: Call) -> NamelessNodes | None:
        """Return how many nodes have no name: the stored number, or count them, and store it if all were counted."""
        reader = self._inner.name_reader()
        names = () if reader is None else tuple(reader.predicates)
        stored = _read(self._nameless, _Counted)
        if stored is not None and stored.names == names:
            return stored.nameless
        found = await self._inner.nameless(schema, call)
        if found is not None and found.exact:
            _write(self._nameless, _Counted(_FORMAT, names, found))
        return found

    async def _read(self, read: Callable[[Call], Awaitable[Schema]], call: Call) -> Schema:
        stored = self._stored.load()
        if stored is not None and stored.exact and stored.labelled and stored.names is not None:
            names = self._inner.name_reader()
            if names is not None:
                names.use_predicates(stored)
            return stored
        schema = await read(call)
        if schema.exact:
            self._stored.save(schema)
        return schema


_PREFIXES_FILE = "prefixes.jsonl"
_EARLIER_FILE = "prefixes.json"
"""One object, which earlier versions wrote anew with each prefix."""

_LARGEST_EARLIER = 1 << 20
_LARGEST_PREFIXES = 32 << 20
"""Bytes of a file that are read, and written: as many namespaces of 250 bytes as are remembered."""

_Line = tuple[str, str]


class StoredPrefixes:
    """A file with namespaces by prefix; no call fails because of it.

    Args:
        folder: The folder of the graph, which outlives a change of its content.
    """

    def __init__(self, folder: Path) -> None:
        self._path = folder / _PREFIXES_FILE
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
        if self._read_bytes + len(text.encode()) > _LARGEST_PREFIXES:
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
                if size > _LARGEST_PREFIXES:
                    self._is_full = True
                    _log.warning("%s has more than %s bytes, and is ignored", self._path, f"{_LARGEST_PREFIXES:,}")
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
        self._add(filter(None, map(_decoded_line, whole.split(b"\n"))))

    def _add(self, found: Iterable[_Line]) -> None:
        for name, namespace in found:
            if name not in self._names:
                self._names.add(name)
                self._not_loaded[name] = namespace


def _decoded_line(line: bytes) -> _Line | None:
    """Return what a line says; None for a line that was not written to its end."""
    try:
        return msgspec.json.decode(line, type=_Line) if line else None
    except (msgspec.DecodeError, RecursionError):
        return None


def _earlier(path: Path) -> Mapping[str, str]:
    try:
        return msgspec.json.decode(read_at_most(path, _LARGEST_EARLIER), type=dict[str, str])
    except FileNotFoundError:
        return {}
    except (OSError, msgspec.DecodeError, RecursionError) as error:
        _log.warning("%s cannot be read, and is ignored: %s", path, error)
        return {}
