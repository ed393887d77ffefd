"""A map that is limited in bytes."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Generic, TypeVar

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")

_ENTRY = 120
"""Bytes of an entry in addition to its key and value, in a dictionary that is at most half empty."""


class BoundedMap(Generic[Key, Value]):
    """Values by key, in a limited number of bytes.

    When it is full, all are dropped: an order of use would cost time at each look-up.

    Attributes:
        known: The values by key, to read only.
    """

    def __init__(self, bytes_: int) -> None:
        self.known: dict[Key, Value] = {}
        self._bytes = bytes_
        self._used = 0

    def __len__(self) -> int:
        return len(self.known)

    def add(self, key: Key, value: Value, size: int) -> None:
        """Add a value of a new key, unless both together, `size` bytes, take more than a tenth of the memory."""
        size += _ENTRY
        if size > self._bytes // 10:
            return
        if self._used + size > self._bytes:
            self.known.clear()
            self._used = 0
        self.known[key] = value
        self._used += size
