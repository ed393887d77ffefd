"""Which names a search finds by words and by parts of words, by Neo4j."""

import pytest

from tests.test_search_words import (  # noqa: F401 - pytest collects it here, with this folder's engine
    test_a_miss_is_complete_where_every_node_has_a_name,
    test_every_engine_finds_by_words_and_by_parts_what_the_oracle_does,
)

pytestmark = [pytest.mark.anyio, pytest.mark.server]
