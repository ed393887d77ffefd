"""IDs that never change: each is read back as its IRI, and what people write is read as they mean it."""

import asyncio
import random
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pyoxigraph
import pytest

from gateway.api import Gateway, open_gateway
from gateway.errors import InputError
from gateway.graph.call import Deadline, deadline_passed
from gateway.settings.profile import Profile
from gateway.sparql.store import SparqlStore
from gateway.terms.coined_prefixes import CoinedPrefixes, hashed
from gateway.terms.prefixes import PrefixMap
from gateway.transport.inprocess import InProcess
from tests.faults.small_server import NODES, small_server

pytestmark = pytest.mark.anyio

OBO = "http://purl.obolibrary.org/obo/"
LABEL = "<http://www.w3.org/2000/01/rdf-schema#label>"
IDENTIFIER = "<http://purl.org/dc/terms/identifier>"
DATA = "http://data.example.org/resources/"


def statements(seed: int, count: int) -> Iterator[str]:
    """Return nodes of some forty namespaces, most of which no prefix is declared for."""
    drawn = random.Random(seed)  # noqa: S311 - a drawn graph
    hosts = ["data.example.org", "id.example.net/places", "xn--bcher-kva.example", "example.com/a%20b", "e.org"]
    parts = ["x", "drug", "2024", "gene", "v1.0"]
    depths = [(host, depth) for host in hosts for depth in range(4)]
    namespaces = [f"http://{host}/{'/'.join(drawn.sample(parts, depth))}" for host, depth in depths]
    namespaces += [f"urn:example:collection-{number}" for number in range(4)]
    for number in range(count):
        namespace = drawn.choice(namespaces)
        between = ":" if namespace.startswith("urn") else drawn.choice("/#")
        node = f"{namespace}{between}{drawn.choice(['n', 'Drug_abc-', '%20', 'a:b', '_'])}{number}"
        yield f"<{node}> <{DATA}in> <{DATA}hub> ."
        yield f'<{node}> {LABEL} "node {number}" .'


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write 2,000 nodes of many namespaces without prefixes."""
    path = tmp_path_factory.mktemp("ids") / "many.nt"
    path.write_text("\n".join(statements(47, 2_000)), encoding="utf-8")
    return path


async def every_id(gateway: Gateway) -> dict[str, str]:
    """Return the IDs of all nodes, as traversals write them, with their IRIs as descriptions give them."""
    whole = await gateway.bfs_subgraph([f"{DATA}hub"], 1)
    ids = [node.id for node in whole.nodes]
    found: dict[str, str] = {}
    for first in range(0, len(ids), 50):
        wanted = ids[first : first + 50]
        while wanted:
            page = await gateway.describe_entities(wanted)
            found |= {entity.id: entity.iri or "" for entity in page.result}
            wanted = page.remaining_ids or []
    return found


@pytest.mark.slow
async def test_two_thousand_drawn_ids_are_read_back_as_their_iris(many: Path) -> None:
    nodes = {line.split(">")[0][1:] for line in statements(47, 2_000)}
    async with open_gateway(many) as gateway:
        written = await every_id(gateway)
    assert set(written.values()) == nodes | {f"{DATA}hub"}
    # A gateway that has answered nothing yet reads them from the graph.
    drawn = random.Random(1).sample(sorted(written), 60)  # noqa: S311 - a drawn sample
    for text in drawn[:10]:
        async with open_gateway(many) as gateway:
            assert (await gateway.describe_entity(text)).iri == written[text]
    async with open_gateway(many) as gateway:
        for text in drawn:
            assert (await gateway.describe_entity(text)).iri == written[text]


async def test_an_id_that_another_version_coined_with_three_digits_is_read(many: Path) -> None:
    async with open_gateway(many) as gateway:
        before = f"resources_{hashed(DATA)[:3]}:hub"
        assert (await gateway.describe_entity(before)).id == f"resources_{hashed(DATA)[:8]}:hub"
        traversal = await gateway.bfs_query([before], 1, only_predicates=[f"resources_{hashed(DATA)[:3]}:in"])
        assert traversal.node_count > 1


async def test_at_an_endpoint_a_prefix_that_is_not_stored_is_an_error_that_asks_for_the_iri() -> None:
    async with small_server() as endpoint:
        async with open_gateway(endpoint=endpoint.url) as gateway:
            first = (await gateway.bfs_query(NODES[:1], 1)).nodes[0].id
            assert (await gateway.describe_entity(first)).iri == NODES[0]
        async with open_gateway(endpoint=endpoint.url) as gateway:
            with pytest.raises(InputError, match="Send the whole IRI"):
                await gateway.describe_entity(first)


@pytest.fixture
def terms(tmp_path: Path) -> Path:
    """Write a graph of terms as ontologies and catalogues name them."""
    lines = [
        f'<{OBO}GO_0005737> {LABEL} "cytoplasm" .',
        f'<GO:0000001> {LABEL} "an IRI as written" .',
        f'<{OBO}GO_0000001> {LABEL} "mitochondrion inheritance" .',
        f'<{DATA}a> {IDENTIFIER} "X:1" ; {LABEL} "by its identifier" .',
        f'<{DATA}b> {IDENTIFIER} "X:2" ; {LABEL} "one of two" .',
        f'<{DATA}c> {IDENTIFIER} "X:2" ; {LABEL} "the other" .',
        f"<{DATA}d> <https://schema.org/knows> <{DATA}a> .",
        f'<https://schema.org/Person> {LABEL} "Person" .',
    ]
    path = tmp_path / "terms.ttl"
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("text", "iri"),
    [
        ("GO:0005737", f"{OBO}GO_0005737"),
        ("obo:GO_0005737", f"{OBO}GO_0005737"),
        ("GO:0000001", "GO:0000001"),
        ("X:1", f"{DATA}a"),
        ("schema:Person", "https://schema.org/Person"),
    ],
)
async def test_an_id_is_read_as_it_is_meant(terms: Path, text: str, iri: str) -> None:
    async with open_gateway(terms) as gateway:
        assert (await gateway.describe_entity(text)).iri == iri
        assert (await gateway.bfs_query([text], 1)).missing_seeds is None


async def test_an_identifier_of_several_entities_is_an_error_that_lists_them(terms: Path) -> None:
    async with open_gateway(terms) as gateway:
        with pytest.raises(InputError, match=r"'X:2' is an identifier of several.*one of two.*the other"):
            await gateway.describe_entity("X:2")


async def test_an_identifier_that_nothing_has_is_missing_as_before(terms: Path) -> None:
    async with open_gateway(terms) as gateway:
        with pytest.raises(InputError, match=r"None of the seeds exists.*'X:9'.*prefix 'X' is not declared"):
            await gateway.bfs_query(["X:9"], 1)


async def test_the_prefix_schema_means_the_namespace_that_the_graph_has(terms: Path) -> None:
    given: dict[str, Any] = {"only_predicates": ["schema:knows"]}
    async with open_gateway(terms) as gateway:
        answer = await gateway.bfs_query([f"{DATA}d"], 1, **given)
        assert answer.node_count == 2
        assert [edge.predicate for edge in answer.edges] == ["sdo:knows"]


async def test_answers_at_once_have_the_ids_that_each_has_alone(many: Path) -> None:
    async with open_gateway(many) as alone, open_gateway(many) as together:
        first = [await alone.search_entities(f"node {number}") for number in range(5)]
        again = await asyncio.gather(*(together.search_entities(f"node {number}") for number in range(5)))
        assert first == again


ALIKE = [f"http://data.example.org/person/{number}/name" for number in (1897748, 2217289)]
"""Nodes whose namespaces have the same letters, and hashes that begin with the same eight digits."""


def alike(tmp_path: Path, *further: str) -> Path:
    """Write a graph of both."""
    path = tmp_path / "alike.ttl"
    lines = [f'<{iri}> {LABEL} "person {number}" .' for number, iri in enumerate(ALIKE)]
    path.write_text("\n".join([*lines, *further]), encoding="utf-8")
    return path


@pytest.mark.parametrize("digits", [5, 8])
async def test_a_prefix_that_two_namespaces_have_is_read_as_neither_in_the_next_run(
    tmp_path: Path, digits: int
) -> None:
    graph = alike(tmp_path)
    async with open_gateway(graph) as gateway:
        written = (await gateway.describe_entity(f"<{ALIKE[1]}>")).id
    assert written == f"person_{hashed(ALIKE[1][:-4])[:8]}:name"
    async with open_gateway(graph) as gateway:
        assert (await gateway.describe_entity(f"<{ALIKE[0]}>")).id == written
        with pytest.raises(InputError, match="several namespaces have"):
            await gateway.describe_entity(f"person_{hashed(ALIKE[1][:-4])[:digits]}:name")


async def test_neighbours_whose_namespaces_have_one_prefix_are_described(tmp_path: Path) -> None:
    graph = alike(tmp_path, f"<{ALIKE[0]}> <{DATA}knows> <{ALIKE[1]}> .")
    async with open_gateway(graph) as gateway:
        first = await gateway.describe_entity(f"<{ALIKE[0]}>")
        assert first.iri == ALIKE[0]
    async with open_gateway(graph) as gateway:
        answer = await gateway.bfs_query([f"<{ALIKE[0]}>"], 1)
    listed = {node.id for node in answer.nodes}
    assert len(listed) == 2
    assert [{edge.subject, edge.object} for edge in answer.edges] == [listed]


async def test_at_an_endpoint_a_prefix_with_few_digits_that_was_not_stored_is_an_error() -> None:
    async with (
        small_server([f'<{iri}> {LABEL} "person" .' for iri in ALIKE]) as endpoint,
        open_gateway(endpoint=endpoint.url) as gateway,
    ):
        written = (await gateway.describe_entity(f"<{ALIKE[0]}>")).id
        assert (await gateway.describe_entity(written)).iri == ALIKE[0]
        with pytest.raises(InputError, match="Send the whole IRI"):
            await gateway.describe_entity(f"person_{hashed(ALIKE[0][:-4])[:5]}:name")


class Scan:
    """Reads the namespaces of a graph, and notes how often.

    Args:
        namespaces: What it finds; None where the time is never enough.
    """

    def __init__(self, namespaces: Sequence[str] | None) -> None:
        self.count = 0
        self._namespaces = namespaces

    def __call__(self, _: Deadline) -> tuple[Sequence[str], bool]:
        """Return what it finds."""
        self.count += 1
        if self._namespaces is None:
            raise deadline_passed()
        return self._namespaces, True


def over(scan: Scan) -> Gateway:
    """Open a gateway over one labelled node whose namespaces are read by a scan."""
    engine = pyoxigraph.Store()
    engine.load(f'<{DATA}hub> {LABEL} "hub" .'.encode(), pyoxigraph.RdfFormat.N_TRIPLES)
    profile = Profile()
    store = SparqlStore(InProcess(engine, max_bytes=1 << 24), profile)
    return Gateway(store, profile, PrefixMap({}, CoinedPrefixes()), namespaces=scan)


async def test_a_text_that_is_no_id_reads_no_namespaces() -> None:
    scan = Scan([DATA])
    async with over(scan) as gateway:
        await gateway.search_entities("user_name:hub")
        await gateway.describe_entity(f"<{DATA}hub>")
        assert scan.count == 0
        for _ in range(2):
            assert (await gateway.describe_entity(f"resources_{hashed(DATA)[:8]}:hub")).iri == f"{DATA}hub"
    assert scan.count == 1


async def test_namespaces_that_take_too_long_to_read_fail_no_call_and_are_not_read_again() -> None:
    scan = Scan(None)
    async with over(scan) as gateway:
        for _ in range(2):
            with pytest.raises(InputError, match="Send the whole IRI"):
                await gateway.describe_entity("drug_aaaaaaaa:x")
        written = (await gateway.describe_entity(f"<{DATA}hub>")).id
        assert (await gateway.describe_entity(written)).iri == f"{DATA}hub"
    assert scan.count == 1
