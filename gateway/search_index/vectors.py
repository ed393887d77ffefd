"""The vectors of all names of an index: the nearest ones to a vector, and the file that stores them.

All are compared: a product of 100,000 rows takes some milliseconds as 32-bit floats, and none is missed.
"""

from __future__ import annotations

import contextlib
import os
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from gateway.settings.storage import make_folder

if TYPE_CHECKING:
    from gateway.meaning.embedder import Matrix

_BEGINNING = b"vectors of names 1\n"
_LONGEST_HEADER = 400


@dataclass(frozen=True, slots=True)
class NameVectors:
    """The vectors of all names of an index.

    Attributes:
        numbers: The numbers of the names in the index, sorted.
        vectors: A row for each.
        model: What made them.
    """

    numbers: np.ndarray
    vectors: Matrix
    model: str

    def nearest(
        self, vector: np.ndarray, least: float, at_most: int, among: Sequence[int] | None
    ) -> list[tuple[int, float]]:
        """Return the names nearest to a vector, with their cosines, the nearest first.

        Args:
            vector: The vector, of length one.
            least: The least cosine.
            at_most: Names at most.
            among: The numbers of the names that are compared; None for all.
        """
        numbers, scores = self.numbers, self.vectors @ vector
        if among is not None:
            chosen = np.isin(numbers, np.asarray(among, np.int64), assume_unique=True)
            numbers, scores = numbers[chosen], scores[chosen]
        if len(scores) > at_most:
            best = np.argpartition(scores, -at_most)[-at_most:]
            numbers, scores = numbers[best], scores[best]
        # Of equal ones the shorter, which has the lower number.
        order = np.lexsort((numbers, -scores))
        return [(int(numbers[place]), float(scores[place])) for place in order if scores[place] >= least]


def load(path: Path, key: str, numbers: np.ndarray, model: str, dimensions: int) -> NameVectors | None:
    """Return the vectors in a file; None if it has none, or those of other names or of another model.

    Args:
        path: The file.
        key: What the vectors depend on.
        numbers: The numbers of the names.
        model: What makes them.
        dimensions: Numbers of a vector.
    """
    header = _header(key, len(numbers), dimensions)
    size = len(numbers) * dimensions * 4
    try:
        with path.open("rb") as file:
            if file.read(len(header)) != header or os.fstat(file.fileno()).st_size != len(header) + size:
                return None
        vectors = np.memmap(path, np.dtype("<f4"), "r", len(header), (len(numbers), dimensions))
    except (OSError, ValueError):
        return None
    return NameVectors(numbers, vectors, model)


def store(path: Path, key: str, found: NameVectors) -> None:
    """Write vectors to a file, whole or not at all.

    Raises:
        OSError: It cannot be written.
        ConfigurationError: Its folder cannot be made.
    """
    make_folder(path.parent)
    new = path.with_suffix(f".{secrets.token_hex(8)}.new")
    try:
        with new.open("xb") as file:
            file.write(_header(key, *found.vectors.shape))
            file.write(np.ascontiguousarray(found.vectors, "<f4").data)
        new.replace(path)
    finally:
        with contextlib.suppress(OSError):
            new.unlink(missing_ok=True)


def _header(key: str, rows: int, dimensions: int) -> bytes:
    text = f"{key} {rows} {dimensions}\n".encode()
    # As long for every key, and a multiple of what a number takes.
    return (_BEGINNING + text).ljust(_LONGEST_HEADER, b" ")
