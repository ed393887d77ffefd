"""The schema of a graph, kept on disk between runs."""

from __future__ import annotations

import logging
from pathlib import Path

import msgspec

from gateway.errors import ConfigurationError
from gateway.escaping import in_json
from gateway.graph.values import Schema
from gateway.settings import keeping

_log = logging.getLogger(__name__)

_FILE = "schema.json"
_FORMAT = 2


class _Content(msgspec.Struct, forbid_unknown_fields=True):
    format: int
    schema: Schema


class KeptSchema:
    """A file that holds one schema; whatever happens to it, no call fails for it.

    Args:
        place: The folder of the graph; see `gateway.settings.keeping.place_for`.
    """

    def __init__(self, place: Path) -> None:
        self._path = place / _FILE

    def load(self) -> Schema | None:
        """Return what an earlier run knew; None where there is nothing, or nothing that can be read."""
        try:
            content = msgspec.json.decode(self._path.read_bytes(), type=_Content)
        except FileNotFoundError:
            return None
        except (OSError, msgspec.DecodeError) as error:
            _log.warning("%s cannot be read, and is left aside: %s", self._path, error)
            return None
        return content.schema if content.format == _FORMAT else None

    def save(self, schema: Schema) -> None:
        """Keep a schema in place of the one before."""
        try:
            keeping.write(self._path, in_json(msgspec.json.encode(_Content(_FORMAT, schema)).decode()))
        except ConfigurationError as error:
            _log.warning("the schema cannot be kept: %s", error)
