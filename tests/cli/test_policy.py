"""What a profile hides, no command shows, whatever was stored by a run that hides nothing."""

from pathlib import Path

import pytest

from tests.cases import check_each
from tests.cli.conftest import FIXTURES, Run

FILMS = FIXTURES / "films.ttl"
X = "https://example.org/films"


@pytest.fixture
def hiding(tmp_path: Path) -> Path:
    path = tmp_path / "hiding.toml"
    path.write_text(
        f'[prefixes]\nf = "{X}/"\n[hidden]\npredicates = ["f:actedIn"]\nliterals = ["f:released"]\n', encoding="utf-8"
    )
    return path


COMMANDS = [
    ["schema", "--all"],
    ["search", "Ripley"],
    ["search", "acted"],
    ["bfs", f"{X}/film/Alien", "--max-hops", "2"],
    ["describe", f"{X}/film/Alien"],
    ["intersect", f"{X}/film/Alien", f"{X}/film/Aliens", "-k", "2"],
]


@pytest.mark.slow
def test_no_command_shows_what_a_profile_hides(run: Run, tmp_path: Path, hiding: Path) -> None:
    def words(command: list[str], *options: str | Path) -> set[str]:
        ran = run(*command, "--graph", FILMS, "--json", *options)
        shown = ran.out + ran.err
        asked = " ".join(command)
        return {word for word in ("actedIn", "Ripley", "1979", "released") if word in shown and word not in asked}

    def check(command: list[str]) -> None:
        store = ("--store", tmp_path / "store")
        seen.update(words(command, *store))
        for _ in range(2):
            assert not words(command, *store, "--profile", hiding)
        assert not words(command, "--profile", hiding)

    seen: set[str] = set()
    check_each(COMMANDS, check)
    # Without the policy they show all of it.
    assert seen == {"actedIn", "Ripley", "1979", "released"}


def test_a_check_of_a_graph_counts_what_is_left(run: Run, hiding: Path) -> None:
    whole, left = (
        run("check", "--graph", FILMS, "--json"),
        run("check", "--graph", FILMS, "--json", "--profile", hiding),
    )
    assert whole.status == left.status == 0
    assert whole.out != left.out


def test_an_endpoint_that_does_not_answer_is_reported_without_what_is_hidden(run: Run, hiding: Path) -> None:
    for command in (["schema"], ["index"], ["refresh"]):
        ran = run(*command, "--endpoint", "http://127.0.0.1:9/sparql", "--profile", hiding)
        assert ran.status == 2
        assert "the connection was refused" in " ".join(ran.err.split())
        assert "actedIn" not in ran.err


def test_an_endpoint_is_not_checked_by_a_profile_that_hides_something(run: Run, hiding: Path) -> None:
    ran = run("check", "--endpoint", "http://127.0.0.1:9/sparql", "--profile", hiding)
    assert ran.status == 2
    assert "the profile hides a part of it" in ran.err
