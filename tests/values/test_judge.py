"""What the judge of answers about values promises."""

import random
from typing import Any

import pytest

from tests.harness.report import Verdict
from tests.values.figures import groups_of, judge_groups
from tests.values.graphs import EX, PREFIXES, drawn
from tests.values.judge import Told, judge, told
from tests.values.oracle import Expected, answer
from tests.values.questions import draw
from tests.values.terms import TYPE, Triple, text, typed
from tests.values.walks import Graph

_TRIPLES: list[Triple] = [
    *((f"{EX}{name}", TYPE, f"{EX}Tool") for name in "abcd"),
    (EX + "a", EX + "weight", typed("1.50", "decimal")),
    (EX + "b", EX + "weight", typed("3", "integer")),
    (EX + "b", EX + "weight", text("7")),
    (EX + "c", EX + "weight", typed("3.0", "decimal")),
    (EX + "a", EX + "released", typed("1990-05-01", "date")),
    (EX + "b", EX + "released", typed("1990-05-01T10:00:00+02:00", "dateTime")),
    (EX + "c", EX + "note", text("n/a")),
    (EX + "c", EX + "site", EX + "oslo"),
]
_QUESTION = {
    "tool": "search_entities",
    "node_types": ["ex:Tool"],
    "values": ["ex:weight", "ex:released", "ex:site"],
    "sort_by": "ex:weight",
    "limit": 2,
}
_RIGHT: dict[str, Any] = {
    "complete": True,
    "columns": ["ex:weight", "ex:released", "ex:site"],
    "rows": [["ex:a A thing", 1.5, "1990-05-01"], ["ex:b", [3, 7], "1990-05-01T08:00:00Z"]],
    "found": 4,
    "tied": 1,
}


def _expand(identifier: str) -> str:
    prefix, _, local = identifier.partition(":")
    return PREFIXES[prefix] + local if prefix in PREFIXES else identifier


def _expected(question: dict[str, Any] | None = None) -> Expected:
    return answer(Graph(_TRIPLES, PREFIXES), question or _QUESTION)


def _verdict(page: dict[str, Any], question: dict[str, Any] | None = None) -> Verdict:
    return judge(question or _QUESTION, _expected(question), told([page], _expand), _expand)[0]


def test_a_right_answer_is_right() -> None:
    assert _verdict(_RIGHT) is Verdict.RIGHT
    assert _verdict({**_RIGHT, "complete": False}) is Verdict.MARKED


@pytest.mark.parametrize(
    "change",
    [
        {"rows": [*reversed(_RIGHT["rows"])]},
        {"rows": _RIGHT["rows"][:1]},
        {"rows": [_RIGHT["rows"][0], ["ex:c", 3, None, "ex:oslo"]]},
        {"rows": [["ex:a", 1.5, "1990-05-02"], _RIGHT["rows"][1]]},
        {"rows": [["ex:a", None, "1990-05-01"], _RIGHT["rows"][1]]},
        {"rows": [_RIGHT["rows"][0], ["ex:b", 3, "1990-05-01T08:00:00Z"]]},
        {"found": 3},
        {"tied": 0},
        {"rows": [["ex:a", 1.5, "1990-05-01", "ex:oslo"], _RIGHT["rows"][1]]},
    ],
)
def test_what_differs_and_says_complete_is_wrong_and_complete(change: dict[str, Any]) -> None:
    assert _verdict({**_RIGHT, **change}) is Verdict.WRONG


def test_an_incomplete_answer_may_lack_something_and_tell_nothing_else() -> None:
    cut = {**_RIGHT, "complete": False}
    assert _verdict({**cut, "rows": [["ex:d"]], "found": 1}) is Verdict.MARKED
    assert _verdict({**cut, "rows": [["ex:e"]]}) is Verdict.UNTRUE
    assert _verdict({**cut, "rows": [["ex:a", 2]]}) is Verdict.UNTRUE
    assert _verdict({**cut, "found": 5}) is Verdict.UNTRUE


def test_values_that_were_left_out_for_size_are_told() -> None:
    rows = [_RIGHT["rows"][0], ["ex:b", 3]]
    assert _verdict({**_RIGHT, "rows": rows, "values_complete": False}) is Verdict.RIGHT


def test_a_warning_with_a_number_that_is_too_large_is_untrue() -> None:
    question = {"tool": "search_entities", "node_types": ["ex:Tool"], "where": ["ex:weight > 3"]}
    page = {
        "complete": True,
        "result": [["ex:b", "ex:Tool"]],
        "warnings": ["where: 1 text that reads as a number was compared as one."],
    }
    assert _verdict(page, question) is Verdict.RIGHT
    page["warnings"] = ["where: 2 texts that read as a number were compared as one."]
    assert _verdict(page, question) is Verdict.UNTRUE
    page["warnings"] = ["where: 3 values cannot be compared, and fulfil nothing."]
    assert _verdict(page, question) is Verdict.UNTRUE


