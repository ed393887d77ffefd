"""Whole sessions at the command line, in this process: what each command prints, and how it ends."""

import asyncio
import importlib.metadata
import json
import os
import re
import shlex
import shutil
import socket
import subprocess
import sys
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command

from gateway import expand
from gateway.answers.models import Answer, CompactAnswer
from gateway.api import Gateway, open_gateway
from gateway.arguments import BY_TOOL
from gateway.cli import tool_call
from gateway.cli.commands import app
from gateway.cli.help import OTHER_OPTIONS, OTHER_WORDS
from gateway.cli.main import main
from gateway.escaping import json_text
from gateway.settings.load import load_profile
from tests.cli.conftest import COLOURS, FIXTURES, Run
from tests.examples import some

COMMANDS = ["schema", "search", "bfs", "describe", "intersect", "serve"]
ASKING = [
    ["schema"],
    ["search", "warfarin"],
    ["bfs", "drug:warfarin"],
    ["describe", "drug:warfarin"],
    ["describe", "drug:warfarin", "drug:aspirin"],
    ["intersect", "drug:warfarin", "drug:aspirin"],
]


def the_json(ask: Callable[[Gateway], Awaitable[Answer | CompactAnswer]], graph: Path | None = None) -> str:
    """Return an answer as JSON, by a profile for people and programs: of any size, with the name of every node."""
    profile = tool_call.for_a_person(load_profile("demo" if graph is None else "local"))

    async def asked() -> str:
        async with open_gateway(graph, profile=profile) as gateway:
            return json_text((await ask(gateway)).as_json())

    return asyncio.run(asked())


def only_error(line: str) -> str:
    assert line.startswith("error: ")
    assert line.endswith("\n")
    assert line.count("\n") == 1
    return line.removeprefix("error: ").rstrip("\n")


@pytest.mark.parametrize(
    ("argv", "ask"),
    [
        (["schema"], lambda g: g.describe_schema()),
        (["search", "insulin", "--node-type", "Drug", "--limit", "2"],
         lambda g: g.search_entities("insulin", ["Drug"], limit=2)),
        (["bfs", "drug:warfarin"], lambda g: g.bfs_query(["drug:warfarin"], 1, limit=500)),
        (
            ["bfs", "drug:warfarin", "drug:aspirin", "-k", "2", "--node-type", "Drug", "--node-type", "Gene",
             "--predicate", "TREATS", "--exclude-node-type", "Paper", "--min-mentions", "5", "--limit", "9",
             "--offset", "3", "--max-tokens", "3000", "--snapshot", "abc"],
            lambda g: g.bfs_query(
                ["drug:warfarin", "drug:aspirin"], 2, node_types=["Drug", "Gene"], predicates=["TREATS"],
                exclude_node_types=["Paper"], min_mentions=5, limit=9, offset=3, max_tokens=3000, snapshot="abc",
            ),
        ),
        (["bfs", "drug:warfarin", "--hops", "2", "--topology-only"],
         lambda g: g.bfs_query(["drug:warfarin"], 2, topology_only=True, limit=500)),
        (["describe", "drug:warfarin", "--max-tokens", "300"],
         lambda g: g.describe_entity("drug:warfarin", max_tokens=300)),
        (["describe", "drug:warfarin", "drug:nothing"],
         lambda g: g.describe_entities(["drug:warfarin", "drug:nothing"])),
        (["intersect", "drug:warfarin", "drug:aspirin", "-k", "2", "--limit", "4"],
         lambda g: g.intersect_subgraphs(["drug:warfarin", "drug:aspirin"], 2, limit=4)),
    ],
)  # fmt: skip
def test_json_is_to_the_byte_what_the_tool_answers_in_the_shape_of_the_reference(
    run: Run, argv: list[str], ask: Callable[[Gateway], Awaitable[Answer]]
) -> None:
    expected = the_json(ask) + "\n"
    ran = run(*argv, "--json")
    missing = "drug:nothing" in argv
    assert (ran.status, ran.err) == ((2, "error: 1 ID of 2 could not be described.\n") if missing else (0, ""))
    # The minute in which a schema is read may end between the two, but not twice.
    assert ran.out == expected or ran.out == the_json(ask) + "\n"


