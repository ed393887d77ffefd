"""Answers about graphs that declare no prefixes: short IDs, each of which is taken as input."""

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import rdflib

from gateway.answers.models import Subgraph, ToolAnswer
from gateway.api import Gateway, open_gateway
from gateway.errors import InputError
from gateway.settings.limits import SizeSettings
from gateway.settings.load import load_profile
from gateway.settings.profile import Profile
from gateway.terms.coined_prefixes import looks_coined
from tests.faults.small_server import NODES, small_server

pytestmark = pytest.mark.anyio

DATA = "http://data.example.org/resources/"
TERMS = "http://data.example.org/vocabulary#"
RDF_TYPE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"
LABEL = "http://www.w3.org/2000/01/rdf-schema#label"

HUB = f"{DATA}hub"
OTHER = f"{DATA}n1"


def statements() -> Iterator[str]:
    for number in range(12):
        node = f"{DATA}n{number}"
        yield f"<{HUB}> <{TERMS}has> <{node}> ."
        yield f"<{node}> <{TERMS}next> <{DATA}n{(number + 1) % 12}> ."
        yield f'<{node}> <{LABEL}> "Node number {number}" .'
        yield f"<{node}> <{RDF_TYPE}> <{TERMS}{'Odd' if number % 2 else 'Even'}> ."
        yield f'<{node}> <{TERMS}note> "see {DATA}n1" .'
    yield f'<{HUB}> <{LABEL}> "Hub" .'
    yield f"<{HUB}> <{TERMS}has> <http://elsewhere.example.org/alone> ."


def write(file: Path, *further: str) -> None:
    file.write_text("\n".join((*statements(), *further)), encoding="utf-8")


@pytest.fixture
def graph(tmp_path: Path) -> Path:
    """Write a graph without prefixes."""
    write(tmp_path / "graph.nt")
    return tmp_path / "graph.nt"


def without_coining() -> Profile:
    profile = load_profile("local")
    return profile.model_copy(update={"size": SizeSettings(coined_prefixes=False)})


def whole(answer: Subgraph, gateway: Gateway) -> tuple[list[str], list[tuple[str, ...]]]:
    """Return the nodes and edges of an answer as IRIs, in its order."""
    expand = gateway.prefixes.expand
    edges = [(edge.subject, edge.predicate, edge.object) for edge in answer.edges]
    return [expand(node.id) for node in answer.nodes], [tuple(map(expand, edge)) for edge in edges]


