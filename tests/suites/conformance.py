"""The conformance suite of the Model Context Protocol, and which of its checks apply to this server."""

import json
import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from tests.suites.packages import CONFORMANCE, script
from tests.suites.tool import run

Revision = Literal["2025-11-25", "2026-07-28"]
REVISIONS: Final[tuple[Revision, ...]] = ("2025-11-25", "2026-07-28")

_EXPECTED: Final = Path(__file__).with_name("conformance.toml")
_NAME: Final = re.compile(r"server-(.+)-\d{4}-\d\d-\d\dT[\d-]+Z")
_BAD: Final = frozenset({"FAILURE", "WARNING"})
_SCHEMA: Final = "wire-schema-valid"
"""Of every scenario: each message that the server sent is valid by the schema of the protocol."""


@dataclass(frozen=True, slots=True)
class Check:
    """A check of the suite and what came of it: its scenario, ID, status (SUCCESS, FAILURE, ...), and why."""

    scenario: str
    name: str
    status: str
    message: str = ""


@dataclass(frozen=True, slots=True)
class Expected:
    """Which scenarios apply to this server, and why others do not.

    Attributes:
        applies: Scenarios all of whose checks must pass, by revision of the protocol.
        excepted: The reasons why a check of these may fail, by scenario and check. It must fail.
        not_applicable: The reasons why other scenarios do not apply.
    """

    applies: Mapping[str, Sequence[str]]
    excepted: Mapping[tuple[str, str], str]
    not_applicable: Mapping[str, str]


def expected() -> Expected:
    """Return what `conformance.toml` says."""
    written = tomllib.loads(_EXPECTED.read_text(encoding="utf-8"))
    return Expected(
        written["applies"],
        {(each["scenario"], each["check"]): each["reason"] for each in written["excepted"]},
        {name: each["reason"] for each in written["not_applicable"] for name in each["scenarios"]},
    )


def checks_of(url: str, revision: Revision, folder: Path) -> list[Check]:
    """Run every scenario of a revision against a server, and return the checks.

    Raises:
        ServerUnavailable: The suite is not to be had here.
    """
    results = folder / revision
    run(
        [*script(CONFORMANCE), "server", "--url", url, "--requirements", revision, "--output-dir", results],
        folder,
    )
    return [check for path in sorted(results.glob("*/checks.json")) for check in _checks(path)]


def _checks(path: Path) -> list[Check]:
    match = _NAME.fullmatch(path.parent.name)
    scenario = match[1] if match else path.parent.name
    return [
        Check(scenario, each["id"], each["status"], str(each.get("errorMessage", "")))
        for each in json.loads(path.read_text(encoding="utf-8"))
    ]


def problems(checks: Iterable[Check], revision: Revision, known: Expected) -> list[str]:
    """Return what is not as expected, one line each."""
    by_scenario: dict[str, list[Check]] = {}
    for check in checks:
        by_scenario.setdefault(check.scenario, []).append(check)
    applies = known.applies[revision]
    found = [f"{scenario}: not run" for scenario in applies if scenario not in by_scenario]
    for scenario, of_it in by_scenario.items():
        if scenario in applies:
            found += _of_applicable(of_it, known)
        elif scenario not in known.not_applicable:
            found.append(f"{scenario}: the suite is newer than conformance.toml, which does not know it")
        found += [f"{scenario}: {_SCHEMA}: {each.message}" for each in of_it if _breaks_schema(each)]
    return found


def _of_applicable(checks: Sequence[Check], known: Expected) -> list[str]:
    found = [
        f"{check.scenario}: {check.name}: {check.message}"
        for check in checks
        if check.status in _BAD and check.name != _SCHEMA and (check.scenario, check.name) not in known.excepted
    ]
    failed = {check.name for check in checks if check.status in _BAD}
    found += [
        f"{scenario}: {name}: excepted, but it no longer fails"
        for scenario, name in known.excepted
        if scenario == checks[0].scenario and name not in failed
    ]
    if not any(check.status == "SUCCESS" for check in checks):
        found.append(f"{checks[0].scenario}: nothing was checked")
    return found


def _breaks_schema(check: Check) -> bool:
    return check.name == _SCHEMA and check.status in _BAD
