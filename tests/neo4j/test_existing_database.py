"""A database that others filled is read as it is."""

from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import neo4j
import pytest

from gateway.errors import EndpointFault, InputError
from gateway.graph.call import Call, Deadline
from gateway.graph.values import Edge
from gateway.neo4j.connection import Address
from gateway.neo4j.store import Neo4jStore
from gateway.settings.databases import EdgesInNeo4j, Neo4jSettings, NodesInNeo4j
from gateway.settings.profile import Profile
from gateway.terms.iri import XSD
from gateway.terms.literals import Literal
from tests.calls import asked, connected
from tests.cases import await_each
from tests.databases.drawn_names import check_nothing_is_lost, drawn_nodes
from tests.neo4j.database import access, address_at, opened
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


NAMED: list[tuple[dict[str, Any], str | None, list[str]]] = [
    ({"name": "Ann", "title": "Chair"}, "Ann", ["Chair"]),
    ({"name": ["A1", "B2"]}, "A1", ["B2"]),
    ({"synonyms": 7}, None, ["7"]),
    ({"name": "", "title": "Boss"}, "Boss", []),
    ({"name": 1932, "title": date(1932, 2, 1)}, "1932", ["1932-02-01"]),
]


async def test_no_value_of_a_node_is_lost_whatever_its_names_are(own_address: Address, tmp_path: Path) -> None:
    nodes = [{"id": f"urn:n:{number}", **properties} for number, (properties, _, _) in enumerate(NAMED)]
    drawn = drawn_nodes("2026 names", 120)
    with neo4j.GraphDatabase.driver(own_address.url, auth=(USER, PASSWORD)) as driver:
        for node in (*nodes, *drawn):
            driver.execute_query("CREATE (n:Named) SET n = $node", node=dict(node))
        try:
            own_port = urlsplit(own_address.url).port or 0
            async with connected(opened(own_port, access(tmp_path), NodesInNeo4j(labels=("Named",)))) as client:
                for number, (_, name, synonyms) in enumerate(NAMED):
                    (node,) = (await asked(client, "bfs_query", seeds=[f"urn:n:{number}"], max_hops=1))["nodes"]
                    assert (node["metadata"].get("name"), node["metadata"].get("synonyms", [])) == (name, synonyms)
                chair = await asked(client, "search_entities", query="Chair")
                assert [hit["id"] for hit in chair["result"]] == ["urn:n:0"]
                await await_each(drawn, lambda node: check_nothing_is_lost(client, node, names=("name", "title")))
        finally:
            driver.execute_query("MATCH (n:Named) DETACH DELETE n")


async def test_the_pages_of_names_have_each_name_and_each_synonym_once(own_address: Address) -> None:
    store = Neo4jStore(own_address, Neo4jSettings(nodes=NodesInNeo4j(labels=("Named",))), Profile(), {})
    call = Call(Deadline.after(60), 100, 100_000, 100_000)
    with neo4j.GraphDatabase.driver(own_address.url, auth=(USER, PASSWORD)) as driver:
        for number, (properties, _, _) in enumerate(NAMED):
            driver.execute_query("CREATE (n:Named) SET n = $node", node={"id": f"urn:n:{number}", **properties})
        try:
            reader = store.name_reader()
            pages = [await reader.page(predicate, "", call) for predicate in reader.predicates]
            counts = await reader.counts(reader.predicates, lambda: call)
        finally:
            driver.execute_query("MATCH (n:Named) DETACH DELETE n")
            await store.close()
    assert [[name.text for name in page.names] for page in pages] == [
        ["Ann", "A1", "Boss", "1932"],
        ["Chair", "B2", "7", "1932-02-01"],
    ]
    assert counts == [4, 4]


