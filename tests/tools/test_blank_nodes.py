"""Blank nodes: of an endpoint they are no nodes, of a file they are, and stand within the edge that leads to them."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import rdflib
import rdflib.compare

from gateway.answers.models import SearchResult
from gateway.api import open_gateway
from gateway.errors import EndpointFault, Fault, GatewayError, InputError, NetworkFault, QueryRefused
from gateway.expand_compact import expand
from gateway.export.rdf_graph import to_rdflib
from gateway.files.loading import load_files
from gateway.settings.endpoint import EndpointSettings, RequestSettings
from gateway.settings.hidden import HiddenSettings
from gateway.settings.profile import Profile
from gateway.settings.vocabulary import EdgeSettings, NodeSettings, ValueSettings
from tests.answers.same_nodes import assert_same_nodes
from tests.small import HEADER, ROOM, Watched, WatchedElsewhere, engine, ids, metadata, over, triples
from tests.tools.conftest import Open

pytestmark = pytest.mark.anyio

RELATION = "x:aspirin x:interaction [ x:severity 'major' ; x:with x:warfarin ] ; x:treats x:pain ."
"""A relation of three, with a blank node between two nodes."""


async def test_a_traversal_beside_blank_nodes_is_not_complete_and_names_their_neighbours() -> None:
    async with over(RELATION) as gateway:
        answer = await gateway.bfs_query(["x:aspirin"], 2)
    assert ids(answer) == ["x:aspirin", "x:pain"]
    assert (answer.complete, answer.blank_node_edges) == (False, 1)
    assert [(gap.cause, gap.count, gap.ids) for gap in answer.incomplete or ()] == [("blank_nodes", 1, ["x:aspirin"])]


async def test_nothing_in_common_through_a_blank_node_is_no_fact() -> None:
    async with over(RELATION) as gateway:
        answer = await gateway.intersect_subgraphs(["x:aspirin", "x:warfarin"], 2)
    assert (answer.node_count, answer.complete) == (0, False)
    assert [(gap.cause, gap.ids) for gap in answer.incomplete or ()] == [("blank_nodes", ["x:aspirin", "x:warfarin"])]


@pytest.mark.parametrize(
    ("turtle", "node", "whole"),
    [
        (RELATION, "x:aspirin", True),
        (RELATION, "x:warfarin", False),
        ("x:week x:days ( x:mon x:tue x:wed ) .", "x:week", False),
        ("x:a x:p [ x:q [ x:r 1 ] ] .", "x:a", True),
        ("x:a x:p [ x:q [ x:r [ x:s 1 ] ] ] .", "x:a", False),
        ("x:a x:p x:b .", "x:a", True),
        ("x:a rdfs:label [ x:q 1 ] . [] x:p x:a .", "x:a", False),
    ],
    ids=["shown", "only pointed from", "list", "two levels", "three levels", "none", "shown, but no edge"],
)
async def test_a_description_is_complete_if_it_shows_all_that_the_blank_nodes_beside_a_node_say(
    turtle: str, node: str, whole: bool
) -> None:
    async with over(turtle) as gateway:
        one, many = await gateway.describe_entity(node), await gateway.describe_entities([node])
    assert (one.complete, many.complete) == (whole, whole)
    for answer in (one, many):
        assert any(f"beside {node} cannot be followed" in warning for warning in answer.warnings or ()) is not whole


async def test_an_unknown_value_of_a_wikibase_is_read_and_nothing_is_missing() -> None:
    wikibase = Profile(size=ROOM, values=ValueSettings(wikibase=True))
    async with over("x:q1 x:p19 [] , x:place .", wikibase) as gateway:
        around, described = await gateway.bfs_query(["x:q1"], 1), await gateway.describe_entity("x:q1")
    assert (around.complete, described.complete) == (True, True)


PEOPLE = """
x:ann a x:Person ; rdfs:label "Ann" ; x:knows [ a x:Person ; rdfs:label "Bob" ] .
[] a x:Assertion ; x:subject x:ann . x:ann x:likes x:tea .
"""


async def test_a_schema_says_what_it_does_not_count_and_denies_nothing_that_only_blank_nodes_have() -> None:
    async with over(PEOPLE) as gateway:
        schema = await gateway.describe_schema()
        along = await gateway.bfs_query(["x:ann"], 1, only_predicates=["x:subject"])
        among = await gateway.bfs_query(["x:ann"], 1, node_types=["Assertion"])
    assert (schema.comprehensive, schema.complete) == (False, False)
    assert schema.counts == {"x:Person": 1, "x:likes": 1}
    (warning,) = (text for text in schema.warnings or () if "blank nodes" in text)
    assert "2 edges to or from them, and 2 of them that have a type, are not counted" in warning
    assert schema.graph_description.startswith("An RDF graph of 1 edge, and 2 to or from blank nodes,")
    assert (along.complete, along.blank_node_edges) == (False, 1)
    assert not any("no edge of this graph" in text for text in (*(along.warnings or ()), *(among.warnings or ())))


@pytest.mark.parametrize(
    ("query", "types", "found", "complete"),
    [
        ("Bob", None, [], False),
        ("Ann", None, ["x:ann"], False),
        (None, ["x:Person"], ["x:ann"], False),
        (None, ["x:Assertion"], [], False),
        ("Ann", ["x:Person"], ["x:ann"], False),
        (None, ["x:Place"], ["x:rome"], True),
        ("Rome", ["x:Place"], ["x:rome"], True),
    ],
)
async def test_a_search_that_did_not_look_at_blank_nodes_which_may_fit_is_not_complete(
    query: str | None, types: list[str] | None, found: list[str], complete: bool
) -> None:
    async with over(PEOPLE + "x:rome a x:Place ; rdfs:label 'Rome' .") as gateway:
        given = {name: value for name, value in (("query", query), ("node_types", types)) if value is not None}
        answer = await gateway.call("search_entities", given)
    assert isinstance(answer, SearchResult)
    assert ([hit.id for hit in answer.result], answer.complete) == (found, complete)


async def test_names_of_named_nodes_alone_are_all_compared_though_there_are_blank_nodes() -> None:
    async with over("x:ann rdfs:label 'Ann' ; x:p [ x:q 1 ] .") as gateway:
        answer = await gateway.search_entities("Ann")
    assert answer.complete


async def test_evidence_that_blank_nodes_state_is_not_missing_in_a_schema() -> None:
    async with over("x:a x:p x:b {| x:by [ x:name 'Bob' ] |} .") as gateway:
        schema = await gateway.describe_schema()
    assert schema.comprehensive


async def test_an_unknown_value_of_a_wikibase_is_not_missing_in_a_schema() -> None:
    wikibase = Profile(size=ROOM, values=ValueSettings(wikibase=True))
    async with over("x:q1 x:p19 [] ; x:p2 x:q2 .", wikibase) as gateway:
        schema = await gateway.describe_schema()
    assert schema.comprehensive


RELATIONS = """
x:aspirin rdfs:label "aspirin" ; x:interaction [ x:severity "major" ; x:with x:warfarin ] .
x:ann x:knows [ a x:Person ; rdfs:label "Bob" ] .
"""


async def test_a_path_leads_through_a_blank_node(over_file: Open) -> None:
    async with over_file(RELATIONS) as gateway:
        answer = await gateway.intersect_subgraphs(["x:aspirin", "x:warfarin"], 2)
        (middle,) = (node for node in answer.nodes if node.id.startswith("_:"))
    assert (answer.complete, answer.node_count, answer.blank_node_edges) == (True, 3, None)
    assert (middle.entity_type, middle.metadata) == ("(x:interaction)", {"x:severity": "major"})
    assert triples(answer) == [
        (middle.id, "x:with", "x:warfarin"),
        ("x:aspirin", "x:interaction", middle.id),
    ]


async def test_a_blank_node_is_found_by_name_and_by_type_and_described_by_its_id(over_file: Open) -> None:
    async with over_file(RELATIONS) as gateway:
        (named,) = (await gateway.search_entities("Bob")).result
        (typed,) = (await gateway.search_entities(node_types=["(x:interaction)"])).result
        person = await gateway.describe_entity(named.id)
        both = await gateway.describe_entities([f"{named.id} Bob", typed.id])
    assert (named.entity_type, typed.entity_type) == ("x:Person", "(x:interaction)")
    assert (person.id, person.iri, person.complete) == (named.id, None, True)
    assert person.edges == {"^x:knows": [1, "x:ann"]}
    assert [node.id for node in both.result] == [named.id, typed.id]


async def test_the_schema_counts_blank_nodes_and_says_what_a_type_in_parentheses_is(over_file: Open) -> None:
    async with over_file(RELATIONS) as gateway:
        schema = await gateway.describe_schema()
    assert schema.comprehensive
    assert {"x:Person", "(x:interaction)"} == set(schema.entity_types)
    assert schema.counts["x:knows"] == schema.counts["x:interaction"] == 1
    assert any("parentheses" in warning for warning in schema.warnings or ())
    assert "_" not in schema.prefixes


async def test_the_schema_shows_no_list_of_values_as_it_is_written_inside(over_file: Open) -> None:
    async with over_file("x:a rdfs:label 'A' ; x:scores ( 3 x:b 5 ) , ( 1 2 ) .") as gateway:
        schema = await gateway.describe_schema()
    written = schema.model_dump_json()
    assert "x:scores" in written
    assert "[{" not in json.dumps(schema.model_dump(mode="json")["values"])


async def test_an_id_that_means_no_node_is_missing(over_file: Open) -> None:
    async with over_file(RELATIONS) as gateway:
        answer = await gateway.bfs_query(["x:aspirin", "_:aaaaaaaaaa"], 1)
        with pytest.raises(InputError, match="_:aaaaaaaaaa"):
            await gateway.describe_entity("_:aaaaaaaaaa")
    assert answer.missing_seeds == ["_:aaaaaaaaaa"]


async def test_a_description_has_the_members_of_a_list_in_its_order(over_file: Open) -> None:
    days = """
    x:week x:days ( x:mon x:tue x:wed x:thu ) , x:extra . x:mon rdfs:label 'Monday' . x:thu rdfs:label 'Thursday' .
    """
    async with over_file(days) as gateway:
        week = await gateway.describe_entity("x:week")
        around = await gateway.bfs_query(["x:week"], 1)
    assert week.edges == {"x:days": [5, "x:mon Monday", "x:tue", "x:wed", "x:thu Thursday", "x:extra"]}
    assert week.complete
    positions = {edge.object: (edge.metadata or {}).get("position") for edge in around.edges}
    assert positions == {"x:mon": 1, "x:tue": 2, "x:wed": 3, "x:thu": 4, "x:extra": None}


async def test_a_description_shows_what_the_blank_nodes_say_that_a_node_leads_to(over_file: Open) -> None:
    turtle = "x:a x:p [ a x:C ; x:q 1 ; x:r [ x:s x:b ; x:t [ x:u 2 ] ] ] , x:c . [] x:from x:a ."
    async with over_file(turtle) as gateway:
        answer = await gateway.describe_entity("x:a")
        edges = (await gateway.bfs_query(["x:a"], 3)).edges
    around = {edge.predicate: edge.object for edge in edges if edge.object.startswith("_:")}
    assert answer.model_dump()["x:p"] == {
        "_": around["x:p"],
        "rdf:type": "x:C",
        "x:q": 1,
        "x:r": {"_": around["x:r"], "x:s": "x:b", "x:t": {"_": around["x:t"], "more": True}},
    }
    # The one that is shown is no example of a neighbor, and those that point to the node are.
    assert answer.edges is not None
    assert answer.edges["x:p"] == [2, "x:c"]
    assert str(answer.edges["^x:from"][1]).startswith("_:")
    assert answer.complete


async def test_a_list_of_literals_is_one_value_in_its_order_in_both_shapes(over_file: Open) -> None:
    turtle = "x:a x:coords ( 3 1 2.5 'drei'@de ( x:b ) ) ; x:none () ; x:plain 1 , 2 ."
    async with over_file(turtle) as gateway:
        reference = await gateway.bfs_query(["x:a"], 1)
        compact = await gateway.call("bfs_query", {"seeds": ["x:a"], "max_hops": 1}, shape="compact")
    said = {"x:coords": [[3, 1, 2.5, "drei", ["x:b"]]], "x:none": [[]], "x:plain": [1, 2]}
    assert metadata(reference)["x:a"] == said
    assert expand(compact.as_json())["nodes"][0]["metadata"] == said
    assert [(edge.object, (edge.metadata or {}).get("position")) for edge in reference.edges] == [("x:b", "5.1")]


async def test_an_export_has_blank_nodes_again_and_no_term_of_the_gateways_own(over_file: Open) -> None:
    turtle = "x:a x:p [ x:q x:b ; a x:C ] , [ x:q x:c ] ."
    async with over_file(turtle) as gateway:
        exported = to_rdflib(await gateway.subgraph("bfs_query", {"seeds": ["x:a"], "max_hops": 2}))
    assert rdflib.compare.isomorphic(exported, rdflib.Graph().parse(data=HEADER + turtle))


async def test_blank_nodes_can_be_left_out_and_are_told(over_file: Open) -> None:
    async with over_file(RELATIONS, Profile(size=ROOM, nodes=NodeSettings(blank="off"))) as gateway:
        answer = await gateway.bfs_query(["x:aspirin"], 2)
        described = await gateway.describe_entity("x:aspirin")
    assert (ids(answer), answer.complete, answer.blank_node_edges) == (["x:aspirin"], False, 1)
    assert described.model_dump()["x:interaction"] == {"x:severity": "major", "x:with": "x:warfarin"}


async def test_in_a_wikibase_a_blank_node_is_an_unknown_value(over_file: Open) -> None:
    async with over_file("x:q1 x:p19 [] .", Profile(size=ROOM, values=ValueSettings(wikibase=True))) as gateway:
        described = await gateway.describe_entity("x:q1")
    assert (described.complete, described.model_dump()["x:p19"]) == (True, {"unknown": True})


async def test_an_expression_of_owl_that_fits_no_rule_is_left_out_and_told(over_file: Open) -> None:
    turtle = "x:a rdfs:subClassOf x:b , [ a owl:Restriction ; owl:onProperty x:p ; x:odd x:c ] ."
    async with over_file(turtle) as gateway:
        answer = await gateway.bfs_query(["x:a"], 1)
    assert (ids(answer), answer.complete, answer.blank_node_edges) == (["x:a", "x:b"], False, 1)


async def test_an_axiom_of_owl_is_evidence_of_the_edge_that_it_annotates(over_file: Open) -> None:
    turtle = """
    x:a rdfs:subClassOf x:b .
    [] a owl:Axiom ; x:source "book" ;
        owl:annotatedSource x:a ; owl:annotatedProperty rdfs:subClassOf ; owl:annotatedTarget x:b .
    """
    async with over_file(turtle) as gateway:
        answer = await gateway.bfs_query(["x:a"], 1)
    (edge,) = answer.edges
    assert (ids(answer), answer.complete, edge.metadata) == (["x:a", "x:b"], True, {"source_documents": ["book"]})


@pytest.mark.parametrize(("rest", "is_malformed"), [("x:end", True), ("()", False)])
async def test_a_malformed_list_is_told(over_file: Open, rest: str, is_malformed: bool) -> None:
    async with over_file(f"x:a x:p [ rdf:first x:b ; rdf:rest {rest} ] , [ x:q 1 ] .") as gateway:
        answer = await gateway.bfs_query(["x:a"], 2)
    assert any("malformed list" in text for text in answer.warnings or ()) is is_malformed


EXPRESSION = "[ a owl:Restriction ; owl:onProperty x:p ; owl:someValuesFrom x:B ]"


@pytest.mark.parametrize(
    "member",
    [EXPRESSION, "<urn:x-bfsql-blank:zzz>", f"<https://example.org/{'a' * 1_100}>"],
    ids=["expression", "own", "long"],
)
async def test_a_member_that_has_no_id_spoils_no_description(over_file: Open, member: str) -> None:
    async with over_file(f"x:a x:l ( {member} x:b ) ; x:m ( {member} 'text' ) . x:c x:q x:d .") as gateway:
        one, both = await gateway.describe_entity("x:a"), await gateway.describe_entities(["x:c", "x:a"])
    assert one.edges is not None
    assert one.edges["x:l"][-1] == "x:b"
    assert [node.id for node in both.result] == ["x:c", "x:a"]
    array = one.model_dump()["x:m"][0]
    assert array[-1] == "text"
    assert isinstance(array[0], str) or array[0] == {"more": True}
    assert not str(array[0]).startswith((":", "_:"))


async def test_the_type_of_an_untyped_blank_node_is_no_edge_under_other_type_predicates(over_file: Open) -> None:
    turtle = "x:a x:p [ x:kind x:K ; x:v 1 ] , [ x:v 2 ] ."
    for types, expected in ((("https://example.org/x/kind",), {"x:K", "(x:p)", "untyped"}), ((), {"untyped"})):
        profile = Profile(size=ROOM, edges=EdgeSettings(types=types))
        async with over_file(turtle, profile) as gateway:
            answer = await gateway.bfs_query(["x:a"], 2)
        assert {node.entity_type for node in answer.nodes if node.id != "x:K"} == expected
        assert all(edge.predicate in {"x:p", "x:kind"} for edge in answer.edges)


async def test_what_is_stated_about_a_list_is_evidence_of_the_edges_to_its_members(over_file: Open) -> None:
    async with over_file("x:a x:p ( x:b x:c ) {| x:confidence 0.9 |} .") as gateway:
        answer = await gateway.bfs_query(["x:a"], 1)
    said = {edge.object: (edge.metadata or {}).get("assertions", []) for edge in answer.edges}
    assert {node: sorted(map(str, assertions)) for node, assertions in said.items()} == {
        "x:b": ["{'confidence': 0.9}", "{'position': 1}"],
        "x:c": ["{'confidence': 0.9}", "{'position': 2}"],
    }


async def test_positions_in_two_lists_are_two_assertions(over_file: Open) -> None:
    async with over_file("x:a x:p ( x:b x:c ) , ( x:c x:b x:c ) .") as gateway:
        answer = await gateway.bfs_query(["x:a"], 1)
    said = {edge.object: (edge.metadata or {})["assertions"] for edge in answer.edges}
    assert sorted(map(str, said["x:b"])) == ["{'position': 1}", "{'position': 2}"]
    assert sorted(map(str, said["x:c"])) == ["{'position': 2}", "{'position': [1, 3]}"]


async def test_only_the_row_that_shows_a_blank_node_has_it_as_no_example(over_file: Open) -> None:
    async with over_file("x:A x:p _:b . _:b x:q x:B . _:c x:q x:B .") as gateway:
        _, other = (await gateway.describe_entities(["x:A", "x:B"])).result
        alone = await gateway.describe_entity("x:B")
    assert other.edges == alone.edges
    assert alone.edges is not None
    assert len(alone.edges["^x:q"]) == 3


async def test_the_type_of_blank_nodes_has_no_iri(over_file: Open) -> None:
    async with over_file(RELATIONS) as gateway:
        answer = await gateway.describe_entity("(x:interaction)")
    assert (answer.id, answer.iri) == ("(x:interaction)", None)


async def test_what_looks_like_an_iri_of_the_gateway_is_another(over_file: Open) -> None:
    async with over_file("x:a x:p <urn:x-bfsql-blank:node:abc> ; <urn:x-bfsql-blank:foo> [ x:q 1 ] .") as gateway:
        answer = await gateway.bfs_query(["x:a"], 1)
        (there,) = (node.id for node in answer.nodes if "abc" in node.id)
        described = await gateway.describe_entity(there)
        await gateway.describe_entity("x:a")
    assert described.iri == "urn:x-bfsql-blank-of-file:node:abc"


async def test_a_hidden_member_of_a_list_is_left_out_and_the_list_closes(over_file: Open) -> None:
    hidden = HiddenSettings(types=("https://example.org/x/Secret",), literals=("https://example.org/x/ssn",))
    turtle = "x:a x:p ( x:b x:s x:c ) ; x:ssn ( '123' x:c ) . x:s a x:Secret ."
    async with over_file(turtle, Profile(size=ROOM, hidden=hidden)) as gateway:
        answer = await gateway.bfs_query(["https://example.org/x/a"], 2)
        described = await gateway.describe_entity("https://example.org/x/a")
    assert {edge.object[-1]: edge.metadata for edge in answer.edges} == {"b": {"position": 1}, "c": {"position": 2}}
    assert answer.complete
    assert "123" not in str(described.model_dump())


Json = dict[str, Any]


async def test_the_schema_says_what_share_of_the_edges_has_a_blank_node(over_file: Open) -> None:
    turtle = "x:a x:p [ x:v 1 ; x:in x:u ] , [ a x:T ; x:v 2 ; x:in x:u ] ; x:q x:b . x:b x:q x:c . x:c x:q x:a ."
    async with over_file(turtle) as gateway:
        schema = await gateway.describe_schema()
    (warning,) = (text for text in schema.warnings or () if "%" in text)
    assert warning == "57 % of the edges (4 of 7) have a blank node at an end; most of these are x:T, '(x:p)'."


async def test_the_schema_of_a_graph_without_blank_nodes_says_nothing_of_them(over_file: Open) -> None:
    async with over_file("x:a x:p x:b .") as gateway:
        schema = await gateway.describe_schema()
    assert not any("blank node" in text for text in schema.warnings or ())


SHORT_HEADER = """
@prefix x: <https://example.org/x/> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
"""


async def ask(turtle: str, folder: Path, tool: str = "bfs_query", **arguments: Any) -> Json:
    """Ask about x:a in the compact shape; what it says is what the reference shape says."""
    path = folder / "graph.ttl"
    path.write_text(SHORT_HEADER + turtle, encoding="utf-8")
    question = {"seeds": ["x:a"], **({"max_hops": 1} if tool == "bfs_query" else {}), **arguments}
    async with open_gateway(path, profile=Profile(size=ROOM)) as gateway:
        compact, reference = [
            json.loads(json.dumps((await gateway.call(tool, question, shape=shape)).as_json()))
            for shape in ("compact", "reference")
        ]
    # The shapes differ in what has room.
    if "max_tokens" not in arguments:
        assert_same(expand(compact), reference)
    return compact  # type: ignore[no-any-return]


def assert_same(expanded: Json, reference: Json) -> None:
    assert_same_nodes(expanded["nodes"], reference["nodes"])
    edges = [sorted(json.dumps(edge, sort_keys=True) for edge in answer["edges"]) for answer in (expanded, reference)]
    assert edges[0] == edges[1]


def listed(answer: Json) -> set[str]:
    """Return the IDs of the nodes that stand among the nodes."""
    within = set(_within(answer["edges"]))
    return {node["id"] for node in expand(answer)["nodes"]} - within


def _within(edges: Any) -> Iterator[str]:
    """Yield the IDs of the nodes that stand within edges."""
    match edges:
        case dict():
            if "_" in edges:
                yield edges["_"].partition(" ")[0]
            for value in edges.values():
                yield from _within(value)
        case list():
            for value in edges:
                yield from _within(value)


def without_ids(value: Any) -> Any:
    """Return JSON with `_:` in the place of the IDs of blank nodes."""
    match value:
        case dict():
            return {key: without_ids(each) for key, each in value.items()}
        case list():
            return [without_ids(each) for each in value]
        case str() if value.startswith("_:"):
            return " ".join(["_:", *value.split(" ")[1:]])
        case _:
            return value


async def test_a_blank_node_stands_within_the_edge_that_leads_to_it_with_where_it_leads(tmp_path: Path) -> None:
    answer = await ask('x:a x:p [ x:v 5 ; x:in x:unit ] . x:unit rdfs:label "milligram" .', tmp_path)
    assert listed(answer) == {"x:a"}
    assert without_ids(answer["edges"]) == {
        "x:a": {"x:p": {"_": "_:", "x:v": 5, "beyond": {"x:in": "x:unit milligram"}}}
    }
    assert (answer["node_count"], answer["edge_count"]) == (2, 1)


async def test_a_node_that_stands_first_within_a_blank_node_is_listed_with_its_type(tmp_path: Path) -> None:
    turtle = "x:a x:p [ x:r x:x ; x:v 1 ] ; x:q x:x ; x:r x:y . x:x a x:X . x:y a x:Y ."
    answer = await ask(turtle, tmp_path, max_hops=2)
    assert answer["nodes"]["x:X"] == [{"x:x": {}}]
    assert answer["types"] == "x:Y"


async def test_a_name_beyond_the_answer_that_failed_is_counted(tmp_path: Path) -> None:
    async def fail(query: str) -> None:
        if "<https://example.org/x/unit>" in query:
            raise EndpointFault("It does not answer.")

    path = tmp_path / "graph.ttl"
    path.write_text(SHORT_HEADER + 'x:a x:p [ x:in x:unit ] . x:unit rdfs:label "milligram" .', encoding="utf-8")
    async with over(Watched(load_files([path]).engine, fail)) as gateway:
        answer = (await gateway.call("bfs_query", {"seeds": ["x:a"], "max_hops": 1}, shape="compact")).as_json()
    assert without_ids(answer["edges"]) == {"x:a": {"x:p": {"_": "_:", "beyond": {"x:in": "x:unit"}}}}
    assert answer["degraded"] == {"labels_failed": 1}


async def test_edges_of_the_answer_stand_among_what_it_says(tmp_path: Path) -> None:
    answer = await ask("x:a x:p [ x:v 5 ; x:in x:unit ] .", tmp_path, max_hops=2)
    assert listed(answer) == {"x:a", "x:unit"}
    assert without_ids(answer["edges"]) == {"x:a": {"x:p": {"_": "_:", "x:v": 5, "x:in": "x:unit"}}}


async def test_from_a_value_its_owner_is_shown_too(tmp_path: Path) -> None:
    answer = await ask("x:b x:p [ x:v 5 ; x:in x:a ] .", tmp_path)
    folded = {"_": "_:", "type": "(x:p)", "x:v": 5, "beyond": {"^x:p": "x:b"}}
    assert without_ids(answer["edges"]) == {"x:a": {"^x:in": folded}}


async def test_edges_between_nodes_at_the_last_hop_are_beyond_the_answer(tmp_path: Path) -> None:
    answer = await ask("x:a x:p [ x:with x:b ] ; x:q x:b .", tmp_path)
    assert without_ids(answer["edges"]["x:a"]["x:p"]) == {"_": "_:", "beyond": {"x:with": "x:b"}}


async def test_an_edge_to_an_expression_that_is_not_read_is_told_beyond_the_answer(tmp_path: Path) -> None:
    owl = "http://www.w3.org/2002/07/owl#"
    answer = await ask(f"x:a x:p [ x:v 1 ; x:q [ a <{owl}Restriction> ; <{owl}onProperty> x:r ] ] .", tmp_path)
    assert without_ids(answer["edges"]["x:a"]["x:p"]) == {"_": "_:", "x:v": 1, "beyond": {"more": True}}


async def test_of_very_many_nodes_none_says_where_it_leads_and_they_are_counted(tmp_path: Path) -> None:
    for count, left_out in ((100, None), (101, {"beyond_left_out": 101})):
        many = " , ".join(f"[ x:v {number} ; x:with x:b{number} ]" for number in range(count))
        answer = await ask(f"x:a x:p {many} .", tmp_path)
        assert answer.get("degraded") == left_out
        assert ("beyond" in answer["node_columns"]) == (left_out is None)


async def test_where_nodes_lead_is_left_out_before_what_they_say(tmp_path: Path) -> None:
    many = " , ".join(f'[ x:v {number} ; x:with x:b{number} ; x:w "{"long " * 20}" ]' for number in range(40))
    whole, small = [await ask(f"x:a x:p {many} .", tmp_path, max_tokens=tokens) for tokens in (10_000, 1_600)]
    assert "degraded" not in whole
    assert small["degraded"] == {"beyond_left_out": 40}


async def test_a_long_value_beyond_the_answer_is_its_id(tmp_path: Path) -> None:
    inner = " ; ".join(f'x:w{number} "{"long " * 30}"' for number in range(10))
    answer = await ask(f"x:a x:p [ x:v 1 ; x:q [ {inner} ] ] .", tmp_path)
    folded = without_ids(answer["edges"]["x:a"]["x:p"])
    assert folded == {"_": "_:", "x:v": 1, "beyond": {"x:q": {"_": "_:", "more": True}, "more": True}}


async def test_types_names_and_positions_stand_beside_what_it_says(tmp_path: Path) -> None:
    answer = await ask('x:a x:p ( [ a x:T ; rdfs:label "one" ] x:b ) .', tmp_path)
    folded, stated = without_ids(answer["edges"])["x:a"]["x:p"]
    assert folded["_"] == "_: one"
    assert folded["type"] == "x:T"
    assert (answer["evidence_columns"], folded["evidence"], stated) == (["position"], [1], {"x:b": [2]})


async def test_blank_nodes_within_each_other_stand_so_three_deep(tmp_path: Path) -> None:
    turtle = "x:a x:p [ x:p [ x:p [ x:p [ x:v 4 ] ; x:v 3 ] ; x:v 2 ] ; x:v 1 ] ."
    answer = await ask(turtle, tmp_path, max_hops=4)
    first = without_ids(answer["edges"])["x:a"]["x:p"]
    assert first == {
        "_": "_:",
        "x:v": 1,
        "x:p": {"_": "_:", "x:v": 2, "x:p": {"_": "_:", "x:v": 3, "x:p": "_:"}},
    }
    assert len(listed(answer)) == 2


@pytest.mark.parametrize(
    ("turtle", "arguments"),
    [
        pytest.param("x:a x:p _:b ; x:q _:b . _:b x:v 1 .", {}, id="two edges lead to it"),
        pytest.param("x:a x:p _:b , x:c . x:c x:p _:b . _:b x:v 1 .", {"max_hops": 2}, id="two nodes lead to it"),
        pytest.param("x:a x:p [ a x:T ; x:v 1 ] .", {"only_node_types": ["x:T"]}, id="its type is asked for"),
        pytest.param("x:a x:p [ a x:T ; x:v 1 ] .", {"topology_only": True}, id="only the topology is asked for"),
        pytest.param(f'x:a x:p [ x:v "{"long " * 300}" ] .', {}, id="it says much"),
        pytest.param('x:a x:p [ x:v "x:a and more" ] .', {}, id="a value looks like the ID of a node"),
        pytest.param(
            "x:a " + " ; ".join(f"x:p [ x:v {number} ; x:w {number} ]" for number in range(11)) + " .",
            {},
            id="many alike fit in rows",
        ),
        pytest.param('x:a x:p [ x:q x:b , "c" ] .', {"max_hops": 2}, id="values stand beside edges"),
    ],
)
async def test_it_stays_a_node_where(turtle: str, arguments: Json, tmp_path: Path) -> None:
    answer = await ask(turtle, tmp_path, **arguments)
    assert any(name_id.startswith("_:") for name_id in listed(answer))
    assert '"_"' not in json.dumps(answer["edges"])


async def test_a_seed_stays_a_node(tmp_path: Path) -> None:
    turtle = "x:a x:p [ x:v 1 ; x:q [ x:v 2 ] ] ."
    first = await ask(turtle, tmp_path)
    blank = first["edges"]["x:a"]["x:p"]["_"]
    answer = await ask(turtle, tmp_path, seeds=[blank])
    assert blank in listed(answer)
    assert without_ids(answer["edges"][blank]["x:q"]) == {"_": "_:", "x:v": 2}


async def test_nodes_of_an_intersection_stay_nodes(tmp_path: Path) -> None:
    turtle = "x:a x:p [ x:v 1 ; x:q x:b ] ."
    answer = await ask(turtle, tmp_path, "intersect_subgraphs", seeds=["x:a", "x:b"], k=2)
    assert len(listed(answer)) == answer["node_count"] == 3


async def test_where_it_leads_is_cut_where_that_is_much_and_says_so(tmp_path: Path) -> None:
    few, many = (" , ".join(f"x:end{number:02}" for number in range(count)) for count in (10, 60))
    long = " , ".join(f"x:{'long' * 20}{number}" for number in range(15))
    answer = await ask(f"x:a x:few [ x:q {few} ] ; x:many [ x:q {many} ] ; x:long [ x:q {long} ] .", tmp_path)
    beyond = {key: folded["beyond"] for key, folded in answer["edges"]["x:a"].items()}
    assert {key: said.get("more", False) for key, said in beyond.items()} == {
        "x:few": False,
        "x:many": True,
        "x:long": True,
    }
    assert (len(beyond["x:few"]["x:q"]), len(beyond["x:long"]["x:q"])) == (10, 6)


async def test_a_node_within_an_edge_of_an_earlier_page_stands_within_it(tmp_path: Path) -> None:
    turtle = "x:a x:p x:b , [ x:v 1 ] , [ x:v 2 ] ."
    answer = await ask(turtle, tmp_path, offset=2, limit=2)
    other, folded = answer["edges"]["x:a"]["x:p"]
    assert (listed(answer), other, folded["_"][:2]) == ({"x:b"}, "x:b", "_:")


@pytest.mark.parametrize("fault", [NetworkFault("Reset."), QueryRefused("No.")], ids=["reset", "refused"])
@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("describe_entity", {"id": "x:d"}),
        ("describe_entities", {"ids": ["x:d", "x:e"]}),
        ("bfs_query", {"seeds": ["x:d"], "max_hops": 1}),
    ],
)
async def test_an_answer_without_content_of_blank_nodes_that_could_not_be_read_says_so(
    tool: str, arguments: dict[str, Any], fault: Fault
) -> None:
    turtle = "x:d rdfs:label 'd' ; x:note [ x:unit 'g' ; x:of [ x:said 'now' ; x:in x:f ] ] . x:e rdfs:label 'e' ."
    asked, failing = 0, 0

    async def count(_: str) -> None:
        nonlocal asked
        asked += 1
        if asked == failing:
            raise fault

    requests = RequestSettings(retries=0)
    profile = Profile(size=ROOM, endpoint=EndpointSettings(requests=requests))

    async def answer(number: int) -> dict[str, Any]:
        nonlocal asked, failing
        async with over(WatchedElsewhere(engine(turtle), count, requests), profile) as gateway:
            failing = 0
            # What there is to learn of the engine is learnt.
            await gateway.call(tool, arguments)
            gateway.forget()
            await gateway.describe_schema()
            asked, failing = 0, number
            return (await gateway.call(tool, arguments)).as_json()

    whole, queries = await answer(0), asked
    assert whole["complete"]
    assert "now" in str(whole)
    for number in range(1, queries + 1):
        try:
            found = await answer(number)
        except GatewayError:
            continue
        assert found == whole or not found["complete"] or "degraded" in found
