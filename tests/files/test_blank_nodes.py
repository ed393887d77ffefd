"""Blank nodes of files get IDs made from what they say; lists and containers are edges to their members, in order."""

import json
from collections import defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path

import pyoxigraph
import pytest
import rdflib
import rdflib.compare
from hypothesis import given, settings
from hypothesis import strategies as st

from gateway.files.loading import LoadedGraph, load_files
from gateway.files.rdflib_graphs import load_rdflib
from gateway.files.stored_graph import open_stored
from gateway.settings.hidden import Policy
from gateway.terms.iri import ARRAY, BLANK_NODE, ORDER, POSITION, RDF_REIFIES, RDF_TYPE, REACHED_BY

X = "https://example.org/x/"
HEADER = f"""@prefix x: <{X}> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix sh: <http://www.w3.org/ns/shacl#> .
"""

PEOPLE = """
x:ann x:knows [ x:name "Bob" ; x:age 3 ] , [ x:name "Cleo" ; x:home [ x:city x:rome ] ] .
x:relation x:of [ x:part x:ann ; x:role [ x:kind 1 ] ] , [ x:part x:ann ; x:role [ x:kind 2 ] ] .
x:twins x:have [ x:name "T" ] , [ x:name "T" ] .
"""

Write = Callable[[str, str], Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def written(name: str, content: str) -> Path:
        path = tmp_path / name
        path.write_text(content, encoding="utf-8")
        return path

    return written


def ids(graph: LoadedGraph) -> set[str]:
    """Return the IDs of the blank nodes of a graph."""
    terms = (term for quad in graph.engine for term in (quad.subject, quad.object))
    iris = {term.value for term in terms if isinstance(term, pyoxigraph.NamedNode)}
    return {iri.removeprefix(BLANK_NODE) for iri in iris if iri.startswith(BLANK_NODE)}


def said(graph: LoadedGraph, id_: str) -> set[str]:
    """Return what a blank node says beside the type that it is given."""
    about = graph.engine.quads_for_pattern(pyoxigraph.NamedNode(BLANK_NODE + id_), None, None)
    return {f"{quad.predicate.value} {quad.object}" for quad in about if quad.predicate.value != RDF_TYPE}


def labels(graph: LoadedGraph) -> int:
    """Return how many blank nodes stay what they are."""
    terms = {term for quad in graph.engine for term in (quad.subject, quad.object)}
    return sum(isinstance(term, pyoxigraph.BlankNode) for term in terms)


def test_each_blank_node_has_one_id_and_none_is_left(write: Write) -> None:
    graph = load_files([write("a.ttl", HEADER + PEOPLE)])
    assert (len(ids(graph)), labels(graph)) == (9, 0)


def test_equal_nodes_are_numbered_and_others_are_not(write: Write) -> None:
    numbered = sorted(id_ for id_ in ids(load_files([write("a.ttl", HEADER + PEOPLE)])) if "." in id_)
    first, second = numbered
    assert (first.partition(".")[0], first[-4:], second[-4:]) == (second.partition(".")[0], ".1-2", ".2-2")


def test_ids_are_the_same_in_every_format_order_and_process(write: Write, tmp_path: Path) -> None:
    turtle = write("a.ttl", HEADER + PEOPLE)
    source = rdflib.Graph().parse(turtle)
    lines = sorted(source.serialize(format="nt").splitlines(), key=lambda line: line[::-1])
    files = [
        turtle,
        write("a.jsonld", source.serialize(format="json-ld")),
        write("a.rdf", source.serialize(format="xml")),
        write("a.nt", "\n".join(lines) + "\n"),
    ]
    expected = ids(load_files([turtle]))
    assert [ids(load_files([file])) for file in files] == [expected] * len(files)
    assert ids(open_stored([turtle], tmp_path / "store")) == ids(load_rdflib(source)) == expected


def test_a_number_is_what_it_says_however_it_is_written(write: Write) -> None:
    one, other = (
        load_files([write(f"{number}.ttl", HEADER + f"x:a x:p [ x:v {number} ] .")]) for number in ("1", "01")
    )
    assert ids(one) == ids(other)


@pytest.mark.parametrize(
    ("edit", "lost"),
    [
        ("", 0),
        ("x:new x:p x:ann , [ x:name 'Dora' ] .", 0),
        ("x:ann x:name 'Ann' .", 0),
        ("x:rome x:in x:italy .", 0),
        # The twins are told apart then.
        ("x:other x:has [ x:name 'T' ] .", 0),
    ],
)
def test_an_edit_elsewhere_changes_no_id(write: Write, edit: str, lost: int) -> None:
    before = ids(load_files([write("a.ttl", HEADER + PEOPLE)]))
    assert len(before - ids(load_files([write("b.ttl", HEADER + PEOPLE + edit)]))) == lost


def test_an_edit_of_a_node_retires_its_id_alone(write: Write) -> None:
    before = load_files([write("a.ttl", HEADER + PEOPLE)])
    after = load_files([write("b.ttl", HEADER + PEOPLE.replace('"Bob"', '"Rob"'))])
    (gone,) = ids(before) - ids(after)
    assert any('"Bob"' in text for text in said(before, gone))


def test_a_group_of_equal_nodes_that_changes_goes_missing_in_place_of_being_renumbered(write: Write) -> None:
    before = ids(load_files([write("a.ttl", HEADER + PEOPLE)]))
    after = ids(load_files([write("b.ttl", HEADER + PEOPLE + "x:twins x:have [ x:name 'T' ] .")]))
    assert {id_[-2:] for id_ in before - after} == {"-2"}
    assert {id_[-2:] for id_ in after - before} == {"-3"}


@st.composite
def _graphs(draw: st.DrawFn) -> str:
    """A graph of a few named and blank nodes, in which blank nodes of equal content are likely."""
    nodes = [*(f"x:n{number}" for number in range(3)), *(f"_:b{number}" for number in range(6))]
    values = ["1", "2", '"a"']
    subjects, targets = st.sampled_from(nodes), st.sampled_from([*nodes, *values])
    triples = draw(st.lists(st.tuples(subjects, st.sampled_from(["x:p", "x:q"]), targets), min_size=1, max_size=20))
    return "".join(f"{' '.join(triple)} .\n" for triple in triples)


@pytest.mark.slow
@given(before=_graphs(), edit=_graphs())
@settings(max_examples=60, deadline=None)
def test_no_id_comes_to_mean_a_node_of_other_content(
    tmp_path_factory: pytest.TempPathFactory, before: str, edit: str
) -> None:
    path = tmp_path_factory.mktemp("graphs") / "a.ttl"
    graphs = []
    for content in (before, before + edit):
        path.write_text(HEADER + content, encoding="utf-8")
        graphs.append(load_files([path]))
    for id_ in ids(graphs[0]) & ids(graphs[1]):
        assert _literals(graphs[0], id_) == _literals(graphs[1], id_)


def _literals(graph: LoadedGraph, id_: str) -> set[str]:
    return {text for text in said(graph, id_) if BLANK_NODE not in text}


@pytest.mark.slow
@given(content=_graphs())
@settings(max_examples=60, deadline=None)
def test_a_loaded_graph_is_the_file_with_other_names_for_its_blank_nodes(
    tmp_path_factory: pytest.TempPathFactory, content: str
) -> None:
    path = tmp_path_factory.mktemp("graphs") / "a.ttl"
    path.write_text(HEADER + content, encoding="utf-8")
    loaded = rdflib.Graph()
    for quad in load_files([path]).engine:
        if not (isinstance(quad.object, pyoxigraph.NamedNode) and quad.object.value.startswith(REACHED_BY)):
            loaded.add((_term(quad.subject), rdflib.URIRef(quad.predicate.value), _term(quad.object)))
    assert rdflib.compare.isomorphic(loaded, rdflib.Graph().parse(path))


def _term(term: object) -> rdflib.URIRef | rdflib.BNode | rdflib.Literal:
    match term:
        case pyoxigraph.NamedNode(value=iri) if iri.startswith(BLANK_NODE):
            return rdflib.BNode(iri.removeprefix(BLANK_NODE))
        case pyoxigraph.NamedNode(value=iri):
            return rdflib.URIRef(iri)
        case pyoxigraph.Literal(value=text, datatype=datatype):
            is_text = datatype.value.endswith("#string")
            return rdflib.Literal(text, datatype=None if is_text else datatype.value)
    raise AssertionError(term)


@pytest.mark.parametrize("size", [300, 3_000])
def test_chains_cliques_and_equal_siblings_are_told_apart_or_numbered(write: Write, size: int) -> None:
    chain = "".join(f"_:c{number} x:next _:c{number + 1} .\n" for number in range(size))
    siblings = "".join("x:all x:has [ x:v 1 ] .\n" for _ in range(size))
    clique = "".join(f"_:k{one} x:beside _:k{other} .\n" for one in range(30) for other in range(30) if one != other)
    graph = load_files([write("a.ttl", HEADER + chain + siblings + clique)])
    assert len(ids(graph)) == size + 1 + size + 30


def test_numbers_within_groups_agree_with_each_other(write: Write) -> None:
    pairs = ["_:a x:to _:b . _:a x:v 1 . _:b x:v 2 .", "_:c x:to _:d . _:c x:v 1 . _:d x:v 2 ."]
    links = []
    for number, order in enumerate((pairs, pairs[::-1])):
        graph = load_files([write(f"{number}.ttl", HEADER + "\n".join(order))])
        to = graph.engine.quads_for_pattern(None, pyoxigraph.NamedNode(f"{X}to"), None)
        links.append({(_text(quad.subject), _text(quad.object)) for quad in to})
    assert links[0] == links[1]
    assert len({subject for subject, _ in links[0]}) == len({value for _, value in links[0]}) == 2


@pytest.mark.parametrize(
    ("expression", "left"),
    [
        ("x:c owl:equivalentClass [ a owl:Restriction ; owl:onProperty x:p ] .", 1),
        ("[ a owl:Restriction ; owl:onProperty x:p ; owl:someValuesFrom x:d ] rdfs:subClassOf x:c .", 1),
        ("x:c rdfs:subClassOf [ owl:onProperties ( x:p x:q ) ; owl:someValuesFrom x:d ] .", 3),
        ("x:c rdfs:subClassOf [ owl:onProperty x:p ; owl:someValuesFrom x:d ; x:note 1 ] .", 1),
        ("x:c rdfs:subClassOf _:r . _:r owl:onProperty x:p ; owl:someValuesFrom _:r .", 1),
        ("x:s sh:path [ sh:inversePath x:p ; x:note 1 ] .", 1),
        ("x:s sh:path ( x:p _:a ) . _:a sh:inversePath _:a .", 3),
        ("x:s sh:path [ sh:alternativePath () ] .", 1),
        ("x:s sh:path [ sh:inversePath 'a text' ] .", 1),
    ],
)
def test_expressions_and_paths_that_fit_no_rule_stay_what_they_are(write: Write, expression: str, left: int) -> None:
    graph = load_files([write("a.ttl", HEADER + expression)])
    assert labels(graph) == left
    assert len(ids(graph)) == 0


def test_a_blank_individual_of_a_restriction_is_a_node(write: Write) -> None:
    expression = "x:c owl:equivalentClass [ owl:onProperty x:p ; owl:hasValue [ x:v 1 ] ] ."
    assert len(ids(load_files([write("a.ttl", HEADER + expression)]))) == 1


def test_an_expression_that_is_part_of_one_that_is_not_read_stays_for_that(write: Write) -> None:
    shared = """
    _:r owl:onProperty x:p ; owl:someValuesFrom x:d . x:c rdfs:subClassOf _:r .
    [ owl:complementOf _:r ] rdfs:subClassOf x:e .
    """
    graph = load_files([write("a.ttl", HEADER + shared)])
    to_d = graph.engine.quads_for_pattern(None, None, pyoxigraph.NamedNode(f"{X}d"))
    assert sorted(isinstance(quad.subject, pyoxigraph.BlankNode) for quad in to_d) == [False, True]


def test_a_reifier_stays_what_it_is(write: Write) -> None:
    graph = load_files([write("a.ttl", HEADER + "x:a x:p x:b {| x:by [ x:name 'Bob' ] |} .")])
    assert (labels(graph), len(ids(graph))) == (1, 1)


def test_an_untyped_node_has_the_predicates_that_lead_to_it_for_types(write: Write) -> None:
    graph = load_files([write("a.ttl", HEADER + "x:a x:p _:b ; x:q _:b , _:c . _:c a x:C . [] x:r 1 .")])
    types = graph.engine.quads_for_pattern(None, pyoxigraph.NamedNode(RDF_TYPE), None)
    assert sorted(_text(quad.object) for quad in types) == [f"{X}C", f"{REACHED_BY}{X}p", f"{REACHED_BY}{X}q"]


def _policy(*predicates: str) -> Policy:
    return Policy((), tuple(X + name for name in predicates), (), (), (RDF_TYPE,), ())


def test_under_a_policy_ids_are_those_of_a_file_without_the_hidden_triples(write: Write) -> None:
    hidden = "x:ann x:salary [ x:name 'Bob' ; x:age 3 ] . x:boss x:salary 5 .\n"
    graphs = [
        load_files([write(f"{number}.ttl", HEADER + content)], policy=_policy("salary"))
        for number, content in enumerate((PEOPLE, hidden + PEOPLE))
    ]
    assert ids(graphs[0]) == ids(graphs[1]) != set()


def test_blank_nodes_may_be_left_as_they_are(write: Write) -> None:
    path = write("a.ttl", HEADER + PEOPLE + "x:list x:of ( x:a ) .")
    graph = load_files([path], blank_types=None)
    assert (len(ids(graph)), labels(graph)) == (0, 10)
    assert graph.version != load_files([path]).version


def test_a_stored_graph_is_another_with_and_without_blank_nodes(write: Write, tmp_path: Path) -> None:
    path = write("a.ttl", HEADER + PEOPLE)
    for blank_nodes in (True, False, True):
        graph = open_stored([path], tmp_path / "store", blank_types=(RDF_TYPE,) if blank_nodes else None)
        assert bool(ids(graph)) is blank_nodes


def _text(term: object) -> str:
    assert isinstance(term, pyoxigraph.NamedNode)
    return term.value


def _documents(contents: Sequence[str], write: Write) -> list[Path]:
    return [write(f"{number}.nt", content) for number, content in enumerate(contents)]


def test_a_label_means_one_node_in_a_document_and_others_in_others(write: Write) -> None:
    line = f"_:x <{X}p> <{X}{{}}> .\n"
    graph = load_files(_documents([line.format("a") + line.format("b"), line.format("c")], write))
    about = {_text(quad.object): quad.subject for quad in graph.engine}
    assert about[f"{X}a"] == about[f"{X}b"] != about[f"{X}c"]


def test_what_is_stated_about_the_edges_of_a_node_tells_it_apart(write: Write) -> None:
    nodes = ["_:a x:p x:b {| x:sure 1 |} .", "_:c x:p x:b {| x:sure 2 |} ."]
    graphs = [
        load_files([write(f"{number}.ttl", HEADER + "x:x x:has _:a , _:c .\n" + "\n".join(order))])
        for number, order in enumerate((nodes, nodes[::-1]))
    ]
    assert ids(graphs[0]) == ids(graphs[1])
    assert not any("." in id_ for id_ in ids(graphs[0]))


LIST_HEADER = f"""@prefix x: <{X}> .
@prefix rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
"""


def loaded(folder: Path, turtle: str) -> LoadedGraph:
    path = folder / "a.ttl"
    path.write_text(LIST_HEADER + turtle, encoding="utf-8")
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
