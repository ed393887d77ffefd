"""The command `sparql` at endpoints: what is sent, and what is said of an answer's end."""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pyoxigraph
import pytest
from aiohttp import web

from tests.cases import check_each
from tests.check.pretender import EX, GRAPH
from tests.cli.conftest import Run
from tests.cli.test_check import serving
from tests.servers.oxigraph import running_oxigraph
from tests.transport.fake_endpoint import JSON, answering

pytestmark = pytest.mark.process

DRUGS = f"SELECT ?d ?l {{ ?d a <{EX}Drug> ; <http://www.w3.org/2000/01/rdf-schema#label> ?l }} ORDER BY DESC(?l)"
FROM_A_GRAPH = f"SELECT * FROM <{EX}h> {{ ?s ?p ?o }}"  # noqa: S608 - it is SPARQL
NT = "application/n-triples"

SENT = re.compile(r"^[0-9]+\. [a-z0-9_/]+  [0-9,]+ rows?, .*$", re.MULTILINE)
"""The line above a query that `--explain` prints."""

Twist = Callable[[str, bytes], web.Response | None]
"""What is sent in the place of an answer to a query."""


class Engine:
    """Answers as an engine does, but for what a test changes, and keeps what it was asked.

    Attributes:
        seconds: The time limit of each query; empty where it had none.
    """

    def __init__(self, twist: Twist = lambda _query, _body: None, headers: Mapping[str, str] | None = None) -> None:
        self.store = pyoxigraph.Store()
        self.store.load(GRAPH.encode(), pyoxigraph.RdfFormat.TURTLE)
        self.asked: list[str] = []
        self.graphs: list[list[str]] = []
        self.seconds: list[str] = []
        self._twist = twist
        self._headers = headers

    async def __call__(self, request: web.BaseRequest) -> web.StreamResponse:
        """Answer a form; what is no query is what finds out which engine this is."""
        if request.method == "GET":
            return web.Response(status=404, headers=self._headers)
        form = await request.post()
        query = str(form["query"])
        self.asked.append(query)
        self.seconds.append(str(form.get("timeout", "")))
        self.graphs.append([str(graph) for graph in form.getall("default-graph-uri", [])])
        try:
            found = self.store.query(query)
        except SyntaxError:
            return web.Response(status=400, text="it is refused")
        if isinstance(found, pyoxigraph.QueryTriples):
            content, kind = found.serialize(format=pyoxigraph.RdfFormat.N_TRIPLES), NT
        else:
            content, kind = found.serialize(format=pyoxigraph.QueryResultsFormat.JSON), JSON
        body = content or b""
        return self._twist(query, body) or web.Response(body=body, content_type=kind)


def is_count(query: str) -> bool:
    return "bfsqlCount" in query


def cut(query: str, body: bytes) -> web.Response | None:
    """Send the first row only, as a server with a row cap does without a word."""
    if is_count(query):
        return None
    content = json.loads(body)
    content["results"]["bindings"] = content["results"]["bindings"][:1]
    return web.Response(body=json.dumps(content).encode(), content_type=JSON)


def test_an_engine_that_takes_a_time_limit_is_told_for_how_long_somebody_waits(run: Run) -> None:
    fuseki, other = Engine(headers={"Fuseki-Request-Id": "1"}), Engine()
    for engine in (fuseki, other):
        with serving(engine) as url:
            assert run("sparql", DRUGS, "-e", url, "--timeout", 20).err == "2 rows, complete.\n"
    assert [0 < float(seconds) <= 20 for seconds in fuseki.seconds] == [True, True]
    assert other.seconds == ["", ""]


def test_a_query_is_sent_as_it_is_and_its_rows_are_counted(run: Run) -> None:
    engine = Engine()
    with serving(engine) as url:
        ran = run("sparql", DRUGS, "-e", url)
    assert ran.out == f'?d\t?l\n<{EX}a>\t"Warfarin sodium"@en\n<{EX}b>\t"Aspirin"\n'
    assert ran.err == "2 rows, complete.\n"
    assert engine.asked[0] == DRUGS
    assert [is_count(query) for query in engine.asked] == [False, True]


