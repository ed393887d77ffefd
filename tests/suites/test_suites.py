"""Suites that others wrote, against a gateway that serves medlit, and the judgement of their checks."""

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from mcp import Client

from tests.servers.unavailable import ServerUnavailable, skip_or_fail
from tests.suites.programs import (
    REVISIONS,
    Check,
    Era,
    Expected,
    Revision,
    checks_of,
    command,
    expected,
    fuzz,
    medlit,
    problems,
    served_over_http,
    strict,
)

RUNS = 15
SEED = 1


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A gateway over HTTP."""
    with served_over_http(tmp_path_factory.mktemp("served"), medlit()) as url:
        yield url


@pytest.mark.server
@pytest.mark.parametrize("revision", REVISIONS)
def test_the_server_conforms_to_the_protocol(revision: Revision, url: str, tmp_path: Path) -> None:
    try:
        checks = checks_of(url, revision, tmp_path)
    except ServerUnavailable as error:
        skip_or_fail(error)
    assert problems(checks, revision, expected()) == []


@pytest.mark.server
@pytest.mark.parametrize("era", ["legacy", "modern"])
@pytest.mark.parametrize("wire", ["stdio", "http"])
def test_the_inspector_finds_nothing_in_the_schemas_of_the_tools(wire: str, era: Era, url: str, tmp_path: Path) -> None:
    target = ["--server-url", url] if wire == "http" else command(medlit())
    try:
        done = strict(era, target, tmp_path)
    except ServerUnavailable as error:
        skip_or_fail(error)
    assert done.code == 0, done.output[-2000:]
    assert '"name": "intersect_subgraphs"' in done.output


@pytest.mark.server
def test_the_fuzzer_finds_nothing(url: str, tmp_path: Path) -> None:
    schemas = asyncio.run(_input_schemas(url))
    try:
        fuzzed = fuzz(url, schemas, seed=SEED, runs=RUNS, folder=tmp_path)
    except ServerUnavailable as error:
        skip_or_fail(error)
    assert fuzzed.findings == []
    # Both phases, of all tools.
    assert fuzzed.runs == dict.fromkeys(schemas, 2 * RUNS)


async def _input_schemas(url: str) -> dict[str, dict[str, Any]]:
    async with Client(url) as client:
        return {tool.name: tool.input_schema for tool in (await client.list_tools()).tools}


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
