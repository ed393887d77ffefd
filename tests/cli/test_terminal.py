"""At a terminal: the command that fits next, lines as wide as there is room, and help in groups."""

import re
import shlex
import sys
from pathlib import Path

import pytest

from gateway.cli import streams
from gateway.cli.command_line import EXPORT_FORMATS
from gateway.cli.help import GROUPS, WIDEST
from gateway.cli.main import main
from gateway.export.formats import FORMATS
from tests.cli.conftest import FIXTURES, Ran, Run
from tests.cli.test_main import COMMANDS

FILMS = FIXTURES / "films.ttl"


@pytest.fixture
def at_terminal(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run a command line at a terminal of 80 columns, without colours or a pager."""
    for name, value in {"COLUMNS": "80", "PAGER": "cat", "NO_COLOR": "1", "TERM": "dumb"}.items():
        monkeypatch.setenv(name, value)

    def run(*argv: str | Path) -> Ran:
        with monkeypatch.context() as patched:
            patched.setattr(sys.stdout, "isatty", lambda: True)
            patched.setattr(sys.stderr, "isatty", lambda: True)
            status = main([str(argument) for argument in argv])
        written = capsys.readouterr()
        return Ran(status, written.out, written.err)

    return run


def next_of(ran: Ran) -> list[str]:
    (line,) = [line for line in ran.err.splitlines() if line.startswith(("Next: ", "Next, "))]
    return shlex.split(line.partition(": ")[2])


@pytest.mark.parametrize(
    ("argv", "fits"),
    [
        (["schema"], ["list", ":Person"]),
        (["schema", "Film"], ["list", ":Film", "--value"]),
        (["search", "blade runner"], ["bfs", "film:Blade_Runner"]),
        (["search", "nothing like it", "blade runner"], ["bfs", "film:Blade_Runner"]),
        (["list", "Film", "--value", "released"], ["describe", "film:"]),
        (["describe", "film:Blade_Runner"], ["bfs", "film:Blade_Runner"]),
        (["describe", "film:Blade_Runner", "film:Alien"], ["intersect", "film:Blade_Runner", "film:Alien"]),
        (["bfs", "film:Blade_Runner"], ["describe", ""]),
        (["intersect", "film:Blade_Runner", "film:Alien", "-k", "2"], ["describe", ""]),
        (
            ["intersect", "film:Blade_Runner", "film:Aliens", "-k", "1"],
            ["intersect", "film:Blade_Runner", "film:Aliens", "-k", "2"],
        ),
    ],
)
def test_an_answer_ends_with_the_command_that_fits_next_and_that_works(
    at_terminal: Run, argv: list[str], fits: list[str]
) -> None:
    ran = at_terminal(*argv, "--graph", FILMS)
    assert ran.status == 0
    program, *words = next_of(ran)
    assert program == "bfsql-gateway"
    assert words[-2:] == ["--graph", str(FILMS)]
    assert len(words) > len(fits) + 1
    for word, expected in zip(words, fits, strict=False):
        assert word.startswith(expected)
    assert "Next:" not in ran.out
    assert at_terminal(*words).status == 0


SHELVES = """
@prefix : <http://e.org/> . @prefix skos: <http://www.w3.org/2004/02/skos/core#> .
@prefix dct: <http://purl.org/dc/terms/> .
:a a :Book ; :displayName "A" ; :fullTitle "A, all of it" ; skos:altLabel "One" ; dct:title "A" ; :pages 7 .
:b a :Book ; :displayName "B" ; :fullTitle "B, all of it" ; skos:altLabel "Two" ; dct:title "B" ; :pages 9 .
:c a :Shelf ; skos:prefLabel "C" . :d a :Shelf ; skos:prefLabel "D" .
"""


@pytest.mark.parametrize(
    ("asked", "fits"),
    [("Book", ["list", ":Book", "--value", ":pages"]), ("Shelf", ["list", ":Shelf", "--graph"])],
)
def test_what_is_suggested_as_a_column_is_no_name(
    at_terminal: Run, tmp_path: Path, asked: str, fits: list[str]
) -> None:
    graph = tmp_path / "shelves.ttl"
    graph.write_text(SHELVES)
    assert next_of(at_terminal("schema", asked, "--graph", graph))[1:][: len(fits)] == fits


@pytest.mark.parametrize(
    "argv",
    [
        ["search", "zzzz"], ["list", "Film", "--group-by", "directed"], ["bfs", "film:Alien", "--limit", "1"],
        ["schema", "--quiet"], ["schema", "--json"], ["schema", "--tsv"], ["bfs", "film:Nothing"],
    ],
)  # fmt: skip
def test_nothing_is_suggested_where_the_answer_says_what_to_do_or_a_program_reads(
    at_terminal: Run, argv: list[str]
) -> None:
    assert "Next:" not in at_terminal(*argv, "--graph", FILMS).err


def test_nothing_is_suggested_in_a_pipe(run: Run) -> None:
    assert run("search", "alien", "--graph", FILMS).err == ""


def test_without_arguments_the_first_step_is_about_the_graph_at_hand(
    at_terminal: Run, run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run().err == ""
    assert next_of(at_terminal()) == ["bfsql-gateway", "schema"]
    (tmp_path / "notes.json").write_text("{}")
    (tmp_path / "my films.ttl.gz").write_bytes(b"")
    ran = at_terminal()
    assert "Usage: " in ran.out
    assert next_of(ran) == ["bfsql-gateway", "schema", "--graph", "my films.ttl.gz"]
    (tmp_path / "bfsql.toml").write_text('graph = "a.ttl"\n')
    (tmp_path / "a.ttl").write_text("")
    ran = at_terminal()
    assert next_of(ran) == ["bfsql-gateway", "schema"]
    assert "that is selected" in ran.err
    (tmp_path / "bfsql.toml").write_text("x = 1")
    assert at_terminal().status == 0


@pytest.fixture
def classes(tmp_path: Path) -> Path:
    """Write four classes that are disjoint, two of which have a superclass in common."""
    path = tmp_path / "classes.ttl"
    path.write_text("""@prefix x: <http://example.org/> . @prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
x:A a owl:Class ; rdfs:label "First" ; rdfs:subClassOf x:Top ; owl:disjointWith x:B , x:C , x:D .
x:B a owl:Class ; rdfs:label "Second" ; rdfs:subClassOf x:Top ; owl:disjointWith x:C , x:D .
x:C a owl:Class . x:D a owl:Class . x:Top a owl:Class ; rdfs:label "Top" .""")
    return path


def test_what_says_that_classes_share_nothing_stands_last_and_the_next_command_leaves_it_out(
    at_terminal: Run, classes: Path
) -> None:
    ran = at_terminal("intersect", "x:A", "x:B", "--via", "-g", classes)
    paths = [row for row in ran.out.splitlines() if row.startswith("  x:") and "←" in row]
    assert paths[0] == "  x:A (First) subClassOf → x:Top ← subClassOf x:B (Second)"
    assert all("disjointWith" in row for row in paths[1:])
    assert "disjointWith says what nodes do not share: --only-predicate follows others." in ran.out
    following = next_of(ran)
    assert following[1:-2] == ["intersect", "x:A", "x:B", "-k", "1", "--only-predicate", "rdfs:subClassOf"]
    assert "disjointWith" not in at_terminal(*following[1:]).out
    assert "disjointWith" not in " ".join(next_of(at_terminal("describe", "x:A", "-g", classes)))


def test_the_next_intersection_keeps_what_was_asked_for(at_terminal: Run) -> None:
    given = [
        "--only-predicate",
        "directed",
        "--direction",
        "out",
        "--only-node-type",
        "Film",
        "--where",
        "name starts Z",
    ]
    following = next_of(at_terminal("intersect", "film:Alien", "film:Blade_Runner", *given, "-g", FILMS))
    assert following[1:-2] == ["intersect", "film:Alien", "film:Blade_Runner", "-k", "2", *given]
    lists = ["--only-predicate", '[["directed"], ["^directed"]]', "--where", "name starts Z"]
    following = next_of(at_terminal("intersect", "film:Alien", "film:Blade_Runner", *lists, "-g", FILMS))
    assert following[1:-2] == ["intersect", "film:Alien", "film:Blade_Runner", "-k", "2", *lists]


def test_edges_and_paths_name_what_their_ids_do_not_say(run: Run) -> None:
    out = run("intersect", "drug:warfarin", "drug:glibenclamide", "--via", "--text").out
    assert "  drug:warfarin ← METABOLIZES protein:CYP2C9 (cytochrome P450 2C9) METABOLIZES → drug:glibenclamide" in out
    assert "  drug:fluconazole INHIBITS → protein:CYP2C9 (cytochrome P450 2C9)  0.9 to 0.96" in out
    further = run("bfs", "drug:warfarin", "-k", "2", "--text").out.partition("Further edges\n")[2]
    assert "protein:CYP2C9 (cytochrome P450 2C9)" in further


def test_a_hostile_id_is_quoted_for_the_shell(at_terminal: Run, tmp_path: Path) -> None:
    graph = tmp_path / "it's.ttl"
    graph.write_text(
        '<http://example.org/a;$(touch%20x)\'b> <http://www.w3.org/2000/01/rdf-schema#label> "odd" ; '
        "<http://example.org/p> <http://example.org/c> ."
    )
    ran = at_terminal("search", "odd", "-g", graph)
    words = next_of(ran)
    assert words[2].endswith("a;$(touch%20x)'b>") or words[2].endswith("a;$(touch%20x)'b")
    assert at_terminal(*words[1:]).status == 0


HOSTILE = "red \\u001b[31m and \\u202ereversed"
EXPORTS = [
    *(["bfs", "<http://example.org/a>", "--format", name] for name, each in FORMATS.items() if each.is_text),
    ["bfs", "<http://example.org/a>", "--value", "<http://example.org/p>", "--format", "csv"],
    ["list", "<http://example.org/T>", "--value", "<http://example.org/p>", "--format", "csv"],
    *(["sparql", "CONSTRUCT WHERE { ?s ?p ?o }", "--format", name] for name in ("turtle", "ntriples")),
    *(["sparql", "SELECT * { ?s ?p ?o }", "--format", name] for name in ("csv", "tsv", "json")),
]


@pytest.mark.parametrize("argv", EXPORTS, ids=lambda argv: f"{argv[0]} {argv[-1]}{'' if len(argv) < 5 else ' values'}")
def test_no_format_shows_what_a_terminal_obeys_and_a_pipe_gets_the_bytes_as_they_are(
    at_terminal: Run, run: Run, tmp_path: Path, argv: list[str]
) -> None:
    graph = tmp_path / "hostile.ttl"
    graph.write_text(
        f'<http://example.org/a> a <http://example.org/T> ; <http://www.w3.org/2000/01/rdf-schema#label> "{HOSTILE}" ; '
        f'<http://example.org/p> "{HOSTILE}" ; <http://example.org/q> <http://example.org/b> .'
        f'<http://example.org/b> <http://example.org/p> "{HOSTILE}" .'
    )
    ran = at_terminal(*argv, "--graph", graph)
    assert ran.status == 0
    assert "reversed" in ran.out
    assert not {"\x1b", "\u202e", "\r"} & {*ran.out.replace("\r\n", "\n")}
    if {"csv", "turtle"} & {*argv}:
        assert "\u202e" in {*run(*argv, "--graph", graph).out}


@pytest.mark.parametrize("columns", [40, 60, 100])
def test_trees_edges_and_paths_are_wrapped_between_words(
    at_terminal: Run, monkeypatch: pytest.MonkeyPatch, columns: int
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    # A dumb terminal has 80 columns, whatever it says.
    monkeypatch.setenv("TERM", "xterm")
    for argv in (["bfs", "drug:warfarin", "-k", "2"], ["intersect", "drug:warfarin", "drug:aspirin", "-k", "2"]):
        lines = re.sub(r"\x1b\[[0-9;]*m", "", at_terminal(*argv, "--profile", "demo").out).splitlines()
        assert lines
        for line in lines:
            # One word with what stands before it may be longer than a line: an ID is not broken.
            assert len(line) <= columns or len(line.split()) <= 4 or line.startswith(("│", "├", "└", " ")), line
    wide = at_terminal("bfs", "drug:warfarin", "--profile", "demo").out
    assert "drug:warfarin" in wide


def test_what_standard_error_says_is_wrapped_at_a_terminal_only() -> None:
    text = "Give https://example.org/a/long/path-with-hyphens and then another word of some length."
    assert streams.as_wide_as_it_is(text, None) == text
    assert streams.as_wide_as_it_is(text, 40).split("\n") == [
        "Give",
        "https://example.org/a/long/path-with-hyphens",
        "and then another word of some length.",
    ]


@pytest.mark.parametrize("command", [*COMMANDS, "list"])
def test_help_has_its_options_in_groups(run: Run, command: str) -> None:
    shown = run(command, "--help").out
    titles = [line.rstrip(":") for line in shown.splitlines() if line.endswith(":") and not line.startswith(" ")]
    assert "Graph" in titles
    assert len(titles) == len(set(titles)) >= 5
    assert set(titles) <= {*GROUPS.values(), "Options"}


def test_help_is_as_wide_as_the_terminal(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    widths = {}
    for columns in (60, 120, 300):
        monkeypatch.setenv("COLUMNS", str(columns))
        # The examples are not broken.
        widths[columns] = max(map(len, run("bfs", "--help").out.partition("Examples:")[0].splitlines()))
    assert 50 < widths[60] <= 60
    assert 110 < widths[120] <= 120
    assert 120 < widths[300] <= WIDEST


def test_help_names_every_format_and_one_letter_for_hops(run: Run) -> None:
    assert set(EXPORT_FORMATS) == set(FORMATS)
    for command in ("bfs", "intersect"):
        shown = " ".join(run(command, "--help").out.split())
        assert ", ".join(EXPORT_FORMATS[:-1]) in shown
        assert "-k, --hops N" in shown
