"""A given and a family name make one name: shown where there is no other, and found always."""

from pathlib import Path

import pytest
from pyoxigraph import DefaultGraph, RdfFormat

from gateway.api import open_gateway
from gateway.errors import EndpointFault
from gateway.graph.call import Call, Deadline
from gateway.settings.limits import OrientationSettings
from gateway.settings.profile import Profile
from gateway.sparql.store import SparqlStore
from gateway.terms.iri import FOAF, LOCAL_NAME
from gateway.terms.name_predicates import joined_names
from tests.small import ROOM, Watched, WatchedElsewhere, engine, over

pytestmark = pytest.mark.anyio

PEOPLE = """
@prefix foaf: <http://xmlns.com/foaf/0.1/> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix schema: <https://schema.org/> . @prefix x: <http://example.org/people/> .
x:p1 a x:P ; foaf:givenName "Ada" ; foaf:familyName "Lovelace" ; foaf:knows x:p2 .
x:p2 a x:P ; schema:givenName "Charles" ; schema:familyName "Babbage" .
x:p3 a x:P ; rdfs:label "Mary S." ; foaf:givenName "Mary" ; foaf:familyName "Somerville" ; foaf:knows x:p1 .
x:p4 a x:P ; foaf:familyName "Herschel" ; foaf:knows x:p3 .
"""