@pytest.mark.parametrize(
    ("argv", "tool", "arguments"),
    [
        (["search", "insulin"], "search_entities", {"query": "insulin"}),
        (["list", "Drug", "--value", "TREATS"], "search_entities",
         {"query": "", "node_types": ["Drug"], "values": ["TREATS"]}),
        (["bfs", "drug:warfarin", "-k", "2"], "bfs_query", {"seeds": ["drug:warfarin"], "max_hops": 2}),
        (["describe", "drug:warfarin"], "describe_entity", {"id": "drug:warfarin"}),
        (["intersect", "drug:warfarin", "drug:aspirin"], "intersect_subgraphs",
         {"seeds": ["drug:warfarin", "drug:aspirin"], "k": 1}),
    ],
)  # fmt: skip
def test_the_compact_shape_is_to_the_byte_what_a_model_reads(
    run: Run, argv: list[str], tool: str, arguments: dict[str, Any]
) -> None:
    async def asked() -> str:
        async with open_gateway() as gateway:
            return json_text((await gateway.call(tool, arguments, shape="compact")).as_json())

    ran = run(*argv, "--json", "--shape", "compact")
    assert (ran.status, ran.out, ran.err) == (0, asyncio.run(asked()) + "\n", "")


def test_the_shape_of_json_is_that_of_the_option_and_not_of_the_profile(run: Run, tmp_path: Path) -> None:
    profile = tmp_path / "profile.toml"
    profile.write_text('extends = "demo"\n[server]\nshape = "compact"\n', encoding="utf-8")
    question = ("bfs", "drug:warfarin", "--json")
    usual, by_profile = run(*question), run(*question, "-p", str(profile))
    chosen = run(*question, "--shape", "compact")
    assert usual.out == by_profile.out == run(*question, "--shape", "reference").out
    compact, reference = json.loads(chosen.out), json.loads(usual.out)
    assert isinstance(compact["nodes"], dict)
    assert sorted(node["id"] for node in expand(compact)["nodes"]) == sorted(node["id"] for node in reference["nodes"])
    refused = run(*question, "--shape", "short")
    assert refused.status == 2
    assert "compact or reference" in refused.err


def test_a_graph_file_is_asked_in_place_of_the_demo(run: Run, films: Path) -> None:
    ran = run("bfs", "person:Harrison_Ford", "-g", films, "--json")
    assert ran.out == the_json(lambda g: g.bfs_query(["person:Harrison_Ford"], 1, limit=500), films) + "\n"


def test_several_graph_files_become_one_graph(run: Run, films: Path) -> None:
    ids = ["person:Harrison_Ford", "drug:warfarin"]
    ran = run("describe", "-g", films, "-g", FIXTURES / "medical.ttl", *ids, "--json")
    assert [node["id"] for node in json.loads(ran.out)["result"]] == ids


def test_a_prefix_shortens_ids(run: Run) -> None:
    ran = run("describe", "--prefix", "med=https://example.org/medical/drug/", "med:warfarin", "--json")
    assert json.loads(ran.out)["id"] == "med:warfarin"


def test_a_profile_file_is_taken(run: Run, tmp_path: Path) -> None:
    profile = tmp_path / "mine.toml"
    profile.write_text('description = "My own graph."\n')
    assert "My own graph." in run("schema", "--profile", profile).out


