"""Vocabularies and ontologies: their terms have types, a type can be asked about, and what is imported is told."""

import pytest

from gateway.check.check import check_graph
from gateway.settings.profile import Profile
from gateway.transport.inprocess import InProcess
from tests.small import PREFIXES, engine
from tests.tools.conftest import Open

pytestmark = pytest.mark.anyio

VOCABULARY = """
x:partOf a owl:ObjectProperty , owl:TransitiveProperty ; owl:inverseOf x:hasPart .
x:hasPart a owl:ObjectProperty . x:Wheel a owl:Class .
"""


async def test_the_schema_of_a_vocabulary_says_that_it_is_one_and_counts_its_terms(over_file: Open) -> None:
    async with over_file(VOCABULARY) as gateway:
        schema = await gateway.describe_schema()
    assert schema.graph_description.startswith("An ontology or vocabulary of 1 edge.")
    assert schema.counts["owl:Class"] == 1
    assert schema.counts["owl:ObjectProperty"] == 2


async def test_a_property_is_shown_as_what_it_is_first_and_all_its_types_are_in_its_record(over_file: Open) -> None:
    async with over_file(VOCABULARY) as gateway:
        entity = await gateway.describe_entity("x:partOf")
        found = await gateway.search_entities(node_types=["owl:Class"])
    assert entity.entity_type == "owl:ObjectProperty"
    assert entity.as_json()["types"] == ["owl:ObjectProperty", "owl:TransitiveProperty"]
    assert [hit.id for hit in found.result] == ["x:Wheel"]


async def test_the_description_of_a_type_counts_its_instances_and_says_how_they_are_listed(over_file: Open) -> None:
    async with over_file("x:Wheel a owl:Class . x:w1 a x:Wheel . x:w2 a x:Wheel ; x:of x:w1 .") as gateway:
        wheel = await gateway.describe_entity("x:Wheel")
        one = await gateway.describe_entity("x:w1")
        assert wheel.instances == {"count": 2, "search_entities": {"node_types": ["x:Wheel"]}}
        listed = await gateway.search_entities(**wheel.instances["search_entities"])
    assert [hit.id for hit in listed.result] == ["x:w1", "x:w2"]
    assert one.instances is None


async def test_a_deprecated_term_is_found_after_others_and_said_to_be_so(over_file: Open) -> None:
    turtle = "x:a rdfs:label 'lung' ; owl:deprecated true ; rdfs:comment 'Old.' . x:b rdfs:label 'lung' ; x:p x:a ."
    async with over_file(turtle) as gateway:
        found = await gateway.search_entities("lung")
    assert [(hit.id, hit.description) for hit in found.result] == [("x:b", None), ("x:a", "(deprecated) Old.")]


IMPORTS = """
x:o a owl:Ontology ; owl:imports x:absent , x:here , x:version . x:here a owl:Ontology ; owl:versionIRI x:version .
"""


async def test_the_schema_names_imports_that_are_not_loaded_and_is_not_comprehensive(over_file: Open) -> None:
    async with over_file(IMPORTS) as gateway:
        schema = await gateway.describe_schema()
        answer = await gateway.bfs_query(["x:o"], 1)
    assert (schema.complete, schema.comprehensive) == (False, False)
    assert "1 imported ontology is not loaded: x:absent." in " ".join(schema.warnings or ())
    assert answer.complete


async def test_a_schema_without_missing_imports_is_comprehensive(over_file: Open) -> None:
    async with over_file(IMPORTS.replace("x:absent ,", "")) as gateway:
        schema = await gateway.describe_schema()
    assert (schema.complete, schema.warnings) == (True, None)


@pytest.mark.parametrize("more", ["", IMPORTS.replace("x:absent ,", "")])
@pytest.mark.parametrize("what", ["", "a x:Vocabulary ;"])
async def test_the_schema_names_what_is_imported_by_a_node_that_is_no_typed_ontology(
    over_file: Open, what: str, more: str
) -> None:
    async with over_file(
        f"{more} x:n {what} owl:imports x:other , x:m . x:m owl:imports x:n . x:a x:p x:b ."
    ) as gateway:
        schema = await gateway.describe_schema()
    assert (schema.complete, schema.comprehensive) == (False, False)
    assert "1 imported ontology is not loaded: x:other." in " ".join(schema.warnings or ())


async def test_check_warns_of_imports_that_are_not_in_the_graph() -> None:
    transport = InProcess(engine(IMPORTS), max_bytes=1 << 24)
    report = await check_graph(transport, "graph.ttl", Profile(), PREFIXES)
    assert "Imported ontologies are not in the graph (1): x:absent." in report.warnings


@pytest.mark.parametrize("kind", ["Exact", "Related", "Broad", "Narrow"])
async def test_all_synonyms_of_obo_find_their_term(over_file: Open, kind: str) -> None:
    turtle = f"""
    x:go rdfs:label "mitochondrion inheritance" ; <http://purl.obolibrary.org/obo/IAO_0000115> "A definition." ;
        <http://www.geneontology.org/formats/oboInOwl#has{kind}Synonym> "chondriome inheritance" .
    """
    async with over_file(turtle) as gateway:
        found = await gateway.search_entities("chondriome inheritance")
        entity = await gateway.describe_entity("x:go")
    assert [(hit.id, hit.match) for hit in found.result] == [("x:go", "alias")]
    assert entity.as_json()["description"] == "A definition."
    assert entity.as_json()["synonyms"] == ["chondriome inheritance"]
