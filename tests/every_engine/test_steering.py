"""Steered traversals against the oracle: predicates, one list a hop or a seed, directions, hubs, types, pages."""

import asyncio
from collections.abc import Mapping
from dataclasses import replace

import pytest

from gateway import expand
from gateway.answers.models import BfsResult
from gateway.errors import InputError
from gateway.escaping import json_text
from gateway.settings.load import load_profile
from gateway.settings.profile import Profile, ShapeName
from gateway.sparql.store import SparqlStore
from gateway.terms.prefixes import PrefixMap
from gateway.tools.gateway import Gateway
from gateway.transport.inprocess import InProcess
from gateway.traversal import intersections
from tests.columns import Column
from tests.drawn.run import ask, drawn, truth_of
from tests.harness.report import Report
from tests.small import PREFIXES, ROOM, over
from tests.small import engine as loaded

pytestmark = pytest.mark.anyio

FAMILY = """
x:ann x:sibling x:bob . x:cleo x:sibling x:ann . x:bob x:religion x:r1 . x:cleo x:religion x:r2 .
x:dan x:sibling x:eve . x:ann x:religion x:r1 . x:ann x:knows x:ann .
x:dan x:knows x:ann . x:bob x:knows x:cleo . x:fay x:knows x:bob .
x:ann a x:Person . x:bob a x:Person . x:cleo a x:Person . x:dan a x:Person . x:r1 a x:Religion . x:r2 a x:Religion .
"""


@pytest.fixture
async def family() -> Gateway:
    return over(FAMILY)


async def edges_of(gateway: Gateway, seeds: list[str], hops: int, **arguments: object) -> set[tuple[str, str, str]]:
    answer = await gateway.bfs_query(seeds, hops, **arguments)  # type: ignore[arg-type]
    assert answer.complete
    return {(edge.subject, edge.predicate, edge.object) for edge in answer.edges}


async def test_only_the_named_predicates_are_followed_and_shown(family: Gateway) -> None:
    found = await edges_of(family, ["x:ann"], 2, only_predicates=["sibling"])
    assert found == {("x:ann", "x:sibling", "x:bob"), ("x:cleo", "x:sibling", "x:ann")}


@pytest.mark.parametrize(
    ("names", "direction", "expected"),
    [
        (["x:sibling"], "out", {("x:ann", "x:sibling", "x:bob")}),
        (["x:sibling"], "in", {("x:cleo", "x:sibling", "x:ann")}),
        (["^x:sibling"], "both", {("x:cleo", "x:sibling", "x:ann")}),
        (["^x:sibling", "x:knows"], "out", {("x:cleo", "x:sibling", "x:ann"), ("x:ann", "x:knows", "x:ann")}),
        (["x:knows"], "in", {("x:ann", "x:knows", "x:ann"), ("x:dan", "x:knows", "x:ann")}),
    ],
)
async def test_the_direction_is_seen_from_the_node_that_is_expanded_and_a_self_loop_has_both(
    family: Gateway, names: list[str], direction: str, expected: set[tuple[str, str, str]]
) -> None:
    assert await edges_of(family, ["x:ann"], 1, only_predicates=names, direction=direction) == expected


async def test_one_list_a_hop_gives_the_religion_of_siblings_and_counts_what_did_not_get_through(
    family: Gateway,
) -> None:
    answer = await family.bfs_query(["x:ann"], 2, only_predicates=[["^sibling"], ["religion"]])
    assert [(edge.subject, edge.predicate, edge.object) for edge in answer.edges] == [
        ("x:cleo", "x:religion", "x:r2"),
        ("x:cleo", "x:sibling", "x:ann"),
    ]
    assert answer.only_predicates == [["^x:sibling"], ["x:religion"]]
    assert answer.levels == [1, 1, 1]
    assert answer.removed is None
    knows = await family.bfs_query(["x:ann"], 2, only_predicates=[["sibling", "knows"], ["^knows"]])
    # Bob is known by Fay; nobody knows Dan, and Cleo is known by Bob.
    assert {node.id for node in knows.nodes} == {"x:ann", "x:bob", "x:cleo", "x:dan", "x:fay"}
    assert knows.removed is None


