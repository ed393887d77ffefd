"""Paths as people give them, and IRIs that do not tell where files lie."""

import io
import zipfile
from pathlib import Path

import pytest
from pydantic import ValidationError

from gateway.api import open_gateway
from gateway.errors import ConfigurationError
from gateway.files.finding import graph_files
from gateway.files.graph_files import GraphFiles, without_paths
from gateway.files.loading import load_files
from gateway.settings.files import FileSettings
from gateway.settings.graphs_file import read_graphs
from gateway.settings.load import load_profile
from gateway.settings.paths import local_path
from gateway.settings.secrets import read

E = "http://example.org/"


def subjects(given: list[str | Path], base: str = "") -> list[str]:
    return sorted(
        str(quad.subject.value) for quad in load_files(graph_files(given), limits=FileSettings(base=base)).engine
    )


def written(folder: Path, *names: str) -> None:
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(f"<#me> <{E}p> <{E}o> .", "utf-8")


def test_a_relative_iri_has_the_path_from_the_folder_that_was_given(tmp_path: Path) -> None:
    written(tmp_path, "in/a b.ttl", "in/deep/c.ttl", "d.ttl")
    inside = ["file:///a%20b.ttl#me", "file:///deep/c.ttl#me"]
    assert subjects([tmp_path / "in"]) == inside
    assert subjects([tmp_path / "in" / "deep" / "c.ttl"]) == ["file:///c.ttl#me"]
    assert subjects([str(tmp_path / "*" / "*.ttl")]) == ["file:///in/a%20b.ttl#me"]
    assert subjects([tmp_path / "in", tmp_path / "d.ttl"]) == sorted([*inside, "file:///d.ttl#me"])


def test_names_that_would_be_equal_are_numbered(tmp_path: Path) -> None:
    names = [f"{folder}/x.ttl" for folder in "abc"]
    written(tmp_path, *names, "2/x.ttl", "d/2/x.ttl")
    assert subjects([tmp_path / name for name in names]) == [
        "file:///2/x.ttl#me",
        "file:///3/x.ttl#me",
        "file:///x.ttl#me",
    ]
    files = GraphFiles((Path(name), name) for name in ("x", "2/x", "x", "2/x", "x"))
    assert list(files.names) == ["x", "2/x", "3/x", "2/2/x", "4/x"]


def test_a_base_that_is_given_is_that_of_every_file(tmp_path: Path) -> None:
    written(tmp_path, "a.ttl", "b.ttl")
    assert subjects([tmp_path], f"{E}data/") == [f"{E}data/#me"]
    for wrong in ("data/", "not an iri", "http://e/ x", f"{E}{'x' * 3_000}"):
        with pytest.raises(ValidationError, match="whole IRI"):
            FileSettings(base=wrong)


def test_a_file_in_an_archive_has_the_name_of_the_archive_before_its_own(tmp_path: Path) -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("in/a.ttl", f"<#me> <{E}p> <{E}o> .")
    (tmp_path / "x.zip").write_bytes(packed.getvalue())
    assert subjects([tmp_path / "x.zip"]) == ["file:///x.zip/in/a.ttl#me"]


@pytest.mark.anyio
async def test_no_answer_has_a_local_path(tmp_path: Path) -> None:
    (tmp_path / "a.ttl").write_text('<#me> <http://xmlns.com/foaf/0.1/name> "Tim" .', "utf-8")
    async with open_gateway([tmp_path]) as gateway:
        found = await gateway.search_entities("Tim")
        assert found.result[0].id == "file:///a.ttl#me"
        described = (await gateway.describe_schema()).model_dump_json()
    assert str(tmp_path) not in found.model_dump_json() + described


def test_an_error_for_clients_calls_files_by_their_names(tmp_path: Path) -> None:
    written(tmp_path, "in/a.ttl")
    (tmp_path / "in" / "a.ttl").write_text("oops")
    files = graph_files([tmp_path])
    with pytest.raises(ConfigurationError) as caught:
        load_files(files)
    assert str(tmp_path) in str(caught.value)
    shown = without_paths(caught.value, files)
    assert str(shown).startswith("in/a.ttl:1:")
    assert str(tmp_path) not in str(shown)


# Paths


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home directory with a graph in it, and another directory to work in."""
    written(tmp_path / "home", "x.ttl")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    return tmp_path / "home"


def test_a_tilde_and_a_file_url_are_paths(home: Path) -> None:
    for given in (
        "~/x.ttl",
        f"file://{home}/x.ttl",
        f"file://localhost{home}/x%2Ettl",
        f"FILE:{home}/x.ttl",
        "~/*.ttl",
    ):
        assert list(graph_files([given])) == [home / "x.ttl"]
    assert list(graph_files(["~"])) == [home / "x.ttl"]
    assert local_path("~no-such-user/x") == Path("~no-such-user/x")
    assert local_path(Path("~/x")) == Path("~/x")
    for wrong in ("file://elsewhere/x.ttl", "file:x.ttl", f"file://{home}/x.ttl#part", f"file://{home}/x.ttl?a=b"):
        with pytest.raises(ConfigurationError, match="names no file on this machine"):
            local_path(wrong)


def test_settings_take_such_paths_too(home: Path) -> None:
    (home / "own.toml").write_text("description = 'mine'\n")
    assert load_profile("~/own.toml").description == load_profile(f"file://{home}/own.toml").description == "mine"
    (home / "secret").write_text("s3cret\n")
    assert read("file:~/secret", "x").get_secret_value() == "s3cret"
    path = home / "graphs.toml"
    path.write_text(
        '[graphs.a]\nabout = "A"\ngraph = ["~/x.ttl", "y.ttl"]\nprofile = "~/own.toml"\nstore = "~/stored"\n'
        f'[graphs.b]\nabout = "B"\ngraph = "file://{home}/x.ttl"\n'
    )
    one, other = read_graphs(path)
    assert one.graph == (str(home / "x.ttl"), str(home / "y.ttl"))
    assert (one.profile, one.store) == (str(home / "own.toml"), str(home / "stored"))
    assert other.graph == (str(home / "x.ttl"),)
