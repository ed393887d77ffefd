"""The schema of a graph, kept on disk between runs.

That of an endpoint is where the next run begins; that of files belongs to their content, so it stays complete.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

import msgspec

from gateway.errors import ConfigurationError
from gateway.escaping import in_json
from gateway.graph.call import Call
from gateway.graph.delegating_store import DelegatingStore
from gateway.graph.store import GraphStore
from gateway.graph.values import Iri, Schema
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
        kept: Where the schema of exactly this content is kept.
        use_names: Makes the store read names by some predicates, as the reading of a schema does.
    """

    def __init__(self, inner: GraphStore, kept: StoredSchema, use_names: Callable[[Sequence[Iri]], None]) -> None:
        super().__init__(inner)
        self._kept = kept
        self._use_names = use_names
        self.search = inner.search
        self.quick_schema = lambda call: self._read(inner.quick_schema, call)
        self.schema = lambda call: self._read(inner.schema, call)

    async def _read(self, read: Callable[[Call], Awaitable[Schema]], call: Call) -> Schema:
        kept = self._kept.load()
        if kept is not None and kept.exact and kept.labelled and kept.names is not None:
            self._use_names(kept.names)
            return kept
        schema = await read(call)
        if schema.exact:
            self._kept.save(schema)
        return schema
