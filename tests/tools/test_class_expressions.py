"""Class expressions of a file are edges with what they say, or content of descriptions."""

from collections.abc import Iterable
from typing import Any

import pytest

from gateway.answers.models import Entity, SearchResult, Subgraph
from gateway.errors import InputError
from gateway.expand_compact import expand
from gateway.export.rdf_graph import to_rdflib
from gateway.settings.limits import OrientationSettings
from gateway.settings.profile import Profile
from gateway.settings.vocabulary import NodeSettings
from gateway.terms.iri import ARRAY
from tests.small import PREFIXES, ROOM, ids, over
from tests.tools.conftest import Open

pytestmark = pytest.mark.anyio

SOME = "[ a owl:Restriction ; owl:onProperty x:p ; owl:someValuesFrom x:D ]"
NOT_SOME = f"[ a owl:Class ; owl:complementOf {SOME} ]"


def said(answer: Subgraph) -> list[tuple[str, str, str, Any]]:
    """Return the edges of an answer with their evidence; several assertions as a list."""
    evidence = ((edge, edge.metadata) for edge in answer.edges)
    return [
        (edge.subject, edge.predicate, edge.object, one.get("assertions", one) if one else None)
        for edge, one in evidence
    ]


def restriction(text: str, on: str = "x:p") -> str:
    return f"[ a owl:Restriction ; owl:onProperty {on} ; {text} ]"


def number(value: int) -> str:
    return f'"{value}"^^xsd:nonNegativeInteger'


MIN_0 = restriction(f"owl:minQualifiedCardinality {number(0)} ; owl:onClass x:D")

P_D = ("x:C", "x:p", "x:D")
NOT_P_D = ("x:C", "(owl:complementOf/x:p)", "x:D")
P_NOT_D = ("x:C", "(x:p/owl:complementOf)", "x:D")


def not_counted(how: str, count: int) -> str:
    return f"[ owl:complementOf {restriction(f'owl:{how} {number(count)} ; owl:onClass x:D')} ]"


NOT_ONLY = f"[ owl:complementOf {restriction('owl:allValuesFrom x:D')} ]"
ONLY_NOT = restriction("owl:allValuesFrom [ owl:complementOf x:D ]")
SOME_NOT = (*P_NOT_D, {"negated": True, "restriction": "some not"})
NONE = (*NOT_P_D, {"negated": True, "restriction": "max 0"})


@pytest.mark.parametrize(
    ("expression", "edge"),
    [
        (not_counted("maxQualifiedCardinality", 1), (*P_D, {"restriction": "min 2"})),
        (not_counted("maxQualifiedCardinality", 0), (*P_D, {"restriction": "min 1"})),
        (not_counted("qualifiedCardinality", 0), (*P_D, {"restriction": "min 1"})),
        (not_counted("minQualifiedCardinality", 2), (*P_D, {"restriction": "max 1"})),
        (not_counted("minQualifiedCardinality", 1), NONE),
        (NOT_ONLY, SOME_NOT),
        (ONLY_NOT, NONE),
        (f"[ owl:complementOf {ONLY_NOT} ]", (*P_D, {"restriction": "some"})),
        (f"[ owl:complementOf {NOT_SOME} ]", (*P_D, {"restriction": "some"})),
        (
            f"[ owl:complementOf [ owl:complementOf {NOT_SOME} ] ]",
            (*NOT_P_D, {"negated": True, "restriction": "not some"}),
        ),
        (
            restriction(f"owl:someValuesFrom {not_counted('maxQualifiedCardinality', 1)}", "x:q"),
            ("x:C", "(x:q/x:p)", "x:D", {"restriction": "some/min 2"}),
        ),
        (
            restriction(f"owl:someValuesFrom {ONLY_NOT}", "x:q"),
            ("x:C", "(x:q/owl:complementOf/x:p)", "x:D", {"negated": True, "restriction": "some/max 0"}),
        ),
        # That each is not of a class or has some other is no count.
        (not_counted("qualifiedCardinality", 2), None),
        (not_counted("minQualifiedCardinality", 0), None),
    ],
)
async def test_only_what_is_denied_has_the_predicate_of_what_is_denied(
    over_file: Open, expression: str, edge: tuple[str, str, str, Any] | None
) -> None:
    async with over_file(f"x:C a owl:Class ; rdfs:subClassOf {expression} . x:D a owl:Class .") as gateway:
        answer = await gateway.bfs_query(["x:C"], 1, only_predicates=None, topology_only=False)
        described = await gateway.describe_entity("x:C")
    assert said(answer) == ([] if edge is None else [edge])
    assert ("rdfs:subClassOf" in (described.metadata or {})) == (edge is None)


