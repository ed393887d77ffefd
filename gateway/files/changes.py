"""Whether files are still what they were when a graph was loaded from them."""

from __future__ import annotations

import stat
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

LOOK_SECONDS = 2.0
"""Between two looks at the files."""

CHANGED = (
    "The files of this graph have changed since they were loaded: answers are about what they were then, all of them. "
    "The operator of this gateway should start the server again, to have them read anew, or set files.reload."
)

_State = tuple[int, int, int] | None
"""Size and times of a file; None if there is none."""


class FileChanges:
    """Looks at the files of a graph now and then; a pipe never changes.

    Args:
        paths: The files, which are not loaded yet.
        clock: The time in seconds, by any count.
    """

    def __init__(self, paths: Sequence[Path], clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._loaded = {path: state for path in paths if (state := _state(path)) is not None}
        self._last: Mapping[Path, _State] = self._loaded
        self._settled: Mapping[Path, _State] = self._loaded
        self._looked = clock()
        self._have_changed = False

    def note(self) -> str:
        """Return what to say of the files; empty if they are what they were."""
        if not self._have_changed and self._clock() - self._looked >= LOOK_SECONDS:
            self._looked = self._clock()
            self._have_changed = any(_state(path) != state for path, state in self._loaded.items())
        return CHANGED if self._have_changed else ""

    def have_settled(self) -> bool:
        """Return whether the files have changed, but not since the last call: nobody writes them any more.

        A state of the files is told once.
        """
        before, self._last = self._last, {path: _state(path) for path in self._loaded}
        if self._last != before or self._last in (self._loaded, self._settled):
            return False
        self._settled = self._last
        return True


NO_FILES = FileChanges(())
"""A graph that is in no files."""


def _state(path: Path) -> _State:
    try:
        found = path.stat()
    except OSError:
        return None
    return (found.st_size, found.st_mtime_ns, found.st_ctime_ns) if stat.S_ISREG(found.st_mode) else None
