"""What is left of one client's quota at an endpoint, in a file that all processes of a user share.

A client of MCP starts a server process for each session, and the endpoint counts them all as one: same address, same
`User-Agent`. A file that cannot be read or written is no failure: each process then counts for itself.
"""

from __future__ import annotations

import contextlib
import copy
import hashlib
import json
import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Protocol
from urllib.parse import urlsplit

import portalocker

from gateway.errors import ConfigurationError
from gateway.escaping import json_text
from gateway.settings.bounded_read import read_at_most
from gateway.settings.storage import check_private, folder_for_all, make, write
from gateway.transport.credentials import Access

_log = logging.getLogger(__name__)

_DIGITS = 16
_MOST_BYTES = 1 << 16
"""Of a file; one of a gateway has some hundred."""

_LARGEST = 1e12
"""The largest figure in a file: seconds since the epoch in 30,000 years. What is not a number is not within it."""

_LOCK_SECONDS = 0.1
"""How long another process is waited for, which has the file for a millisecond; the event loop stands meanwhile."""


@dataclass(slots=True)
class Account:
    """What is left, at one moment.

    Attributes:
        at: The moment, in seconds of the quota's clock.
        query_seconds: Seconds of query time; negative where the last query took more than there was.
        errors: Failed requests.
        closed_until: Nothing is sent before.
        banned: Whether that is because the endpoint shuts this gateway out.
        overloads: Refusals in a row that did not say for how long.
        given_up: When requests that nobody waits for any more have ended at the latest, one after the other.
    """

    at: float
    query_seconds: float
    errors: float
    closed_until: float = 0.0
    banned: bool = False
    overloads: int = 0
    given_up: list[float] = field(default_factory=list)


class Accounts(Protocol):
    """Keeps an account."""

    def look(self) -> Account:
        """Return the account as it is; what is done to it changes nothing."""
        ...

    def change(self) -> contextlib.AbstractContextManager[Account]:
        """Give the account to a block, which changes it; nobody else does meanwhile."""
        ...


def shared_account(url: str, access: Access) -> Callable[[Account], Accounts]:
    """Return what keeps the account of who asks an endpoint, which takes one address and `User-Agent` for one client.

    Args:
        url: The endpoint.
        access: What every request carries.
    """
    parts = urlsplit(url)
    of = f"{parts.hostname}:{parts.port} {access.headers.get('User-Agent', '')}"
    name = f"quota-{hashlib.sha256(of.encode()).hexdigest()[:_DIGITS]}.json"
    return lambda account: SharedAccount(folder_for_all() / name, account)


class OwnAccount:
    """An account of this process alone."""

    def __init__(self, account: Account) -> None:
        self._account = account

    def look(self) -> Account:
        """Return the account."""
        return copy.deepcopy(self._account)

    @contextmanager
    def change(self) -> Iterator[Account]:
        """Give the account to a block."""
        yield self._account


class SharedAccount:
    """An account in a file.

    Args:
        path: The file; its folder need not exist.
        account: What holds where there is no file, or none that can be used.
    """

    def __init__(self, path: Path, account: Account) -> None:
        self._path = path
        self._latest = account
        self._is_written = True
        self._complained = False

    def look(self) -> Account:
        """Return the account as the last process wrote it."""
        written = self._read()
        # Where this process could not write, it may know more than the file.
        if written is not None and (self._is_written or written.at >= self._latest.at):
            self._latest, self._is_written = written, True
        return copy.deepcopy(self._latest)

    @contextmanager
    def change(self) -> Iterator[Account]:
        """Give the account to a block, and write it down."""
        with contextlib.ExitStack() as stack:
            try:
                make(self._path.parent)
                check_private(self._path.parent)
                lock = self._path.with_suffix(".lock")
                stack.enter_context(portalocker.Lock(lock, "ab", timeout=_LOCK_SECONDS, check_interval=0.005))
            except (OSError, portalocker.LockException, ConfigurationError) as error:
                self._complain(error)
            account = self.look()
            yield account
            self._latest = account
            try:
                check_private(self._path.parent)
                write(self._path, json_text(asdict(account)))
                self._is_written = True
            except ConfigurationError as error:
                self._is_written = False
                self._complain(error)

    def _read(self) -> Account | None:
        try:
            check_private(self._path.parent)
            found = json.loads(read_at_most(self._path, _MOST_BYTES))
        except ConfigurationError as error:
            self._complain(error)
            return None
        except (OSError, ValueError, RecursionError):
            return None
        names = {each.name for each in fields(Account)}
        if not isinstance(found, dict) or found.keys() != names or not isinstance(found["given_up"], list):
            return None
        figures = [*(value for name, value in found.items() if name != "given_up"), *found["given_up"]]
        if not all(isinstance(value, int | float) and abs(value) <= _LARGEST for value in figures):
            return None
        return Account(**found)

    def _complain(self, error: Exception) -> None:
        if not self._complained:
            self._complained = True
            _log.warning("this process counts what it asks by itself: %s", error)
