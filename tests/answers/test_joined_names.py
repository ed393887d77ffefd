"""A given and a family name make one name where there is no other."""

import pytest

from gateway.api import open_gateway
from tests.small import over

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


async def test_who_has_both_is_not_counted_as_without_a_name(graph: str) -> None:
    async with open_gateway(graph) as gateway:
        assert "no name" not in (await gateway.describe_schema()).next_steps


async def test_without_both_parts_there_is_no_name() -> None:
    async with over('x:a x:p x:b . x:a <http://xmlns.com/foaf/0.1/givenName> "Ada" .') as gateway:
        assert "name" not in ((await gateway.describe_entity("x:a")).model_extra or {})
