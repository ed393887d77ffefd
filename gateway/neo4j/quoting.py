"""The one place where a name of a label or property becomes Cypher."""

from __future__ import annotations

from collections.abc import Iterable

from gateway.errors import ConfigurationError, quoted
from gateway.settings.neo4j import name_problem


def identifier(name: str) -> str:
    """Return a name as a quoted identifier of Cypher.

    Raises:
        ConfigurationError: It is no name that can be quoted.
    """
    if problem := name_problem(name):
        raise ConfigurationError(
            f"The name {quoted(name)} of a label or property cannot stand in a query.",
            valid=f"{problem[0].upper()}{problem[1:]}.",
            next_step="Name the labels and properties of the graph in the section [neo4j] of the profile.",
        )
    return "`" + name.replace("`", "``") + "`"


def identifiers(names: Iterable[str], between: str) -> str:
    """Return names as quoted identifiers with a text between them.

    Raises:
        ConfigurationError: One is no name that can be quoted.
    """
    return between.join(map(identifier, names))
