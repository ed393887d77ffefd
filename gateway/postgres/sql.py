"""The texts of `queries/postgres/`, with the tables of one graph in them."""

from __future__ import annotations

import re
from functools import cache

from gateway import resources

_HEADER = re.compile(r"^--.*\n", re.MULTILINE)


@cache
def load(name: str) -> str:
    """Return a query without its comments; names in braces stand for tables, columns and parts.

    Raises:
        FileNotFoundError: There is no such query.
    """
    path = resources.folder("queries") / "postgres" / f"{name}.sql"
    return _HEADER.sub("", path.read_text(encoding="utf-8")).strip()


def filled(name: str, /, **texts: str) -> str:
    """Return a query with SQL in the place of the names in braces."""
    return load(name).format(**texts)