async def test_a_walk_may_come_back_to_where_it_began(family: Gateway) -> None:
    answer = await family.bfs_query(["x:ann"], 2, only_predicates=[["sibling"], ["sibling"]], direction="both")
    assert answer.levels == [1, 2]
    assert answer.edge_count == 2


async def test_nodes_on_no_walk_through_all_hops_are_counted(family: Gateway) -> None:
    answer = await family.bfs_query(["x:ann"], 2, only_predicates=[["religion", "sibling"], ["^knows"]])
    # Nobody knows a religion, and nobody but Bob and Fay knows a sibling.
    assert answer.removed == {"partial_paths": 1}
    assert "x:r1" not in {node.id for node in answer.nodes}


async def test_one_list_a_seed_finds_what_stands_in_these_relations(family: Gateway) -> None:
    answer = await family.intersect_subgraphs(["x:r1", "x:ann"], 1, only_predicates=[["religion"], ["sibling"]])
    assert [node.id for node in answer.nodes] == ["x:ann", "x:bob"]
    assert {(edge.subject, edge.predicate, edge.object) for edge in answer.edges} == {
        ("x:ann", "x:sibling", "x:bob"),
    }


async def test_only_node_types_keeps_seeds_and_one_shortest_path_to_what_is_shown(family: Gateway) -> None:
    answer = await family.bfs_query(["x:fay"], 2, only_node_types=["Religion"])
    assert [node.id for node in answer.nodes] == ["x:fay", "x:bob", "x:r1"]
    assert answer.removed == {"only_node_types": 2}
    assert {node.id for node in answer.nodes if node.metadata is not None} == {"x:fay", "x:r1"}


SUPPLIERS = "".join(
    f"x:shop x:sells x:p{one}{two} . x:p{one}{two} x:from x:s{one} . " for one in range(3) for two in range(4)
)
SUPPLIERS += "".join(f"x:s{one} a x:Supplier . x:p{one}{two} a x:Product . " for one in range(3) for two in range(4))


@pytest.mark.parametrize("shape", ["reference", "compact"])
async def test_a_node_that_is_only_a_step_is_marked_and_said_to_be_no_count(shape: ShapeName) -> None:
    asked = {"seeds": ["x:shop"], "max_hops": 2, "only_node_types": ["Supplier"]}
    async with over(SUPPLIERS) as gateway:
        answer = (await gateway.call("bfs_query", asked, shape=shape)).as_json()
        whole = await gateway.bfs_query(["x:shop"], 2)
        pages = [
            await gateway.bfs_query(["x:shop"], 2, only_node_types=["Supplier"], limit=2, offset=at) for at in (0, 2)
        ]
    if shape == "compact":
        assert answer["nodes"] == {"untyped": [{"x:shop": {}}], "x:Supplier": [{f"x:s{one}": {}} for one in range(3)]}
        assert answer["on_the_way"] == {"x:Product": [f"x:p{one}0" for one in range(3)]}
    steps = [node for node in expand(answer)["nodes"] if "on_the_way" in node]
    assert steps == [{"id": f"x:p{one}0", "entity_type": "x:Product", "on_the_way": True} for one in range(3)]
    (warning,) = answer["warnings"]
    assert warning.startswith("on_the_way: 3 other nodes are shown only as steps")
    assert (answer["complete"], answer["removed"]) == (True, {"only_node_types": 9})
    assert [(node.id, node.on_the_way) for page in pages for node in page.nodes if node.id == "x:p00"] == [
        ("x:p00", True)
    ]
    assert all(page.warnings == [warning] for page in pages)
    assert whole.warnings is None
    assert not any(node.on_the_way for node in whole.nodes)


async def test_seeds_and_nodes_of_the_types_asked_for_are_no_steps() -> None:
    async with over("x:a x:p x:b . x:b x:p x:c . x:b a x:T . x:c a x:T .") as gateway:
        answer = await gateway.bfs_query(["x:a", "x:b"], 2, only_node_types=["T"])
        graph = await gateway.bfs_subgraph(["x:a"], 2, only_node_types=["T"])
    assert [(node.id, node.on_the_way) for node in answer.nodes] == [("x:a", None), ("x:b", None), ("x:c", None)]
    assert answer.warnings is None
    assert [node.on_the_way for node in graph.nodes] == [False] * 3


