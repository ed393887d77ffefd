"""A small soak, and what its plans and its report promise."""

import asyncio
import random
from collections import Counter
from dataclasses import replace
from typing import Any

import pytest

from tests.columns import BEHIND_HTTP, Column
from tests.drawn.judging import Truth
from tests.drawn.questions import Question
from tests.faults.catalogue import CATALOGUE, TOLD
from tests.harness.report import Verdict
from tests.oracle import OracleGraph
from tests.soak.process import held, left_over
from tests.soak.report import Report
from tests.soak.run import soak
from tests.soak.slot import FAULTS_A_CALL, Call, Deck, Outcome, due_at, plan_as_json, plan_of_json

CALLS = 625
QUESTION = Question("random", "bfs_query", ("https://example.org/x/a",), 2)
CALL = Call(0, "oxigraph", tight=False, question=QUESTION, truth=Truth(OracleGraph([])), due=())


def outcome(verdict: Verdict, *injected: str, seconds: float = 0.1, lingering: bool = False) -> Outcome:
    return Outcome(CALL, [[0, name] for name in injected], injected, verdict, "", seconds, lingering)


def report(*outcomes: Outcome, **figures: Any) -> Report:
    made = Report(1, ["oxigraph"], least=0, **figures)
    made.outcomes.extend(outcomes)
    return made


def missed(made: Report) -> list[str]:
    return [target.name for target in made.targets if not target.met]


# The whole of it


@pytest.mark.data
@pytest.mark.parametrize("engine", BEHIND_HTTP, indirect=True)
def test_no_answer_through_the_fault_proxy_is_wrong_and_complete_and_nothing_leaks(engine: Column) -> None:
    calls = CALLS // len(BEHIND_HTTP)
    # The largest graph takes longer to load than the small ones to be asked; the whole soak has it.
    made = soak([engine], calls=calls, seed=1, least=1, say=lambda _: None, graphs=("random", "medlit"))
    # Shares and seconds are for `make soak`, on a machine that does nothing else.
    assert [target.name for target in made.targets if not (target.met or target.timed)] == [], made.as_text()


# Plans


def test_the_slots_of_an_engine_together_inject_each_fault_equally_often() -> None:
    dealt = Counter(fault.name for slot in range(8) for fault in Deck("1", slot / 8).deal(2 * len(TOLD) // 8))
    assert dealt.keys() == {fault.name for fault in TOLD}
    assert set(dealt.values()) <= {1, 2, 3}


def test_a_fault_that_did_not_happen_comes_next() -> None:
    deck = Deck("1", 0.0)
    dealt = deck.deal(3)
    left = plan_of_json([[1, dealt[1].name], [9, dealt[2].name]])
    deck.take_back(left)
    assert deck.deal(2) == dealt[1:]


def test_a_plan_is_read_as_it_was_written() -> None:
    plan = plan_of_json([[0, "redirect"], [2, "refused"]])
    assert plan_as_json(plan) == [[0, "redirect"], [2, "refused"]]
    assert plan.next()[1] is CATALOGUE["redirect"]


def test_a_question_is_read_as_it_was_written() -> None:
    assert Question.of_json(QUESTION.as_json()) == QUESTION


def test_the_faults_of_a_call_are_due_at_different_requests() -> None:
    dice = random.Random(1)  # noqa: S311 - test data, not a secret
    drawn = [due_at(QUESTION, dice) for _ in range(2_000)]
    assert {len(due) for due in drawn} == set(FAULTS_A_CALL)
    assert all(len(set(due)) == len(due) and list(due) == sorted(due) for due in drawn)
    assert {due[0] for due in drawn if due} >= {0, 1, 2, 3}


# The report


def test_a_run_without_a_flaw_passes() -> None:
    made = report(outcome(Verdict.RIGHT), outcome(Verdict.RIGHT, "refused"), outcome(Verdict.MARKED, "redirect"))
    assert missed(made) == []
    assert made.passed
    assert made.as_json()["passed"] is True


@pytest.mark.parametrize(
    ("made", "target"),
    [
        (report(*[outcome(Verdict.RIGHT)] * 99, outcome(Verdict.WRONG, "refused")), "wrong and complete"),
        (report(*[outcome(Verdict.RIGHT)] * 99, outcome(Verdict.UNTRUE, "refused")), "incomplete and untrue"),
        (report(*[outcome(Verdict.RIGHT)] * 99, outcome(Verdict.CRASHED, "refused")), "crashed"),
        (
            report(outcome(Verdict.RIGHT), replace(outcome(Verdict.RIGHT, "refused"), again=Verdict.WRONG)),
            "wrong, untrue or crashed when asked again",
        ),
        (
            report(*[outcome(Verdict.RIGHT)] * 94, *[outcome(Verdict.ERROR)] * 6),
            "% complete where no fault was injected",
        ),
        (report(outcome(Verdict.RIGHT), *[outcome(Verdict.ERROR, "refused")] * 3), "% complete over all"),
        (report(outcome(Verdict.RIGHT), outcome(Verdict.RIGHT, seconds=3.1)), "calls over 3 s"),
        (
            report(outcome(Verdict.RIGHT), outcome(Verdict.RIGHT, lingering=True)),
            "calls with a request open after the answer",
        ),
        (report(outcome(Verdict.RIGHT), tasks=["a task"]), "tasks left"),
        (report(outcome(Verdict.RIGHT), connections=1), "connections left"),
        (report(outcome(Verdict.RIGHT), handles=1), "file handles left"),
        (report(outcome(Verdict.RIGHT), unclean=["a question"]), "wrong without any fault or proxy"),
        (Report(1, ["oxigraph"], 1, [outcome(Verdict.RIGHT, "refused")]), "times each fault on each engine"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_target_that_is_missed_fails_the_run(made: Report, target: str) -> None:
    assert target in missed(made)
    assert not made.passed
    assert f"MISSED {target}" in made.as_text()


def test_a_call_that_failed_stands_in_the_report_with_all_it_takes_to_make_it_again() -> None:
    (written,) = report(outcome(Verdict.RIGHT), outcome(Verdict.WRONG, "refused")).as_json()["failures"]
    assert Question.of_json(written["question"]) == QUESTION
    assert plan_as_json(plan_of_json(written["plan"])) == [[0, "refused"]]
    assert (written["engine"], written["tight"]) == ("oxigraph", False)


# Leaks


@pytest.mark.anyio
async def test_a_task_and_a_handle_that_are_left_are_found_and_those_that_end_are_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    before = held()
    gate = asyncio.Event()
    task = asyncio.create_task(gate.wait(), name="left over")
    monkeypatch.setattr("tests.soak.process._PATIENCE_S", 0.1)
    with open(__file__, "rb"):  # noqa: PTH123, ASYNC230 - a handle and nothing else
        tasks, handles = await left_over(before)
    assert (len(tasks), handles) == (1, 1)
    gate.set()
    assert await left_over(before) == ([], 0)
    assert task.done()