@pytest.mark.parametrize(
    ("axiom", "edges"),
    [
        (f"rdfs:subClassOf {SOME}", [(*P_D, {"restriction": "some"})]),
        (f"owl:equivalentClass {SOME}", [(*P_D, {"restriction": "some", "of": "equivalentClass"})]),
        (f"rdfs:subClassOf {restriction('owl:allValuesFrom x:D')}", [(*P_D, {"restriction": "only"})]),
        (f"rdfs:subClassOf {restriction('owl:hasValue x:D')}", [(*P_D, {"restriction": "value"})]),
        (
            f"rdfs:subClassOf {restriction(f'owl:minQualifiedCardinality {number(2)} ; owl:onClass x:D')}",
            [(*P_D, {"restriction": "min 2"})],
        ),
        (
            f"rdfs:subClassOf {restriction(f'owl:qualifiedCardinality {number(0)} ; owl:onClass x:D')}",
            [(*NOT_P_D, {"negated": True, "restriction": "exactly 0"})],
        ),
        (f"rdfs:subClassOf {restriction(f'owl:minCardinality {number(0)}')}", []),
        (
            f"rdfs:subClassOf {SOME} , {restriction('owl:allValuesFrom x:D')}",
            [(*P_D, {"restriction": "some", "closed": True})],
        ),
        (
            f"rdfs:subClassOf {SOME} , {restriction(f'owl:maxCardinality {number(1)}')}",
            [(*P_D, [{"restriction": "max 1 of all"}, {"restriction": "some"}])],
        ),
        (f"rdfs:subClassOf {NOT_SOME}", [(*NOT_P_D, {"negated": True, "restriction": "not some"})]),
        (
            f"rdfs:subClassOf {restriction('owl:someValuesFrom [ owl:complementOf x:D ]')}",
            [(*P_NOT_D, {"negated": True, "restriction": "some not"})],
        ),
        (
            f"rdfs:subClassOf {restriction('owl:someValuesFrom [ owl:unionOf ( x:D x:E ) ]')}",
            [(*P_D, {"restriction": "some", "one of": 2}), ("x:C", "x:p", "x:E", {"restriction": "some", "one of": 2})],
        ),
        (
            f"owl:equivalentClass [ owl:intersectionOf ( x:B {SOME} ) ]",
            [
                ("x:C", "rdfs:subClassOf", "x:B", {"of": "equivalentClass"}),
                (*P_D, {"restriction": "some", "of": "equivalentClass"}),
            ],
        ),
        (
            "owl:equivalentClass [ owl:unionOf ( x:A x:B ) ]",
            [
                ("x:A", "rdfs:subClassOf", "x:C", {"of": "equivalentClass"}),
                ("x:B", "rdfs:subClassOf", "x:C", {"of": "equivalentClass"}),
            ],
        ),
        (
            "owl:equivalentClass [ owl:intersectionOf ( x:A [ owl:unionOf ( x:B x:D ) ] ) ]",
            [
                ("x:C", "(rdfs:subClassOf/owl:unionOf)", "x:B", {"one of": 2, "of": "equivalentClass"}),
                ("x:C", "(rdfs:subClassOf/owl:unionOf)", "x:D", {"one of": 2, "of": "equivalentClass"}),
                ("x:C", "rdfs:subClassOf", "x:A", {"of": "equivalentClass"}),
            ],
        ),
        (
            "owl:intersectionOf ( x:A [ owl:unionOf ( x:B x:D ) ] )",
            [
                ("x:C", "(rdfs:subClassOf/owl:unionOf)", "x:B", {"one of": 2, "of": "equivalentClass"}),
                ("x:C", "(rdfs:subClassOf/owl:unionOf)", "x:D", {"one of": 2, "of": "equivalentClass"}),
                ("x:C", "rdfs:subClassOf", "x:A", {"of": "equivalentClass"}),
            ],
        ),
        (
            "owl:equivalentClass [ owl:intersectionOf ( x:A [ owl:oneOf ( x:a x:b ) ] ) ]",
            [("x:C", "rdfs:subClassOf", "x:A", {"of": "equivalentClass"})],
        ),
        (f"rdfs:subClassOf {restriction(f'owl:allValuesFrom {MIN_0}', on='x:q')}", []),
        (
            f"rdfs:subClassOf {SOME} , {restriction(f'owl:maxCardinality {number(0)}')}",
            [
                (*P_D, {"restriction": "some"}),
                (*NOT_P_D, {"negated": True, "restriction": "max 0 of all"}),
            ],
        ),
        (
            "owl:equivalentClass [ owl:oneOf ( x:a x:b ) ]",
            [
                ("x:C", "owl:oneOf", "x:a", {"of": "equivalentClass"}),
                ("x:C", "owl:oneOf", "x:b", {"of": "equivalentClass"}),
            ],
        ),
        (
            "rdfs:subClassOf [ owl:unionOf ( x:A x:B ) ]",
            [
                ("x:C", "(rdfs:subClassOf/owl:unionOf)", "x:A", {"one of": 2}),
                ("x:C", "(rdfs:subClassOf/owl:unionOf)", "x:B", {"one of": 2}),
            ],
        ),
        (
            "rdfs:subClassOf [ owl:complementOf x:A ]",
            [("x:C", "(rdfs:subClassOf/owl:complementOf)", "x:A", {"negated": True})],
        ),
        (
            f"rdfs:subClassOf {restriction('owl:someValuesFrom x:D', '[ owl:inverseOf x:p ]')}",
            [("x:C", "(^x:p)", "x:D", {"restriction": "some"})],
        ),
        (
            f"rdfs:subClassOf {restriction(f'owl:allValuesFrom {SOME}', 'x:q')}",
            [("x:C", "(x:q/x:p)", "x:D", {"restriction": "only/some"})],
        ),
        (f"a {SOME}", [(*P_D, {"restriction": "some"})]),
        (
            "rdfs:domain [ owl:unionOf ( x:A x:B ) ]",
            [("x:C", "rdfs:domain", "x:A", {"one of": 2}), ("x:C", "rdfs:domain", "x:B", {"one of": 2})],
        ),
        (f"rdfs:range {SOME}", [("x:C", "(rdfs:range/x:p)", "x:D", {"restriction": "some"})]),
        (
            "owl:unionOf ( x:A x:B )",
            [
                ("x:A", "rdfs:subClassOf", "x:C", {"of": "equivalentClass"}),
                ("x:B", "rdfs:subClassOf", "x:C", {"of": "equivalentClass"}),
            ],
        ),
    ],
)
async def test_an_axiom_is_edges_with_what_it_says(
    over_file: Open, axiom: str, edges: list[tuple[str, str, str, Any]]
) -> None:
    async with over_file(f"x:C {axiom} ; rdfs:label 'C' .") as gateway:
        answer = await gateway.bfs_query(["x:C"], 1)
    assert sorted(said(answer), key=repr) == sorted(edges, key=repr)
    assert (answer.complete, answer.blank_node_edges) == (True, None)


async def test_the_edges_of_an_expression_lead_back(over_file: Open) -> None:
    async with over_file(f"x:C rdfs:subClassOf {SOME} .") as gateway:
        answer = await gateway.intersect_subgraphs(["x:C", "x:D"], 1)
    assert (ids(answer), answer.complete) == (["x:C", "x:D"], True)


@pytest.mark.parametrize(
    ("axiom", "content"),
    [
        (
            f"rdfs:subClassOf {restriction('owl:hasSelf true')}",
            {"x:p": {"owl:hasSelf": True}},
        ),
        (
            f"rdfs:subClassOf {restriction(f'owl:cardinality {number(1)}')}",
            {"x:p": {"owl:cardinality": 1}},
        ),
        (
            f"rdfs:subClassOf {restriction('owl:someValuesFrom xsd:string')}",
            {"x:p": {"owl:someValuesFrom": "xsd:string"}},
        ),
        (
            f"rdfs:subClassOf {restriction('owl:hasValue 5')}",
            {"x:p": {"owl:hasValue": 5}},
        ),
        (
            f"owl:equivalentClass {restriction('owl:hasValue 5')}",
            {"x:p": {"owl:equivalentClass": {"owl:hasValue": 5}}},
        ),
        (
            f"owl:equivalentClass [ owl:unionOf ( {restriction('owl:hasValue 5')} {restriction('owl:hasValue 6')} ) ]",
            {
                "owl:equivalentClass": {
                    "owl:unionOf": [
                        [
                            {"owl:onProperty": "x:p", "owl:hasValue": 5},
                            {"owl:onProperty": "x:p", "owl:hasValue": 6},
                        ]
                    ]
                }
            },
        ),
        (
            f"rdfs:subClassOf {restriction(f'owl:someValuesFrom {MIN_0}', on='x:q')}",
            {
                "rdfs:subClassOf": {
                    "owl:onProperty": "x:q",
                    "owl:someValuesFrom": {
                        "owl:onProperty": "x:p",
                        "owl:minQualifiedCardinality": 0,
                        "owl:onClass": "x:D",
                    },
                }
            },
        ),
        (
            f"owl:equivalentClass {MIN_0}",
            {
                "owl:equivalentClass": {
                    "owl:onProperty": "x:p",
                    "owl:minQualifiedCardinality": 0,
                    "owl:onClass": "x:D",
                }
            },
        ),
        ("owl:propertyChainAxiom ( x:p x:q )", {"owl:propertyChainAxiom": [["x:p", "x:q"]]}),
        ("owl:hasKey ( x:p )", {"owl:hasKey": [["x:p"]]}),
        ("owl:disjointUnionOf ( x:A x:B )", {"owl:disjointUnionOf": [["x:A", "x:B"]]}),
    ],
)
async def test_what_is_no_edge_is_content_of_the_description_and_complete(
    over_file: Open, axiom: str, content: dict[str, Any]
) -> None:
    async with over_file(f"x:C {axiom} .") as gateway:
        entity = await gateway.describe_entity("x:C")
        answer = await gateway.bfs_query(["x:C"], 1)
    written = entity.as_json()
    assert {key: written[key] for key in content} == content
    assert (entity.edges, entity.complete) == ({}, True)
    assert (answer.edge_count, answer.complete) == (0, True)


@pytest.mark.parametrize(
    ("path", "content"),
    [
        ("( x:p x:q )", [["x:p", "x:q"]]),
        ("[ sh:inversePath x:p ]", {"sh:inversePath": "x:p"}),
        ("[ sh:zeroOrMorePath ( x:p x:q ) ]", {"sh:zeroOrMorePath": [["x:p", "x:q"]]}),
        (
            "( x:p [ sh:alternativePath ( x:q [ sh:oneOrMorePath x:p ] ) ] )",
            [["x:p", {"sh:alternativePath": [["x:q", {"sh:oneOrMorePath": "x:p"}]]}]],
        ),
    ],
)
async def test_a_path_of_shacl_is_content_of_its_shape(over_file: Open, path: str, content: Any) -> None:
    shapes = f"@prefix sh: <http://www.w3.org/ns/shacl#> . x:S sh:property [ sh:path {path} ; sh:class x:C ] ."
    async with over_file(shapes) as gateway:
        (shape,) = (await gateway.bfs_query(["x:C"], 1)).nodes[1:]
        written = (await gateway.describe_entity(shape.id)).as_json()
        answer = await gateway.bfs_query(["x:S", "x:p"], 3)
    assert (written["sh:path"], written["complete"]) == (content, True)
    assert (answer.edge_count, answer.complete) == (2, True)


