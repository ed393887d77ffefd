"""Lists and containers of files are edges to their members, with positions, and arrays of what is no node."""

import json
from collections import defaultdict
from pathlib import Path

import pyoxigraph
import pytest

from gateway.files.loading import LoadedGraph, load_files
from gateway.terms.iri import ARRAY, BLANK_NODE, ORDER, POSITION, RDF_REIFIES, RDF_TYPE

X = "https://example.org/x/"
HEADER = f"""@prefix x: <{X}> .
@prefix rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
"""


def loaded(folder: Path, turtle: str) -> LoadedGraph:
    path = folder / "a.ttl"
    path.write_text(HEADER + turtle, encoding="utf-8")
    return load_files([path])


def edges(graph: LoadedGraph) -> dict[str, list[object]]:
    """Return the edges of a graph as `subject predicate object`, each with its positions."""
    positions: defaultdict[str, list[object]] = defaultdict(list)
    reifiers = {}
    for quad in graph.engine.quads_for_pattern(None, pyoxigraph.NamedNode(RDF_REIFIES), None):
        assert isinstance(quad.object, pyoxigraph.Triple)
        reifiers[quad.subject] = " ".join(map(_short, quad.object))
    for quad in graph.engine:
        if quad.predicate.value == POSITION:
            assert isinstance(quad.object, pyoxigraph.Literal)
            text = quad.object.value
            positions[reifiers[quad.subject]].append(int(text) if text.isdigit() else text)
        elif isinstance(quad.object, pyoxigraph.NamedNode) and quad.predicate.value != RDF_TYPE:
            positions[" ".join(map(_short, quad.triple))] += []
    return {edge: sorted(found, key=str) for edge, found in positions.items()}


def _short(term: object) -> str:
    assert isinstance(term, pyoxigraph.NamedNode)
    for begin in (X, "http://www.w3.org/1999/02/22-rdf-syntax-ns#", "http://www.w3.org/2000/01/rdf-schema#"):
        if term.value.startswith(begin):
            return term.value.removeprefix(begin)
    return "_" if term.value.startswith(BLANK_NODE) else term.value


def arrays(graph: LoadedGraph, datatype: str = ARRAY) -> list[object]:
    """Return the values of a graph that are lists."""
    return [
        json.loads(quad.object.value)
        for quad in graph.engine
        if isinstance(quad.object, pyoxigraph.Literal) and quad.object.datatype.value == datatype
    ]


@pytest.mark.parametrize(
    ("turtle", "expected"),
    [
        ("x:a x:p ( x:b x:c ) .", {"a p b": [1], "a p c": [2]}),
        ("x:a x:p ( x:b x:c x:b ) .", {"a p b": [1, 3], "a p c": [2]}),
        ("x:a x:p ( x:b ( x:c ( x:d ) ) ) .", {"a p b": [1], "a p c": ["2.1"], "a p d": ["2.2.1"]}),
        ("x:a x:p ( [ x:q x:b ] ) .", {"a p _": [1], "_ q b": []}),
        ("x:a x:p _:l . x:b x:q _:l . _:l rdf:first x:c ; rdf:rest () .", {"a p c": [1], "b q c": [1]}),
        ("x:a x:p x:l . x:l rdf:first x:b ; rdf:rest ( x:c ) .", {"a p l": [], "l member b": [1], "l member c": [2]}),
        (
            "x:a x:p [ rdf:first x:b ; rdf:rest () ; rdfs:label 'l' ] .",
            {"a p _": [], "_ member b": [1]},
        ),
        ("( x:b ) x:says x:c .", {"_ member b": [1], "_ says c": []}),
        (
            "x:a x:p [ a rdf:Seq ; rdf:_2 x:c ; rdf:_1 x:b ; rdf:_10 x:d ] .",
            {"a p b": [1], "a p c": [2], "a p d": [10]},
        ),
        ("x:bag a rdf:Bag ; rdf:_1 x:b ; rdf:_2 x:c .", {"bag member b": [1], "bag member c": [2]}),
        ("x:a x:p () .", {}),
        ("x:a x:p ( 1 'two' ) .", {}),
    ],
)
def test_members_that_are_nodes_are_neighbours_with_their_positions(
    tmp_path: Path, turtle: str, expected: dict[str, list[object]]
) -> None:
    assert edges(loaded(tmp_path, turtle)) == expected


@pytest.mark.parametrize(
    ("turtle", "expected"),
    [
        ("x:a x:p ( 1 'two' 'drei'@de ) .", [1, "two", ("drei", "de")]),
        ("x:a x:p ( x:b 'two' ) .", [X, "two"]),
        ("x:a x:p ( ( 1 2 ) ( ) ) .", [[1, 2], []]),
        ("x:a x:p () .", []),
        (r"x:a x:p ( 'a\"b\\c\nd é\u0007' ) .", ['a"b\\c\nd é\a']),
    ],
)
def test_a_list_with_members_that_are_no_nodes_is_an_array_in_its_order(
    tmp_path: Path, turtle: str, expected: object
) -> None:
    (array,) = arrays(loaded(tmp_path, turtle))
    assert _plain(array) == expected


