"""Writes graphs of the tests into a database: each with a label of its own, what no property can hold as JSON."""

import asyncio
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import neo4j

from gateway.databases.terms import IriMapping, JsonEncoder
from gateway.files.loading import load_files
from gateway.graph.call import Call, Deadline
from gateway.graph.values import Edge, EdgeSelection, Evidence
from gateway.postgres.loading import nodes_of
from gateway.settings.databases import EdgesInNeo4j, Neo4jSettings, NodesInNeo4j
from gateway.settings.profile import Profile
from gateway.sparql.store import SparqlStore
from gateway.terms.literals import Literal
from gateway.transport.inprocess import InProcess
from tests.servers.neo4j import PASSWORD, USER, Neo4jServer

_JSON = JsonEncoder(IriMapping(Neo4jSettings().base, {}), IriMapping(Neo4jSettings().vocabulary, {}))
"""The IRIs of the graphs are written as they are."""

_BATCH = 1_000
_UNBOUNDED = 1 << 40

_NODES = "UNWIND $rows AS row CREATE (n:$(row.labels)) SET n += row.properties"
_EDGES = """
UNWIND $rows AS row
MATCH (s:$($label) {id: row.s}), (o:$($label) {id: row.o})
CREATE (s)-[r:$(row.p)]->(o) SET r += row.properties
"""


def label_of(graph: str) -> str:
    """Return the label that every node of a graph has."""
    return f"graph {graph}"


def settings_of(graph: str) -> Neo4jSettings:
    """Return the settings by which a graph that was written is read."""
    label = label_of(graph)
    nodes = NodesInNeo4j(labels=(label,), no_types=(label,), names=("name",), properties="json")
    return Neo4jSettings(nodes=nodes, edges=EdgesInNeo4j(properties="json"))


EXISTING: Final = Path(__file__).with_name("existing.cypher")
"""Graphs as others make them, whose nodes have no common label."""


def write_existing(server: Neo4jServer) -> None:
    """Write the graphs that are given as Cypher."""
    with neo4j.GraphDatabase.driver(server.url, auth=(USER, PASSWORD)) as driver:
        for statement in EXISTING.read_text(encoding="utf-8").split(";\n"):
            if statement:
                driver.execute_query(statement)


def write_graphs(server: Neo4jServer, files: Mapping[str, Sequence[Path]], profile: Profile | None = None) -> None:
    """Write the files of each graph, read under a profile."""
    with neo4j.GraphDatabase.driver(server.url, auth=(USER, PASSWORD)) as driver:
        for graph, paths in files.items():
            label = label_of(graph)
            driver.execute_query(f"CREATE CONSTRAINT FOR (n:`{label}`) REQUIRE n.id IS UNIQUE")
            nodes, edges = asyncio.run(_read(paths, label, profile or Profile()))
            for rows in _batches(nodes):
                driver.execute_query(_NODES, rows=rows)
            for rows in _batches(edges):
                driver.execute_query(_EDGES.replace("$($label)", f"`{label}`"), rows=rows)


def _batches(rows: Sequence[Any]) -> Iterator[Sequence[Any]]:
    for start in range(0, len(rows), _BATCH):
        yield rows[start : start + _BATCH]


async def _read(
    paths: Sequence[Path], label: str, profile: Profile
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return nodes and relationships as parameters."""
    graph = load_files(paths)
    store = SparqlStore(InProcess(graph.engine, max_bytes=1 << 26), profile)
    written: list[dict[str, Any]] = []
    relationships: list[dict[str, Any]] = []
    for batch in _batches(nodes_of(graph.engine)):
        facts = await store.nodes(batch, _call(), names=True)
        described = await store.node_metadata(batch, _call(), blank_nodes=True)
        around = await store.edges(batch, _call(), selection=EdgeSelection(outgoing=None, incoming=()))
        edges = [edge for node in batch for edge in around[node].edges]
        stated = await store.edge_metadata(edges, _call())
        relationships += [row for edge in edges for row in _relationships(edge, stated[edge])]
        for node in batch:
            content = described[node].properties
            names = [
                value.value
                for predicate in (*profile.roles.name, *profile.roles.synonym)
                for value in content.get(predicate, ())
                if isinstance(value, Literal)
            ]
            properties = {
                "id": node,
                "name": facts[node].name or None,
                "synonyms": [name for name in dict.fromkeys(names) if name != facts[node].name],
                "json": json.dumps(_JSON.properties(content), ensure_ascii=False),
            }
            written.append({"labels": [label, *facts[node].types], "properties": properties})
    return written, relationships


def _relationships(edge: Edge, evidence: Evidence) -> list[dict[str, Any]]:
    """Return a relationship for each statement of an edge."""
    stated = [json.dumps(_JSON.assertion(one), ensure_ascii=False) for one in evidence.assertions]
    return [
        {"s": edge.subject, "p": edge.predicate, "o": edge.object, "properties": {"json": text} if text else {}}
        for text in stated or [""]
    ]


def _call() -> Call:
    return Call(Deadline.after(600), _UNBOUNDED, _UNBOUNDED, _UNBOUNDED)
