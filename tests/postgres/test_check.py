"""`check` of a database: what is there, what is missing, and the statements that make it."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import FIXTURES, Run, run  # noqa: F401 - a fixture
from tests.postgres.database import Database
from tests.postgres.test_existing_tables import OTHER
from tests.servers.postgres import PASSWORD, USER

pytestmark = pytest.mark.server

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
ex:C rdfs:subClassOf [ a owl:Restriction ; owl:onProperty ex:p ; owl:someValuesFrom ex:D ] .
"""
INDEXES = {"outgoing", "incoming", "nodes", "types", "names", "parts"}


@pytest.fixture
def check(run: Run, database: Database) -> Run:  # noqa: F811 - the fixture
    """Run `check` with the password of the server."""
    return lambda *argv: run("check", *argv, "--user", USER, "--password-file", database.server.password)


def _report(check: Run, *argv: str | Path) -> Any:
    ran = check("--json", *argv)
    assert (ran.status, ran.err) == (0, "")
    return json.loads(ran.out)


def test_a_loaded_graph_lacks_no_index(run: Run, check: Run, database: Database) -> None:  # noqa: F811 - the fixture
    url = database.make_database("checked")
    login = ("--user", USER, "--password-file", database.server.password)
    assert run("load", FIXTURES / "films.ttl", "--to", url, *login).status == 0
    report = _report(check, url)
    assert {report[f"index_{name}"]["value"] for name in (INDEXES - {"parts"}) | {"evidence"}} == {True}
    # Its index needs an extension, which the server of the tests may lack.
    assert report["index_parts"]["value"] is report["trigrams"]["value"]
    assert report["nodes_rows"]["value"] == 78
    assert report["replica"]["value"] is False


def test_what_share_of_the_edges_has_a_blank_node_is_said_with_their_types(
    run: Run,  # noqa: F811 - the fixture
    check: Run,
    database: Database,
    tmp_path: Path,
) -> None:
    graph = tmp_path / "graph.ttl"
    graph.write_text(_BLANK, encoding="utf-8")
    url = database.make_database("blank")
    login = ("--user", USER, "--password-file", database.server.password)
    assert run("load", graph, "--to", url, *login).status == 0
    found = _report(check, url)["blank_nodes"]
    assert found["value"] == "71 % of the edges"
    assert found["evidence"].startswith("5 of 7 have one at an end; most are of the types ")
    assert "(ex:p)" in found["evidence"] or "(https://example.org/p)" in found["evidence"]
    assert found["evidence"].endswith("; 3 edges of these were left out by load")


def test_a_database_without_blank_nodes_has_none(check: Run, database: Database) -> None:
    url = database.make_database("bare", BARE)
    assert _report(check, url)["blank_nodes"] == {"value": "none", "evidence": "there are no edges"}


def test_the_statements_make_what_is_missing(check: Run, database: Database) -> None:
    url = database.make_database("bare", BARE)
    before = _report(check, url)
    assert {name for name in INDEXES if before[f"index_{name}"]["value"] is False} == INDEXES
    assert "index_evidence" not in before
    assert (
        'CREATE INDEX CONCURRENTLY ON "relationship" ("subject_id", "predicate", "object_id");' in before["statements"]
    )
    for statement in before["statements"]:
        if "pg_trgm" not in statement:
            database.execute(statement, "bare")
    after = _report(check, url)
    assert [statement for statement in after["statements"] if "pg_trgm" not in statement] == []


def test_what_should_be_changed_is_a_warning(check: Run, database: Database) -> None:
    warnings = _report(check, database.make_database("bare", BARE))["warnings"]
    assert any("may change the rows of entity, relationship" in warning for warning in warnings)
    assert "relationship is empty." in warnings


_SPELLINGS = """
INSERT INTO entity (entity_id) VALUES ('RxNorm:3251'), ('RxNorm:1'), ('mailto:a@b.test'), ('http://e.test/a'),
  ('note: a text'), ('MeSH:1'), (E'a\\tb{');
INSERT INTO relationship VALUES ('urn:n:1', 'TREATS', 'urn:n:2');
"""


def test_what_ids_are_read_as_is_said_and_decided_by_the_prefixes(check: Run, database: Database) -> None:
    url = database.make_database("spellings", BARE + _SPELLINGS)
    undeclared = _report(check, url)
    assert undeclared["ids_read_as"]["value"] == "IRIs, encoded texts"
    evidence = undeclared["ids_read_as"]["evidence"]
    assert "RxNorm: 2, such as 'RxNorm:1'; others 2, such as 'urn:x-bfsql:id:a%09b%7B'" in evidence
    assert "Some IDs begin with RxNorm:, MeSH:, which" in " ".join(undeclared["warnings"])
    assert undeclared["predicates_read_as"]["value"] == "encoded texts"
    declared = _report(check, url, "--prefix", "RxNorm=http://rx.test/", "--prefix", "MeSH=http://mesh.test/")
    assert declared["ids_read_as"]["value"] == "CURIEs, encoded texts, IRIs"
    assert "RxNorm: 2, such as 'http://rx.test/1'" in declared["ids_read_as"]["evidence"]
    assert not any("begin with" in warning for warning in declared["warnings"])


def test_the_report_for_a_person_shows_the_same(check: Run, database: Database) -> None:
    ran = check(database.make_database("shown", BARE))
    assert ran.status == 0
    assert "it holds a graph in tables" in ran.out
    assert "Index of outgoing edges  no" in ran.out
    assert 'ON "entity" (lower("name"));' in ran.out


def test_the_indexes_of_a_view_are_not_determined(check: Run, database: Database, tmp_path: Path) -> None:
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
    report = _report(check, url, "--profile", profile)
    assert "a view" in report["nodes"]["evidence"]
    assert "no table" in report["index_outgoing"]["not_determined"]
    assert report["statements"] == []


def test_nothing_is_written(check: Run, database: Database) -> None:
    url = database.make_database("untouched", BARE)
    written = "SELECT sum(n_tup_ins + n_tup_upd + n_tup_del), count(*) FROM pg_stat_user_tables"
    before = database.rows(written, "untouched")
    check(url)
    assert database.rows(written, "untouched") == before


@pytest.mark.parametrize(
    ("name", "said"), [("postgres", "no table or view 'entity'"), ("absent", "no database of that name")]
)
def test_a_database_without_the_tables_is_an_error(check: Run, database: Database, name: str, said: str) -> None:
    ran = check(database.url(name))
    assert (ran.status, ran.out) == (2, "")
    assert said in ran.err


def test_properties_that_are_no_json_are_an_error(check: Run, database: Database) -> None:
    url = database.make_database("text_properties", BARE + "ALTER TABLE entity ADD COLUMN properties text;")
    ran = check(url)
    assert (ran.status, ran.out) == (2, "")
    assert "The column 'properties' of 'entity' has the type 'text'" in ran.err
    assert "json" in ran.err


def test_a_wrong_password_is_an_error_that_does_not_show_it(run: Run, database: Database, tmp_path: Path) -> None:  # noqa: F811 - the fixture
    wrong = tmp_path / "wrong"
    wrong.write_text("not the password")
    ran = run("check", database.url(), "--user", USER, "--password-file", wrong)
    assert ran.status == 2
    assert "password" in ran.err
    assert PASSWORD not in ran.err
    assert "not the password" not in ran.err
