"""The files of a graph: the names and base IRIs that they have, and whether they are still what they were.

No name and no IRI says where on this machine a file lies.
"""

from __future__ import annotations

import stat
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import overload
from urllib.parse import quote

from gateway.errors import ConfigurationError

_ROOT = "file:///"


class GraphFiles(Sequence[Path]):
    """The files of a graph, and the names by which it knows them: their paths relative to what was given.

    Names are different: where two would be equal, the second is in a folder `2`, and so on.

    Args:
        files: Each file with its name.
    """

    def __init__(self, files: Iterable[tuple[Path, str]] = ()) -> None:
        self._paths: list[Path] = []
        self._names: list[str] = []
        taken: dict[str, int] = {}
        for path, name in files:
            self._paths.append(path)
            self._names.append(_free(name, taken))

    @classmethod
    def of(cls, paths: Sequence[Path]) -> GraphFiles:
        """Return files that were given one by one, or these files as they are."""
        return paths if isinstance(paths, GraphFiles) else cls((path, path.name) for path in paths)

    @property
    def names(self) -> Sequence[str]:
        """The name of each file."""
        return self._names

    def base_iris(self, given: str = "") -> Sequence[str]:
        """Return the base IRI of each file: the one that was given, or one that is made of its name."""
        return [given or f"{_ROOT}{quote(name)}" for name in self._names]

    @overload
    def __getitem__(self, index: int) -> Path: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[Path]: ...

    def __getitem__(self, index: int | slice) -> Path | Sequence[Path]:
        return self._paths[index]

    def __len__(self) -> int:
        return len(self._paths)

    def __iter__(self) -> Iterator[Path]:
        return iter(self._paths)


def without_paths(error: ConfigurationError, files: GraphFiles) -> ConfigurationError:
    """Return an error in which files are called by their names."""
    texts = [error.wrong, error.valid, error.next_step]
    # The longest first: a path may be the beginning of another.
    for path, name in sorted(zip(files, files.names, strict=True), key=lambda file: -len(str(file[0]))):
        texts = [text.replace(str(path), name) for text in texts]
    return ConfigurationError(texts[0], valid=texts[1], next_step=texts[2])


def _free(name: str, taken: dict[str, int]) -> str:
    number = taken.get(name, 1)
    free = name
    while free in taken:
        number += 1
        free = f"{number}/{name}"
    taken[name] = number
    taken[free] = 1
    return free


LOOK_SECONDS = 2.0
"""Between two looks at the files."""

CHANGED = (
    "The files of this graph have changed since they were loaded: answers are about what they were then, all of them. "
    "The operator of this gateway should start the server again, to have them read anew, or set files.reload."
)


@dataclass(frozen=True, slots=True)
class _FileState:
    """What a look at a file shows.

    Attributes:
        size: In bytes.
        changed_ns: When its content changed, as the file system says and others may set it.
        is_what: The file system and the number of the file in it.
        touched_ns: When its content or anything else about it changed: its names, for one.
    """

    size: int
    changed_ns: int
    is_what: tuple[int, int]
    touched_ns: int

    def is_as(self, before: _FileState | None) -> bool:
        """Return whether the content is what it was.

        A backup that gives a file one more name touches it, and some network file systems number files anew; another
        file in its place, with the time of the first, is told by both.
        """
        if before is None or (self.size, self.changed_ns) != (before.size, before.changed_ns):
            return False
        return self.is_what == before.is_what or self.touched_ns == before.touched_ns


_FileStates = Mapping[Path, _FileState | None]


class FileChanges:
    """Looks at the files of a graph now and then; a pipe never changes.

    Args:
        paths: The files, which are not loaded yet.
        clock: The time in seconds, by any count.
    """

    def __init__(self, paths: Sequence[Path], clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._loaded: _FileStates = {path: state for path in paths if (state := _state(path)) is not None}
        self._last: _FileStates = self._loaded
        self._settled: _FileStates = self._loaded
        self._looked = clock()
        self._have_changed = False

    def note(self) -> str:
        """Return what to say of the files; empty if they are what they were."""
        if not self._have_changed and self._clock() - self._looked >= LOOK_SECONDS:
            self._looked = self._clock()
            self._have_changed = not _are_as(self._look(), self._loaded)
        return CHANGED if self._have_changed else ""

    def have_settled(self) -> bool:
        """Return whether the files have changed, but not since the last call: nobody writes them any more.

        A state of the files is told once.
        """
        before, self._last = self._last, self._look()
        is_told = any(_are_as(self._last, known) for known in (self._loaded, self._settled))
        if is_told or not _are_as(self._last, before):
            return False
        self._settled = self._last
        return True

    def _look(self) -> _FileStates:
        return {path: _state(path) for path in self._loaded}


NO_FILES = FileChanges(())
"""A graph that is in no files."""


def _are_as(now: _FileStates, before: _FileStates) -> bool:
    pairs = ((state, before[path]) for path, state in now.items())
    return all(was is None if state is None else state.is_as(was) for state, was in pairs)


def _state(path: Path) -> _FileState | None:
    try:
        found = path.stat()
    except OSError:
        return None
    if not stat.S_ISREG(found.st_mode):
        return None
    return _FileState(found.st_size, found.st_mtime_ns, (found.st_dev, found.st_ino), found.st_ctime_ns)
