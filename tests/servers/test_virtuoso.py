import gzip
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.servers.loaded import LoadError
from tests.servers.loopback import HOST, ask, send
from tests.servers.unavailable import ServerUnavailable, skip_or_fail
from tests.servers.virtuoso import VirtuosoServer, running_virtuoso

pytestmark = pytest.mark.server

PEOPLE = """\
@prefix ex: <http://example.org/> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
ex:ada ex:wrote ex:notes ; ex:name "Ada Lovelace"@en, "アダ"@ja ; ex:age 36, "036"^^xsd:integer .
ex:café ex:says "it's" ; ex:has [ ex:says "hello" ] .
"""
PLACES = '<http://example.org/london> <http://example.org/name> "London" .\n'
MORE = '_:b <http://example.org/says> "good day" .\n'
EX = "http://example.org/"
MANY = "".join(f"<{EX}n> <{EX}p> <{EX}{number}> .\n" for number in range(10_001))

COUNT = "SELECT (COUNT(*) AS ?n) WHERE { ?s ?p ?o }"


@pytest.fixture(scope="module")
def virtuoso(tmp_path_factory: pytest.TempPathFactory) -> Iterator[VirtuosoServer]:
    folder = tmp_path_factory.mktemp("it's a graph")
    people, places, more, many = (folder / name for name in ("people.ttl", "places.nt.gz", "more.nt", "many.nt"))
    people.write_text(PEOPLE, encoding="utf-8")
    places.write_bytes(gzip.compress(PLACES.encode(), mtime=0))
    more.write_text(MORE)
    many.write_text(MANY)
    graphs = {"urn:people": [people], "urn:all": [people, places, more], "urn:many": [many]}
    try:
        with running_virtuoso(graphs, workdir=tmp_path_factory.mktemp("virtuoso")) as server:
            yield server
    except ServerUnavailable as error:
        skip_or_fail(error)


def rows(server: VirtuosoServer, query: str, graph: str) -> list[str]:
    answer = ask(server.endpoint, query, graph=graph)
    assert answer.status == 200, answer.text
    return answer.text.split()[1:]


def test_each_graph_is_asked_for_by_its_iri_and_has_nothing_of_the_others(virtuoso: VirtuosoServer) -> None:
    assert rows(virtuoso, COUNT, "urn:people") == ["7"]
    assert rows(virtuoso, COUNT, "urn:all") == ["9"]
    assert rows(virtuoso, COUNT, "urn:nothing") == ["0"]


def test_blank_nodes_of_two_files_stay_apart(virtuoso: VirtuosoServer) -> None:
    query = "SELECT (COUNT(DISTINCT ?s) AS ?n) { ?s <http://example.org/says> ?o . FILTER(isBlank(?s)) }"
    assert rows(virtuoso, query, "urn:all") == ["2"]


def test_what_is_not_ascii_is_kept(virtuoso: VirtuosoServer) -> None:
    query = "SELECT ?o { <http://example.org/café> <http://example.org/says> ?o }"
    assert rows(virtuoso, query, "urn:people") == ['"it\'s"']
    query = 'SELECT ?o { ?s <http://example.org/name> ?o . FILTER(LANG(?o) = "ja") }'
    assert rows(virtuoso, query, "urn:people") == ['"アダ"']


def test_the_row_cap_of_the_distribution_is_on(virtuoso: VirtuosoServer) -> None:
    assert rows(virtuoso, COUNT, "urn:many") == ["10001"]
    assert len(rows(virtuoso, "SELECT ?o { ?s ?p ?o }", "urn:many")) == 10_000


def test_an_insert_is_refused(virtuoso: VirtuosoServer) -> None:
    insert = "INSERT DATA { GRAPH <urn:people> { <http://example.org/a> <http://example.org/b> 1 } }"
    assert ask(virtuoso.endpoint, insert).status >= 400
    url = f"http://{HOST}:{virtuoso.port}/sparql-graph-crud?graph=urn:people"
    assert send("PUT", url, body=PLACES.encode(), headers={"Content-Type": "text/turtle"}).status >= 400
    assert rows(virtuoso, COUNT, "urn:people") == ["7"]


@pytest.mark.parametrize("content", ["this is no Turtle", "<urn:a> <urn:p> <urn:b> .\n<urn:a> <urn:p> \n"])
def test_a_file_that_is_no_graph_is_refused_with_its_name(tmp_path: Path, content: str) -> None:
    broken = tmp_path / "broken.ttl"
    broken.write_text(content)
    try:
        with (
            pytest.raises(LoadError, match=r"broken\.ttl: .*Error"),
            running_virtuoso({"urn:broken": [broken]}, workdir=tmp_path),
        ):
            pytest.fail("it never ran")
    except ServerUnavailable as error:
        skip_or_fail(error)


def test_it_is_gone_afterwards_with_its_database(tmp_path: Path) -> None:
    places = tmp_path / "places.nt"
    places.write_text(PLACES)
    try:
        with running_virtuoso({"urn:places": [places]}, workdir=tmp_path) as server:
            assert rows(server, COUNT, "urn:places") == ["1"]
    except ServerUnavailable as error:
        skip_or_fail(error)
    with pytest.raises(ProcessLookupError):
        os.kill(server.process.pid, 0)
    assert sorted(path.suffix for path in tmp_path.iterdir()) == [".log", ".nt"]
