"""Every server of the tests loads the files that it is given, serves each list of them as one graph, and is then gone.

What one of them alone does, or refuses, comes after that.
"""

import gzip
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pytest

from tests.blank_nodes import served_graphs
from tests.servers.blazegraph import BlazegraphServer, running_blazegraph
from tests.servers.fuseki import FusekiServer, running_fuseki
from tests.servers.loaded import LoadError
from tests.servers.loopback import HOST, ask, send
from tests.servers.oxigraph import OxigraphLoadError, OxigraphServer, running_oxigraph
from tests.servers.rdf4j import Rdf4jServer, running_rdf4j
from tests.servers.unavailable import ServerUnavailable, skip_or_fail
from tests.servers.virtuoso import VirtuosoServer, running_virtuoso

pytestmark = pytest.mark.server

EX: Final = "http://example.org/"
PEOPLE = """\
@prefix ex: <http://example.org/> .
ex:ada ex:wrote ex:notes ; ex:name "Ada Lovelace"@en, "アダ"@ja ; ex:age 36 .
ex:café ex:says "it's" ; ex:has [ ex:says "hello" ] .
"""
PLACES = f'<{EX}zürich> <{EX}name> "Zürich" .\n'
MORE = f'_:b <{EX}says> "good day" .\n'
LABELLED = f"""\
PREFIX ex: <{EX}>
PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#>
PREFIX skos: <http://www.w3.org/2004/02/skos/core#>
ex:ada rdfs:label "Ada Lovelace"@en ; ex:wrote ex:notes {{| ex:year 1843 |}} .
ex:notes skos:altLabel "Sketch of the Analytical Engine" ;
  <https://schema.org/name> "Notes by the translator" .
"""
LONDON = f'<{EX}london> <http://www.w3.org/2000/01/rdf-schema#label> "London" .\n'
AGES = f'<{EX}ada> <{EX}age> 36, "036"^^<http://www.w3.org/2001/XMLSchema#integer> .\n'
MANY = "".join(f"<{EX}n> <{EX}p> <{EX}{number}> .\n" for number in range(10_001))

COUNT = "SELECT (COUNT(*) AS ?n) WHERE { ?s ?p ?o }"
INSERT = f"INSERT DATA {{ <{EX}a> <{EX}b> 1 }}"
REIFIERS = "PREFIX rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> SELECT (COUNT(*) AS ?n) { ?r rdf:reifies ?t }"
SEARCH = """
PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#>
PREFIX skos: <http://www.w3.org/2004/02/skos/core#>
PREFIX text: <http://jena.apache.org/text#>
SELECT ?s WHERE {{
  (?s ?score) text:query (rdfs:label skos:prefLabel skos:altLabel <https://schema.org/name> "{words}" 5)
}}
"""

Server = BlazegraphServer | FusekiServer | OxigraphServer | Rdf4jServer | VirtuosoServer
Files = Mapping[str, Sequence[Path]]


@dataclass(frozen=True)
class Loaded:
    """A server with graphs."""

    server: Server

    def rows(self, query: str, graph: str) -> list[str]:
        """Return the values of the rows of an answer, without the names of the variables."""
        if isinstance(self.server, VirtuosoServer):
            answer = ask(self.server.endpoint, query, graph=f"urn:{graph}")
        else:
            answer = ask(self.endpoint(graph), query)
        assert answer.status == 200, answer.text
        return answer.text.split()[1:]

    def endpoint(self, graph: str) -> str:
        """Return the URL of a graph."""
        if isinstance(self.server, OxigraphServer | VirtuosoServer):
            return self.server.endpoint
        return self.server.endpoint(graph)


def _virtuoso(files: Files, workdir: Path) -> AbstractContextManager[Server]:
    return running_virtuoso({f"urn:{graph}": paths for graph, paths in files.items()}, workdir=workdir)


def _oxigraph(files: Files, workdir: Path) -> AbstractContextManager[Server]:
    """Start it with the last of the graphs: it serves one."""
    return running_oxigraph([*files.values()][-1], workdir=workdir)


RUNNING: Final[Mapping[str, Callable[[Files, Path], AbstractContextManager[Server]]]] = {
    "blazegraph": lambda files, workdir: running_blazegraph(files, workdir=workdir),
    "fuseki": lambda files, workdir: running_fuseki(files, workdir=workdir),
    "fuseki 5": lambda files, workdir: running_fuseki(files, version="5.6.0", workdir=workdir),
    "oxigraph": _oxigraph,
    "rdf4j": lambda files, workdir: running_rdf4j(files, workdir=workdir),
    "virtuoso": _virtuoso,
}
REFUSAL: Final = {"blazegraph": "[45]00", "fuseki": "400", "rdf4j": "[45]00", "virtuoso": ".*Error"}
"""What is said of a file that is no graph; Oxigraph has an error of its own."""

ONLY: Final = {name: pytest.mark.parametrize("loaded", [name], indirect=True) for name in RUNNING}
OF_SEVERAL_GRAPHS: Final = [name for name in RUNNING if name != "oxigraph"]


