"""Contexts of JSON-LD that lie elsewhere: given as files, and never fetched."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from pydantic import ValidationError

from gateway.cli.graph_source import with_reading
from gateway.cli.options import CommonOptions
from gateway.errors import ConfigurationError
from gateway.files.contexts import CARRIED, carried_contexts
from gateway.files.loading import load_files
from gateway.files.stored_graph import open_stored
from gateway.settings.files import FileSettings

E = "http://e/"
URL = "https://w3id.org/ro/crate/1.1/context"


def written(path: Path, content: object) -> Path:
    path.write_text(content if isinstance(content, str) else json.dumps(content), "utf-8")
    return path


def statements(path: Path, contexts: dict[str, Path] | None = None, base: str = "") -> set[tuple[str, str]]:
    settings = FileSettings(contexts={url: str(file) for url, file in (contexts or {}).items()}, base=base)
    return {(quad.predicate.value, str(quad.object)) for quad in load_files([path], limits=settings).engine}


@pytest.mark.parametrize(
    "context",
    [URL, [URL], [{"x": f"{E}x"}, URL], {"@import": URL}, {"x": {"@id": f"{E}x", "@context": URL}}],
)
def test_a_context_elsewhere_is_named_with_both_ways_out(tmp_path: Path, context: object) -> None:
    path = written(tmp_path / "x.jsonld", {"@context": context, "@id": f"{E}a", "x": {"@id": f"{E}c", "name": "D"}})
    for lenient in (False, True):
        with pytest.raises(ConfigurationError) as caught:
            load_files([path], limits=FileSettings(lenient=lenient))
        text = str(caught.value)
        assert f"its @context is at {URL}, and nothing is fetched" in text
        assert "Put it into the file" in text
        assert f"--context {URL}=FILE" in text


def test_a_relative_context_is_looked_for_beside_the_document(tmp_path: Path) -> None:
    path = written(tmp_path / "x.jsonld", {"@context": "own.jsonld", "name": "D"})
    with pytest.raises(ConfigurationError, match=r"its @context is at file:///own\.jsonld"):
        statements(path)
    own = written(tmp_path / "own.jsonld", {"@context": {"name": f"{E}name"}})
    assert statements(path, {f"{E}own.jsonld": own}, f"{E}data") == {(f"{E}name", '"D"')}


def test_a_context_from_a_file_is_as_one_in_the_document(tmp_path: Path) -> None:
    inner = {"@base": "http://ignored/", "name": f"{E}name", "knows": {"@id": f"{E}knows", "@type": "@id"}}
    context = written(tmp_path / "context.jsonld", {"@context": inner, "about": "me"})
    body = {"@id": "a", "name": "D é", "knows": "b", "number": 1.0, "big": 12345678901234567890, "more": 1e2}
    own = {name: f"{E}{name}" for name in ("number", "big", "more")}
    plain = {key: value for key, value in inner.items() if key != "@base"}
    right = statements(written(tmp_path / "x.jsonld", {"@context": [plain, own], **body}))
    assert len(right) == 5
    for given in (URL, f"{URL}/", URL.replace("https", "http")):
        path = written(tmp_path / "x.jsonld", {"@context": [given, own], **body})
        assert statements(path, {URL: context}) == right
    path = written(tmp_path / "x.jsonld", {"@context": {"@import": URL, "@version": 1.1, **own}, **body})
    assert statements(path, {URL: context}) == right
    path = written(tmp_path / "x.jsonld", [{"@graph": [{"@context": [[URL], own], **body}]}])
    assert statements(path, {URL: context}) == right


def test_contexts_of_contexts_and_of_terms_are_found(tmp_path: Path) -> None:
    terms = {"@context": {"name": f"{E}name"}}
    scoped = {"@context": ["terms.jsonld", {"part": {"@id": f"{E}part", "@context": "inner/scoped.jsonld"}}]}
    files = {
        f"{E}c/main.jsonld": written(tmp_path / "main.jsonld", scoped),
        f"{E}c/terms.jsonld": written(tmp_path / "terms.jsonld", terms),
        f"{E}c/inner/scoped.jsonld": written(tmp_path / "scoped.jsonld", {"@context": {"name": f"{E}partName"}}),
    }
    document = {"@context": f"{E}c/main.jsonld", "@id": f"{E}a", "name": "A", "part": {"@id": f"{E}b", "name": "B"}}
    path = written(tmp_path / "x.jsonld", document)
    assert statements(path, files) == {
        (f"{E}name", '"A"'),
        (f"{E}part", f"<{E}b>"),
        (f"{E}partName", '"B"'),
    }


@pytest.mark.parametrize(
    ("content", "wrong"),
    [
        ("no JSON", "is no JSON with an @context"),
        ("[]", "is no JSON with an @context"),
        ("{}", "is no JSON with an @context"),
        (json.dumps({"@context": URL}), "contains itself"),
        (json.dumps({"@context": [{"@import": URL}]}), "contains itself"),
    ],
)
def test_a_file_that_is_no_context_is_refused(tmp_path: Path, content: str, wrong: str) -> None:
    context = written(tmp_path / "context.jsonld", content)
    path = written(tmp_path / "x.jsonld", {"@context": URL, "@id": f"{E}a", "name": "D"})
    with pytest.raises(ConfigurationError, match=wrong):
        statements(path, {URL: context})
    for broken in ('{"@context": "' + URL, '{"@context":' * 3_000, '{"@context":' * 3_000 + "1" + "}" * 3_000):
        with pytest.raises(ConfigurationError, match=r"x\.jsonld"):
            statements(written(path, broken), {URL: written(tmp_path / "context.jsonld", {"@context": {}})})


def test_a_context_that_changes_is_another_graph(tmp_path: Path) -> None:
    context = written(tmp_path / "context.jsonld", {"@context": {"name": f"{E}one"}})
    path = written(tmp_path / "x.jsonld", {"@context": URL, "@id": f"{E}a", "name": "D"})
    settings = FileSettings(contexts={URL: str(context)})
    for predicate in ("one", "two"):
        written(context, {"@context": {"name": f"{E}{predicate}"}})
        (quad,) = open_stored([path], tmp_path / "stored", limits=settings).engine
        assert quad.predicate.value == f"{E}{predicate}"


def test_contexts_are_given_on_the_command_line(tmp_path: Path) -> None:
    one, two = (written(tmp_path / name, {"@context": {}}) for name in ("one.json", "two.json"))
    given = [f"{URL}?a=b={one}", f"https://schema.org/={two}"]
    settings = with_reading(FileSettings(contexts={f"{E}c": str(one)}), CommonOptions(context=given))
    assert settings.contexts == {f"{E}c": str(one), f"{URL}?a=b": str(one), "https://schema.org/": str(two)}
    for wrong in ("", "x", f"{URL}=none.json", f"schema.org={one}"):
        with pytest.raises(ConfigurationError, match="--context"):
            with_reading(FileSettings(), CommonOptions(context=[wrong]))
    with pytest.raises(ValidationError):
        FileSettings(contexts={URL: "none.json"})


@pytest.fixture
def _found_anew() -> Iterator[None]:
    carried_contexts.cache_clear()
    yield
    carried_contexts.cache_clear()


@pytest.mark.usefixtures("_found_anew")
@pytest.mark.parametrize("code", ["", "raise AssertionError"])
def test_a_folder_with_the_name_of_a_package_is_none_that_is_installed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: str
) -> None:
    for package, name in CARRIED.values():
        file = tmp_path / package / name
        file.parent.mkdir(parents=True)
        written(file, {"@context": {"name": f"{E}foreign"}})
        if code:
            written(tmp_path / package / "__init__.py", code)
    monkeypatch.syspath_prepend(tmp_path)
    for url in CARRIED:
        path = written(tmp_path / "x.jsonld", {"@context": url, "name": "D"})
        with pytest.raises(ConfigurationError, match="bfsql-gateway\\[contexts]"):
            statements(path)


@pytest.mark.usefixtures("_found_anew")
def test_contexts_of_installed_packages_need_not_be_given(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    body = {"name": "D"}
    paths = {url: written(tmp_path / f"{place}.jsonld", {"@context": url, **body}) for place, url in enumerate(CARRIED)}
    for url, path in paths.items():
        with pytest.raises(ConfigurationError, match="bfsql-gateway\\[contexts]"):
            statements(path)
        package, name = CARRIED[url]
        file = tmp_path / package / name
        file.parent.mkdir(parents=True)
        (tmp_path / package / "__init__.py").write_text("raise AssertionError", "utf-8")
        written(file, {"@context": {"name": f"{E}{package}"}})
        metadata = tmp_path / f"{package}-1.0.dist-info" / "METADATA"
        metadata.parent.mkdir()
        written(metadata, f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
    monkeypatch.syspath_prepend(tmp_path)
    carried_contexts.cache_clear()
    for url, path in paths.items():
        assert statements(path) == {(f"{E}{CARRIED[url][0]}", '"D"')}
        given = written(tmp_path / "given.jsonld", {"@context": {"name": f"{E}given"}})
        assert statements(path, {url.replace("https", "http"): given}) == {(f"{E}given", '"D"')}
    # Another version of a context is not used for this one.
    crate = "https://w3id.org/ro/crate/1.3/context"
    other = {"@id": crate.replace("1.3", "1.4"), "@context": {"name": f"{E}name"}}
    written(tmp_path / Path(*CARRIED[crate]), other)
    carried_contexts.cache_clear()
    with pytest.raises(ConfigurationError, match="nothing is fetched"):
        statements(paths[crate])
