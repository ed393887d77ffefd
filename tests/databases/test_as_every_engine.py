"""What every engine is asked, of both databases: known answers, drawn questions, search words, and a store's promises.

The random graphs are without their blank nodes.
"""

import json
from typing import cast

import pytest
from mcp_types import CallToolResult, TextContent

from gateway.settings.load import load_profile
from tests.calls import Json, connected, patient
from tests.columns import Column
from tests.every_engine.test_known_answers import (  # noqa: F401 - pytest collects them here, with this folder's engine
    test_an_edge_has_its_confidence_and_source,
    test_every_engine_gives_the_same_answers_to_the_byte,
    test_films_that_two_actors_share,
    test_intersections_of_the_medical_literature,
    test_the_schema_of_the_medical_literature_is_comprehensive_and_injected,
    test_traversals_of_the_medical_literature,
    test_two_hops_that_reach_half_of_a_graph_through_its_hubs,
    test_two_hops_that_stop_at_hubs_name_every_hub_with_its_degree,
)
from tests.every_engine.test_oracle_agreement import (  # noqa: F401 - pytest collects them here, with this folder's engine
    session,
    test_a_traversal_equals_the_oracles,
    test_an_intersection_equals_the_oracles,
)
from tests.every_engine.test_search_words import (  # noqa: F401 - pytest collects it here, with this folder's engine
    test_a_miss_is_complete_where_every_node_has_a_name,
    test_every_engine_finds_by_words_and_by_parts_what_the_oracle_does,
)
from tests.every_engine.test_shapes import (  # noqa: F401 - pytest collects them here, with this folder's engine
    test_shapes_are_those_of_the_triples_and_counted,
    test_values_are_those_of_the_triples,
)
from tests.every_engine.test_store_port import (  # noqa: F401 - pytest collects them here, with this folder's engine
    expected,
    seeds,
    store,
    test_a_degree_beyond_its_bound_is_a_lower_bound,
    test_a_node_with_more_edges_than_a_query_may_return_is_read_in_parts,
    test_a_part_within_the_budget_of_rows_is_marked,
    test_a_search_finds_the_entities_of_the_files_or_says_that_it_did_not_compare_all,
    test_an_answer_depends_on_no_order_of_what_is_asked,
    test_some_edges_of_each_node_are_among_its_edges_and_say_that_there_are_more,
    test_the_schema_has_the_types_of_the_files,
    test_whole_answers_are_those_of_the_files,
    test_without_a_budget_nothing_is_whole_and_no_fault_is_stored,
)

pytestmark = [pytest.mark.anyio, pytest.mark.data, pytest.mark.server]

_LARGE_GRAPH = (
    "test_answers_about_a_large_graph_are_the_same_to_the_byte",
    "test_two_hops_that_reach_half_of_a_graph_through_its_hubs",
    "test_two_hops_that_stop_at_hubs_name_every_hub_with_its_degree",
)
"""Tests of a graph that is loaded into PostgreSQL alone."""


@pytest.fixture(scope="session")
def engine(request: pytest.FixtureRequest) -> Column:
    """Run the test on a database."""
    return cast("Column", request.getfixturevalue(f"{request.param}_engine"))


@pytest.fixture(scope="session")
def reference(engine: Column) -> Column:
    """The engine in this process, over the same files."""
    return engine.in_process()


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run each test on the databases that have its graph."""
    if "engine" in metafunc.fixturenames:
        databases = ["postgresql"] if metafunc.function.__name__ in _LARGE_GRAPH else ["postgresql", "neo4j"]
        metafunc.parametrize("engine", databases, indirect=True, scope="session")


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
            assert said(given) == said(expected), (tool, arguments)


def said(result: CallToolResult) -> str:
    """Return an answer as text, without how many edges a hit has, which only a database counts.

    Of more than 200,000 edges a database does not compare local names, and says so: then it is not complete.
    """
    (content,) = result.content
    assert isinstance(content, TextContent)
    answer = json.loads(content.text)
    if isinstance(answer.get("result"), list):
        answer["result"] = [{key: value for key, value in hit.items() if key != "edges"} for hit in answer["result"]]
        answer = {key: value for key, value in answer.items() if key not in {"complete", "searched"}}
    return json.dumps(answer)