UNIONS = "x:C a owl:Class ; owl:disjointUnionOf ( x:A x:B ) . x:D a owl:Class ; owl:disjointUnionOf ( x:A ) ."
PARTS = "x:A a owl:Class ; rdfs:subClassOf x:D . x:B a owl:Class ; rdfs:label 'a part' ."
ODD = "x:E a owl:Class ; owl:disjointUnionOf 'a text' ."


@pytest.mark.parametrize(
    ("condition", "found"),
    [
        ("= x:B", ["x:C"]),
        (f"= <{PREFIXES['x']}B>", ["x:C"]),
        ("in x:nothing, x:B", ["x:C"]),
        ("= 'a part'", ["x:C"]),
        ("!= x:B", ["x:D"]),
    ],
)
@pytest.mark.parametrize("text", ["", ODD], ids=["lists", "lists and a text"])
async def test_lists_that_are_no_edges_are_compared_by_their_members(
    over_file: Open, condition: str, found: list[str], text: str
) -> None:
    async with over_file(UNIONS + PARTS + text) as gateway:
        answer = await gateway.search_entities(
            node_types=["owl:Class"], where=[f"owl:disjointUnionOf {condition}"], show="id", edges=False
        )
    with_text = ["x:E"] if text and "!=" in condition else []
    assert answer.complete
    assert answer.rows == [[node] for node in sorted(found + with_text)]


@pytest.mark.parametrize(
    ("value", "found", "read"), [("x:B", "x:C", "x:B, x:B (text)"), ("text 7", "x:T7", "text 7 (text)")]
)
async def test_an_id_means_a_node_too_where_not_all_values_were_looked_at(value: str, found: str, read: str) -> None:
    texts = [
        f"x:T{number} a owl:Class ; rdfs:label 'T' ; owl:disjointUnionOf 'text {number}' ." for number in range(2_000)
    ]
    union = f"""x:C a owl:Class ; owl:disjointUnionOf '[{{"@id":"{PREFIXES["x"]}B"}}]'^^<{ARRAY}> ."""
    # Of a larger graph than this, only a part of the nodes is looked at for values.
    profile = Profile(size=ROOM, orientation=OrientationSettings(glance_triples=1))
    async with over("".join([*texts[:1_000], PARTS, union, *texts[1_000:]]), profile) as gateway:
        await gateway.describe_schema()
        await gateway.wait_for_schema()
        where = [f"owl:disjointUnionOf = {value}"]
        answer = await gateway.search_entities(node_types=["owl:Class"], where=where, show="id", edges=False)
    assert answer.complete
    assert answer.where == [f"owl:disjointUnionOf = {read}"]
    assert answer.rows == [[found]]


async def test_classes_that_are_disjoint_are_content_of_each_other(over_file: Open) -> None:
    async with over_file("[] a owl:AllDisjointClasses ; owl:members ( x:A x:B x:C ) .") as gateway:
        entity = await gateway.describe_entity("x:B")
    assert (entity.as_json()["owl:disjointWith"], entity.edges) == ([["x:A", "x:C"]], {})


async def test_a_statement_about_an_axiom_is_evidence_of_its_edge(over_file: Open) -> None:
    turtle = f"""
    x:C rdfs:subClassOf {SOME} .
    [] a owl:Axiom ; owl:annotatedSource x:C ; owl:annotatedProperty rdfs:subClassOf ; owl:annotatedTarget {SOME} ;
        x:by x:ann .
    """
    async with over_file(turtle) as gateway:
        answer = await gateway.bfs_query(["x:C"], 1)
    assert said(answer) == [(*P_D, {"restriction": "some", "x:by": "x:ann"})]
    assert answer.complete


@pytest.mark.parametrize("kind", ["owl:oneOf", "owl:unionOf"])
async def test_expressions_of_many_parts_are_read(over_file: Open, kind: str) -> None:
    members = " ".join(f"x:m{number}" for number in range(600))
    axiom = f"x:C owl:equivalentClass [ {kind} ( {members} ) ] ."
    statement = "[ a owl:Axiom ; owl:annotatedSource x:C ; owl:annotatedProperty owl:equivalentClass"
    statement += f' ; owl:annotatedTarget [ {kind} ( {members} ) ] ; x:source "S" ] .'
    async with over_file(axiom + statement) as gateway:
        answer = await gateway.bfs_query(["x:m599"], 1)
    assert answer.complete
    assert [one["source_documents"] for *_, one in said(answer)] == [["S"]]


_DEEP_COPIES = {
    "deep": ("[ owl:complementOf " * 500 + "x:A" + " ]" * 500, ""),
    "shared": ("_:n0", "".join(f"_:n{at} owl:unionOf ( _:n{at + 1} _:n{at + 1} ) ." for at in range(40))),
    "in itself": ("_:n0", "_:n0 owl:unionOf ( _:n0 _:n1 ) . _:n1 owl:unionOf ( _:n0 _:n1 ) ."),
}


@pytest.mark.parametrize("copy", _DEEP_COPIES)
async def test_a_statement_about_any_expression_leaves_a_graph_readable(over_file: Open, copy: str) -> None:
    head, rest = _DEEP_COPIES[copy]
    statement = "x:s owl:annotatedSource x:C ; owl:annotatedProperty rdfs:subClassOf ; owl:annotatedTarget"
    other = f"[ owl:annotatedSource x:C ; owl:annotatedProperty rdfs:subClassOf ; owl:annotatedTarget {head} ] ."
    async with over_file(f"x:C rdfs:subClassOf {SOME} . {statement} {head} . {other} {rest}") as gateway:
        answer = await gateway.bfs_query(["x:C"], 1)
    assert (*P_D, {"restriction": "some"}) in said(answer)


def _levels(predicate: str, levels: int) -> str:
    """Return a chain of intersections or unions of two restrictions each, both of which have the next as filler."""
    lines = []
    for at in range(levels):
        parts = (f"[ owl:onProperty x:p{side} ; owl:someValuesFrom _:n{at + 1} ]" for side in "ab")
        lines.append(f"_:n{at} {predicate} ( {' '.join(parts)} ) .")
    return "".join(lines) + f"_:n{levels} owl:unionOf ( x:A x:B ) ."


_SHARED = {
    "content": f"x:C rdfs:subClassOf _:n0 . {_levels('owl:intersectionOf', 22)}",
    "disjoint": f"x:C owl:disjointWith _:n0 . {_levels('owl:intersectionOf', 22)}",
    "alternatives": "x:C rdfs:subClassOf _:u0 . "
    + "".join(f"_:u{at} owl:unionOf ( _:u{at + 1} _:u{at + 1} ) . " for at in range(30))
    + "_:u30 owl:unionOf ( x:A x:B ) .",
}


@pytest.mark.parametrize("shape", _SHARED)
async def test_what_shared_parts_make_endless_is_not_read_and_said_to_be(over_file: Open, shape: str) -> None:
    async with over_file(f"{_SHARED[shape]} x:F rdfs:subClassOf {SOME} .") as gateway:
        of_shared, other = [await gateway.bfs_query([seed], 1) for seed in ("x:C", "x:F")]
    assert not of_shared.complete
    assert (other.edge_count, other.complete) == (1, True)


