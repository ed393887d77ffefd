import json
from pathlib import Path

import pytest

from gateway.errors import ConfigurationError
from gateway.settings.endpoint import EndpointSettings
from gateway.settings.evidence import EvidenceSettings
from gateway.settings.profile import EdgeSettings, NameSettings, Profile, RoleSettings
from gateway.settings.storage import Identity, make, place_for, write

URL = "https://graph.example.org/sparql"


def test_a_graph_has_the_same_place_every_time() -> None:
    assert place_for(Identity.of(URL, Profile())) == place_for(Identity.of(URL, Profile()))


@pytest.mark.parametrize(
    ("url", "profile"),
    [
        ("https://graph.example.org/other", Profile()),
        (URL, Profile(endpoint=EndpointSettings(graphs=("urn:graph:a",)))),
        (URL, Profile(endpoint=EndpointSettings(graphs="union"))),
        (URL, Profile(edges=EdgeSettings(allowed=("http://example.org/p",)))),
        (URL, Profile(edges=EdgeSettings(types=("http://example.org/kind",)))),
        (URL, Profile(roles=RoleSettings(name=("http://example.org/name",)))),
        (URL, Profile(roles=RoleSettings(synonym=("http://example.org/name",)))),
        (URL, Profile(roles=RoleSettings(description=("http://example.org/note",)))),
        (URL, Profile(evidence=EvidenceSettings(ways=("statements",)))),
        (URL, Profile(names=NameSettings(languages=("de",)))),
        (URL, Profile(names=NameSettings(predicate_entity=("http://example.org/claim",)))),
    ],
)
def test_another_graph_or_another_way_to_read_it_has_another_place(url: str, profile: Profile) -> None:
    assert place_for(Identity.of(url, profile)) != place_for(Identity.of(URL, Profile()))


def test_what_does_not_change_what_is_read_does_not_change_the_place() -> None:
    slow = Profile(endpoint=EndpointSettings(delay_seconds=1, url=URL), description="a graph")
    assert place_for(Identity.of(URL, slow)) == place_for(Identity.of(URL, Profile()))


def test_no_secret_of_a_url_is_kept() -> None:
    identity = Identity.of("https://ann:hush@graph.example.org/sparql?api_key=hush&db=films#hush", Profile())
    assert identity.url == "https://graph.example.org/sparql?db=films"
    assert "hush" not in json.dumps(identity.readable)


def test_the_operators_folder_wins_over_the_users_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    identity = Identity.of(URL, Profile())
    assert place_for(identity).is_relative_to(tmp_path / "cache")
    assert place_for(identity, tmp_path / "mine").parent == tmp_path / "mine"


def test_a_file_is_written_whole_and_leaves_nothing_else_behind(tmp_path: Path) -> None:
    path = tmp_path / "new" / "about.json"
    write(path, "old")
    write(path, "new")
    assert path.read_text(encoding="utf-8") == "new"
    assert list(path.parent.iterdir()) == [path]


def test_a_folder_that_cannot_be_made_is_a_clear_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(ConfigurationError, match="--store"):
        make(tmp_path / "file" / "below")
    with pytest.raises(ConfigurationError, match="--store"):
        write(tmp_path / "file" / "below" / "about.json", "")
