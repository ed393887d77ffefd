"""The known answers of all engines, given by PostgreSQL."""

import pytest

from gateway.settings.load import load_profile
from tests.calls import Json, connected, patient
from tests.columns import Column
from tests.test_known_answers import (  # noqa: F401 - pytest collects them here, with this folder's engine
    test_an_edge_has_its_confidence_and_source,
    test_every_engine_gives_the_same_answers_to_the_byte,
    test_films_that_two_actors_share,
    test_intersections_of_the_medical_literature,
    test_the_schema_of_the_medical_literature_is_comprehensive_and_injected,
    test_traversals_of_the_medical_literature,
    test_two_hops_that_reach_half_of_a_graph_through_its_hubs,
    test_two_hops_that_stop_at_hubs_name_every_hub_with_its_degree,
)

pytestmark = [pytest.mark.anyio, pytest.mark.data, pytest.mark.server]

LARGE: tuple[tuple[str, Json], ...] = (
    ("bfs_query", {"seeds": ["wd:Q286525"], "max_hops": 1}),
    ("bfs_query", {"seeds": ["wd:Q286525"], "max_hops": 2, "topology_only": True}),
    ("bfs_query", {"seeds": ["wd:Q286525"], "max_hops": 2, "max_degree": 100}),
    ("intersect_subgraphs", {"seeds": ["wd:Q286525", "wd:Q216896"], "k": 1}),
    ("describe_entity", {"id": "wd:Q286525"}),
    ("search_entities", {"query": "Spain"}),
)


@pytest.mark.large
async def test_answers_about_a_large_graph_are_the_same_to_the_byte(engine: Column, reference: Column) -> None:
    profile = patient(load_profile("wikidata-local"))
    # A table has no names of predicates under the IRIs of others.
    names = profile.names.model_copy(update={"predicate_entity": ()})
    profile = profile.model_copy(update={"names": names})
    async with (
        connected(engine.open("codex-m", profile)) as here,
        connected(reference.open("codex-m", profile)) as there,
    ):
        for tool, arguments in LARGE:
            given, expected = await here.call_tool(tool, arguments), await there.call_tool(tool, arguments)
            assert not expected.is_error
            assert given.content == expected.content, (tool, arguments)
