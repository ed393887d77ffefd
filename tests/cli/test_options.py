"""The options of commands follow from the arguments of the tools; their words, their completion and their defaults."""

import ast
import inspect
import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, Literal

import pytest
import typer
from hypothesis import given
from hypothesis import strategies as st
from pydantic import Field
from typer.testing import CliRunner

from gateway import messages
from gateway.api import open_gateway
from gateway.arguments import (
    ALL,
    Arguments,
    BfsQuery,
    DescribeEntities,
    DescribeSchema,
    IntersectSubgraphs,
    Names,
    SearchEntities,
    TraversalBase,
)
from gateway.cli.commands import app
from gateway.cli.completion import SHELLS, VARIABLE
from gateway.cli.graph_source import GraphSource, with_defaults
from gateway.cli.main import main
from gateway.cli.options import CommonOptions, optional_arguments, with_options
from gateway.cli.own_words import own_words, to_the_operator
from gateway.errors import ConfigurationError
from gateway.settings.files import FileSettings
from gateway.settings.urls import VARIABLE as URL_VARIABLE
from gateway.terms.iri import local_name
from gateway.transport.credentials import access_to
from tests.check.pretender import Pretender
from tests.cli.conftest import FIXTURES, Run
from tests.cli.test_check import serving
from tests.sentences import SENTENCES

COMMANDS = {
    "describe_schema": "schema",
    "search_entities": "search",
    "bfs_query": "bfs",
    "describe_entity": "describe",
    "describe_entities": "describe",
    "intersect_subgraphs": "intersect",
}


@pytest.mark.parametrize("model", ALL, ids=lambda model: model.tool)
def test_each_command_takes_the_optional_arguments_of_its_tool(model: type[Arguments]) -> None:
    callbacks = {command.callback.__name__: command.callback for command in app.registered_commands if command.callback}
    optional = {name for name, field in model.model_fields.items() if not field.is_required()}
    # One query is the only one of several.
    assert optional - {"query"} <= set(inspect.signature(callbacks[COMMANDS[model.tool]]).parameters)


class WithNewArguments(TraversalBase):
    """A traversal that takes more than the others."""

    new_names: Annotated[Names | None, Field(description="Follow only edges of these predicates.")] = None
    way: Annotated[Literal["both", "out", "in"], Field(description="Follow edges in this direction.")] = "both"


def run_with_new_arguments(*argv: str) -> tuple[str, list[dict[str, Any]]]:
    taken: list[dict[str, Any]] = []

    def command(*, arguments: Annotated[dict[str, Any], optional_arguments(WithNewArguments, {})]) -> None:
        taken.append(arguments)

    program = typer.Typer(rich_markup_mode=None)
    program.command()(with_options(command))
    return CliRunner().invoke(program, argv).output, taken


def test_a_new_argument_is_an_option_without_more() -> None:
    _, (taken,) = run_with_new_arguments("--new-name", "TREATS", "--new-name", "CAUSES")
    assert (taken["new_names"], taken["way"], taken["limit"]) == (["TREATS", "CAUSES"], "both", None)


NO_ADDRESS = {
    "mysql://127.0.0.1/graph": "nor that of a database: postgresql://user@host/name or neo4j://host/name",
    "postgresql+asyncpg://reader@127.0.0.1/graph": "nor that of a database",
    "127.0.0.1:3030": "begins with http:// or https:// and names a host",
    "http:///sparql": "begins with http:// or https:// and names a host",
    "http://me:hush@127.0.0.1/sparql": "the URL contains a user or a password",
    "http://127.0.0.1/sparql?key=hush": "the URL contains a key or a token",
    "postgresql://me:hush@127.0.0.1/graph": "the URL contains a password",
    "postgresql://me@127.0.0.1/graph?password=hush": "the URL contains a password",
    "postgresql://me@127.0.0.1": "names no database",
    "postgresql://me@127.0.0.1/graph?sslmode=prefer": "write sslmode=verify-full, verify-ca or require",
    "neo4j://me:hush@127.0.0.1/graph": "the URL contains a password",
    "NEO4J://127.0.0.1/one/two": "not a URL of the form neo4j://",
}
"""What is no address of a graph, and what is said of it."""

TAKING_AN_ADDRESS = [
    *(["serve", "-e"], ["serve", "--http", "--port", "0", "-e"], ["explore", "--no-browser", "-e"], ["check"]),
    *(["check", "-e"], ["schema", "-e"], ["search", "x", "-e"], ["bfs", "x:y", "-e"], ["describe", "x:y", "-e"]),
    *(["intersect", "x:y", "x:z", "-e"], ["index", "-e"], ["refresh", "-e"]),
]


