"""What the environment and the project file select, by the command line."""

import os
from pathlib import Path
from typing import Any

import pytest

from gateway.cli.defaults import with_defaults
from gateway.cli.graph_source import GraphSource
from gateway.cli.options import CommonOptions
from gateway.errors import ConfigurationError
from gateway.settings.limits import FileSettings
from gateway.settings.urls import VARIABLE
from gateway.transport.credentials import access_to
from tests.cli.conftest import Run

ALL = frozenset({"graph", "endpoint", "profile", "store", "cache", "prefix"})
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
    return with_defaults(CommonOptions(**given), ALL)


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


def test_errors_of_a_project_file_say_how_to_do_without_it(project: Path, run: Run) -> None:
    write(project, 'stoer = "x"')
    assert "BFSQL_PROJECT=off" in run("schema").err


def test_help_and_errors_say_where_a_value_is_from(project: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(project, 'graph = "none.ttl"')
    assert run("schema").err.endswith(f"No such file or directory. --graph is from {path}.\n")
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
    monkeypatch.setenv(VARIABLE, "me@example.org")
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
