"""What every store promises, by the store over Neo4j."""

import pytest

from tests.test_store_port import (  # noqa: F401 - pytest collects them here, with this folder's engine
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