@pytest.mark.parametrize("address", NO_ADDRESS)
def test_every_command_and_every_place_says_the_same_of_what_is_no_address(
    run: Run, address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = set()
    for command in TAKING_AN_ADDRESS:
        ran = run(*command, address)
        assert (ran.status, ran.out) == (2, ""), command
        said.add(ran.err.partition(". ")[0].partition(".\n")[0])
    monkeypatch.setenv("BFSQL_ENDPOINT", address)
    for name in ("serve", "explore", "schema", "check", "index"):
        said.add(run(name).err.partition(". ")[0].partition(".\n")[0])
    with pytest.raises(ConfigurationError) as raised:
        open_gateway(endpoint=address)
    said.add(f"error: {raised.value}".removesuffix("."))
    (text,) = said
    assert text.startswith("error: The endpoint is wrong: ")
    assert NO_ADDRESS[address] in text
    assert "hush" not in text
    profile = tmp_path / "there.toml"
    profile.write_text(f'[endpoint]\nurl = "{address}"\n', encoding="utf-8")
    of_profile = run("serve", "-p", profile).err
    assert of_profile.endswith(f"endpoint.url: {text.removeprefix('error: The endpoint is wrong: ')}.\n")


def test_an_option_without_a_text_of_its_own_has_the_description_of_the_argument() -> None:
    shown, _ = run_with_new_arguments("--help")
    assert "Follow only edges of these predicates." in shown
    assert "both|out|in" in shown
    assert "Follow edges in this direction. [default: both]" in " ".join(shown.split())


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
        (["s"], ["schema", "search", "sparql", "serve"]),
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


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        (["list", "--graph", "films.ttl", "Fi"], ["Film"]),
        (["schema", "-g", "films.ttl", "Film", "Pe"], ["Person"]),
        (["bfs", "film:Alien", "-g", "films.ttl", "--only-predicate", "di"], ["directed"]),
        (["bfs", "film:Alien", "-g", "films.ttl", "--only-predicate", "^di"], ["^directed"]),
        (["bfs", "film:Alien", "-g", "films.ttl", "--exclude-node-type", "P"], ["Person"]),
        (["list", "Film", "-g", "films.ttl", "--sort-by", "rel"], ["released"]),
        (["bfs", "film:Alien", "--format", "g"], ["graphml"]),
        (["list", "Film", "--format", ""], ["csv"]),
        (["list", "-g", "none.ttl", ""], []),
        (["list", "-g", "-", ""], []),
        (["list", "-e", "http://127.0.0.1:9/sparql", ""], []),
        (["completion", ""], ["bash", "zsh", "fish"]),
    ],
)
def test_types_predicates_and_formats_are_offered(
    words: list[str], offered: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(FIXTURES)
    assert completions(words, monkeypatch, capsys) == offered


@pytest.mark.slow
def test_each_word_that_is_offered_is_taken(
    run: Run, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with monkeypatch.context() as asked:
        types = completions(["list", "-p", "demo", ""], asked, capsys)
        predicates = completions(["bfs", "x", "-p", "demo", "--only-predicate", ""], asked, capsys)
    assert (len(types), len(predicates)) == (11, 20)
    assert run("schema", *types).status == 0
    for predicate in predicates:
        ran = run("bfs", "drug:warfarin", "--only-predicate", predicate)
        assert (ran.status, ran.err) == (0, "")


def test_no_word_is_offered_that_a_shell_would_not_take_as_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    names = [
        r"x;touch$IFS.pwn", "x$(touch_pwn)", "x&reboot", "it's", r"r\u202Eevil", "(x)", "a=b",
        "-rf", "--version", "~root", "x!y", "x*", "Ж", "Good-1.a_b", "Fine",
    ]  # fmt: skip
    graph = tmp_path / "hostile.ttl"
    written = (f"<http://example.org/{name}>" for name in names)
    graph.write_text(
        "\n".join(f"<http://example.org/a> a {name} ; {name} <http://example.org/b> ." for name in written)
    )
    words = ["-g", str(graph), ""]
    assert sorted(completions(["list", *words], monkeypatch, capsys)) == ["Fine", "Good-1.a_b"]
    walks = completions(["bfs", "x", "-g", str(graph), "--only-predicate", "^"], monkeypatch, capsys)
    assert {"^Fine", "^Good-1.a_b"} >= set(walks)
    assert walks


def test_an_endpoint_is_completed_from_what_is_stored_and_asked_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    store = ["--store", str(tmp_path / "store")]
    with serving(Pretender()) as url:
        assert completions(["list", "-e", url, *store, ""], monkeypatch, capsys) == []
        monkeypatch.delenv(VARIABLE)
        assert main(["schema", "-e", url, *store, "--json"]) == 0
        types = [local_name(name) for name in json.loads(capsys.readouterr().out)["entity_types"]]
    # Nobody answers any more.
    assert types
    assert completions(["list", "-e", url, *store, ""], monkeypatch, capsys) == types


def test_completion_reads_no_project_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bfsql.toml").write_text("x = 1", encoding="utf-8")
    assert completions(["schema", "--profile", "demo", "--js"], monkeypatch, capsys) == ["--json"]


TOOLS = (BfsQuery, DescribeEntities, DescribeSchema, IntersectSubgraphs, SearchEntities)
OF_TOOLS = re.compile(
    r"\b("
    + "|".join({*(model.tool for model in TOOLS), *(name for model in TOOLS for name in model.model_fields)})
    + ")\\b"
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "bfs_query: max_hops is 9, but at most 5. max_hops: Distance.",
            "--hops is 9, but at most 5. --hops: Distance.",
        ),
        ("seeds[0]: 'x' is no ID. Call search_entities.", "'x' is no ID. Run bfsql-gateway search."),
        ("only_predicates[1]: no predicate is called 'k'.", "--only-predicate: no predicate is called 'k'."),
        ("exclude them, or use max_degree=100.", "exclude them, or use --max-degree 100."),
        ("Ask with topology_only=true.", "Ask with --topology-only."),
        ("Ask with edges=false.", "Ask with --no-edges."),
        ("where[1]: 'x' has no operator. values: name.", "--where: 'x' has no operator. --value: name."),
        ("search_entities: query must not be empty.", "QUERY must not be empty."),
        (
            "query must not be empty without queries or node_types. queries: several. Without either, it lists all.",
            "QUERY must not be empty without --node-type. QUERY: several. Without either, it lists all.",
        ),
        (
            "query: a name; queries: several. Without either, it lists all.",
            "QUERY: a name, or several. Without it, it lists all.",
        ),
        ("search_entities: queries does not go with offset.", "QUERY does not go with offset."),
        ("Names 1 to 20: search_entities: query must not be empty.", "Names 1 to 20: QUERY must not be empty."),
        ("offset: 900 is past the end; there are 16 nodes.", "--offset: 900 is past the end; there are 16 nodes."),
        ("next_offset is the offset of the next page.", "--offset is the offset of the next page."),
        *[(text, text) for text in ("size.max_tokens is wrong", "a/max_hops", "describe_schema.nt:1", "x-max_hops")],
        ("There is no limit on the length of an id.", "There is no limit on the length of an id."),
    ],
)
def test_tools_become_commands_and_arguments_become_options(text: str, expected: str) -> None:
    assert own_words(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "It is slow. Try again; if it stays, the operator of this gateway should check the endpoint.",
            "It is slow. Try again; if it stays, check the endpoint.",
        ),
        ("The operator of this gateway should check its credentials.", "Check its credentials."),
        ("It failed. The operator of this gateway should check search.api in its profile.",
         "It failed. Check search.api in the profile."),
        ("It failed. Tell the operator of this gateway.", "It failed."),
        ("The operator of this gateway can serve a file of the graph.", "You can serve a file of the graph."),
        ("the operator of this gateway has to raise `limits.query_rows`.", "you have to raise `limits.query_rows`."),
        ("'Tell the operator of this gateway.' is no ID.", "'Tell the operator of this gateway.' is no ID."),
    ],
)  # fmt: skip
def test_what_the_operator_can_do_is_said_to_the_reader(text: str, expected: str) -> None:
    assert own_words(text) == to_the_operator(text) == expected


