"""The folder in which things of a graph are stored."""

import json
from pathlib import Path

import pytest

from gateway.settings.endpoint import EndpointSettings, RequestSettings
from gateway.settings.profile import Profile
from gateway.settings.storage import GraphIdentity, graph_folder
from gateway.settings.vocabulary import EdgeSettings, EvidenceSettings, NameSettings, RoleSettings

URL = "https://graph.example.org/sparql"
MESH = "http://id.nlm.nih.gov/mesh/"


def test_a_graph_has_the_same_folder_every_time() -> None:
    assert graph_folder(GraphIdentity.of(URL, Profile(), {})) == graph_folder(GraphIdentity.of(URL, Profile(), {}))


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
def test_another_graph_or_another_way_to_read_it_has_another_folder(url: str, profile: Profile) -> None:
    assert graph_folder(GraphIdentity.of(url, profile, {})) != graph_folder(GraphIdentity.of(URL, Profile(), {}))


def test_what_does_not_change_what_is_read_does_not_change_the_folder() -> None:
    slow = Profile(endpoint=EndpointSettings(url=URL, requests=RequestSettings(delay_seconds=1)), description="a graph")
    assert graph_folder(GraphIdentity.of(URL, slow, {})) == graph_folder(GraphIdentity.of(URL, Profile(), {}))


@pytest.mark.parametrize("url", ["postgresql://reader@graph.example.org/db", "neo4j://reader@graph.example.org/db"])
def test_a_database_whose_ids_other_prefixes_make_other_iris_of_has_another_folder(url: str) -> None:
    declared = Profile(prefixes={"MeSH": MESH, "x": "urn:x:"})
    same = [
        GraphIdentity.of(url, declared, {}),
        GraphIdentity.of(url, Profile(), {"x": "urn:x:", "MeSH": MESH}),
        GraphIdentity.of(url, Profile(prefixes={"MeSH": "urn:other:", "x": "urn:x:"}), {"MeSH": MESH}),
    ]
    others = [
        GraphIdentity.of(url, Profile(), {}),
        GraphIdentity.of(url, Profile(), {"MeSH": MESH}),
        GraphIdentity.of(url, declared, {"MeSH": "urn:other:"}),
    ]
    assert len({graph_folder(identity) for identity in same}) == 1
    assert len({graph_folder(identity) for identity in [same[0], *others]}) == 4


def test_an_endpoint_whose_ids_are_iris_has_one_folder_whatever_the_prefixes() -> None:
    declared = GraphIdentity.of(URL, Profile(prefixes={"MeSH": MESH}), {"x": "urn:x:"})
    assert graph_folder(declared) == graph_folder(GraphIdentity.of(URL, Profile(), {}))


def test_no_secret_of_a_url_is_stored() -> None:
    identity = GraphIdentity.of("https://ann:hush@graph.example.org/sparql?api_key=hush&db=films#hush", Profile(), {})
    assert identity.url == "https://graph.example.org/sparql?db=films"
    assert "hush" not in json.dumps(identity.readable)


def test_the_operators_folder_wins_over_the_users_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    identity = GraphIdentity.of(URL, Profile(), {})
    assert graph_folder(identity).is_relative_to(tmp_path / "cache")
    assert graph_folder(identity, tmp_path / "mine").parent == tmp_path / "mine"
