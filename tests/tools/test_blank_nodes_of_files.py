"""Blank nodes and members of lists of a file are nodes and neighbours in every tool."""

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path

import pytest
import rdflib
import rdflib.compare

from gateway.api import open_gateway
from gateway.errors import InputError
from gateway.expand_compact import expand
from gateway.export.graphs import to_rdflib
from gateway.settings.hidden import HiddenSettings
from gateway.settings.profile import Profile
from gateway.settings.vocabulary import EdgeSettings, NodeSettings, ValueSettings
from gateway.tools.gateway import Gateway
from tests.small import ROOM, ids, metadata, triples

pytestmark = pytest.mark.anyio

HEADER = """
@prefix x: <https://example.org/x/> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> .
"""
RELATION = """
x:aspirin rdfs:label "aspirin" ; x:interaction [ x:severity "major" ; x:with x:warfarin ] .
x:ann x:knows [ a x:Person ; rdfs:label "Bob" ] .
"""
Open = Callable[..., AbstractAsyncContextManager[Gateway]]


@pytest.fixture
def over(tmp_path: Path) -> Open:
    @asynccontextmanager
    async def opened(turtle: str, profile: Profile | None = None) -> AsyncIterator[Gateway]:
        path = tmp_path / "graph.ttl"
        path.write_text(HEADER + turtle, encoding="utf-8")
        async with open_gateway(path, profile=profile or Profile(size=ROOM)) as gateway:
            yield gateway

    return opened


async def test_a_path_leads_through_a_blank_node(over: Open) -> None:
    async with over(RELATION) as gateway:
        answer = await gateway.intersect_subgraphs(["x:aspirin", "x:warfarin"], 2)
        (middle,) = (node for node in answer.nodes if node.id.startswith("_:"))
    assert (answer.complete, answer.node_count, answer.blank_node_edges) == (True, 3, None)
    assert (middle.entity_type, middle.metadata) == ("(x:interaction)", {"x:severity": "major"})
    assert triples(answer) == [
        (middle.id, "x:with", "x:warfarin"),
        ("x:aspirin", "x:interaction", middle.id),
    ]


async def test_a_blank_node_is_found_by_name_and_by_type_and_described_by_its_id(over: Open) -> None:
    async with over(RELATION) as gateway:
        (named,) = (await gateway.search_entities("Bob")).result
        (typed,) = (await gateway.search_entities(node_types=["(x:interaction)"])).result
        person = await gateway.describe_entity(named.id)
        both = await gateway.describe_entities([f"{named.id} Bob", typed.id])
    assert (named.entity_type, typed.entity_type) == ("x:Person", "(x:interaction)")
    assert (person.id, person.iri, person.complete) == (named.id, None, True)
    assert person.edges == {"^x:knows": [1, "x:ann"]}
    assert [node.id for node in both.result] == [named.id, typed.id]


async def test_the_schema_counts_blank_nodes_and_says_what_a_type_in_parentheses_is(over: Open) -> None:
    async with over(RELATION) as gateway:
        schema = await gateway.describe_schema()
    assert schema.comprehensive
    assert {"x:Person", "(x:interaction)"} == set(schema.entity_types)
    assert schema.counts["x:knows"] == schema.counts["x:interaction"] == 1
    assert any("parentheses" in warning for warning in schema.warnings or ())
    assert "_" not in schema.prefixes


async def test_an_id_that_means_no_node_is_missing(over: Open) -> None:
    async with over(RELATION) as gateway:
        answer = await gateway.bfs_query(["x:aspirin", "_:aaaaaaaaaa"], 1)
        with pytest.raises(InputError, match="_:aaaaaaaaaa"):
            await gateway.describe_entity("_:aaaaaaaaaa")
    assert answer.missing_seeds == ["_:aaaaaaaaaa"]