@pytest.mark.slow
def test_no_text_of_an_answer_speaks_of_the_operator_as_of_somebody_else() -> None:
    package = Path(messages.__file__).parent
    apart = {package / name for name in ("server", "cli", "web")}
    texts = [
        text
        for path in package.rglob("*.py")
        if apart.isdisjoint(path.parents)
        for text in _said(ast.parse(path.read_text(encoding="utf-8")))
    ]
    of_operator = [text for text in texts if re.search(r"operator (of|should|can|has)|ask the operator", text)]
    assert len(of_operator) > 20
    assert [text for text in map(own_words, of_operator) if "operator" in text] == []


def _said(tree: ast.AST) -> Iterator[str]:
    """Yield the texts of a module without its docstrings."""
    bare = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in bare:
            yield node.value


def sentences() -> Iterator[str]:
    """Yield the texts of the engine, as they stand in its source."""
    for module in SENTENCES:
        for text in _said(ast.parse(Path(str(module.__file__)).read_text(encoding="utf-8"))):
            if " " in text:
                yield text


def test_no_sentence_of_the_engine_keeps_a_name_that_only_a_model_uses() -> None:
    kept = [found[0] for text in sentences() for found in OF_TOOLS.finditer(own_words(text)) if "_" in found[0]]
    assert kept == []
    assert sum("_" in found[0] for text in sentences() for found in OF_TOOLS.finditer(text)) > 20


