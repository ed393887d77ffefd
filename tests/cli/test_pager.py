"""At a terminal an answer goes through the user's pager."""

import shlex
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import Run

COPY = "import pathlib, sys; pathlib.Path(sys.argv[1]).write_text(sys.stdin.read())"
QUIT = "import pathlib, sys; pathlib.Path(sys.argv[1]).write_text(sys.stdin.readline())"


def pager(monkeypatch: pytest.MonkeyPatch, program: str, seen: Path) -> None:
    """Put a program in the place of the pager, which writes what it reads to a file."""
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.setenv("PAGER", shlex.join([sys.executable, "-S", "-c", program, str(seen)]))


@pytest.mark.parametrize("argv", [["bfs", "drug:warfarin"], ["bfs", "drug:warfarin", "--all"], ["search", "insulin"]])
def test_a_whole_answer_goes_through_the_pager(
    run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, argv: list[str]
) -> None:
    pager(monkeypatch, COPY, tmp_path / "seen")
    ran = run(*argv)
    assert (ran.status, ran.out, ran.err) == (0, "", "")
    without = run(*argv, "--no-pager")
    assert (tmp_path / "seen").read_text() == without.out != ""


def test_columns_and_json_go_through_no_pager(run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    pager(monkeypatch, COPY, tmp_path / "seen")
    for option in ("--tsv", "--json"):
        assert run("search", "insulin", option).out
    assert not (tmp_path / "seen").exists()


@pytest.mark.parametrize("program", ["", "cat", "no-such-pager -x", "'unclosed"])
def test_a_pager_that_cannot_be_started_is_done_without(
    run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, program: str
) -> None:
    pager(monkeypatch, COPY, tmp_path / "seen")
    monkeypatch.setenv("PAGER", program)
    assert run("search", "insulin").out.endswith("4 hits.\n")


def test_a_pager_that_fails_is_an_error_and_no_empty_answer(
    run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    pager(monkeypatch, "raise SystemExit(3)", tmp_path / "seen")
    ran = run("search", "insulin")
    assert ran.status == 2
    assert "ended with status 3" in ran.err
    assert "--no-pager" in ran.err


def test_leaving_the_pager_early_is_no_error(
    run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, films: Path
) -> None:
    pager(monkeypatch, QUIT, tmp_path / "seen")
    monkeypatch.setattr("gateway.cli.main.discard_stdout", lambda: None)
    ran = run("bfs", "film:Blade_Runner", "-g", films, "--hops", "5", "--all")
    assert (ran.status, ran.err) == (0, "")


@pytest.mark.parametrize("option", ["--all", "--no-via"])
def test_the_pager_hides_no_error(run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, option: str) -> None:
    pager(monkeypatch, COPY, tmp_path / "seen")
    ran = run("intersect", "drug:warfarin", option)
    assert ran.status == 2
    assert ran.err.startswith("error: SEED has 1 entry")
