"""Text becomes Cypher here, and nowhere else."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache

from gateway import resources
from gateway.errors import ConfigurationError, as_beginning, quoted
from gateway.settings.databases import name_problem

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


def identifier(name: str) -> str:
    """Return a name as a quoted identifier of Cypher.

    Raises:
        ConfigurationError: It is no name that can be quoted.
    """
    if problem := name_problem(name):
        raise ConfigurationError(
            f"The name {quoted(name)} of a label or property cannot stand in a query.",
            valid=f"{as_beginning(problem)}.",
            next_step="Name the labels and properties of the graph in the section [neo4j] of the profile.",
        )
    return "`" + name.replace("`", "``") + "`"


def identifiers(names: Iterable[str], between: str) -> str:
    """Return names as quoted identifiers with a text between them.

    Raises:
        ConfigurationError: One is no name that can be quoted.
    """
    return between.join(map(identifier, names))
