"""Answers that were worked out by hand, most of them from the examples of the specification."""

from typing import Any

import pytest

from tests.values.graphs import EX, PREFIXES
from tests.values.oracle import Expected, Tally, answer
from tests.values.terms import FIRST, LABEL, NIL, REST, SUBCLASS, TYPE, Literal, Triple, read, text, typed, written
from tests.values.walks import Graph

_SHOP = f"""
<{EX}saw> <{TYPE}> <{EX}Saw> .
<{EX}saw> <{LABEL}> "Saw"@en .
<{EX}saw> <{EX}weight> "49.90" .
<{EX}saw> <{EX}weight> "120"^^<http://www.w3.org/2001/XMLSchema#integer> .
<{EX}saw> <{EX}price> <{EX}p1> .
<{EX}p1> <{EX}amount> "12"^^<http://www.w3.org/2001/XMLSchema#integer> .
<{EX}saw> <{EX}madeBy> <{EX}acme> .
<{EX}drill> <{TYPE}> <{EX}Tool> .
<{EX}drill> <{LABEL}> "drill" .
<{EX}drill> <{EX}weight> "120.0"^^<http://www.w3.org/2001/XMLSchema#decimal> .
<{EX}drill> <{EX}height> "120"^^<http://www.w3.org/2001/XMLSchema#integer> .
<{EX}drill> <{EX}madeBy> <{EX}bolt> .
<{EX}nail> <{TYPE}> <{EX}Part> .
<{EX}nail> <{EX}weight> "NaN"^^<http://www.w3.org/2001/XMLSchema#double> .
<{EX}nail> <{EX}partOf> <{EX}saw> .
<{EX}nail> <{EX}partOf> <{EX}nail> .
<{EX}bolt1> <{TYPE}> <{EX}Part> .
<{EX}bolt1> <{EX}weight> "heavy" .
<{EX}bolt1> <{EX}partOf> <{EX}drill> .
<{EX}acme> <{LABEL}> "Acme" .
<{EX}acme> <{EX}city> <{EX}toulouse> .
<{EX}bolt> <{LABEL}> "Bolt" .
<{EX}bolt> <{EX}city> <{EX}oslo> .
<{EX}toulouse> <{LABEL}> "Toulouse" .
<{EX}oslo> <{LABEL}> "Oslo" .
<{EX}madeBy> <{LABEL}> "made by" .
<{EX}Saw> <{SUBCLASS}> <{EX}Tool> .
<{EX}Tool> <{SUBCLASS}> <{EX}Product> .
<{EX}Part> <{SUBCLASS}> <{EX}Product> .
"""

_LISTS: list[Triple] = [
    (EX + "saw", TYPE, EX + "Saw"),
    (EX + "saw", EX + "price", "_:p"),
    ("_:p", EX + "amount", typed("12", "integer")),
    (EX + "saw", EX + "tag", "_:one"),
    ("_:one", FIRST, text("sharp")),
    ("_:one", REST, "_:two"),
    ("_:two", FIRST, EX + "steel"),
    ("_:two", REST, NIL),
]


def _graph(triples: list[Triple] | None = None, *, blank_nodes: bool = True) -> Graph:
    return Graph(triples or list(read(_SHOP.strip().splitlines())), PREFIXES, blank_nodes=blank_nodes)


def _found(graph: Graph | None = None, **question: Any) -> list[str]:
    expected = _answer(graph, **question)
    return [node.removeprefix(EX) for node in expected.members]


def _answer(graph: Graph | None = None, **question: Any) -> Expected:
    return answer(graph or _graph(), {"tool": "search_entities", "node_types": ["ex:Product"], **question})


