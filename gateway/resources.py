"""Finds the files that are distributed with the package: queries, profiles, fixtures and the explorer page.

In a checkout (and in an editable install) they stand beside the package; in a wheel they were copied into
``gateway/_resources``. No other module knows these places.
"""

from __future__ import annotations

from pathlib import Path
from typing import Literal

Folder = Literal["queries", "config", "fixtures"]

_PACKAGE = Path(__file__).resolve().parent


def folder(name: Folder) -> Path:
    """Return the folder of that name, in a wheel as in a checkout.

    Raises:
        FileNotFoundError: The installation is broken: neither place has the folder.
    """
    for candidate in (_PACKAGE / "_resources" / name, _PACKAGE.parent / name):
        if candidate.is_dir():
            return candidate
    raise FileNotFoundError(f"The folder {name!r} is missing from this installation of bfsql-gateway; reinstall it.")


def explorer_page() -> Path:
    """Return the explorer page: one built file, which stands in the package itself."""
    return _PACKAGE / "web" / "built" / "explorer.html"


def demo_graph() -> Path:
    """Return the graph that is served when nobody names another: the medical fixture."""
    return folder("fixtures") / "medical.ttl"
