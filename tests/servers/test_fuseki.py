import gzip
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.servers.fuseki import FusekiServer, running_fuseki
from tests.servers.loaded import LoadError
from tests.servers.loopback import HOST, ask, send
from tests.servers.unavailable import ServerUnavailable, skip_or_fail

pytestmark = pytest.mark.server

PEOPLE = """\
PREFIX ex: <http://example.org/>
PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#>
PREFIX skos: <http://www.w3.org/2004/02/skos/core#>
ex:ada rdfs:label "Ada Lovelace"@en ; ex:wrote ex:notes {| ex:year 1843 |} .
ex:notes skos:altLabel "Sketch of the Analytical Engine" ;
  <https://schema.org/name> "Notes by the translator" .
_:b ex:says "hello" .
"""
PLACES = '<http://example.org/london> <http://www.w3.org/2000/01/rdf-schema#label> "London" .\n'
MORE = '_:b <http://example.org/says> "good day" .\n'
COUNT = "SELECT (COUNT(*) AS ?n) WHERE { ?s ?p ?o }"
REIFIERS = "PREFIX rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> SELECT (COUNT(*) AS ?n) { ?r rdf:reifies ?t }"
SEARCH = """
PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#>
PREFIX skos: <http://www.w3.org/2004/02/skos/core#>
PREFIX text: <http://jena.apache.org/text#>
SELECT ?s WHERE {{
  (?s ?score) text:query (rdfs:label skos:prefLabel skos:altLabel <https://schema.org/name> "{words}" 5)
}}
"""


@pytest.fixture(scope="module")
def graphs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[Path]]:
    folder = tmp_path_factory.mktemp("graphs")
    people, places, more = folder / "people.ttl", folder / "places.nt.gz", folder / "more.nt"
    people.write_text(PEOPLE)
    places.write_bytes(gzip.compress(PLACES.encode(), mtime=0))
    more.write_text(MORE)
    return {"people": [people], "all": [people, places, more]}


@pytest.fixture(scope="module")
def fuseki(graphs: dict[str, list[Path]], tmp_path_factory: pytest.TempPathFactory) -> Iterator[FusekiServer]:
    try:
        with running_fuseki(graphs, workdir=tmp_path_factory.mktemp("fuseki 6")) as server:
            yield server
    except ServerUnavailable as error:
        skip_or_fail(error)


def rows(endpoint: str, query: str) -> list[str]:
    answer = ask(endpoint, query)
    assert answer.status == 200, answer.text
    return answer.text.split()[1:]


def test_one_server_answers_for_every_dataset(fuseki: FusekiServer) -> None:
    assert rows(fuseki.endpoint("people"), COUNT) == ["7"]
    assert rows(fuseki.endpoint("all"), COUNT) == ["9"]


def test_blank_nodes_of_two_files_stay_apart(fuseki: FusekiServer) -> None:
    query = "SELECT (COUNT(DISTINCT ?s) AS ?n) { ?s <http://example.org/says> ?o }"
    assert rows(fuseki.endpoint("all"), query) == ["2"]


def test_annotated_triples_are_there(fuseki: FusekiServer) -> None:
    assert rows(fuseki.endpoint("people"), REIFIERS) == ["1"]


@pytest.mark.parametrize(
    ("words", "found"),
    [("lovelace", "ada"), ("analytical", "notes"), ("translator", "notes"), ("london", "london")],
)
def test_the_text_index_finds_labels_of_each_predicate(fuseki: FusekiServer, words: str, found: str) -> None:
    assert rows(fuseki.endpoint("all"), SEARCH.format(words=words)) == [f"http://example.org/{found}"]


def test_an_insert_is_refused(fuseki: FusekiServer) -> None:
    insert = "INSERT DATA { <http://example.org/a> <http://example.org/b> 1 }"
    assert ask(fuseki.endpoint("people"), insert).status == 400
    base = f"http://{HOST}:{fuseki.port}/people"
    for path in ("", "/update", "/data?default", "/load?default", "/sparql"):
        answer = send("POST", base + path, body=insert.encode(), headers={"Content-Type": "application/sparql-update"})
        assert 400 <= answer.status < 500, path
    assert rows(fuseki.endpoint("people"), COUNT) == ["7"]


def test_a_service_clause_is_refused(fuseki: FusekiServer) -> None:
    query = f"SELECT * {{ SERVICE <{fuseki.endpoint('all')}> {{ ?s ?p ?o }} }}"
    answer = ask(fuseki.endpoint("people"), query)
    assert answer.status == 422
    assert "SERVICE execution disabled" in answer.text


def test_a_file_that_is_no_graph_is_refused_with_its_name(tmp_path: Path) -> None:
    broken = tmp_path / "broken.ttl"
    broken.write_text("this is no Turtle")
    try:
        with (
            pytest.raises(LoadError, match=r"broken\.ttl: 400"),
            running_fuseki({"ds": [broken]}, workdir=tmp_path),
        ):
            pytest.fail("it never ran")
    except ServerUnavailable as error:
        skip_or_fail(error)


def test_fuseki_5_serves_the_same_on_an_older_java_and_is_gone_afterwards(
    graphs: dict[str, list[Path]], tmp_path: Path
) -> None:
    try:
        with running_fuseki({"people": graphs["people"]}, version="5.6.0", workdir=tmp_path) as server:
            assert rows(server.endpoint("people"), REIFIERS) == ["1"]
            assert rows(server.endpoint("people"), SEARCH.format(words="lovelace")) == ["http://example.org/ada"]
    except ServerUnavailable as error:
        skip_or_fail(error)
    with pytest.raises(ProcessLookupError):
        os.kill(server.process.pid, 0)
    assert [path.suffix for path in sorted(tmp_path.iterdir())] == [".log", ".ttl"]
