import gzip
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.servers.loaded import LoadError
from tests.servers.loopback import ask
from tests.servers.rdf4j import Rdf4jServer, running_rdf4j
from tests.servers.unavailable import ServerUnavailable, skip_or_fail

pytestmark = pytest.mark.server

PEOPLE = """\
@prefix ex: <http://example.org/> .
ex:ada ex:wrote ex:notes ; ex:name "Ada Lovelace"@en, "アダ"@ja .
<http://example.org/café> ex:has [ ex:says "hello" ] .
"""
PLACES = '<http://example.org/zürich> <http://example.org/name> "Zürich" .\n'
MORE = '_:b <http://example.org/says> "good day" .\n'

COUNT = "SELECT (COUNT(*) AS ?n) WHERE { ?s ?p ?o }"


@pytest.fixture(scope="module")
def rdf4j(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Rdf4jServer]:
    folder = tmp_path_factory.mktemp("graphs")
    people, places, more = folder / "people.ttl", folder / "places.nt.gz", folder / "more.nt"
    people.write_text(PEOPLE, encoding="utf-8")
    places.write_bytes(gzip.compress(PLACES.encode(), mtime=0))
    more.write_text(MORE)
    graphs = {"people": [people], "all-of-it": [people, places, more]}
    try:
        with running_rdf4j(graphs, workdir=tmp_path_factory.mktemp("rdf4j")) as server:
            yield server
    except ServerUnavailable as error:
        skip_or_fail(error)


def rows(server: Rdf4jServer, query: str, name: str) -> list[str]:
    answer = ask(server.endpoint(name), query)
    assert answer.status == 200, answer.text
    return answer.text.split()[1:]


def test_one_server_answers_for_every_repository(rdf4j: Rdf4jServer) -> None:
    assert rows(rdf4j, COUNT, "people") == ["5"]
    assert rows(rdf4j, COUNT, "all-of-it") == ["7"]


def test_blank_nodes_of_two_files_stay_apart(rdf4j: Rdf4jServer) -> None:
    query = "SELECT (COUNT(DISTINCT ?s) AS ?n) { ?s <http://example.org/says> ?o . FILTER(isBlank(?s)) }"
    assert rows(rdf4j, query, "all-of-it") == ["2"]


def test_what_is_not_ascii_is_kept(rdf4j: Rdf4jServer) -> None:
    query = "SELECT ?o { <http://example.org/zürich> <http://example.org/name> ?o }"
    assert rows(rdf4j, query, "all-of-it") == ["Zürich"]


def test_a_query_endpoint_takes_no_update(rdf4j: Rdf4jServer) -> None:
    insert = "INSERT DATA { <http://example.org/a> <http://example.org/b> 1 }"
    assert ask(rdf4j.endpoint("people"), insert).status == 400
    assert rows(rdf4j, COUNT, "people") == ["5"]


def test_a_file_that_is_no_graph_is_refused_with_its_name(tmp_path: Path) -> None:
    broken = tmp_path / "broken.ttl"
    broken.write_text("this is no Turtle")
    try:
        with (
            pytest.raises(LoadError, match=r"broken\.ttl: [45]00"),
            running_rdf4j({"broken": [broken]}, workdir=tmp_path),
        ):
            pytest.fail("it never ran")
    except ServerUnavailable as error:
        skip_or_fail(error)


def test_it_is_gone_afterwards_with_its_database(tmp_path: Path) -> None:
    places = tmp_path / "places.nt"
    places.write_text(PLACES, encoding="utf-8")
    try:
        with running_rdf4j({"places": [places]}, workdir=tmp_path) as server:
            assert rows(server, COUNT, "places") == ["1"]
    except ServerUnavailable as error:
        skip_or_fail(error)
    with pytest.raises(ProcessLookupError):
        os.kill(server.process.pid, 0)
    assert sorted(path.suffix for path in tmp_path.iterdir()) == [".log", ".nt"]