async def test_a_description_has_the_members_of_a_list_in_its_order(over: Open) -> None:
    days = """
    x:week x:days ( x:mon x:tue x:wed x:thu ) , x:extra . x:mon rdfs:label 'Monday' . x:thu rdfs:label 'Thursday' .
    """
    async with over(days) as gateway:
        week = await gateway.describe_entity("x:week")
        around = await gateway.bfs_query(["x:week"], 1)
    assert week.edges == {"x:days": [5, "x:mon Monday", "x:tue", "x:wed", "x:thu Thursday", "x:extra"]}
    assert week.complete
    positions = {edge.object: (edge.metadata or {}).get("position") for edge in around.edges}
    assert positions == {"x:mon": 1, "x:tue": 2, "x:wed": 3, "x:thu": 4, "x:extra": None}


async def test_a_description_shows_what_the_blank_nodes_say_that_a_node_leads_to(over: Open) -> None:
    turtle = "x:a x:p [ a x:C ; x:q 1 ; x:r [ x:s x:b ; x:t [ x:u 2 ] ] ] , x:c . [] x:from x:a ."
    async with over(turtle) as gateway:
        answer = await gateway.describe_entity("x:a")
        edges = (await gateway.bfs_query(["x:a"], 3)).edges
    around = {edge.predicate: edge.object for edge in edges if edge.object.startswith("_:")}
    assert answer.model_dump()["x:p"] == {
        "_": around["x:p"],
        "rdf:type": "x:C",
        "x:q": 1,
        "x:r": {"_": around["x:r"], "x:s": "x:b", "x:t": around["x:t"]},
    }
    # The one that is shown is no example of a neighbor, and those that point to the node are.
    assert answer.edges is not None
    assert answer.edges["x:p"] == [2, "x:c"]
    assert str(answer.edges["^x:from"][1]).startswith("_:")
    assert answer.complete


async def test_a_list_of_literals_is_one_value_in_its_order_in_both_shapes(over: Open) -> None:
    turtle = "x:a x:coords ( 3 1 2.5 'drei'@de ( x:b ) ) ; x:none () ; x:plain 1 , 2 ."
    async with over(turtle) as gateway:
        reference = await gateway.bfs_query(["x:a"], 1)
        compact = await gateway.call("bfs_query", {"seeds": ["x:a"], "max_hops": 1}, shape="compact")
    said = {"x:coords": [[3, 1, 2.5, "drei", ["x:b"]]], "x:none": [[]], "x:plain": [1, 2]}
    assert metadata(reference)["x:a"] == said
    assert expand(compact.as_json())["nodes"][0]["metadata"] == said
    assert [(edge.object, (edge.metadata or {}).get("position")) for edge in reference.edges] == [("x:b", "5.1")]


async def test_an_export_has_blank_nodes_again_and_no_term_of_the_gateways_own(over: Open) -> None:
    turtle = "x:a x:p [ x:q x:b ; a x:C ] , [ x:q x:c ] ."
    async with over(turtle) as gateway:
        exported = to_rdflib(await gateway.subgraph("bfs_query", {"seeds": ["x:a"], "max_hops": 2}))
    assert rdflib.compare.isomorphic(exported, rdflib.Graph().parse(data=HEADER + turtle))


async def test_blank_nodes_can_be_left_out_and_are_told(over: Open) -> None:
    async with over(RELATION, Profile(size=ROOM, nodes=NodeSettings(blank="off"))) as gateway:
        answer = await gateway.bfs_query(["x:aspirin"], 2)
        described = await gateway.describe_entity("x:aspirin")
    assert (ids(answer), answer.complete, answer.blank_node_edges) == (["x:aspirin"], False, 1)
    assert described.model_dump()["x:interaction"] == {"x:severity": "major", "x:with": "x:warfarin"}