@pytest.mark.slow
async def test_many_cardinalities_without_a_class_are_said_of_edges_or_content(over_file: Open) -> None:
    some = " , ".join(restriction(f"owl:someValuesFrom x:D{at}") for at in range(300))
    bounds = " , ".join(restriction(f"owl:maxCardinality {number(at + 1)}") for at in range(300))
    async with over_file(f"x:C rdfs:subClassOf {some} , {bounds} .") as gateway:
        answer = await gateway.bfs_query(["x:C"], 1)
        entity = await gateway.describe_entity("x:C")
    assert answer.complete
    assert len(entity.as_json()["x:p"]) > 0


async def test_a_malformed_list_in_an_expression_is_not_read(over_file: Open) -> None:
    data = "[ owl:onDatatype xsd:string ; owl:withRestrictions [ rdf:first x:a ] ]"
    async with over_file(f"x:C rdfs:subClassOf {restriction(f'owl:someValuesFrom {data}')} .") as gateway:
        answer = await gateway.bfs_query(["x:C"], 1)
    assert not answer.complete


@pytest.mark.parametrize("kind", ["owl:unionOf", "owl:oneOf"])
@pytest.mark.parametrize("word", ["owl:qualifiedCardinality", "owl:minQualifiedCardinality"])
async def test_no_alternative_is_made_of_what_several_may_be(over_file: Open, kind: str, word: str) -> None:
    counted = restriction(f"{word} {number(2)} ; owl:onClass [ {kind} ( x:A x:B ) ]")
    async with over_file(f"x:C rdfs:subClassOf {counted} .") as gateway:
        entity = await gateway.describe_entity("x:C")
    assert (entity.edges, entity.complete) == ({}, True)
    assert entity.as_json()["rdfs:subClassOf"]["owl:onClass"] == {kind: [["x:A", "x:B"]]}


async def test_a_class_of_a_union_is_no_subclass_of_its_parts(over_file: Open) -> None:
    turtle = "x:C rdfs:subClassOf [ owl:unionOf ( x:A x:B ) ] . x:c a x:C . x:a a x:A ."
    async with over_file(turtle) as gateway:
        found = await gateway.search_entities(node_types=["x:A"])
    assert [hit.id for hit in found.result] == ["x:a"]


async def test_the_predicate_of_a_path_is_followed_as_answers_write_it(over_file: Open) -> None:
    turtle = f"""
    x:C rdfs:subClassOf {restriction("owl:someValuesFrom x:D", "[ owl:inverseOf x:p ]")} ,
        {restriction(f"owl:allValuesFrom {SOME}", "x:q")} , x:B .
    """
    async with over_file(turtle) as gateway:
        answer = await gateway.bfs_query(["x:C"], 1, only_predicates=["(^x:p)", "(x:q/x:p)"])
        other = await gateway.bfs_query(["x:D"], 1, only_predicates=["^(^x:p)"])
    assert {edge.predicate for edge in answer.edges} == {"(^x:p)", "(x:q/x:p)"}
    assert [(edge.subject, edge.predicate, edge.object) for edge in other.edges] == [("x:C", "(^x:p)", "x:D")]


async def test_both_shapes_tell_an_inverse_from_an_incoming_edge(over_file: Open) -> None:
    turtle = f"x:C rdfs:subClassOf {restriction('owl:someValuesFrom x:D', '[ owl:inverseOf x:p ]')} . x:D x:p x:C ."
    async with over_file(turtle) as gateway:
        given = {"seeds": ["x:C"], "max_hops": 1}
        compact = (await gateway.call("bfs_query", given, shape="compact")).as_json()
        reference = (await gateway.call("bfs_query", given, shape="reference")).as_json()
    assert set(compact["edges"]["x:C"]) == {"(^x:p)", "^x:p"}
    assert _triples(expand(compact)["edges"]) == _triples(reference["edges"])


def _triples(edges: Iterable[dict[str, Any]]) -> set[tuple[str, str, str]]:
    return {(edge["subject"], edge["predicate"], edge["object"]) for edge in edges}


async def test_an_export_as_rdf_asserts_no_edge_of_an_expression(over_file: Open) -> None:
    async with over_file(f"x:C rdfs:subClassOf x:B , {SOME} .") as gateway:
        graph = to_rdflib(await gateway.bfs_subgraph(["x:C"], 1))
    asserted = {str(predicate).rpartition("/")[2].rpartition("#")[2] for _, predicate, _ in graph}
    assert "subClassOf" in asserted
    assert "p" not in asserted


async def test_what_is_denied_is_warned_of(over_file: Open) -> None:
    async with over_file(f"x:C rdfs:subClassOf {NOT_SOME} .") as gateway:
        answer = await gateway.bfs_query(["x:C"], 1)
    assert any(warning.startswith("negated: 1 of the edges shown") for warning in answer.warnings or ())


async def test_a_description_shows_what_expressions_say_in_each_other(over_file: Open) -> None:
    deep = restriction(f"owl:someValuesFrom {restriction(f'owl:someValuesFrom {SOME}')}")
    async with over_file(f"x:C rdfs:subClassOf {deep} .") as gateway:
        entity: Entity = await gateway.describe_entity("x:C")
    inner = {"owl:onProperty": "x:p", "owl:someValuesFrom": "x:D"}
    for _ in range(2):
        inner = {"owl:onProperty": "x:p", "owl:someValuesFrom": inner}  # type: ignore[dict-item]
    assert (entity.as_json()["rdfs:subClassOf"], entity.complete) == (inner, True)


@pytest.mark.parametrize(
    ("turtle", "predicate", "assertions"),
    [
        (f"x:C x:p x:D ; rdfs:subClassOf {SOME} .", "x:p", [{"restriction": "some"}]),
        ("x:C rdfs:domain x:D , [ owl:unionOf ( x:D x:E ) ] .", "rdfs:domain", [{"one of": 2}]),
        (
            "x:C rdfs:domain [ owl:intersectionOf ( x:D [ owl:unionOf ( x:D x:E ) ] ) ] .",
            "rdfs:domain",
            [{"one of": 2}],
        ),
    ],
)
async def test_a_triple_of_the_graph_stays_certain_beside_an_expression(
    over_file: Open, turtle: str, predicate: str, assertions: list[Any]
) -> None:
    async with over_file(turtle) as gateway:
        answer = await gateway.bfs_query(["x:C"], 1)
        graph = to_rdflib(await gateway.bfs_subgraph(["x:C"], 1))
    (found,) = [evidence for _, via, end, evidence in said(answer) if (via, end) == (predicate, "x:D")]
    assert found == [*assertions, {"stated": True}]
    asserted = {(str(p).rpartition("/")[2], str(o).rpartition("/")[2]) for _, p, o in graph}
    assert any(p.endswith(predicate.rpartition(":")[2]) and o == "D" for p, o in asserted)


async def test_an_export_as_rdf_asserts_no_range_that_is_denied(over_file: Open) -> None:
    async with over_file("x:C rdfs:range [ owl:complementOf x:D ] .") as gateway:
        answer = await gateway.bfs_query(["x:C"], 1)
        graph = to_rdflib(await gateway.bfs_subgraph(["x:C"], 1))
    assert said(answer) == [("x:C", "(rdfs:range/owl:complementOf)", "x:D", {"negated": True})]
    assert not any(str(predicate).endswith("#range") for _, predicate, _ in graph)


