"""The schema of a graph, kept on disk between runs.

That of an endpoint is where the next run begins; that of files belongs to their content, so it stays complete.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from pathlib import Path

import msgspec

from gateway.errors import ConfigurationError
from gateway.escaping import in_json
from gateway.graph.call import Call
from gateway.graph.delegating_store import DelegatingStore
from gateway.graph.store import GraphStore
from gateway.graph.values import Schema
from gateway.settings import storage as keeping
from gateway.settings.bounded_read import read_at_most

_log = logging.getLogger(__name__)

_FILE = "schema.json"
_FORMAT = 2
_LARGEST = 64 << 20
"""Bytes of a schema that are read."""


class _Content(msgspec.Struct, forbid_unknown_fields=True):
    format: int
    schema: Schema


class StoredSchema:
    """A file that holds one schema; whatever happens to it, no call fails for it.

    Args:
        place: The folder of the graph; see `gateway.settings.storage.place_for`.
    """

    def __init__(self, place: Path) -> None:
        self._path = place / _FILE

    def load(self) -> Schema | None:
        """Return what an earlier run knew; None where there is nothing, or nothing that can be read."""
        try:
            content = msgspec.json.decode(read_at_most(self._path, _LARGEST), type=_Content)
        except FileNotFoundError:
            return None
        except (OSError, msgspec.DecodeError, RecursionError) as error:
            _log.warning("%s cannot be read, and is left aside: %s", self._path, error)
            return None
        return content.schema if content.format == _FORMAT else None

    def save(self, schema: Schema) -> None:
        """Keep a schema in place of the one before."""
        try:
            keeping.write(self._path, in_json(msgspec.json.encode(_Content(_FORMAT, schema)).decode()))
        except ConfigurationError as error:
            _log.warning("the schema cannot be kept: %s", error)


class FixedContentStore(DelegatingStore):
    """A graph store whose content never changes, so that its complete schema is read once.

    Args:
        inner: The graph.
        stored: Where the schema of exactly this content is stored.
    """

    def __init__(self, inner: GraphStore, stored: StoredSchema) -> None:
        super().__init__(inner)
        self._stored = stored

    async def quick_schema(self, call: Call) -> Schema:
        """Return the stored schema, or read a quick one."""
        return await self._read(self._inner.quick_schema, call)

    async def schema(self, call: Call) -> Schema:
        """Return the stored schema, or read it."""
        return await self._read(self._inner.schema, call)

    async def _read(self, read: Callable[[Call], Awaitable[Schema]], call: Call) -> Schema:
        stored = self._stored.load()
        if stored is not None and stored.exact and stored.labelled and stored.names is not None:
            names = self._inner.name_reader()
            if names is not None:
                names.use_predicates(stored.names)
            return stored
        schema = await read(call)
        if schema.exact:
            self._stored.save(schema)
        return schema
