"""A whole subgraph of a question about values has what the rows of its pages say."""

import json
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import rdflib

from gateway.answers.models import BfsResult
from gateway.api import open_gateway
from gateway.arguments import Show, TraversalOptions
from gateway.errors import EndpointFault
from gateway.export.subgraph import SubgraphNode
from gateway.terms.literals import Literal
from gateway.tools import whole_subgraph

pytestmark = pytest.mark.anyio

SEED = "drug:warfarin"

ABOUT_VALUES: TraversalOptions = {
    "where": ["totalMentions > 5"],
    "values": ["totalMentions", "INTERACTS_WITH", "type"],
    "sort_by": "-totalMentions",
}


def stands_for(node: SubgraphNode, show: Show) -> str:
    return {"both": f"{node.id} {node.name}", "id": node.id, "name": node.name}[show]


@pytest.mark.parametrize("show", ["both", "id", "name"])
@pytest.mark.parametrize("nodes_a_page", [2, 500])
async def test_values_are_those_of_the_rows_whatever_stands_for_a_node(
    monkeypatch: pytest.MonkeyPatch, nodes_a_page: int, show: Show
) -> None:
    monkeypatch.setattr(whole_subgraph, "NODES_A_PAGE", nodes_a_page)
    asked: Any = {**ABOUT_VALUES, "show": show}
    async with open_gateway() as graph:
        whole = await graph.bfs_subgraph([SEED], 2, **asked)
        answer = await graph.bfs_query([SEED], 2, **asked, max_tokens=12_000)
        plain = await graph.bfs_subgraph([SEED], 2, where=ABOUT_VALUES["where"])
    members = [node for node in whole.nodes if node.values is not None]
    assert whole.columns == ("m:totalMentions", "m:INTERACTS_WITH", "type")
    assert answer.rows
    assert [[stands_for(node, show), *(node.values or {}).values()] for node in members] == answer.rows
    assert whole.nodes[-len(members) :] == members
    # Nothing that is told without values is lost.
    without = sorted((replace(node, values=None) for node in whole.nodes), key=lambda node: node.id)
    assert without == sorted(plain.nodes, key=lambda node: node.id)
    assert whole.edges == plain.edges
    assert whole.notes == ["Condition: totalMentions > 5 (number)"]


async def test_an_order_alone_shows_the_values_that_it_is_by() -> None:
    async with open_gateway() as graph:
        whole = await graph.intersection_subgraph([SEED, "drug:aspirin"], 1, sort_by="-totalMentions")
    assert whole.columns == ("m:totalMentions",)
    assert [node.values for node in whole.nodes][:2] == [None, None]
    mentions = [node.values["m:totalMentions"] for node in whole.nodes if node.values]
    assert mentions == sorted(mentions, reverse=True)
    assert whole.notes == ["Seeds that would be in the rows too: 2"]


async def test_a_whole_subgraph_without_edges_has_its_nodes_and_values() -> None:
    async with open_gateway() as graph:
        plain = await graph.bfs_subgraph([SEED], 1, edges=False)
        whole = await graph.bfs_subgraph([SEED], 1, edges=False, values=["totalMentions"])
    assert (len(plain.nodes), plain.edges, whole.edges) == (16, [], [])
    assert sum(node.values is not None for node in whole.nodes) == 15


async def test_values_are_whole_however_long_and_many_they_are(tmp_path: Path) -> None:
    values = ", ".join(f'"{number} {"x" * 400}"' for number in range(12))
    (tmp_path / "graph.ttl").write_text(f"@prefix e: <http://e.org/> . e:a e:p e:b . e:b e:v {values} .")
    async with open_gateway(tmp_path / "graph.ttl") as graph:
        whole = await graph.bfs_subgraph(["<http://e.org/a>"], 1, values=["<http://e.org/v>"])
    assert whole.notes == []
    cell = (whole.nodes[-1].values or {})["e:v"]
    assert sorted(cell) == sorted(f"{number} {'x' * 400}" for number in range(12))


async def test_rows_of_other_nodes_than_those_that_were_found_are_an_error() -> None:
    async with open_gateway() as graph:
        whole = await graph.bfs_subgraph([SEED], 1, edges=False)
        other = await graph.bfs_query([SEED], 2, max_tokens=12_000)

    async def pages() -> AsyncIterator[BfsResult]:
        rows = [[node.id] for node in other.nodes]
        yield BfsResult.model_validate({**json.loads(json.dumps(other.as_json())), "columns": [], "rows": rows})

    with pytest.raises(EndpointFault, match="changed while its subgraph was read"):
        await whole_subgraph.with_rows(whole, pages())


STATED = """@prefix x: <http://x.example/> . @prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
x:a x:near x:b , x:c . x:c x:near x:b .
x:b x:size 5 , "five"^^x:words ; x:day "2020-02-03"^^xsd:date ; x:text "road"@en , "Weg"@de ;
  x:part x:p ; x:sizes (1 2) .
x:p x:size 7 ."""


async def test_asked_values_are_triples_with_datatypes_and_languages(tmp_path: Path) -> None:
    path = tmp_path / "x.ttl"
    path.write_text(STATED, encoding="utf-8")
    columns = ["x:size", "x:day", "x:text", "x:part", "^x:near", "x:part/x:size", "x:sizes", "name", "type"]
    async with open_gateway(path) as graph:
        subgraph = await graph.bfs_subgraph(["x:a"], 1, values=columns, only_predicates=["x:near"])
    given = rdflib.Graph().parse(path)
    x = rdflib.Namespace("http://x.example/")
    shown = {x[name] for name in ("near", "size", "day", "text", "part")}
    triples = {triple for triple in subgraph.to_rdflib() if triple[1] != rdflib.RDF.type}
    # Members of a list are values of their own, as they are edges of their own.
    assert triples - {(x.b, x.sizes, rdflib.Literal(number)) for number in (1, 2)} == {
        triple for triple in given if triple[1] in shown and triple[0] != x.p
    }
    assert subgraph.notes == ["Texts in other languages that are left out: 1 de"]


async def test_nodes_that_class_expressions_may_say_are_stated_by_no_triple(tmp_path: Path) -> None:
    path = tmp_path / "x.ttl"
    path.write_text(
        """@prefix x: <http://x.example/> . @prefix owl: <http://www.w3.org/2002/07/owl#> .
        @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
        x:s x:near x:C , x:D . x:D a owl:Class ; x:size 5 . x:C a owl:Class ; rdfs:subClassOf
          [ owl:onProperty x:part ; owl:someValuesFrom x:D ] , [ owl:onProperty x:size ; owl:hasValue 4 ] .""",
        encoding="utf-8",
    )
    async with open_gateway(path) as graph:
        subgraph = await graph.bfs_subgraph(["x:s"], 1, values=["x:part", "x:size"], edges=False)
    x = rdflib.Namespace("http://x.example/")
    assert subgraph.triples == [(str(x.D), str(x.size), Literal("5", str(rdflib.XSD.integer)))]
    assert not {*subgraph.to_rdflib().triples((None, x.part, None))}
    assert whole_subgraph.NODES_ARE_NOT_STATED in subgraph.notes