@pytest.mark.parametrize(
    ("axioms", "told"),
    [
        (SOME, None),
        (restriction("owl:allValuesFrom x:D"), "x:C x:p x:D (only)"),
        (f"{SOME} , {restriction('owl:allValuesFrom x:D')}", None),
        (restriction(f"owl:maxQualifiedCardinality {number(1)} ; owl:onClass x:D"), "x:C x:p x:D (max 1)"),
        (restriction(f"owl:qualifiedCardinality {number(1)} ; owl:onClass x:D"), None),
        (restriction("owl:someValuesFrom [ owl:unionOf ( x:D x:E ) ]"), "x:C x:p x:D (some one of 2)"),
        # Their predicates say that they are denied.
        (f"[ owl:complementOf {SOME} ]", None),
        (restriction("owl:someValuesFrom [ owl:complementOf x:D ]"), None),
        ("[ owl:complementOf x:D ]", None),
    ],
)
async def test_a_description_warns_of_edges_that_are_not_said_to_hold(
    over_file: Open, axioms: str, told: str | None
) -> None:
    async with over_file(f"x:C a owl:Class ; rdfs:subClassOf {axioms} . x:D a owl:Class .") as gateway:
        answers = [await gateway.describe_entity("x:C"), await gateway.describe_entities(["x:C", "x:D"])]
        stated = await gateway.describe_entities(["x:D"])
    for answer in (*answers, stated):
        warnings = " ".join(answer.as_json().get("warnings", ()))
        assert (told is not None and told in warnings) == bool(told)
        assert ("not said to hold" in warnings) == bool(told)


async def test_a_schema_says_that_axioms_are_counted_as_the_edges_that_they_say(over_file: Open) -> None:
    classes = "x:C a owl:Class . x:D a owl:Class . x:E a owl:Class ; owl:equivalentClass x:D ."
    async with over_file(f"{classes} x:C owl:equivalentClass {SOME} .") as gateway:
        schema = await gateway.describe_schema()
        found = await gateway.search_entities("", node_types=["owl:Class"], where=["owl:equivalentClass exists"])
    assert schema.counts["owl:equivalentClass"] == 1
    assert any("finds all classes that have one" in warning for warning in schema.warnings or ())
    assert {row[0] for row in found.rows or ()} == {"x:C", "x:E"}
    async with over_file(classes) as gateway:
        schema = await gateway.describe_schema()
    assert not any("class expressions" in warning for warning in schema.warnings or ())


async def test_a_description_warns_without_any_class_of_owl_in_the_schema(over_file: Open) -> None:
    only = restriction("owl:allValuesFrom x:D")
    async with over_file(f"x:D a x:Meat . x:C a x:Food ; rdfs:subClassOf {only} .") as gateway:
        assert "x:C x:p x:D (only)" in ((await gateway.describe_entity("x:C")).warnings or [""])[0]


NO_D = restriction(f"owl:maxQualifiedCardinality {number(0)} ; owl:onClass x:D")
DENIED = f"""
x:C a owl:Class ; rdfs:label 'C' ; rdfs:subClassOf {NOT_SOME} .
x:F a owl:Class ; rdfs:label 'F' ; rdfs:subClassOf {NO_D} .
x:G a owl:Class ; rdfs:label 'G' ; rdfs:subClassOf {restriction("owl:someValuesFrom [ owl:complementOf x:D ]")} .
x:H a owl:Class ; rdfs:label 'H' ; rdfs:subClassOf {SOME} .
x:D a owl:Class ; rdfs:label 'D' ; rdfs:comment 'd' .
"""


async def test_what_expressions_deny_fulfils_no_condition_and_stands_in_no_column_group_or_figure(
    over_file: Open,
) -> None:
    async with over_file(DENIED) as gateway:
        chosen = await gateway.search_entities(node_types=["owl:Class"], where=["x:p = x:D"])
        without = await gateway.search_entities(node_types=["owl:Class"], where=["p missing"])
        column = await gateway.search_entities(node_types=["owl:Class"], where=["name = C"], values=["x:p"])
        walk = await gateway.search_entities(node_types=["owl:Class"], where=["x:p/rdfs:comment = d"])
        groups = await gateway.search_entities(node_types=["owl:Class"], group_by="x:p", compute=["count"])
        figure = await gateway.search_entities(node_types=["owl:Class"], compute=["distinct x:p", "count"])
        named = await gateway.search_entities(
            node_types=["owl:Class"], where=["(owl:complementOf/x:p) = x:D"], values=["name"]
        )
        met = await gateway.intersect_subgraphs(["x:C", "x:H"], 1, only_predicates=["x:p"])
        rows = await gateway.bfs_query(["x:C"], 1, values=["name"])
        described = await gateway.describe_entity("x:C")
    assert [row[0] for row in chosen.rows or ()] == ["x:H H"]
    assert [row[0] for row in without.rows or ()] == ["x:C C", "x:D D", "x:F F", "x:G G"]
    assert column.rows == [["x:C C", None]]
    assert [row[0] for row in walk.rows or ()] == ["x:H H"]
    assert sorted(groups.groups or (), key=str) == [["x:D D", 1], [None, 4]]
    assert figure.computed == {"distinct x:p": 1, "count": 5}
    assert [row[0] for row in named.rows or ()] == ["x:C C", "x:F F"]
    assert met.node_count == 0
    assert {key: row[0] for key, row in (described.edges or {}).items()} == {"(owl:complementOf/x:p)": 1}
    for answer in (chosen, without, column, walk, groups, figure, met):
        assert answer.complete, answer
        assert any("(owl:complementOf/x:p)" in text for text in answer.warnings or ()), answer
    assert any(text.startswith("negated: 1 edge") for text in rows.warnings or ())


WITH_CONTENT = f"""
x:C a owl:Class ; rdfs:label 'Cee'@pt ; rdfs:subClassOf {SOME} .
x:F a owl:Class ; rdfs:subClassOf {restriction(f"owl:minCardinality {number(3)}")} .
x:G a owl:Class ; rdfs:subClassOf {restriction("owl:someValuesFrom x:E")} .
x:D a owl:Class ; rdfs:label 'Dee'@pt .
x:E a owl:Class ; rdfs:label 'Eee'@pt .
"""


@pytest.mark.parametrize("value", ["x:D", "Dee", "dee", "D"])
async def test_a_property_with_content_of_expressions_is_compared_with_nodes_by_id_name_and_local_name(
    over_file: Open, value: str
) -> None:
    async with over_file(WITH_CONTENT) as gateway:
        answer = await gateway.search_entities(node_types=["owl:Class"], where=[f"x:p = {value}"])
        with pytest.raises(InputError, match="'Def' is no entity of this graph"):
            await gateway.search_entities(node_types=["owl:Class"], where=["x:p = Def"])
    assert ([row[0] for row in answer.rows or ()], answer.complete) == (["x:C Cee"], True)


async def test_a_text_that_no_node_is_called_is_told_where_a_predicate_leads_to_nodes_too(over_file: Open) -> None:
    async with over_file(
        "x:a a x:T ; x:by x:b . x:c a x:T ; x:by 'Ann' . x:b a x:P ; rdfs:label 'Bob'@pt ."
    ) as gateway:
        ann = await gateway.search_entities(node_types=["x:T"], where=["x:by = Ann"])
        none = await gateway.search_entities(node_types=["x:T"], where=["x:by = Eve"])
        bob = await gateway.search_entities(node_types=["x:T"], where=["x:by = Bob"])
    assert [[row[0] for row in answer.rows or ()] for answer in (ann, none, bob)] == [["x:c"], [], ["x:a"]]
    assert "no node was found by 'Ann'" in (ann.warnings or [""])[0]
    assert "no node was found by 'Eve'" in (none.warnings or [""])[0]
    assert "'Bob' is taken for x:b, by a name in another language (pt)" in (bob.warnings or [""])[0]


TWO_MEANINGS = """
x:Fish rdfs:label 'Fish' . x:Salmon rdfs:subClassOf x:Fish .
x:s1 a x:Fish ; x:likes x:dish . x:s2 a x:Fish ; x:likes x:other . x:s3 a x:Salmon ; x:likes x:s2 .
x:dish a x:Dish ; rdfs:label 'Fish', 'Brot'@de . x:other a x:Dish ; rdfs:label 'Other' .
x:t1 a x:T ; x:by x:dish ; x:tags ( 'Brot' 'b' ) . x:t2 a x:T ; x:by x:other ; x:tags ( 'c' 'Brot' ) .
x:t3 a x:T ; x:by 'Text' ; x:tags ( 'c' ) .
"""


