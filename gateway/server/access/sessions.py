"""Which sessions of the handshake era are whose, to limit how many a client has open.

That nobody else uses a session is checked by the SDK, which binds it to the credential that opened it.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Hashable

from cachetools import TTLCache

Clock = Callable[[], float]

_MOST = 10_000
_IDLE_SECONDS = 1_800
"""The SDK ends a session that was not used for so long."""


class Sessions:
    """The open sessions by client."""

    def __init__(self, clock: Clock = time.monotonic) -> None:
        self._owners: TTLCache[str, tuple[Hashable, str]] = TTLCache(_MOST, _IDLE_SECONDS, clock)

    def count(self, client: Hashable) -> int:
        """Return how many sessions of a client are open."""
        return Counter(owner for owner, _ in self._owners.values())[client]

    def use(self, session: str, client: Hashable, path: str = "") -> None:
        """Note that a client opened a session at a path, or used it again."""
        self._owners[session] = (client, path)

    def is_known(self, session: str) -> bool:
        """Return whether a session is open."""
        return session in self._owners

    def end(self, session: str, client: Hashable, path: str = "") -> None:
        """Note that a session has ended, if it was that of this client at this path."""
        if self._owners.get(session) == (client, path):
            del self._owners[session]
