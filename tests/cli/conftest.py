"""Running command lines in this process."""

import os
import signal
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from gateway.cli.main import main

FIXTURES = Path(__file__).resolve().parents[2] / "fixtures"
READ_BY_PEOPLE = ("schema", "search", "list", "bfs", "describe", "intersect")
NOT_FOR_READING = frozenset({"--json", "--tsv", "--help", "-h", "--out", "--format", "-f", "-o"})
COLOURS = ("FORCE_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE", "NO_COLOR", "PY_COLORS", "GITHUB_ACTIONS")


NAMES_A_GRAPH = ("-g", "-e", "-p", "--graph", "--endpoint", "--profile", "-h", "--help")


def names_no_graph(argv: Sequence[str]) -> bool:
    """Return whether neither a command line, nor the environment, nor a project file names a graph."""
    elsewhere = any(name in os.environ for name in ("BFSQL_GRAPH", "BFSQL_ENDPOINT", "BFSQL_PROFILE"))
    elsewhere = elsewhere or any((folder / "bfsql.toml").exists() for folder in (Path.cwd(), *Path.cwd().parents))
    return not (elsewhere or any(word.startswith(NAMES_A_GRAPH) for word in argv))


@dataclass(frozen=True, slots=True)
class Ran:
    """What a command line did."""

    status: int
    out: str
    err: str


Run = Callable[..., Ran]


@pytest.fixture(autouse=True)
def _signals_as_before() -> Iterator[None]:
    # `serve` takes signals for as long as its process lives, and here that goes on.
    numbers = [number for name in ("SIGINT", "SIGTERM", "SIGHUP") if (number := getattr(signal, name, None))]
    before = [(number, signal.getsignal(number)) for number in numbers]
    yield
    for number, handler in before:
        signal.signal(number, handler)


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run a command line as at a terminal of 80 columns, which it writes no control sequences to.

    One that names no graph asks for the demo graph by its profile, and so is not told that it gets that.
    """
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("PAGER", "cat")
    for name in COLOURS:
        monkeypatch.delenv(name, raising=False)

    def run(*argv: str | Path) -> Ran:
        given = [str(argument) for argument in argv]
        command = next((place for place, word in enumerate(given) if word in READ_BY_PEOPLE), None)
        if command is not None and not NOT_FOR_READING.intersection(given):
            given.insert(command + 1, "--text")
        if command is not None and names_no_graph(given):
            given[command + 1 : command + 1] = ["--profile", "demo"]
        status = main(given)
        written = capsys.readouterr()
        return Ran(status, written.out, written.err)

    return run


@pytest.fixture
def films() -> Path:
    """The films fixture."""
    return FIXTURES / "films.ttl"


@pytest.fixture
def hostile(tmp_path: Path) -> Path:
    """A graph whose texts try to take over a terminal."""
    path = tmp_path / "hostile.ttl"
    path.write_text(
        r"""
        @prefix e: <http://example.org/> .
        @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
        e:a a e:T ; rdfs:label "[red]x[/red] \u001B[31mESC\nsecond\u009B1m \u202Eback [/]" ;
            rdfs:comment "[link=http://x]y[/link] \u001B]0;title\u0007" ;
            e:note "[bold]one[/bold]", "\u001B[2Jtwo" ; e:part [ e:inner "\u001B[3Jdeep" ] ; e:p e:b .
        e:b a e:T ; rdfs:label ":smile:" .
        """,
        encoding="utf-8",
    )
    return path
