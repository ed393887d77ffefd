"""Named graphs and nanopublications as evidence; a triple in several named graphs is one edge."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pyoxigraph
import pytest

from gateway import resources
from gateway.answers.models import BfsResult
from gateway.api import open_gateway
from gateway.settings.endpoint import EndpointSettings, Graphs
from gateway.settings.limits import LimitSettings, SizeSettings
from gateway.settings.profile import Profile
from gateway.settings.vocabulary import EvidenceSettings, EvidenceWay
from tests.servers.fuseki import running_fuseki
from tests.servers.oxigraph import running_oxigraph
from tests.servers.unavailable import ServerUnavailable, skip_or_fail
from tests.servers.virtuoso import running_virtuoso

pytestmark = [pytest.mark.anyio, pytest.mark.server]

N = "https://example.org/nanopublications/"
FILE = resources.folder("fixtures") / "nanopublications.trig"
STATING = tuple(
    f"{N}{name}" for name in ("np1#assertion", "np2#assertion", "np3#assertion", "textbook", "leaflet", "notes")
)
"""The graphs that state something about the world, without those about nanopublications."""

PREFIXES = {
    "": N,
    "v": f"{N}vocabulary/",
    "dct": "http://purl.org/dc/terms/",
    "prov": "http://www.w3.org/ns/prov#",
}


@dataclass(frozen=True)
class Server:
    """A server that holds the fixture.

    Attributes:
        endpoint: Its URL.
        has_union: Whether it has a name for all its named graphs together.
        holds_all_by_default: Whether its default graph is all of them.
    """

    endpoint: str
    has_union: bool = False
    holds_all_by_default: bool = False

    async def around(self, graphs: Graphs, *ways: EvidenceWay) -> BfsResult:
        """Ask about aspirin."""
        profile = Profile(
            prefixes=PREFIXES,
            size=SizeSettings(max_tokens=1_000_000, ceiling_tokens=1_000_000),
            endpoint=EndpointSettings(graphs=graphs),
            evidence=EvidenceSettings(ways=ways) if ways else EvidenceSettings(),
        )
        async with open_gateway(endpoint=self.endpoint, profile=profile) as gateway:
            return await gateway.bfs_query([":aspirin"], 1, explain=True)


@pytest.fixture(scope="module", params=["oxigraph", "fuseki", "virtuoso"])
def server(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """Serve the fixture with its named graphs."""
    folder = tmp_path_factory.mktemp("named")
    try:
        if request.param == "oxigraph":
            with running_oxigraph([FILE], workdir=folder) as oxigraph:
                yield Server(oxigraph.endpoint)
        elif request.param == "fuseki":
            with running_fuseki({"named": [FILE]}, workdir=folder) as fuseki:
                yield Server(fuseki.endpoint("named"), has_union=True)
        else:
            with running_virtuoso(graph_by_graph(folder), workdir=folder) as virtuoso:
                yield Server(virtuoso.endpoint, holds_all_by_default=True)
    except ServerUnavailable as error:
        skip_or_fail(error)


def graph_by_graph(folder: Path) -> dict[str, list[Path]]:
    """Write each graph of the fixture into a file of its own; return the files by the IRI of their graph."""
    triples: dict[str, list[pyoxigraph.Triple]] = {}
    for quad in pyoxigraph.parse(path=str(FILE)):
        graph = quad.graph_name
        name = graph.value if isinstance(graph, pyoxigraph.NamedNode) else "urn:graph:default"
        triples.setdefault(name, []).append(quad.triple)
    files = {name: [folder / f"{number}.nt"] for number, name in enumerate(triples)}
    for name, (file,) in files.items():
        pyoxigraph.serialize(triples[name], output=str(file), format=pyoxigraph.RdfFormat.N_TRIPLES)
    return files


def evidence_by_edge(answer: BfsResult) -> dict[tuple[str, str], object]:
    """Return the metadata of aspirin's edges to other things."""
    return {(edge.predicate, edge.object): edge.metadata for edge in answer.edges if edge.subject == ":aspirin"}


def sent(answer: BfsResult) -> Counter[str]:
    """Count the queries for evidence, by template, without the probes."""
    assert answer.explain is not None
    names = (query.template for query in answer.explain.sent)
    return Counter(name for name in names if name.startswith("evidence/") and not name.endswith("in_use"))


FIRST = {
    "confidence": 0.9,
    "source_documents": [":np1", ":paper1"],
    "dct:created": "2024-05-01",
    "dct:creator": ":ann",
    "prov:wasAttributedTo": ":ann",
}
SECOND = {"source_documents": [":np2", ":paper2", ":paper3"], "dct:creator": ":bob"}
EVIDENCE = {
    ("v:treats", ":fever"): FIRST,
    ("v:treats", ":headache"): {
        "source_documents": [":np1", ":np2", ":paper1", ":paper2", ":paper3"],
        "assertions": [FIRST, SECOND],
    },
    ("v:causes", ":bleeding"): {
        "source_documents": [":np3", ":textbook"],
        "assertions": [
            {"source_documents": [":np3"], "prov:wasAttributedTo": ":bob"},
            {"source_documents": [":textbook"]},
        ],
    },
    ("v:inhibits", ":COX1"): {
        "source_documents": [":leaflet", ":textbook"],
        "assertions": [{"source_documents": [":leaflet"]}, {"source_documents": [":textbook"]}],
    },
    ("v:contains", ":acid"): {"source_documents": [":textbook"]},
    ("v:relatedTo", ":ibuprofen"): {
        "source_documents": [":notes"],
        "assertions": [{"source_documents": [":notes"]}, {"v:by": ":ann"}],
    },
}


