"""mcp-fuzzer: arguments that a tool should refuse, drawn from a seed."""

import json
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import jsonschema

from tests.servers.loopback import HOST
from tests.suites.packages import FUZZER, python_folder
from tests.suites.tool import run

_ACCEPTED: Final = "accepted_malformed"


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
        {"PYTHONPATH": str(python_folder(FUZZER))},
    )
    assert done.code == 0, done.output[-2000:]
    (session,) = reports.glob("sessions/*/*_fuzzing_results.json")
    tested = json.loads(session.read_text(encoding="utf-8"))["data"]["tools_tested"]
    found: list[str] = []
    valid: list[str] = []
    for finding in json.loads((reports / "findings.json").read_text(encoding="utf-8"))["findings"]:
        line = json.dumps({key: finding[key] for key in ("category", "target", "evidence")})[:600]
        (valid if _is_valid(finding, schemas) else found).append(line)
    return Fuzzed({each["name"]: each["runs"] for each in tested}, found, valid)


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
