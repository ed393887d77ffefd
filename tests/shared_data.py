"""Where the reference graphs lie, for the tests marked `data`."""

from pathlib import Path
from typing import Final

import pytest

FOLDER: Final = Path(__file__).resolve().parents[1].parent / "shared" / "data"


def shared_data(name: str) -> Path:
    """Give the path of a reference graph, or skip the test that asks.

    Args:
        name: The file's name in the data folder.

    Returns:
        The path of a file that exists.
    """
    path = FOLDER / name
    if not path.is_file():
        pytest.skip(f"the reference graph {name} is not in ../shared/data")
    return path


def shared_data_or_none(name: str) -> Path | None:
    """Return a file of the reference data, or None where it is absent."""
    path = FOLDER / name
    return path if path.is_file() else None