def _plain(item: object) -> object:
    match item:
        case list():
            return [_plain(each) for each in item]
        case {"@value": str(text), "@language": str(language)}:
            return (text, language)
        case {"@value": str(text)}:
            return int(text)
        case {"@id": str(iri)}:
            return iri.removesuffix("b")
    return item


def test_a_list_of_nodes_has_an_order_and_no_array(tmp_path: Path) -> None:
    graph = loaded(tmp_path, "x:a x:p ( x:c x:b ) .")
    assert arrays(graph) == []
    assert arrays(graph, ORDER) == [[{"@id": f"{X}c"}, {"@id": f"{X}b"}]]


@pytest.mark.parametrize(
    ("turtle", "nodes"),
    [
        ("x:a x:p [ rdf:first x:b , x:c ; rdf:rest () ] .", 1),
        ("x:a x:p [ rdf:first x:b ; rdf:rest [ rdf:first x:c ] ] .", 2),
        ("x:a x:p _:l . _:l rdf:first x:b ; rdf:rest _:l .", 1),
        ("x:a x:p [ rdf:first x:b ; rdf:rest x:end ] .", 1),
        ("x:a x:p [ rdf:rest () ] .", 1),
        ("x:a x:p _:l . _:l rdf:first _:l ; rdf:rest () .", 1),
        ("x:a x:p _:l . _:l rdf:first _:m ; rdf:rest () . _:m rdf:_1 x:b ; rdf:_2 _:l .", 2),
    ],
    ids=["two members in a cell", "no end", "loop", "another end", "no member", "in itself", "in each other"],
)
def test_a_malformed_list_is_shown_as_the_nodes_it_is_made_of_and_said_to_be(
    tmp_path: Path, turtle: str, nodes: int, caplog: pytest.LogCaptureFixture
) -> None:
    graph = loaded(tmp_path, turtle)
    assert sum(edge.startswith("_") or edge.endswith("_") for edge in edges(graph)) >= nodes
    assert "malformed lists" in caplog.text


@pytest.mark.slow
def test_a_list_of_many_members_is_read_in_linear_time(tmp_path: Path) -> None:
    members = " ".join(f"x:m{number}" for number in range(20_000))
    graph = loaded(tmp_path, f"x:a x:p ( {members} ) .")
    assert len(edges(graph)) == 20_000


def test_lists_in_each_other_are_nodes_where_they_are_deep(tmp_path: Path) -> None:
    graph = loaded(tmp_path, f"x:a x:p {'( ' * 40}x:b{' )' * 40} .")
    to_node = ".".join(["1"] * 15)
    assert edges(graph) == {"a p _": [to_node], "_ member _": [to_node + ".1"], "_ member b": [".".join(["1"] * 9)]}


def test_a_list_in_several_lists_is_a_node(tmp_path: Path) -> None:
    """Written in each, twenty lists that each have the next one twice would have a million members."""
    levels = "".join(
        f"_:l{number} rdf:first _:l{number + 1} ; rdf:rest ( _:l{number + 1} ) .\n" for number in range(20)
    )
    graph = loaded(tmp_path, f"x:a x:p _:l0 . {levels} _:l20 rdf:first x:b ; rdf:rest () .")
    found = edges(graph)
    assert (found["a p _"], found["_ member b"], len(found["_ member _"])) == ([1, 2], [1], 38)


def test_a_list_of_many_members_with_many_owners_is_a_node(tmp_path: Path) -> None:
    owners = "".join(f"x:o{number} x:p _:l .\n" for number in range(200))
    members = "".join(f"x:m{number} " for number in range(200))
    graph = loaded(tmp_path, f"{owners} _:l rdf:first x:b ; rdf:rest ( {members}) .")
    assert len(edges(graph)) == 200 + 201


@pytest.mark.parametrize(
    "top", ["x:a x:p _:h . _:h rdf:_1 _:l0 . x:b x:p _:i . _:i rdf:_1 _:l0 .", "_:l rdf:_1 _:l ; rdf:_2 _:l0 ."]
)
def test_no_list_is_read_so_deep_that_the_stack_ends(tmp_path: Path, top: str) -> None:
    chain = "".join(f"_:l{number} rdf:_1 _:l{number + 1} .\n" for number in range(2_000))
    graph = loaded(tmp_path, f"{top} {chain} _:l2000 rdf:_1 x:end .")
    assert len(edges(graph)["_ member _"]) > 100


def test_nothing_is_a_member_of_the_end_of_lists(tmp_path: Path) -> None:
    assert edges(loaded(tmp_path, "rdf:nil rdf:first x:a . x:a x:p x:b ."))["nil first a"] == []
