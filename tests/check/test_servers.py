"""Every field that a check claims of a real server, against how that server was started, with and without its name."""

import json
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pyoxigraph
import pytest

from gateway import resources
from gateway.api import open_gateway
from gateway.check.check import check_endpoint, check_graph
from gateway.check.report import Report
from gateway.errors import GatewayError
from gateway.settings.endpoint import EndpointSettings, Sentinel
from gateway.settings.profile import Profile
from gateway.stores.endpoints import connect
from gateway.stores.loaded import load
from gateway.tools.gateway import Gateway
from tests.columns import Column
from tests.faults.catalogue import BY_SENTINEL, InjectedFault
from tests.faults.proxy import each, fault_proxy
from tests.faults.reply import Answer
from tests.servers.blazegraph import running_blazegraph
from tests.servers.command import fuseki_command
from tests.servers.engines import ColumnName
from tests.servers.fuseki import running_fuseki
from tests.servers.loopback import HOST, free_port
from tests.servers.oxigraph import running_oxigraph
from tests.servers.process import running
from tests.servers.unavailable import ServerUnavailable, skip_or_fail
from tests.servers.virtuoso import running_virtuoso

pytestmark = pytest.mark.anyio

EX = "http://example.org/"
WORDS = ("warfarin", "aspirin", "metformin", "glibenclamide", "amiodarone", "fluconazole")
LINES = [
    f"<{EX}{word}> {rest} ."
    for number, word in enumerate(WORDS)
    for rest in (
        f"<http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <{EX}Drug>",
        f'<http://www.w3.org/2000/01/rdf-schema#label> "{word} sodium"@en',
        f"<{EX}p> <{EX}{WORDS[(number + 1) % len(WORDS)]}>",
        f"<{EX}q> <{EX}{WORDS[(number + 3) % len(WORDS)]}>",
    )
]
MANY = [f"<{EX}hub> <{EX}p> <{EX}{number}> ." for number in range(10_050)]
GRAPH = [*LINES, *MANY]

_PATIENCE = 60.0
"""Seconds for one probe: what is slow on a machine that runs other tests is no fault of a server."""

UNTOLD = "the engine does not publish it, and only a query that exceeds it would show it"


@dataclass(frozen=True)
class Checked:
    """A check of a server.

    Attributes:
        report: What it found out.
        url: The endpoint.
    """

    report: Report
    url: str

    def values(self) -> dict[str, Any]:
        """Return the claims: a value, `at least` a value, or None where it is not determined."""
        return {
            name: f"at least {claim.value}" if claim.at_least else claim.value
            for name, claim in self.report.claims.by_name().items()
        }


async def checked(url: str, profile: Profile | None = None) -> Checked:
    settings = profile or Profile()
    http = connect(url, settings)
    try:
        return Checked(await check_endpoint(http, settings, seconds_each=_PATIENCE), url)
    finally:
        await http.close()


