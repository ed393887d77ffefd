"""What is left of a quota at one moment, how fast it comes back, and where it is stored: in this process or in a file.

A client of MCP starts a server process for each session, and the endpoint counts them all as one: same address, same
`User-Agent`. So all processes of a user share a file. One that cannot be read or written is no failure: each process
then counts for itself.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import logging
import math
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import asdict, dataclass, field, fields
from functools import partial
from pathlib import Path
from typing import Protocol
from urllib.parse import urlsplit

from gateway.errors import ConfigurationError
from gateway.escaping import json_text
from gateway.settings.storage import check_private, default_store, make_folder, read_at_most, write_file

DAY = 86_400.0
"""Seconds; no refusal blocks requests for longer, whatever a server or a file says."""


_log = logging.getLogger(__name__)
_DIGITS = 16
"""Hexadecimal digits of a hash in a file name: 64 bits tell clients apart."""

MOST_BYTES = 1 << 16
"""Of a state as a text; one of a gateway has some hundred."""

_LARGEST = 1e12
"""The largest figure in a file: seconds since the epoch in 30,000 years. What is not a number is not within it."""

_LOCK_SECONDS = 0.1
"""How long to wait for another process, which holds the lock for a millisecond; the event loop stands meanwhile."""


@dataclass(frozen=True, slots=True)
class TokenBucket:
    """A bucket of tokens, which come back evenly; infinite where nothing is limited. Its level is kept by its users."""

    capacity: float
    a_second: float

    @classmethod
    def of(cls, burst: float, per_minute: float) -> TokenBucket:
        """Return a bucket that never holds more than one of a server that refills once a minute, at one go."""
        return cls(burst - per_minute, per_minute / 60.0) if per_minute else cls(math.inf, 0.0)

    @property
    def is_limited(self) -> bool:
        """Whether it can be empty."""
        return math.isfinite(self.capacity)

    @property
    def full(self) -> float:
        """The level of a full bucket."""
        return self.capacity if self.is_limited else 0.0

    def level(self, before: float, seconds: float) -> float:
        """Return the level some seconds after another level."""
        return min(self.capacity, before + seconds * self.a_second) if self.is_limited else 0.0

    def seconds_until(self, wanted: float, level: float) -> float:
        """Return how long it takes until a level has risen to the wanted one."""
        return max(0.0, wanted - level) / self.a_second if self.is_limited else 0.0


@dataclass(slots=True)
class QuotaState:
    """What is left, at one moment; the names are those in the file that processes share.

    Attributes:
        at: The moment, in seconds of the quota's clock.
        query_seconds: Seconds of query time; negative where the last query took more than there was.
        errors: Failed requests.
        closed_until: Nothing is sent before: the end of a pause or of a ban.
        banned: Whether it is the end of a ban.
        overloads: Refusals in a row that did not say for how long.
        given_up: When abandoned requests have ended at the latest, one after the other.
    """

    at: float
    query_seconds: float
    errors: float
    closed_until: float = 0.0
    banned: bool = False
    overloads: int = 0
    given_up: list[float] = field(default_factory=list)

    def copy(self) -> QuotaState:
        """Return a copy that shares nothing with this one; every request makes several."""
        # `dataclasses.replace` takes five times as long.
        return QuotaState(
            self.at,
            self.query_seconds,
            self.errors,
            self.closed_until,
            self.banned,
            self.overloads,
            [*self.given_up],
        )

    def become(self, other: QuotaState) -> None:
        """Take all figures of another state."""
        copied = other.copy()
        for each in fields(self):
            setattr(self, each.name, getattr(copied, each.name))


def written(state: QuotaState) -> str:
    """Return a state as the text that processes share."""
    return json_text(asdict(state))


def read_state(text: str | bytes) -> QuotaState | None:
    """Return the state that a text of another process holds; None where it holds none."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return None
    names = {each.name for each in fields(QuotaState)}
    if not isinstance(found, dict) or found.keys() != names or not isinstance(found["given_up"], list):
        return None
    figures = [*(value for name, value in found.items() if name != "given_up"), *found["given_up"]]
    if not all(isinstance(value, int | float) and abs(value) <= _LARGEST for value in figures):
        return None
    return QuotaState(**found)


def strictest(one: QuotaState, other: QuotaState) -> QuotaState:
    """Return a state that allows no more than either of two, of processes that did not know of each other."""
    return QuotaState(
        at=max(one.at, other.at),
        query_seconds=min(one.query_seconds, other.query_seconds),
        errors=min(one.errors, other.errors),
        closed_until=max(one.closed_until, other.closed_until),
        banned=one.banned or other.banned,
        overloads=max(one.overloads, other.overloads),
        given_up=sorted({*one.given_up, *other.given_up}),
    )


class QuotaStorage(Protocol):
    """Stores the state of a quota."""

    def read(self) -> QuotaState:
        """Return a copy of the state."""
        ...

    def changing(self) -> AbstractContextManager[QuotaState]:
        """Lock the state for a block that changes it, and store it when the block ends."""
        ...


class MemoryStorage:
    """Stores the state in this process."""

    def __init__(self, state: QuotaState) -> None:
        self._state = state

    def read(self) -> QuotaState:
        """Return a copy of the state."""
        return self._state.copy()

    @contextmanager
    def changing(self) -> Iterator[QuotaState]:
        """Give the state to a block that changes it."""
        yield self._state


def client_name(url: str, user_agent: str) -> str:
    """Return the name of a state: one address and `User-Agent` are one client of an endpoint."""
    parts = urlsplit(url)
    client = f"{parts.hostname}:{parts.port} {user_agent}"
    return f"quota-{hashlib.sha256(client.encode()).hexdigest()[:_DIGITS]}"


def shared_storage(client: str) -> Callable[[QuotaState], QuotaFile]:
    """Return a factory of the file for a client of an endpoint, by its name."""
    return lambda state: QuotaFile(default_store() / f"{client}.json", state)


class QuotaFile:
    """Stores the state in a file; the given one holds where there is none that can be used."""

    def __init__(self, path: Path, state: QuotaState) -> None:
        # It imports the client of Redis where that is installed, and few endpoints have a quota.
        import portalocker  # noqa: PLC0415 - see above

        lock = path.with_suffix(".lock")
        self._lock = partial(portalocker.Lock, lock, "ab", timeout=_LOCK_SECONDS, check_interval=0.005)
        self._lock_fault = portalocker.LockException
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
                stack.enter_context(self._lock())
            except (OSError, self._lock_fault, ConfigurationError) as error:
                self._warn_once(error)
            state = self.read()
            yield state
            self._latest = state
            try:
                check_private(self._path.parent)
                write_file(self._path, written(state))
                self._is_written = True
            except ConfigurationError as error:
                self._is_written = False
                self._warn_once(error)

    def _read_file(self) -> QuotaState | None:
        try:
            check_private(self._path.parent)
            return read_state(read_at_most(self._path, MOST_BYTES))
        except ConfigurationError as error:
            self._warn_once(error)
        except OSError:
            pass
        return None

    def _warn_once(self, error: Exception) -> None:
        if not self._has_warned:
            self._has_warned = True
            _log.warning("this process counts what it asks by itself: %s", error)
