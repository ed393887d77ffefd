"""Schemas stored on disk.

The next run over an endpoint begins with it; a schema of files belongs to exactly their content, so it stays complete,
and so does the number of nodes without a name.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TypeVar

import msgspec

from gateway.errors import ConfigurationError
from gateway.escaping import in_json
from gateway.graph.call import Call
from gateway.graph.store import DelegatingStore, GraphStore
from gateway.graph.values import Iri, NamelessNodes, Schema
from gateway.settings.storage import read_at_most, write_file

_log = logging.getLogger(__name__)

_FILE = "schema.json"
_FORMAT = 6
"""A file of another format is ignored, and read again from the graph."""

_NAMELESS = "nameless.json"

_LARGEST = 64 << 20
"""Bytes of a schema that are read."""

_LATEST = 253_402_300_799
"""Seconds since the epoch until the end of the year 9999, the last that a date can show."""


class _Content(msgspec.Struct, forbid_unknown_fields=True):
    format: int
    schema: Schema


class _Counted(msgspec.Struct, forbid_unknown_fields=True):
    """How many nodes have no name by some predicates."""

    format: int
    names: tuple[Iri, ...]
    nameless: NamelessNodes


_File = TypeVar("_File", _Content, _Counted)
_Decoded = TypeVar("_Decoded")


class StoredSchema:
    """A file with one schema; no call fails because of it.

    Args:
        folder: The folder of the graph; see `gateway.settings.storage.graph_folder`.
    """

    def __init__(self, folder: Path) -> None:
        self._path = folder / _FILE

    def load(self) -> Schema | None:
        """Return the schema that an earlier run stored; None if there is none that this version can read."""
        content = _read(self._path, _Content)
        if content is None:
            return None
        if not 0 <= (content.schema.basis.read_at or 0) <= _LATEST:
            _log.warning("%s says that it was read at no possible time, and is ignored", self._path)
            return None
        return content.schema

    def save(self, schema: Schema) -> None:
        """Store a schema in place of the one before."""
        _write(self._path, _Content(_FORMAT, schema))


def _read(path: Path, kind: type[_File]) -> _File | None:
    content = _decoded(path, kind, _LARGEST)
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


def _write(path: Path, content: _Content | _Counted) -> None:
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
