"""`--json` is for programs: by the published schemas, a document on a line; and the recipes of the documentation."""

import io
import json
import re
import shlex
import sys
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from gateway.arguments import BY_TOOL, MAX_ID
from gateway.cli import standard_input
from gateway.server.tools import stored_schemas
from tests.check.pretender import Pretender
from tests.cli.conftest import FIXTURES, Ran, Run
from tests.cli.json_schemas import faults_of
from tests.cli.test_check import serving
from tests.cli.test_subgraph import star
from tests.site.jq import filtered

SCHEMAS = {tool: Draft202012Validator(schemas["output"]) for tool, schemas in stored_schemas().items()}

QUESTIONS: dict[str, list[list[str]]] = {
    "describe_schema": [["schema"], ["schema", "--all"], ["schema", "Drug", "Gene"], ["schema", "--language", "de"]],
    "search_entities": [
        ["search", "insulin"], ["search", "insuline", "nobody"], ["search", "warfarn"],
        ["search", "--node-type", "Drug", "--limit", "3"], ["list", "Drug"],
        ["list", "Drug", "--where", "totalMentions > 20", "--value", "TREATS", "--sort-by", "-totalMentions"],
        ["list", "Drug", "--group-by", "TREATS", "--compute", "avg totalMentions"],
        ["list", "Drug", "--compute", "count"], ["list", "Drug", "--all"],
    ],
    "bfs_query": [
        ["bfs", "drug:warfarin"], ["bfs", "drug:warfarin", "-k", "3", "--limit", "5"],
        ["bfs", "drug:warfarin", "--all", "-k", "3"], ["bfs", "drug:warfarin", "--all", "--value", "totalMentions"],
        ["bfs", "drug:warfarin", "--topology-only", "--max-edges-per-node", "2"],
        ["bfs", "drug:warfarin", "--group-by", "type"],
    ],
    "describe_entity": [["describe", "drug:warfarin"], ["describe", "gene:CYP2C9", "--max-tokens", "300"]],
    "describe_entities": [["describe", "drug:warfarin", "drug:nothing"]],
    "intersect_subgraphs": [
        ["intersect", "drug:warfarin", "drug:aspirin", "-k", "2"],
        ["intersect", "drug:warfarin", "drug:aspirin", "--all"],
        ["intersect", "drug:warfarin", "drug:aspirin", "--no-via", "--value", "totalMentions"],
    ],
}  # fmt: skip


def documents(out: str) -> list[dict[str, Any]]:
    assert out.endswith("\n")
    return [json.loads(line) for line in out[:-1].split("\n")]


@pytest.mark.slow
@pytest.mark.parametrize("tool", BY_TOOL)
def test_each_document_is_valid_by_the_published_schema_of_its_tool(run: Run, tool: str) -> None:
    for argv in QUESTIONS[tool]:
        for more in ([], ["--explain"]) if "--all" not in argv or argv[0] == "schema" else ([],):
            ran = run(*argv, "--json", *more)
            # What is printed is an answer also where some are not in the graph.
            assert ran.status == (2 if "drug:nothing" in argv else 0), argv
            for document in documents(ran.out):
                assert [error.message for error in SCHEMAS[tool].iter_errors(document)] == [], argv


def test_what_check_and_profiles_print_is_valid_by_their_schemas(run: Run) -> None:
    printed = {
        "check": [run("check", "--graph", FIXTURES / "films.ttl", "--json"), run("check", "--json")],
        "profiles": [run("profiles", "--json")],
    }
    with serving(Pretender()) as url:
        printed["check"].append(run("check", url, "--json"))
    for command, all_of_it in printed.items():
        for ran in all_of_it:
            (document,) = documents(ran.out)
            assert faults_of(document, command) == []


def test_all_of_it_is_a_document_on_a_line_for_each_page(run: Run, tmp_path: Path) -> None:
    graph = star(tmp_path, 1_200)
    ran = run("bfs", "x:a", "-g", graph, "--all", "--json")
    pages = documents(ran.out)
    assert [len(page["nodes"]) for page in pages] == [500, 500, 201]
    assert len({node["id"] for page in pages for node in page["nodes"]}) == 1_201
    assert sum(len(page["edges"]) for page in pages) == 1_200
    assert "1,201 nodes, 1,200 edges, complete" in ran.err
    rows = documents(run("list", "untyped", "-g", graph, "--all", "--json").out)
    # Each page but the first was asked for with the last row of the one before, of 100 in all.
    assert [len(page["rows"]) for page in rows] == [100, *[99] * 11, 12]
    assert len({row[0] for page in rows for row in page["rows"]}) == 1_201


def typed(monkeypatch: pytest.MonkeyPatch, content: bytes) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))


