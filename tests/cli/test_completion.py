"""Completion as the script of a shell asks for it. The scripts are typer's, and were tried in the three shells."""

from pathlib import Path

import pytest

from gateway.cli.completion import SHELLS, VARIABLE
from gateway.cli.main import main
from tests.cli.conftest import Run


def completions(words: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> list[str]:
    """Return what bash offers for the last of some words."""
    monkeypatch.setenv(VARIABLE, "complete_bash")
    monkeypatch.setenv("COMP_WORDS", " ".join(["bfsql-gateway", *words]))
    monkeypatch.setenv("COMP_CWORD", str(len(words)))
    with pytest.raises(SystemExit) as ended:
        main([])
    assert ended.value.code == 0
    return capsys.readouterr().out.split()


@pytest.mark.parametrize("shell", SHELLS)
def test_the_script_of_a_shell_asks_this_program(run: Run, shell: str) -> None:
    ran = run("completion", shell)
    assert (ran.status, ran.err) == (0, "")
    assert f"{VARIABLE}=complete_{shell}" in ran.out


def test_a_shell_without_a_script_is_an_error(run: Run) -> None:
    ran = run("completion", "csh")
    assert (ran.status, ran.out) == (2, "")
    assert "Give bash or zsh or fish." in ran.err


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        (["s"], ["schema", "search", "serve"]),
        (["schema", "--pro"], ["--profile"]),
        (["schema", "--profile", "wikidata-l"], ["wikidata-local"]),
        (["schema", "--shape", ""], ["compact", "reference"]),
        (["schema", "--graph", "f"], []),
    ],
)
def test_commands_options_and_the_names_of_profiles_are_offered(
    words: list[str], offered: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert completions(words, monkeypatch, capsys) == offered


def test_completion_reads_no_project_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bfsql.toml").write_text("x = 1", encoding="utf-8")
    assert completions(["schema", "--profile", "demo", "--js"], monkeypatch, capsys) == ["--json"]