@pytest.fixture(scope="module")
def graph(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("graph") / "graph.nt"
    path.write_text("".join(f"{line}\n" for line in GRAPH))
    return path


@pytest.fixture
def servers() -> Iterator[ExitStack]:
    with ExitStack() as stack:
        try:
            yield stack
        except ServerUnavailable as error:
            skip_or_fail(error)


def snippet(report: Report) -> Profile:
    return Profile.model_validate_json(json.dumps(tomllib.loads(report.settings)))


def agrees_everywhere(report: Report) -> bool:
    """Tell whether the edges and types of three nodes and the number of triples were compared, and are the same."""
    return report.agrees and [one.not_compared for one in report.comparisons] == [""] * 7


@pytest.mark.server
@pytest.mark.parametrize("version", ["6.2.0", "5.6.0"])
async def test_fuseki_with_a_text_index(version: str, graph: Path, tmp_path: Path) -> None:
    try:
        with running_fuseki({"ds": [graph]}, version=version, workdir=tmp_path) as server:
            found = await checked(server.endpoint("ds"))
    except ServerUnavailable as error:
        skip_or_fail(error)
    assert found.values() == {
        "engine": "fuseki",
        "version": version,
        "post": True,
        "get": True,
        "row_cap": "at least 50001",
        "sentinel": "united",
        "format": "TSV",
        "time_limit": None,
        "deadline": "form parameter timeout, in seconds",
        "lateral": True,
        "rdf_1_2": True,
        "text_search": "text:query",
        "named_graphs": 0,
        "union_default_graph": None,
        "triples": len(GRAPH),
        "blank_nodes": "none",
        "names": "rdfs:label",
    }
    assert found.report.claims.time_limit.why == UNTOLD
    assert agrees_everywhere(found.report)
    assert snippet(found.report).endpoint == EndpointSettings(url=found.url, engine="fuseki", lateral=True)


QUADS = "".join(f"{line[:-2]} <{EX}graph/{number % 2}> .\n" for number, line in enumerate(LINES))
PLAIN = """
PREFIX fuseki: <http://jena.apache.org/fuseki#>
PREFIX ja: <http://jena.hpl.hp.com/2005/11/Assembler#>
PREFIX tdb2: <http://jena.apache.org/2016/tdb#>
<#own> a fuseki:Service ; fuseki:name "own" ; fuseki:dataset <#memory> ;
  fuseki:endpoint [ fuseki:operation fuseki:query ; fuseki:name "sparql" ] .
<#memory> a ja:MemoryDataset ; ja:data <QUADS> .
"""


@pytest.mark.server
async def test_fuseki_without_a_text_index_and_with_all_triples_in_named_graphs(tmp_path: Path) -> None:
    quads, config, port = tmp_path / "quads.nq", tmp_path / "plain.ttl", free_port()
    quads.write_text(QUADS)
    config.write_text(PLAIN.replace("QUADS", quads.as_uri()))
    url = f"http://{HOST}:{port}/own/sparql"
    try:
        command = fuseki_command("6.2.0", port=port, config=config)
        with running(command, ready_url=f"http://{HOST}:{port}/$/ping", log=tmp_path / "log", cwd=tmp_path):
            found = await checked(url)
            union = await checked(url, Profile(endpoint=EndpointSettings(graphs="union")))
            both = await checked(url, Profile(endpoint=EndpointSettings(graphs=(f"{EX}graph/1", f"{EX}graph/0"))))
            one = await checked(url, Profile(endpoint=EndpointSettings(graphs=(f"{EX}graph/1",))))
    except ServerUnavailable as error:
        skip_or_fail(error)
    values = found.values()
    assert (values["named_graphs"], values["union_default_graph"], values["triples"]) == (2, False, 0)
    # Without a name in the graph that is asked there is no word to search for.
    assert values["text_search"] is None
    assert "The queried graph is empty; the triples are in named graphs." in found.report.warnings
    assert snippet(found.report).endpoint.graphs == "union"
    assert union.values()["triples"] == len(LINES)
    assert union.values()["text_search"] is False
    assert agrees_everywhere(union.report)
    assert one.values()["triples"] == len(LINES) / 2
    assert one.values()["named_graphs"] == 2
    assert both.values()["triples"] == len(LINES)
    assert snippet(one.report).endpoint.graphs == (f"{EX}graph/1",)


@pytest.mark.server
async def test_oxigraph(graph: Path, tmp_path: Path) -> None:
    try:
        with running_oxigraph([graph], workdir=tmp_path) as server:
            found = await checked(server.endpoint)
    except ServerUnavailable as error:
        skip_or_fail(error)
    values = found.values()
    assert str(values.pop("version")).startswith("0.5.")
    assert values == {
        "engine": "oxigraph",
        "post": True,
        "get": True,
        "row_cap": "at least 50001",
        "sentinel": "sorted",
        "format": "JSON",
        "time_limit": None,
        "deadline": "none is sent",
        "lateral": True,
        "rdf_1_2": True,
        "text_search": None,
        "named_graphs": 0,
        "union_default_graph": None,
        "triples": len(GRAPH),
        "blank_nodes": "none",
        "names": "rdfs:label",
    }
    assert agrees_everywhere(found.report)
    assert snippet(found.report).endpoint == EndpointSettings(url=found.url, engine="oxigraph", lateral=True)


@pytest.mark.server
async def test_the_named_graphs_of_an_oxigraph_whose_default_graph_is_empty_are_printed(tmp_path: Path) -> None:
    quads = tmp_path / "quads.nq"
    # No object is an IRI, so no triple can be looked for in the default graph.
    quads.write_text("".join(f'<{EX}a> <{EX}p> "text" <{EX}graph/{number}> .\n' for number in (0, 1)))
    try:
        with running_oxigraph([quads], workdir=tmp_path) as server:
            found = await checked(server.endpoint)
            async with open_gateway(endpoint=server.endpoint) as gateway:
                schema = await gateway.describe_schema()
            async with open_gateway(endpoint=server.endpoint, profile=snippet(found.report)) as gateway:
                there = await gateway.describe_entity(f"{EX}a")
    except ServerUnavailable as error:
        skip_or_fail(error)
    assert "The queried graph is empty; the triples are in named graphs." in found.report.warnings
    assert snippet(found.report).endpoint.graphs == (f"{EX}graph/0", f"{EX}graph/1")
    assert schema.comprehensive is False
    assert "the endpoint has triples in named graphs" in (schema.warnings or [""])[0]
    assert there.complete


@pytest.mark.server
async def test_a_triple_that_is_in_two_of_the_graphs_is_counted_once(tmp_path: Path) -> None:
    quads = tmp_path / "quads.nq"
    quads.write_text("".join(f"{line[:-2]} <{EX}graph/{number}> .\n" for line in LINES for number in (0, 1)))
    try:
        with running_oxigraph([quads], workdir=tmp_path) as server:
            both = await checked(
                server.endpoint, Profile(endpoint=EndpointSettings(graphs=(f"{EX}graph/0", f"{EX}graph/1")))
            )
    except ServerUnavailable as error:
        skip_or_fail(error)
    values = both.values()
    assert (values["named_graphs"], values["union_default_graph"], values["triples"]) == (2, False, len(LINES))
    assert agrees_everywhere(both.report)


BLANK = f"""@prefix x: <{EX}> .
x:a x:p [ a x:T ; x:v 1 ] , [ a x:T ; x:v 2 ] , [ a x:U ; x:q x:b ] ; x:q x:b . x:b x:q x:a , x:c ."""


@pytest.mark.server
async def test_what_share_of_the_edges_at_servers_has_a_blank_node(tmp_path: Path) -> None:
    path = tmp_path / "blank.ttl"
    path.write_text(BLANK, encoding="utf-8")
    profile = Profile(prefixes={"x": EX})
    try:
        with running_oxigraph([path], workdir=tmp_path) as oxigraph:
            of_oxigraph = await checked(oxigraph.endpoint, profile)
        with running_fuseki({"ds": [path]}, workdir=tmp_path) as fuseki:
            of_fuseki = await checked(fuseki.endpoint("ds"), profile)
    except ServerUnavailable as error:
        skip_or_fail(error)
    for found in (of_oxigraph, of_fuseki):
        claim = found.report.claims.blank_nodes
        assert claim.value == "57 % of the edges"
        share, _, lead_back = claim.why.rpartition("; ")
        assert share == "4 of 7 have one at an end; there are 3 blank nodes; most are of the types x:T (2), x:U (1)"
        assert lead_back == "they can be asked for again, so that traversals follow them"


async def test_what_share_of_the_edges_in_this_process_has_a_blank_node(tmp_path: Path) -> None:
    path = tmp_path / "blank.ttl"
    path.write_text(BLANK + " x:c x:r [ x:v 3 ] .", encoding="utf-8")
    transport, _ = load(path, Profile())
    claim = (await check_graph(transport, "blank.ttl", Profile(), {"x": EX})).claims.blank_nodes
    assert claim.value == "62 % of the edges"
    assert (
        claim.why
        == "5 of 8 have one at an end; there are 4 blank nodes; most are of the types x:T (2), x:U (1), (x:r) (1)"
    )


async def test_a_graph_in_this_process() -> None:
    films = resources.folder("fixtures") / "films.ttl"
    transport, _ = load(films, Profile())
    report = await check_graph(transport, "films.ttl", Profile())
    values = Checked(report, "").values()
    assert str(values.pop("version")).startswith("0.5.")
    assert values == {
        "engine": "oxigraph",
        "post": None,
        "get": None,
        "row_cap": "at least 50001",
        "sentinel": None,
        "format": "JSON",
        "time_limit": "none",
        "deadline": "enforced by this gateway",
        "lateral": True,
        "rdf_1_2": True,
        "text_search": None,
        "named_graphs": 0,
        "union_default_graph": None,
        "triples": len(list(pyoxigraph.parse(path=films))),
        "blank_nodes": "none",
        "names": "rdfs:label",
    }
    assert (report.comparisons, report.settings, report.warnings) == ((), "", ())


def written(folder: Path, name: str, lines: list[str]) -> Path:
    path = folder / f"{name}.nt"
    path.write_text("".join(f"{line}\n" for line in lines))
    return path


@pytest.mark.server
async def test_virtuoso_with_its_row_cap(tmp_path: Path) -> None:
    graphs = {"urn:check": [written(tmp_path, "graph", GRAPH)], "urn:other": [written(tmp_path, "other", LINES)]}
    try:
        with running_virtuoso(graphs, workdir=tmp_path) as server:
            found = await checked(server.endpoint, Profile(endpoint=EndpointSettings(graphs=("urn:check",))))
            both = await checked(server.endpoint, Profile(endpoint=EndpointSettings(graphs=("urn:check", "urn:other"))))
    except ServerUnavailable as error:
        skip_or_fail(error)
    values = found.values()
    assert str(values.pop("version")).startswith("07.20.")
    # Two of one's own, and those that Virtuoso itself keeps.
    assert int(values.pop("named_graphs")) >= 2
    assert values == {
        "engine": "virtuoso",
        "post": True,
        "get": True,
        "row_cap": 10_000,
        "sentinel": "united",
        "format": "TSV",
        "time_limit": None,
        "deadline": "none is sent",
        "lateral": False,
        "rdf_1_2": False,
        # Its text index is filled by rules that this server was not given.
        "text_search": None,
        "union_default_graph": True,
        "triples": len(GRAPH),
        "blank_nodes": "none",
        "names": "rdfs:label",
    }
    assert agrees_everywhere(found.report)
    profile = snippet(found.report)
    assert profile.limits.query_rows == 9_000
    assert profile.endpoint == EndpointSettings(url=found.url, engine="virtuoso", lateral=False, graphs=("urn:check",))
    # A triple that is in both graphs is one.
    assert both.values()["triples"] == len(GRAPH)
    assert agrees_everywhere(both.report)


@pytest.mark.server
async def test_blazegraph_with_a_text_index(tmp_path: Path) -> None:
    try:
        with running_blazegraph({"check": [written(tmp_path, "graph", GRAPH)]}, workdir=tmp_path) as server:
            found = await checked(server.endpoint("check"))
    except ServerUnavailable as error:
        skip_or_fail(error)
    assert found.values() == {
        "engine": "blazegraph",
        "version": "2.1.5",
        "post": True,
        "get": True,
        "row_cap": "at least 50001",
        "sentinel": "sorted",
        "format": "JSON",
        "time_limit": None,
        "deadline": "header X-BIGDATA-MAX-QUERY-MILLIS, in milliseconds",
        "lateral": False,
        "rdf_1_2": False,
        "text_search": "bds:search",
        "named_graphs": 0,
        "union_default_graph": None,
        "triples": len(GRAPH),
        "blank_nodes": "none",
        "names": "rdfs:label",
    }
    assert agrees_everywhere(found.report)
    assert snippet(found.report).endpoint == EndpointSettings(url=found.url, engine="blazegraph", lateral=False)


FOUND: Final[Mapping[ColumnName, Sentinel]] = {"rdf4j": "united", "oxigraph": "sorted", "blazegraph": "sorted"}
"""Fuseki and Virtuoso keep the order of a UNION as RDF4J does."""

DRUG = "<https://example.org/medical/drug/warfarin>"


def nameless(answer: Answer) -> Answer:
    """Return rows with no header but their type, and nothing for what is no answer to a query."""
    # Blazegraph writes its description of itself as rows, too.
    if answer.results is None or b"http://www.bigdata.com/" in answer.body:
        return Answer(b"no query", 400, {"Content-Type": "text/plain"})
    return Answer(answer.body, 200, {"Content-Type": answer.headers["Content-Type"]})


def without_names(fault: InjectedFault | None = None) -> InjectedFault:
    """Return the fault that an engine is not named, and another one if given."""
    spoil = fault.spoil if fault is not None else nameless
    return InjectedFault("nameless", "any proxy", lambda answer: spoil(nameless(answer)))


@pytest.mark.server
@pytest.mark.parametrize("engine", list(FOUND), indirect=True)
async def test_no_answer_that_was_cut_is_complete_though_nothing_names_the_engine(engine: Column) -> None:
    settings = engine.settle("medical", Profile())
    async with fault_proxy(engine.url("medical"), each(without_names())) as proxy:
        found = await checked(proxy.url(), settings)
        assert found.report.claims.engine.value is None
        assert found.report.claims.sentinel.value == FOUND[engine.name]
        async with open_gateway(endpoint=proxy.url(), profile=settings) as gateway:
            whole = await gateway.bfs_query([DRUG], 2, topology_only=True)
            assert (whole.complete, whole.levels) == (True, [1, 15, 18])
            for fault in BY_SENTINEL:
                gateway.forget()
                await proxy.begin(each(without_names(fault)))
                assert not (await _answered(gateway))


async def _answered(gateway: Gateway) -> bool:
    """Tell whether the drug and its neighbours come, and are said to be all."""
    try:
        return (await gateway.bfs_query([DRUG], 2, topology_only=True)).complete
    except GatewayError:
        return False
