"""Types and predicates are found by their aliases in both databases, as in files."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.every_engine.test_aliases_of_terms import GRAPH, PROFILE, are_refused, are_taken
from tests.neo4j.database import Neo4jColumn, column_of
from tests.postgres.database import Database, PostgresColumn

pytestmark = [pytest.mark.anyio, pytest.mark.server]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """The graph of the questions."""
    path = tmp_path / "aliases.ttl"
    path.write_text(GRAPH, encoding="utf-8")
    return path


@pytest.fixture
def neo4j(file: Path, tmp_path: Path) -> Iterator[Neo4jColumn]:
    """Neo4j, with that graph."""
    with column_of("aliases", file, tmp_path) as column:
        yield column


async def test_in_postgresql(database: Database, file: Path) -> None:
    engine = PostgresColumn("in-process", {"aliases": [file]}, database=database)
    async with engine.open("aliases", PROFILE) as gateway:
        await are_taken(gateway)
        await are_refused(gateway)


async def test_in_neo4j(neo4j: Neo4jColumn) -> None:
    async with neo4j.open("aliases", PROFILE) as gateway:
        # No property of the nodes is called a hidden label where the profile names those of synonyms.
        await are_taken(gateway, hidden=False)
        await are_refused(gateway)
