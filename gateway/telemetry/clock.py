"""Clocks, and the unit in which times are recorded."""

from __future__ import annotations

from collections.abc import Callable

Clock = Callable[[], float]
"""Returns the time in seconds."""


def milliseconds(seconds: float) -> float:
    """Return seconds as milliseconds, to a tenth."""
    return round(seconds * 1000, 1)
