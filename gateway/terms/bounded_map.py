"""What is remembered as long as a gateway lives, bounded in bytes."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Generic, TypeVar

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")

_ENTRY = 120
"""Bytes of an entry beside its key and value: its place in the dictionary, which is at most half empty."""


class BoundedMap(Generic[Key, Value]):
    """Values by key; when there is no more room, all are forgotten, because that costs nothing at each look-up.

    Args:
        bytes_: How much memory they may take.

    Attributes:
        known: The values, to be looked up and not to be changed.
    """

    def __init__(self, bytes_: int) -> None:
        self.known: dict[Key, Value] = {}
        self._bytes = bytes_
        self._used = 0

    def __len__(self) -> int:
        """Return how many values are remembered."""
        return len(self.known)

    def keep(self, key: Key, value: Value, size: int) -> None:
        """Remember a value that is not known yet, unless it alone takes a tenth of the room.

        Args:
            key: The key.
            value: The value.
            size: Bytes of both.
        """
        size += _ENTRY
        if size > self._bytes // 10:
            return
        if self._used + size > self._bytes:
            self.known.clear()
            self._used = 0
        self.known[key] = value
        self._used += size
