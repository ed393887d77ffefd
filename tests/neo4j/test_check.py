"""`check` of a database of Neo4j: what is there, what is missing, and the statements that make it."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import neo4j
import pytest

from gateway.neo4j.connection import Address
from tests.cli.conftest import Run, run  # noqa: F401 - a fixture
from tests.servers.neo4j import PASSWORD, USER

pytestmark = pytest.mark.server


@pytest.fixture
def check(run: Run, address: Address, tmp_path: Path) -> Run:  # noqa: F811 - the fixture
    """Run `check` with a `[neo4j.nodes]` of a profile."""
    password, profile = tmp_path / "password", tmp_path / "nodes.toml"
    password.write_text(PASSWORD, encoding="utf-8")

    def checked(*argv: str | Path) -> Any:
        nodes, *others = argv
        profile.write_text(f'extends = "bfsql-neo4j"\n[neo4j.nodes]\n{nodes}\n', encoding="utf-8")
        login = ("--user", USER, "--password-file", password)
        return run("check", f"{address.url}/neo4j", "--profile", profile, *login, *others)

    return checked


@contextmanager
def changed(address: Address, statement: str, back: str) -> Iterator[None]:
    """Run a statement before the block, and another one after it."""
    with neo4j.GraphDatabase.driver(address.url, auth=(USER, PASSWORD)) as driver:
        driver.execute_query(statement)
        driver.execute_query("CALL db.awaitIndexes()")
        try:
            yield
        finally:
            driver.execute_query(back)


def report(check: Run, nodes: str) -> Any:
    ran = check(nodes, "--json")
    assert (ran.status, ran.err) == (0, "")
    return json.loads(ran.out)


def test_a_graph_whose_labels_have_constraints_lacks_nothing(check: Run) -> None:
    found = report(check, 'labels = ["Link"]')
    assert found["version"]["value"].startswith("5.")
    assert (found["labels"]["value"], found["nodes_rows"]["value"], found["ids"]["value"]) == (1, 61, 61)
    assert found["edges_rows"]["value"] == 60
    assert found["index_nodes"]["value"] is True
    assert (found["warnings"], found["statements"]) == ([], [])


def test_what_ids_are_read_as_is_said(check: Run) -> None:
    found = report(check, 'labels = ["Drug", "Disease"]')
    assert found["ids_read_as"]["value"] == "IRIs, encoded texts"
    evidence = "MeSH: 1, such as 'MeSH:D003480'; RxNorm: 1, such as 'RxNorm:3251'; others 1, such as"
    assert evidence in found["ids_read_as"]["evidence"]
    assert any("Some IDs begin with MeSH:, RxNorm:, which" in warning for warning in found["warnings"])


def test_nodes_that_are_not_in_the_graph_are_a_warning(check: Run) -> None:
    found = report(check, 'labels = ["Drug", "Disease"]')
    assert (found["nodes_rows"]["value"], found["ids"]["value"]) == (4, 3)
    warning = found["warnings"][0]
    assert warning.startswith("1 of 4 nodes have no text in the property 'id' (0 have nothing in it): these and their")


def test_nodes_that_neosemantics_made_of_blank_nodes_are_told_as_such(check: Run, address: Address) -> None:
    assert report(check, 'labels = ["Link"]')["blank_nodes"]["value"] == 0
    made = "CREATE (:Made {id: 'bnode://genid1'})-[:next]->(:Made {id: 'urn:made:1'})"
    with changed(address, made, "MATCH (n:Made) DETACH DELETE n"):
        found = report(check, 'labels = ["Made"]')
    assert found["blank_nodes"] == {
        "value": 1,
        "evidence": "of 2 IDs that were looked at, so many begin with bnode://, as neosemantics has it",
    }
    assert any("neosemantics made of blank nodes" in warning for warning in found["warnings"])


def test_the_statement_makes_the_index_that_is_missing(check: Run, address: Address) -> None:
    before = report(check, 'labels = ["Link", "Elsewhere"]')
    assert before["index_nodes"]["value"] is False
    assert any("no index serves Elsewhere," in warning for warning in before["warnings"])
    [statement] = before["statements"]
    assert statement == "CREATE CONSTRAINT FOR (n:`Elsewhere`) REQUIRE n.`id` IS UNIQUE;"
    named = statement.replace("CONSTRAINT", "CONSTRAINT made", 1).removesuffix(";")
    with changed(address, named, "DROP CONSTRAINT made"):
        after = report(check, 'labels = ["Link", "Elsewhere"]')
    assert (after["index_nodes"]["value"], after["statements"]) == (True, [])


def test_nodes_that_share_an_id_are_a_warning_and_no_constraint_is_suggested(check: Run, address: Address) -> None:
    twin = "CREATE (:Elsewhere {id: 'elsewhere'})"
    with changed(address, twin, "MATCH (n:Elsewhere) WHERE n.name IS NULL DELETE n"):
        found = report(check, 'labels = ["Elsewhere"]')
    assert "1 nodes have the ID of another node: nodes with one ID are read as one node." in found["warnings"]
    assert found["statements"] == ["CREATE INDEX FOR (n:`Elsewhere`) ON (n.`id`);"]
    assert "No relationship between nodes that are read: the graph has no edges." in found["warnings"]


def test_a_property_that_is_no_id_is_a_warning(check: Run) -> None:
    found = report(check, 'labels = ["Disease"]\nid = "usage_count"')
    [first, *_] = found["warnings"]
    assert first == "No node has a text in the property 'usage_count': name the ID as neo4j.nodes.id in the profile."


def test_the_report_for_a_person_shows_the_same(check: Run) -> None:
    ran = check('labels = ["Elsewhere"]')
    assert ran.status == 0
    assert "it holds a graph in nodes and relationships" in ran.out
    assert "Index of nodes" in ran.out
    assert "CREATE CONSTRAINT FOR (n:`Elsewhere`) REQUIRE n.`id` IS UNIQUE;" in ran.out


def test_a_wrong_password_is_an_error_that_does_not_show_it(run: Run, address: Address, tmp_path: Path) -> None:  # noqa: F811 - the fixture
    wrong = tmp_path / "wrong"
    wrong.write_text("not the password")
    ran = run("check", f"{address.url}/neo4j", "--user", USER, "--password-file", wrong)
    assert ran.status == 2
    assert "password" in ran.err
    assert "not the password" not in ran.err


@pytest.mark.parametrize("counted", [61, 62])
def test_a_constraint_is_suggested_only_where_all_ids_were_looked_at(
    check: Run, counted: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gateway.check.neo4j_check._COUNTED", counted)
    monkeypatch.setattr("gateway.check.neo4j_check._SERVING", frozenset())
    [statement] = report(check, 'labels = ["Link"]')["statements"]
    assert statement.startswith("CREATE CONSTRAINT" if counted == 62 else "CREATE INDEX")


def test_more_labels_than_are_read_are_a_warning(check: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gateway.check.neo4j_check.MOST_LABELS", 2)
    found = report(check, "")
    assert found["labels"]["at_least"] == 3
    assert "more than 2 labels" in found["warnings"][0]


def test_the_full_text_index_of_names_is_named(check: Run) -> None:
    found = report(check, 'labels = ["Drug"]\nnames = ["name"]')["index_names"]
    assert (found["value"], found["evidence"].partition(",")[0]) == (True, "'names'")
    few = report(check, 'labels = ["Drug", "Link"]\nfull_text_above = 0')
    assert few["index_names"]["value"] is False
    assert "Names: the full-text index 'names' is not of all labels and all properties with names." in few["warnings"]


def test_the_statement_makes_the_full_text_index_that_a_large_database_lacks(check: Run, address: Address) -> None:
    nodes = 'labels = ["Link"]\nnames = ["name"]\nfull_text_above = 0'
    before = report(check, nodes)
    assert before["index_names"]["value"] is False
    assert before["warnings"] == ["Names: no full-text index has them, so each search compares the names of all nodes."]
    [statement] = before["statements"]
    assert statement == "CREATE FULLTEXT INDEX FOR (n:`Link`) ON EACH [n.`name`, n.`synonyms`];"
    named = statement.replace("INDEX", "INDEX made", 1).removesuffix(";")
    with changed(address, named, "DROP INDEX made"):
        after = report(check, nodes)
    assert (after["index_names"]["value"], after["statements"], after["warnings"]) == (True, [], [])


def test_a_graph_without_names_lacks_no_index_of_names(check: Run) -> None:
    found = report(check, 'labels = ["Link"]\nnames = []\nsynonyms = ""\nfull_text_above = 0')
    assert (found["index_names"]["value"], found["statements"], found["warnings"]) == (False, [], [])