@pytest.mark.parametrize(
    ("node_type", "where", "found"),
    [
        ("x:Fish", ["type = Fish", "x:likes = Fish"], ["x:s1"]),
        ("x:Fish", ["type = Fish", "x:likes != Fish"], ["x:s2", "x:s3"]),
        ("x:T", ["x:tags = Brot", "x:by = Brot"], ["x:t1"]),
        ("x:T", ["x:tags = Brot", "x:by != Brot"], ["x:t2"]),
    ],
)
async def test_a_text_means_in_each_condition_what_it_means_in_that_alone(
    over_file: Open, node_type: str, where: list[str], found: list[str]
) -> None:
    async with over_file(TWO_MEANINGS) as gateway:
        alone = [await gateway.search_entities(node_types=[node_type], where=[one]) for one in where]
        together = [await gateway.search_entities(node_types=[node_type], where=some) for some in (where, where[::-1])]
    said = [[row[0].split(" ")[0] for row in answer.rows or ()] for answer in (*alone, *together)]
    assert said[2:] == [found, found]
    assert set(said[0]) & set(said[1]) == set(found)
    assert [answer.where for answer in together] == [
        [*(alone[0].where or ()), *(alone[1].where or ())],
        [*(alone[1].where or ()), *(alone[0].where or ())],
    ]


GUESSES = """
@prefix m: <http://m.example/> .
x:a a x:T ; x:by x:Bread . x:b a x:T ; x:by x:Ache . x:c a x:T ; x:by m:Salt . x:d a x:T ; x:by 'Text' .
x:Bread rdfs:label 'Pain'@fr, 'Bread'@en . x:Ache rdfs:label 'Pain relief'@en .
x:Salt a x:U ; rdfs:label 'Unrelated'@en . m:Salt rdfs:label 'Sodium'@en .
"""


async def test_a_guess_at_what_a_text_in_a_condition_means_is_told_and_several_are_refused(over_file: Open) -> None:
    async with over_file(GUESSES) as gateway:
        french = await gateway.search_entities(node_types=["x:T"], where=["x:by = Pain"])
        local = await gateway.search_entities(node_types=["x:T"], where=["x:by in Ache, Eve, Bread, Adam, 5"])
        with pytest.raises(InputError, match=r"'Salt', and several have it as their local name: m:Salt, x:Salt\."):
            await gateway.search_entities(node_types=["x:T"], where=["x:by = Salt"])
    assert [row[0] for row in french.rows or ()] == ["x:a"]
    assert "'Pain' is taken for x:Bread, by a name in another language (fr)." in (french.warnings or [""])[0]
    said = " ".join(local.warnings or ())
    assert [row[0] for row in local.rows or ()] == ["x:a", "x:b"]
    assert "'Ache' is taken for x:Ache, by its local name." in said
    assert [f"by '{name}' as its ID" in said for name in ("Eve", "Adam", "Bread", "5")] == [True, True, False, False]


async def test_content_of_expressions_is_other_than_no_node(over_file: Open) -> None:
    async with over_file(WITH_CONTENT) as gateway:
        other = await gateway.search_entities(node_types=["owl:Class"], where=["x:p != x:D"])
        there = await gateway.search_entities(node_types=["owl:Class"], where=["x:p exists"])
    assert [row[0] for row in other.rows or ()] == ["x:G"]
    assert [row[0] for row in there.rows or ()] == ["x:C Cee", "x:F", "x:G"]


WITHIN_EACH_OTHER = f"""
x:C a owl:Class ; rdfs:subClassOf {restriction(f"owl:someValuesFrom {SOME}", "x:q")} .
x:F a owl:Class ; rdfs:subClassOf {NOT_SOME} .
x:D a owl:Class .
"""


@pytest.mark.parametrize(
    ("followed", "told"),
    [
        ("x:p", "(owl:complementOf/x:p), (x:q/x:p),"),
        ("x:q", "(x:q/x:p),"),
        ("owl:complementOf", ""),
        ("rdfs:subClassOf", ""),
    ],
)
async def test_predicates_of_expressions_within_each_other_are_told_beside_their_steps(
    over_file: Open, followed: str, told: str
) -> None:
    async with over_file(
        WITHIN_EACH_OTHER + "x:D owl:complementOf x:E ; rdfs:subClassOf x:B ; x:p x:E ; x:q x:E ."
    ) as gateway:
        walked = await gateway.bfs_query(["x:D"], 1, only_predicates=[followed])
        chosen = await gateway.search_entities(node_types=["owl:Class"], where=[f"{followed} exists"])
    for answer in (walked, chosen):
        said = " ".join(answer.warnings or ())
        assert ("is not followed" in said, told in said) == (bool(told), True), said


async def test_content_of_expressions_is_in_no_group_and_the_others_are_shown(over_file: Open) -> None:
    async with over_file(WITH_CONTENT) as gateway:
        groups = await gateway.search_entities(node_types=["owl:Class"], group_by="x:p")
        figures = await gateway.search_entities(node_types=["owl:Class"], compute=["distinct x:p", "sum x:p"])
        walked = await gateway.bfs_query(["x:F", "x:C"], 1, group_by="x:p")
    assert sorted(groups.groups or (), key=str) == [["x:D Dee", 1], ["x:E Eee", 1], [None, 2]]
    assert figures.computed is not None
    assert figures.computed["distinct x:p"] == 2
    for answer in (groups, figures):
        assert answer.complete
        assert any("1 node has content of class expressions" in text for text in answer.warnings or ())
    assert walked.complete


@pytest.mark.parametrize(
    ("axiom", "told"),
    [
        (restriction("owl:allValuesFrom x:D"), "x:C x:p x:D (only)"),
        (restriction(f"owl:maxQualifiedCardinality {number(1)} ; owl:onClass x:D"), "x:C x:p x:D (max 1)"),
        (restriction("owl:someValuesFrom [ owl:unionOf ( x:D x:E ) ]"), "x:C x:p x:D (some one of 2)"),
        (SOME, ""),
        (f"{SOME} , {restriction('owl:allValuesFrom x:D')}", ""),
    ],
)
async def test_edges_that_are_left_open_are_followed_with_a_warning(over_file: Open, axiom: str, told: str) -> None:
    async with over_file(f"x:C a owl:Class ; rdfs:subClassOf {axiom} . x:D a owl:Class ; rdfs:label 'D' .") as gateway:
        answers: list[SearchResult | Subgraph] = [
            await gateway.search_entities(node_types=["owl:Class"], where=["x:p = x:D"]),
            await gateway.search_entities(node_types=["owl:Class"], where=["p/name = D"]),
            await gateway.search_entities(node_types=["owl:Class"], values=["x:p"]),
            await gateway.search_entities(node_types=["owl:Class"], group_by="x:p"),
            await gateway.search_entities(node_types=["owl:Class"], compute=["distinct x:p"]),
            await gateway.search_entities(node_types=["owl:Class"], values=["^x:p"]),
            await gateway.bfs_query(["x:D"], 1, where=["x:p = x:D"]),
            await gateway.bfs_query(["x:D"], 1, values=["x:p"]),
            await gateway.bfs_query(["x:D"], 1, group_by="x:p"),
        ]
    for answer in answers:
        assert answer.complete
        assert any(told in text for text in answer.warnings or ()) if told else not answer.warnings