@pytest.mark.parametrize("asked", ["union", "list"])
async def test_named_graphs_and_nanopublications_are_sources_of_their_edges(server: Server, asked: str) -> None:
    if asked == "union" and not server.has_union:
        return
    answer = await server.around("union" if asked == "union" else STATING)
    assert evidence_by_edge(answer) == EVIDENCE
    assert answer.complete
    assert answer.degraded is None
    assert sent(answer) == {"evidence/reified": 1, "evidence/graphs": 1, "evidence/nanopublications": 1}


async def test_graphs_that_are_not_asked_are_no_sources(server: Server) -> None:
    answer = await server.around((f"{N}leaflet", f"{N}np2#assertion"))
    assert evidence_by_edge(answer) == {
        ("v:inhibits", ":COX1"): {"source_documents": [":leaflet"]},
        ("v:treats", ":headache"): SECOND,
    }


async def test_one_graph_alone_is_not_named_as_the_source_of_everything(server: Server) -> None:
    answer = await server.around((f"{N}textbook",))
    assert not any(evidence_by_edge(answer).values())
    assert sent(answer) == {}


async def test_a_default_graph_is_asked_for_graphs_only_where_the_profile_says_so(server: Server) -> None:
    answer = await server.around("default")
    assert sent(answer).keys() <= {"evidence/reified"}
    if not server.holds_all_by_default:
        assert evidence_by_edge(answer) == {("v:soldAs", ":pill"): None}
    answer = await server.around((f"{N}textbook",), "named_graphs")
    assert evidence_by_edge(answer) == {
        ("v:causes", ":bleeding"): {"source_documents": [":textbook"]},
        ("v:contains", ":acid"): {"source_documents": [":textbook"]},
        ("v:inhibits", ":COX1"): {"source_documents": [":textbook"]},
    }


async def test_without_the_way_of_nanopublications_their_assertions_are_graphs_like_others(server: Server) -> None:
    answer = await server.around(STATING, "named_graphs")
    assert evidence_by_edge(answer)["v:treats", ":fever"] == {"source_documents": [":np1#assertion"]}
    assert sent(answer) == {"evidence/graphs": 1}


E = "http://example.org/"
EDGES = 12
ROOM = SizeSettings(max_tokens=10_000_000, ceiling_tokens=10_000_000)


@pytest.fixture(scope="module")
def endpoint(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Serve a seed, a hub and its leaves, every triple in three named graphs."""
    folder = tmp_path_factory.mktemp("several")
    triples = [f"<{E}seed> <{E}p> <{E}hub>", *(f"<{E}hub> <{E}p> <{E}leaf{n}>" for n in range(EDGES - 1))]
    file = Path(folder, "several.nq")
    file.write_text("".join(f"{triple} <{E}g{n}> .\n" for triple in triples for n in range(3)), encoding="utf-8")
    try:
        with running_oxigraph([file], workdir=folder) as server:
            yield server.endpoint
    except ServerUnavailable as error:
        skip_or_fail(error)


def profile(**limits: int) -> Profile:
    graphs = tuple(f"{E}g{n}" for n in range(3))
    return Profile(endpoint=EndpointSettings(graphs=graphs), size=ROOM, limits=LimitSettings.model_validate(limits))


@pytest.mark.parametrize(("max_degree", "complete"), [(EDGES, True), (EDGES - 1, False)])
async def test_the_hub_rule_counts_edges_and_not_their_copies(endpoint: str, max_degree: int, complete: bool) -> None:
    async with open_gateway(endpoint=endpoint, profile=profile()) as gateway:
        answer = await gateway.bfs_query([f"{E}seed"], 2, topology_only=True, max_degree=max_degree)
    assert answer.complete == complete
    if not complete:
        (gap,) = answer.incomplete or []
        assert gap.detail.endswith(f"has {EDGES}")


async def test_a_node_that_is_read_in_pages_adds_up(endpoint: str) -> None:
    async with open_gateway(endpoint=endpoint, profile=profile(query_rows=10)) as gateway:
        answer = await gateway.bfs_query([f"{E}hub"], 1, topology_only=True)
    assert answer.complete
    assert answer.edge_count == EDGES


async def test_a_node_shows_as_many_distinct_edges_as_it_may(endpoint: str) -> None:
    async with open_gateway(endpoint=endpoint, profile=profile()) as gateway:
        answer = await gateway.bfs_query([f"{E}hub"], 1, topology_only=True, max_edges_per_node=5)
    assert answer.edge_count == 5
