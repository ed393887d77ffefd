"""The questions about the shop: their stored answers hold, by two engines, and by a reading without one."""

from collections import Counter
from typing import Any

import pytest
import rdflib

from tests.values.oracle import answer
from tests.values.shop import PREFIXES, SHOP, ShopQuestion, answered, gold, ordered, questions, store, turtle
from tests.values.terms import read
from tests.values.walks import Graph

_QUESTIONS = questions()


@pytest.fixture(scope="module")
def by_rdflib() -> rdflib.Graph:
    return rdflib.Graph().parse(data=turtle(), format="turtle")


@pytest.fixture(scope="module")
def by_hand() -> Graph:
    graph = rdflib.Graph().parse(data=turtle(), format="turtle")
    lines = graph.serialize(format="nt").split("\n")
    return Graph(read(lines), {"s": SHOP})


def test_there_are_60_questions_of_eight_kinds() -> None:
    kinds = Counter(question.kind for question in _QUESTIONS)
    assert len(_QUESTIONS) == len({question.text for question in _QUESTIONS}) == 60
    assert len(kinds) == 8
    assert min(kinds.values()) >= 7


def test_the_shop_is_the_same_in_each_run_and_of_some_thousand_triples() -> None:
    assert turtle() == turtle()
    assert 2_000 <= len(store()) <= 5_000


def test_the_stored_answers_are_those_of_the_queries_and_none_is_empty() -> None:
    engine, stored = store(), gold()
    assert stored.keys() == {question.id for question in _QUESTIONS}
    differing = {question.id for question in _QUESTIONS if answered(engine, question) != stored[question.id]}
    empty = {key for key, rows in stored.items() if not rows}
    assert (differing, empty) == (set(), set())


@pytest.mark.slow
@pytest.mark.parametrize("question", _QUESTIONS, ids=lambda question: f"{question.id}-{question.kind}")
def test_another_engine_gives_the_stored_answers(question: ShopQuestion, by_rdflib: rdflib.Graph) -> None:
    rows = [[str(value) for value in row] for row in by_rdflib.query(PREFIXES + question.sparql)]  # type: ignore[union-attr]  # a SELECT
    assert ordered(rows) == gold()[question.id]


@pytest.mark.parametrize(
    ("text", "asked"),
    [
        ("Which devices weigh less than 100 g?", {"node_types": ["Device"], "where": ["s:weight < 100"]}),
        ("Which products weigh 50 g, whatever way the weight is written?", {"where": ['"weight in g" = 50']}),
        ("Which reagents come in blue?", {"node_types": ["Reagent"], "where": ["colour = blue"]}),
        ("Which people were hired before 2008?", {"node_types": ["Person"], "where": ["hired < 2008"]}),
        ("Which orders were placed in May 2024?", {"node_types": ["Order"], "where": ["placed = 2024-05"]}),
        (
            "Which suppliers were founded in the twentieth century (1901 to 2000)?",
            {"node_types": ["Supplier"], "where": ["founded >= 1901", "founded <= 2000"]},
        ),
        ("Which devices are wider than they are high?", {"node_types": ["Device"], "where": ["s:width > @s:height"]}),
        (
            "Which people have the same department as their manager?",
            {"node_types": ["Person"], "where": ["department = @manager/department"]},
        ),
        ("Which products are supplied by a company in Graz?", {"where": ["supplied by/s:city = Graz"]}),
        (
            "Which products supplied from Germany is a person of the department Quality responsible for?",
            {"where": ["suppliedBy/city/country = Germany", "responsible/department = Quality"]},
        ),
        ("Which products have never been ordered?", {"where": ["^s:product missing"]}),
        ("Which devices have no weight?", {"node_types": ["Device"], "where": ["weight missing"]}),
        (
            "Which reagents have neither a width nor a height?",
            {"node_types": ["Reagent"], "where": ["width missing", "height missing"]},
        ),
    ],
)
def test_a_question_that_conditions_can_say_has_the_answer_of_the_oracle(
    text: str, asked: dict[str, Any], by_hand: Graph
) -> None:
    (question,) = (one for one in _QUESTIONS if one.text == text)
    found = answer(by_hand, {"tool": "search_entities", "node_types": ["Product"], **asked})
    assert ordered([[node] for node in found.members]) == gold()[question.id]


@pytest.mark.parametrize(
    ("text", "limit", "asked"),
    [
        (
            "Which are the five heaviest products? If others weigh as much as the fifth, list them too.",
            5,
            {"node_types": ["Product"], "sort_by": "-weight"},
        ),
        (
            "Which are the four best rated suppliers, with all that share the fourth place?",
            4,
            {"node_types": ["Supplier"], "sort_by": "-s:rating"},
        ),
        (
            "Which two pressure sensors are the lightest, and which others weigh the same?",
            2,
            {"node_types": ["PressureSensor"], "sort_by": "weight"},
        ),
    ],
)
def test_the_first_of_an_order_and_those_tied_are_those_of_the_oracle(
    text: str, limit: int, asked: dict[str, Any], by_hand: Graph
) -> None:
    (question,) = (one for one in _QUESTIONS if one.text == text)
    found = answer(by_hand, {"tool": "search_entities", "limit": limit, **asked})
    first = found.members[: limit + (found.tied or 0)]
    assert ordered([[node] for node in first]) == gold()[question.id]


def test_a_walk_for_each_of_two_seeds_has_the_answer_of_the_oracle(by_hand: Graph) -> None:
    (question,) = (one for one in _QUESTIONS if one.text.startswith("Which products has Bay Pharma ordered"))
    lists = [["^s:customer/s:line/s:product"], ["^s:suppliedBy"]]
    join = {"tool": "intersect_subgraphs", "seeds": ["Bay Pharma", "Corvus"], "k": 1, "only_predicates": lists}
    assert ordered([[node] for node in answer(by_hand, join).members]) == gold()[question.id]
