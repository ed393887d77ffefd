"""The IRIs that relative IRIs in files are resolved against: none says where on this machine a file lies."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
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
