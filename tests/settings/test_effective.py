"""What the place of a graph changes in its profile."""

import pytest

from gateway.settings.endpoint import EndpointSettings, QuotaSettings, RequestSettings
from gateway.settings.limits import FileSettings, HubSettings, LimitSettings, OrientationSettings, SizeSettings
from gateway.settings.profile import Profile, SearchSettings, ServerSettings, profile_for_endpoint, profile_in_process
from gateway.settings.storage import names_digest, profile_digest
from gateway.settings.vocabulary import EdgeSettings, NameSettings, RoleSettings

OWN, FOREIGN = "http://10.0.0.1/sparql", "https://query.example.org/sparql"


@pytest.mark.parametrize(
    ("url", "profile", "seconds"),
    [
        (OWN, Profile(), None),
        (FOREIGN, Profile(), 0.0),
        (FOREIGN, Profile(orientation=OrientationSettings(enumeration_seconds=7.0)), 7.0),
        (OWN, Profile(endpoint=EndpointSettings(requests=RequestSettings(concurrency=1))), 0.0),
        (OWN, Profile(endpoint=EndpointSettings(quota=QuotaSettings(errors_per_minute=5, errors_burst=10))), 0.0),
    ],
    ids=["own", "foreign", "as the profile says", "one query at a time", "with a quota"],
)
def test_every_triple_is_read_only_of_an_endpoint_on_ones_own_network_with_room(
    url: str, profile: Profile, seconds: float | None
) -> None:
    assert profile_for_endpoint(profile, url).orientation.enumeration_seconds == seconds


def test_a_graph_in_this_process_is_searched_here_and_counted_at_once_unless_the_profile_says_otherwise() -> None:
    profile = Profile(search=SearchSettings(api="https://wiki.example.org/w/api.php"))
    assert profile_in_process(profile).search.api == ""
    assert profile_in_process(profile).orientation.glance_triples == 1_000_000
    small = Profile(orientation=OrientationSettings(glance_triples=20))
    assert profile_in_process(small).orientation.glance_triples == 20


@pytest.mark.parametrize(
    "other",
    [
        Profile(files=FileSettings(cpu_seconds=7)),
        Profile(server=ServerSettings(shape="reference")),
        Profile(size=SizeSettings(max_tokens=500), names=NameSettings(on_stubs=True)),
        Profile(endpoint=EndpointSettings(contact="me@example.org")),
        Profile(description="Films.", hubs=HubSettings(max_degree=7)),
    ],
)
def test_what_says_how_answers_are_shown_changes_nothing_in_what_is_read(other: Profile) -> None:
    assert profile_digest(other) == profile_digest(Profile())
    assert names_digest(other) == names_digest(Profile())


@pytest.mark.parametrize(
    ("other", "has_other_names"),
    [
        (Profile(limits=LimitSettings(query_rows=70)), False),
        (Profile(names=NameSettings(languages=("de",))), False),
        (Profile(edges=EdgeSettings(also_excepted=("urn:p",))), False),
        (Profile(edges=EdgeSettings(types=("urn:kind",))), True),
        (Profile(roles=RoleSettings(name=("urn:name",))), True),
        (Profile(roles=RoleSettings(synonym=())), True),
    ],
)
def test_another_way_to_read_a_graph_has_a_digest_of_its_own(other: Profile, has_other_names: bool) -> None:
    assert profile_digest(other) != profile_digest(Profile())
    assert (names_digest(other) != names_digest(Profile())) is has_other_names
