"""What counts as conforming: the judgement of the suite's checks, without the suite."""

from tests.suites.conformance import REVISIONS, Check, Expected, expected, problems

KNOWN = Expected(
    applies={"2026-07-28": ["list", "call"]},
    excepted={("call", "own-tool"): "a tool of the suite"},
    not_applicable={"tasks": "not offered"},
)
GOOD = [
    Check("list", "listed", "SUCCESS"),
    Check("call", "called", "SUCCESS"),
    Check("call", "own-tool", "FAILURE", "no such tool"),
    Check("tasks", "created", "FAILURE"),
    Check("tasks", "wire-schema-valid", "SUCCESS"),
]


def test_checks_that_are_as_expected_are_no_problem() -> None:
    assert problems(GOOD, "2026-07-28", KNOWN) == []


def test_a_check_of_an_applicable_scenario_that_fails_or_warns_is_a_problem() -> None:
    for status in ("FAILURE", "WARNING"):
        found = problems([*GOOD, Check("list", "sorted", status, "no order")], "2026-07-28", KNOWN)
        assert found == ["list: sorted: no order"]


def test_a_scenario_that_was_not_run_or_checked_nothing_is_a_problem() -> None:
    assert problems(GOOD[1:], "2026-07-28", KNOWN) == ["list: not run"]
    skipped = [Check("list", "listed", "SKIPPED"), *GOOD[1:]]
    assert problems(skipped, "2026-07-28", KNOWN) == ["list: nothing was checked"]


def test_an_excepted_check_that_no_longer_fails_is_a_problem() -> None:
    checks = [*GOOD[:2], Check("call", "own-tool", "SUCCESS"), *GOOD[3:]]
    assert problems(checks, "2026-07-28", KNOWN) == ["call: own-tool: excepted, but it no longer fails"]


def test_an_unknown_scenario_is_a_problem() -> None:
    (found,) = problems([*GOOD, Check("new", "checked", "SUCCESS")], "2026-07-28", KNOWN)
    assert found.startswith("new: ")


def test_a_message_that_breaks_the_schema_of_the_protocol_is_a_problem_in_any_scenario() -> None:
    checks = [*GOOD[:-1], Check("tasks", "wire-schema-valid", "FAILURE", "no result")]
    assert problems(checks, "2026-07-28", KNOWN) == ["tasks: wire-schema-valid: no result"]


def test_every_scenario_either_applies_or_has_a_reason_why_not() -> None:
    known = expected()
    assert set(known.applies) == set(REVISIONS)
    applicable = {scenario for revision in REVISIONS for scenario in known.applies[revision]}
    assert not applicable & set(known.not_applicable)
    assert all(scenario in applicable for scenario, _ in known.excepted)
    assert all([*known.not_applicable.values(), *known.excepted.values()])