def strings(value: Any) -> Iterator[str]:
    """Return all texts in JSON, keys included."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield key
            yield from strings(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from strings(inner)
    elif isinstance(value, str):
        yield value


def coined_in(answer: ToolAnswer) -> set[str]:
    """Return the prefixes of the form of coined ones that IDs in an answer have."""
    written = {key: value for key, value in answer.as_json().items() if key != "prefixes"}
    parts = (text.partition(":") for text in strings(written))
    return {name for name, colon, _ in parts if colon and looks_coined(name)}


async def test_a_traversal_writes_short_ids_and_tells_their_prefixes(graph: Path) -> None:
    async with open_gateway(graph) as gateway:
        answer = await gateway.bfs_query([HUB], 1)
        assert answer.prefixes is not None
        assert sorted(answer.prefixes.values()) == [DATA, TERMS]
        assert all(map(looks_coined, answer.prefixes))
        assert [node.id for node in answer.nodes if "://" in node.id] == ["http://elsewhere.example.org/alone"]
        texts = strings({**answer.as_json(), "prefixes": {}})
        assert [text for text in texts if DATA in text and not text.startswith("see ")] == []


async def test_coined_prefixes_change_neither_content_nor_order_nor_snapshot(graph: Path) -> None:
    async with open_gateway(graph) as coining, open_gateway(graph, profile=without_coining()) as plain:
        for limit, offset in [(None, 0), (5, 0), (5, 5)]:
            page: dict[str, Any] = {"limit": limit, "offset": offset}
            short = await coining.bfs_query([OTHER], 2, **page)
            long = await plain.bfs_query([OTHER], 2, **page)
            assert whole(short, coining) == whole(long, plain)
            assert short.snapshot == long.snapshot
            assert long.prefixes is None
            assert short.prefixes
        both = [await gateway.intersect_subgraphs([HUB, OTHER], 2) for gateway in (coining, plain)]
        assert whole(both[0], coining) == whole(both[1], plain)


async def test_every_id_of_every_tool_is_taken_as_input(graph: Path) -> None:
    async with open_gateway(graph) as gateway:
        traversal = await gateway.bfs_query([HUB], 2)
        ids = [node.id for node in traversal.nodes]
        described = await gateway.describe_entities(ids)
        assert [entity.id for entity in described.result] == ids
        assert not described.not_found
        assert coined_in(described) == {*(described.prefixes or {})}
        found = await gateway.search_entities("node number", limit=20)
        assert found.result
        assert coined_in(found) == {*(found.prefixes or {})}
        one = await gateway.describe_entity(found.result[0].id)
        assert one.id == found.result[0].id
        assert (one.iri or "").startswith(DATA)
        again = await gateway.bfs_query([hit.id for hit in found.result], 1, node_types=[found.result[0].entity_type])
        assert again.missing_seeds is None
        types = {node.entity_type for node in again.nodes}
        narrowed = await gateway.bfs_query(ids[:1], 1, exclude_node_types=sorted(types - {"untyped"}))
        assert narrowed.node_count < again.node_count
        edges = await gateway.bfs_query(ids[:1], 1, predicates=[traversal.edges[0].predicate])
        assert edges.warnings is None
        met = await gateway.intersect_subgraphs(ids[:2], 1)
        assert met.node_count


async def test_the_schema_is_told_with_its_prefixes(graph: Path) -> None:
    async with open_gateway(graph) as gateway:
        schema = await gateway.describe_schema()
        assert TERMS in schema.prefixes.values()
        assert all(looks_coined(text.partition(":")[0]) for text in (*schema.entity_types, *schema.predicates))
        await gateway.bfs_query([HUB], 1)
        assert DATA in (await gateway.describe_schema()).prefixes.values()
        known = gateway.known_schema()
        assert known is not None
        assert {*known.entity_types} == {*schema.entity_types}


async def test_the_operator_switches_coined_prefixes_off(graph: Path) -> None:
    async with open_gateway(graph, profile=without_coining()) as gateway:
        answer = await gateway.bfs_query([HUB], 1)
        assert answer.prefixes is None
        assert answer.nodes[0].id == HUB
        assert (await gateway.describe_schema()).prefixes == {}


async def test_a_declared_prefix_is_used_and_not_told_again(graph: Path) -> None:
    async with open_gateway(graph, prefixes={"r": DATA}) as gateway:
        answer = await gateway.bfs_query([HUB], 1)
        assert answer.nodes[0].id == "r:hub"
        assert [*(answer.prefixes or {}).values()] == [TERMS]


async def test_a_restart_over_the_store_takes_the_same_prefixes_before_any_answer(graph: Path, tmp_path: Path) -> None:
    async with open_gateway(graph, store=tmp_path / "store") as gateway:
        first = await gateway.bfs_query([HUB], 1)
    write(graph, f"<{HUB}> <{TERMS}has> <{DATA}new> .")
    async with open_gateway(graph, store=tmp_path / "store") as gateway:
        entity = await gateway.describe_entity(first.nodes[1].id)
        assert entity.iri == f"{DATA}n0"
        second = await gateway.bfs_query([first.nodes[0].id], 1)
        assert second.prefixes == first.prefixes
        assert {node.id for node in first.nodes} < {node.id for node in second.nodes}


@pytest.mark.parametrize("kept", ["store", "keep_schema"])
async def test_a_restart_takes_the_prefixes_that_were_coined_for_an_endpoint(kept: str, tmp_path: Path) -> None:
    stored: dict[str, Any] = {"store": tmp_path} if kept == "store" else {"keep_schema": True}
    async with small_server() as endpoint:
        async with open_gateway(endpoint=endpoint.url, **stored) as gateway:
            first = await gateway.bfs_query(NODES[:1], 1)
        assert first.prefixes
        async with open_gateway(endpoint=endpoint.url, **stored) as gateway:
            assert (await gateway.describe_entity(first.nodes[1].id)).iri == NODES[1]
            assert (await gateway.bfs_query([first.nodes[0].id], 1)).nodes == first.nodes


async def test_pages_of_one_question_fit_together_though_a_prefix_is_coined_between_them(graph: Path) -> None:
    async with open_gateway(graph, profile=without_coining()) as plain, open_gateway(graph) as gateway:
        expected = await plain.bfs_query([HUB], 2, limit=4)
        # The limit leaves too little to coin a prefix for; the next question writes more.
        first = await gateway.bfs_query([HUB], 2, limit=4)
        assert first.snapshot == expected.snapshot
        await gateway.describe_entities([f"{DATA}n{number}" for number in range(12)])
        nodes, offset = list(first.nodes), first.next_offset
        while offset is not None:
            page = await gateway.bfs_query([HUB], 2, limit=4, offset=offset, snapshot=first.snapshot)
            assert page.result_changed is None
            nodes, offset = nodes + page.nodes, page.next_offset
        iris = [gateway.prefixes.expand(node.id) for node in nodes]
        assert iris == [node.id for node in (await plain.bfs_query([HUB], 2)).nodes]


async def test_an_rdflib_graph_without_prefixes_has_coined_ones() -> None:
    graph = rdflib.Graph(bind_namespaces="none")
    graph.parse(data="\n".join(statements()), format="nt")
    async with open_gateway(graph) as gateway:
        answer = await gateway.bfs_query([HUB], 1)
        assert DATA in (answer.prefixes or {}).values()
        assert (await gateway.describe_entity(answer.nodes[0].id)).iri == HUB


async def test_the_paths_and_lists_of_an_answer_have_the_same_ids_as_its_nodes(graph: Path) -> None:
    async with open_gateway(graph) as gateway:
        answer = await gateway.intersect_subgraphs([HUB, OTHER, f"{DATA}gone"], 2)
        assert answer.missing_seeds is not None
        assert [gateway.prefixes.expand(text) for text in answer.missing_seeds] == [f"{DATA}gone"]
        met = await gateway.intersect_subgraphs([HUB, OTHER], 1, via=True)
        names = {*(met.prefixes or {})}
        for node in met.nodes:
            for path in node.via or ():
                assert {text.strip("^").partition(":")[0] for text in path} <= names


async def test_without_a_store_the_same_prefixes_are_coined_again(graph: Path) -> None:
    answers = []
    for _ in range(2):
        async with open_gateway(graph) as gateway:
            answers.append(await gateway.bfs_query([HUB], 1))
    assert answers[0] == answers[1]


async def test_a_forgotten_prefix_is_an_error_that_says_what_to_send(graph: Path) -> None:
    async with open_gateway(graph) as gateway:
        with pytest.raises(InputError, match=r"seeds\[0\]: 'resources_zzz:hub'.*Send the whole IRI"):
            await gateway.bfs_query(["resources_zzz:hub"], 1)


async def test_answers_at_the_same_time_are_each_written_in_one_way(graph: Path) -> None:
    async with open_gateway(graph) as gateway:
        questions = [gateway.describe_entity(HUB), gateway.bfs_query([HUB], 2), gateway.search_entities("node")]
        for answer in await asyncio.gather(*questions):
            text = json.dumps({**answer.as_json(), "prefixes": {}, "iri": ""})
            for name, namespace in (answer.as_json().get("prefixes") or {}).items():
                assert f"{name}:" in text
                assert f'"{namespace}' not in text


@pytest.mark.parametrize("tokens", [200, 300, 500, 1_000])
async def test_an_answer_that_tells_prefixes_is_no_larger_than_asked_for(graph: Path, tokens: int) -> None:
    async with open_gateway(graph) as gateway:
        ids = [node.id for node in (await gateway.bfs_query([HUB], 2)).nodes]
        answers = [
            await gateway.bfs_query([HUB], 2, max_tokens=tokens),
            await gateway.describe_entities(ids, max_tokens=tokens),
            await gateway.describe_entity(ids[1], max_tokens=tokens),
        ]
        for answer in answers:
            assert len(json.dumps(answer.as_json(), separators=(",", ":"))) <= 4 * tokens


ANTS, ZEBRAS = "http://b.example.org/kept/in/order/ant/", "http://a.example.org/kept/in/order/zebra/"
"""Namespaces whose coined prefixes are in another order than they are."""


def ways() -> Iterator[str]:
    """Return two paths to one goal, over an ant and over a zebra, and elsewhere more ants and zebras."""
    for one in (ANTS, ZEBRAS):
        yield f"<{DATA}start> <{TERMS}p> <{one}0> ."
        yield f"<{one}0> <{TERMS}p> <{DATA}goal> ."
        for number in range(6):
            yield f"<{HUB}> <{TERMS}p> <{one}{number}> ."
    yield f"<{DATA}goal> <{RDF_TYPE}> <{TERMS}Goal> ."


async def test_which_nodes_are_on_the_way_does_not_depend_on_what_was_asked_before(tmp_path: Path) -> None:
    (tmp_path / "ways.nt").write_text("\n".join(ways()), encoding="utf-8")
    asked: dict[str, Any] = {"only_node_types": ["Goal"], "topology_only": True, "limit": 2}
    async with open_gateway(tmp_path / "ways.nt", store=tmp_path / "store") as gateway:
        first = await gateway.bfs_query([f"{DATA}start"], 2, **asked)
        assert not {ANTS, ZEBRAS} & {*gateway.prefixes.prefixes.values()}
        await gateway.bfs_query([HUB], 1)
        assert {ANTS, ZEBRAS} <= {*gateway.prefixes.prefixes.values()}
        second = await gateway.bfs_query([f"{DATA}start"], 2, offset=2, snapshot=first.snapshot, **asked)
        assert second.result_changed is None
        nodes = [gateway.prefixes.expand(node.id) for node in first.nodes + second.nodes]
    assert nodes == [f"{DATA}start", f"{ZEBRAS}0", f"{DATA}goal"]
    async with open_gateway(tmp_path / "ways.nt", store=tmp_path / "store") as gateway:
        again = await gateway.bfs_query([f"{DATA}start"], 2, **asked)
        assert whole(again, gateway) == whole(first, gateway)
        assert again.snapshot == first.snapshot