async def test_a_seed_without_edges_in_this_direction_says_how_many_there_are_in_the_other(family: Gateway) -> None:
    answer = await family.bfs_query(["x:r1"], 1, only_predicates=["religion"], direction="out")
    assert answer.edge_count == 0
    assert answer.warnings == ["x:r1 has no edge by x:religion, but 2 by ^x:religion: ask for that direction."]
    both = await family.bfs_query(["x:r1"], 1, direction="out")
    assert both.warnings == ["x:r1 has no edge by an outgoing edge, but 2 by an incoming edge: ask for that direction."]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"only_predicates": ["siblng"]}, "only_predicates: no predicate of this graph is called 'siblng'. Nearest"),
        ({"only_predicates": ["rdf:type"]}, "only_predicates: rdf:type is no edge in this graph"),
        ({"only_predicates": ["rdfs:label"]}, "only_predicates: rdfs:label is no edge in this graph"),
        ({"only_predicates": ["rdf:reifies"]}, "It is shown as the evidence of edges, in their metadata"),
        ({"only_predicates": ["type"]}, "only_predicates: rdf:type is no edge in this graph"),
        ({"only_predicates": ["^Alt-Label"]}, "only_predicates: skos:altLabel is no edge in this graph"),
        ({"only_predicates": ["age"]}, "A predicate that only leads to literals, or only says something about edges"),
        ({"only_predicates": [["sibling"], ["knows"]]}, "has 2 lists, but there is 1 hop"),
        ({"direction": "sideways"}, "direction is 'sideways', but it must be 'both', 'out' or 'in'"),
    ],
)
async def test_what_cannot_be_followed_is_an_error_that_says_so(
    family: Gateway, arguments: Mapping[str, object], message: str
) -> None:
    with pytest.raises(InputError) as caught:
        await family.call("bfs_query", {"seeds": ["x:ann"], "max_hops": 1, **arguments})
    assert message in str(caught.value)


async def test_an_unknown_iri_is_asked_as_given_and_a_warning_names_the_nearest(family: Gateway) -> None:
    answer = await family.bfs_query(["x:ann"], 1, only_predicates=["x:siblings"])
    assert (answer.edge_count, answer.only_predicates) == (0, None)
    assert answer.warnings is not None
    assert "no edge of this graph has the predicate x:siblings. Nearest: " in answer.warnings[0]
    assert "call describe_entity for the metadata of a node" in answer.warnings[0]


async def test_of_many_unknown_iris_a_few_have_a_warning_and_fewer_the_nearest_and_the_others_are_counted(
    family: Gateway,
) -> None:
    unknown = [f"x:siblings{number}" for number in range(190)]
    answer = await family.bfs_query(["x:ann"], 1, only_predicates=["x:sibling", *unknown])
    assert answer.edge_count == 2
    absent = [warning for warning in answer.warnings or () if "no edge of this graph has the predicate" in warning]
    assert len(absent) == 5
    assert sum("Nearest" in warning for warning in absent) == 3
    assert "only_predicates: 185 more names like these." in (answer.warnings or ())


@pytest.mark.parametrize(
    "given", ["sibling", '["sibling"]', ["sibling"], ("x:sibling",), [["sibling"]], '[["sibling"]]', ['[["sibling"]]']]
)
async def test_predicates_are_taken_as_models_write_them(family: Gateway, given: object) -> None:
    answer = await family.call("bfs_query", {"seeds": "x:ann", "max_hops": "1", "only_predicates": given})
    assert isinstance(answer, BfsResult)
    # What was written as it is meant is not said again.
    assert answer.only_predicates == (None if "x:sibling" in str(given) else ["x:sibling"])
    assert (answer.edge_count, {edge.predicate for edge in answer.edges}) == (2, {"x:sibling"})


async def test_who_stands_in_a_relation_is_named_and_described_only_where_its_type_is_asked_for() -> None:
    async with over(FAMILY + 'x:bob rdfs:label "Bob" ; rdfs:comment "a baker" . x:r1 rdfs:label "One" .') as gateway:
        named = await gateway.bfs_query(["x:bob"], 1, only_predicates=["religion"])
        detailed = await gateway.bfs_query(["x:bob"], 1, only_predicates=["religion"], node_types=["Person"])
    assert [(node.id, node.name, node.metadata) for node in named.nodes] == [
        ("x:bob", "Bob", None),
        ("x:r1", "One", None),
    ]
    assert [node.metadata for node in detailed.nodes] == [{"name": "Bob", "description": "a baker"}, None]


