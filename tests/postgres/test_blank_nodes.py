"""Blank nodes and lists that `load` wrote are those of the file, in every answer."""

import random
from pathlib import Path

import pytest

from gateway.terms.prefixes import PrefixMap
from gateway.tools.gateway import Gateway
from tests.blank_nodes.graphs import KIND_COUNT, drawn
from tests.blank_nodes.judge import Judge, room
from tests.blank_nodes.oracle import expected_of
from tests.harness.report import Report
from tests.postgres.database import Database, PostgresColumn

pytestmark = [pytest.mark.anyio, pytest.mark.server]

_QUESTIONS = 20


@pytest.mark.parametrize("kind", range(KIND_COUNT), ids=lambda number: drawn(number).kind)
async def test_answers_are_those_of_the_oracle(kind: int, tmp_path: Path, database: Database) -> None:
    graph, name = drawn(kind), f"blank_{kind}"
    files = graph.write(tmp_path)
    profile = PostgresColumn.settled(room())
    database.load(name, files, profile, blank_nodes=True)
    column = PostgresColumn("in-process", {name: files}, database=database)
    async with Gateway(column.store(name, profile), profile, PrefixMap({})) as gateway:
        report = Report()
        judge = Judge(gateway, expected_of(graph.triples), report)
        await judge.learn()
        await judge.ask(random.Random(name), _QUESTIONS)  # noqa: S311 - not for security
    assert report.findings == []


async def test_lists_have_their_order(tmp_path: Path, database: Database) -> None:
    path = tmp_path / "lists.ttl"
    path.write_text(
        """
        @prefix x: <https://example.org/x/> .
        x:s a x:S ; x:p ( x:c x:a x:b ) ; x:q ( [ x:v 3 ] [ x:v 1 ] [ x:v 2 ] ) ; x:r ( 3 1 2 ) .
        """,
        encoding="utf-8",
    )
    profile = PostgresColumn.settled(room())
    database.load("lists", [path], profile, blank_nodes=True)
    column = PostgresColumn("in-process", {"lists": [path]}, database=database)
    prefixes = PrefixMap({"x": "https://example.org/x/"})
    async with Gateway(column.store("lists", profile), profile, prefixes) as gateway:
        await gateway.wait_until_ready()
        rows = (await gateway.search_entities(node_types=["x:S"], values=["p", "q/v", "r"])).rows
        described = (await gateway.describe_entity("x:s")).model_dump()
    assert rows == [["x:s", ["x:c", "x:a", "x:b"], [3, 1, 2], [3, 1, 2]]]
    assert [value["x:v"] for value in described["x:q"]] == [3, 1, 2]
    assert described["edges"]["x:p"] == [3, "x:c", "x:a", "x:b"]