async def test_in_a_wikibase_a_blank_node_is_an_unknown_value(over: Open) -> None:
    async with over("x:q1 x:p19 [] .", Profile(size=ROOM, values=ValueSettings(wikibase=True))) as gateway:
        described = await gateway.describe_entity("x:q1")
    assert (described.complete, described.model_dump()["x:p19"]) == (True, {"unknown": True})


async def test_expressions_of_owl_are_left_out_and_told(over: Open) -> None:
    turtle = "x:a rdfs:subClassOf x:b , [ a owl:Restriction ; owl:onProperty x:p ; owl:someValuesFrom x:c ] ."
    async with over(turtle) as gateway:
        answer = await gateway.bfs_query(["x:a"], 1)
    assert (ids(answer), answer.complete, answer.blank_node_edges) == (["x:a", "x:b"], False, 1)


async def test_an_axiom_of_owl_is_evidence_of_the_edge_that_it_annotates(over: Open) -> None:
    turtle = """
    x:a rdfs:subClassOf x:b .
    [] a owl:Axiom ; x:source "book" ;
        owl:annotatedSource x:a ; owl:annotatedProperty rdfs:subClassOf ; owl:annotatedTarget x:b .
    """
    async with over(turtle) as gateway:
        answer = await gateway.bfs_query(["x:a"], 1)
    (edge,) = answer.edges
    assert (ids(answer), answer.complete, edge.metadata) == (["x:a", "x:b"], True, {"source_documents": ["book"]})


@pytest.mark.parametrize(("rest", "is_malformed"), [("x:end", True), ("()", False)])
async def test_a_malformed_list_is_told(over: Open, rest: str, is_malformed: bool) -> None:
    async with over(f"x:a x:p [ rdf:first x:b ; rdf:rest {rest} ] , [ x:q 1 ] .") as gateway:
        answer = await gateway.bfs_query(["x:a"], 2)
    assert any("malformed list" in text for text in answer.warnings or ()) is is_malformed


EXPRESSION = "[ a owl:Restriction ; owl:onProperty x:p ; owl:someValuesFrom x:B ]"


@pytest.mark.parametrize(
    "member",
    [EXPRESSION, "<urn:x-bfsql-blank:zzz>", f"<https://example.org/{'a' * 1_100}>"],
    ids=["expression", "own", "long"],
)
async def test_a_member_that_has_no_id_spoils_no_description(over: Open, member: str) -> None:
    async with over(f"x:a x:l ( {member} x:b ) ; x:m ( {member} 'text' ) . x:c x:q x:d .") as gateway:
        one, both = await gateway.describe_entity("x:a"), await gateway.describe_entities(["x:c", "x:a"])
    assert one.edges is not None
    assert one.edges["x:l"][-1] == "x:b"
    assert [node.id for node in both.result] == ["x:c", "x:a"]
    array = one.model_dump()["x:m"][0]
    assert array[-1] == "text"
    assert isinstance(array[0], str) or array[0] == {"more": True}
    assert not str(array[0]).startswith((":", "_:"))


async def test_the_type_of_an_untyped_blank_node_is_no_edge_under_other_type_predicates(over: Open) -> None:
    turtle = "x:a x:p [ x:kind x:K ; x:v 1 ] , [ x:v 2 ] ."
    for types, expected in ((("https://example.org/x/kind",), {"x:K", "(x:p)", "untyped"}), ((), {"untyped"})):
        profile = Profile(size=ROOM, edges=EdgeSettings(types=types))
        async with over(turtle, profile) as gateway:
            answer = await gateway.bfs_query(["x:a"], 2)
        assert {node.entity_type for node in answer.nodes if node.id != "x:K"} == expected
        assert all(edge.predicate in {"x:p", "x:kind"} for edge in answer.edges)


