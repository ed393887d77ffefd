"""`check` of a database: what is there, what is missing, and the statements that make it."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import neo4j
import pytest

from gateway.neo4j.connection import Address
from tests.cli.conftest import FIXTURES, Run, run  # noqa: F401 - a fixture
from tests.cli.json_schemas import faults_of
from tests.postgres.database import Database
from tests.postgres.test_existing_tables import OTHER
from tests.servers import neo4j as neo4j_server
from tests.servers import postgres as postgres_server

pytestmark = pytest.mark.server


def _tables(request: pytest.FixtureRequest) -> tuple[str, str, str]:
    database: Database = request.getfixturevalue("database")
    return database.url(), postgres_server.USER, postgres_server.PASSWORD


def _nodes(request: pytest.FixtureRequest) -> tuple[str, str, str]:
    address: Address = request.getfixturevalue("address")
    return f"{address.url}/neo4j", neo4j_server.USER, neo4j_server.PASSWORD


@pytest.fixture(params=[_tables, _nodes], ids=["postgresql", "neo4j"])
def login(request: pytest.FixtureRequest) -> tuple[str, str, str]:
    """The URL of each database, with its user and password."""
    where: tuple[str, str, str] = request.param(request)
    return where


def test_a_wrong_password_is_an_error_that_does_not_show_it(
    run: Run,  # noqa: F811 - the fixture
    login: tuple[str, str, str],
    tmp_path: Path,
) -> None:
    url, user, password = login
    wrong = tmp_path / "wrong"
    wrong.write_text("not the password")
    ran = run("check", url, "--user", user, "--password-file", wrong)
    assert ran.status == 2
    assert "password" in ran.err
    assert password not in ran.err
    assert "not the password" not in ran.err


# PostgreSQL


BARE = """
CREATE TABLE entity (entity_id text, entity_type text, name text);
CREATE TABLE relationship (subject_id text, predicate text, object_id text);
CREATE INDEX ON relationship (object_id) WHERE predicate = 'next';
INSERT INTO entity VALUES ('urn:n:1', 'Node', 'one');
"""
_BLANK = """
@prefix ex: <https://example.org/> . @prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
ex:a ex:p [ ex:in ex:u ] ; ex:q ex:b . ex:b ex:q ex:c .
[ a owl:Restriction ; owl:onProperty ex:p ; owl:someValuesFrom ex:D ] rdfs:subClassOf ex:C .
"""
INDEXES = {"outgoing", "incoming", "nodes", "types", "names", "parts"}


@pytest.fixture
def check_tables(run: Run, database: Database) -> Run:  # noqa: F811 - the fixture
    """Run `check` with the password of the server."""
    return lambda *argv: run(
        "check", *argv, "--user", postgres_server.USER, "--password-file", database.server.password
    )


def _report_on_tables(check_tables: Run, *argv: str | Path) -> Any:
    ran = check_tables("--json", *argv)
    assert (ran.status, ran.err) == (0, "")
    report = json.loads(ran.out)
    assert faults_of(report, "check_database") == []
    return report


def test_a_loaded_graph_lacks_no_index(run: Run, check_tables: Run, database: Database) -> None:  # noqa: F811 - the fixture
    url = database.make_database("checked")
    login = ("--user", postgres_server.USER, "--password-file", database.server.password)
    assert run("load", FIXTURES / "films.ttl", "--to", url, *login).status == 0
    report = _report_on_tables(check_tables, url)
    assert {report[f"index_{name}"]["value"] for name in (INDEXES - {"parts"}) | {"evidence"}} == {True}
    # Its index needs an extension, which the server of the tests may lack.
    assert report["index_parts"]["value"] is report["trigrams"]["value"]
    assert report["nodes_rows"]["value"] == 78
    assert report["replica"]["value"] is False


def test_what_share_of_the_edges_has_a_blank_node_is_said_with_their_types(
    run: Run,  # noqa: F811 - the fixture
    check_tables: Run,
    database: Database,
    tmp_path: Path,
) -> None:
    graph = tmp_path / "graph.ttl"
    graph.write_text(_BLANK, encoding="utf-8")
    url = database.make_database("blank")
    login = ("--user", postgres_server.USER, "--password-file", database.server.password)
    assert run("load", graph, "--to", url, *login).status == 0
    found = _report_on_tables(check_tables, url)["blank_nodes"]
    assert found["value"] == "71 % of the edges"
    assert found["evidence"].startswith("5 of 7 have one at an end; most are of the types ")
    assert "(ex:p)" in found["evidence"] or "(https://example.org/p)" in found["evidence"]
    assert found["evidence"].endswith("; 3 edges of these were left out by load")


def test_a_database_without_blank_nodes_has_none(check_tables: Run, database: Database) -> None:
    url = database.make_database("bare", BARE)
    assert _report_on_tables(check_tables, url)["blank_nodes"] == {"value": "none", "evidence": "there are no edges"}


def test_the_statements_make_what_is_missing(check_tables: Run, database: Database) -> None:
    url = database.make_database("bare", BARE)
    before = _report_on_tables(check_tables, url)
    assert {name for name in INDEXES if before[f"index_{name}"]["value"] is False} == INDEXES
    assert "index_evidence" not in before
    assert (
        'CREATE INDEX CONCURRENTLY ON "relationship" ("subject_id", "predicate", "object_id");' in before["statements"]
    )
    for statement in before["statements"]:
        if "pg_trgm" not in statement:
            database.execute(statement, "bare")
    after = _report_on_tables(check_tables, url)
    assert [statement for statement in after["statements"] if "pg_trgm" not in statement] == []


def test_what_should_be_changed_is_a_warning(check_tables: Run, database: Database) -> None:
    warnings = _report_on_tables(check_tables, database.make_database("bare", BARE))["warnings"]
    assert any("may change the rows of entity, relationship" in warning for warning in warnings)
    assert "relationship is empty." in warnings


_SPELLINGS = """
INSERT INTO entity (entity_id) VALUES ('RxNorm:3251'), ('RxNorm:1'), ('mailto:a@b.test'), ('http://e.test/a'),
  ('note: a text'), ('MeSH:1'), (E'a\\tb{');