@given(st.lists(st.sampled_from([*"ab _k:=.[0]", "max_hops", "bfs_query: ", "limit"])).map("".join), st.text("ab "))
def test_what_stands_in_quotation_marks_stays(before: str, quoted: str) -> None:
    name = f"'max_hops{quoted}'"
    assert name in own_words(f"{before} {name} max_hops")


ALL_OPTIONS = frozenset({"graph", "endpoint", "profile", "store", "cache", "prefix"})
URL = "http://127.0.0.1:9/sparql"
OTHER = "http://127.0.0.1:9/other"
FILM = "PREFIX : <http://example.org/> :a :b :c ."


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a graph, a profile with credentials and one with an endpoint; a folder in it is the working one."""
    folder = tmp_path / "project"
    (folder / "inside").mkdir(parents=True)
    (folder / "a.ttl").write_text(FILM, encoding="utf-8")
    (folder / "secret.toml").write_text('[endpoint.access]\ntoken = "env:HOME"\n', encoding="utf-8")
    (folder / "there.toml").write_text(f'[endpoint]\nurl = "{OTHER}"\n', encoding="utf-8")
    monkeypatch.chdir(folder / "inside")
    for name in list(os.environ):
        if name.startswith("BFSQL_"):
            monkeypatch.delenv(name)
    return folder


def write(project: Path, content: str) -> Path:
    path = project / "bfsql.toml"
    path.write_text(content, encoding="utf-8")
    return path


def selected(**given: Any) -> CommonOptions:
    return with_defaults(CommonOptions(**given), ALL_OPTIONS)


def test_an_option_goes_before_the_environment_and_that_before_the_project_file(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert selected() == CommonOptions()
    path = write(project, 'graph = "a.ttl"\nprofile = "there.toml"\n')
    options = selected()
    assert options.graph == [str(project / "a.ttl")]
    assert options.places == {"graph": str(path), "profile": str(path)}
    monkeypatch.setenv("BFSQL_ENDPOINT", URL)
    options = selected()
    assert (options.graph, options.endpoint, options.places["endpoint"]) == (None, URL, "$BFSQL_ENDPOINT")
    monkeypatch.setenv("BFSQL_PROFILE", "local")
    assert selected().profile == "local"
    options = selected(graph=["b.ttl"], profile="fuseki")
    assert (options.graph, options.endpoint, options.profile, options.places) == (["b.ttl"], None, "fuseki", {})


def test_a_profile_that_has_an_endpoint_goes_before_graphs_of_lower_places(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(project, 'graph = "a.ttl"')
    assert selected(profile="local").graph is not None
    assert selected(profile="demo").graph is None
    monkeypatch.setenv("BFSQL_PROFILE", "wikidata")
    assert selected().graph is None


def test_folders_come_from_the_environment_and_the_cache_can_be_turned_off(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BFSQL_CACHE", str(project / "cache"))
    assert str(GraphSource(selected(graph=["a.ttl"])).parsed_files).startswith("FileCache(folder=")
    monkeypatch.setenv("BFSQL_CACHE", "off")
    assert GraphSource(selected(graph=["a.ttl"])).parsed_files is None
    assert GraphSource(selected(graph=["a.ttl"], cache="c")).parsed_files is not None
    monkeypatch.setenv("BFSQL_STORE", str(project))
    assert GraphSource(selected(graph=["a.ttl"])).parsed_files == project
    assert selected(store="s").store == "s"


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ('grapf = "a.ttl"', "'grapf'. Did you mean 'graph'?"),
        ("graph = 3", "graph must be a path"),
        ('graph = ["a.ttl", ""]', "graph must be a path"),
        ("profile = 3", "profile must be a text"),
        ("prefixes = 3", "prefixes must be a table"),
        ('prefixes = {"a b" = "x"}', "'a b'"),
        ("graph =", "not valid TOML"),
        ('graph = "a.ttl"\nendpoint = "http://127.0.0.1:9/"', "both a graph and an endpoint"),
        ('graph = "../../a.ttl"', "outside its folder"),
        ('graph = "/etc/passwd"', "outside its folder"),
        ('profile = "../p.toml"', "outside its folder"),
        ('store = "here"', "unknown key 'store'"),
    ],
)
def test_a_wrong_project_file_is_an_error_that_names_it(project: Path, run: Run, content: str, said: str) -> None:
    write(project, content)
    ran = run("schema")
    assert ran.status == 2
    assert said in ran.err


def test_a_link_out_of_the_folder_is_refused(project: Path, tmp_path: Path) -> None:
    (tmp_path / "b.ttl").write_text(FILM, encoding="utf-8")
    (project / "b.ttl").symlink_to(tmp_path / "b.ttl")
    write(project, 'graph = "b.ttl"')
    with pytest.raises(ConfigurationError, match="outside its folder"):
        selected()


@pytest.mark.parametrize("graph", ["lin*/b.ttl", "folder", "folder/*.ttl"])
def test_patterns_and_folders_lead_out_of_the_folder_no_more_than_links(
    project: Path, tmp_path: Path, graph: str
) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "b.ttl").write_text(FILM, encoding="utf-8")
    (project / "link").symlink_to(tmp_path / "out")
    (project / "folder").mkdir()
    (project / "folder" / "b.ttl").symlink_to(tmp_path / "out" / "b.ttl")
    write(project, f'graph = "{graph}"')
    with pytest.raises(ConfigurationError, match="lies outside its folder"):
        selected()


def test_the_name_of_the_folder_is_no_pattern(project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    odd = project.rename(tmp_path / "[ab]")
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "other.ttl").write_text(FILM, encoding="utf-8")
    monkeypatch.chdir(odd)
    write(odd, 'graph = "*.ttl"')
    assert selected().graph == [str(odd / "a.ttl")]


def test_a_profile_of_a_project_extends_none_outside_its_folder(project: Path, tmp_path: Path) -> None:
    (tmp_path / "base.toml").write_text("[limits]\ndeadline_seconds = 5\n", encoding="utf-8")
    (project / "p.toml").write_text('extends = "../base.toml"\n', encoding="utf-8")
    write(project, 'profile = "p.toml"\ngraph = "a.ttl"')
    with pytest.raises(ConfigurationError, match="lies outside the folder of the project file"):
        GraphSource(selected())
    assert GraphSource(CommonOptions(profile=str(project / "p.toml"))).profile.limits.deadline_seconds == 5


def test_a_profile_of_a_project_raises_no_limit_of_files(project: Path) -> None:
    (project / "p.toml").write_text("[files]\nmemory_megabytes = 100000\n", encoding="utf-8")
    write(project, 'profile = "p.toml"\ngraph = "a.ttl"')
    assert GraphSource(selected()).profile.files == FileSettings()
    assert GraphSource(selected(file_limits=["memory_megabytes=5000"])).profile.files.memory_megabytes == 5000


def test_a_profile_of_a_project_names_no_embedder(project: Path) -> None:
    (project / "p.toml").write_text('[meaning]\nembedder = "http://127.0.0.1:1/v1"\n', encoding="utf-8")
    write(project, 'profile = "p.toml"\ngraph = "a.ttl"')
    with pytest.raises(ConfigurationError, match="names a profile with an embedder"):
        GraphSource(selected())
    given = GraphSource(selected(embedder=str(project)))
    assert given.profile.meaning.embedder == str(project)
    assert GraphSource(CommonOptions(profile=str(project / "p.toml"))).profile.meaning.embedder


def test_an_embedder_is_for_files(project: Path) -> None:
    with pytest.raises(ConfigurationError, match="--embedder is for graph files"):
        GraphSource(CommonOptions(endpoint="http://127.0.0.1:1/sparql", embedder=str(project)))
    with pytest.raises(ConfigurationError, match="The embedder is wrong: the URL contains a key"):
        GraphSource(CommonOptions(graph=["a.ttl"], embedder="http://127.0.0.1:1/v1?key=1"))


def test_errors_of_a_project_file_say_how_to_do_without_it(project: Path, run: Run) -> None:
    write(project, 'stoer = "x"')
    assert "BFSQL_PROJECT=off" in run("schema").err


def test_help_and_errors_say_where_a_value_is_from(project: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(project, 'graph = "none.ttl"')
    said = run("schema").err
    assert "none.ttl: No such file or directory." in said
    assert said.endswith(f" --graph is from {path}.\n")
    assert f"--graph {project / 'none.ttl'} (from {path})" in run("schema", "--help").out
    monkeypatch.setenv("BFSQL_GRAPH", "other.ttl")
    assert run("schema").err.endswith("--graph is from $BFSQL_GRAPH.\n")
    write(project, "x = 1")
    assert (run("schema", "--help").status, run("schema").status) == (0, 2)


def test_a_project_files_graph_is_read_with_its_prefixes(project: Path, run: Run) -> None:
    write(project, 'graph = "a.ttl"\n[prefixes]\nex = "http://example.org/"\n')
    assert "ex:b" in run("schema").out
    assert "ex:b" not in run("schema", "--prefix", "ex=http://example.com/").out
    assert "ex:b" not in run("schema", "--graph", project / "a.ttl").out


def test_a_project_file_that_others_can_write_is_not_used(project: Path, run: Run) -> None:
    write(project, 'graph = "none.ttl"').chmod(0o666)
    ran = run("schema")
    assert ran.status == 0
    assert "is not used: other users may write to it" in ran.err


def test_the_environment_turns_the_project_file_off(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(project, "x = 1")
    monkeypatch.setenv("BFSQL_PROJECT", "off")
    assert selected() == CommonOptions()


@pytest.mark.parametrize(
    ("content", "given"),
    [
        ('profile = "secret.toml"', {"endpoint": URL}),
        (f'endpoint = "{URL}"', {"profile": "../secret.toml"}),
        (f'endpoint = "{URL}"\nprofile = "secret.toml"', {}),
        (f'endpoint = "{URL}"', {"user": "me", "password_file": "../a.ttl"}),
        ('profile = "there.toml"', {"user": "me", "password_file": "../a.ttl"}),
    ],
)
def test_no_secret_goes_where_a_project_file_says(project: Path, content: str, given: dict[str, str]) -> None:
    write(project, content)
    with pytest.raises(ConfigurationError, match="may be anybody's"):
        GraphSource(selected(**given))


def test_the_operators_contact_does_not_go_where_a_project_file_says(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(URL_VARIABLE, "me@example.org")
    write(project, f'endpoint = "{URL}"')
    assert "me@example.org" not in str(access_to(URL, GraphSource(selected()).profile.endpoint).headers)
    assert "me@example.org" in str(access_to(URL, GraphSource(selected(endpoint=URL)).profile.endpoint).headers)
    explicit = GraphSource(selected(contact="you@example.org"))
    assert "you@example.org" in str(access_to(URL, explicit.profile.endpoint).headers)


def test_a_password_comes_from_a_file_and_goes_to_the_endpoint_that_was_given(project: Path) -> None:
    (project / "password").write_text("open sesame\n", encoding="utf-8")
    write(project, 'profile = "local"')
    given = {"endpoint": URL, "user": "me", "password_file": str(project / "password")}
    profile = GraphSource(selected(**given)).profile
    assert access_to(URL, profile.endpoint).headers["Authorization"] == "Basic bWU6b3BlbiBzZXNhbWU="
    with pytest.raises(ConfigurationError, match="unencrypted"):
        access_to("http://192.0.2.1/sparql", profile.endpoint)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"user": "me", "endpoint": URL}, "given together"),
        ({"password_file": "p", "endpoint": URL}, "given together"),
        ({"user": "me", "password_file": "none", "endpoint": URL}, "there is no such file"),
        ({"user": "me", "password_file": "../a.ttl"}, "are for an endpoint"),
    ],
)
def test_half_a_login_is_refused(project: Path, given: dict[str, str], said: str) -> None:
    assert project.is_dir()
    with pytest.raises(ConfigurationError, match=said):
        GraphSource(selected(**given))


def test_check_takes_a_url_in_place_of_what_the_environment_says(
    project: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert project.is_dir()
    monkeypatch.setenv("BFSQL_GRAPH", "none.ttl")
    assert "none.ttl" in run("check").err
    assert "refused" in run("check", URL).err
