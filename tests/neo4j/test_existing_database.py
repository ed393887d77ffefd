"""A database that others filled is read as it is."""

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import neo4j
import pytest

from gateway.errors import EndpointFault, InputError
from gateway.graph.call import Call
from gateway.graph.deadline import Deadline
from gateway.neo4j.connection import Address
from gateway.neo4j.store import Neo4jStore
from gateway.settings.neo4j import Neo4jSettings, NodesInNeo4j
from gateway.settings.profile import Profile
from tests.calls import asked, connected
from tests.neo4j.database import address_at
from tests.neo4j.opening import access, opened
from tests.servers.neo4j import PASSWORD, USER, running_neo4j
from tests.servers.unavailable import ServerUnavailable, skip_or_fail

pytestmark = [pytest.mark.anyio, pytest.mark.server]

DRUGS = NodesInNeo4j(labels=("Disease", "Drug"), no_types=("Old",))
ODD_LABEL = "it's `odd` {label} // $1"


@pytest.fixture
def port(address: Address) -> int:
    return urlsplit(address.url).port or 0


async def test_its_nodes_and_edges_are_found_with_their_metadata(port: int, tmp_path: Path) -> None:
    async with connected(opened(port, access(tmp_path), DRUGS)) as client:
        answer = await asked(client, "bfs_query", seeds=["MeSH:D003480"], max_hops=2)
    assert answer["complete"] is True
    assert {node["id"]: node["entity_type"] for node in answer["nodes"]} == {
        "MeSH:D003480": "term:Disease",
        "RxNorm:3251": "term:Drug",
        "id:a%20drug%2F50%20%25": "term:Drug",
    }
    assert answer["nodes"][0]["metadata"] == {
        "name": "Cushing syndrome",
        "synonyms": ["CS", "hypercortisolism"],
        "total_mentions": 36,
        "confidence": 0.8,
        "term:onset": "slow",
        "term:since": "1932-02-01",
        "term:place": "POINT (8.5 47.4)",
    }
    assert {(edge["subject"], edge["predicate"], edge["object"]) for edge in answer["edges"]} == {
        ("RxNorm:3251", "term:TREATS", "MeSH:D003480"),
        ("id:a%20drug%2F50%20%25", "term:INTERACTS%20WITH", "RxNorm:3251"),
        ("RxNorm:3251", "term:INTERACTS%20WITH", "RxNorm:3251"),
    }


async def test_each_of_several_relationships_is_an_assertion_of_one_edge(port: int, tmp_path: Path) -> None:
    async with connected(opened(port, access(tmp_path), DRUGS)) as client:
        answer = await asked(client, "bfs_query", seeds=["RxNorm:3251"], max_hops=1)
    (edge,) = [edge for edge in answer["edges"] if edge["predicate"] == "term:TREATS"]
    stated = [(one["confidence"], one["source_documents"]) for one in edge["metadata"]["assertions"]]
    assert sorted(stated) == [(0.7, ["PMC9"]), (0.95, ["PMC1", "PMC2"])]


async def test_nodes_of_other_labels_and_ids_that_are_no_texts_are_not_of_the_graph(port: int, tmp_path: Path) -> None:
    async with connected(opened(port, access(tmp_path), DRUGS)) as client:
        schema = await asked(client, "describe_schema")
        cushing = await asked(client, "search_entities", query="cushing")
        number = await asked(client, "search_entities", query="number")
    assert schema["comprehensive"] is True
    assert schema["counts"] == {"term:Drug": 2, "term:Disease": 1, "term:INTERACTS%20WITH": 2, "term:TREATS": 1}
    assert [hit["id"] for hit in cushing["result"]] == ["MeSH:D003480"]
    assert number["result"] == []


async def test_a_synonym_is_found_in_any_case(port: int, tmp_path: Path) -> None:
    async with connected(opened(port, access(tmp_path), DRUGS)) as client:
        found = await asked(client, "search_entities", query="HyperCortisolism")
        narrow = await asked(client, "search_entities", query="cushing", node_types=["Drug"])
    assert [hit["id"] for hit in found["result"]] == ["MeSH:D003480"]
    assert narrow["result"] == []