@pytest.mark.parametrize(
    ("argv", "words"),
    [
        ([], "Usage: bfsql-gateway"),
        (["--help"], "Show the neighbourhood of entities"),
        (["-h"], "Usage: bfsql-gateway"),
        *[([command, "--help"], f"Usage: bfsql-gateway {command}") for command in COMMANDS],
    ],
)
def test_help_is_printed_and_is_no_error(run: Run, argv: list[str], words: str) -> None:
    ran = run(*argv)
    assert (ran.status, ran.err) == (0, "")
    assert words in ran.out
    assert "\x1b" not in ran.out
    assert max(map(len, ran.out.splitlines())) <= 80


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_says_in_its_help_how_it_is_used_and_where_a_graph_comes_from(run: Run, command: str) -> None:
    out = run(command, "--help").out
    assert f"\n    bfsql-gateway {command} " in out.partition("Examples:")[2] or f"    bfsql-gateway {command}\n" in out
    for option in ("--graph", "--endpoint", "--profile", "--prefix"):
        assert option in out


@pytest.mark.slow
@pytest.mark.parametrize("command", [command for command in COMMANDS if command != "serve"])
def test_the_examples_in_the_help_work(run: Run, command: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    shutil.copytree(FIXTURES, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    for line in run(command, "--help").out.partition("Examples:")[2].split("\n"):
        if line.strip():
            ran = run(*shlex.split(line)[1:])
            # An export says what it wrote.
            assert (ran.status, ran.err[:5]) == (0, "Wrote" if "--out" in line else ""), line


@pytest.mark.parametrize(
    "argv",
    [
        ["--graph", FIXTURES / "films.ttl", "search", "alien"],
        [f"--graph={FIXTURES / 'films.ttl'}", "-q", "search", "alien"],
        ["-q", "-g", FIXTURES / "films.ttl", "--json", "search", "alien"],
    ],
)
def test_options_of_a_command_may_stand_before_it(run: Run, argv: list[str | Path]) -> None:
    ran = run(*argv)
    assert ran.status == 0
    assert "film:Alien" in ran.out


@pytest.mark.parametrize(
    ("argv", "said"),
    [
        (["--graph", "films.ttl"], "A command is missing: bfsql-gateway COMMAND --graph films.ttl."),
        (["--graph", "films.ttl", "find", "alien"], "No such command 'find'. Did you mean 'search'?"),
        (["find", "alien"], "No such command 'find'. Did you mean 'search'?"),
        (["neighbours", "x:a"], "No such command 'neighbours'. Did you mean 'bfs'?"),
        (["serach", "alien"], "No such command 'serach'. Did you mean 'search'?"),
        (["--no-such-option", "search", "alien"], "No such option: --no-such-option."),
        (["bfs", "x:a", "--depth", "2"], "No such option: --depth. Did you mean --hops?"),
        (["intersect", "x:a", "x:b", "--max-hops=2"], "No such option: --max-hops. Did you mean --hops?"),
        (["search", "x", "-n", "3"], "No such option: -n. Did you mean --limit?"),
        (["list", "Film", "--type", "x"], "No such option: --type"),
        (["search", "x", "--type", "Film"], "No such option: --type. Did you mean --node-type?"),
        (["bfs", "x:a", "--type", "Film"], "No such option: --type. Did you mean --only-node-type?"),
        (["bfs", "x:a", "--csv"], "No such option: --csv. Did you mean --format csv?"),
        (["bfs", "x:a", "--exclude-predicate", "p"], "name those to follow, each with --only-predicate."),
    ],
)
def test_a_command_line_that_is_nearly_right_is_an_error_that_says_what_is_meant(
    run: Run, argv: list[str], said: str
) -> None:
    ran = run(*argv)
    assert ran.status == 2
    assert said in ran.err


@pytest.mark.parametrize("argv", [["--graph", "films.ttl", "--help"], ["-h", "--graph", "films.ttl"]])
def test_help_is_shown_beside_options_of_a_command(run: Run, argv: list[str]) -> None:
    assert run(*argv).out.startswith("Usage: bfsql-gateway [OPTIONS] COMMAND")


def test_words_of_other_programs_lead_to_commands_and_hide_none() -> None:
    commands = {*get_command(app).commands}  # type: ignore[attr-defined]
    assert {*OTHER_WORDS.values()} <= commands
    assert commands.isdisjoint(OTHER_WORDS)


def test_options_of_other_programs_lead_to_options_and_hide_none() -> None:
    commands = get_command(app).commands.values()  # type: ignore[attr-defined]
    own = {name for command in commands for parameter in command.params for name in parameter.opts}
    assert {one.partition(" ")[0] for meant in OTHER_OPTIONS.values() for one in meant} <= own
    for command in commands:
        has = {name for parameter in command.params for name in parameter.opts}
        for name, meant in OTHER_OPTIONS.items():
            assert f"--{name}" not in has or has.isdisjoint(meant)


def test_the_version_is_printed(run: Run) -> None:
    assert run("--version").out == f"bfsql-gateway {importlib.metadata.version('bfsql-gateway')}\n"


@pytest.mark.parametrize(
    ("argv", "words"),
    [
        (["bfs", "drug:warfarin", "--hopps", "2"], ["No such option", "--hopps", "bfsql-gateway bfs --help"]),
        (["bsf", "drug:warfarin"], ["No such command", "'bsf'", "'bfs'", "bfsql-gateway --help"]),
        (["bfs"], ["Missing argument", "SEED", "bfsql-gateway bfs --help"]),
        (["search"], ["QUERY must not be empty", "--node-type"]),
        (["describe"], ["Missing argument", "ID"]),
        (["schema", "--graph"], ["--graph", "requires an argument"]),
        (["bfs", "drug:warfarin", "--hops", "two"], ["--hops", "integer"]),
        (["bfs", "drug:warfarin", "--hops", "0"], ["--hops is 0", "at least 1", "1 to 5"]),
        (["bfs", "drug:warfarin", "--hops", "6"], ["--hops is 6", "at most 5"]),
        (["bfs", "drug:warfarin", "--limit", "0"], ["--limit is 0", "at least 1"]),
        (["bfs", "drug:warfarin", "--max-tokens", "3"], ["--max-tokens is 3", "at least 200"]),
        (["bfs", "drug:warfarin", "--node-type", "Drugg"], ["--node-type:", "'Drugg'", "Drug"]),
        (["bfs", "warfarine"], ["'warfarine'", "Run bfsql-gateway search"]),
        (["bfs", "drug:nothing"], ["None of the seeds exists", "drug"]),
        (["describe", "drug:nothing"], ["no entity 'drug:nothing'"]),
        (["intersect", "drug:warfarin"], ["SEED has 1 entry", "at least 2"]),
        (["search", "__"], ["no letter, digit or symbol"]),
        (["search", "x", "--limit", "101"], ["--limit is 101", "at most 100"]),
        (["search", "\udcff"], ["not text"]),
        (["schema", "--profile", "wikidata-locl"], ["no profile 'wikidata-locl'", "Did you mean 'wikidata-local'?"]),
        (["schema", "--graph", "nothing.ttl"], ["nothing.ttl", "No such file"]),
        (["schema", "--graph", __file__], ["its suffix names no RDF format", ".ttl"]),
        (["schema", "--graph", "a.ttl", "--endpoint", "http://localhost/"], ["Both a graph and an endpoint"]),
        (["schema", "--endpoint", "localhost"], ["The endpoint is wrong", "not a URL", "http://"]),
        (["schema", "--prefix", "ex"], ["--prefix 'ex'", "NAME=IRI"]),
        (["schema", "--prefix", "ex="], ["--prefix 'ex='", "NAME=IRI"]),
        (["schema", "--prefix", "ex=no iri"], ["'no iri'", "IRI"]),
        (["schema", "--prefix", "a=http://a/", "--prefix", "a=http://b/"], ["'a'", "twice"]),
        (["serve", "--port", "8001"], ["--http"]),
        (["serve", "--http", "--port", "70000"], ["70000", "65535"]),
        (["serve", "--http", "--host", "192.0.2.1"], ["192.0.2.1", "loopback"]),
        (["serve", "--http", "--host", ""], ["--host", "empty"]),
        (["serve", "--endpoint", ""], ["--endpoint", "empty", "omit the option"]),
        (["check", " "], ["URL", "empty"]),
        (["schema", "--store", ""], ["--store", "empty"]),
        (["schema", "--contact", ""], ["--contact", "empty"]),
    ],
)
def test_an_error_is_one_line_that_says_what_is_wrong(run: Run, argv: list[str], words: list[str]) -> None:
    ran = run(*argv)
    assert (ran.status, ran.out) == (2, "")
    error = only_error(ran.err)
    for word in words:
        assert word in error


def test_a_broken_file_is_reported_with_line_and_column(run: Run, tmp_path: Path) -> None:
    broken = tmp_path / "broken.ttl"
    broken.write_text("@prefix e: <http://e/> .\ne:a e:b .\n")
    ran = run("schema", "-g", broken)
    assert ran.status == 2
    assert "broken.ttl:2:" in only_error(ran.err)


@pytest.mark.slow
@pytest.mark.parametrize("argv", [*ASKING, ["schema", "--json"]])
def test_an_endpoint_that_is_down_is_an_error_and_no_empty_answer(run: Run, argv: list[str]) -> None:
    # Kept, and not listened on: a server of another test would answer when it is asked again.
    with socket.socket() as kept:
        kept.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{kept.getsockname()[1]}/sparql"
        ran = run(*argv, "-e", f"{url}?of=7", "--prefix", "drug=http://example.org/")
    assert (ran.status, ran.out) == (2, "")
    assert "could not be reached: the connection was refused" in only_error(ran.err)
    assert only_error(ran.err).endswith(f"The configured URL is {url}")


def test_an_unknown_host_does_not_read_like_a_server_that_is_down(run: Run) -> None:
    ran = run("search", "x", "-e", "http://nobody.invalid/sparql")
    assert "could not be reached: its host name is unknown" in only_error(ran.err)


def test_what_is_typed_cannot_write_a_second_line_or_an_escape(run: Run) -> None:
    ran = run("bfs", "a\nerror: \x1b[31mb")
    assert ran.status == 2
    assert "\x1b" not in only_error(ran.err)


def test_a_warning_follows_the_answer(run: Run) -> None:
    ran = run("search", "warfarin", "--prefix", "m=http://example.org/")
    assert ran.status == 0
    assert ran.err.startswith("warning: ")
    assert "'m'" in ran.err
    assert ran.err.count("\n") == 1


def test_an_error_is_not_mixed_with_the_warnings_before_it(run: Run) -> None:
    ran = run("search", "__", "--prefix", "m=http://example.org/")
    assert "no letter, digit or symbol" in only_error(ran.err)


@pytest.mark.parametrize(
    "argv", [["-vv", "search", "insulin"], ["search", "insulin", "-vv"], ["-v", "search", "insulin", "-v"]]
)
def test_two_vs_log_the_queries_and_leave_the_answer_alone(run: Run, argv: list[str]) -> None:
    ran = run(*argv)
    assert ran.out == run("search", "insulin").out
    assert "debug: template=names_all " in ran.err


@pytest.mark.parametrize(
    "argv", [["search", "warfarin", "--prefix", "m=http://example.org/"], ["bfs", "drug:warfarin", "--tsv"]]
)
def test_quiet_leaves_standard_error_to_errors(run: Run, argv: list[str]) -> None:
    assert run(*argv).err
    ran = run(*argv, "--quiet")
    assert (ran.status, ran.out != "", ran.err) == (0, True, "")
    assert only_error(run("bfs", "drug:nothing", "-q").err)


def test_logging_is_as_before_when_a_command_ends(run: Run) -> None:
    run("-vv", "search", "insulin")
    assert run("search", "insulin").err == ""


def test_ctrl_c_ends_quietly(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object, **_options: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(tool_call, "call_tool", interrupted)
    ran = run("schema")
    assert (ran.status, ran.out, ran.err) == (130, "", "")


@pytest.mark.parametrize("argv", [["schema", "-g"], ["schema", "-p"], ["schema", "-g", "a.ttl", "--store"], ["check"]])
def test_an_error_is_bounded_whatever_it_repeats(run: Run, argv: list[str]) -> None:
    ran = run(*argv, "x" * 100_000)
    assert ran.status == 2
    assert ran.err.startswith("error: ")
    assert ran.err.endswith(".\n")
    assert len(ran.err) < 2_100


def test_a_disk_that_is_full_is_one_line(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object, **_options: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(tool_call, "call_tool", full)
    ran = run("schema")
    assert (ran.status, ran.err) == (2, "error: standard output: No space left on device.\n")


@pytest.mark.parametrize("argv", ASKING)
def test_nothing_is_coloured_in_a_pipe(run: Run, argv: list[str]) -> None:
    ran = run(*argv)
    assert (ran.status, ran.err) == (0, "")
    assert "\x1b" not in ran.out


def test_no_color_is_honoured_on_a_terminal(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert "\x1b[36m" in run("search", "insulin").out
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b[36m" not in run("search", "insulin").out


def process(*argv: str, **environment: str) -> subprocess.Popen[bytes]:
    """Start a command line in a process of its own, at a terminal of 80 columns that is none."""
    plain = {name: value for name, value in os.environ.items() if name not in COLOURS}
    return subprocess.Popen(  # noqa: S603 - this very program
        [sys.executable, "-m", "gateway", *argv],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**plain, "COLUMNS": "80", **environment},
    )


@pytest.mark.process
@pytest.mark.parametrize(
    "call",
    [
        *(("bfs", "drug:warfarin", "--hops", "5", *said) for said in (["--text"], ["--json"])),
        *(("bfs", "drug:warfarin", "--all", output) for output in ("--text", "--json", "--tsv")),
        ("list", "Drug", "--all", "--tsv"),
    ],
    ids=" ".join,
)
def test_a_reader_that_goes_away_is_no_error(call: Sequence[str]) -> None:
    with process(*call) as started:
        assert started.stdout is not None
        assert started.stderr is not None
        started.stdout.close()
        assert started.stderr.read() == b""
    assert started.returncode == 0


@pytest.mark.process
def test_json_is_utf_8_whatever_the_locale(films: Path) -> None:
    with process("search", "zoe saldana", "--json", "-g", str(films), PYTHONIOENCODING="ascii") as started:
        out, err = started.communicate(timeout=60)
    assert (started.returncode, err) == (0, b"")
    assert "Zoe Saldaña" in out.decode("utf-8")
    assert out.decode("utf-8") == the_json(lambda g: g.search_entities("zoe saldana"), films) + "\n"


DEMO = "No graph was given, so this is the demo graph: give yours with --graph FILE or --endpoint URL."


@pytest.mark.parametrize(
    "argv",
    some([*ASKING, ["bfs", "drug:warfarin", "--all"], ["bfs", "drug:warfarin", "-f", "turtle"]], "the demo graph"),
)
def test_a_command_without_a_graph_says_that_it_asks_the_demo_graph(
    argv: list[str], films: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(argv) == 0
    assert capsys.readouterr().err.splitlines()[-1] == DEMO
    for options in (["-q"], ["-p", "demo"]):
        assert main([*argv, *options]) == 0
        assert DEMO not in capsys.readouterr().err
    main([*argv, "-g", str(films)])
    assert DEMO not in capsys.readouterr().err


def test_an_error_about_the_demo_graph_says_so_in_its_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bfs", "Tom Hanks"]) == 2
    assert only_error(capsys.readouterr().err).endswith(DEMO)


@pytest.mark.parametrize(
    "argv",
    [
        ["search", "Blade Runner", "films.ttl"],
        ["search", "films.ttl", "Blade Runner"],
        ["schema", "films.ttl"],
        ["bfs", "film:Blade_Runner", "films.ttl"],
        ["describe", "--text", "film:Blade_Runner", "films.ttl"],
        ["intersect", "Blade Runner", "films.ttl"],
        ["check", "films.ttl"],
        ["explore", "films.ttl"],
        ["serve", "films.ttl"],
    ],
    ids=" ".join,
)
def test_a_graph_file_without_its_option_is_an_error_that_names_the_option(
    run: Run, argv: list[str], films: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copy(films, tmp_path / "films.ttl")
    monkeypatch.chdir(tmp_path)
    ran = run(*argv)
    assert ran.status == 2
    assert "'films.ttl' is a file: a graph is given as --graph films.ttl." in only_error(ran.err)


@pytest.mark.parametrize("name", ["missing.ttl", f"{'x' * 900}.ttl"])
def test_a_name_that_ends_as_files_do_is_no_file(run: Run, name: str) -> None:
    assert "--graph" not in only_error(run("bfs", name).err)


@pytest.mark.process
def test_a_terminal_without_the_characters_gets_question_marks() -> None:
    with process("bfs", "drug:warfarin", "--text", "-p", "demo", PYTHONIOENCODING="ascii") as started:
        out, err = started.communicate(timeout=60)
    assert (started.returncode, err) == (0, b"")
    assert b"TREATS ? disease:deep_vein_thrombosis" in out


@pytest.mark.process
def test_help_and_a_graph_file_do_without_the_heavy_libraries() -> None:
    program = (
        "import sys; from gateway.cli.main import main; status = main(['bfs', '--help']);"
        "heavy = {'rdflib', 'mcp', 'pyoxigraph', 'aiohttp', 'uvicorn'} & set(sys.modules);"
        "status = status or main(['search', 'insulin', '--text', '-q']);"
        "heavy |= {'rdflib', 'mcp', 'aiohttp', 'uvicorn', 'portalocker'} & set(sys.modules);"
        "sys.exit(status or ' '.join(heavy) or 0)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False)  # noqa: S603
    assert (done.returncode, done.stderr) == (0, "")


def test_the_whole_schema_is_waited_for_where_that_is_asked(run: Run, films: Path, tmp_path: Path) -> None:
    profile = tmp_path / "large.toml"
    profile.write_text("[orientation]\nglance_triples = 10\npatience_seconds = 0.0\n", encoding="utf-8")
    options = ("--graph", films, "--profile", profile, "--json")
    assert json.loads(run("schema", *options).out)["comprehensive"] is False
    assert json.loads(run("schema", "--whole", *options).out)["comprehensive"] is True


@pytest.mark.parametrize("argv", [["-v", "search", "insulin"], ["search", "insulin", "-v"]])
def test_lines_of_a_log_begin_with_the_time_wherever_it_was_asked_for(run: Run, argv: list[str]) -> None:
    logged = [text for text in run(*argv).err.splitlines() if " info: " in f" {text}"]
    assert logged
    assert all(re.match(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d", text) for text in logged)


def test_help_lists_the_exit_statuses(run: Run) -> None:
    assert "The exit status is 0" in run("--help").out


@pytest.mark.server
def test_the_demo_plays_every_tool_over_mcp_and_shows_its_answers() -> None:
    played = subprocess.run(
        [sys.executable, "-m", "gateway", "demo"], capture_output=True, text=True, timeout=120, check=True
    )
    for tool in BY_TOOL.keys() - {"describe_entity"}:
        assert f"{tool}(" in played.stdout
    assert "INTERACTS_WITH \u2192 drug:aspirin" in played.stdout
    assert "6 nodes, 9 edges, complete" in played.stdout
    assert "Traceback" not in played.stderr
