"""Values at the command line: conditions, columns and an order, as a table, as columns and as CSV."""

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest

from gateway.answers.models import BfsResult, SearchResult
from gateway.cli import render, subgraph, tsv
from gateway.escaping import without_formula
from tests.cli.conftest import Run
from tests.cli.test_screen import shown, shown_within

BY_MENTIONS = ("--sort-by", "-totalMentions")


@pytest.fixture
def parts(tmp_path: Path) -> Path:
    """250 parts, of which ten have the same weight."""
    path = tmp_path / "parts.ttl"
    lines = [f'e:p{n:03} a e:Part ; rdfs:label "part {n:03}" ; e:weight {n // 10} .' for n in range(250)]
    path.write_text(
        "@prefix e: <http://e.org/> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .\n" + "\n".join(lines)
    )
    return path


def columns(out: str) -> list[list[str]]:
    return [line.split("\t") for line in out.removesuffix("\n").split("\n")]


def written(run: Run, *argv: str) -> dict[str, Any]:
    answer: dict[str, Any] = json.loads(run(*argv, "--json", "--shape", "reference").out)
    return answer


def test_a_list_is_a_table_in_the_order_asked_for_that_says_how_to_go_on(run: Run) -> None:
    out = run("list", "Drug", *BY_MENTIONS, "--limit", "3").out
    assert out == (
        "ID               Name        m:totalMentions\n"
        "────────────────────────────────────────────\n"
        "drug:metformin   metformin                48\n"
        "drug:insulin     insulin                  41\n"
        "drug:warfarin    warfarin                 39\n"
        "\n"
        "16 entities found, complete.\n"
        "Rows 1 to 3 of 16.\n"
        "! 13 rows more not shown here: --all shows all, --offset 3 shows the next.\n"
    )
    assert "drug:aspirin" in run("list", "Drug", *BY_MENTIONS, "--limit", "3", "--offset", "3").out.splitlines()[2]


def test_a_list_that_may_lack_entities_says_that_it_is_not_complete(run: Run, tmp_path: Path) -> None:
    graph = tmp_path / "broken.nt"
    graph.write_text("<http://example.org/a> <http://example.org/p> <http://example.org/b> .\nbroken\n")
    out = run("list", "untyped", "-g", graph, "--lenient").out
    assert " found, not complete.\n" in out
    assert "Not complete: what is missing here may still be in the graph." in out


def test_a_list_without_values_has_all_names(run: Run, parts: Path) -> None:
    out = run("list", "Part", "-g", parts).out
    assert out.splitlines()[2].endswith(" part 000")
    told = "! 150 rows more not shown here: --all shows all, --offset 100 shows the next."
    assert told in out
    # A program, too, must not take a page for all.
    for options in (["--json"], ["--tsv"]):
        assert run("list", "Part", "-g", parts, *options).err.splitlines()[-1] == told


def test_a_list_of_a_terminal_is_what_a_model_gets(run: Run) -> None:
    asked = ("--value", "totalMentions", "--where", "totalMentions > 20")
    answer = written(run, "list", "Drug", *asked)
    _, *found = columns(run("list", "Drug", *asked, "--tsv").out)
    assert found == [[*row[0].split(" ", 1), str(row[1])] for row in answer["rows"]]
    assert answer["where"] == ["totalMentions > 20 (number)"]


def test_conditions_are_told_as_they_were_taken_even_where_nothing_fulfils_them(run: Run) -> None:
    conditions = ("--where", "totalMentions > 900", "--where", "type = Drug")
    out = run("list", "Drug", *conditions).out
    assert out.startswith("Nothing was found, complete.\nConditions: totalMentions > 900 (number); type = m:Drug.\n")
    for ran in (run("list", "Drug", *conditions, "--tsv"), run("list", "Drug", *conditions, "--format", "csv")):
        assert ran.out.split() == ["id", "name"] or ran.out == "id,name\r\n"
        assert "totalMentions > 900 (number)" in ran.err


@pytest.mark.parametrize(
    ("show", "expected"),
    [
        ("both", [["id", "name", "m:INTERACTS_WITH"], ["drug:aspirin", "aspirin", "drug:ibuprofen ibuprofen"]]),
        ("id", [["id", "m:INTERACTS_WITH"], ["drug:aspirin", "drug:ibuprofen"]]),
        ("name", [["name", "m:INTERACTS_WITH"], ["aspirin", "ibuprofen"]]),
    ],
)
def test_nodes_stand_in_columns_as_is_asked_for(run: Run, show: str, expected: list[list[str]]) -> None:
    asked = ("list", "Drug", "--value", "INTERACTS_WITH", "--where", "name = aspirin", "--show", show)
    assert columns(run(*asked, "--tsv").out) == expected
    assert [*csv.reader(io.StringIO(run(*asked, "--format", "csv").out))] == expected
    title = expected[0][0]
    assert run(*asked).out.startswith(title.upper() if title == "id" else title.capitalize())