@contextmanager
def running(name: str, files: Files, workdir: Path) -> Iterator[Loaded]:
    """Run a server, or skip the test where this machine cannot."""
    try:
        with RUNNING[name](files, workdir) as server:
            yield Loaded(server)
    except ServerUnavailable as error:
        skip_or_fail(error)


@pytest.fixture(scope="module", params=RUNNING)
def loaded(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Loaded]:
    """Run each server; those that know RDF 1.2 or have a row cap have a graph that shows it."""
    folder = tmp_path_factory.mktemp("it's a graph")
    texts = {"people.ttl": PEOPLE, "more.nt": MORE, "labelled.ttl": LABELLED, "london.nt": LONDON}
    texts |= {"many.nt": MANY, "ages.ttl": AGES}
    for file, text in texts.items():
        (folder / file).write_text(text, encoding="utf-8")
    (folder / "places.nt.gz").write_bytes(gzip.compress(PLACES.encode(), mtime=0))
    graphs = {"people": ["people.ttl"], "all-of-it": ["people.ttl", "places.nt.gz", "more.nt"]}
    if request.param.startswith("fuseki"):
        graphs["labelled"] = ["labelled.ttl", "london.nt"]
    if request.param == "virtuoso":
        graphs |= {"many": ["many.nt"], "ages": ["ages.ttl"]}
    files = {graph: [folder / file for file in names] for graph, names in graphs.items()}
    with running(request.param, files, tmp_path_factory.mktemp("a server")) as server:
        yield server


# Each of them


@pytest.mark.parametrize("loaded", OF_SEVERAL_GRAPHS, indirect=True)
def test_one_server_answers_for_each_list_of_files(loaded: Loaded) -> None:
    assert loaded.rows(COUNT, "people") == ["7"]
    assert loaded.rows(COUNT, "all-of-it") == ["9"]


def test_all_of_several_files_is_there_and_what_is_not_ascii_is_kept(loaded: Loaded) -> None:
    assert loaded.rows(COUNT, "all-of-it") == ["9"]
    assert loaded.rows(f"SELECT ?o {{ <{EX}zürich> <{EX}name> ?o }}", "all-of-it") in (["Zürich"], ['"Zürich"'])
    japanese = f'SELECT ?o {{ ?s <{EX}name> ?o . FILTER(LANG(?o) = "ja") }}'
    assert loaded.rows(japanese, "all-of-it") in (["アダ"], ['"アダ"'])


def test_blank_nodes_of_two_files_stay_apart(loaded: Loaded) -> None:
    query = f"SELECT (COUNT(DISTINCT ?s) AS ?n) {{ ?s <{EX}says> ?o . FILTER(isBlank(?s)) }}"
    assert loaded.rows(query, "all-of-it") == ["2"]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        *((name, "this is no Turtle") for name in RUNNING if name != "fuseki 5"),
        ("virtuoso", "<urn:a> <urn:p> <urn:b> .\n<urn:a> <urn:p> \n"),
    ],
)
def test_a_file_that_is_no_graph_is_refused_with_its_name(name: str, content: str, tmp_path: Path) -> None:
    broken = tmp_path / "broken.ttl"
    broken.write_text(content, encoding="utf-8")
    refused = (
        pytest.raises(OxigraphLoadError)
        if name == "oxigraph"
        else pytest.raises(LoadError, match=rf"broken\.ttl: {REFUSAL[name]}")
    )
    with refused, running(name, {"broken": [broken]}, tmp_path):
        pytest.fail("it never ran")


@pytest.mark.parametrize("name", RUNNING)
def test_a_server_is_gone_afterwards_with_its_database(name: str, tmp_path: Path) -> None:
    places = tmp_path / "places.nt"
    places.write_text(PLACES, encoding="utf-8")
    with running(name, {"places": [places]}, tmp_path) as loaded:
        assert loaded.rows(COUNT, "places") == ["1"]
    with pytest.raises(ProcessLookupError):
        os.kill(loaded.server.process.pid, 0)
    # Fuseki leaves its configuration.
    left = [".log", ".nt", *([".ttl"] if "fuseki" in name else [])]
    assert sorted(path.suffix for path in tmp_path.iterdir()) == left


# Fuseki


on_both_fusekis = pytest.mark.parametrize("loaded", ["fuseki", "fuseki 5"], indirect=True)


@on_both_fusekis
def test_fuseki_has_annotated_triples(loaded: Loaded) -> None:
    assert loaded.rows(REIFIERS, "labelled") == ["1"]


@on_both_fusekis
@pytest.mark.parametrize(
    ("words", "found"), [("lovelace", "ada"), ("analytical", "notes"), ("translator", "notes"), ("london", "london")]
)
def test_the_text_index_of_fuseki_finds_labels_of_each_predicate(loaded: Loaded, words: str, found: str) -> None:
    assert loaded.rows(SEARCH.format(words=words), "labelled") == [f"{EX}{found}"]


