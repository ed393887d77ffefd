"""Stores that run in Java, each started as a server with a part of it for each list of files."""

import gzip
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from tests.servers.blazegraph import BlazegraphServer, running_blazegraph
from tests.servers.loaded import LoadError
from tests.servers.loopback import HOST, ask, send
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


Store = BlazegraphServer | Rdf4jServer

RUNNING: Mapping[str, Callable[..., AbstractContextManager[Store]]] = {
    "blazegraph": running_blazegraph,
    "rdf4j": running_rdf4j,
}

each = pytest.mark.parametrize("name", RUNNING)
blazegraph = pytest.mark.parametrize("store", ["blazegraph"], indirect=True)
rdf4j = pytest.mark.parametrize("store", ["rdf4j"], indirect=True)


@pytest.fixture(scope="module", params=RUNNING)
def store(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    folder = tmp_path_factory.mktemp("graphs")
    people, places, more = folder / "people.ttl", folder / "places.nt.gz", folder / "more.nt"
    people.write_text(PEOPLE, encoding="utf-8")
    places.write_bytes(gzip.compress(PLACES.encode(), mtime=0))
    more.write_text(MORE)
    graphs = {"people": [people], "all-of-it": [people, places, more]}
    try:
        with RUNNING[request.param](graphs, workdir=tmp_path_factory.mktemp(request.param)) as server:
            yield server
    except ServerUnavailable as error:
        skip_or_fail(error)


def rows(server: Store, query: str, name: str) -> list[str]:
    answer = ask(server.endpoint(name), query)
    assert answer.status == 200, answer.text
    return answer.text.split()[1:]


def test_one_server_answers_for_each_list_of_files(store: Store) -> None:
    assert rows(store, COUNT, "people") == ["5"]
    assert rows(store, COUNT, "all-of-it") == ["7"]


def test_blank_nodes_of_two_files_stay_apart(store: Store) -> None:
    query = "SELECT (COUNT(DISTINCT ?s) AS ?n) { ?s <http://example.org/says> ?o . FILTER(isBlank(?s)) }"
    assert rows(store, query, "all-of-it") == ["2"]


def test_what_is_not_ascii_is_kept(store: Store) -> None:
    query = "SELECT ?o { <http://example.org/zürich> <http://example.org/name> ?o }"
    assert rows(store, query, "all-of-it") == ["Zürich"]


@blazegraph
def test_blazegraph_refuses_every_write(store: Store) -> None:
    insert = b"INSERT DATA { <http://example.org/a> <http://example.org/b> 1 }"
    endpoint = store.endpoint("people")
    base = f"http://{HOST}:{store.port}/blazegraph/namespace"
    for url, content_type in (
        (endpoint, "application/sparql-update"),
        (endpoint, "text/turtle"),
        (base, "text/plain"),
    ):
        assert send("POST", url, body=insert, headers={"Content-Type": content_type}).status >= 400, url
    assert send("DELETE", endpoint).status >= 400
    assert send("DELETE", f"{base}/people").status >= 400
    assert rows(store, COUNT, "people") == ["5"]


@blazegraph
def test_blazegraph_refuses_a_service_clause(store: Store) -> None:
    query = f"SELECT * {{ SERVICE <{store.endpoint('people')}> {{ ?s ?p ?o }} }}"
    assert ask(store.endpoint("all-of-it"), query).status >= 400


@rdf4j
def test_the_query_endpoint_of_rdf4j_takes_no_update(store: Store) -> None:
    insert = "INSERT DATA { <http://example.org/a> <http://example.org/b> 1 }"
    assert ask(store.endpoint("people"), insert).status == 400
    assert rows(store, COUNT, "people") == ["5"]


@each
def test_a_file_that_is_no_graph_is_refused_with_its_name(name: str, tmp_path: Path) -> None:
    broken = tmp_path / "broken.ttl"
    broken.write_text("this is no Turtle")
    try:
        with (
            pytest.raises(LoadError, match=r"broken\.ttl: [45]00"),
            RUNNING[name]({"broken": [broken]}, workdir=tmp_path),
        ):
            pytest.fail("it never ran")
    except ServerUnavailable as error:
        skip_or_fail(error)


def test_a_graph_of_which_blazegraph_loses_a_part_is_refused(tmp_path: Path) -> None:
    # One IRI to Blazegraph, by the collation of its dictionary: the second triple is the first.
    folded = tmp_path / "folded.nt"
    folded.write_text("".join(f"<urn:a> <urn:p> <urn:{name}> .\n" for name in ("caf\u00e9", "cafe\u0301")), "utf-8")
    try:
        with (
            pytest.raises(LoadError, match=r"folded: the files have Content\(links=2.*the server has .*links=1"),
            running_blazegraph({"folded": [folded]}, workdir=tmp_path),
        ):
            pytest.fail("it never ran")
    except ServerUnavailable as error:
        skip_or_fail(error)


@each
def test_it_is_gone_afterwards_with_its_database(name: str, tmp_path: Path) -> None:
    places = tmp_path / "places.nt"
    places.write_text(PLACES, encoding="utf-8")
    try:
        with RUNNING[name]({"places": [places]}, workdir=tmp_path) as server:
            assert rows(server, COUNT, "places") == ["1"]
    except ServerUnavailable as error:
        skip_or_fail(error)
    with pytest.raises(ProcessLookupError):
        os.kill(server.process.pid, 0)
    assert sorted(path.suffix for path in tmp_path.iterdir()) == [".log", ".nt"]
