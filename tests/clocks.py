"""Clocks that stand still until a test sets them, or somebody waits by them."""


class Clock:
    """A clock that stands still until it is set, or somebody waits by it."""

    def __init__(self, now: float = 1_000.0) -> None:
        self.now = now

    def __call__(self) -> float:
        """Return the time."""
        return self.now

    async def sleep(self, seconds: float) -> None:
        """Wait."""
        self.now += seconds


def fixed_wall_clock() -> float:
    """Return the same second each time: the minute of a schema may end between two answers that are compared."""
    return 1_700_000_000.0