@ONLY["fuseki"]
def test_fuseki_refuses_every_write(loaded: Loaded) -> None:
    assert ask(loaded.endpoint("people"), INSERT).status == 400
    base = f"http://{HOST}:{loaded.server.port}/people"
    for path in ("", "/update", "/data?default", "/load?default", "/sparql"):
        answer = send("POST", base + path, body=INSERT.encode(), headers={"Content-Type": "application/sparql-update"})
        assert 400 <= answer.status < 500, path
    assert loaded.rows(COUNT, "people") == ["7"]


@ONLY["fuseki"]
def test_fuseki_refuses_a_service_clause(loaded: Loaded) -> None:
    query = f"SELECT * {{ SERVICE <{loaded.endpoint('all-of-it')}> {{ ?s ?p ?o }} }}"
    answer = ask(loaded.endpoint("people"), query)
    assert answer.status == 422
    assert "SERVICE execution disabled" in answer.text


# Virtuoso


@ONLY["virtuoso"]
def test_a_graph_that_virtuoso_does_not_have_is_empty(loaded: Loaded) -> None:
    assert loaded.rows(COUNT, "nothing") == ["0"]


@ONLY["virtuoso"]
def test_two_forms_of_a_number_are_one_to_virtuoso_and_nothing_is_taken_for_lost(loaded: Loaded) -> None:
    assert loaded.rows(COUNT, "ages") == ["1"]


@ONLY["virtuoso"]
def test_the_row_cap_of_the_distribution_of_virtuoso_is_on(loaded: Loaded) -> None:
    assert loaded.rows(COUNT, "many") == ["10001"]
    assert len(loaded.rows("SELECT ?o { ?s ?p ?o }", "many")) == 10_000


@ONLY["virtuoso"]
def test_virtuoso_refuses_every_write(loaded: Loaded) -> None:
    insert = f"INSERT DATA {{ GRAPH <urn:people> {{ <{EX}a> <{EX}b> 1 }} }}"
    assert ask(loaded.endpoint("people"), insert).status >= 400
    url = f"http://{HOST}:{loaded.server.port}/sparql-graph-crud?graph=urn:people"
    assert send("PUT", url, body=MORE.encode(), headers={"Content-Type": "text/turtle"}).status >= 400
    assert loaded.rows(COUNT, "people") == ["7"]


# Blazegraph, RDF4J and Oxigraph


@ONLY["blazegraph"]
def test_blazegraph_refuses_every_write(loaded: Loaded) -> None:
    endpoint = loaded.endpoint("people")
    base = f"http://{HOST}:{loaded.server.port}/blazegraph/namespace"
    for url, content_type in (
        (endpoint, "application/sparql-update"),
        (endpoint, "text/turtle"),
        (base, "text/plain"),
    ):
        answer = send("POST", url, body=INSERT.encode(), headers={"Content-Type": content_type})
        assert answer.status >= 400, url
    assert send("DELETE", endpoint).status >= 400
    assert send("DELETE", f"{base}/people").status >= 400
    assert loaded.rows(COUNT, "people") == ["7"]


@ONLY["blazegraph"]
def test_blazegraph_refuses_a_service_clause(loaded: Loaded) -> None:
    query = f"SELECT * {{ SERVICE <{loaded.endpoint('people')}> {{ ?s ?p ?o }} }}"
    assert ask(loaded.endpoint("all-of-it"), query).status >= 400


def test_a_graph_of_which_blazegraph_loses_a_part_is_refused(tmp_path: Path) -> None:
    # One IRI to Blazegraph, by the collation of its dictionary: the second triple is the first.
    folded = tmp_path / "folded.nt"
    folded.write_text("".join(f"<urn:a> <urn:p> <urn:{name}> .\n" for name in ("caf\u00e9", "cafe\u0301")), "utf-8")
    with (
        pytest.raises(LoadError, match=r"folded: the files have Content\(links=2.*the server has .*links=1"),
        running("blazegraph", {"folded": [folded]}, tmp_path),
    ):
        pytest.fail("it never ran")


@ONLY["rdf4j"]
def test_the_query_endpoint_of_rdf4j_takes_no_update(loaded: Loaded) -> None:
    assert ask(loaded.endpoint("people"), INSERT).status == 400
    assert loaded.rows(COUNT, "people") == ["7"]


def test_oxigraph_serves_an_empty_graph(tmp_path: Path) -> None:
    with running("oxigraph", {"nothing": []}, tmp_path) as loaded:
        answer = ask(loaded.endpoint("nothing"), "SELECT ?s ?p ?o { ?s ?p ?o }")
    assert (answer.status, answer.text.split()) == (200, ["s,p,o"])


def test_the_graphs_with_blank_nodes_are_the_same_at_each_run_so_that_they_are_loaded_once() -> None:
    texts = dict(served_graphs.texts())
    assert texts == dict(served_graphs.texts())
    for name, graph in served_graphs.DRAWN.items():
        # In what order the triples are drawn from sets is another at each run, and so may the labels be.
        lines = graph.as_ntriples().replace("_:", "_:other").splitlines(keepends=True)
        assert served_graphs.as_ntriples("".join(reversed(lines))) == texts[f"{name}.nt"]
