"""Packages that not every installation has: each belongs to an extra."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final, Literal

from gateway.errors import ConfigurationError

Extra = Literal["postgres", "neo4j", "redis"]

_NEEDS: Final[dict[Extra, str]] = {
    "postgres": "A graph in PostgreSQL needs the package asyncpg.",
    "neo4j": "A graph in Neo4j needs the package neo4j.",
    "redis": "A shared cache needs the package redis.",
}


@contextmanager
def installed(extra: Extra) -> Iterator[None]:
    """Say what to install where the block imports what is not.

    Raises:
        ConfigurationError: The package of the extra is not installed.
    """
    try:
        yield
    except ImportError as error:
        raise ConfigurationError(
            _NEEDS[extra], next_step=f"Install it: pip install 'bfsql-gateway[{extra}]'."
        ) from error