def test_ids_come_from_standard_input_one_a_line(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    typed(monkeypatch, b"\xef\xbb\xbfdrug:aspirin\r\n\ndrug:insulin\ndrug:aspirin\n")
    (answer,) = documents(run("describe", "drug:warfarin", "-", "--json").out)
    assert [entity["id"] for entity in answer["result"]] == ["drug:warfarin", "drug:aspirin", "drug:insulin"]
    typed(monkeypatch, b"drug:warfarin\ndrug:glibenclamide")
    shared = documents(run("intersect", "-", "--json").out)[0]
    assert {node["id"] for node in shared["nodes"]} == {"drug:fluconazole", "protein:CYP2C9"}
    typed(monkeypatch, b"insulin\naspirin\n")
    assert [one["query"] for one in documents(run("search", "-", "--json").out)[0]["queries"]] == ["insulin", "aspirin"]


def test_one_id_from_standard_input_has_the_shape_of_several(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    typed(monkeypatch, b"drug:warfarin\n")
    assert [entity["id"] for entity in documents(run("describe", "-", "--json").out)[0]["result"]] == ["drug:warfarin"]


def test_columns_of_one_command_are_ids_for_the_next(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    found = run("search", "insulin", "--tsv").out
    typed(monkeypatch, found.encode())
    described = documents(run("describe", "-", "--json").out)[0]["result"]
    assert [entity["id"] for entity in described] == [line.split("\t")[0] for line in found.splitlines()[1:]]


def test_more_ids_than_a_call_takes_are_a_document_for_each_call(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    graph = star(tmp_path, 450)
    ids = [f"x:n{number}" for number in range(450)]
    typed(monkeypatch, "\n".join(ids).encode())
    pages = documents(run("describe", "-", "-g", graph, "--json").out)
    assert [len(page["result"]) for page in pages] == [200, 200, 50]
    assert [entity["id"] for page in pages for entity in page["result"]] == ids
    typed(monkeypatch, "\n".join(ids).encode())
    lines = run("describe", "-", "-g", graph, "--tsv").out.splitlines()
    assert [line for line in lines if line.startswith("id\t")] == ["id\tkey\tvalue"]
    assert {line.split("\t")[0] for line in lines[1:]} == set(ids)


@pytest.mark.slow
def test_a_call_that_fails_does_not_end_the_others_and_is_told_after_all(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    graph = star(tmp_path, 450)
    good, wrong = [f"x:n{number}" for number in range(250)], [f"no such thing {number}" for number in range(200)]

    def described(ids: list[str], *options: str) -> Ran:
        typed(monkeypatch, "\n".join(ids).encode())
        return run("describe", "-", "-g", graph, *options)

    for ids, failed in ((wrong + good, "1 to 200"), (good[:200] + wrong + good[200:], "201 to 400")):
        ran = described(ids, "--json")
        assert ran.status == 2
        assert [entity["id"] for page in documents(ran.out) for entity in page["result"]] == good
        assert f"1 call of 3 failed, and the answers printed are about the others. IDs {failed}: " in ran.err
        assert "no such thing 0" in ran.err
    ran = described(wrong + good, "--tsv")
    assert (ran.status, ran.out.splitlines()[0]) == (2, "id\tkey\tvalue")
    assert "IDs 1 to 200: " in described(wrong + good).err
    ran = described(wrong + [f"{text} either" for text in wrong], "--json")
    assert (ran.status, ran.out) == (2, "")
    assert "2 calls of 2 failed, and nothing was answered. IDs 1 to 200: " in ran.err


@pytest.mark.parametrize("options", [(), ("--tsv",), ("--json",)])
def test_any_number_of_unknown_names_spoils_no_other_and_is_told(
    run: Run, monkeypatch: pytest.MonkeyPatch, options: tuple[str, ...]
) -> None:
    unknown = [f"no such thing {number}" for number in range(25)]
    typed(monkeypatch, "\n".join([*unknown, "Warfarin", "drug:nothing"]).encode())
    ran = run("describe", "-", *options)
    assert ran.status == 2
    assert "drug:warfarin" in ran.out
    assert ran.err.splitlines()[-1] == "error: 26 IDs of 27 could not be described."
    told = ran.out if options in {(), ("--json",)} else ran.err
    assert "no such thing 24" in told
    assert "drug:nothing" in told


@pytest.mark.parametrize(
    ("argv", "content", "said"),
    [
        (["describe", "-", "-"], b"a\n", "given twice"),
        (["describe", "-", "-g", "-.ttl"], b"a\n", "given twice"),
        (["bfs", "-"], b"\n \n", "has no line"),
        (["bfs", "-"], b"ok\n\xff\xfe\n", "Line 2 of standard input is no text"),
        (["bfs", "-"], b"a" * 5 * MAX_ID, "Line 1 of standard input is too long"),
        (["search", "-"], b"a\n" * 4, "more than 3 lines"),
        (["bfs", "-"], "".join(f"drug:x{number}\n" for number in range(3)).encode(), "'drug:x0'"),
    ],
)  # fmt: skip
def test_what_is_wrong_with_standard_input_is_an_error(
    run: Run, argv: list[str], content: bytes, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(standard_input, "MOST_LINES", 3)
    typed(monkeypatch, content)
    ran = run(*argv)
    assert (ran.status, ran.out) == (2, "")
    assert said in ran.err


PAGE = Path(__file__).parents[2] / "docs" / "cli.md"
RECIPES = [
    line
    for block in re.findall(r"^```sh\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    for line in block.splitlines()
    if "| jq " in line
]


def recipe(run: Run, monkeypatch: pytest.MonkeyPatch, line: str) -> list[str]:
    """Run a recipe: commands of this program, of which each reads what the one before wrote, and then jq."""
    commands: list[list[str]] = [[]]
    for word in shlex.split(line):
        if word == "|":
            commands.append([])
        else:
            commands[-1].append(word)
    out = ""
    for command in commands:
        if command[0] == "jq":
            return list(filtered(command[1:], out))
        typed(monkeypatch, out.encode())
        ran = run(*command[1:], *([] if "--json" in command else ["--tsv"]))
        assert ran.status == 0, ran.err
        out = ran.out
    raise AssertionError(line)


@pytest.mark.parametrize("line", RECIPES)
def test_a_recipe_of_the_documentation_prints_what_it_is_for(
    run: Run, line: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(FIXTURES.parent)
    printed = recipe(run, monkeypatch, line)
    assert printed
    assert "null" not in printed
    assert not any(text.startswith(("null\t", "\t")) or text.endswith("\tnull") for text in printed)


def test_there_are_twenty_recipes() -> None:
    assert len(RECIPES) >= 20
