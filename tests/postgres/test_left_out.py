"""`load` counts the edges to expressions of OWL, which are not read yet, and no answer over its tables hides them."""

from pathlib import Path

import pytest

from gateway.api import open_gateway
from gateway.settings.load import default_profile, load_profile
from gateway.terms.prefixes import PrefixMap
from gateway.tools.gateway import Gateway
from tests.calls import Json, asked, connected
from tests.postgres.database import Database, PostgresColumn, tables_in

pytestmark = [pytest.mark.anyio, pytest.mark.server]

_TURTLE = """
@prefix ex: <https://example.org/> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
ex:Pizza a owl:Class ; rdfs:label "pizza" ; rdfs:subClassOf ex:Food,
  [ a owl:Restriction, ex:Rule ; rdfs:label "has a base" ; owl:onProperty ex:hasBase ; owl:someValuesFrom ex:Base ] .
ex:Food a owl:Class ; rdfs:label "food" .
ex:Base a owl:Class ; rdfs:label "base" ; ex:madeOf ex:Dough .
"""
"""A class whose expression says what it has, with a type of its own and a name."""

_PREFIXES = {"ex": "https://example.org/", "rdfs": "http://www.w3.org/2000/01/rdf-schema#"}


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
        ("bfs_query", {"seeds": ["ex:Base"], "max_hops": 1, "direction": "outgoing"}),
        ("bfs_query", {"seeds": ["ex:Pizza"], "max_hops": 1, "only_predicates": ["rdfs:subClassOf"]}),
        ("intersect_subgraphs", {"seeds": ["ex:Pizza", "ex:Food"], "k": 2}),
        ("describe_entity", {"id": "ex:Pizza"}),
        ("search_entities", {"query": "dough"}),
        ("search_entities", {"query": "base", "node_types": ["ex:Rule"]}),
    ],
)
async def test_answers_say_what_those_about_the_file_say(
    tool: str, arguments: Json, file: Path, database: Database
) -> None:
    async with connected(open_gateway(file, profile=load_profile(default_profile(None)), prefixes=_PREFIXES)) as client:
        here = await asked(client, tool, **arguments)
    async with connected(_there(database, "pizza", file)) as client:
        there = await asked(client, tool, **arguments)
    for key in ("complete", "blank_node_edges", "incomplete", "nodes", "edges"):
        assert there.get(key) == here.get(key), key


async def test_the_schema_is_not_all_of_the_graph(file: Path, database: Database) -> None:
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
