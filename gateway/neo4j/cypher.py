"""The texts of `queries/neo4j/`, with the labels and properties of one graph in them."""

from __future__ import annotations

import re
from functools import cache

from gateway import resources

_COMMENT = re.compile(r"^//.*\n", re.MULTILINE)


@cache
def load(name: str) -> str:
    """Return a query without its comments; names in braces stand for labels, properties and parts.

    Raises:
        FileNotFoundError: There is no such query.
    """
    path = resources.folder("queries") / "neo4j" / f"{name}.cypher"
    return _COMMENT.sub("", path.read_text(encoding="utf-8")).strip()


def filled(name: str, /, **texts: str) -> str:
    """Return a query with Cypher in the place of the names in braces."""
    return load(name).format(chunks=load("parts/chunks"), **texts)
