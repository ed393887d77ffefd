"""The compact shape: what it writes of a page, and that `expand` gives the reference shape's sets back."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from gateway import expand
from gateway.answers.compact import COMPACT
from gateway.answers.compact_rows import node_columns, node_row
from gateway.answers.page import (
    AnyPage,
    EntitiesPage,
    EntityPage,
    Header,
    IdList,
    PageEdge,
    PageHit,
    PageNode,
    SchemaPage,
    SearchPage,
    SubgraphPage,
    TermSummary,
)
from gateway.answers.reference import REFERENCE
from gateway.answers.shape import size_of
from gateway.answers.values import Amount, EdgeMetadata, EdgeSurvey, Id, Nested, NodeMetadata, PageAssertion, SurveyRow
from gateway.escaping import json_text
from gateway.expand_compact import NODE_COLUMNS
from gateway.graph.values import Basis, Edge, NoValue
from tests.answers.same_nodes import assert_same_nodes
from tests.examples import examples
from tests.small import X

Json = dict[str, Any]


def compact(page: AnyPage) -> Json:
    written: Json = COMPACT.writers[type(page)](page)
    return written


def reference(page: AnyPage) -> Json:
    written: Json = REFERENCE.writers[type(page)](page)
    return written


def header(**given: Any) -> Header:
    usual: Json = {
        "seeds": IdList([]),
        "hops": 1,
        "node_count": 3,
        "edge_count": 2,
        "levels": [1, 2],
        "gaps": [],
        "removed": {},
        "undecided": {},
        "missing_seeds": IdList([]),
        "blank_node_edges": 0,
        "warnings": [],
        "summary": TermSummary((), ()),
    }
    return Header(**{**usual, **given})


def node(local: str, entity_type: str = "x:T", **given: Any) -> PageNode:
    return PageNode(X + local, f"x:{local}", entity_type, **given)


def edge(subject: str, predicate: str, object_: str, *, incoming: bool = False, **given: Any) -> PageEdge:
    triple = Edge(X + subject, X + predicate, X + object_)
    return PageEdge(triple, f"x:{subject}", f"x:{predicate}", f"x:{object_}", is_incoming=incoming, **given)


def test_nodes_stand_by_type_and_edges_outward_from_the_seeds() -> None:
    nodes = [node("a", name="A b"), node("b", "x:U"), node("c", name="C")]
    edges = [edge("a", "p", "b"), edge("a", "p", "c"), edge("a", "q", "a"), edge("c", "p", "a", incoming=True)]
    assert compact(SubgraphPage(header(), nodes, edges)) == {
        "node_count": 3,
        "edge_count": 2,
        "complete": True,
        "nodes": {"x:T": ["x:a A b", "x:c C"], "x:U": ["x:b"]},
        "edges": {"x:a": {"x:p": "x:b", "<->x:p": "x:c", "x:q": "x:a"}},
    }


def in_edges(local: str, entity_type: str = "x:T", **given: Any) -> PageNode:
    return node(local, entity_type, may_be_in_edges=True, **given)


def test_a_node_with_nothing_but_a_name_stands_where_an_edge_leads_to_it_first() -> None:
    nodes = [node("a", name="A b"), in_edges("b", name="B"), in_edges("c", metadata=NodeMetadata(name="C d"))]
    nodes.append(in_edges("d", metadata=NodeMetadata(name="D", descriptions=["more"])))
    edges = [edge("a", "p", "b"), edge("b", "p", "c", incoming=False), edge("a", "q", "c"), edge("c", "q", "d")]
    page = SubgraphPage(header(hops=2), nodes, edges)
    written = compact(page)
    assert written["nodes"] == {"x:T": ["x:a A b", {"x:d D": {"description": "more"}}]}
    assert written["edges"] == {
        "x:a": {"x:p": "x:b B", "x:q": "x:c C d"},
        "x:b": {"x:p": "x:c"},
        "x:c": {"x:q": "x:d"},
    }
    assert written["types"] == "x:T"
    assert_same_nodes(expand(written)["nodes"], reference(page)["nodes"])


def test_types_of_nodes_in_edges_stand_once_for_a_predicate_and_else_are_counted() -> None:
    nodes = [node("a", "x:S"), *(in_edges(f"b{number}", "x:U") for number in range(3))]
    nodes += [in_edges(f"c{number}", f"x:T{number % 6}") for number in range(8)]
    edges = [edge("a", "p", f"b{number}") for number in range(3)]
    edges += [edge(f"c{number}", "q", "a", incoming=True) for number in range(8)]
    written = compact(SubgraphPage(header(), nodes, edges))
    assert written["types"] == {
        "x:p": "x:U",
        "^x:q": {"x:T0": 2, "x:T1": 2, "x:T2": 1, "x:T3": 1, "x:T4": 1, "others": 1},
    }
    types = [one.get("entity_type") for one in expand(written)["nodes"]]
    assert types == ["x:S", "x:U", "x:U", "x:U", *([None] * 8)]


def test_one_relation_of_one_seed_is_that_and_no_more() -> None:
    nodes = [node("a", name="A"), in_edges("b", name="B"), in_edges("c")]
    edges = [edge("a", "p", "b"), edge("a", "p", "c")]
    written = compact(SubgraphPage(header(warnings=["careful"], is_one_relation=True), nodes, edges))
    assert written == {"complete": True, "warnings": ["careful"], "edges": {"x:a A": {"x:p": ["x:b B", "x:c"]}}}
    expanded = expand(written)
    assert (expanded["node_count"], expanded["edge_count"]) == (3, 2)
    assert [one["id"] for one in expanded["nodes"]] == ["x:a", "x:b", "x:c"]


def test_one_relation_with_evidence_is_that_and_the_evidence() -> None:
    said = EdgeMetadata([PageAssertion(properties={"x:role": [Id("x:r")]})])
    nodes = [node("a", name="A"), in_edges("b", name="B"), in_edges("c")]
    page = SubgraphPage(header(is_one_relation=True), nodes, [edge("a", "p", "b", metadata=said), edge("a", "p", "c")])
    written = compact(page)
    assert written == {
        "complete": True,
        "edges": {"x:a A": {"x:p": ["x:c", {"x:b B": {"x:role": "x:r"}}]}},
    }
    by_end = {one["object"]: one for one in expand(written)["edges"]}
    assert by_end == {one["object"]: one for one in reference(page)["edges"]}


def test_several_relations_of_one_seed_that_were_chosen_are_these_and_no_more() -> None:
    nodes = [node("a", name="A"), in_edges("b", name="B"), in_edges("c", "x:U")]
    edges = [edge("a", "p", "b"), edge("a", "p", "c"), edge("c", "q", "a", incoming=True)]
    page = SubgraphPage(header(are_chosen=True, only_predicates=["x:p", "^x:q"]), nodes, edges)
    written = compact(page)
    assert written == {
        "only_predicates": ["x:p", "^x:q"],
        "complete": True,
        "edges": {"x:a A": {"x:p": ["x:b B", "x:c"], "^x:q": "x:c"}},
    }
    expanded = expand(written)
    assert (expanded["node_count"], expanded["edge_count"]) == (3, 3)
    assert [one["id"] for one in expanded["nodes"]] == ["x:a", "x:b", "x:c"]
    assert expanded["edges"] == reference(page)["edges"]


def test_edges_that_were_chosen_are_all_that_is_said_of_several_seeds_and_hops() -> None:
    nodes = [node("a", name="A"), node("b", name="B"), in_edges("c", name="C"), in_edges("d", "x:U")]
    edges = [edge("a", "p", "c"), edge("b", "p", "c"), edge("c", "q", "d")]
    page = SubgraphPage(header(are_chosen=True, only_predicates=[["x:p"], ["x:q"]], removed={"where": 2}), nodes, edges)
    written = compact(page)
    assert written == {
        "only_predicates": [["x:p"], ["x:q"]],
        "complete": True,
        "removed": {"where": 2},
        "edges": {"x:a A": {"x:p": "x:c C"}, "x:b B": {"x:p": "x:c"}, "x:c": {"x:q": "x:d"}},
    }
    expanded = expand(written)
    assert (expanded["node_count"], expanded["edge_count"]) == (4, 3)
    assert [one["id"] for one in expanded["nodes"]] == ["x:a", "x:b", "x:c", "x:d"]
    assert expanded["edges"] == reference(page)["edges"]


def test_chosen_edges_on_several_pages_or_of_nodes_that_carry_more_have_counts_and_types() -> None:
    nodes = [node("a", name="A"), node("b", name="B"), in_edges("c")]
    edges = [edge("a", "p", "c"), edge("b", "p", "c")]
    page = SubgraphPage(header(are_chosen=True), nodes, edges)
    page.place, page.next_offset = "1-3 of 9", 3
    assert compact(page)["types"] == "x:T"
    nodes[1].metadata = NodeMetadata(name="B", descriptions=["A letter."])
    assert compact(SubgraphPage(header(are_chosen=True), nodes, edges))["node_count"] == 3


def test_one_relation_names_a_type_only_where_it_mentions_it() -> None:
    labels = {"x:T": "thing", "x:U": "other thing", "x:V": "a third"}
    nodes = [node("a"), in_edges("b", "x:U"), in_edges("c", "x:V")]
    said = EdgeMetadata([PageAssertion(properties={"x:role": [Id("x:U")]})])
    edges = [edge("a", "p", "b", metadata=said), edge("a", "p", "c")]
    written = compact(SubgraphPage(header(is_one_relation=True), nodes, edges, labels=labels))
    assert written["labels"] == {"x:U": "other thing"}


def test_a_predicate_that_is_the_type_of_a_node_too_keeps_its_label() -> None:
    nodes = [node("a"), in_edges("b", "x:p"), in_edges("c", "x:q"), in_edges("d", "x:r")]
    edges = [edge("a", "p", local) for local in ("b", "c", "d")]
    said = header(are_chosen=True, only_predicates=["x:p", "x:q"])
    labels = {"x:p": "part", "x:q": "quality", "x:r": "range"}
    written = compact(SubgraphPage(said, nodes, edges, labels=labels))
    assert written["edges"] == {"x:a": {"x:p part": ["x:b", "x:c", "x:d"]}}
    assert written["labels"] == {"x:q": "quality"}


def test_what_one_of_several_predicates_was_taken_for_is_said_though_it_has_no_edges() -> None:
    said = header(are_chosen=True, only_predicates=["x:p", "x:q"])
    written = compact(SubgraphPage(said, [node("a"), in_edges("b")], [edge("a", "p", "b")]))
    assert written["only_predicates"] == ["x:p", "x:q"]
    said = header(is_one_relation=True, only_predicates=["x:p"])
    assert "only_predicates" not in compact(SubgraphPage(said, [node("a"), in_edges("b")], [edge("a", "p", "b")]))


def test_a_walk_that_begins_against_an_edge_is_no_incoming_one() -> None:
    walk = PageEdge(Edge(f"{X}a", f"{X}w", f"{X}b"), "x:a", "^x:p/^x:q", "x:b")
    page = SubgraphPage(header(), [node("a"), in_edges("b")], [walk])
    written = compact(page)
    assert written["edges"] == {"x:a": {">^x:p/^x:q": "x:b"}}
    assert expand(written)["edges"] == reference(page)["edges"]


def test_a_later_page_of_one_relation_has_the_ends_alone() -> None:
    page = SubgraphPage(header(is_one_relation=True), [in_edges("c", name="C")], [edge("a", "p", "c")])
    page.place, page.next_offset = "3-3 of 9", 3
    written = compact(page)
    assert written == {"complete": True, "page": "3-3 of 9", "edges": {"x:a": {"x:p": "x:c C"}}, "next_offset": 3}
    assert expand(written)["nodes"] == [{"id": "x:c", "name": "C"}]


def test_a_pair_of_edges_both_ways_stands_once_if_both_say_the_same() -> None:
    said = EdgeMetadata([PageAssertion(confidence=[0.5])])
    edges = [
        edge("a", "p", "b"),
        edge("b", "p", "a", incoming=True),
        edge("a", "p", "c", metadata=said),
        edge("c", "p", "a", incoming=True, metadata=said),
        edge("a", "p", "d"),
        edge("d", "p", "a", incoming=True, metadata=said),
    ]
    page = SubgraphPage(header(), [node(local) for local in "abcd"], edges)
    written = compact(page)
    assert written["edges"] == {
        "x:a": {"<->x:p": ["x:b", {"x:c": [0.5]}], "x:p": "x:d", "^x:p": {"x:d": [0.5]}},
    }
    assert as_set(expand(written)["edges"]) == as_set(reference(page)["edges"])


def test_a_node_whose_edges_go_on_from_the_page_before_is_none_of_this_page() -> None:
    page = SubgraphPage(header(), [in_edges("c")], [edge("a", "p", "b"), edge("b", "q", "c")], before="x:b")
    written = compact(page)
    assert written["continued"] == "x:b"
    assert [one["id"] for one in expand(written)["nodes"]] == ["x:c"]


def test_a_node_that_carries_more_is_an_object() -> None:
    nodes = [node("a", metadata=NodeMetadata(name="A", descriptions=["one"])), node("b", metadata=NodeMetadata())]
    assert compact(SubgraphPage(header(), nodes, []))["nodes"] == {
        "x:T": [{"x:a A": {"description": "one"}}, {"x:b": {}}]
    }


def test_a_node_that_has_several_types_lists_those_besides_its_own() -> None:
    several = NodeMetadata(types=[Id("x:S"), Id("x:T")])
    elsewhere = NodeMetadata(types=[Id("x:R"), Id("x:S")])
    page = SubgraphPage(header(), [node("a", metadata=several), node("b", metadata=elsewhere)], [])
    written = compact(page)
    assert written["nodes"] == {"x:T": [{"x:a": {"other_types": ["x:S"]}}, {"x:b": {"types": ["x:R", "x:S"]}}]}
    assert expand(written)["nodes"] == reference(page)["nodes"]


def test_what_has_no_name_is_named_where_it_stands_first() -> None:
    said = header(summary=TermSummary(["x:T", "x:U"], ["x:p"]))
    labels = {"x:T": "thing", "x:U": "other thing", "x:p": "part of", "x:z": "Z", "x:v": "a value"}
    edges = [edge("z", "p", "a"), edge("a", "p", "a", incoming=True)]
    page = SubgraphPage(said, [node("a", name="A")], edges, labels=labels, place="2-2 of 9")
    written = compact(page)
    assert written["nodes"] == {"x:T thing": ["x:a A"]}
    assert written["edges"] == {"x:z Z": {"x:p part of": "x:a"}, "x:a": {"^x:p": "x:a"}}
    assert written["schema_summary"]["entity_types_found"] == ["x:T", "x:U other thing"]
    assert written["labels"] == {"x:v": "a value"}
    expanded = expand(written)
    assert expanded["labels"] == labels
    assert expanded["schema_summary"] == reference(page)["schema_summary"]


def test_evidence_is_a_row_for_each_assertion_below_one_line_of_columns() -> None:
    one = EdgeMetadata([PageAssertion(confidence=[0.5], source_documents=["P1"])])
    two = EdgeMetadata(
        [PageAssertion(negated=True, source_documents=["P1", "P2"]), PageAssertion(confidence=[0.5])],
        PageAssertion(source_documents=["P1", "P2"]),
    )
    edges = [edge("a", "p", "b"), edge("a", "p", "c", metadata=one), edge("a", "p", "d", metadata=two)]
    written = compact(SubgraphPage(header(), [], edges))
    assert written["evidence_columns"] == ["confidence", "source_documents", "other"]
    assert written["edges"] == {
        "x:a": {"x:p": ["x:b", {"x:c": [0.5, "P1"], "x:d": [[None, ["P1", "P2"], {"negated": True}], [0.5]]}]}
    }


def test_evidence_without_columns_is_an_object() -> None:
    one = EdgeMetadata([PageAssertion(confidence=[0.5], source_documents=["P1"])])
    page = SubgraphPage(header(), [], [edge("a", "p", "b", metadata=one)])
    written = compact(page)
    assert "evidence_columns" not in written
    assert written["edges"] == {"x:a": {"x:p": {"x:b": {"confidence": 0.5, "source_documents": ["P1"]}}}}
    assert expand(written)["edges"] == reference(page)["edges"]


def test_what_only_assertions_that_are_left_out_say_has_a_column() -> None:
    said = [PageAssertion(confidence=[0.5]), PageAssertion(confidence=[0.5])]
    shortened = EdgeMetadata(said, PageAssertion(confidence=[0.5], source_documents=["P1"]))
    page = SubgraphPage(header(), [], [edge("a", "p", "b", metadata=shortened)])
    written = compact(page)
    assert written["evidence_columns"] == ["confidence", "other"]
    assert expand(written)["edges"] == reference(page)["edges"]


def test_what_all_assertions_say_is_written_where_some_are_left_out() -> None:
    shortened = EdgeMetadata([PageAssertion(negated=True), PageAssertion(negated=True)], PageAssertion())
    page = SubgraphPage(header(), [], [edge("a", "p", "b", metadata=shortened)])
    (expanded,) = expand(compact(page))["edges"]
    assert expanded["metadata"] == {"assertions": [{"negated": True}, {"negated": True}]}


def test_paths_stand_apart() -> None:
    page = SubgraphPage(header(levels=None), [node("a", paths=[["x:a", "x:b"], ["x:a", "x:c", "x:d"]])], [])
    written = compact(page)
    assert written["via"] == {"x:a": ["x:a x:b", "x:a x:c x:d"]}
    assert expand(written)["nodes"] == reference(page)["nodes"]


def test_only_a_page_repeats_the_question_and_sums_up_the_traversal() -> None:
    said = header(seeds=IdList(["x:a"]), summary=TermSummary(["x:T"], ["x:p"]))
    page = SubgraphPage(said, [], [], place="1-2 of 3")
    assert {"seeds", "max_hops", "levels", "page", "schema_summary"} <= compact(page).keys()
    page.header, page.place = said.without_repetition(), ""
    assert not {"seeds", "max_hops", "levels", "page", "schema_summary"} & compact(page).keys()


def test_levels_of_several_hops_stay_because_types_hide_the_order_of_nodes() -> None:
    assert compact(SubgraphPage(header(levels=[1, 5, 78]), [], []))["levels"] == [1, 5, 78]


def test_entities_have_their_iris_by_prefix() -> None:
    entities = [
        node("a", metadata=NodeMetadata(name="A")),
        PageNode("https://other.org/b", "https://other.org/b", "untyped", metadata=NodeMetadata()),
        PageNode("x:y", "<x:y>", "untyped", metadata=NodeMetadata()),
    ]
    page = EntitiesPage(entities, IdList([]), IdList([]), IdList([]), complete=True, warnings=[], labels={})
    written = compact(page)
    assert written == {
        "result": {"x:T": [{"x:a A": {}}], "untyped": [{"https://other.org/b": {}}, {"<x:y>": {}}]},
        "complete": True,
        "prefixes": {"x": X},
    }
    assert expand(written) == reference(page)


def surveyed(local: str, rows: Sequence[SurveyRow], names: Mapping[str, str], **given: Any) -> PageNode:
    survey = EdgeSurvey(list(rows), len(rows), names=names, **given)
    return node(local, metadata=NodeMetadata(name="A"), survey=survey)


def described(entity: PageNode, **given: Any) -> EntityPage:
    return EntityPage(entity, complete=True, warnings=[], **{"labels": {}, **given})


def test_a_relation_all_of_whose_neighbours_are_shown_has_no_count() -> None:
    rows = [
        SurveyRow("x:p", False, 3, ("x:b", "x:c", "x:d")),
        SurveyRow("x:q", False, 1, ("x:b",)),
        SurveyRow("x:r", True, 40, ("x:c", "x:e")),
        SurveyRow("x:s", False, 2),
    ]
    page = described(surveyed("a", rows, {"x:b": "Bee", "x:c": "Cee", "x:q": "quest"}))
    written = compact(page)
    assert written["edges"] == {
        "x:p": ["x:b Bee", "x:c Cee", "x:d"],
        "x:q quest": "x:b",
        "^x:r": [40, "x:c", "x:e"],
        "x:s": [2],
    }
    assert expand(written) == reference(page)


def test_rows_both_ways_with_the_same_neighbours_are_one() -> None:
    names = {"x:p": "near", "x:b": "Bee"}
    pair = [SurveyRow("x:p", False, 2, ("x:b", "x:c")), SurveyRow("x:p", True, 2, ("x:b", "x:c"))]
    page = described(surveyed("a", pair, names))
    assert compact(page)["edges"] == {"<->x:p near": ["x:b Bee", "x:c"]}
    assert expand(compact(page)) == reference(page)
    # Others than those that are shown may differ.
    cut = [SurveyRow("x:p", False, 20, ("x:b", "x:c")), SurveyRow("x:p", True, 20, ("x:b", "x:c"))]
    page = described(surveyed("a", cut, names))
    assert compact(page)["edges"] == {"x:p near": [20, "x:b Bee", "x:c"], "^x:p": [20, "x:b", "x:c"]}
    assert expand(compact(page)) == reference(page)


def test_a_lower_bound_is_told_though_as_many_neighbours_are_shown() -> None:
    rows = [SurveyRow("x:p", False, 1, ("x:b",)), SurveyRow("x:p", True, 1, ("x:b",))]
    page = described(surveyed("a", rows, {}, is_exact=False))
    assert compact(page)["edges"] == {"x:p": ["at least 1", "x:b"], "^x:p": ["at least 1", "x:b"]}
    assert expand(compact(page)) == reference(page)


def test_the_types_of_a_described_entity_have_their_labels_behind_them() -> None:
    entity = node("a", metadata=NodeMetadata(types=[Id("x:S"), Id("x:T")]))
    page = described(entity, labels={"x:S": "some", "x:T": "thing", "x:v": "value"})
    written = compact(page)
    assert (written["entity_type"], written["types"]) == ("x:T thing", ["x:S some", "x:T"])
    assert written["labels"] == {"x:v": "value"}
    assert expand(written) == reference(page)


def test_a_name_stands_once_in_the_surveys_of_several_entities() -> None:
    rows = [SurveyRow("x:p", False, 1, ("x:b",))]
    entities = [surveyed(local, rows, {"x:p": "near", "x:b": "Bee"}) for local in ("a", "c")]
    page = EntitiesPage(entities, IdList([]), IdList([]), IdList([]), complete=True, warnings=[], labels={})
    first, second = compact(page)["result"]["x:T"]
    assert first == {"x:a A": {"edges": {"x:p near": "x:b Bee"}}}
    assert second == {"x:c A": {"edges": {"x:p": "x:b"}}}
    assert [one["edges"] for one in expand(compact(page))["result"]] == [{"x:p near": [1, "x:b Bee"]}] * 2


_LOCALS = ("x:b", "x:c", "x:d", "<http://e.org/at>")


@st.composite
def surveys(draw: st.DrawFn) -> EdgeSurvey:
    keys = draw(st.lists(st.tuples(st.sampled_from(_LOCALS), st.booleans()), unique=True, max_size=6))
    rows = []
    for predicate, incoming in keys:
        shown = tuple(draw(st.lists(st.sampled_from(_LOCALS), unique=True, max_size=3)))
        rows.append(SurveyRow(predicate, incoming, len(shown) + draw(st.sampled_from((0, 0, 5))) or 1, shown))
    names = draw(
        st.dictionaries(st.sampled_from(_LOCALS), st.sampled_from(("Bee", "at least 3", "2 of <->", "b")), max_size=4)
    )
    return EdgeSurvey(rows, len(rows), is_exact=draw(st.booleans()), names=names)


@settings(max_examples=examples(300))
@given(surveys())
def test_any_survey_is_read_back_as_the_reference_shape_has_it(survey: EdgeSurvey) -> None:
    page = described(node("a", metadata=NodeMetadata(name="A"), survey=survey))
    written = json.loads(json_text(compact(page)))
    assert expand(written) == json.loads(json_text(reference(page)))


def test_a_hit_is_a_row_and_the_search_is_described_where_it_may_have_missed_something() -> None:
    hits = [PageHit("x:a", "x:T", "A", "", "alias", "a"), PageHit("x:b", "untyped", "", "What it is.", "label", None)]
    page = SearchPage(hits, [], "", "names", 2, False, True, complete=True, warnings=[], labels={})
    written = compact(page)
    assert written == {
        "result": [["x:a A", "x:T", "alias", None, None, "a"], ["x:b", "untyped", "label", None, "What it is."]],
        "complete": True,
    }
    assert expand(written)["result"] == reference(page)["result"]
    page.hits, page.guesses, page.next_steps, page.exhaustive = [], hits[:1], "Try B.", False
    written = compact(page)
    assert written == {
        "result": [],
        "guesses": [["x:a A", "x:T", "alias", None, None, "a"]],
        "complete": True,
        "found": 2,
        "searched": {"how": "names", "exhaustive": False},
        "next_steps": "Try B.",
    }
    assert expand(written) == reference(page)


def test_a_schema_has_each_id_once_with_its_label_and_its_count() -> None:
    page = SchemaPage(
        "About.",
        ["x:T", "x:U"],
        ["x:p"],
        types_total=2,
        predicates_total=9,
        counts={"x:T": 5, "x:p": 7},
        names=None,
        basis=Basis(("enumerated",)),
        prefixes={"x": X},
        version="1",
        next_steps="",
        complete=True,
        warnings=[],
        labels={"x:T": "a thing", "x:p": "part of"},
    )
    written = compact(page)
    assert written["entity_types"] == {"x:T a thing": 5, "x:U": "?"}
    assert written["predicates"] == {"x:p part of": 7}
    expanded = expand(written)
    assert {key: expanded[key] for key in ("entity_types", "predicates", "counts", "labels")} == {
        key: reference(page)[key] for key in ("entity_types", "predicates", "counts", "labels")
    }


def test_an_answer_in_the_reference_shape_is_expanded_already() -> None:
    page = SubgraphPage(header(), [node("a")], [edge("a", "p", "a")])
    assert expand(reference(page)) == reference(page)


# What an ID may look like: no blank, but anything else; keys of the shapes; a name like the mark of an incoming edge.
IDS = st.sampled_from(
    ["x:a", "x:b", "x:^c", "nodes", "https://x.org/d", "<x:e>", ":f", "other", "x:\u00a0g", "via", "x:日"]
)
PREDICATES = st.sampled_from(["x:p", "x:q", "https://x.org/^r", "x:edges", ":s", "^x:p/^x:q"])
TYPES = st.sampled_from(["x:T", "(x:p)", "untyped", "unknown", "nodes", "https://x.org/U"])
NAMES = st.none() | st.text(' aé日\n^"', max_size=8)
VALUES: Any = st.one_of(
    st.text(max_size=4),
    # What could be taken for another node of the page.
    IDS,
    IDS.map("{} b".format),
    st.integers(0, 3),
    st.booleans(),
    st.just(NoValue(unknown=True)),
    st.builds(Amount, st.integers(0, 3), st.just(Id("x:unit"))),
)
PROPERTIES = st.dictionaries(
    st.sampled_from(["x:p", "x:q", "x:r", "x:note"]), st.lists(VALUES, min_size=1, max_size=3), max_size=3
)
TEXTS = st.lists(st.text(max_size=3), max_size=3)
ASSERTIONS = st.builds(
    PageAssertion,
    negated=st.booleans(),
    confidence=st.lists(st.sampled_from([0.5, 0.9]), max_size=2),
    source_documents=st.lists(st.sampled_from(["P1", "P2", "a b"]), max_size=2, unique=True),
    properties=PROPERTIES,
)
METADATA = st.builds(
    NodeMetadata,
    name=NAMES,
    types=st.lists(st.builds(Id, TYPES), max_size=2),
    descriptions=TEXTS,
    synonyms=TEXTS,
    total_mentions=st.lists(st.integers(0, 9), max_size=2),
    properties=PROPERTIES,
    beyond=st.none() | st.builds(Nested, PROPERTIES, st.booleans()),
)


@st.composite
def evidence(draw: st.DrawFn) -> EdgeMetadata:
    """Draw what is stated about an edge; what several say together is sometimes that of more than these."""
    assertions = draw(st.lists(ASSERTIONS, min_size=1, max_size=3))
    if len(assertions) == 1:
        return EdgeMetadata(assertions)
    first = assertions[0].confidence
    together = PageAssertion(
        negated=all(one.negated for one in assertions),
        confidence=first if all(one.confidence == first for one in assertions) else (),
        source_documents=sorted({source for one in assertions for source in one.source_documents}),
    )
    return EdgeMetadata(assertions, draw(st.just(together) | ASSERTIONS))


@st.composite
def pages(draw: st.DrawFn) -> SubgraphPage:
    """Draw a page: nodes, and edges among them and to nodes of earlier pages."""
    ids = draw(st.lists(IDS, unique=True, min_size=1))
    earlier = draw(st.integers(0, len(ids)))
    nodes = []
    for name_id in ids[earlier:]:
        drawn = PageNode(name_id, name_id, draw(TYPES), name=draw(NAMES))
        drawn.paths = draw(st.lists(st.lists(IDS, min_size=1, max_size=3), max_size=2))
        drawn.on_the_way = draw(st.booleans())
        drawn.may_be_in_edges = not drawn.on_the_way and draw(st.booleans())
        if not drawn.on_the_way and draw(st.booleans()):
            drawn.set_metadata(draw(METADATA))
            drawn.foldable = draw(st.booleans())
        nodes.append(drawn)
    triples = draw(st.sets(st.tuples(st.sampled_from(ids), PREDICATES, st.sampled_from(ids)), max_size=12))
    edges = []
    before = None
    for subject, predicate, object_ in sorted(triples):
        later = max(ids.index(subject), ids.index(object_))
        if later < earlier - 1:
            continue
        before = ids[later] if later < earlier else before
        incoming = ids.index(object_) < ids.index(subject)
        drawn_edge = PageEdge(Edge(subject, predicate, object_), subject, predicate, object_, incoming)
        if draw(st.booleans()):
            drawn_edge.set_metadata(draw(evidence()))
        edges.append(drawn_edge)
    labels = draw(st.dictionaries(IDS | TYPES | PREDICATES, st.text(" aé^", max_size=4), max_size=6))
    for drawn in nodes if any(drawn.may_be_in_edges for drawn in nodes) else ():
        labels.pop(drawn.id, None)
    place = f"{earlier + 1}-{len(ids)} of 99" if earlier else ""
    return SubgraphPage(header(), nodes, edges, labels=labels, before=before, place=place)


def as_set(entries: Sequence[Mapping[str, Any]]) -> list[str]:
    return sorted(json.dumps(entry, sort_keys=True) for entry in entries)


@given(page=pages())
def test_both_shapes_hold_the_same_nodes_edges_evidence_and_paths(page: SubgraphPage) -> None:
    # What a client reads is JSON.
    expanded = expand(json.loads(json.dumps(compact(page))))
    written = reference(page)
    assert_same_nodes(expanded["nodes"], written["nodes"])
    assert as_set(expanded["edges"]) == as_set(written["edges"])
    assert expanded.get("labels", {}) == page.labels


@given(page=pages())
def test_the_sizes_of_nodes_and_bare_edges_add_up_to_what_is_written(page: SubgraphPage) -> None:
    page.labels = {}
    for drawn in page.nodes:
        drawn.paths, drawn.foldable, drawn.may_be_in_edges = (), False, False
    for stated in page.edges:
        stated.metadata = None
    order = {drawn.id: place for place, drawn in enumerate(page.nodes)}
    ends = [max(order.get(end, -1) for end in bare.ends) for bare in page.edges]
    COMPACT.set_frames(page.nodes, page.edges, ends)
    # Two edges that lead both ways are measured as two.
    triples = {(one.subject, one.predicate, one.object) for one in page.edges}
    assume(not any((one.object, one.predicate, one.subject) in triples for one in page.edges if one.is_incoming))
    written = compact(page)
    parts: list[PageNode | PageEdge] = [*page.nodes, *page.edges]
    counted = sum(part.frame + COMPACT.size_of_part(part) for part in parts)
    # Commas: none after the last of a list or of an object.
    nodes = written.get("nodes", {})
    objects = [nodes, written["edges"], written.get("on_the_way", {})]
    lists = sum(len(one) + bool(one) for one in objects)
    brackets = 2 * (len("{}") + 1)
    together = size_of(nodes) + size_of(written["edges"]) - brackets
    if "on_the_way" in written:
        together += len('"on_the_way":') + size_of(written["on_the_way"])
    # Nodes are measured as rows without empty cells; those that are objects have keys besides.
    said = [entry for alike in nodes.values() for entry in alike if isinstance(entry, dict)]
    keys = sum(
        size_of(key) for entry in said for (cells,) in [entry.values()] if isinstance(cells, dict) for key in cells
    )
    empty = sum(
        len("null,") * cells.count(None) for entry in said for (cells,) in [entry.values()] if isinstance(cells, list)
    )
    assert counted - lists + keys + empty == together


_KEYS = st.sampled_from(["description", "synonyms", "total_mentions", "x:a", "x:long_property", "x:c"])
_VALUES = st.one_of(st.integers(), st.text(max_size=5), st.lists(st.text(max_size=3), min_size=1, max_size=2))
_SAID = st.lists(st.dictionaries(_KEYS, _VALUES, max_size=6), max_size=12)


def answer(said: list[dict[str, Any]]) -> dict[str, Any]:
    """Return a compact answer with nodes that carry some metadata."""
    columns = node_columns(said)
    nodes = [{f"x:n{number}": node_row(metadata, columns)} for number, metadata in enumerate(said)]
    return {**({NODE_COLUMNS: columns} if columns else {}), "nodes": {"x:T": nodes}, "edges": {}}


@settings(max_examples=examples(300), deadline=None)
@given(_SAID)
def test_rows_say_what_the_objects_said_in_fewer_bytes(said: list[dict[str, Any]]) -> None:
    written = answer(said)
    assert [node["metadata"] for node in expand(written)["nodes"]] == said
    plain = {"nodes": {"x:T": [{f"x:n{number}": metadata} for number, metadata in enumerate(said)]}, "edges": {}}
    assert (size_of(written) < size_of(plain)) == (NODE_COLUMNS in written)
    assert NODE_COLUMNS in written or written == plain


def test_many_nodes_of_one_kind_have_their_keys_once() -> None:
    said = [{"description": f"Number {number}", "synonyms": ["n"]} for number in range(5)]
    assert answer(said)[NODE_COLUMNS] == ["description", "synonyms"]
    assert node_row(said[0], ["description", "synonyms"]) == ["Number 0", ["n"]]


def test_a_row_has_empty_cells_but_at_its_end_and_what_has_no_column_stays_an_object() -> None:
    columns = ["description", "synonyms"]
    assert node_row({"description": "A"}, columns) == ["A"]
    assert node_row({"synonyms": ["A"]}, columns) == [None, ["A"]]
    assert node_row({"description": "A", "x:rare": 1}, columns) == {"description": "A", "x:rare": 1}
    assert node_row({}, columns) == {}


def test_one_node_with_metadata_has_no_columns() -> None:
    assert node_columns([{"description": "A", "synonyms": ["B"]}]) == []


ANY_TEXT = st.text(st.characters(exclude_categories=()) | st.sampled_from('"\\\n\t\x7f\x00 aé\u200b'), max_size=8)


@given(ANY_TEXT | st.lists(ANY_TEXT, max_size=2) | st.none() | st.integers())
@settings(deadline=None)
def test_a_value_takes_the_bytes_of_its_json_and_a_comma(value: object) -> None:
    assert size_of(value) == len(f"{json_text(value)},".encode())
