"""The vectors of all names of an index: the nearest ones to a vector, and the file that stores them.

All are compared: a product of 100,000 rows takes some milliseconds as 32-bit floats, and none is missed.
"""

from __future__ import annotations

import contextlib
import hashlib
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

_BEGINNING = b"vectors of names 2\n"
_LONGEST_HEADER = 400

_LARGEST_SCORE = 1.001
"""The cosine of equal vectors, with what 32 bits round; what is larger is none."""

_KEPT = 2
"""Files that stay: two gateways with different models may share a folder."""


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
        with np.errstate(over="ignore", invalid="ignore"):
            numbers, scores = self.numbers, self.vectors @ vector
            are_cosines = np.abs(scores) <= _LARGEST_SCORE
        if not are_cosines.all():
            numbers, scores = numbers[are_cosines], scores[are_cosines]
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
    """Return the vectors in a file; None if it has none, those of other names or of another model, or damaged ones.

    Args:
        path: The file.
        key: What the vectors depend on.
        numbers: The numbers of the names.
        model: What makes them.
        dimensions: Numbers of a vector.
    """
    size = len(numbers) * dimensions * 4
    try:
        with path.open("rb") as file:
            if os.fstat(file.fileno()).st_size != _LONGEST_HEADER + size:
                return None
            header = file.read(_LONGEST_HEADER)
            if header != _header(key, len(numbers), dimensions, hashlib.file_digest(file, "sha256").hexdigest()):
                return None
            vectors = np.memmap(file, np.dtype("<f4"), "r", _LONGEST_HEADER, (len(numbers), dimensions))
    except (OSError, ValueError):
        return None
    return NameVectors(numbers, vectors, model)


def store(path: Path, key: str, found: NameVectors) -> None:
    """Write vectors to a file, whole or not at all, and then remove all but the newest files of vectors beside it.

    Raises:
        OSError: It cannot be written.
        ConfigurationError: Its folder cannot be made.
    """
    make_folder(path.parent)
    rows = np.ascontiguousarray(found.vectors, "<f4").data
    new = path.with_suffix(f".{secrets.token_hex(8)}.new")
    try:
        with new.open("xb") as file:
            file.write(_header(key, len(found.numbers), found.vectors.shape[1], hashlib.sha256(rows).hexdigest()))
            file.write(rows)
        new.replace(path)
    finally:
        with contextlib.suppress(OSError):
            new.unlink(missing_ok=True)
    # Another process may remove them too.
    with contextlib.suppress(OSError):
        others = [other for other in path.parent.glob(f"*{path.suffix}") if other != path]
        for other in sorted(others, key=lambda one: one.stat().st_mtime_ns, reverse=True)[_KEPT - 1 :]:
            other.unlink()


def _header(key: str, rows: int, dimensions: int, digest: str) -> bytes:
    text = f"{key} {rows} {dimensions} {digest}\n".encode()
    # As long for every key, and a multiple of what a number takes.
    return (_BEGINNING + text).ljust(_LONGEST_HEADER, b" ")
