"""Blank nodes and lists that `load` wrote are those of the file, and no answer hides those that it left out.

Those are class expressions that fit no rule.
"""

import random
from pathlib import Path

import pytest

from gateway.api import open_gateway
from gateway.settings.load import default_profile, load_profile
from gateway.terms.prefixes import PrefixMap
from gateway.tools.gateway import Gateway
from tests.blank_nodes.graphs import KIND_COUNT, drawn
from tests.blank_nodes.judge import Judge, room
from tests.blank_nodes.oracle import expected_of
from tests.calls import Json, asked, connected
from tests.harness.report import Report
from tests.postgres.database import Database, PostgresColumn, tables_in

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


# What is left out


_TURTLE = """
@prefix ex: <https://example.org/> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
ex:Pizza a owl:Class ; rdfs:label "pizza" ; rdfs:subClassOf ex:Food,
  [ a owl:Restriction, ex:Rule ; rdfs:label "has a base" ; owl:onProperty ex:hasBase ; owl:someValuesFrom ex:Base ] .
ex:Food a owl:Class ; rdfs:label "food" .
ex:Base a owl:Class ; rdfs:label "base" ; ex:madeOf ex:Dough .
"""
"""A class whose expression has a type of its own and a name, so that it fits no rule."""

_PREFIXES = {
    "ex": "https://example.org/",
    "owl": "http://www.w3.org/2002/07/owl#",
    "rdfs": "http://www.w3.org/2000/01/rdf-schema#",
}


def _there(database: Database, name: str, file: Path) -> Gateway:
    profile = PostgresColumn.settled(load_profile(default_profile(None)))
    database.load(name, [file], profile, blank_nodes=True)
    column = PostgresColumn("in-process", {name: (file,)}, database=database)
    return Gateway(column.store(name, profile), profile, PrefixMap(_PREFIXES))


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Write a file with an expression."""
    path = tmp_path / "pizza.ttl"
    path.write_text(_TURTLE, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("bfs_query", {"seeds": ["ex:Pizza"], "max_hops": 2}),
        ("bfs_query", {"seeds": ["ex:Base"], "max_hops": 1}),
        ("bfs_query", {"seeds": ["ex:Food"], "max_hops": 1}),
        ("bfs_query", {"seeds": ["ex:Base"], "max_hops": 1, "only_predicates": ["ex:madeOf"]}),
        ("bfs_query", {"seeds": ["ex:Pizza"], "max_hops": 1, "only_predicates": ["ex:hasBase"]}),
        (
            "bfs_query",
            {"seeds": ["ex:Pizza"], "max_hops": 1, "only_predicates": ["ex:madeOf"], "direction": "outgoing"},
        ),
        ("bfs_query", {"seeds": ["ex:Base"], "max_hops": 1, "direction": "outgoing"}),
        ("bfs_query", {"seeds": ["ex:Pizza"], "max_hops": 1, "only_predicates": ["rdfs:subClassOf"]}),
        ("intersect_subgraphs", {"seeds": ["ex:Pizza", "ex:Food"], "k": 2}),
        ("describe_entity", {"id": "ex:Pizza"}),
        ("search_entities", {"query": "dough"}),
        ("search_entities", {"query": "base", "node_types": ["ex:Rule"]}),
    ],
)
async def test_answers_without_expressions_say_what_those_about_the_file_say(
    tool: str, arguments: Json, file: Path, database: Database
) -> None:
    async with connected(open_gateway(file, profile=load_profile(default_profile(None)), prefixes=_PREFIXES)) as client:
        here = await asked(client, tool, **arguments)
    async with connected(_there(database, "pizza", file)) as client:
        there = await asked(client, tool, **arguments)
    for key in ("complete", "blank_node_edges", "incomplete", "nodes", "edges"):
        assert there.get(key) == here.get(key), key


async def test_a_schema_without_expressions_is_not_all_of_the_graph(file: Path, database: Database) -> None:
    async with connected(_there(database, "pizza", file)) as client:
        schema = await asked(client, "describe_schema")
    assert schema["comprehensive"] is False
    assert any("blank node" in warning for warning in schema["warnings"])


async def test_edges_of_a_hub_are_counted_with_those_left_out(file: Path, database: Database) -> None:
    gateway = _there(database, "pizza", file)
    async with connected(gateway) as client:
        described = await asked(client, "describe_entity", id="ex:Base")
    assert described["blank_node_edges"] == 1
    assert described["complete"] is False


def test_a_graph_of_which_nothing_is_left_out_has_no_table_of_it(tmp_path: Path, database: Database) -> None:
    file = tmp_path / "plain.ttl"
    file.write_text("<https://example.org/a> <https://example.org/p> [ <https://example.org/q> 1 ] .", encoding="utf-8")
    database.load("plain", [file], PostgresColumn.settled(load_profile(default_profile(None))), blank_nodes=True)
    assert tables_in("plain").edges.table == "plain.relationship"
    found = database.rows("SELECT table_name FROM information_schema.tables WHERE table_schema = 'plain' ORDER BY 1")
    assert found == [("entity",), ("evidence",), ("relationship",)]


_OWN_TABLES = """
CREATE TABLE entity (entity_id text);
CREATE TABLE relationship (subject_id text, predicate text, object_id text);
CREATE TABLE relationship_left_out (subject_id text, note text);
INSERT INTO relationship VALUES ('urn:n:a', 'urn:p:p', 'urn:n:b');
INSERT INTO relationship_left_out VALUES ('urn:n:a', 'a note');
"""


async def test_a_table_of_that_name_with_other_columns_says_nothing(database: Database) -> None:
    url = database.make_database("own_left_out", _OWN_TABLES)
    profile = load_profile("bfsql-postgres")
    endpoint = profile.endpoint.model_copy(update={"access": database.access()})
    async with connected(open_gateway(url, profile=profile.model_copy(update={"endpoint": endpoint}))) as client:
        answer = await asked(client, "bfs_query", seeds=["urn:n:a"], max_hops=1)
    assert (answer["complete"], len(answer["edges"])) == (True, 1)
