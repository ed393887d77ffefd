"""Answers about a graph whose IDs are opaque read well: whatever has a name in the graph has it in the answer."""

import itertools
from collections.abc import AsyncIterator, Sequence
from typing import Any

import pytest

from gateway import resources
from gateway.api import open_gateway
from gateway.settings.load import load_profile
from gateway.stores.endpoints import store_over
from gateway.stores.loaded import load
from gateway.terms.prefixes import PrefixMap
from gateway.tools.gateway import Gateway
from tests.cases import await_each
from tests.wikidata.failing import WithoutPredicateNames
from tests.wikidata.readable import labelled, unreadable

pytestmark = pytest.mark.anyio

SLICE = resources.folder("fixtures") / "wikidata-slice.ttl"
SEEDS = ["wd:Q42", "wd:Q7251", "wd:Q5679", "wd:Q84", "wd:Q25169", "wd:Q90", "wd:Q535", "wd:Q692"]


@pytest.fixture(scope="module")
def named() -> frozenset[str]:
    return labelled(SLICE)


@pytest.fixture
async def gateway() -> AsyncIterator[Gateway]:
    async with open_gateway(SLICE, profile="wikidata-local") as opened:
        yield opened


@pytest.mark.parametrize("hops", [1, 2])
@pytest.mark.parametrize("size", [{}, {"max_tokens": 400}, {"topology_only": True}, {"limit": 3}, {"max_degree": 1}])
async def test_a_traversal_names_whatever_it_mentions(
    gateway: Gateway, named: frozenset[str], hops: int, size: dict[str, Any]
) -> None:
    async def check(seed: str) -> None:
        answer = await gateway.call("bfs_query", {"seeds": [seed], "max_hops": hops, **size})
        assert unreadable(answer.as_json(), named) == set()

    await await_each(SEEDS, check)


async def test_an_intersection_names_whatever_it_mentions(gateway: Gateway, named: frozenset[str]) -> None:
    async def check(pair: Sequence[str]) -> None:
        answer = await gateway.intersect_subgraphs(list(pair), k=2)
        assert unreadable(answer.as_json(), named) == set()

    await await_each(itertools.pairwise(SEEDS), check)


async def test_a_description_names_whatever_it_mentions(gateway: Gateway, named: frozenset[str]) -> None:
    async def check(seed: str) -> None:
        assert unreadable((await gateway.describe_entity(seed)).as_json(), named) == set()

    await await_each(SEEDS, check)


async def test_descriptions_name_whatever_they_mention(gateway: Gateway, named: frozenset[str]) -> None:
    answer = (await gateway.describe_entities(SEEDS)).as_json()
    assert unreadable(answer, named) == set()
    assert answer["labels"]["wdt:P569"] == "date of birth"


async def test_hits_name_their_types(gateway: Gateway, named: frozenset[str]) -> None:
    answer = (await gateway.search_entities("london")).as_json()
    assert unreadable(answer, named) == set()
    assert answer["labels"] == {"wd:Q1549591": "big city"}


async def test_the_schema_names_its_types_and_predicates(gateway: Gateway, named: frozenset[str]) -> None:
    assert unreadable((await gateway.describe_schema()).as_json(), named) == set()


async def test_a_name_that_stands_beside_its_id_is_not_shown_twice(gateway: Gateway) -> None:
    answer = (await gateway.bfs_query(["wd:Q42"], max_hops=1)).as_json()
    beside = {node["id"] for node in answer["nodes"] if "name" in node or "name" in node.get("metadata", {})}
    assert not beside & answer["labels"].keys()
    assert {"wd:Q5", "wdt:P106", "wdt:P569"} <= answer["labels"].keys()


async def test_names_that_could_not_be_fetched_are_reported() -> None:
    profile = load_profile("wikidata-local")
    transport, _ = load(SLICE, profile)
    store: Any = WithoutPredicateNames(store_over(transport, profile))
    async with Gateway(store, profile, PrefixMap(profile.prefixes)) as gateway:
        answer = await gateway.describe_entity("wd:Q42")
        graph = await gateway.bfs_query(["wd:Q42"], max_hops=1)
    # Its type is known, and the names of the predicates of its six values are not.
    assert answer.degraded == {"labels_failed": 6}
    assert answer.labels == {"wd:Q5": "human"}
    # Edge predicates were named when the schema was read.
    assert graph.degraded is not None
    assert graph.degraded["labels_failed"] > 0
    assert graph.labels is not None
    assert graph.labels["wdt:P106"] == "occupation"
