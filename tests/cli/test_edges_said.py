"""How class expressions say the edges that a description shows at the terminal."""

from pathlib import Path

import pytest

from gateway.answers.models import Entity
from gateway.cli import render
from gateway.cli.edges_said import EdgesSaid
from tests.cli.conftest import FIXTURES, Run
from tests.cli.test_screen import shown

PIZZAS = """@prefix x: <http://example.org/> . @prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
x:Pizza a owl:Class . x:Cheese a owl:Class . x:Ham a owl:Class . x:topping a owl:ObjectProperty .
x:Plain a owl:Class ; rdfs:subClassOf x:Pizza ,
  [ a owl:Restriction ; owl:onProperty x:topping ; owl:someValuesFrom x:Cheese ] ,
  [ owl:complementOf [ a owl:Restriction ; owl:onProperty x:topping ; owl:someValuesFrom x:Ham ] ] .
x:Rich a owl:Class ; owl:equivalentClass [ owl:intersectionOf ( x:Pizza
  [ a owl:Restriction ; owl:onProperty x:topping ; owl:someValuesFrom x:Cheese ] ) ] .
x:Pie a owl:Class ; owl:equivalentClass x:Pizza .
"""


@pytest.fixture
def pizzas(tmp_path: Path) -> Path:
    graph = tmp_path / "pizzas.ttl"
    graph.write_text(PIZZAS)
    return graph


def edges(out: str) -> set[str]:
    return {line.strip().removeprefix("edges").strip() for line in out.splitlines() if "x:" in line and ": " in line}


def test_a_description_of_a_class_tells_restrictions_and_definitions_from_what_is_stated(
    run: Run, pizzas: Path
) -> None:
    assert {
        "x:topping (some): 1 (x:Cheese)",
        "rdfs:subClassOf: 1 (x:Pizza)",
        "(owl:complementOf/x:topping) DENIED (not some): 1 (x:Ham)",
    } <= edges(run("describe", "x:Plain", "--text", "--graph", pizzas).out)
    assert {
        "x:topping (some, definition): 1 (x:Cheese)",
        "rdfs:subClassOf (definition): 1 (x:Pizza)",
    } <= edges(run("describe", "x:Rich", "--text", "--graph", pizzas).out)


def test_where_the_edges_of_one_predicate_are_said_in_several_ways_each_neighbor_has_its_own(
    run: Run, pizzas: Path
) -> None:
    out = run("describe", "x:Pizza", "x:Pie", "--text", "--graph", pizzas).out
    assert "^rdfs:subClassOf: 2 (x:Plain, x:Rich (definition))" in edges(out)
    assert "owl:equivalentClass: 1 (x:Pizza)" in edges(out)


def test_a_neighbourhood_says_which_edges_a_definition_says(run: Run, pizzas: Path) -> None:
    out = run("bfs", "x:Rich", "--text", "--graph", pizzas).out
    assert "└── topping → x:Cheese  [Class]  (some, definition)" in out
    assert "├── subClassOf → x:Pizza  [Class]  (definition)" in out


def test_no_neighbourhood_is_read_for_what_is_no_term_of_a_vocabulary(run: Run, pizzas: Path) -> None:
    medical = run("describe", "drug:warfarin", "--text", "--explain", "--graph", FIXTURES / "medical.ttl").out
    assert medical.count("Asked") == 1
    assert run("describe", "x:Rich", "--text", "--explain", "--graph", pizzas).out.count("Asked") == 2


def test_a_node_without_a_type_is_described_as_ever(run: Run, tmp_path: Path) -> None:
    graph = tmp_path / "g.ttl"
    graph.write_text("@prefix x: <http://example.org/> . x:a x:p x:b .")
    ran = run("describe", "x:a", "--text", "--graph", graph)
    assert (ran.status, edges(ran.out)) == (0, {"x:p: 1 (x:b)"})


def test_where_it_was_not_read_how_edges_are_said_the_text_says_so() -> None:
    answer = Entity.model_validate(
        {"id": "x:C", "entity_type": "owl:Class", "complete": True, "edges": {"x:p": [3, "x:D d", "x:E"]}}
    )
    read = {("x:C", "x:p", "x:D"): "(some)"}
    out = shown(render.entity(answer, EdgesSaid(read, frozenset({"x:C"}))))
    assert "x:p: 3 (x:D d (some), x:E, …)" in out
    assert "How some of these edges are said was not read: bfs shows it." in out
    whole = shown(render.entity(answer, EdgesSaid({**read, ("x:C", "x:p", "x:E"): ""}, frozenset({"x:C"}))))
    assert "not read" not in whole