@pytest.mark.parametrize(("edges", "is_told"), [(299, False), (350, True)])
async def test_a_description_of_a_hub_says_that_some_edges_were_not_looked_at(
    over_file: Open, edges: int, is_told: bool
) -> None:
    axioms = " , ".join(restriction(f"owl:someValuesFrom x:k{number}") for number in range(edges))
    async with over_file(f"x:C a owl:Class ; rdfs:subClassOf {axioms} .") as gateway:
        warnings = (await gateway.describe_entity("x:C")).warnings or []
    assert any("some were not looked at" in text for text in warnings) == is_told


async def test_edges_that_the_graph_states_beside_a_restriction_hold(over_file: Open) -> None:
    axioms = restriction("owl:allValuesFrom x:D")
    async with over_file(f"x:C a owl:Class ; rdfs:subClassOf {axioms} ; x:p x:D . x:D a owl:Class .") as gateway:
        assert (await gateway.describe_entity("x:C")).warnings is None


AT_MOST_ONE = restriction(f"owl:maxQualifiedCardinality {number(1)} ; owl:onClass [ owl:intersectionOf ( x:A x:B ) ]")
CONTENT = f"""
x:C a owl:Class ; rdfs:subClassOf x:D, {AT_MOST_ONE} .
x:F a owl:Class ; rdfs:subClassOf {AT_MOST_ONE} .
x:D a owl:Class ; rdfs:subClassOf x:E .
"""


@pytest.mark.parametrize(
    ("where", "found"),
    [
        ("rdfs:subClassOf exists", {"x:C": ["x:D", "_:"], "x:D": "x:E", "x:F": "_:"}),
        ("rdfs:subClassOf missing", {}),
        ("rdfs:subClassOf = x:D", {"x:C": ["x:D", "_:"]}),
        ("rdfs:subClassOf != x:D", {"x:D": "x:E"}),
    ],
)
async def test_content_of_a_description_is_a_value_that_is_there_and_shown_as_a_blank_node(
    over_file: Open, where: str, found: dict[str, Any]
) -> None:
    async with over_file(CONTENT) as gateway:
        answer = await gateway.search_entities(
            node_types=["owl:Class"], where=[where], values=["rdfs:subClassOf"], show="id"
        )
    assert (dict(answer.rows or []), answer.complete) == (found, True)


@pytest.mark.parametrize(
    ("where", "found"),
    [("x:p exists", ["x:C"]), ("x:p missing", ["x:D", "x:E"]), ("x:p = 5", []), ("x:q exists", ["x:D"])],
)
async def test_classes_are_found_by_the_data_properties_that_they_restrict(
    over_file: Open, where: str, found: list[str]
) -> None:
    turtle = f"""
    x:C a owl:Class ; rdfs:subClassOf {restriction("owl:someValuesFrom xsd:string")} .
    x:D a owl:Class ; owl:equivalentClass [ owl:intersectionOf ( x:E {restriction("owl:hasValue 5", on="x:q")} ) ] .
    x:E a owl:Class . x:p a owl:DatatypeProperty . x:q a owl:DatatypeProperty .
    """
    async with over_file(turtle) as gateway:
        answer = await gateway.search_entities(node_types=["owl:Class"], where=[where], show="id")
    assert ([row[0] for row in answer.rows or ()], answer.complete) == (found, True)


async def test_groups_leave_out_content_of_descriptions_and_say_so(over_file: Open) -> None:
    async with over_file(CONTENT) as gateway:
        answer = await gateway.search_entities(node_types=["owl:Class"], group_by="rdfs:subClassOf")
    assert (answer.groups, answer.complete) == ([["x:D", 1], ["x:E", 1]], True)
    assert any("content of class expressions" in text for text in answer.warnings or ())


ONLY = restriction("owl:allValuesFrom x:D")


@pytest.mark.parametrize(
    ("axioms", "assertions"),
    [
        (
            f"[ owl:unionOf ( {SOME} {ONLY} ) ]",
            {"one of": 2, "restriction": "some"},
        ),
        (
            f"{SOME} , [ owl:unionOf ( x:A {ONLY} ) ]",
            {"restriction": "some"},
        ),
        (
            f"{SOME} , {restriction('owl:allValuesFrom [ owl:unionOf ( x:D x:E ) ]')}",
            {"closed": True, "restriction": "some"},
        ),
    ],
)
async def test_only_as_one_of_several_is_content_and_closes_nothing(
    over_file: Open, axioms: str, assertions: Any
) -> None:
    async with over_file(f"x:C rdfs:subClassOf {axioms} .") as gateway:
        answer = await gateway.bfs_query(["x:C"], 1)
    assert [evidence for _, _, end, evidence in said(answer) if end == "x:D"] == [assertions]


@pytest.mark.parametrize(("levels", "is_read"), [(10, True), (16, True), (18, False), (45, False)])
async def test_content_is_shown_down_to_its_last_level_or_told_as_not_read(
    over_file: Open, levels: int, is_read: bool
) -> None:
    # Each level is two expressions and a list.
    expression = "x:last"
    for _ in range(levels):
        expression = f"[ owl:unionOf ( x:A {restriction(f'owl:allValuesFrom {expression}')} ) ]"
    async with over_file(f"x:C rdfs:subClassOf {expression} . x:C x:p x:D .") as gateway:
        content = (await gateway.describe_entity("x:C")).model_dump_json()
        answer = await gateway.bfs_query(["x:C"], 1)
    assert ("x:last" in content, answer.complete) == (is_read, is_read)


@pytest.mark.parametrize(
    ("predicate", "expression", "shown"),
    [
        ("rdfs:subClassOf", restriction("owl:hasSelf true"), "x:p"),
        ("rdfs:subClassOf", restriction(f"owl:maxCardinality {number(3)}"), "x:p"),
        ("rdfs:subClassOf", AT_MOST_ONE, "rdfs:subClassOf"),
        ("owl:disjointWith", SOME, "owl:disjointWith"),
    ],
)
async def test_a_statement_about_what_is_content_stands_in_it(
    over_file: Open, predicate: str, expression: str, shown: str
) -> None:
    turtle = f"""
    x:C {predicate} {expression} .
    [] a owl:Axiom ; owl:annotatedSource x:C ; owl:annotatedProperty {predicate} ; owl:annotatedTarget {expression} ;
        x:by x:ann .
    """
    async with over_file(turtle) as gateway:
        entity = await gateway.describe_entity("x:C")
    assert entity.as_json()[shown]["x:by"] == "x:ann"


async def test_a_statement_about_a_cardinality_without_a_class_is_evidence_of_its_edges(over_file: Open) -> None:
    bound = restriction(f"owl:maxCardinality {number(3)}")
    turtle = f"""
    x:C rdfs:subClassOf {SOME} , {bound} .
    [] a owl:Axiom ; owl:annotatedSource x:C ; owl:annotatedProperty rdfs:subClassOf ; owl:annotatedTarget {bound} ;
        x:by x:ann .
    """
    async with over_file(turtle) as gateway:
        answer = await gateway.bfs_query(["x:C"], 1)
    assert said(answer) == [(*P_D, [{"restriction": "max 3 of all", "x:by": "x:ann"}, {"restriction": "some"}])]


ANONYMOUS = "_:a rdfs:label 'anon' ; x:says x:important ."


async def test_an_individual_without_an_iri_keeps_what_it_says_in_an_enumeration(over_file: Open) -> None:
    axiom = restriction("owl:someValuesFrom [ owl:oneOf ( _:a x:b ) ]")
    async with over_file(f"x:C rdfs:subClassOf {axiom} . {ANONYMOUS}") as gateway:
        answer = await gateway.bfs_query(["x:important"], 2)
    assert {(edge.predicate, edge.object) for edge in answer.edges} > {("x:says", "x:important")}
    assert "x:C" in ids(answer)
    assert answer.complete


