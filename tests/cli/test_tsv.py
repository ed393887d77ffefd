"""In a pipe, an answer is lines of tab-separated columns, and what it says beside them is on standard error."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.answers.models import EntitiesResult, SearchResult
from gateway.cli import tsv
from gateway.cli.main import main
from gateway.cli.streams import clean, line
from gateway.cli.subgraph import short_names
from gateway.escaping import without_formula
from tests.cli.conftest import Run
from tests.cli.test_main import process
from tests.cli.test_screen import shown
from tests.hostile import hidden_in

TITLES = {
    "schema": ["kind", "id", "label", "count"],
    "search": ["id", "type", "name", "match", "matched", "edges"],
    "bfs": [
        *("subject", "predicate", "object", "subject_name", "object_name", "subject_type", "object_type"),
        "confidence",
    ],
    "intersect": ["id", "type", "name", "paths"],
    "describe": ["id", "key", "value"],
}
QUESTIONS = {
    "schema": [],
    "search": ["insulin"],
    "bfs": ["drug:warfarin"],
    "intersect": ["drug:warfarin", "drug:aspirin", "-k", "2"],
    "describe": ["drug:warfarin", "drug:aspirin"],
}


def rows(out: str) -> list[list[str]]:
    assert out.endswith("\n")
    return [line.split("\t") for line in out[:-1].split("\n")]


def asked(run: Run, command: str, *more: str) -> dict[str, Any]:
    answer: dict[str, Any] = json.loads(run(command, *QUESTIONS[command], "--json", "--shape", "reference", *more).out)
    return answer


@pytest.mark.parametrize("command", QUESTIONS)
def test_every_line_has_the_columns_that_the_first_line_names(run: Run, command: str) -> None:
    ran = run(command, *QUESTIONS[command], "--tsv")
    assert ran.status == 0
    titles, *found = rows(ran.out)
    assert titles == TITLES[command]
    assert found
    assert {len(row) for row in found} == {len(titles)}


def test_the_rows_of_a_traversal_are_its_edges(run: Run) -> None:
    _, *found = rows(run("bfs", *QUESTIONS["bfs"], "--tsv").out)
    answer = asked(run, "bfs", "--max-tokens", "12000")
    assert [row[:3] for row in found] == [
        [edge["subject"], edge["predicate"], edge["object"]] for edge in answer["edges"]
    ]
    assert ["drug:warfarin", "m:TREATS", "disease:deep_vein_thrombosis", "warfarin", "deep vein thrombosis"] in [
        row[:5] for row in found
    ]


def test_the_rows_of_an_intersection_are_its_nodes(run: Run) -> None:
    _, *found = rows(run("intersect", *QUESTIONS["intersect"], "--tsv").out)
    assert [[row[0], row[1], row[3]] for row in found] == [
        [node["id"], node["entity_type"], " | ".join(" ".join(path) for path in node.get("via", ()))]
        for node in asked(run, "intersect")["nodes"]
    ]


def test_an_intersection_has_its_paths_in_the_pipe(run: Run) -> None:
    _, *found = rows(run("intersect", "drug:warfarin", "drug:glibenclamide", "--tsv").out)
    assert [
        "protein:CYP2C9",
        "m:Protein",
        "cytochrome P450 2C9",
        "protein:CYP2C9 m:METABOLIZES drug:warfarin | protein:CYP2C9 m:METABOLIZES drug:glibenclamide",
    ] in found
    assert run("intersect", "drug:warfarin", "drug:glibenclamide", "--tsv", "--no-via").out.count("METABOLIZES") == 0


def test_guesses_are_no_rows_but_stand_on_standard_error(run: Run) -> None:
    ran = run("search", "insluin", "--tsv")
    assert rows(ran.out) == [TITLES["search"]]
    assert "Nothing was found" in ran.err
    assert "protein:insulin" in ran.err


def test_standard_error_says_whether_it_is_complete_and_how_to_go_on(run: Run) -> None:
    assert run("bfs", "drug:warfarin", "--tsv").err.startswith(
        "1 hop around drug:warfarin: 16 nodes, 15 edges, complete."
    )
    assert "… 11 more nodes" in run("bfs", "drug:warfarin", "--limit", "5", "--tsv").err


def test_hostile_values_stay_in_their_columns(run: Run, hostile: Path) -> None:
    for command in (["schema"], ["search", "x"], ["bfs", "e:a"], ["describe", "e:a"]):
        out = run(*command, "--tsv", "-g", hostile, "--prefix", "e=http://example.org/").out
        titles, *found = rows(out)
        assert {len(row) for row in found} == {len(titles)}
        assert not {"\x1b", "\r", "\x9b", "\u202e"} & {*out}


@pytest.mark.process
def test_a_pipe_gets_columns() -> None:
    with process("search", "insulin", "-p", "demo") as started:
        out, err = started.communicate(timeout=60)
    assert out.decode().split("\n")[0].split("\t") == TITLES["search"]
    assert err == b"4 hits.\n"


def test_a_terminal_gets_what_people_read(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "dumb")
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    assert main(["search", "insulin"]) == 0
    assert capsys.readouterr().out.endswith("4 hits.\n")


def test_standard_error_says_that_a_search_or_a_description_is_not_complete() -> None:
    search = SearchResult.model_validate({"result": [], "complete": False})
    entities = EntitiesResult.model_validate({"result": [], "complete": False, "not_found": [], "failed": ["e:a"]})
    for answer, arguments in ((search, {"query": "x"}), (entities, {})):
        assert "Not complete" in shown(tsv.notes(answer, arguments))


HARMFUL = """@prefix e: <http://e.org/> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
e:a e:p e:b ; e:score -5 ; e:note "@x", "-1+1" ; rdfs:label "=1+1" .
e:b e:p e:a ; rdfs:label "\\"=2+2\\"" .
"""


@pytest.mark.parametrize("command", [["search", "1"], ["bfs", "e:a"], ["bfs", "e:a", "--all"], ["describe", "e:a"]])
def test_columns_are_guarded_against_formulas_where_that_is_asked_for(
    run: Run, tmp_path: Path, command: list[str]
) -> None:
    path = tmp_path / "graph.ttl"
    path.write_text(HARMFUL)
    plain = rows(run(*command, "--tsv", "-g", path).out)
    guarded = rows(run(*command, "--tsv", "--guard-formulas", "-g", path).out)
    assert [[without_formula(cell) for cell in row] for row in plain] == guarded
    assert any(cell.startswith(("=", '"=')) for row in plain for cell in row)
    assert not any(cell.lstrip('"').startswith(("=", "@")) for row in guarded for cell in row)
    if command[0] == "describe":
        assert {"-5", "'-1+1", "'@x", "'=1+1"} <= {row[2] for row in guarded}


@pytest.mark.parametrize(
    ("more", "problem"),
    [
        (["--json"], "for columns and CSV"),
        (["--text"], "for columns and CSV"),
        (["--format", "turtle"], "turtle has no cells"),
        (["--out", "x.graphml"], "graphml has no cells"),
    ],
)
def test_what_has_no_cells_is_not_guarded(run: Run, more: list[str], problem: str) -> None:
    ran = run("bfs", "drug:warfarin", "--guard-formulas", *more)
    assert (ran.status, ran.out, problem in ran.err) == (2, "", True)


def test_csv_on_standard_output_is_guarded_too(tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    path = tmp_path / "graph.ttl"
    path.write_text(HARMFUL)
    assert main(["bfs", "e:a", "-g", str(path), "--format", "csv", "--guard-formulas"]) == 0
    assert b'"\'=1+1"' in capfdbinary.readouterr().out


def test_a_value_is_on_one_line_and_can_be_read_back() -> None:
    assert clean("a  b\n\x1b[1m\x9b\u202e\ud800\U000e0041 \\x1b") == (
        r"a  b\n\u001b[1m\u009b\u202e\ud800\U000e0041 \\x1b"
    )


def test_a_sentence_is_on_one_line_and_its_backslashes_stay() -> None:
    assert line(" a\r\n b\t\tc\u2028d\x85e  \x1b f\\n ") == r"a b c d e  \u001b f\n"


@given(st.text())
def test_no_sentence_holds_anything_that_a_terminal_obeys(text: str) -> None:
    assert hidden_in(line(text)) == []


def test_a_short_name_is_what_follows_the_last_separator() -> None:
    terms = ("m:TREATS", ":a", "http://e/x#y", "<http://e/x/>", "untyped", ":")
    assert short_names(terms, None) == {
        "m:TREATS": "TREATS",
        ":a": "a",
        "http://e/x#y": "y",
        "<http://e/x/>": "x",
        "untyped": "untyped",
        ":": ":",
    }


def test_names_are_short_where_that_is_clear() -> None:
    assert short_names(["a:x", "b:x", "a:y", "wd:Q5", "wd:Q6"], {"wd:Q5": "human", "wd:Q6": "y\x1b"}) == {
        "a:x": "a:x",
        "b:x": "b:x",
        "a:y": "y",
        "wd:Q5": "human",
        "wd:Q6": r"y\u001b",
    }


@pytest.mark.parametrize("is_table", [True, False])
def test_a_class_says_by_which_command_its_instances_are_listed(run: Run, tmp_path: Path, *, is_table: bool) -> None:
    graph = tmp_path / "places.ttl"
    graph.write_text(
        "@prefix x: <https://example.org/x/> . @prefix owl: <http://www.w3.org/2002/07/owl#> .\n"
        "x:Place a owl:Class . x:a a x:Place . x:b a x:Place .",
        encoding="utf-8",
    )
    said = run("describe", "x:Place", "--graph", graph, *(["--text"] if is_table else [])).out
    assert "2: bfsql-gateway list x:Place" in said
    assert "search_entities" not in said
