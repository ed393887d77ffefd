"""The state of a quota in a file that all processes of a user share.

A client of MCP starts a server process for each session, and the endpoint counts them all as one: same address, same
`User-Agent`. A file that cannot be read or written is no failure: each process then counts for itself.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, fields
from pathlib import Path
from urllib.parse import urlsplit

import portalocker

from gateway.errors import ConfigurationError
from gateway.escaping import json_text
from gateway.flow.quota_state import QuotaState
from gateway.settings.graph_identity import default_store
from gateway.settings.private_folder import check_private, make_folder, read_at_most, write_file

_log = logging.getLogger(__name__)

_DIGITS = 16
"""Hexadecimal digits of a hash in a file name: 64 bits tell clients apart."""

_MOST_BYTES = 1 << 16
"""Of a file; one of a gateway has some hundred."""

_LARGEST = 1e12
"""The largest figure in a file: seconds since the epoch in 30,000 years. What is not a number is not within it."""

_LOCK_SECONDS = 0.1
"""How long to wait for another process, which holds the lock for a millisecond; the event loop stands meanwhile."""


def shared_storage(url: str, user_agent: str) -> Callable[[QuotaState], QuotaFile]:
    """Return a factory of the file for one client of an endpoint: to it, one address and `User-Agent` are one client.

    Args:
        url: The endpoint.
        user_agent: The header that every request carries.
    """
    parts = urlsplit(url)
    client = f"{parts.hostname}:{parts.port} {user_agent}"
    name = f"quota-{hashlib.sha256(client.encode()).hexdigest()[:_DIGITS]}.json"
    return lambda state: QuotaFile(default_store() / name, state)


class QuotaFile:
    """Stores the state in a file.

    Args:
        path: The file; its folder need not exist.
        state: What holds where there is no file, or none that can be used.
    """

    def __init__(self, path: Path, state: QuotaState) -> None:
        self._path = path
        self._latest = state
        self._is_written = True
        self._has_warned = False

    def read(self) -> QuotaState:
        """Return a copy of the state as the last process wrote it."""
        written = self._read_file()
        # Where this process could not write, it may know more than the file.
        if written is not None and (self._is_written or written.at >= self._latest.at):
            self._latest, self._is_written = written, True
        return self._latest.copy()

    @contextmanager
    def changing(self) -> Iterator[QuotaState]:
        """Lock the file for a block that changes the state, and write it when the block ends."""
        with contextlib.ExitStack() as stack:
            try:
                make_folder(self._path.parent)
                check_private(self._path.parent)
                lock = self._path.with_suffix(".lock")
                stack.enter_context(portalocker.Lock(lock, "ab", timeout=_LOCK_SECONDS, check_interval=0.005))
            except (OSError, portalocker.LockException, ConfigurationError) as error:
                self._warn_once(error)
            state = self.read()
            yield state
            self._latest = state
            try:
                check_private(self._path.parent)
                write_file(self._path, json_text(asdict(state)))
                self._is_written = True
            except ConfigurationError as error:
                self._is_written = False
                self._warn_once(error)

    def _read_file(self) -> QuotaState | None:
        try:
            check_private(self._path.parent)
            found = json.loads(read_at_most(self._path, _MOST_BYTES))
        except ConfigurationError as error:
            self._warn_once(error)
            return None
        except (OSError, ValueError, RecursionError):
            return None
        names = {each.name for each in fields(QuotaState)}
        if not isinstance(found, dict) or found.keys() != names or not isinstance(found["given_up"], list):
            return None
        figures = [*(value for name, value in found.items() if name != "given_up"), *found["given_up"]]
        if not all(isinstance(value, int | float) and abs(value) <= _LARGEST for value in figures):
            return None
        return QuotaState(**found)

    def _warn_once(self, error: Exception) -> None:
        if not self._has_warned:
            self._has_warned = True
            _log.warning("this process counts what it asks by itself: %s", error)