def test_n_triples_are_read_as_they_are_written() -> None:
    triples: list[Triple] = [
        ("urn:a", "urn:p", text('say "hi" \\ \n\t\r \U0001f600')),
        ("_:b", "urn:p", text("x", "en-GB")),
        ("_:b", "urn:p", "_:c"),
        ("urn:a", "urn:p", typed(" 1 ", "integer")),
    ]
    assert list(read(written(triples).splitlines(keepends=True))) == triples
    assert next(read(['<urn:\\u00e9> <urn:p> "\\u0041\\n" . # said'])) == ("urn:\u00e9", "urn:p", text("A\n"))
    with pytest.raises(ValueError, match="not a triple"):
        list(read(["<urn:a> <urn:p> 1 ."]))


def test_a_type_is_a_set_with_its_subclasses() -> None:
    assert _found() == ["bolt1", "drill", "nail", "saw"]
    assert _found(node_types=["Tool"]) == ["drill", "saw"]
    assert _found(node_types=["untyped"]) == [
        *("Part", "Product", "Saw", "Tool", "acme", "bolt", "madeBy", "oslo", "p1", "toulouse")
    ]


@pytest.mark.parametrize(
    ("condition", "found"),
    [
        ("ex:weight < 50", ["saw"]),
        ("ex:weight = 120", ["drill", "saw"]),
        ("ex:weight != 120", []),
        ("ex:weight in 7, 49.9, red", ["saw"]),
        ("ex:weight exists", ["bolt1", "drill", "nail", "saw"]),
        ("ex:height missing", ["bolt1", "nail", "saw"]),
        ("ex:weight contains EAV", ["bolt1"]),
        ("ex:madeBy/ex:city = Toulouse", ["saw"]),
        ("made by/city = ex:toulouse", ["saw"]),
        ("made by != Acme", ["drill"]),
        ("^ex:partOf exists", ["drill", "nail", "saw"]),
        ("ex:partOf/ex:madeBy/ex:city = Oslo", ["bolt1"]),
        ("name starts SA", ["saw"]),
        ("name missing", ["bolt1", "nail"]),
        ("any = heavy", ["bolt1"]),
        ("any = 120", ["drill", "saw"]),
        ("type = ex:Tool", ["drill", "saw"]),
        ("type != Tool", ["bolt1", "nail"]),
        ("ex:weight = @ex:height", ["drill"]),
        ("ex:price/ex:amount >= 12", ["saw"]),
    ],
)
def test_a_condition_holds_if_one_value_fulfils_it(condition: str, found: list[str]) -> None:
    assert _found(where=[condition]) == found


def test_all_conditions_need_to_hold_and_each_is_counted_alone() -> None:
    expected = _answer(where=["ex:weight < 50", "ex:height exists"])
    assert expected.members == ()
    assert expected.tallies == (Tally(1, uncomparable=2, texts=1), Tally(1))
    assert expected.unfiltered == 4


def test_a_condition_that_could_be_read_in_two_ways_is_none() -> None:
    triples: list[Triple] = [
        (EX + "a", EX + "p", text("1")),
        (EX + "a", EX + "q", text("1")),
        (EX + "q", LABEL, text("p < 3 and")),
    ]
    graph = Graph(triples, PREFIXES)
    with pytest.raises(ValueError, match="2 ways"):
        graph.condition("p < 3 and > 7")
    assert graph.condition("p < 3 or > 7").operator == "<"
    assert graph.condition('"p < 3 and" > 7').operator == ">"
    with pytest.raises(ValueError, match="0 ways"):
        graph.condition("unknown < 3")


def test_an_order_has_numbers_first_and_nodes_without_a_value_last() -> None:
    assert _found(sort_by="ex:weight") == ["saw", "drill", "bolt1", "nail"]
    assert _found(sort_by="-ex:weight") == ["drill", "saw", "bolt1", "nail"]
    assert _found(sort_by="name") == ["drill", "saw", "bolt1", "nail"]
    assert _found(sort_by="-name") == ["saw", "drill", "bolt1", "nail"]
    assert _found(sort_by="made by") == ["saw", "drill", "bolt1", "nail"]


def test_what_has_the_value_of_the_last_one_shown_is_tied() -> None:
    assert _answer(sort_by="-ex:weight", limit=1).tied == 1
    assert _answer(sort_by="-ex:weight", limit=2).tied == 0
    assert _answer(sort_by="-ex:weight", limit=3).tied == 0
    assert _answer(sort_by="-ex:weight", limit=9).tied == 0
    assert _answer(limit=1).tied is None


