"""Small graphs in the Wikidata model, in which an answer could lack something without saying so."""

from typing import Any

import pyoxigraph
import pytest

from gateway.answers.models import Subgraph
from gateway.errors import InputError
from gateway.settings.limits import OrientationSettings
from gateway.settings.load import load_profile
from gateway.settings.profile import Profile
from gateway.stores.endpoints import store_over
from gateway.terms.prefixes import PrefixMap
from gateway.tools.gateway import Gateway
from gateway.transport.inprocess import InProcess
from tests.wikidata.failing import Failing, WithoutMetadata, WithoutNames

pytestmark = pytest.mark.anyio

WIKIDATA = load_profile("wikidata-local")
HALF = WIKIDATA.model_copy(update={"endpoint": WIKIDATA.endpoint.model_copy(update={"other_graph": "the other half"})})


def small(turtle: str, profile: Profile = WIKIDATA, failing: type[Failing] | None = None) -> Gateway:
    """Open a gateway over a graph in Turtle."""
    graph = pyoxigraph.Store()
    header = "".join(f"@prefix {name}: <{namespace}> .\n" for name, namespace in profile.prefixes.items())
    graph.load((header + turtle).encode(), pyoxigraph.RdfFormat.TURTLE)
    store: Any = store_over(InProcess(graph, max_bytes=1 << 24), profile)
    return Gateway(failing(store) if failing else store, profile, PrefixMap(profile.prefixes))


def gaps(answer: Subgraph) -> list[tuple[str, list[str]]]:
    """Return what an answer lacks."""
    return [(gap.cause, gap.ids) for gap in answer.incomplete or ()]


async def test_an_item_that_was_merged_twice_is_followed_to_its_end() -> None:
    turtle = "wd:Q1 owl:sameAs wd:Q2 . wd:Q2 owl:sameAs wd:Q3 . wd:Q3 wdt:P1 wd:Q4 ."
    async with small(turtle) as gateway:
        around = await gateway.bfs_query(["wd:Q1"], 1)
        shared = await gateway.intersect_subgraphs(["wd:Q1", "wd:Q4"], 1)
    assert (around.seeds, around.edge_count, around.complete) == (["wd:Q3"], 1, True)
    assert around.warnings == ["seeds: wd:Q1 was merged into wd:Q3, which was asked for instead."]
    assert (shared.node_count, shared.complete) == (2, True)


@pytest.mark.parametrize(
    "turtle",
    [
        "wd:Q1 owl:sameAs wd:Q2 . wd:Q2 owl:sameAs wd:Q1 .",
        "wd:Q1 owl:sameAs wd:Q1 .",
        " ".join(f"wd:Q{number} owl:sameAs wd:Q{number + 1} ." for number in range(1, 9)),
    ],
    ids=["a circle", "itself", "too far"],
)
async def test_an_item_whose_way_has_no_end_is_not_called_one_without_edges(turtle: str) -> None:
    async with small(turtle) as gateway:
        answer = await gateway.bfs_query(["wd:Q1"], 1)
    assert gaps(answer) == [("endpoint_failed", answer.seeds)]
    assert not answer.complete


async def test_what_still_links_to_a_merged_item_does_not_hide_that_it_could_not_be_followed() -> None:
    turtle = "wd:Q1 owl:sameAs wd:Q2 . wd:Q2 wdt:P1 wd:Q7 . wd:Q4 wdt:P1 wd:Q1 ."
    async with small(turtle, failing=WithoutMetadata) as gateway:
        answer = await gateway.bfs_query(["wd:Q1"], 1, topology_only=True)
        other = await gateway.bfs_query(["wd:Q4"], 1, topology_only=True)
    assert gaps(answer) == [("endpoint_failed", ["wd:Q1"])]
    # What says something of itself was not merged.
    assert other.complete


async def test_an_item_that_one_half_of_a_graph_does_not_mention_may_be_in_the_other() -> None:
    elsewhere = "wd:Q777 is not in this graph; it may be in the other half."
    async with small("wd:Q3 wdt:P1 wd:Q4 .", HALF) as gateway:
        around = await gateway.bfs_query(["wd:Q3", "wd:Q777"], 1)
        shared = await gateway.intersect_subgraphs(["wd:Q3", "wd:Q777"], 2)
        described = await gateway.describe_entities(["wd:Q3", "wd:Q777"])
        with pytest.raises(InputError, match="the other half"):
            await gateway.bfs_query(["wd:Q777"], 1)
        with pytest.raises(InputError, match="the other half"):
            await gateway.describe_entity("wd:Q777")
    for answer in (around, shared):
        assert [(cause, "wd:Q777" in ids) for cause, ids in gaps(answer)] == [("other_graph", True)]
        assert (answer.missing_seeds, answer.complete) == (["wd:Q777"], False)
    assert (described.not_found, described.complete) == (["wd:Q777"], False)
    assert described.warnings == [elsewhere]


async def test_an_unknown_class_is_no_type() -> None:
    turtle = """
        wd:Q3 wdt:P31 wd:Q5, <http://www.wikidata.org/.well-known/genid/abc> ; wdt:P1 wd:Q4 .
        wd:Q4 wdt:P31 <http://www.wikidata.org/.well-known/genid/def> .
    """
    async with small(turtle) as gateway:
        answer = await gateway.bfs_query(["wd:Q3"], 1)
        schema = await gateway.describe_schema()
        left = await gateway.bfs_query(["wd:Q3"], 1, exclude_node_types=["untyped"])
    assert [node.entity_type for node in answer.nodes] == ["wd:Q5", "untyped"]
    assert answer.schema_summary.entity_types_found == ["untyped", "wd:Q5"]
    assert (schema.entity_types, schema.comprehensive) == (["wd:Q5"], True)
    assert [node.id for node in left.nodes] == ["wd:Q3"]


async def test_a_filter_by_a_name_that_could_not_be_read_says_so() -> None:
    turtle = "wd:Q3 wdt:P1 wd:Q4 . wd:Q4 wdt:P31 wd:Q5 . wd:Q5 rdfs:label 'human'@en ."
    unsure = WIKIDATA.model_copy(update={"orientation": OrientationSettings(enumeration_seconds=0)})
    async with small(turtle, unsure, failing=WithoutNames) as gateway:
        answer = await gateway.bfs_query(["wd:Q3"], 1, exclude_node_types=["human"])
    assert gaps(answer) == []
    assert [warning for warning in answer.warnings or () if "could not be read" in warning]
