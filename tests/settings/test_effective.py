"""What the place of a graph changes in its profile."""

import pytest

from gateway.settings.endpoint import EndpointSettings, QuotaSettings, RequestSettings
from gateway.settings.graph_identity import profile_digest
from gateway.settings.limits import FileSettings, LimitSettings, OrientationSettings
from gateway.settings.profile import Profile, SearchSettings, profile_for_endpoint, profile_in_process

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


def test_another_way_to_read_a_graph_has_another_digest_and_other_limits_of_parsing_have_not() -> None:
    assert profile_digest(Profile()) == profile_digest(Profile(files=FileSettings(cpu_seconds=7)))
    assert profile_digest(Profile()) != profile_digest(Profile(limits=LimitSettings(query_rows=70)))
