"""Stores over databases, and the packages that they need."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Final, Literal

from gateway.errors import ConfigurationError
from gateway.graph.store import GraphStore
from gateway.settings.profile import Profile, policy_of
from gateway.settings.storage import database_prefixes
from gateway.settings.urls import is_neo4j_url
from gateway.telemetry.tally import Clock

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


def database_store(
    url: str, profile: Profile, prefixes: Mapping[str, str], clock: Clock, wall_clock: Clock
) -> Callable[[Profile], GraphStore]:
    """Return what makes the store over a database; it sends nothing yet.

    Args:
        url: The URL of the database.
        profile: The profile; what it is when the store is made may differ in what is about answers.
        prefixes: The user's own prefixes, which IDs are made with beside those of the profile.
        clock: Seconds for every deadline.
        wall_clock: Seconds since the epoch.

    Raises:
        ConfigurationError: The URL or the profile is wrong, or the package for the database is not installed.
    """
    _refuse_hidden(profile)
    known = database_prefixes(url, profile, prefixes)
    make = _neo4j_store_at if is_neo4j_url(url) else _postgres_store_at
    return make(url, profile, known, clock, wall_clock)


def _postgres_store_at(
    url: str, profile: Profile, known: Mapping[str, str], clock: Clock, wall_clock: Clock
) -> Callable[[Profile], GraphStore]:
    """Return what makes the store over tables of PostgreSQL; see `database_store`."""
    with installed("postgres"):
        from gateway.postgres.connection import address_of  # noqa: PLC0415 - an extra
        from gateway.postgres.store import PostgresStore  # noqa: PLC0415
    address = address_of(url, profile.endpoint)
    return lambda settings: PostgresStore(
        address, settings.postgres, settings, known, clock=clock, wall_clock=wall_clock
    )


def _neo4j_store_at(
    url: str, profile: Profile, known: Mapping[str, str], clock: Clock, wall_clock: Clock
) -> Callable[[Profile], GraphStore]:
    """Return what makes the store over a database of Neo4j; see `database_store`."""
    with installed("neo4j"):
        from gateway.neo4j.connection import address_of  # noqa: PLC0415 - an extra
        from gateway.neo4j.store import Neo4jStore  # noqa: PLC0415
    address = address_of(url, profile.endpoint)
    return lambda settings: Neo4jStore(address, settings.neo4j, settings, known, clock=clock, wall_clock=wall_clock)


def _refuse_hidden(profile: Profile) -> None:
    if policy_of(profile) is not None:
        raise ConfigurationError(
            "The profile hides something ([hidden]), and of a database nothing can be hidden.",
            valid="Types, predicates, named graphs and literals are hidden of graphs in files and at endpoints.",
            next_step="Serve views without them: [postgres] in the profile names the tables.",
        )