def test_an_answer_that_is_cut_without_a_word_is_told_as_not_complete(run: Run) -> None:
    with serving(Engine(cut)) as url:
        ran = run("sparql", DRUGS, "-e", url)
        shown = run("sparql", DRUGS, "-e", url, "--text")
    assert ran.err == "1 row; not complete: the endpoint counts 2 rows.\n"
    assert "1 row; not complete: the endpoint counts 2 rows." in shown.out


def test_an_answer_that_breaks_off_is_an_error(run: Run) -> None:
    with serving(Engine(lambda _, body: web.Response(body=body[:-30], content_type=JSON))) as url:
        ran = run("sparql", DRUGS, "-e", url)
    assert (ran.status, ran.out) == (2, "")
    assert "it broke off" in ran.err


@pytest.mark.parametrize(
    ("response", "said"),
    [
        ({"status": 500, "text": "no"}, "its rows could not be counted: The endpoint failed with HTTP status 500."),
        ({"body": b'{"head":{"vars":["count"]},"results":{"bindings":[]}}', "content_type": JSON}, "not be counted"),
    ],
)
def test_an_end_that_is_not_proven_is_told_so(run: Run, response: dict[str, object], said: str) -> None:
    def twist(query: str, _: bytes) -> web.Response | None:
        return web.Response(**response) if is_count(query) else None  # type: ignore[arg-type]

    with serving(Engine(twist)) as url:
        ran = run("sparql", DRUGS, "-e", url)
    assert ran.status == 0
    assert "2 rows; whether these are all is not proven: " in ran.err
    assert said in ran.err


def test_what_is_true_needs_no_proof_and_a_graph_has_none(run: Run) -> None:
    engine = Engine()
    with serving(engine) as url:
        ask = run("sparql", "ASK { ?s ?p ?o }", "-e", url)
        graph = run("sparql", f"DESCRIBE <{EX}b>", "-e", url, "-f", "ntriples")
        few = run("sparql", f"DESCRIBE <{EX}b>", "-e", url, "--limit", 1)
    assert (ask.out, ask.err) == ("true\n", "")
    assert graph.out.count(" .\n") == 3
    assert "3 triples; whether these are all is not proven: no engine counts" in graph.err
    assert "The first 1 triple; there are more" in few.err
    assert len(engine.asked) == 3


def test_a_graph_that_comes_as_turtle_alone_is_read_and_one_that_breaks_off_is_an_error(run: Run) -> None:
    def as_turtle(_query: str, _body: bytes) -> web.Response:
        return web.Response(body=b"@prefix x: <http://x/> . x:a x:p x:b .\n", content_type="text/turtle")

    with serving(Engine(as_turtle)) as url:
        ran = run("sparql", f"DESCRIBE <{EX}b>", "-e", url, "-f", "ntriples")
    assert ran.out == "<http://x/a> <http://x/p> <http://x/b> .\n"
    with serving(Engine(lambda _, body: web.Response(body=body[:-4], content_type=NT))) as url:
        broken = run("sparql", f"DESCRIBE <{EX}b>", "-e", url, "-f", "ntriples")
    assert broken.status == 2
    assert "The answer is no whole RDF" in broken.err


def test_prefixes_of_the_profile_are_declared_in_what_is_sent(run: Run) -> None:
    engine = Engine()
    with serving(engine) as url:
        ran = run("sparql", "SELECT ?d { ?d a ex:Drug }", "-e", url, "--prefix", f"ex={EX}", "--text")
    assert "ex:a" in ran.out
    assert engine.asked[0] == f"PREFIX ex: <{EX}>\nSELECT ?d {{ ?d a ex:Drug }}"


def test_the_graphs_of_the_profile_are_asked_unless_the_query_names_some(run: Run, tmp_path: Path) -> None:
    engine, profile = Engine(), tmp_path / "profile.toml"
    with serving(engine) as url:
        profile.write_text(f'[endpoint]\nurl = "{url}"\ngraphs = ["{EX}g"]\n')
        assert run("sparql", "SELECT * { ?s ?p ?o }", "-p", profile).status == 0
        own = run("sparql", FROM_A_GRAPH, "-p", profile)
        named = run("sparql", "SELECT * { GRAPH ?g { ?s ?p ?o } }", "-p", profile)
    assert engine.graphs == [[f"{EX}g"], [f"{EX}g"], []]
    assert "a query with FROM cannot be counted" in own.err
    assert named.status == 2
    assert "GRAPH finds none" in named.err