INSERT INTO relationship VALUES ('urn:n:1', 'TREATS', 'urn:n:2');
"""


def test_what_ids_of_rows_are_read_as_is_said_and_decided_by_the_prefixes(
    check_tables: Run, database: Database
) -> None:
    url = database.make_database("spellings", BARE + _SPELLINGS)
    undeclared = _report_on_tables(check_tables, url)
    assert undeclared["ids_read_as"]["value"] == "IRIs, encoded texts"
    evidence = undeclared["ids_read_as"]["evidence"]
    assert "RxNorm: 2, such as 'RxNorm:1'; others 2, such as 'urn:x-bfsql:id:a%09b%7B'" in evidence
    assert "Some IDs begin with RxNorm:, MeSH:, which" in " ".join(undeclared["warnings"])
    assert undeclared["predicates_read_as"]["value"] == "encoded texts"
    declared = _report_on_tables(
        check_tables, url, "--prefix", "RxNorm=http://rx.test/", "--prefix", "MeSH=http://mesh.test/"
    )
    assert declared["ids_read_as"]["value"] == "CURIEs, encoded texts, IRIs"
    assert "RxNorm: 2, such as 'http://rx.test/1'" in declared["ids_read_as"]["evidence"]
    assert not any("begin with" in warning for warning in declared["warnings"])


def test_the_report_on_tables_for_a_person_shows_the_same(check_tables: Run, database: Database) -> None:
    ran = check_tables(database.make_database("shown", BARE))
    assert ran.status == 0
    assert "it holds a graph in tables" in ran.out
    assert "Index of outgoing edges  no" in ran.out
    assert 'ON "entity" (lower("name"));' in ran.out


def test_the_indexes_of_a_view_are_not_determined(check_tables: Run, database: Database, tmp_path: Path) -> None:
    url = database.make_database("checked_views", BARE + OTHER)
    profile = tmp_path / "views.toml"
    profile.write_text(
        """
        extends = "bfsql-postgres"
        [postgres.nodes]
        table = "My graph.Things"
        id = "the id"
        name = "title"
        [postgres.edges]
        table = "My graph.links"
        subject = "a"
        predicate = "is"
        object = "b"
        """
    )
    report = _report_on_tables(check_tables, url, "--profile", profile)
    assert "a view" in report["nodes"]["evidence"]
    assert "no table" in report["index_outgoing"]["not_determined"]
    assert report["statements"] == []


def test_nothing_is_written(check_tables: Run, database: Database) -> None:
    url = database.make_database("untouched", BARE)
    written = "SELECT sum(n_tup_ins + n_tup_upd + n_tup_del), count(*) FROM pg_stat_user_tables"
    before = database.rows(written, "untouched")
    check_tables(url)
    assert database.rows(written, "untouched") == before


@pytest.mark.parametrize(
    ("name", "said"), [("postgres", "no table or view 'entity'"), ("absent", "no database of that name")]
)
def test_a_database_without_the_tables_is_an_error(check_tables: Run, database: Database, name: str, said: str) -> None:
    ran = check_tables(database.url(name))
    assert (ran.status, ran.out) == (2, "")
    assert said in ran.err


def test_properties_that_are_no_json_are_an_error(check_tables: Run, database: Database) -> None:
    url = database.make_database("text_properties", BARE + "ALTER TABLE entity ADD COLUMN properties text;")
    ran = check_tables(url)
    assert (ran.status, ran.out) == (2, "")
    assert "The column 'properties' of 'entity' has the type 'text'" in ran.err
    assert "json" in ran.err


# Neo4j


@pytest.fixture
def check_nodes(run: Run, address: Address, tmp_path: Path) -> Run:  # noqa: F811 - the fixture
    """Run `check` with a `[neo4j.nodes]` of a profile."""
    password, profile = tmp_path / "password", tmp_path / "nodes.toml"
    password.write_text(neo4j_server.PASSWORD, encoding="utf-8")

    def checked(*argv: str | Path) -> Any:
        nodes, *others = argv
        profile.write_text(f'extends = "bfsql-neo4j"\n[neo4j.nodes]\n{nodes}\n', encoding="utf-8")
        login = ("--user", neo4j_server.USER, "--password-file", password)
        return run("check", f"{address.url}/neo4j", "--profile", profile, *login, *others)

    return checked


@contextmanager
def _changed(address: Address, statement: str, back: str) -> Iterator[None]:
    """Run a statement before the block, and another one after it.

    About labels that no other test looks at in the same way: another process may run it meanwhile.
    """
    with neo4j.GraphDatabase.driver(address.url, auth=(neo4j_server.USER, neo4j_server.PASSWORD)) as driver:
        driver.execute_query(statement)
        driver.execute_query("CALL db.awaitIndexes()")
        try:
            yield
        finally:
            driver.execute_query(back)


def _report_on_nodes(check_nodes: Run, nodes: str) -> Any:
    ran = check_nodes(nodes, "--json")
    assert (ran.status, ran.err) == (0, "")
    report = json.loads(ran.out)
    assert faults_of(report, "check_database") == []
    return report


def test_a_graph_whose_labels_have_constraints_lacks_nothing(check_nodes: Run) -> None:
    found = _report_on_nodes(check_nodes, 'labels = ["Link"]')
    assert found["version"]["value"].startswith("5.")
    assert (found["labels"]["value"], found["nodes_rows"]["value"], found["ids"]["value"]) == (1, 61, 61)
    assert found["edges_rows"]["value"] == 60
    assert found["index_nodes"]["value"] is True
    assert (found["warnings"], found["statements"]) == ([], [])


def test_what_ids_of_nodes_are_read_as_is_said(check_nodes: Run) -> None:
    found = _report_on_nodes(check_nodes, 'labels = ["Drug", "Disease"]')
    assert found["ids_read_as"]["value"] == "IRIs, encoded texts"
    evidence = "MeSH: 1, such as 'MeSH:D003480'; RxNorm: 1, such as 'RxNorm:3251'; others 1, such as"
    assert evidence in found["ids_read_as"]["evidence"]
    assert any("Some IDs begin with MeSH:, RxNorm:, which" in warning for warning in found["warnings"])


def test_nodes_that_are_not_in_the_graph_are_a_warning(check_nodes: Run) -> None:
    found = _report_on_nodes(check_nodes, 'labels = ["Drug", "Disease"]')
    assert (found["nodes_rows"]["value"], found["ids"]["value"]) == (4, 3)
    warning = found["warnings"][0]
    assert warning.startswith("1 of 4 nodes have no text in the property 'id' (0 have nothing in it): these and their")


def test_nodes_that_neosemantics_made_of_blank_nodes_are_told_as_such(check_nodes: Run, address: Address) -> None:
    assert _report_on_nodes(check_nodes, 'labels = ["Link"]')["blank_nodes"]["value"] == 0
    made = "CREATE (:Made {id: 'bnode://genid1'})-[:next]->(:Made {id: 'urn:made:1'})"
    with _changed(address, made, "MATCH (n:Made) DETACH DELETE n"):
        found = _report_on_nodes(check_nodes, 'labels = ["Made"]')
    assert found["blank_nodes"] == {
        "value": 1,
        "evidence": "of 2 IDs that were looked at, so many begin with bnode://, as neosemantics has it",
    }
    assert any("neosemantics made of blank nodes" in warning for warning in found["warnings"])


def test_the_statement_makes_the_index_that_is_missing(check_nodes: Run, address: Address) -> None:
    before = _report_on_nodes(check_nodes, 'labels = ["Link", "Elsewhere"]')
    assert before["index_nodes"]["value"] is False
    assert any("no index serves Elsewhere," in warning for warning in before["warnings"])
    [statement] = before["statements"]
    assert statement == "CREATE CONSTRAINT FOR (n:`Elsewhere`) REQUIRE n.`id` IS UNIQUE;"
    named = statement.replace("CONSTRAINT", "CONSTRAINT made", 1).removesuffix(";")
    with _changed(address, named, "DROP CONSTRAINT made"):
        after = _report_on_nodes(check_nodes, 'labels = ["Link", "Elsewhere"]')
    assert (after["index_nodes"]["value"], after["statements"]) == (True, [])


def test_nodes_that_share_an_id_are_a_warning_and_no_constraint_is_suggested(
    check_nodes: Run, address: Address
) -> None:
    two = "CREATE (:Shared {id: 'shared'}), (:Shared {id: 'shared'})"
    with _changed(address, two, "MATCH (n:Shared) DELETE n"):
        found = _report_on_nodes(check_nodes, 'labels = ["Shared"]')
    assert "1 nodes have the ID of another node: nodes with one ID are read as one node." in found["warnings"]
    assert found["statements"] == ["CREATE INDEX FOR (n:`Shared`) ON (n.`id`);"]
    assert "No relationship between nodes that are read: the graph has no edges." in found["warnings"]


def test_a_property_that_is_no_id_is_a_warning(check_nodes: Run) -> None:
    found = _report_on_nodes(check_nodes, 'labels = ["Disease"]\nid = "usage_count"')
    [first, *_] = found["warnings"]
    assert first == "No node has a text in the property 'usage_count': name the ID as neo4j.nodes.id in the profile."


def test_the_report_on_nodes_for_a_person_shows_the_same(check_nodes: Run) -> None:
    ran = check_nodes('labels = ["Old"]')
    assert ran.status == 0
    assert "it holds a graph in nodes and relationships" in ran.out
    assert "Index of nodes" in ran.out
    assert "CREATE CONSTRAINT FOR (n:`Old`) REQUIRE n.`id` IS UNIQUE;" in ran.out


@pytest.mark.parametrize("counted", [61, 62])
def test_a_constraint_is_suggested_only_where_all_ids_were_looked_at(
    check_nodes: Run, counted: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gateway.check.neo4j_check._COUNTED", counted)
    monkeypatch.setattr("gateway.check.neo4j_check._SERVING", frozenset())
    [statement] = _report_on_nodes(check_nodes, 'labels = ["Link"]')["statements"]
    assert statement.startswith("CREATE CONSTRAINT" if counted == 62 else "CREATE INDEX")


def test_more_labels_than_are_read_are_a_warning(check_nodes: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gateway.check.neo4j_check.MOST_LABELS", 2)
    found = _report_on_nodes(check_nodes, "")
    assert found["labels"]["at_least"] == 3
    assert "more than 2 labels" in found["warnings"][0]


def test_the_full_text_index_of_names_is_named(check_nodes: Run) -> None:
    found = _report_on_nodes(check_nodes, 'labels = ["Drug"]\nnames = ["name"]')["index_names"]
    assert (found["value"], found["evidence"].partition(",")[0]) == (True, "'names'")
    few = _report_on_nodes(check_nodes, 'labels = ["Drug", "Twin"]\nfull_text_above = 0')
    assert few["index_names"]["value"] is False
    assert "Names: the full-text index 'names' is not of all labels and all properties with names." in few["warnings"]


def test_the_statement_makes_the_full_text_index_that_a_large_database_lacks(
    check_nodes: Run, address: Address
) -> None:
    nodes = 'labels = ["Link"]\nnames = ["name"]\nfull_text_above = 0'
    before = _report_on_nodes(check_nodes, nodes)
    assert before["index_names"]["value"] is False
    assert before["warnings"] == ["Names: no full-text index has them, so each search compares the names of all nodes."]
    [statement] = before["statements"]
    assert statement == "CREATE FULLTEXT INDEX FOR (n:`Link`) ON EACH [n.`name`, n.`synonyms`];"
    named = statement.replace("INDEX", "INDEX made", 1).removesuffix(";")
    with _changed(address, named, "DROP INDEX made"):
        after = _report_on_nodes(check_nodes, nodes)
    assert (after["index_names"]["value"], after["statements"], after["warnings"]) == (True, [], [])


def test_a_graph_without_names_lacks_no_index_of_names(check_nodes: Run) -> None:
    found = _report_on_nodes(check_nodes, 'labels = ["Link"]\nnames = []\nsynonyms = ""\nfull_text_above = 0')
    assert (found["index_names"]["value"], found["statements"], found["warnings"]) == (False, [], [])
