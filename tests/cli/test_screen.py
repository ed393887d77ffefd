"""Answers on a screen: whole IDs however narrow it is, the pager, hidden text, and what a call cost."""

import asyncio
import json
import os
import re
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.console import Console, RenderableType

from gateway import messages
from gateway.answers.models import EntitiesResult, Entity, SchemaBasis, SchemaResult, SearchResult
from gateway.cli import render
from gateway.cli.own_words import own_words
from gateway.cli.screen import ID, TYPE, IdTable, KeyValues, ProgressBar
from tests.cli.conftest import FIXTURES, Run
from tests.cli.test_main import ASKING, only_error
from tests.hostile import ABSENT, EXAMPLE, IN_IRIS, IN_LITERALS, NAME, A, B, hidden_in, write_hidden_graph
from tests.servers.loopback import free_port


def report_progress(*, quiet: bool) -> None:
    with ProgressBar(quiet=quiet) as bar:
        bar.show_load(Path("far/[red]big\x1b.nt"), 50, 100)
        asyncio.run(bar.show_call(1, 3, "hop 1 of 2: 16 nodes"))


def test_a_person_sees_how_far_it_is(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "100")
    report_progress(quiet=False)
    out, err = capsys.readouterr()
    assert out == ""
    assert "Loading [red]big\\u001b.nt" in err
    assert "50%" in err
    assert "hop 1 of 2: 16 nodes" in err


