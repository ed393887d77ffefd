"""The known answers of all engines, given by Neo4j."""

import pytest

from tests.test_known_answers import (  # noqa: F401 - pytest collects them here, with this folder's engine
    test_an_edge_has_its_confidence_and_source,
    test_every_engine_gives_the_same_answers_to_the_byte,
    test_films_that_two_actors_share,
    test_intersections_of_the_medical_literature,
    test_the_schema_of_the_medical_literature_is_comprehensive_and_injected,
    test_traversals_of_the_medical_literature,
)

pytestmark = [pytest.mark.anyio, pytest.mark.data, pytest.mark.server]
