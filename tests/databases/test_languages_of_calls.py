"""Names and texts in the language of a call: the drawn questions of every engine, of both databases."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.every_engine.test_languages_of_calls import GRAPH, QUESTIONS, ask_in_languages
from tests.neo4j.database import Neo4jColumn, column_of
from tests.postgres.database import Database, PostgresColumn

pytestmark = [pytest.mark.anyio, pytest.mark.server]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """The graph of the drawn questions."""
    path = tmp_path / "languages.ttl"
    path.write_text(GRAPH, encoding="utf-8")
    return path


@pytest.fixture
def neo4j(file: Path, tmp_path: Path) -> Iterator[Neo4jColumn]:
    """Neo4j, with that graph."""
    with column_of("languages", file, tmp_path) as column:
        yield column


async def test_in_postgresql(database: Database, file: Path) -> None:
    engine = PostgresColumn("in-process", {"languages": [file]}, database=database)
    async with engine.open("languages") as gateway:
        assert await ask_in_languages(gateway, QUESTIONS) == QUESTIONS


async def test_in_neo4j(neo4j: Neo4jColumn) -> None:
    async with neo4j.open("languages") as gateway:
        assert await ask_in_languages(gateway, QUESTIONS) == QUESTIONS
