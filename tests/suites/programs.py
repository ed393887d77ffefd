"""The suites of others and the gateway they talk to: the conformance suite, the strict Inspector, and mcp-fuzzer."""

import http.client
import json
import re
import sys
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal

import jsonschema

from tests.graphs import fixture
from tests.servers.loopback import HOST, free_port
from tests.servers.process import running
from tests.shared_data import shared_data_or_none
from tests.suites.packages import CONFORMANCE, FUZZER, INSPECTOR, Run, python_folder, run, script

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


_ACCEPTED: Final = "accepted_malformed"
_REFLECTED: Final = "injection_reflection"


@dataclass(frozen=True, slots=True)
class Fuzzed:
    """What the fuzzer did.

    Attributes:
        runs: The calls of each tool.
        findings: What is wrong, one line each.
        valid: Calls that the fuzzer counts as malformed but that are valid by the published schema: it judges no
            arguments, and counts every call that is answered.
    """

    runs: Mapping[str, int]
    findings: list[str]
    valid: list[str]


def fuzz(url: str, schemas: Mapping[str, Mapping[str, Any]], *, seed: int, runs: int, folder: Path) -> Fuzzed:
    """Call every tool of a server with drawn arguments, and judge what was accepted by the input schemas.

    Args:
        url: The server.
        schemas: The input schema of each tool.
        seed: The same seed draws the same arguments.
        runs: Calls of a tool in each of two phases, with plausible and with hostile arguments.
        folder: Where the reports are written.

    Raises:
        ServerUnavailable: The fuzzer is not to be had here.
        AssertionError: It did not run to its end.
    """
    options = ["--mode", "tools", "--phase", "both", "--runs", str(runs), "--seed", str(seed), "--no-corpus"]
    at = ["--protocol", "streamablehttp", "--endpoint", url, "--no-network", "--allow-host", HOST]
    reports = folder / "fuzzed"
    done = run(
        [sys.executable, "-m", "mcp_fuzzer", *options, *at, "--output-dir", reports, "--fs-root", folder / "sandbox"],
        folder,
        # It draws from sets too.
        {"PYTHONPATH": str(python_folder(FUZZER)), "PYTHONHASHSEED": "0"},
    )
    assert done.code == 0, done.output[-2000:]
    (session,) = reports.glob("sessions/*/*_fuzzing_results.json")
    tested = json.loads(session.read_text(encoding="utf-8"))["data"]["tools_tested"]
    found: list[str] = []
    valid: list[str] = []
    for finding in json.loads((reports / "findings.json").read_text(encoding="utf-8"))["findings"]:
        if _is_quoted(finding):
            continue
        line = json.dumps({key: finding[key] for key in ("category", "target", "evidence")})[:600]
        (valid if _is_valid(finding, schemas) else found).append(line)
    return Fuzzed({each["name"]: each["runs"] for each in tested}, found, valid)


def _is_quoted(finding: Mapping[str, Any]) -> bool:
    """Tell whether a finding is an argument in an error: errors quote what was given, but for what cannot be printed.

    The fuzzer looks for markup and commands. Answers are JSON, and texts that nothing runs.
    """
    return finding["category"] == _REFLECTED and str(finding["evidence"]["marker"]).isprintable()


def _is_valid(finding: Mapping[str, Any], schemas: Mapping[str, Mapping[str, Any]]) -> bool:
    """Tell whether a finding is an accepted call that the tool's schema allows; null is an absent argument."""
    if finding["category"] != _ACCEPTED or finding["target"] not in schemas:
        return False
    given = {name: value for name, value in finding["evidence"]["input"].items() if value is not None}
    try:
        jsonschema.validate(given, schemas[finding["target"]])
    except jsonschema.ValidationError:
        return False
    return True


Era = Literal["legacy", "modern"]


def strict(era: Era, target: list[str], folder: Path) -> Run:
    """List the tools of a server and check their schemas; exit code 6 is an error in one of them.

    `target` is `["--server-url", URL]`, or the command of a server over stdio.

    Raises:
        ServerUnavailable: The Inspector is not to be had here.
    """
    options = ["--cli", "--method", "tools/list", "--strict", "--protocol-era", era]
    return run([*script(INSPECTOR), *options, *target], folder)


def medlit() -> Path:
    """Return the file of medlit, or where that is absent of the demo graph."""
    return shared_data_or_none("medlit.ttl.gz") or fixture("medical")


def command(graph: Path, *options: str) -> list[str]:
    """Return the command that serves a graph, over stdio without options."""
    return [sys.executable, "-m", "gateway", "serve", "--quiet", "--graph", str(graph), *options]


@contextmanager
def served_over_http(folder: Path, graph: Path) -> Iterator[str]:
    """Serve a graph over HTTP while the block runs, and return its URL; the log is in the folder."""
    port = free_port()
    address = f"http://{HOST}:{port}"
    with running(
        command(graph, "--http", "--port", str(port)),
        # The explorer page, which needs no graph.
        ready_url=f"{address}/",
        ready_status=http.client.OK,
        log=folder / "gateway.log",
        cwd=folder,
    ):
        yield f"{address}/mcp"
