"""A given and a family name as one, shown and found on every engine."""

from pathlib import Path

import pytest

from gateway.api import open_gateway
from gateway.settings.limits import OrientationSettings
from gateway.settings.profile import Profile
from gateway.tools.gateway import Gateway
from tests.columns import Column

pytestmark = pytest.mark.anyio

GRAPH = """
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix foaf: <http://xmlns.com/foaf/0.1/> .
@prefix schema: <https://schema.org/> .
@prefix ex: <http://example.org/> .
ex:p1 a ex:P ; foaf:givenName "Ada"@en ; foaf:familyName "Lovelace" ; foaf:knows ex:p2 .
ex:p2 a ex:P ; schema:givenName "Charles" ; schema:familyName "Babbage" .
ex:p3 a ex:P ; rdfs:label "Mary S." ; foaf:knows ex:p1 .
"""


async def _are_found(gateway: Gateway) -> None:
    assert "have no name" not in (await gateway.describe_schema()).next_steps
    for query, node, name in [
        ("Ada Lovelace", "p1", "Ada Lovelace"),
        ("lovelace, ada", "p1", "Ada Lovelace"),
        ("babbage", "p2", "Charles Babbage"),
        ("mary", "p3", "Mary S."),
    ]:
        (hit,) = (await gateway.search_entities(query, ["P"])).result
        assert (gateway.prefixes.expand(hit.id), hit.name) == (f"http://example.org/{node}", name)
    missed = await gateway.search_entities("Hopper")
    assert (missed.result, missed.complete) == ([], True)


async def test_in_a_file(tmp_path: Path) -> None:
    file = tmp_path / "graph.ttl"
    file.write_text(GRAPH, encoding="utf-8")
    async with open_gateway(str(file)) as gateway:
        await _are_found(gateway)


async def test_at_an_endpoint(endpoint: Column) -> None:
    there = endpoint.asked("joined")
    profile = there.settle(Profile(orientation=OrientationSettings(patience_seconds=120)))
    async with open_gateway(endpoint=there.endpoint, profile=profile) as gateway:
        if endpoint.name != "virtuoso":
            await _are_found(gateway)
            return
        # It refuses a query that joins them, as too long.
        answer = await gateway.search_entities("Ada Lovelace", ["P"])
        assert (answer.result, answer.complete) == ([], False)
        assert "have no name" in (answer.next_steps or "")
        (hit,) = (await gateway.search_entities("mary", ["P"])).result
        assert hit.name == "Mary S."
