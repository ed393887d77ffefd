"""IDs, names, types and predicates that try to become SQL stay values."""

import asyncio
from collections.abc import Iterator
from typing import Final

import asyncpg
import pytest
from hypothesis import given

from gateway.postgres.store import PostgresStore
from gateway.settings.databases import PostgresSettings
from gateway.settings.limits import CacheSettings
from gateway.settings.profile import Profile
from tests.databases.hostile_names import NAMES, World, often
from tests.postgres.database import Database

pytestmark = pytest.mark.server

_TABLES: Final = """
CREATE TABLE entity (entity_id text PRIMARY KEY, entity_type text, name text);
CREATE TABLE relationship (subject_id text, predicate text, object_id text);
"""


@pytest.fixture(scope="module")
def world(database: Database) -> Iterator[World]:
    database.make_database("hostile", _TABLES)
    address = database.address_of("hostile")
    with asyncio.Runner() as runner:
        connection = runner.run(asyncpg.connect(**address.arguments))

        async def fill(names: list[str]) -> None:
            await connection.execute("TRUNCATE entity, relationship")
            await connection.executemany("INSERT INTO entity VALUES ($1, $1, $1)", [(name,) for name in names])
            rows = [(name, name, other) for name, other in zip(names, [*names[1:], names[0]], strict=True)]
            await connection.executemany("INSERT INTO relationship VALUES ($1, $2, $3)", rows)

        store = PostgresStore(address, PostgresSettings(), Profile(cache=CacheSettings(megabytes=0)), {})
        yield World(runner, fill, store)
        runner.run(store.close())
        runner.run(connection.close())


@often
@given(names=NAMES)
def test_hostile_texts_are_answered_right_by_statements_of_one_shape(world: World, names: list[str]) -> None:
    world.check(names)