@pytest.fixture
def graph(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("people") / "people.ttl"
    path.write_text(PEOPLE, encoding="utf-8")
    return str(path)


async def test_it_is_shown_and_found(graph: str) -> None:
    async with open_gateway(graph) as gateway:
        for query, node in [("ada lovelace", "x:p1"), ("Lovelace, Ada", "x:p1"), ("babbage", "x:p2")]:
            assert [hit.id for hit in (await gateway.search_entities(query)).result] == [node]
        page = await gateway.describe_entities(["x:p1", "x:p2", "x:p3", "x:p4"])
        assert [(one.metadata or {}).get("name") for one in page.result] == [
            "Ada Lovelace",
            "Charles Babbage",
            "Mary S.",
            None,
        ]
        traversal = (await gateway.call("bfs_query", {"seeds": ["x:p4"], "max_hops": 3}, shape="compact")).as_json()
        listed = [next(iter(one)) if isinstance(one, dict) else one for one in traversal["nodes"]["x:P"]]
    assert listed == ["x:p4", "x:p3 Mary S.", "x:p1 Ada Lovelace", "x:p2 Charles Babbage"]


async def test_who_has_both_is_not_counted_as_without_a_name_and_who_has_one_is(graph: str) -> None:
    async with open_gateway(graph) as gateway:
        advice = (await gateway.describe_schema()).next_steps
    assert "1 of the 4 nodes with edges has no name." in advice
    assert "given and family name (foaf:givenName, foaf:familyName, schema:givenName, schema:familyName) make" in advice


ONLY_PARTS = f"""
x:p1 a x:P ; <{FOAF}givenName> "Ada" ; <{FOAF}familyName> "Lovelace" ; x:knows x:p2 .
x:p2 a x:P ; <{FOAF}givenName> "Charles" ; <{FOAF}familyName> "Babbage" .
"""
PROFILE = Profile(size=ROOM)
WITH_A_LABEL = f"{ONLY_PARTS} x:p2 rdfs:label 'Charles' ."


async def unhooked(query: str) -> None:
    del query


SEVERAL = f"""
x:d a x:P ; <{FOAF}givenName> "Dee"@en, "Di"@de ; <{FOAF}familyName> "Doe"@en, "Do"@de ; x:knows x:c .
x:c a x:P ; <{FOAF}givenName> "Cy", "Cyrus" ; <{FOAF}familyName> "Ray", "Rey" .
x:b a x:P ; rdfs:label "Mister B" ; <{FOAF}givenName> "Bob" ; <{FOAF}familyName> "Ley" ; x:knows x:c .
x:e a x:P ; <{FOAF}givenName> "Eve" .
"""


@pytest.mark.parametrize("place", ["file", "endpoint"])
async def test_each_given_name_is_found_with_each_family_name_beside_other_names_too(
    tmp_path: Path, place: str
) -> None:
    path = tmp_path / "people.nt"
    engine(SEVERAL).dump(path, format=RdfFormat.N_TRIPLES, from_graph=DefaultGraph())
    opened = open_gateway(str(path)) if place == "file" else over(WatchedElsewhere(engine(SEVERAL), unhooked), PROFILE)
    async with opened as gateway:
        await gateway.describe_schema()
        queries = ("Dee Doe", "Di Do", "Cyrus Rey", "Cy Ray", "Bob Ley", "Mister B")
        hits = [(await gateway.search_entities(query)).result for query in queries]
        described = [await gateway.describe_entity(name) for name in ("Di Do", "Bob Ley")]
        in_german = await gateway.describe_entity(described[0].id, language="de")
    ids = [[hit.id.rpartition("/")[2].rpartition(":")[2] for hit in found] for found in hits]
    assert ids == [["d"], ["d"], ["c"], ["c"], ["b"], ["b"]]
    assert [hit.match for found in hits for hit in found] == ["label"] * len(queries)
    assert [hits[4][0].name, hits[4][0].matched] == ["Mister B", "Bob Ley"]
    assert (in_german.model_extra or {})["name"] == "Di Do"


def test_of_very_many_joined_names_those_that_are_shown_are_kept() -> None:
    tags = [f"{one}{two}" for one in "abcd" for two in "abcdef"]
    given, family = ([(f"{part}{tag}{number}", tag) for tag in tags for number in range(9)] for part in "gf")
    joined = joined_names(given, family)
    assert len(joined) <= len(set(joined)) <= 1_000
    assert {f"g{tag}0 f{tag}0" for tag in tags} <= set(joined)


async def test_where_all_names_are_joined_the_schema_does_not_say_that_there_are_none(tmp_path: Path) -> None:
    path = tmp_path / "people.nt"
    engine(ONLY_PARTS).dump(path, format=RdfFormat.N_TRIPLES, from_graph=DefaultGraph())
    async with open_gateway(str(path)) as gateway:
        advice = (await gateway.describe_schema()).next_steps
        found = await gateway.search_entities("Ada Lovelace")
    assert len(found.result) == 1
    assert "was found to carry names" not in advice
    assert "given and family name" in advice


@pytest.mark.parametrize("enumeration", [None, 0.0], ids=["counted", "sampled"])
async def test_at_an_endpoint_a_search_compares_joined_names_in_the_query_that_compares_the_others(
    enumeration: float | None,
) -> None:
    orientation = OrientationSettings(
        enumeration_seconds=enumeration, glance_triples=10_000 if enumeration is None else 1
    )
    profile = Profile(size=ROOM, orientation=orientation)
    asked: list[str] = []

    async def hook(query: str) -> None:
        asked.append(query)

    async with over(WatchedElsewhere(engine(WITH_A_LABEL), hook), profile) as gateway:
        await gateway.describe_schema()
        asked.clear()
        found = [(await gateway.search_entities(text)).result for text in ("Ada Lovelace", "lovelace ada", "babbage")]
        scans = [query for query in asked if "CONCAT" in query]
        asked.clear()
        missed = await gateway.search_entities("Grace Hopper")
    assert [[(hit.id, hit.name) for hit in hits] for hits in found] == [
        [("x:p1", "Ada Lovelace")],
        [("x:p1", "Ada Lovelace")],
        [("x:p2", "Charles")],
    ]
    assert len(scans) == len(found)
    assert missed.result == []
    assert missed.complete == (enumeration is None)


async def test_joined_names_that_could_not_be_read_are_not_replaced_by_local_names() -> None:
    failing: list[bool] = []

    async def hook(query: str) -> None:
        if failing and "givenName" in query:
            raise EndpointFault("The engine is away.")

    store = SparqlStore(Watched(engine(ONLY_PARTS), hook), Profile(size=ROOM))
    call = Call(Deadline.after(60), 1_000, 1_000_000, 1_000)
    names = store.name_reader()
    await names.find_predicates(call)
    store.name_predicates.use(store.name_predicates.names, parts=[f"{FOAF}givenName", f"{FOAF}familyName"])
    assert "Ada Lovelace" in [name.text for name in (await names.page(LOCAL_NAME, "", call)).names]
    failing.append(True)
    with pytest.raises(EndpointFault, match="away"):
        await names.page(LOCAL_NAME, "", call)


async def test_without_both_parts_there_is_no_name() -> None:
    async with over('x:a x:p x:b . x:a <http://xmlns.com/foaf/0.1/givenName> "Ada" .') as gateway:
        assert "name" not in ((await gateway.describe_entity("x:a")).model_extra or {})