async def test_what_a_relationship_says_twice_is_said_twice(own_address: Address) -> None:
    settings = Neo4jSettings(nodes=NodesInNeo4j(labels=("Said",)), edges=EdgesInNeo4j(properties="json"))
    store = Neo4jStore(own_address, settings, Profile(), {})
    said = {"dose": 5, "@unit": "mg", "json": '{"dose": 7, "@graph": "urn:n:paper"}'}
    with neo4j.GraphDatabase.driver(own_address.url, auth=(USER, PASSWORD)) as driver:
        driver.execute_query("CREATE (:Said {id: 'urn:n:a'})-[r:p]->(:Said {id: 'urn:n:b'}) SET r = $said", said=said)
        try:
            edge = Edge("urn:n:a", f"{settings.vocabulary}p", "urn:n:b")
            (stated,) = (await store.edge_metadata([edge], Call(Deadline.after(60), 9, 9, 9_000)))[edge].assertions
        finally:
            driver.execute_query("MATCH (n:Said) DETACH DELETE n")
            await store.close()
    assert stated.properties == {
        f"{settings.vocabulary}dose": (Literal("5", f"{XSD}integer"), Literal("7", f"{XSD}integer")),
        f"{settings.vocabulary}%40unit": (Literal("mg"),),
    }
    assert stated.sources == ("urn:n:paper",)


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


SITES: list[dict[str, Any]] = [
    {"id": "urn:s:1", "skos__prefLabel": "Old mill", "skos__altLabel": ["The mill"], "comment": "It grinds flour."},
    {"id": "urn:s:2", "name": "Bridge", "skos__prefLabel": "Stone bridge", "comment": "It crosses the river."},
    {"id": "urn:s:3", "fileName": "mill.pdf", "label_of": "kept"},
]


async def test_properties_that_are_called_names_are_names_where_the_profile_names_none(
    own_address: Address, tmp_path: Path
) -> None:
    own_port = urlsplit(own_address.url).port or 0
    with neo4j.GraphDatabase.driver(own_address.url, auth=(USER, PASSWORD)) as driver:
        driver.execute_query("UNWIND $nodes AS node CREATE (n:Site) SET n = node", nodes=SITES)
        try:
            async with opened(own_port, access(tmp_path), NodesInNeo4j(labels=("Site",))) as gateway:
                said = [(await gateway.describe_entity(site["id"])).model_extra or {} for site in SITES]
                found = [(await gateway.search_entities(text)).result for text in ("the mill", "stone bridge")]
            pinned = NodesInNeo4j(labels=("Site",), names=("comment",))
            async with opened(own_port, access(tmp_path), pinned) as gateway:
                comment = (await gateway.describe_entity("urn:s:1")).model_extra or {}
        finally:
            driver.execute_query("MATCH (n:Site) DETACH DELETE n")
    assert [one.get("name") for one in said] == ["Old mill", "Bridge", None]
    assert [one.get("synonyms") for one in said] == [["The mill"], ["Stone bridge"], None]
    assert said[2]["term:fileName"] == "mill.pdf"
    assert [[hit.id for hit in hits] for hits in found] == [["urn:s:1"], ["urn:s:2"]]
    assert comment["name"] == "It grinds flour."


async def test_values_decide_which_property_names_nodes_where_none_is_called_so(
    own_address: Address, tmp_path: Path
) -> None:
    own_port = urlsplit(own_address.url).port or 0
    nodes = [
        {"id": f"urn:s:{number}", "maker": f"Maker {number}", "status": "open", "comment": f"No {number}"}
        for number in range(6)
    ]
    with neo4j.GraphDatabase.driver(own_address.url, auth=(USER, PASSWORD)) as driver:
        driver.execute_query("UNWIND $nodes AS node CREATE (n:Site) SET n = node", nodes=nodes)
        try:
            async with opened(own_port, access(tmp_path), NodesInNeo4j(labels=("Site",))) as gateway:
                found = (await gateway.search_entities("maker 4")).result
        finally:
            driver.execute_query("MATCH (n:Site) DETACH DELETE n")
    assert [(hit.id, hit.name) for hit in found] == [("urn:s:4", "Maker 4")]