async def test_paths_are_shown_unasked_as_far_as_a_third_of_the_answer_holds_them() -> None:
    graph = " ".join(f"x:a x:knows x:node{number:03} . x:b x:likes x:node{number:03} ." for number in range(60))
    async with over(graph, load_profile("local")) as gateway:
        answer = await gateway.intersect_subgraphs(["x:a", "x:b"], 1, topology_only=True, max_tokens=1_500)
        every = await gateway.intersect_subgraphs(["x:a", "x:b"], 1, topology_only=True, via=True)
        none = await gateway.intersect_subgraphs(["x:a", "x:b"], 1, topology_only=True, via=False)
    explained = [node for node in answer.nodes if node.via]
    assert explained == list(answer.nodes[: len(explained)])
    assert 0 < len(json_text([" ".join(path) for node in explained for path in node.via or ()])) <= 2_000
    assert (answer.degraded or {})["paths_left_out"] == 2 * (len(answer.nodes) - len(explained))
    assert all(node.via == [[node.id, "^x:knows", "x:a"], [node.id, "^x:likes", "x:b"]] for node in every.nodes)
    assert not any(node.via for node in none.nodes)


# --- a seed with very many edges ---


async def test_the_edges_of_a_large_seed_are_asked_for_from_the_other_side() -> None:
    rows: list[int] = []
    citizens = " ".join(f"x:c{number} x:citizen x:land ." for number in range(5_001))
    graph = loaded(f"{citizens} x:c7 x:born x:town . x:c9 x:born x:town . x:else x:born x:town .")
    store = SparqlStore(InProcess(graph, max_bytes=1 << 24), profile := Profile(size=ROOM))
    async with Gateway(store, profile, PrefixMap(PREFIXES), on_record=lambda one: rows.append(one.rows)) as gateway:
        await gateway.describe_schema()
        rows.clear()
        answer = await gateway.intersect_subgraphs(
            ["x:town", "x:land"], 1, only_predicates=[["born"], ["citizen"]], topology_only=True
        )
    assert answer.complete
    assert {node.id: node.via for node in answer.nodes} == {
        "x:c7": [["x:c7", "x:born", "x:town"], ["x:c7", "x:citizen", "x:land"]],
        "x:c9": [["x:c9", "x:born", "x:town"], ["x:c9", "x:citizen", "x:land"]],
    }
    assert sum(rows) < 100


async def test_a_large_seed_that_is_in_the_answer_shows_its_self_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(intersections, "_LARGE", 2)
    graph = "x:hub x:p x:hub , x:a , x:b , x:c . x:small x:p x:hub ."
    async with over(graph) as gateway:
        answer = await gateway.intersect_subgraphs(["x:hub", "x:small"], 1, only_predicates=["p"])
    assert answer.complete
    assert {(edge.subject, edge.object) for edge in answer.edges} == {("x:hub", "x:hub"), ("x:small", "x:hub")}


@pytest.mark.slow
def test_an_answer_is_the_same_however_many_edges_make_a_seed_large(
    embedded: Column, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(intersections, "_LARGE", 1)
    truth = truth_of("random", embedded.files["random"])
    report = Report()
    questions = [
        replace(one, hops=1, lists=one.lists, max_degree=None)
        for one in drawn("random", truth, 16, 500)
        if one.tool == "intersect_subgraphs" and one.is_steered
    ]
    asyncio.run(ask(embedded, "random", questions, truth, report))
    assert len(questions) >= 40
    assert report.findings == []


# --- against the oracle ---


@pytest.mark.slow
@pytest.mark.parametrize("graph", ["films", "random"])
def test_no_answer_to_a_steered_question_is_wrong(engine: Column, graph: str) -> None:
    truth = truth_of(graph, engine.files[graph])
    report = Report()
    questions = [one for one in drawn(graph, truth, 15, 150, engine.name) if one.is_steered or one.only_type]
    asyncio.run(ask(engine, graph, questions, truth, report))
    assert len(questions) >= 40
    assert report.findings == []
