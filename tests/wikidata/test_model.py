"""The Wikidata model: nodes, edges, and what else an answer reports (cases: fixtures/wikidata-slice.ttl)."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from gateway import resources
from gateway.api import open_gateway
from gateway.errors import InputError
from gateway.settings.limits import OrientationSettings
from gateway.settings.load import load_profile
from gateway.stores.endpoints import store_over
from gateway.stores.loaded import load
from gateway.terms.prefixes import PrefixMap
from gateway.tools.gateway import Gateway
from tests.columns import Column
from tests.wikidata.failing import WithoutMetadata, WithoutSchema

pytestmark = pytest.mark.anyio

SLICE = resources.folder("fixtures") / "wikidata-slice.ttl"
MERGED = "wd:Q999999001"


@pytest.fixture
async def gateway() -> AsyncIterator[Gateway]:
    async with open_gateway(SLICE, profile="wikidata-local") as opened:
        yield opened


async def test_edges_lead_to_items_only(engine: Column) -> None:
    async with engine.open("wikidata-slice", load_profile("wikidata-local")) as gateway:
        writer = await gateway.bfs_query(["wd:Q42"], 1)
        poet = await gateway.bfs_query(["wd:Q5679"], 1)
        towel = await gateway.bfs_query(["wd:Q999999006"], 1)
        schema = await gateway.describe_schema()
    assert {edge.object for edge in writer.edges if edge.subject == "wd:Q42"} == {
        f"wd:Q{number}" for number in (6581097, 36180, 28389, 145, 350, 159288, 691283, 25169, 1860)
    }
    assert "wdt:P157" not in {edge.predicate for edge in poet.edges}
    assert "wdt:P3448" not in {edge.predicate for edge in poet.edges}
    # What points at the item is an edge, whatever it is.
    assert [(edge.subject, edge.predicate) for edge in towel.edges] == [("wd:L999999001", "wdt:P5137")]
    # The type, a URL, a file, unknown values and a property are at no edge's end.
    assert not {"wdt:P31", "wdt:P856", "wdt:P18", "wdt:P157", "wdt:P3448", "wdt:P1687"} & {*schema.predicates}
    assert schema.comprehensive


async def test_an_item_of_several_classes_shows_the_commonest_that_is_no_superclass_of_another(engine: Column) -> None:
    async with engine.open("wikidata-slice", load_profile("wikidata-local")) as gateway:
        kinds = [
            node.entity_type for node in (await gateway.describe_entities(["wd:Q145", "wd:Q84", "wd:Q25169"])).result
        ]
    # A sovereign state is a country, and a big city a city; no class of the novels is one of the others.
    assert kinds == ["wd:Q3624078", "wd:Q1549591", "wd:Q7725634"]


async def test_what_is_no_item_is_reported_as_metadata(engine: Column) -> None:
    async with engine.open("wikidata-slice", load_profile("wikidata-local")) as gateway:
        writer = (await gateway.describe_entity("wd:Q42")).as_json()
        poet = (await gateway.describe_entity("wd:Q5679")).as_json()
        towel = (await gateway.describe_entity("wd:Q999999006")).as_json()
    assert writer["wdt:P856"] == "https://example.org/douglas-adams"
    assert writer["wdt:P214"] == "000000042"
    assert (poet["wdt:P157"], poet["wdt:P3448"]) == ({"unknown": True}, {"unknown": True})
    assert towel["wdt:P18"] == "http://commons.wikimedia.org/wiki/Special:FilePath/Invented%20towel.jpg"
    assert (towel["wdt:P1687"], towel["labels"]["wd:P2048"]) == ("wd:P2048", "height")


@pytest.mark.parametrize(
    ("predicate", "where"),
    [
        ("rdfs:label", "metadata of a node: call describe_entity"),
        ("label", "metadata of a node: call describe_entity"),
        ("skos:altLabel", "metadata of a node: call describe_entity"),
        ("schema:description", "metadata of a node: call describe_entity"),
        ("dct:language", "metadata of a node: call describe_entity"),
        ("wdt:P31", "as entity_type"),
        ("owl:sameAs", "begins where it was merged into"),
        ("p:P69", "as wdt:P69: an edge where its value is a node"),
        ("ps:P569", "as wdt:P569: an edge where its value is a node, else in the metadata of its node"),
        ("pq:P580", "as the evidence of edges"),
        ("pqv:P580", "as the evidence of edges"),
        ("pr:P248", "as the evidence of edges"),
        ("rdf:subject", "as the evidence of edges"),
        ("wikibase:rank", "where it says something about an edge, in the metadata of that edge"),
        ("wikibase:sitelinks", "where its value is a literal, in that of its node"),
    ],
)
async def test_what_is_no_edge_is_refused_with_where_it_is_shown(gateway: Gateway, predicate: str, where: str) -> None:
    predicate = predicate.replace("pqv:", "http://www.wikidata.org/prop/qualifier/value/")
    with pytest.raises(InputError, match="is no edge in this graph") as caught:
        await gateway.bfs_query(["wd:Q42"], 1, only_predicates=[predicate])
    assert where in str(caught.value)


async def test_what_is_no_edge_is_shown_where_its_refusal_says(gateway: Gateway) -> None:
    writer = (await gateway.describe_entity("wd:Q42")).as_json()
    assert {"name", "synonyms", "description", "entity_type", "wdt:P569"} <= writer.keys()
    assert (await gateway.describe_entity("wd:L999999001")).as_json()["dct:language"] == "wd:Q1860"
    (studied,) = (await gateway.bfs_query(["wd:Q42"], 1, only_predicates=["wdt:P69"])).edges
    assert {"pq:P580", "wikibase:rank", "prov:wasDerivedFrom"} <= (studied.metadata or {}).keys()
    assert "pr:P248" in (studied.metadata or {})["prov:wasDerivedFrom"]


async def test_a_property_and_a_lexeme_can_be_described(gateway: Gateway) -> None:
    height = (await gateway.describe_entity("wd:P2048")).as_json()
    towel = (await gateway.describe_entity("wd:L999999001")).as_json()
    assert (height["name"], height["wikibase:propertyType"]) == ("height", "wikibase:Quantity")
    assert (towel["name"], towel["wikibase:lexicalCategory"], towel["dct:language"]) == (
        "towel",
        "wd:Q1084",
        "wd:Q1860",
    )
    assert towel["labels"] == {
        "wd:Q1084": "noun",
        "wd:Q1860": "English",
    }


async def test_a_statement_is_no_node_of_any_traversal(gateway: Gateway) -> None:
    answer = await gateway.bfs_query(["wd:Q42"], 3)
    assert not [node.id for node in answer.nodes if node.id.startswith(("wds:", "wdref:", "wdv:"))]
    assert {edge.predicate.partition(":")[0] for edge in answer.edges} == {"wdt"}


async def test_a_merged_item_says_where_it_went(gateway: Gateway) -> None:
    one = await gateway.describe_entity(MERGED)
    several = await gateway.describe_entities([MERGED, "wd:Q84"])
    expected = f"{MERGED} was merged into wd:Q42; describe that one."
    assert one.warnings == [expected]
    assert several.warnings == [expected]
    assert one.as_json()["owl:sameAs"] == "wd:Q42"


async def test_a_traversal_from_a_merged_item_starts_where_it_went(gateway: Gateway) -> None:
    direct = (await gateway.bfs_query(["wd:Q42"], 1)).as_json()
    merged = (await gateway.bfs_query([MERGED], 1)).as_json()
    assert merged.pop("warnings") == [f"seeds: {MERGED} was merged into wd:Q42, which was asked for instead."]
    assert merged == direct


async def test_an_item_of_which_nobody_knows_whether_it_was_merged_is_not_called_one_without_edges() -> None:
    profile = load_profile("wikidata-local")
    transport, _ = load(SLICE, profile)
    store: Any = WithoutMetadata(store_over(transport, profile))
    async with Gateway(store, profile, PrefixMap(profile.prefixes)) as gateway:
        merged = await gateway.bfs_query([MERGED], 1, topology_only=True)
        again = await gateway.bfs_query([MERGED], 1, topology_only=True)
        other = await gateway.bfs_query(["wd:Q42"], 1, topology_only=True)
        shared = await gateway.intersect_subgraphs([MERGED, "wd:Q25169"], 2, topology_only=True)
    for answer in (merged, again):
        assert not answer.complete
        assert [(gap.cause, gap.ids) for gap in answer.incomplete or ()] == [("endpoint_failed", [MERGED])]
    assert not shared.complete
    assert {MERGED} <= {each for gap in shared.incomplete or () for each in gap.ids or ()}
    # What has edges was not merged.
    assert other.complete


async def test_an_intersection_of_an_item_with_itself_under_its_old_number_is_what_lies_near_it(
    gateway: Gateway,
) -> None:
    alone = await gateway.intersect_subgraphs([MERGED, "wd:Q42"], 1)
    assert alone.seeds == ["wd:Q42"]
    assert {node.id for node in alone.nodes} == {node.id for node in (await gateway.bfs_query(["wd:Q42"], 1)).nodes}
    assert alone.warnings == [
        f"seeds: {MERGED} was merged into wd:Q42, which was asked for instead.",
        "seeds: all of them are wd:Q42, so this is what lies within 1 hop of it alone.",
    ]
    relations = [["wdt:P800"], ["^wdt:P50"]]
    both = await gateway.intersect_subgraphs([MERGED, "wd:Q42"], 1, only_predicates=relations)
    assert [node.id for node in both.nodes] == ["wd:Q42", "wd:Q25169"]
    found = await gateway.intersect_subgraphs([MERGED, "wd:Q25169"], 1)
    assert found.seeds == ["wd:Q42", "wd:Q25169"]


@pytest.mark.parametrize(
    "name", ["occupation", "wdt:P106", "P106", "Occupation", "http://www.wikidata.org/prop/direct/P106"]
)
async def test_a_filter_takes_the_name_of_a_property(gateway: Gateway, name: str) -> None:
    answer = await gateway.bfs_query(["wd:Q7251"], 1, predicates=[name], node_types=["human"])
    assert answer.warnings is None
    assert [node.metadata is not None for node in answer.nodes if node.entity_type == "wd:Q5"] == [True]


@pytest.fixture
async def half() -> AsyncIterator[Gateway]:
    """Open the slice as one part of a split graph; wd:Q174193 and wd:Q36578 are only mentioned in it (W21)."""
    profile = load_profile("wikidata-local")
    endpoint = profile.endpoint.model_copy(update={"other_graph": "the other half"})
    async with open_gateway(SLICE, profile=profile.model_copy(update={"endpoint": endpoint})) as opened:
        yield opened


async def test_an_item_of_the_other_half_is_reported_as_such_and_not_as_empty(half: Gateway, gateway: Gateway) -> None:
    answer = await half.bfs_query(["wd:Q174193"], 1)
    assert not answer.complete
    assert answer.incomplete is not None
    (gap,) = answer.incomplete
    assert (gap.cause, gap.ids) == ("other_graph", ["wd:Q174193"])
    assert "the other half" in gap.detail
    # A graph that is whole says that this is all there is.
    assert (await gateway.bfs_query(["wd:Q174193"], 1)).complete


async def test_what_lies_at_the_rim_of_a_traversal_is_not_looked_for_in_the_other_half(half: Gateway) -> None:
    near = await half.bfs_query(["wd:Q7259"], 1)
    far = await half.bfs_query(["wd:Q7259"], 2)
    assert near.complete
    assert [gap.cause for gap in far.incomplete or ()] == ["other_graph"]
    assert "wd:Q174193" in [iri for gap in far.incomplete or () for iri in gap.ids]


async def test_a_description_of_an_item_of_the_other_half_says_so(half: Gateway) -> None:
    one = await half.describe_entity("wd:Q174193")
    several = await half.describe_entities(["wd:Q174193", "wd:Q42"])
    expected = ["Nothing is said here about wd:Q174193; it may be in the other half."]
    assert (one.complete, one.warnings) == (False, expected)
    assert (several.complete, several.warnings) == (False, expected)
    assert (await half.describe_entity("wd:Q42")).complete


async def test_an_intersection_that_may_go_on_in_the_other_half_says_so(half: Gateway) -> None:
    found = await half.intersect_subgraphs(["wd:Q7259", "wd:Q7251"], 2)
    assert [gap.cause for gap in found.incomplete or ()] == ["other_graph"]


@pytest.mark.parametrize("names", [{"predicates": ["occupation"]}, {"node_types": ["HUMAN"]}, {"predicates": ["P106"]}])
async def test_a_filter_knows_the_names_of_what_an_answer_holds_though_the_schema_does_not(names: Any) -> None:
    profile = load_profile("wikidata-local").model_copy(
        update={"orientation": OrientationSettings(enumeration_seconds=0)}
    )
    transport, _ = load(SLICE, profile)
    store: Any = WithoutSchema(store_over(transport, profile))
    async with Gateway(store, profile, PrefixMap(profile.prefixes)) as gateway:
        answer = await gateway.bfs_query(["wd:Q7251"], 1, **names)
    assert answer.warnings is None
    full = {node.id for node in answer.nodes if node.metadata is not None}
    assert full == ({"wd:Q7251"} if "node_types" in names else {node.id for node in answer.nodes})


async def test_a_filter_by_a_name_that_nothing_in_the_answer_has_is_reported() -> None:
    profile = load_profile("wikidata-local").model_copy(
        update={"orientation": OrientationSettings(enumeration_seconds=0)}
    )
    transport, _ = load(SLICE, profile)
    store: Any = WithoutSchema(store_over(transport, profile))
    async with Gateway(store, profile, PrefixMap(profile.prefixes)) as gateway:
        answer = await gateway.bfs_query(["wd:Q7251"], 1, predicates=["father"])
    assert answer.warnings is not None
    assert "'father' is no predicate that is known here or stands in this answer" in answer.warnings[0]
