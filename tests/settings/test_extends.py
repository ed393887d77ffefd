"""A profile that changes another one."""

from pathlib import Path

import pytest

from gateway.errors import ConfigurationError
from gateway.settings.load import load_profile


def written(folder: Path, name: str, text: str) -> str:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return str(path)


def refused(path: str) -> str:
    with pytest.raises(ConfigurationError) as caught:
        load_profile(path)
    return str(caught.value)


def test_what_is_not_said_is_as_the_other_profile_says(tmp_path: Path) -> None:
    mine = load_profile(
        written(
            tmp_path,
            "mine.toml",
            """
            extends = "wikidata-local"
            [endpoint]
            contact = "me@example.org"
            [names]
            languages = ["de"]
            """,
        )
    )
    theirs = load_profile("wikidata-local")
    assert mine.endpoint == theirs.endpoint.model_copy(update={"contact": "me@example.org"})
    assert mine.names == theirs.names.model_copy(update={"languages": ("de",)})
    assert (mine.edges, mine.types, mine.roles) == (theirs.edges, theirs.types, theirs.roles)


def test_prefixes_are_added_to_those_of_the_other_profile_and_may_be_used_with_them(tmp_path: Path) -> None:
    mine = load_profile(
        written(
            tmp_path,
            "mine.toml",
            """
            extends = "wikidata-local"
            [prefixes]
            ex = "https://example.org/"
            [types]
            preferred = ["wd:Q5", "ex:Person"]
            """,
        )
    )
    assert mine.types.preferred == ("http://www.wikidata.org/entity/Q5", "https://example.org/Person")


def test_a_list_replaces_the_list_of_the_other_profile(tmp_path: Path) -> None:
    mine = load_profile(written(tmp_path, "mine.toml", 'extends = "wikidata-local"\n[types]\nsubclass_of = []'))
    assert mine.types.subclass_of == ()


def test_a_path_is_meant_from_the_file_that_extends_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "profiles"
    folder.mkdir()
    written(folder, "base.toml", 'description = "ours"\n[limits]\nbatch = 20')
    mine = written(folder, "mine.toml", 'extends = "base.toml"\n[limits]\nrequests = 50')
    monkeypatch.chdir(tmp_path)
    profile = load_profile(mine)
    assert (profile.description, profile.limits.batch, profile.limits.requests) == ("ours", 20, 50)


def test_a_profile_may_extend_one_that_extends_another(tmp_path: Path) -> None:
    written(tmp_path, "base.toml", 'extends = "wikidata-local"\n[limits]\nbatch = 20')
    mine = load_profile(written(tmp_path, "mine.toml", 'extends = "base.toml"\n[limits]\nrequests = 50'))
    assert (mine.limits.batch, mine.limits.requests, mine.names.on_stubs) == (20, 50, True)


def test_a_circle_of_profiles_is_reported_with_its_files(tmp_path: Path) -> None:
    written(tmp_path, "one.toml", 'extends = "two.toml"')
    error = refused(written(tmp_path, "two.toml", 'extends = "one.toml"'))
    assert "two.toml extends one.toml extends two.toml" in error


def test_a_misspelt_name_is_reported_with_the_nearest_one(tmp_path: Path) -> None:
    error = refused(written(tmp_path, "mine.toml", 'extends = "wikidata-locl"'))
    assert "mine.toml extends 'wikidata-locl'" in error
    assert "Did you mean 'wikidata-local'?" in error


@pytest.mark.parametrize("value", ["3", "true", '["wikidata"]'])
def test_a_value_that_is_no_name_is_reported(tmp_path: Path, value: str) -> None:
    assert "extends" in refused(written(tmp_path, "mine.toml", f"extends = {value}"))


def test_a_mistake_below_is_reported(tmp_path: Path) -> None:
    written(tmp_path, "base.toml", "[limits]\nbatsh = 20")
    assert "'batch'" in refused(written(tmp_path, "mine.toml", 'extends = "base.toml"'))


def test_the_profiles_of_wikidata_differ_from_the_local_one_only_in_where_and_how_much_they_ask() -> None:
    local = load_profile("wikidata-local")
    for name in ("wikidata", "wikidata-scholarly", "wikidata-qlever"):
        profile = load_profile(name)
        assert (profile.edges, profile.types, profile.roles) == (local.edges, local.types, local.roles)
        assert (profile.names, profile.prefixes) == (local.names, local.prefixes)
        assert profile.endpoint.requests.concurrency == 1
        assert profile.orientation.enumeration_seconds == 0
        assert profile.hubs.max_degree is not None
