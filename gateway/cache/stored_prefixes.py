"""The prefixes that the gateway coined for a graph, stored on disk: the next run takes the same ones as input."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from pathlib import Path

import msgspec

from gateway.errors import ConfigurationError
from gateway.escaping import json_text
from gateway.settings.private_folder import read_at_most, write_file

_log = logging.getLogger(__name__)

_FILE = "prefixes.json"

_LARGEST = 1 << 20
"""Bytes of a file that are read."""


class StoredPrefixes:
    """A file with namespaces by prefix; no call fails because of it.

    Args:
        folder: The folder of the graph, which outlives a change of its content.
    """

    def __init__(self, folder: Path) -> None:
        self._path = folder / _FILE

    def load(self) -> Mapping[str, str]:
        """Return the namespaces that earlier runs, and other processes, stored; none if the file cannot be read."""
        try:
            return msgspec.json.decode(read_at_most(self._path, _LARGEST), type=dict[str, str])
        except FileNotFoundError:
            return {}
        except (OSError, msgspec.DecodeError, RecursionError) as error:
            _log.warning("%s cannot be read, and is ignored: %s", self._path, error)
            return {}

    def save(self, coined: Mapping[str, str]) -> None:
        """Store namespaces beside those that are stored; what a stored prefix means does not change."""
        try:
            write_file(self._path, json_text({**coined, **self.load()}, indent=1))
        except ConfigurationError as error:
            _log.warning("the coined prefixes cannot be stored: %s", error)