async def test_names_and_ids_that_look_like_cypher_are_names_and_ids(port: int, tmp_path: Path) -> None:
    nodes = NodesInNeo4j(labels=(ODD_LABEL,), id='the "id"', names=("na`me",))
    async with opened(port, access(tmp_path), nodes) as gateway:
        answer = await gateway.bfs_query(["urn:x-bfsql:id:%7D%29%20DETACH%20DELETE%20n%20%2F%2F"], 1)
        with pytest.raises(InputError, match="None of the seeds exists"):
            await gateway.bfs_query(["urn:x-bfsql:id:%7D%29%20DETACH%20DELETE%20n"], 1)
    assert answer.complete
    assert [(edge.predicate, edge.object) for edge in answer.edges] == [
        ("term:a%60b%7D%7B%20%245%20%2F%2F%20%22", "id:%5Cu0060%27%20OR%201%20%3D%201")
    ]


async def test_the_schema_counts_nodes_with_one_id_once(port: int, tmp_path: Path) -> None:
    async with opened(port, access(tmp_path), NodesInNeo4j(labels=("Twin",))) as gateway:
        schema = await gateway.describe_schema()
    assert schema.comprehensive
    assert schema.counts == {"term:Twin": 3, "term:next": 2}


async def test_nodes_with_one_id_are_one_node_and_its_edges_are_counted_once(address: Address) -> None:
    settings = Neo4jSettings(nodes=NodesInNeo4j(labels=("Twin",)))
    store = Neo4jStore(address, settings, Profile(), {})
    first, second, third = (f"urn:t:{number}" for number in (1, 2, 3))
    call = Call(Deadline.after(30), 100, 1_000, 1_000)
    try:
        around = await store.edges([first, second], call)
        degrees = await store.degrees([first, second], 10, call)
        counts = await store.edge_counts([first, second], call)
    finally:
        await store.close()
    assert {edge.object for edge in around[first].edges} == {second, third}
    assert [degrees[node].count for node in (first, second)] == [2, 1]
    assert [[count.count for count in counts[node].counts] for node in (first, second)] == [[2], [1]]


@pytest.fixture(scope="module")
def own_address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Address]:
    """A database of this module's own: labels of other tests, some of which no query can name, stay in theirs."""
    try:
        with running_neo4j(tmp_path_factory.mktemp("labels") / "home") as server:
            yield address_at(server.port)
    except ServerUnavailable as error:
        skip_or_fail(error)


@pytest.mark.parametrize("told_by", ["time", "forget", "schema"])
async def test_a_label_that_is_added_later_is_read(own_address: Address, told_by: str) -> None:
    label, now = f"Later {told_by}", 0.0
    # Without labels in the profile, all of the database are read, and looked up.
    store = Neo4jStore(own_address, Neo4jSettings(), Profile(), {}, clock=lambda: now)
    elsewhere = f"{Neo4jSettings().base}elsewhere"
    call = Call(Deadline.after(60), 100, 100_000, 100_000)
    with neo4j.GraphDatabase.driver(own_address.url, auth=(USER, PASSWORD)) as driver:
        driver.execute_query("MERGE (:Elsewhere {id: 'elsewhere'})")
        try:
            assert (await store.edges([elsewhere], call))[elsewhere].mark.whole
            driver.execute_query(
                f"MATCH (n:Elsewhere {{id: 'elsewhere'}}) CREATE (n)-[:next]->(:`{label}` {{id: 'later'}})"
            )
            if told_by == "time":
                now = Profile().cache.ttl_seconds
            elif told_by == "forget":
                store.forget()
            else:
                await store.quick_schema(call)
            found = (await store.edges([elsewhere], call))[elsewhere]
        finally:
            driver.execute_query(f"MATCH (n:`{label}`) DETACH DELETE n")
            await store.close()
    assert f"{Neo4jSettings().base}later" in {edge.object for edge in found.edges}


@pytest.mark.parametrize(
    ("nodes", "wrong"),
    [
        (NodesInNeo4j(labels=("no such",)), "No node that is read has the property 'id'"),
        (NodesInNeo4j(labels=("Link",), id="no such"), "No node that is read has the property 'no such'"),
        (NodesInNeo4j(labels=("Disease",), id="usage_count"), "has no text in the property 'usage_count'"),
    ],
)
async def test_a_graph_without_ids_is_an_error_and_not_empty(
    port: int, tmp_path: Path, nodes: NodesInNeo4j, wrong: str
) -> None:
    async with opened(port, access(tmp_path), nodes) as gateway:
        with pytest.raises(EndpointFault, match=wrong) as caught:
            await gateway.bfs_query(["RxNorm:3251"], 1)
    assert "neo4j.nodes" in caught.value.valid
