import gzip
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.servers.blazegraph import BlazegraphServer, running_blazegraph
from tests.servers.loaded import LoadError
from tests.servers.loopback import HOST, ask, send
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
def blazegraph(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BlazegraphServer]:
    folder = tmp_path_factory.mktemp("graphs")
    people, places, more = folder / "people.ttl", folder / "places.nt.gz", folder / "more.nt"
    people.write_text(PEOPLE, encoding="utf-8")
    places.write_bytes(gzip.compress(PLACES.encode(), mtime=0))
    more.write_text(MORE)
    graphs = {"people": [people], "all-of-it": [people, places, more]}
    try:
        with running_blazegraph(graphs, workdir=tmp_path_factory.mktemp("blazegraph")) as server:
            yield server
    except ServerUnavailable as error:
        skip_or_fail(error)


def rows(server: BlazegraphServer, query: str, name: str) -> list[str]:
    answer = ask(server.endpoint(name), query)
    assert answer.status == 200, answer.text
    return answer.text.split()[1:]


def test_one_server_answers_for_every_namespace(blazegraph: BlazegraphServer) -> None:
    assert rows(blazegraph, COUNT, "people") == ["5"]
    assert rows(blazegraph, COUNT, "all-of-it") == ["7"]


def test_blank_nodes_of_two_files_stay_apart(blazegraph: BlazegraphServer) -> None:
    query = "SELECT (COUNT(DISTINCT ?s) AS ?n) { ?s <http://example.org/says> ?o . FILTER(isBlank(?s)) }"
    assert rows(blazegraph, query, "all-of-it") == ["2"]


def test_what_is_not_ascii_is_kept(blazegraph: BlazegraphServer) -> None:
    query = "SELECT ?o { <http://example.org/zürich> <http://example.org/name> ?o }"
    assert rows(blazegraph, query, "all-of-it") == ["Zürich"]


def test_an_insert_is_refused(blazegraph: BlazegraphServer) -> None:
    insert = b"INSERT DATA { <http://example.org/a> <http://example.org/b> 1 }"
    endpoint = blazegraph.endpoint("people")
    base = f"http://{HOST}:{blazegraph.port}/blazegraph/namespace"
    for url, content_type in (
        (endpoint, "application/sparql-update"),
        (endpoint, "text/turtle"),
        (base, "text/plain"),
    ):
        assert send("POST", url, body=insert, headers={"Content-Type": content_type}).status >= 400, url
    assert send("DELETE", endpoint).status >= 400
    assert send("DELETE", f"{base}/people").status >= 400
    assert rows(blazegraph, COUNT, "people") == ["5"]


def test_a_service_clause_is_refused(blazegraph: BlazegraphServer) -> None:
    query = f"SELECT * {{ SERVICE <{blazegraph.endpoint('people')}> {{ ?s ?p ?o }} }}"
    assert ask(blazegraph.endpoint("all-of-it"), query).status >= 400


def test_a_file_that_is_no_graph_is_refused_with_its_name(tmp_path: Path) -> None:
    broken = tmp_path / "broken.ttl"
    broken.write_text("this is no Turtle")
    try:
        with (
            pytest.raises(LoadError, match=r"broken\.ttl: [45]00"),
            running_blazegraph({"broken": [broken]}, workdir=tmp_path),
        ):
            pytest.fail("it never ran")
    except ServerUnavailable as error:
        skip_or_fail(error)


def test_a_graph_of_which_a_part_is_lost_is_refused(tmp_path: Path) -> None:
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


def test_it_is_gone_afterwards_with_its_database(tmp_path: Path) -> None:
    places = tmp_path / "places.nt"
    places.write_text(PLACES, encoding="utf-8")
    try:
        with running_blazegraph({"places": [places]}, workdir=tmp_path) as server:
            assert rows(server, COUNT, "places") == ["1"]
    except ServerUnavailable as error:
        skip_or_fail(error)
    with pytest.raises(ProcessLookupError):
        os.kill(server.process.pid, 0)
    assert sorted(path.suffix for path in tmp_path.iterdir()) == [".log", ".nt"]
