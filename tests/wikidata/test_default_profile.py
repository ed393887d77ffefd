"""What a traversal costs its reader under the profile `wikidata`, on a graph that is shaped like it (wd50k)."""

import pytest

from gateway.answers.size import BYTES_PER_TOKEN
from gateway.escaping import json_text
from gateway.settings.endpoint import QuotaSettings
from gateway.settings.load import load_profile
from gateway.settings.profile import Profile, SearchSettings
from tests.calls import asked, connected, patient
from tests.columns import Column
from tests.oracle import bfs
from tests.shared_data import shared_data
from tests.test_oracle import WD, read_wikidata
from tests.wikidata.readable import labelled, unreadable

pytestmark = [pytest.mark.anyio, pytest.mark.data, pytest.mark.large]

TOKENS = 10_000
PEOPLE = ("Q83338", "Q7085", "Q42786")
NATIONS_AND_LANGUAGES = ("Q30", "Q145", "Q183", "Q1860", "Q150")


def _here(profile: Profile) -> Profile:
    """Return a profile of the service for an engine on this machine, however slow that is; no name is searched."""
    endpoint = profile.endpoint.model_copy(update={"quota": QuotaSettings(), "contact": "ops@example.org"})
    return profile.model_copy(update={"endpoint": endpoint, "search": SearchSettings()})


@pytest.mark.parametrize("person", PEOPLE)
async def test_two_hops_from_a_person_fit_and_stop_at_countries_and_languages(engine: Column, person: str) -> None:
    profile = _here(patient(load_profile("wikidata")))
    most = profile.hubs.max_degree
    graph = read_wikidata(shared_data("wd50k.nt.gz"))
    expected = bfs(graph, [WD + person], 2, max_degree=most)
    async with connected(engine.open("wd50k", profile)) as client:
        answer = await asked(client, "bfs_query", seeds=[f"wd:{person}"], max_hops=2)
    assert len(json_text(answer).encode()) < TOKENS * BYTES_PER_TOKEN
    assert (answer["node_count"], answer["edge_count"]) == (len(expected.distance), len(expected.edges))
    gaps = {gap["cause"]: gap["count"] for gap in answer["incomplete"]}
    # The file is a part of Wikidata, in which many items are only mentioned: as in one half of the service.
    assert gaps.keys() <= {"hub_not_expanded", "other_graph"}
    assert gaps["hub_not_expanded"] == len(expected.hubs)
    hubs = {iri.removeprefix(WD) for iri in expected.hubs}
    assert hubs & {*NATIONS_AND_LANGUAGES}
    near = {iri.removeprefix(WD) for iri, steps in expected.distance.items() if steps == 1}
    assert {*NATIONS_AND_LANGUAGES} & near <= hubs
    # "human" is a type and no node, so it leads nowhere.
    assert WD + "Q5" not in expected.distance
    assert answer["nodes"][0]["entity_type"] in {"wd:Q5", "untyped"}
    assert unreadable(answer, labelled(shared_data("wd50k.nt.gz"))) == set()
