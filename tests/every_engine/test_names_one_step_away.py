"""Names that are nodes of their own: of labels, appellations, titles and forms, read and searched on every engine."""

from pathlib import Path

import pytest

from gateway.api import open_gateway
from gateway.settings.limits import OrientationSettings
from gateway.settings.load import load_profile
from gateway.settings.profile import Profile
from gateway.tools.gateway import Gateway
from tests.columns import Column

pytestmark = pytest.mark.anyio

GRAPH = """
@prefix rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix skos: <http://www.w3.org/2004/02/skos/core#> .
@prefix skosxl: <http://www.w3.org/2008/05/skos-xl#> .
@prefix ontolex: <http://www.w3.org/ns/lemon/ontolex#> .
@prefix bf: <http://id.loc.gov/ontologies/bibframe/> .
@prefix crm: <http://www.cidoc-crm.org/cidoc-crm/> .
@prefix ex: <http://example.org/> .
ex:c1 a skos:Concept ; skosxl:prefLabel ex:l1 ; skosxl:altLabel ex:l3 ; skos:broader ex:c2 .
ex:c2 a skos:Concept ; skosxl:prefLabel ex:l2 .
ex:l1 a skosxl:Label ; skosxl:literalForm "durum wheat"@en .
ex:l2 a skosxl:Label ; skosxl:literalForm "cereals"@en .
ex:l3 a skosxl:Label ; skosxl:literalForm "macaroni wheat"@en .
ex:e1 a ontolex:LexicalEntry ; ontolex:canonicalForm ex:f1 ; ontolex:otherForm ex:f2 ; skos:related ex:c1 .
ex:f1 a ontolex:Form ; ontolex:writtenRep "goose"@en .
ex:f2 a ontolex:Form ; ontolex:writtenRep "geese"@en .
ex:w1 a bf:Work ; bf:title ex:t1 , ex:t2 ; skos:related ex:c1 .
ex:t1 a bf:Title ; bf:mainTitle "Moby Dick" .
ex:t2 a bf:VariantTitle ; bf:mainTitle "The Whale" .
ex:o1 a crm:E22_Human-Made_Object ; crm:P1_is_identified_by ex:n1 , ex:n2 ; skos:related ex:w1 .
ex:n1 a crm:E41_Appellation ; crm:P190_has_symbolic_content "Bronze Ewer" .
ex:n2 a crm:E42_Identifier ; crm:P190_has_symbolic_content "Inv. 47" .
ex:c2 skos:definition ex:d1 .
ex:d1 rdf:value "grasses that are grown for their grain"@en .
ex:plain rdfs:label "a label of its own" ; skosxl:prefLabel ex:l1 .
"""

NAMES = {
    "c1": ("durum wheat", ["macaroni wheat"]),
    "c2": ("cereals", None),
    "e1": ("goose", ["geese"]),
    "w1": ("Moby Dick", ["The Whale"]),
    "o1": ("Bronze Ewer", None),
    "plain": ("a label of its own", ["durum wheat"]),
}


async def _are_named(gateway: Gateway) -> None:
    """Check each name where it is shown, and that searches find the node that has it."""
    await gateway.describe_schema()
    for node, (name, synonyms) in NAMES.items():
        said = (await gateway.describe_entity(f"http://example.org/{node}")).model_extra or {}
        assert (said["name"], said.get("synonyms")) == (name, synonyms)
        defined = "grasses that are grown for their grain" if node == "c2" else None
        assert said.get("description") == defined
    (cereals,) = (await gateway.search_entities("cereals")).result
    assert cereals.description == "grasses that are grown for their grain"
    for query, node, match in [
        ("durum wheat", "c1", "label"),
        ("macaroni wheat", "c1", "alias"),
        ("wheat macaroni", "c1", "all words"),
        ("geese", "e1", "alias"),
        ("moby", "w1", "prefix"),
        ("the whale", "w1", "alias"),
        ("bronze ewer", "o1", "label"),
    ]:
        found = await gateway.search_entities(query)
        hits = [(gateway.prefixes.expand(hit.id), hit.match) for hit in found.result]
        assert (f"http://example.org/{node}", match) in hits
        # The nodes between are no hits.
        assert {iri for iri, _ in hits} <= {f"http://example.org/{one}" for one in NAMES}
    around = await gateway.bfs_query(["http://example.org/c2"], 1, only_predicates=["broader"])
    assert {gateway.prefixes.expand(node.id): node.name for node in around.nodes}[
        "http://example.org/c1"
    ] == "durum wheat"
    assert (await gateway.search_entities("Inv. 47")).result == []


async def test_in_a_file(tmp_path: Path) -> None:
    file = tmp_path / "graph.ttl"
    file.write_text(GRAPH, encoding="utf-8")
    async with open_gateway(str(file)) as gateway:
        await _are_named(gateway)
        assert (await gateway.describe_schema()).names == [
            "rdfs:label",
            "skosxl:prefLabel/skosxl:literalForm",
            "ontolex:canonicalForm/ontolex:writtenRep",
            "bf:title/bf:mainTitle",
            "crm:P1_is_identified_by/crm:P190_has_symbolic_content",
        ]


async def test_through_blank_nodes_of_a_file(tmp_path: Path) -> None:
    file = tmp_path / "graph.ttl"
    file.write_text(
        """
        @prefix bf: <http://id.loc.gov/ontologies/bibframe/> . @prefix ex: <http://example.org/> .
        ex:w1 a bf:Work ; bf:title [ a bf:Title ; bf:mainTitle "Moby Dick" ] ; ex:by ex:p1 .
        """,
        encoding="utf-8",
    )
    async with open_gateway(str(file)) as gateway:
        found = await gateway.search_entities("moby dick")
    assert [(hit.id, hit.name) for hit in found.result] == [("ex:w1", "Moby Dick")]


async def test_the_profile_gives_a_walk_of_its_own(tmp_path: Path) -> None:
    file, profile = tmp_path / "graph.ttl", tmp_path / "own.toml"
    file.write_text(
        """
        @prefix ex: <http://example.org/> .
        ex:a a ex:T ; ex:called ex:x ; ex:p ex:b . ex:x ex:says "Ada" . ex:b a ex:T ; ex:says "not a name" .
        """,
        encoding="utf-8",
    )
    profile.write_text(
        'extends = "local"\n[prefixes]\nex = "http://example.org/"\n[roles]\nname = ["ex:called/ex:says"]\n',
        encoding="utf-8",
    )
    async with open_gateway(str(file), profile=load_profile(str(profile))) as gateway:
        found = await gateway.search_entities("ada")
        assert [(hit.id, hit.name) for hit in found.result] == [("ex:a", "Ada")]
        assert (await gateway.search_entities("not a name")).result == []
        assert (await gateway.describe_schema()).names == ["ex:called/ex:says"]


@pytest.mark.parametrize("sampled", [False, True])
async def test_at_an_endpoint(endpoint: Column, *, sampled: bool) -> None:
    there = endpoint.asked("names-one-step-away")
    # On a busy machine the first look takes longer than a call waits for it, and names are known after it.
    orientation = OrientationSettings(patience_seconds=120)
    if sampled:
        orientation = orientation.model_copy(update={"glance_triples": 5, "enumeration_seconds": 0})
    profile = there.settle(Profile(orientation=orientation))
    async with open_gateway(endpoint=there.endpoint, profile=profile) as gateway:
        await _are_named(gateway)