def test_columns_have_all_ends_of_a_walk() -> None:
    cells = _answer(values=["ex:weight", "made by/city", "name"], show="id").cells
    assert list(cells[EX + "saw"]) == [
        {text("49.90"), typed("120", "integer")},
        {EX + "toulouse"},
        {Literal("Saw")},
    ]
    assert list(cells[EX + "bolt1"]) == [{text("heavy")}, set(), set()]


def test_an_entry_of_several_steps_is_one_hop_and_only_its_end_is_a_member() -> None:
    bfs: dict[str, Any] = {"tool": "bfs_query", "seeds": ["ex:oslo"], "max_hops": 1}
    assert _found(**bfs, only_predicates=["^ex:city/^ex:madeBy"]) == ["drill"]
    assert _found(**bfs, only_predicates=["ex:city/ex:madeBy"]) == []
    assert _found(**bfs, only_predicates=["ex:city"]) == ["bolt"]
    assert _found(**bfs, only_predicates=["ex:city"], direction="out") == []
    assert _found(**bfs, only_predicates=["^ex:city"], direction="out") == ["bolt"]
    bfs["max_hops"] = 2
    assert _found(**bfs) == ["bolt", "drill"]
    assert _found(**bfs, only_predicates=[["^ex:city/^made by"], ["^partOf"]]) == ["bolt1"]


def test_the_members_of_a_traversal_with_a_list_a_hop_are_the_ends_of_the_last() -> None:
    question: dict[str, Any] = {"tool": "bfs_query", "seeds": ["ex:saw"], "max_hops": 2}
    lists = [["^ex:partOf"], ["ex:partOf"]]
    expected = _answer(**question, only_predicates=lists)
    assert set(expected.members) == {EX + "nail", EX + "saw"}
    assert expected.on_the_way == {EX + "saw", EX + "nail"}
    kept = _answer(**question, only_predicates=lists, where=["name = Saw"])
    assert kept.members == (EX + "saw",)
    assert kept.on_the_way == {EX + "saw", EX + "nail"}
    assert _found(**question) == [*("acme", "nail", "p1", "toulouse")]


def test_a_list_of_walks_for_each_seed_is_a_join() -> None:
    join: dict[str, Any] = {"tool": "intersect_subgraphs", "k": 1, "seeds": ["Toulouse", "ex:nail"]}
    assert _found(**join, only_predicates=[["^ex:city/^ex:madeBy"], ["ex:partOf"]]) == ["saw"]
    assert _found(**join, only_predicates=[["^ex:city/^ex:madeBy"], ["^ex:partOf"]]) == []
    expected = _answer(**{**join, "seeds": ["Acme", "Toulouse"]}, only_predicates=[["ex:madeBy"], ["^ex:city"]])
    assert (expected.members, expected.seeds_left_out) == ((), 1)


def test_members_of_lists_are_ends_and_blank_nodes_are_members_where_they_are_nodes() -> None:
    graph = _graph(_LISTS)
    saw = _answer(graph, node_types=["ex:Saw"], values=["ex:tag", "ex:price/ex:amount"])
    assert list(saw.cells[EX + "saw"]) == [{text("sharp"), EX + "steel"}, {typed("12", "integer")}]
    around: dict[str, Any] = {"tool": "bfs_query", "seeds": ["ex:saw"], "max_hops": 1}
    assert _found(graph, **around) == ["steel", "_:p"]
    assert _found(graph, **around, where=["type = (x)"]) == []
    elsewhere = _graph(_LISTS, blank_nodes=False)
    assert _found(elsewhere, **around) == []
    assert _answer(elsewhere, node_types=["ex:Saw"], where=["ex:price/ex:amount = 12"]).found == 1
    assert _answer(elsewhere, node_types=["ex:Saw"], where=["ex:price missing"]).found == 0
