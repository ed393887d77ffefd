"""A graph whose every text hides, reorders or controls text: what the commands and the log make of it."""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.cli.conftest import Run
from tests.hidden import ABSENT, IN_IRIS, IN_LITERALS, NAME, A, B, X, hidden_in, write_hidden_graph

COMMANDS: Sequence[Sequence[str]] = [
    ["schema"],
    ["search", "start"],
    ["bfs", A, "--hops", "2"],
    ["bfs", A, ABSENT, "--topology-only", "--limit", "1"],
    ["describe", A],
    ["describe", A, B, ABSENT],
    ["intersect", A, B, "--via"],
    ["check"],
    ["search", "\u202e\x9b"],
    ["search", "start", "--node-type", f"{NAME}?"],
    ["bfs", NAME],
    ["bfs", ABSENT],
    ["describe", f"{X}start{IN_IRIS}"],
    ["bfs", A, f"--option{IN_LITERALS}"],
    ["bfs", A, "--hops", IN_LITERALS],
    [f"command{IN_LITERALS}"],
    ["schema", "--prefix", IN_LITERALS],
    ["schema", "--profile", IN_LITERALS],
]


@pytest.mark.slow
@pytest.mark.parametrize("argv", COMMANDS)
def test_no_line_of_a_command_has_a_hidden_character(run: Run, tmp_path: Path, argv: Sequence[str]) -> None:
    graph = write_hidden_graph(tmp_path)
    own = [] if argv[0].startswith("command") else ["-g", str(graph)]
    for more in ([], ["--json"], ["-vv"] if argv[0] == "check" else ["--explain", "-vv"]):
        ran = run(*argv, *own, *more)
        assert set(hidden_in(ran.out + ran.err)) <= {"\n"}
        if more == ["--json"] and ran.status == 0:
            assert ran.out.count("\n") == 1
            json.loads(ran.out)
