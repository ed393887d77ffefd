"""Names as the authors of graphs mean them: by predicates of their own, in lines of their own, one step away."""

import pytest

from gateway.settings.profile import Profile
from gateway.settings.vocabulary import RoleSettings
from gateway.terms.literals import Literal
from gateway.terms.name_predicates import is_never_a_name, may_be_name, name_rank, role_of
from gateway.terms.names import one_line
from tests.small import ROOM, over

pytestmark = pytest.mark.anyio

SEVERAL_KINDS = """
x:m1 a x:Movie ; x:movieTitle 'The Long Voyage' ; x:shortTitle 'Voyage' ; x:fileName 'voyage.mkv' .
x:m2 a x:Movie ; x:movieTitle 'Night Shift' ; x:termCode 'T1' .
x:p1 a x:Person ; x:displayName 'Ada L.' ; x:fullName 'Ada Lovelace' ; x:familyName 'Lovelace' .
x:l1 a x:Place ; rdfs:label 'London' ; x:commentText 'A large place' ; x:title '1815'^^xsd:integer .
x:m1 x:by x:p1 . x:p1 x:born x:l1 .
"""


async def test_each_kind_of_node_may_have_a_name_predicate_of_its_own() -> None:
    async with over(SEVERAL_KINDS) as gateway:
        schema = await gateway.describe_schema()
        entities = [await gateway.describe_entity(node) for node in ("x:m1", "x:m2", "x:p1", "x:l1")]
        found = await gateway.search_entities("voyage")
    said = [entity.model_extra or {} for entity in entities]
    assert schema.names == ["rdfs:label", "x:displayName", "x:fullName", "x:movieTitle"]
    assert [each["name"] for each in said] == ["The Long Voyage", "Night Shift", "Ada L.", "London"]
    assert [each.get("synonyms") for each in said] == [["Voyage"], None, ["Ada Lovelace"], None]
    # What is no name stays what it is.
    assert (said[0]["x:fileName"], said[2]["x:familyName"]) == ("voyage.mkv", "Lovelace")
    assert [(hit.id, hit.match) for hit in found.result] == [("x:m1", "alias")]


async def test_a_predicate_that_no_sampled_node_has_is_found_by_what_it_is_called() -> None:
    many = "\n".join(f"x:n{number} x:next x:n{number + 1} ; rdfs:label 'Node {number}' ." for number in range(3_000))
    async with over(f"{many}\nx:zz x:fullTitle 'Needle' .", Profile(size=ROOM)) as gateway:
        schema = await gateway.describe_schema()
        found = await gateway.search_entities("needle")
    assert schema.names == ["rdfs:label", "x:fullTitle"]
    assert [hit.id for hit in found.result] == ["x:zz"]


async def test_a_predicate_with_a_number_for_a_name_is_called_by_its_own_label() -> None:
    turtle = """
    x:P_00118 rdfs:label 'alternative term' . x:P_00119 rdfs:label 'editor note' .
    x:a rdfs:label 'kidney' ; x:P_00118 'ren' ; x:P_00119 'check this' ; x:p x:b . x:b rdfs:label 'urine' .
    """
    async with over(turtle) as gateway:
        found = await gateway.search_entities("ren")
        note = await gateway.search_entities("check this")
    assert [(hit.id, hit.match) for hit in found.result] == [("x:a", "alias")]
    assert note.result == []


async def test_the_profile_stays_above_what_a_graph_calls_names() -> None:
    profile = Profile(size=ROOM, roles=RoleSettings(name=("http://www.w3.org/2000/01/rdf-schema#label",)))
    async with over(SEVERAL_KINDS, profile) as gateway:
        assert (await gateway.describe_schema()).names == ["rdfs:label"]
        assert (await gateway.search_entities("voyage")).result == []


async def test_line_breaks_and_blanks_around_a_name_are_no_part_of_it() -> None:
    async with over("x:w rdfs:label '''\n   Moby\n   Dick\n  ''' ; x:p x:v .") as gateway:
        found = await gateway.search_entities("moby dick")
        entity = await gateway.describe_entity("x:w")
    assert [(hit.id, hit.name, hit.match) for hit in found.result] == [("x:w", "Moby Dick", "label")]
    assert (entity.model_extra or {})["name"] == "Moby Dick"


async def test_synonyms_and_definitions_as_ontologies_of_obo_have_them() -> None:
    turtle = """
    @prefix oio: <http://www.geneontology.org/formats/oboInOwl#> .
    @prefix obo: <http://purl.obolibrary.org/obo/> .
    obo:GO_1 rdfs:label "mitochondrion inheritance" ; rdfs:subClassOf obo:GO_2 ;
      obo:IAO_0000115 "The distribution of mitochondria." ; oio:hasRelatedSynonym "chondriome inheritance" .
    obo:GO_2 rdfs:label "organelle distribution" .
    """
    async with over(turtle) as gateway:
        found = await gateway.search_entities("chondriome inheritance")
    (hit,) = found.result
    assert (hit.name, hit.match, hit.description) == (
        "mitochondrion inheritance",
        "alias",
        "The distribution of mitochondria.",
    )


@pytest.mark.parametrize(
    ("called", "role"),
    [
        ("name", "name"),
        ("fullTitle", "name"),
        ("titleString", "name"),
        ("NAME_TEXT", "name"),
        ("hasLemma", "name"),
        ("alternativeLabel", "synonym"),
        ("hiddenName", "synonym"),
        ("hasBroadSynonym", "synonym"),
        ("fileName", None),
        ("className", None),
        ("givenName", None),
        ("subtitleOf", None),
        ("determined", None),
    ],
)
def test_what_a_predicate_is_called_says_whether_it_names(called: str, role: str | None) -> None:
    assert role_of(called) == role


def test_what_is_for_display_comes_first_then_names_before_titles() -> None:
    called = ["title", "label", "name", "displayTitle", "prefLabel"]
    assert sorted(called, key=name_rank) == ["prefLabel", "displayTitle", "name", "label", "title"]


@pytest.mark.parametrize(
    ("literal", "may_be"),
    [
        (Literal("Insulin"), True),
        (Literal("Insulin", "http://www.w3.org/2001/XMLSchema#string"), True),
        (Literal("1984", "http://www.w3.org/2001/XMLSchema#integer"), False),
        (Literal("1984"), False),
        (Literal("http://example.org/a"), False),
        (Literal("  "), False),
    ],
)
def test_a_value_reads_as_a_name_or_not(literal: Literal, *, may_be: bool) -> None:
    assert may_be_name(literal) == may_be


def test_comments_messages_and_identifiers_are_never_names_by_their_values_alone() -> None:
    assert all(map(is_never_a_name, ("comment", "errorMessage", "identifier", "productID", "skuId", "notation")))
    assert not any(map(is_never_a_name, ("isbn", "caption", "solid")))


def test_one_line_keeps_blanks_within_a_line() -> None:
    assert one_line(" a  b\n\t c ") == "a  b c"