async def test_what_is_stated_about_a_list_is_evidence_of_the_edges_to_its_members(over: Open) -> None:
    async with over("x:a x:p ( x:b x:c ) {| x:confidence 0.9 |} .") as gateway:
        answer = await gateway.bfs_query(["x:a"], 1)
    said = {edge.object: (edge.metadata or {}).get("assertions", []) for edge in answer.edges}
    assert {node: sorted(map(str, assertions)) for node, assertions in said.items()} == {
        "x:b": ["{'confidence': 0.9}", "{'position': 1}"],
        "x:c": ["{'confidence': 0.9}", "{'position': 2}"],
    }


async def test_positions_in_two_lists_are_two_assertions(over: Open) -> None:
    async with over("x:a x:p ( x:b x:c ) , ( x:c x:b x:c ) .") as gateway:
        answer = await gateway.bfs_query(["x:a"], 1)
    said = {edge.object: (edge.metadata or {})["assertions"] for edge in answer.edges}
    assert sorted(map(str, said["x:b"])) == ["{'position': 1}", "{'position': 2}"]
    assert sorted(map(str, said["x:c"])) == ["{'position': 2}", "{'position': [1, 3]}"]


async def test_only_the_row_that_shows_a_blank_node_has_it_as_no_example(over: Open) -> None:
    async with over("x:A x:p _:b . _:b x:q x:B . _:c x:q x:B .") as gateway:
        _, other = (await gateway.describe_entities(["x:A", "x:B"])).result
        alone = await gateway.describe_entity("x:B")
    assert other.edges == alone.edges
    assert alone.edges is not None
    assert len(alone.edges["^x:q"]) == 3


async def test_the_type_of_blank_nodes_has_no_iri(over: Open) -> None:
    async with over(RELATION) as gateway:
        answer = await gateway.describe_entity("(x:interaction)")
    assert (answer.id, answer.iri) == ("(x:interaction)", None)


async def test_what_looks_like_an_iri_of_the_gateway_is_another(over: Open) -> None:
    async with over("x:a x:p <urn:x-bfsql-blank:node:abc> ; <urn:x-bfsql-blank:foo> [ x:q 1 ] .") as gateway:
        answer = await gateway.bfs_query(["x:a"], 1)
        (there,) = (node.id for node in answer.nodes if "abc" in node.id)
        described = await gateway.describe_entity(there)
        await gateway.describe_entity("x:a")
    assert described.iri == "urn:x-bfsql-blank-of-file:node:abc"


async def test_a_hidden_member_of_a_list_is_left_out_and_the_list_closes(over: Open) -> None:
    hidden = HiddenSettings(types=("https://example.org/x/Secret",), literals=("https://example.org/x/ssn",))
    turtle = "x:a x:p ( x:b x:s x:c ) ; x:ssn ( '123' x:c ) . x:s a x:Secret ."
    async with over(turtle, Profile(size=ROOM, hidden=hidden)) as gateway:
        answer = await gateway.bfs_query(["https://example.org/x/a"], 2)
        described = await gateway.describe_entity("https://example.org/x/a")
    assert {edge.object[-1]: edge.metadata for edge in answer.edges} == {"b": {"position": 1}, "c": {"position": 2}}
    assert answer.complete
    assert "123" not in str(described.model_dump())


async def test_the_schema_says_what_share_of_the_edges_has_a_blank_node(over: Open) -> None:
    turtle = "x:a x:p [ x:v 1 ; x:in x:u ] , [ a x:T ; x:v 2 ; x:in x:u ] ; x:q x:b . x:b x:q x:c . x:c x:q x:a ."
    async with over(turtle) as gateway:
        schema = await gateway.describe_schema()
    (warning,) = (text for text in schema.warnings or () if "%" in text)
    assert warning == "57 % of the edges (4 of 7) have a blank node at an end; most of these are x:T, '(x:p)'."


async def test_the_schema_of_a_graph_without_blank_nodes_says_nothing_of_them(over: Open) -> None:
    async with over("x:a x:p x:b .") as gateway:
        schema = await gateway.describe_schema()
    assert not any("blank node" in text for text in schema.warnings or ())
