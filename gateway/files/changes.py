"""Whether files are still what they were when a graph was loaded from them."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path

_SECONDS = 2.0
"""Between two looks at the files."""

CHANGED = (
    "The files of this graph have changed since they were loaded: answers are about what they were then, all of them. "
    "The operator of this gateway should start the server again, to have them read anew."
)


class FileChanges:
    """Looks at the files of a graph now and then; a pipe never changes.

    Args:
        paths: The files, which are not loaded yet.
        clock: The time in seconds, by any count.
    """

    def __init__(self, paths: Sequence[Path], clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._states = {path: state for path in paths if (state := _state(path)) is not None}
        self._looked = clock()
        self._have_changed = False

    def note(self) -> str:
        """Return what to say of the files; empty if they are what they were."""
        if not self._have_changed and self._clock() - self._looked >= _SECONDS:
            self._looked = self._clock()
            self._have_changed = any(_state(path) != state for path, state in self._states.items())
        return CHANGED if self._have_changed else ""


def _state(path: Path) -> tuple[int, int, int] | None:
    """Return the size and times of a file; None if there is none."""
    try:
        if not path.is_file():
            return None
        found = path.stat()
    except OSError:
        return None
    return found.st_size, found.st_mtime_ns, found.st_ctime_ns