def test_what_is_refused_is_not_sent_and_what_an_endpoint_refuses_is_shown(run: Run) -> None:
    engine = Engine()
    with serving(engine) as url:
        for query in ("DELETE WHERE { ?s ?p ?o }", "SELECT * { SERVICE <http://127.0.0.1:9/> { ?s ?p ?o } }", "SELECT"):
            assert run("sparql", query, "-e", url).status == 2
        assert engine.asked == []
        hidden = run("sparql", r'SELECT * { ?s ?p "\u0022" }', "-e", url)
        assert r"written as \u and its number" in hidden.err
    with serving(answering(b"Query: <\x1b[2J too hard for me", status=400, content_type="text/plain")) as url:
        refused = run("sparql", DRUGS, "-e", url)
    assert refused.status == 2
    assert "The endpoint refused a query." in refused.err
    assert "\x1b" not in refused.err


def test_other_endpoints_are_asked_where_that_is_allowed(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "own.ttl"
    path.write_text(f"<{EX}a> <{EX}own> 1 .\n")
    answer = b'{"head":{"vars":["d"]},"results":{"bindings":[{"d":{"type":"uri","value":"http://example.org/a"}}]}}'
    with serving(answering(answer)) as url:
        query = f"SELECT ?d ?n {{ SERVICE <{url}> {{ ?d a <{EX}Drug> }} ?d <{EX}own> ?n }}"
        ran = run("sparql", query, "-g", path, "--allow-service", "-f", "csv")
        assert run("sparql", query, "-g", path).status == 2
    assert ran.out == f"d,n\r\n{EX}a,1\r\n"
    assert "other endpoints were asked" in ran.err


@pytest.fixture(scope="module")
def oxigraph(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("oxigraph")
    path = folder / "graph.ttl"
    path.write_text(GRAPH, encoding="utf-8")
    with running_oxigraph([path], workdir=folder) as server:
        yield server.endpoint


@pytest.mark.server
@pytest.mark.parametrize(
    "command",
    [("bfs", f"{EX}a", "--hops", "2"), ("describe", f"{EX}a"), ("search", "aspirin"), ("schema", "--whole")],
)
def test_every_query_that_a_command_explains_runs_as_it_is(
    run: Run, oxigraph: str, tmp_path: Path, command: tuple[str, ...]
) -> None:
    place = ("-e", oxigraph, "--store", tmp_path)
    explained = run(*command, *place, "--tsv", "--explain").err
    queries = {text.strip() for text in SENT.split(explained)[1:]}
    assert queries
    for query in sorted(queries):
        ran = run("sparql", query, *place)
        assert ran.status == 0, ran.err
        assert "complete." in ran.err


def test_rows_are_counted_whatever_the_query_is_written_like(run: Run) -> None:
    queries = [
        f"# before\nPREFIX x: <{EX}>\nBASE <{EX}> # behind\nSELECT ?s {{ ?s a x:Drug, <Drug> }} # the end",
        'SELECT ?t { VALUES ?t { """two\n  lines""" } FILTER(STRLEN(?t) = 11) }',
        f"SELECT ?end ?count {{ ?end a ?count }} ORDER BY ?end LIMIT 2 VALUES ?count {{ <{EX}Drug> }}",
        "SELECT DISTINCT * { ?s ?p ?o OPTIONAL { ?s ?q ?none FILTER(false) } }",
        "SELECT (COUNT(*) AS ?bfsqlCounted) { ?s ?p ?o } GROUP BY ?s HAVING (COUNT(*) > 1)",
        "SELECT * {}",
        "SELECT * { ?s ?p 'none' }",
        "SELECT ?s { { SELECT ?s { ?s ?p ?o } LIMIT 3 } }\r\n#\r\n",
    ]

    def is_complete(query: str) -> None:
        ran = run("sparql", query, "-e", url)
        assert ran.status == 0, ran.err
        assert ran.err.endswith("complete.\n")
        assert "not complete" not in ran.err

    with serving(Engine()) as url:
        check_each(queries, is_complete)