def test_an_empty_answer_says_how_many_each_condition_lets_through() -> None:
    where = ["ex:weight > 3", "ex:note exists"]
    question = {"tool": "search_entities", "node_types": ["ex:Tool"], "where": where}
    page = {"complete": True, "result": [], "alone": dict(zip(where, (1, 1), strict=True))}
    assert _verdict(page, question) is Verdict.RIGHT
    assert _verdict({**page, "alone": [1, 2]}, question) is Verdict.WRONG


def test_nodes_on_the_way_to_members_may_stay() -> None:
    question: dict[str, Any] = {
        "tool": "bfs_query",
        "seeds": ["ex:oslo"],
        "max_hops": 1,
        "only_predicates": [["^ex:site"]],
    }
    page = {"complete": True, "nodes": {"untyped": ["ex:oslo Oslo"], "ex:Tool": ["ex:c"]}}
    assert _verdict(page, question) is Verdict.RIGHT
    assert _verdict({**page, "nodes": {"ex:Tool": [{"ex:c": {}}, "ex:a"]}}, question) is Verdict.WRONG


def test_pages_are_read_as_one_answer() -> None:
    pages = [{**_RIGHT, "rows": [row]} for row in _RIGHT["rows"]]
    assert told(pages, _expand).nodes == (EX + "a", EX + "b")
    assert isinstance(told(pages, _expand), Told)


def test_groups_that_are_shown_alike_have_the_order_of_their_exact_values() -> None:
    near = [typed("1234567890123456789", "decimal"), typed("1234567890123456789.5", "decimal")]
    triples = [(f"{EX}{name}", EX + "weight", value) for name, value in zip("abc", (*near, near[1]), strict=True)]
    question = {"group_by": "ex:weight", "compute": ["count"], "sort_by": "-ex:weight"}
    right = groups_of(Graph(triples, PREFIXES), [EX + "a", EX + "b", EX + "c"], question)

    def verdict(*counts: int) -> Verdict:
        page = {
            "complete": True,
            "found": 3,
            "group_count": 2,
            "groups": [[float(near[0].text), one] for one in counts],
        }
        return judge_groups(question, right, 3, [page], _expand)[0]

    assert (verdict(2, 1), verdict(1, 2)) == (Verdict.RIGHT, Verdict.WRONG)
    alike = groups_of(Graph(triples[:2], PREFIXES), [EX + "a", EX + "b"], question)
    page = {"complete": True, "found": 2, "group_count": 2, "groups": [[float(near[0].text), 1]] * 2}
    assert judge_groups(question, alike, 2, [page], _expand)[0] is Verdict.RIGHT


def test_a_time_may_lack_the_milliseconds_that_an_engine_adds() -> None:
    question = {"group_by": "ex:released", "compute": ["count"]}
    triples = [(EX + "a", EX + "released", typed("12:30:00.000Z", "time"))]
    right = groups_of(Graph(triples, PREFIXES), [EX + "a"], question)
    for shown, expected in (("12:30:00Z", Verdict.RIGHT), ("12:30:00.5Z", Verdict.WRONG)):
        page = {"complete": True, "found": 1, "group_count": 1, "groups": [[shown, 1]]}
        assert judge_groups(question, right, 1, [page], _expand)[0] is expected


def _dice(seed: int) -> random.Random:
    return random.Random(seed)  # noqa: S311 - not for security


@pytest.mark.slow
def test_the_same_graphs_and_questions_are_drawn_in_each_run() -> None:
    for number in range(6):
        assert drawn(number) == drawn(number)
        assert draw(drawn(number), _dice(1), 5) == draw(drawn(number), _dice(1), 5)
        assert draw(drawn(number), _dice(1), 5) != draw(drawn(number), _dice(2), 5)


@pytest.mark.slow
def test_most_drawn_questions_have_an_answer_that_is_neither_empty_nor_everything() -> None:
    telling = questions = 0
    for number in range(6):
        graph = Graph(drawn(number).triples, PREFIXES)
        for question in draw(drawn(number), _dice(3), 20):
            expected = answer(graph, question)
            questions += 1
            telling += bool(expected.found) and ("where" not in question or expected.found < expected.unfiltered)
    assert telling > 0.8 * questions


def test_what_is_shown_as_a_step_alone_is_told_to_be_no_member() -> None:
    page = {"nodes": {"ex:Tool": ["ex:a A thing"]}, "on_the_way": {"ex:Maker": ["ex:d", {"ex:e E": {}}]}, "edges": {}}
    assert told([page], _expand).nodes == (EX + "a",)
