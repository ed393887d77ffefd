"""Reads small files up to a bound."""

from __future__ import annotations

import errno
import os
from pathlib import Path


def read_at_most(path: Path, size: int) -> bytes:
    """Return the content of a file.

    Args:
        path: The file.
        size: Bytes that it may have.

    Raises:
        OSError: It cannot be read, or has more.
    """
    with path.open("rb") as file:
        content = file.read(size + 1)
    if len(content) > size:
        raise OSError(errno.EFBIG, f"{os.strerror(errno.EFBIG)} (more than {size:,} bytes)", str(path))
    return content