def test_a_person_sees_the_time_left_at_the_speed_so_far(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "80")
    now = [0.0]
    with ProgressBar(quiet=False, clock=lambda: now[0]) as bar:
        for seconds, read in ((0.0, 0), (10.0, 25), (20.0, 50)):
            now[0] = seconds
            bar.show_load(Path("big.nt"), read, 100)
    assert "left: 00:20" in " ".join(re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", capsys.readouterr().err).split())


def test_what_nobody_knows_the_end_of_is_shown_with_the_time_it_takes(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "80")
    now = [0.0]
    with ProgressBar("Checking there", quiet=False, clock=lambda: now[0]) as bar:
        bar.show_waiting()
        now[0] = 12.0
        bar.show_next("Reading [what]")
    shown = plain(capsys.readouterr().err)
    assert "Checking there" in shown
    assert "Reading [what]" in shown
    assert "for 12 s" in shown
    with ProgressBar("Checking there", quiet=False) as bar:
        asyncio.run(bar.show_call(2, 4, "hop 1"))
        bar.show_waiting()
    bar.show_waiting()
    shown = plain(capsys.readouterr().err)
    assert "hop 1" in shown
    assert "50% left" in shown
    assert "Checking" not in shown


def plain(written: str) -> str:
    return " ".join(re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", written).split())


def test_a_bar_goes_on_beside_an_answer_that_goes_to_a_file_and_not_to_a_terminal_or_a_pipe(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    monkeypatch.setenv("TERM", "xterm")
    reading, writing = os.pipe()
    with (
        os.fdopen(reading),
        os.fdopen(writing, "w") as pipe,
        (tmp_path / "answer.tsv").open("w") as file,
        Path(os.devnull).open("w") as device,
    ):
        for output in (pipe, file, device, None):
            with monkeypatch.context() as patched:
                patched.setattr(sys, "stdout", output)
                with ProgressBar(quiet=False) as bar:
                    bar.stop_for_output()
                    asyncio.run(bar.show_call(500, 1_000, "500 of 1,000 nodes"))
            assert ("500 of 1,000 nodes" in capsys.readouterr().err) is (output is file)


@pytest.mark.parametrize(("quiet", "terminal"), [(True, True), (False, False)])
def test_a_pipe_and_a_program_see_nothing(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, quiet: bool, terminal: bool
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setattr(sys.stderr, "isatty", lambda: terminal)
    report_progress(quiet=quiet)
    assert capsys.readouterr() == ("", "")


LONG_NAMESPACE = "http://example.org/a/long/way/that/goes/on/and/on"
LONG = [f"{LONG_NAMESPACE}/{'x' * length}/{letter}" for length, letter in ((20, "a"), (60, "b"), (200, "c"))]
TYPE_IRI = f"{LONG_NAMESPACE}/Type/{'y' * 40}"
PREDICATE = f"{LONG_NAMESPACE}/predicate/{'z' * 40}"
LONG_COMMANDS = [
    ["schema"],
    ["search", "name"],
    ["bfs", LONG[0], "--hops", "2"],
    ["describe", LONG[0]],
    ["describe", *LONG],
    ["intersect", *LONG[:2], "--via"],
]
EXPECTED = [[TYPE_IRI, PREDICATE], LONG, LONG, [LONG[0], LONG[1], f"{LONG_NAMESPACE}/seeAlso"], LONG, LONG]


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
            f'<{node}> <{LONG_NAMESPACE}/seeAlso> "{other}"^^<http://www.w3.org/2001/XMLSchema#anyURI> .',
        ]
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


def whole_iris(graph: Path) -> Path:
    """Write a profile with which IDs are as long as they can be."""
    profile = graph.with_name("whole.toml")
    profile.write_text('extends = "local"\n[size]\ncoined_prefixes = false\n', encoding="utf-8")
    return profile


@pytest.mark.parametrize(("argv", "ids"), list(zip(LONG_COMMANDS, EXPECTED, strict=True)))
def test_nothing_is_folded_in_a_pipe(run: Run, graph: Path, argv: Sequence[str], ids: Sequence[str]) -> None:
    profile = whole_iris(graph)
    out = run(*argv, "-g", graph, "-p", profile).out
    for one in ids:
        assert one in out
    assert all(line == line.rstrip() for line in out.splitlines())
    if argv[0] == "search":
        # The heads, the rule, three hits, a blank line and the summary.
        assert len(out.splitlines()) == 7


@pytest.mark.parametrize("columns", [80, 120])
@pytest.mark.parametrize(("argv", "ids"), list(zip(LONG_COMMANDS, EXPECTED, strict=True)))
def test_no_id_is_broken_at_a_terminal(
    run: Run, graph: Path, columns: int, argv: Sequence[str], ids: Sequence[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", str(columns))
    monkeypatch.setenv("TERM", "xterm")
    out = re.sub(r"\x1b\[[0-9;]*m", "", run(*argv, "-g", graph, "-p", whole_iris(graph)).out)
    for one in ids:
        assert one in out
    for line in out.splitlines():
        # Only a tree, or an ID that is longer than a line, goes on where the terminal breaks it.
        assert len(line) <= columns or LONG_NAMESPACE in line, line


def shown_within(part: RenderableType, width: int) -> str:
    console = Console(width=width, color_system=None, highlight=False, markup=False, emoji=False)
    with console.capture() as captured:
        console.print(part, crop=False)
    return captured.get()


WORDS = st.text("abc東é", min_size=1, max_size=60)


@given(st.lists(st.tuples(WORDS, st.lists(WORDS).map(" ".join)), min_size=1, max_size=5), st.integers(20, 200))
def test_a_table_breaks_no_word_of_usual_length_and_is_as_wide_as_it_may_be(
    rows: list[tuple[str, str]], width: int
) -> None:
    lines = shown_within(IdTable([("ID", ID), ("Name", "")], rows), width).splitlines()
    for _, name in rows:
        for word in name.split(" "):
            assert cell_len(word) > 40 or any(word in line for line in lines)
    is_table = any(line.startswith("─") for line in lines)
    assert not is_table or max(map(cell_len, lines)) <= width


@given(st.lists(st.tuples(WORDS, WORDS, st.lists(WORDS).map(" ".join)), min_size=1, max_size=5), st.integers(20, 200))
def test_a_table_of_any_width_has_every_id_whole(rows: list[tuple[str, str, str]], width: int) -> None:
    lines = shown_within(IdTable([("ID", ID), ("Type", TYPE), ("Name", "")], rows), width).splitlines()
    for identifier, kind, _ in rows:
        assert any(identifier in line for line in lines)
        assert any(kind in line for line in lines)


@given(st.lists(st.tuples(WORDS, st.lists(st.lists(WORDS, min_size=1).map(" ".join))), min_size=1), st.integers(20, 99))
def test_keys_and_values_of_any_width_have_every_word_whole(rows: list[tuple[str, list[str]]], width: int) -> None:
    shown_words = shown_within(KeyValues(rows, indent=2), width).split()
    assert sorted(shown_words) == sorted(word for key, lines in rows for word in [key, *" ".join(lines).split()])


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


SLICE = ["-g", str(FIXTURES / "wikidata-slice.ttl"), "-p", "wikidata-local"]


def shown(part: RenderableType) -> str:
    console = Console(width=80, color_system=None, highlight=False, markup=False, emoji=False)
    with console.capture() as captured:
        console.print(part, crop=False)
    return captured.get()


def test_cells_of_a_row_that_fits_no_table_stand_beside_each_other_where_they_fit() -> None:
    long = "a text of many words that goes on and on until it is longer than the line"
    table = IdTable(
        [("ID", ID), ("One", ""), ("Two", ""), ("Three", ""), ("Four", "")],
        [("x:" + "i" * 60, "1", "2", long, "4")],
        is_titled=True,
    )
    assert shown(table).splitlines() == [
        "x:" + "i" * 60,
        "  One: 1  Two: 2",
        "  Three: a text of many words that goes on and on until it is longer than the",
        "    line",
        "  Four: 4",
    ]
    untitled = IdTable([("ID", ID), ("Name", ""), ("Edges", "")], [("x:" + "i" * 79, "a", "3")], numeric={2})
    assert shown(untitled).splitlines()[1:] == ["  a  Edges: 3"]


def rows(out: str) -> list[list[str]]:
    return [line.split() for line in out.splitlines()]


def test_the_schema_counts_types_and_predicates(run: Run) -> None:
    out = run("schema").out
    assert ["m:Disease", "16"] in rows(out)
    assert ["m:TREATS", "31"] in rows(out)
    assert "Next steps" in out


def test_the_schema_of_opaque_ids_has_labels(run: Run) -> None:
    out = run("schema", *SLICE).out
    assert ["wd:Q5", "human", "6"] in rows(out)
    assert ["wdt:P19", "place", "of", "birth", "4"] in rows(out)


def test_a_schema_that_is_cut_or_not_whole_says_so() -> None:
    answer = SchemaResult(
        graph_description="A graph.",
        complete=False,
        comprehensive=False,
        entity_types=["e:T"],
        predicates=[],
        entity_types_total=1201,
        predicates_total=0,
        counts={"e:T": 1234},
        names=[],
        basis=SchemaBasis(methods=["enumerated"]),
        prefixes={},
        schema_version="1",
        warnings=["The lists are not complete: the time is over."],
        next_steps="Go on.",
        tool_usage_notes="",
    )
    out = shown(render.schema(answer))
    assert "1,234" in out
    assert "… 1,200 more types" in out
    assert "No predicates are known." in out
    assert "! The lists are not complete: the time is over." in out


def test_hits_are_a_table(run: Run) -> None:
    out = run("search", "CYP2C9").out
    assert ["ID", "Type", "Name", "Match", "Matched", "Edges"] in rows(out)
    assert ["gene:CYP2C9", "m:Gene", "CYP2C9", "label", "5"] in rows(out)
    assert ["protein:CYP2C9", "m:Protein", "cytochrome", "P450", "2C9", "alias", "CYP2C9", "7"] in rows(out)
    text = " ".join(out.split())
    assert text.endswith("3 hits.")


def test_several_names_are_each_searched(run: Run) -> None:
    ran = run("search", "coumadin", "insulin", "zebra", "", "--limit", "1")
    text = " ".join(ran.out.split())
    for query, found in (("coumadin", "1 hit."), ("insulin", "4 hits."), ("zebra", "Nothing was found for “zebra”.")):
        assert text.index(f"“{query}”") < text.index(found)
    assert "QUERY has no letter, digit or symbol: ''. It was left out." in text
    lines = [
        line.split("\t") for line in run("search", "coumadin", "insulin", "--limit", "1", "--tsv").out.splitlines()
    ]
    assert [line[:2] for line in lines] == [["query", "id"], ["coumadin", "drug:warfarin"], ["insulin", "drug:insulin"]]


def test_hits_that_are_not_shown_are_counted(run: Run) -> None:
    assert "… 3 more: add words to the query, or raise --limit." in run("search", "insulin", "--limit", "1").out


def test_a_search_without_hits_says_what_to_try(run: Run) -> None:
    ran = run("search", "zebra")
    assert ran.status == 0
    text = " ".join(ran.out.split())
    advice = own_words(messages.NOTHING_NEAR)
    assert '--node-type and --where "any = ..."' in advice
    assert text == f"Nothing was found for “zebra”. No name has the word 'zebra'. {advice}"


def test_guesses_are_a_table_below_the_statement_that_nothing_was_found(run: Run) -> None:
    out = run("search", "warfrin").out
    assert out.startswith("Nothing was found for “warfrin”.")
    assert ["drug:warfarin", "m:Drug", "warfarin", "similar", "15"] in rows(out)
    assert "No name fits; guesses have some of the words, or are spelt alike." in " ".join(out.split())


@pytest.mark.parametrize("result", [[], [{"id": "e:a", "entity_type": "e:T", "match": "label"}]])
def test_a_search_that_was_cut_says_so(result: list[dict[str, str]]) -> None:
    answer = SearchResult.model_validate(
        {
            "result": result,
            "complete": False,
            "searched": {"how": "h", "truncated": True, "exhaustive": False},
            "warnings": ["Careful."],
        }
    )
    out = shown(render.search(answer, "x"))
    assert "! There are more matches than could be read" in out
    assert "! Not every name was compared" in out
    assert "! Careful." in out


def test_an_entity_is_a_table_of_keys_and_values(run: Run) -> None:
    out = run("describe", "drug:warfarin").out
    assert out.startswith("drug:warfarin  [m:Drug]\n")
    assert ["iri", "https://example.org/medical/drug/warfarin"] in rows(out)
    assert ["synonyms", "Coumadin"] in rows(out)
    assert ["total_mentions", "39"] in rows(out)


def test_lists_and_nested_values_are_readable() -> None:
    answer = Entity.model_validate(
        {
            "id": "e:a",
            "entity_type": "e:T",
            "complete": True,
            "iri": "http://e/a",
            "synonyms": ["one", "two"],
            "e:texts": ["Smith, Ann", "Jones, Bob"],
            "e:open": True,
            "e:none": [],
            "e:part": {"e:inner": {"e:deep": [1, 2]}, "e:empty": {}},
            "e:parts": [{"e:n": 1, "e:m": 2}, "x"],
        }
    )
    lines = [line.rstrip() for line in shown(render.entity(answer)).splitlines()]
    assert lines == [
        "e:a  [e:T]",
        "  iri       http://e/a",
        "  synonyms  one, two",
        "  e:texts   - Smith, Ann",
        "            - Jones, Bob",
        "  e:open    yes",
        "  e:none",
        "  e:part    e:inner: e:deep: 1, 2",
        "            e:empty:",
        "  e:parts   - e:n: 1",
        "              e:m: 2",
        "            - x",
    ]


def test_several_entities_are_shown_with_those_that_are_missing(run: Run) -> None:
    out = run("describe", "drug:warfarin", "drug:nothing", "drug:aspirin").out
    assert out.index("drug:warfarin  [m:Drug]") < out.index("drug:aspirin  [m:Drug]")
    assert "! Not in the graph: drug:nothing" in out


def test_everything_that_a_description_leaves_out_is_reported() -> None:
    answer = EntitiesResult(
        result=[],
        complete=False,
        not_found=["e:a"],
        failed=["e:b"],
        degraded={"values_shortened": 2, "something_new": 1},
        remaining_ids=["e:c", "e:d"],
    )
    assert shown(render.entities(answer)).splitlines() == [
        "! Not complete: what is missing here may still be in the graph.",
        "! Not in the graph: e:a",
        "! Failed, try again: e:b",
        "! Did not fit, describe separately: e:c, e:d",
        "! Shortened to limit the size of the answer: 2 values (long texts and lists).",
        "! something_new: 1",
    ]


@pytest.mark.parametrize(
    "argv",
    [["search", "second"], ["describe", "e:a"], ["describe", "e:a", "e:b"], ["bfs", "e:a"], ["intersect", "e:a", "e:b"],
     ["schema"]],
)  # fmt: skip
@pytest.mark.parametrize("colour", [False, True])
def test_text_from_a_graph_is_harmless(
    run: Run, hostile: Path, argv: list[str], colour: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if colour:
        monkeypatch.setenv("FORCE_COLOR", "1")
    out = run(*argv, "-g", hostile).out
    for control in ("\x1b[31m", "\x1b[2J", "\x1b[3J", "\x1b]", "\x9b", "\x07", "\u202e"):
        assert control not in out
    if argv[0] != "schema":
        assert r"[red]x[/red] \u001b[31mESC second\u009b1m \u202eback [/]" in out


def test_markup_and_emoji_in_a_description_are_shown_as_they_are(run: Run, hostile: Path, tmp_path: Path) -> None:
    profile = tmp_path / "nested.toml"
    profile.write_text('[nodes]\nblank = "off"\n')
    out = run("describe", "e:a", "e:b", "-g", hostile, "--profile", profile).out
    for literal in (
        r"[link=http://x]y[/link] \u001b]0;title\u0007",
        "[bold]one[/bold]",
        r"\u001b[2Jtwo",
        r"\u001b[3Jdeep",
        ":smile:",
    ):
        assert literal in out


HIDDEN_COMMANDS: Sequence[Sequence[str]] = [
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
    ["describe", f"{EXAMPLE}start{IN_IRIS}"],
    ["bfs", A, f"--option{IN_LITERALS}"],
    ["bfs", A, "--hops", IN_LITERALS],
    [f"command{IN_LITERALS}"],
    ["schema", "--prefix", IN_LITERALS],
    ["schema", "--profile", IN_LITERALS],
]


@pytest.mark.slow
@pytest.mark.parametrize("argv", HIDDEN_COMMANDS)
def test_no_line_of_a_command_has_a_hidden_character(run: Run, tmp_path: Path, argv: Sequence[str]) -> None:
    graph = write_hidden_graph(tmp_path)
    own = [] if argv[0].startswith("command") else ["-g", str(graph)]
    for more in ([], ["--json"], ["-vv"] if argv[0] == "check" else ["--explain", "-vv"]):
        ran = run(*argv, *own, *more)
        assert set(hidden_in(ran.out + ran.err)) <= {"\n"}
        if more == ["--json"] and ran.status == 0:
            assert ran.out.count("\n") == 1
            json.loads(ran.out)


TITLE = re.compile(r"^(\d+)\. (\S+)  ([\d,]+) rows?, ([\d,]+) bytes?, [\d.,]+ ms", re.MULTILINE)


@pytest.mark.parametrize("argv", ASKING)
def test_what_an_answer_cost_comes_after_the_answer(run: Run, argv: list[str]) -> None:
    ran = run(*argv, "--explain")
    assert (ran.status, ran.err) == (0, "")
    answer, _, rest = ran.out.partition("\nAsked ")
    assert answer == run(*argv).out
    queries = int(rest.split()[0])
    assert [int(place) for place, *_ in TITLE.findall(rest)] == list(range(1, queries + 1))
    assert rest.count("\nSELECT ") == queries


@pytest.mark.parametrize("argv", ASKING)
def test_in_json_it_is_a_key_of_the_answer_and_the_only_difference(run: Run, argv: list[str]) -> None:
    explained = json.loads(run(*argv, "--explain", "--json").out)
    explain = explained.pop("explain")
    assert explained == json.loads(run(*argv, "--json").out)
    assert explain["queries"] == len(explain["sent"]) + explain.get("sent_left_out", 0) > 0
    assert {"total", "waiting", "own"} <= explain["ms"].keys()


def test_the_sparql_at_a_terminal_is_that_of_the_json_line_by_line(run: Run) -> None:
    sent = json.loads(run("search", "insulin", "--explain", "--json").out)["explain"]["sent"]
    shown = run("search", "insulin", "--explain").out
    for query in sent:
        assert query["sparql"] in shown


def test_a_call_that_fails_is_explained_before_its_error(run: Run) -> None:
    ran = run("describe", "urn:a:b", "--explain", "--endpoint", f"http://127.0.0.1:{free_port()}/sparql")
    assert ran.status == 2
    assert only_error(ran.err)
    assert "of them retries" in ran.out
    assert "NetworkFault" in ran.out


def test_in_json_a_call_that_fails_prints_nothing_but_its_error(run: Run) -> None:
    ran = run("describe", "drug:nothing", "--explain", "--json")
    assert (ran.status, ran.out) == (2, "")
    assert "no entity" in only_error(ran.err)


def test_one_v_logs_one_line_for_a_call(run: Run) -> None:
    ran = run("search", "insulin", "-v")
    (line,) = ran.err.splitlines()
    assert re.match(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[+-]\d{4} info: tool=search_entities outcome=complete ", line)
    assert "insulin" not in line


def test_what_a_graph_or_a_caller_says_cannot_write_an_escape(run: Run) -> None:
    ran = run("search", "\x1b[31mwarfarin", "--explain")
    assert ran.status == 0
    assert "\x1b" not in ran.out