@pytest.mark.parametrize("axiom", ["owl:oneOf ( _:a x:b )", "owl:equivalentClass [ owl:oneOf ( _:a x:b ) ]"])
async def test_what_a_member_without_an_iri_of_a_class_says_is_counted(over_file: Open, axiom: str) -> None:
    async with over_file(f"x:C {axiom} . {ANONYMOUS}") as gateway:
        answers = [await gateway.bfs_query([seed], 1) for seed in ("x:important", "x:C")]
    assert [(answer.complete, answer.blank_node_edges) for answer in answers] == [(False, 1), (False, 1)]


async def test_a_set_of_disjoint_classes_that_something_refers_to_keeps_its_members(over_file: Open) -> None:
    turtle = "_:d a owl:AllDisjointClasses ; owl:members ( x:A x:B ) . x:n x:refers _:d ."
    async with over_file(turtle) as gateway:
        answer = await gateway.bfs_query(["x:n"], 2)
    assert {(edge.predicate, edge.object) for edge in answer.edges} >= {("owl:members", "x:A"), ("owl:members", "x:B")}
    assert answer.complete


AXIOMS = f"""
x:A a owl:Class ; owl:equivalentClass {SOME} .
x:B a owl:Class ; owl:equivalentClass x:D ; rdfs:subClassOf x:A .
x:C a owl:Class ; owl:equivalentClass [ owl:unionOf ( x:A x:B ) ] , [ owl:intersectionOf ( x:A {NOT_SOME} ) ] .
x:D a owl:Class ; rdfs:subClassOf {SOME} , {SOME} .
x:E a owl:Class ; owl:unionOf ( x:D x:F ) .
x:F a owl:Class ; rdfs:label 'F' .
x:p a owl:ObjectProperty ; rdfs:domain {restriction("owl:someValuesFrom x:A", on="x:q")} ; rdfs:range [ owl:unionOf ( x:A x:B ) ] .
x:q a owl:ObjectProperty ; rdfs:domain [ owl:complementOf x:A ] .
x:r a owl:ObjectProperty .
"""  # noqa: E501


@pytest.mark.parametrize(
    ("axiom", "rows"),
    [
        ("owl:equivalentClass", {"x:A": "_:", "x:B": "x:D", "x:C": "_:", "x:D": None, "x:E": None, "x:F": None}),
        (
            "rdfs:subClassOf",
            {"x:A": "x:C", "x:B": ["x:A", "x:C"], "x:C": "x:A", "x:D": ["x:E", "_:"], "x:E": None, "x:F": "x:E"},
        ),
        ("owl:unionOf", {"x:A": None, "x:B": None, "x:C": None, "x:D": None, "x:E": "_:", "x:F": None}),
        ("rdfs:domain", {"x:p": "_:", "x:q": "_:", "x:r": None}),
        ("rdfs:range", {"x:p": ["x:A", "x:B"], "x:q": None, "x:r": None}),
    ],
)
async def test_an_axiom_is_there_for_conditions_whatever_its_expression_has_become(
    over_file: Open, axiom: str, rows: dict[str, Any]
) -> None:
    kind: dict[str, Any] = {"node_types": ["owl:ObjectProperty" if "x:p" in rows else "owl:Class"], "show": "id"}
    questions: list[dict[str, Any]] = [
        {"where": [f"{axiom} exists"]},
        {"where": [f"{axiom} missing"]},
        {"values": [axiom]},
    ]
    async with over_file(AXIOMS) as gateway:
        there, missing, shown = [await gateway.search_entities(**kind, **one) for one in questions]
        in_order = await gateway.search_entities(**kind, sort_by=axiom, limit=1)
        grouped = await gateway.search_entities(**kind, group_by=axiom)
    assert [row[0] for row in there.rows or ()] == [one for one, ends in rows.items() if ends is not None]
    assert [row[0] for row in missing.rows or ()] == [one for one, ends in rows.items() if ends is None]
    assert {row[0]: row[1] for row in shown.rows or ()} == rows
    assert all(answer.complete for answer in (there, missing, shown))
    without = [one for one, ends in rows.items() if ends is None]
    # What is in the list of a union is not compared.
    is_compared = axiom != "owl:unionOf"
    assert (in_order.complete, grouped.complete) == (is_compared, is_compared)
    assert not is_compared or [row for row in grouped.groups or () if row[0] is None] == (
        [[None, len(without)]] if without else []
    )


async def test_that_an_axiom_is_there_is_in_no_description_and_no_list_of_values(over_file: Open) -> None:
    async with over_file(AXIOMS) as gateway:
        described = [(await gateway.describe_entity(one)).as_json() for one in ("x:A", "x:C", "x:E", "x:p")]
        schema = (await gateway.describe_schema()).as_json()
        literals = await gateway.search_entities(node_types=["owl:Class"], where=["any exists"], show="id")
        shapes = (await gateway.describe_schema(node_types=["owl:Class"])).as_json()
    assert not any(key.startswith(("owl:", "rdfs:")) for one in described for key in one)
    assert list(schema["values"]) == ["rdfs:label"]
    assert literals.rows == [["x:F"]]
    assert shapes["shapes"]["owl:Class"]["predicates"]["owl:equivalentClass"][2] == "owl:Class, blank node"


@pytest.mark.parametrize("kind", ["group_by", "where"])
async def test_whether_edges_may_be_left_open_does_not_depend_on_earlier_calls(over_file: Open, kind: str) -> None:
    asked = {"group_by": "x:p"} if kind == "group_by" else {"where": ["x:p exists"]}
    axiom = restriction("owl:allValuesFrom x:D")
    async with over_file(f"x:C a owl:Class ; rdfs:subClassOf {axiom} . x:D a owl:Class ; x:p x:C .") as gateway:
        first = await gateway.call("search_entities", {"node_types": ["owl:Class"], **asked})
        await gateway.bfs_query(["x:C"], 1)
        again = await gateway.call("search_entities", {"node_types": ["owl:Class"], **asked})
    assert first.as_json() == again.as_json()


@pytest.mark.parametrize("condition", ["owl:unionOf = x:D", "owl:unionOf != x:D", "owl:unionOf = @rdfs:subClassOf"])
async def test_what_is_in_the_list_of_a_union_is_not_compared_and_leaves_no_answer_complete(
    over_file: Open, condition: str
) -> None:
    async with over_file(AXIOMS) as gateway:
        found = await gateway.search_entities(node_types=["owl:Class"], where=[condition])
        around = await gateway.bfs_query(["x:D"], 1, where=[condition])
    assert not found.complete
    assert not around.complete
    assert any("is not compared" in gap.detail for gap in around.incomplete or ())


async def test_what_is_in_the_list_of_a_union_is_not_doubted_where_no_expression_is_read(over_file: Open) -> None:
    profile = Profile(size=ROOM, nodes=NodeSettings(blank="off"))
    async with over_file(AXIOMS, profile) as gateway:
        found = await gateway.search_entities(node_types=["owl:Class"], where=["owl:unionOf = x:D"])
    assert found.complete
    assert not found.warnings


@pytest.mark.parametrize(
    "asked", [{"where": ["owl:equivalentClass/owl:unionOf missing"]}, {"values": ["rdfs:subClassOf/owl:unionOf"]}]
)
async def test_a_walk_over_class_expressions_leaves_no_answer_complete(over_file: Open, asked: dict[str, Any]) -> None:
    axiom = "x:C owl:equivalentClass [ owl:unionOf ( x:A x:B ) ] . x:E owl:unionOf ( x:A x:B ) ; rdfs:subClassOf x:C ."
    async with over_file(f"x:C a owl:Class . x:E a owl:Class . {axiom}") as gateway:
        found = await gateway.search_entities(node_types=["owl:Class"], **asked)
        direct = await gateway.search_entities(node_types=["owl:Class"], where=["owl:unionOf exists"])
    assert not found.complete
    assert any("walks over expressions" in text for text in found.warnings or ())
    assert direct.complete