def test_several_values_have_commas_between_and_in_csv_are_json(run: Run) -> None:
    asked = ("list", "Drug", "--value", "INTERACTS_WITH", "--where", "name = warfarin", "--show", "id")
    listed = ["drug:amiodarone", "drug:aspirin", "drug:fluconazole", "drug:ibuprofen", "drug:vitamin_k"]
    assert columns(run(*asked, "--tsv").out)[1] == ["drug:warfarin", ", ".join(listed)]
    *_, (_, cell) = csv.reader(io.StringIO(run(*asked, "--format", "csv").out))
    assert json.loads(cell) == listed


def test_all_of_a_list_is_printed_page_after_page_under_one_line_of_titles(run: Run, parts: Path) -> None:
    ran = run("list", "Part", "--sort-by", "-weight", "--all", "--tsv", "-g", parts)
    titles, *found = columns(ran.out)
    assert titles == ["id", "name", "<http://e.org/weight>"] or titles[2].endswith("weight")
    assert [int(row[2]) for row in found] == sorted((n // 10 for n in range(250)), reverse=True)
    assert len({row[0] for row in found}) == 250
    assert ran.err == "250 rows, complete.\n"
    assert run("list", "Part", "--all", "-g", parts).out.count("part 1") == 100


def test_csv_with_a_limit_has_the_first_so_many_and_says_what_the_last_one_ties_with(
    run: Run, parts: Path, tmp_path: Path
) -> None:
    out = tmp_path / "heaviest.csv"
    ran = run("list", "Part", "--sort-by", "-weight", "--limit", "104", "--out", out, "-g", parts)
    assert (ran.status, ran.out) == (0, "")
    assert len(out.read_text().splitlines()) == 105
    assert ran.err.splitlines() == [
        f"Wrote 104 rows of 250, complete, to {out}.",
        "6 more nodes with the value of the last row.",
    ]
    assert run("list", "Part", "--out", out, "--quiet", "-g", parts).err == ""
    assert "cannot be written" in run("list", "Part", "--out", tmp_path / "none" / "x.csv", "-g", parts).err


@pytest.mark.parametrize("command", [["bfs", "drug:warfarin"], ["intersect", "drug:warfarin", "drug:aspirin"]])
def test_csv_of_a_traversal_is_its_table_where_values_are_asked_for(run: Run, command: list[str]) -> None:
    answer = written(run, *command, *BY_MENTIONS, "--max-tokens", "12000")
    ran = run(*command, *BY_MENTIONS, "--format", "csv")
    titles, *found = csv.reader(io.StringIO(ran.out))
    assert titles == ["id", "name", "m:totalMentions"]
    assert [[f"{name_id} {name}", int(value)] for name_id, name, value in found] == answer["rows"]
    assert "csv leaves out the edges where values are asked for" in ran.err
    first = run(*command, *BY_MENTIONS, "--limit", "2", "--no-edges", "--format", "csv")
    assert [*csv.reader(io.StringIO(first.out))] == [titles, *found[:2]]
    assert "edges" not in first.err
    assert "subject,subject_name" in run(*command, "--where", "totalMentions > 1", "--format", "csv").out


@pytest.mark.parametrize("command", [["bfs", "drug:warfarin"], ["intersect", "drug:warfarin", "drug:aspirin"]])
def test_a_traversal_with_values_is_a_table_with_its_edges_below(run: Run, command: list[str]) -> None:
    out = run(*command, *BY_MENTIONS, "--limit", "2").out
    assert "effect:bleeding   bleeding" in out
    assert "Edges\n" in out
    assert "drug:warfarin CAUSES → effect:bleeding" in out
    assert "Rows 1 to 2 of " in out
    go_on = out.partition("Next page: ")[2].split("\n")[0].split()
    assert "Rows 3 to " in run(*command, *BY_MENTIONS, "--limit", "2", *go_on).out
    beyond = run(*command, *BY_MENTIONS, "--offset", "90").out
    assert "--offset 90 is beyond the last row" in beyond
    without = run(*command, *BY_MENTIONS, "--no-edges").out
    assert "→" not in without
    assert "Predicates" not in without


@pytest.mark.parametrize("command", [["bfs", "drug:warfarin"], ["intersect", "drug:warfarin", "drug:aspirin"]])
def test_columns_of_a_traversal_are_its_rows_and_standard_error_says_that_edges_are_not_there(
    run: Run, command: list[str]
) -> None:
    ran = run(*command, *BY_MENTIONS, "--tsv")
    titles, *found = columns(ran.out)
    assert titles == ["id", "name", "m:totalMentions"]
    assert [int(row[2]) for row in found] == sorted((int(row[2]) for row in found), reverse=True)
    assert "edges not in the columns: --text and --json show edges." in ran.err
    assert "not in the columns" not in run(*command, *BY_MENTIONS, "--no-edges", "--tsv").err
    every = run(*command, *BY_MENTIONS, "--all", "--tsv")
    assert columns(every.out) == [titles, *found]
    assert all(row[0] in run(*command, *BY_MENTIONS, "--all").out for row in found)


def test_a_search_with_values_is_a_table_too(run: Run) -> None:
    out = run("search", "insulin", "--value", "type").out
    assert out.splitlines()[2].split() == ["drug:insulin", "insulin", "m:Drug"]
    assert out.endswith("4 entities found, complete.\n")


def test_where_a_table_does_not_fit_each_value_has_its_title() -> None:
    titles = [f"e:a-long-title-of-{number}" for number in range(9)]
    row = ["e:a a name", *range(8), None]
    answer = SearchResult.model_validate({**SEARCH, "columns": titles, "rows": [row], "complete": True})
    out = shown(render.search(answer, ""))
    assert out.startswith("e:a\n  Name: a name  e:a-long-title-of-0: 0  e:a-long-title-of-1: 1\n")
    assert "e:a-long-title-of-8" not in out
    assert all(len(line) <= 80 for line in out.splitlines())


def test_hostile_values_stay_in_their_cells(run: Run, hostile: Path) -> None:
    asked = ("list", "T", "--value", "note", "--value", "p", "-g", hostile, "--prefix", "e=http://example.org/")
    titles, *found = columns(run(*asked, "--tsv").out)
    assert {len(row) for row in found} == {len(titles)} == {4}
    for out in (run(*asked).out, run(*asked, "--tsv").out, run(*asked, "--all").out):
        assert not {"\x1b", "\r", "\x9b", "\u202e"} & {*out}
        assert "[bold]one[/bold]" in out


def test_cells_are_guarded_against_formulas_where_that_is_asked_for(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "graph.ttl"
    path.write_text('@prefix e: <http://e.org/> . e:a a e:T ; e:v "=1+1" ; e:n -5 .')
    asked = ("list", "T", "--value", "v", "--value", "n", "-g", path)
    for more in (("--tsv",), ("--format", "csv"), ("--all", "--tsv")):
        plain, guarded = run(*asked, *more).out, run(*asked, *more, "--guard-formulas").out
        assert "=1+1" in plain
        assert without_formula("=1+1") in guarded
        assert "-5" in guarded
        assert "'-5" not in guarded


def test_errors_name_the_options(run: Run) -> None:
    assert "--where" in run("list", "Drug", "--where", "nothing here").err
    for more in (["--format", "turtle"], ["--out", "x.ttl"]):
        assert "A list is written as csv only" in run("list", "Drug", *more).err
    assert "write a table instead" in run("list", "Drug", "--format", "csv", "--json").err
    assert "jsonld" not in run("list", "Drug", "--all", "--json").err
    assert run("list", "--text").status == 2


SEARCH = {"result": [], "columns": ["e:v"], "rows": [["e:a a", [1, None]]], "found": 3, "next_offset": 1}
TRAVERSAL = {
    "seeds": ["e:s"],
    "node_count": 4,
    "edge_count": 0,
    "complete": False,
    "nodes": [],
    "edges": [],
    "schema_summary": {"entity_types_found": ["e:T"], "predicates_found": ["e:p"]},
    "max_hops": 1,
    "levels": [1, 3],
    "columns": ["e:v"],
    "rows": [["e:a a", True]],
    "found": 3,
    "next_offset": 1,
}
DOUBTS = {"complete": False, "tied": 2, "values_complete": False, "where": ["e:v > \x1b0"], "warnings": ["Odd values."]}


@pytest.mark.parametrize("is_text", [True, False])
def test_what_is_said_of_rows_stands_beside_them(is_text: bool) -> None:
    search = SearchResult.model_validate({**SEARCH, **DOUBTS})
    traversal = BfsResult.model_validate({**TRAVERSAL, **DOUBTS, "seeds_left_out": 1})
    said = [
        shown(render.search(search, "") if is_text else tsv.notes(search, {"query": ""})),
        shown(subgraph.bfs(traversal, 0) if is_text else tsv.notes(traversal, {})),
    ]
    for text in said:
        assert "hat is missing here may still be in the graph." in " ".join(text.split())
        assert "2 more nodes with the value of the last row." in text
        assert "Some values are shortened, left out, or could not be read. --out FILE.csv" in " ".join(text.split())
        assert "Odd values." in text
        assert "--offset 1" in text
        assert "\x1b" not in text
    assert "Seeds that would be in the rows too: 1" in said[1]


def test_values_are_texts_in_columns() -> None:
    search = SearchResult.model_validate(
        {**SEARCH, "rows": [["e:a a b", [1, 2.5, "x"]], ["e:b", None], ["_:b1", True]], "complete": True}
    )
    assert [*render.row_texts(search, "both")] == [["e:a", "a b", "1, 2.5, x"], ["e:b", "", ""], ["_:b1", "", "true"]]


def test_walks_of_several_predicates_are_columns_of_csv_and_no_triples(run: Run, tmp_path: Path) -> None:
    graph = tmp_path / "walks.ttl"
    graph.write_text("@prefix e: <http://e.org/> . e:a e:p e:b . e:b e:q e:c . e:d e:q e:c .")
    asked = ("bfs", "e:a", "-g", graph, "--only-predicate", "p/q", "--only-predicate", "p/q/^q", "-f")
    edges = list(csv.DictReader(io.StringIO(run(*asked, "csv").out)))
    assert {edge["predicate"] for edge in edges} == {"e:p/e:q", "e:p/e:q/^e:q"}
    turtle = run(*asked, "ntriples")
    assert "<http://e.org/p" not in turtle.out
    assert "are no triples: RDF leaves them out" in turtle.err


GROUPS = [["e:a one", 8, 3], ["e:b two", 4, -1], ["e:c three", 0, 2]]


def bars_of(groups: list[list[Any]], width: int) -> list[int]:
    """Return the lengths of the bars beside some groups."""
    answer = SearchResult.model_validate(
        {"complete": True, "result": [], "groups": groups, "group_columns": ["e:p", "count", "sum e:q"]}
    )
    return [line.count("█") for line in shown_within(render.row_table(answer, "both")[0], width).splitlines()[2:]]


def test_groups_have_bars_as_long_as_their_first_figure_where_a_terminal_has_room() -> None:
    assert bars_of(GROUPS, 80) == [20, 10, 0]
    assert bars_of(GROUPS, 40) == [0, 0, 0]
    huge = [["e:a one", 10**400, 1], ["e:b two", 10**400 // 4, 1]]
    assert bars_of(huge, 500)[:2] == [20, 5]


@pytest.mark.parametrize(
    "groups",
    [[["e:a one", -8, 3], ["e:b two", 4, 1]], [["e:a", None, 3], ["e:b", 4, 1]], [["e:a", 0, 1], ["e:b", 0, 1]]],
)
def test_groups_whose_first_figures_have_no_length_have_no_bars(groups: list[list[Any]]) -> None:
    assert bars_of(groups, 80) == [0, 0]


def test_groups_in_a_pipe_have_no_bars(run: Run) -> None:
    assert "█" not in run("search", "--node-type", "Drug", "--group-by", "type", "--compute", "count", "--text").out


def test_a_table_in_a_file_has_all_values_of_a_cell_and_says_which_languages_it_lacks(run: Run, tmp_path: Path) -> None:
    graph, table = tmp_path / "a.ttl", tmp_path / "a.csv"
    names = ", ".join(f'"name {number}"' for number in range(30))
    long = "x" * 1_000
    graph.write_text(
        "@prefix : <http://e.org/> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .\n"
        f':a a :T ; :called {names} ; :note "{long}" ; rdfs:label "tree"@en, "Baum"@de .'
    )
    asked = ("list", "T", "--value", "called", "--value", "note", "--value", "rdfs:label", "--graph", str(graph))
    ran = run(*asked, "--out", str(table))
    assert ran.status == 0
    text = table.read_text()
    assert all(f"name {number}" in text for number in range(30))
    assert long in text
    assert "1 row, complete" in ran.err
    assert "Not shown, in other languages: de 1" in ran.err
    assert "name 29" in run(*asked, "--all", "--tsv").out
