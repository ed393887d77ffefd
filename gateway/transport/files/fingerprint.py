"""Fingerprints of files: a file is read again only if its fingerprint differs."""

from __future__ import annotations

import hashlib
import os
import sys
import time
from dataclasses import dataclass
from pathlib import Path

_QUIET_NS = 2_000_000_000
"""A file that changed so shortly before it was read may have changed again within one tick of the system's clock."""


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """A file's size, times and content.

    Attributes:
        size: In bytes.
        times: When its content and when its state changed, in nanoseconds; empty where they prove nothing.
        sha256: The hash of its content, in hexadecimal.
    """

    size: int
    times: tuple[int, ...]
    sha256: str

    @classmethod
    def of(cls, size: int, times: tuple[int, int], sha256: str, opened_ns: int) -> Fingerprint:
        """Return the fingerprint of a file, by its state before it was read; times are nanoseconds since the epoch."""
        return cls(size, times if max(times) + _QUIET_NS < opened_ns else (), sha256)

    @classmethod
    def read(cls, path: Path, *, ours: bool = False) -> Fingerprint:
        """Read a file through.

        Args:
            path: The file.
            ours: Whether nobody writes to it again; then its times are valid at once.

        Raises:
            OSError: It cannot be read.
        """
        opened_ns = sys.maxsize if ours else time.time_ns()
        with path.open("rb") as file:
            stat = os.fstat(file.fileno())
            times = (stat.st_mtime_ns, stat.st_ctime_ns)
            return cls.of(stat.st_size, times, hashlib.file_digest(file, "sha256").hexdigest(), opened_ns)

    def now(self, path: Path) -> Fingerprint | None:
        """Return the fingerprint of a file whose content is still the same, or None where it is another.

        The file is read only where its size is the same and its times are not.

        Raises:
            OSError: It cannot be read.
        """
        stat = path.stat()
        if stat.st_size != self.size:
            return None
        if self.times == (stat.st_mtime_ns, stat.st_ctime_ns):
            return self
        found = Fingerprint.read(path)
        return found if found.sha256 == self.sha256 and found.size == self.size else None
