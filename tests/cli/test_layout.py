"""IDs stand whole on one line, however narrow the screen is."""

import re
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console, RenderableType

from gateway.cli.screen import ID, TYPE, IdTable, KeyValues
from tests.cli.conftest import Run

X = "http://example.org/a/long/way/that/goes/on/and/on"
LONG = [f"{X}/{'x' * length}/{letter}" for length, letter in ((20, "a"), (60, "b"), (200, "c"))]
TYPE_IRI = f"{X}/Type/{'y' * 40}"
PREDICATE = f"{X}/predicate/{'z' * 40}"
COMMANDS = [
    ["schema"],
    ["search", "name"],
    ["bfs", LONG[0], "--hops", "2"],
    ["describe", LONG[0]],
    ["describe", *LONG],
    ["intersect", *LONG[:2], "--via"],
]
EXPECTED = [[TYPE_IRI, PREDICATE], LONG, LONG, [LONG[0], LONG[1], f"{X}/seeAlso"], LONG, LONG]


@pytest.fixture
def graph(tmp_path: Path) -> Path:
    """Write a graph of three nodes with long IRIs and long names."""
    path = tmp_path / "long.nt"
    rdfs = "http://www.w3.org/2000/01/rdf-schema#label"
    lines = []
    for node, other in zip(LONG, LONG[1:] + LONG[:1], strict=True):
        lines += [
            f"<{node}> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <{TYPE_IRI}> .",
            f'<{node}> <{rdfs}> "a name of many words {"that goes on and on " * 10}" .',
            f"<{node}> <{PREDICATE}> <{other}> .",
            f'<{node}> <{X}/seeAlso> "{other}"^^<http://www.w3.org/2001/XMLSchema#anyURI> .',
        ]
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


@pytest.mark.parametrize(("argv", "ids"), list(zip(COMMANDS, EXPECTED, strict=True)))
def test_nothing_is_folded_in_a_pipe(run: Run, graph: Path, argv: Sequence[str], ids: Sequence[str]) -> None:
    out = run(*argv, "-g", graph).out
    for one in ids:
        assert one in out
    assert all(line == line.rstrip() for line in out.splitlines())
    if argv[0] == "search":
        # The heads, the rule, three hits, a blank line and the summary.
        assert len(out.splitlines()) == 7


@pytest.mark.parametrize("columns", [80, 120])
@pytest.mark.parametrize(("argv", "ids"), list(zip(COMMANDS, EXPECTED, strict=True)))
def test_no_id_is_broken_at_a_terminal(
    run: Run, graph: Path, columns: int, argv: Sequence[str], ids: Sequence[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", str(columns))
    monkeypatch.setenv("TERM", "xterm")
    # This is about IDs that are as long as they can be.
    profile = graph.with_name("whole.toml")
    profile.write_text('extends = "local"\n[size]\ncoined_prefixes = false\n', encoding="utf-8")
    out = re.sub(r"\x1b\[[0-9;]*m", "", run(*argv, "-g", graph, "-p", profile).out)
    for one in ids:
        assert one in out
    for line in out.splitlines():
        # Only a tree, or an ID that is longer than a line, goes on where the terminal breaks it.
        assert len(line) <= columns or X in line, line


def shown(part: RenderableType, width: int) -> str:
    console = Console(width=width, color_system=None, highlight=False, markup=False, emoji=False)
    with console.capture() as captured:
        console.print(part, crop=False)
    return captured.get()


WORDS = st.text("abc東é", min_size=1, max_size=60)


@given(st.lists(st.tuples(WORDS, WORDS, st.lists(WORDS).map(" ".join)), min_size=1, max_size=5), st.integers(20, 200))
def test_a_table_of_any_width_has_every_id_whole(rows: list[tuple[str, str, str]], width: int) -> None:
    lines = shown(IdTable([("ID", ID), ("Type", TYPE), ("Name", "")], rows), width).splitlines()
    for identifier, kind, _ in rows:
        assert any(identifier in line for line in lines)
        assert any(kind in line for line in lines)


@given(st.lists(st.tuples(WORDS, st.lists(st.lists(WORDS, min_size=1).map(" ".join))), min_size=1), st.integers(20, 99))
def test_keys_and_values_of_any_width_have_every_word_whole(rows: list[tuple[str, list[str]]], width: int) -> None:
    shown_words = shown(KeyValues(rows, indent=2), width).split()
    assert sorted(shown_words) == sorted(word for key, lines in rows for word in [key, *" ".join(lines).split()])
