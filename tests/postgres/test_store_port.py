"""What every store promises, by the store over PostgreSQL."""

import pytest

from tests.test_store_port import (  # noqa: F401 - pytest collects them here, with this folder's engine
    expected,
    seeds,
    store,
    test_a_degree_beyond_its_bound_is_a_lower_bound,
    test_a_part_within_the_budget_of_rows_is_marked,
    test_the_schema_has_the_types_of_the_files,
    test_whole_answers_are_those_of_the_files,
    test_without_a_budget_nothing_is_whole_and_no_fault_is_stored,
)

pytestmark = [pytest.mark.anyio, pytest.mark.data, pytest.mark.server]
