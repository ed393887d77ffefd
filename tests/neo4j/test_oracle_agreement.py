"""Traversals and intersections on the random graphs, without their blank nodes, equal the naive oracle's."""

import pytest

from tests.test_oracle_agreement import (  # noqa: F401 - pytest collects them here, with this folder's engine
    session,
    test_a_traversal_equals_the_oracles,
    test_an_intersection_equals_the_oracles,
)

pytestmark = pytest.mark.server
