"""Names as the authors of graphs mean them: by predicates of their own, in lines of their own, one step away."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from gateway.api import open_gateway
from gateway.errors import InputError
from gateway.settings.profile import Profile
from gateway.settings.vocabulary import RoleSettings
from gateway.terms.literals import Literal
from gateway.terms.local_names import local_part, readable
from gateway.terms.name_predicates import is_code, is_never_a_name, may_be_name, name_rank, role_of
from gateway.terms.names import one_line
from gateway.tools.gateway import Gateway
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
        ("additionalName", None),
        ("jobTitle", None),
        ("jobName", "name"),
        ("middleName", None),
        ("middlewareName", "name"),
        ("colloquialName", "synonym"),
        ("subtitleOf", None),
        ("determined", None),
    ],
)
def test_what_a_predicate_is_called_says_whether_it_names(called: str, role: str | None) -> None:
    assert role_of(called) == role


def test_what_is_for_display_comes_first_then_names_before_titles() -> None:
    called = ["title", "brandName", "label", "name", "displayTitle", "prefLabel"]
    assert sorted(called, key=name_rank) == ["prefLabel", "displayTitle", "name", "brandName", "label", "title"]


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


async def test_a_title_that_is_a_form_of_address_or_a_job_is_no_name() -> None:
    people = "\n".join(
        f'x:p{number} foaf:givenName "Given {number}" ; foaf:familyName "Family {number}" ; foaf:title "{title}" ; '
        f'x:jobTitle "job of {number}" ; x:knows x:q .'
        for number, title in enumerate(("Dr", "Mr", "Ms"))
    )
    turtle = f'@prefix foaf: <http://xmlns.com/foaf/0.1/> . {people} x:q foaf:givenName "Only" ; x:jobTitle "cook" .'
    async with over(turtle) as gateway:
        page = await gateway.describe_entities(["x:p0", "x:p1", "x:q"])
    assert [(entity.metadata or {}).get("name") for entity in page.result] == [
        "Given 0 Family 0",
        "Given 1 Family 1",
        None,
    ]


async def named_in(turtle: str) -> tuple[list[str], str | None]:
    """Return the predicates of names of a graph, and the name of x:n0."""
    async with over(turtle) as gateway:
        schema = await gateway.describe_schema()
        entity = await gateway.describe_entity("x:n0")
    return list(schema.names or []), (entity.model_extra or {}).get("name")


JOBS_OF_A_PROGRAM = [
    f'x:n{number} a x:Job ; x:jobName "Build {word}" ; x:contact "Ann {word}" ; x:p x:n0 .'
    for number, word in enumerate(("Ley", "Roy", "Day", "May", "Fay", "Kay"))
]


@pytest.mark.parametrize("called", ["jobName", "middlewareName", "historicalName", "shortName"])
async def test_what_is_called_a_name_names_the_nodes_that_have_no_other(called: str) -> None:
    turtle = "\n".join(JOBS_OF_A_PROGRAM).replace("jobName", called)
    assert await named_in(turtle) == ([f"x:{called}"], "Build Ley")


async def test_a_synonym_beside_a_name_stays_a_synonym() -> None:
    turtle = "\n".join(line.replace("x:contact", "x:historicalName") for line in JOBS_OF_A_PROGRAM)
    assert await named_in(turtle) == (["x:jobName"], "Build Ley")


@pytest.mark.parametrize("title", ["x:jobTitle", "x:middleName", "vcard:title", "foaf:title"])
async def test_jobs_middle_names_and_forms_of_address_name_nobody_by_their_values(title: str) -> None:
    people = "\n".join(
        f'x:n{number} a x:Person ; {title} "{word}" ; x:knows x:n0 .'
        for number, word in enumerate(("Pilot", "Cook", "Judge", "Smith", "Nurse", "Clerk"))
    )
    prefixes = "@prefix foaf: <http://xmlns.com/foaf/0.1/> . @prefix vcard: <http://www.w3.org/2006/vcard/ns#> ."
    assert await named_in(f"{prefixes} {people}") == ([], None)


PERSONS = [
    f'x:p{number} foaf:givenName "Given {word}" ; foaf:familyName "Family" ; x:city "{word}" ; x:knows x:p0 .'
    for number, word in enumerate(("Oslo", "Bergen", "Rome", "Bari"))
]
SHIPS = [
    f'x:n{number} a x:Ship ; x:called "Ship of {word}" ; x:captain x:p0 .'
    for number, word in enumerate(("Oslo", "Bergen", "Rome", "Bari", "Paris", "Nice", "Cork", "Bonn", "Kiel", "Ulm"))
]


async def test_given_and_family_names_of_some_leave_other_nodes_their_names() -> None:
    turtle = "@prefix foaf: <http://xmlns.com/foaf/0.1/> . " + "\n".join((*PERSONS, *SHIPS))
    assert await named_in(turtle) == (["x:called"], "Ship of Oslo")
    also = turtle.replace('"Given Oslo"', '"Given Oslo" ; x:called "G. O."')
    assert await named_in(also) == (["x:called"], "Ship of Oslo")


async def test_what_persons_have_beside_given_and_family_names_names_no_others() -> None:
    places = [f'x:n{number} a x:Office ; x:city "Office {number}" ; x:p x:n0 .' for number in range(3)]
    turtle = "@prefix foaf: <http://xmlns.com/foaf/0.1/> . " + "\n".join((*PERSONS, *places))
    assert await named_in(turtle) == ([], None)


async def test_values_that_read_as_keys_of_a_program_name_nothing_by_themselves() -> None:
    columns = "\n".join(f'x:m{number} x:reference "{key}_time" ; x:p x:m0 .' for number, key in enumerate("abcdef"))
    words = "\n".join(f'x:m{number} x:reference "{key} time" ; x:p x:m0 .' for number, key in enumerate("abcdef"))
    found = []
    for turtle in (columns, words):
        async with over(turtle) as gateway:
            found.append(((await gateway.describe_entity("x:m1")).model_extra or {}).get("name"))
    assert found == [None, "b time"]


async def test_an_element_of_a_building_is_named_by_the_text_of_its_label() -> None:
    turtle = """
    @prefix ifc: <http://www.buildingsmart-tech.org/ifcOWL/IFC4_ADD1#> .
    @prefix express: <http://purl.org/voc/express#> .
    x:wall ifc:name_IfcRoot x:label ; ifc:globalId_IfcRoot x:id .
    x:label a ifc:IfcLabel ; express:hasString "Wall 3" .
    x:id a ifc:IfcGloballyUniqueId ; express:hasString "1IedFN$LrDXxWafTVrdUfI" .
    """
    async with over(turtle) as gateway:
        page = await gateway.describe_entities(["x:wall", "x:label", "x:id"])
        found = (await gateway.search_entities("wall 3")).result
    assert [(entity.metadata or {}).get("name") for entity in page.result] == ["Wall 3", None, None]
    assert [hit.id for hit in found] == ["x:wall"]


BUILDING = """
@prefix brick: <https://brickschema.org/schema/Brick#> .
@prefix b: <http://example.org/building#> .
b:ahu_A1 a brick:AHU ; brick:feeds b:vav_C180 .
b:vav_C180 a brick:VAV ; brick:feeds b:room_C180 .
b:room_C180 a brick:Room .
b:Q42 a brick:Room .
b:plant a brick:Plant ; rdfs:label "Boiler" .
"""

UNITS = """
@prefix u: <http://example.org/u/> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
u:m3 rdfs:label "Cubic Metre"@en , "Kubikmeter"@de ; u:ucumCode "m3" .
u:kmh rdfs:label "Kilometre per Hour"@en ; u:symbol "km/h" .
u:kg rdfs:label "Kilogram"@en ; u:symbol "kg" ; u:externalId "KGM-7" .
u:percent rdfs:label "Percent" ; u:symbol "%" .
"""


@asynccontextmanager
async def of_file(folder: Path, turtle: str) -> AsyncIterator[Gateway]:
    """Open a file, which has an index of names."""
    file = folder / "graph.ttl"
    header = "" if "@prefix rdfs:" in turtle else "@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .\n"
    file.write_text(header + turtle, encoding="utf-8")
    async with open_gateway(str(file)) as gateway:
        yield gateway


async def test_a_node_without_a_name_is_found_by_its_local_name(tmp_path: Path) -> None:
    async with of_file(tmp_path, BUILDING) as gateway:
        found = await gateway.search_entities("room C180")
        begun = await gateway.search_entities("vav")
        whole = await gateway.search_entities("Q42")
        part = await gateway.search_entities("Q4")
        typed = await gateway.search_entities("c180", ["brick:VAV"])
        named = await gateway.search_entities("plant")
    assert [(hit.id, hit.match, hit.name) for hit in found.result] == [("b:room_C180", "id", None)]
    assert [(hit.id, hit.match) for hit in begun.result] == [("b:vav_C180", "id")]
    # What does not read as a name is found as a whole only.
    assert [(hit.id, hit.match) for hit in whole.result] == [("b:Q42", "id")]
    assert part.result == []
    assert [hit.id for hit in typed.result] == ["b:vav_C180"]
    # What has a name is called by it; its local name is a guess.
    assert named.result == []
    assert [(hit.id, hit.match) for hit in named.guesses or ()] == [("b:plant", "id")]


async def test_a_local_name_stands_in_the_place_of_an_id_where_one_entity_has_it(tmp_path: Path) -> None:
    async with of_file(tmp_path, BUILDING) as gateway:
        entity = await gateway.describe_entity("room_C180")
        with pytest.raises(InputError, match="no entity has this name"):
            await gateway.describe_entity("C180")
    assert entity.id == "b:room_C180"
    assert entity.warnings == ["'room_C180' is b:room_C180."]


@pytest.mark.parametrize("in_index", [True, False])
async def test_a_code_is_found_where_it_is_typed_whole(tmp_path: Path, *, in_index: bool) -> None:
    async with of_file(tmp_path, UNITS) if in_index else over(UNITS) as gateway:
        await gateway.describe_schema()
        found = {
            query: [(hit.id.rpartition("/")[2].rpartition(":")[2], hit.match) for hit in answer.result]
            for query in ("km/h", "kg", "KGM-7", "kgm-7", "%", "KGM")
            for answer in [await gateway.search_entities(query)]
        }
    assert found == {
        "km/h": [("kmh", "code")],
        "kg": [("kg", "code")],
        "KGM-7": [("kg", "code")],
        "kgm-7": [("kg", "code")],
        "%": [("percent", "code")],
        "KGM": [],
    }


async def test_a_word_of_one_letter_is_no_part_of_another_word(tmp_path: Path) -> None:
    async with of_file(tmp_path, UNITS.replace('u:symbol "km/h"', 'u:p "km/h"')) as gateway:
        found = await gateway.search_entities("km/h")
    assert found.result == []


@pytest.mark.parametrize(
    ("iri", "words"),
    [
        ("http://example.org/building#room_C180", "room C180"),
        ("http://example.org/wine/ChateauDYchem", "Chateau D Ychem"),
        ("http://example.org/K%C3%B6ln.html?lang=de", "Köln"),
        ("http://example.org/people/Ada-Lovelace/", "Ada Lovelace"),
        ("urn:example:hasSubSystem", "has Sub System"),
        ("http://purl.obolibrary.org/obo/GO_0005737", ""),
        ("http://example.org/Q42", ""),
        ("http://example.org/6f1c2f0e-8d0f-4a2e-9c53-0d6a3f2b7e11", ""),
        ("http://example.org/e3b0c44298fc1c14", ""),
        ("http://example.org/", ""),
        ("http://example.org/facade2b", "facade2b"),
        ("http://example.org/effaced1bed", "effaced1bed"),
        ("http://example.org/IPv4AndIPv6Host", "IPv4And IPv6Host"),
        ("http://example.org/Room2B3CFloor1", "Room2B3C Floor1"),
        ("http://example.org/WW2USAirForceB17", "WW2US Air Force B17"),
        ("http://example.org/AudiA4B8QuattroS4", "Audi A4B8Quattro S4"),
        ("http://example.org/form_dde0679b", ""),
        ("http://example.org/RA5twh0DiuwjJH3FOFis", ""),
    ],
)
def test_a_local_name_reads_as_words_or_not(iri: str, words: str) -> None:
    assert readable(local_part(iri)) == words


def test_codes_are_called_codes() -> None:
    assert all(map(is_code, ("notation", "ucumCode", "symbol", "dbIdentifier", "id", "ISBN_ID", "externalId")))
    assert not any(map(is_code, ("isValid", "codec", "idle", "solid", "said")))


async def test_the_country_of_an_address_is_no_name_of_who_lives_there() -> None:
    turtle = """
    x:ga a vcard:Organization ; rdfs:label 'Commonwealth' ; vcard:organization-name 'Geoscience' ;
      vcard:country-name 'Australia' . x:b a x:T ; rdfs:label 'B' .
    """
    async with over(f"@prefix vcard: <http://www.w3.org/2006/vcard/ns#> . {turtle}") as gateway:
        said = (await gateway.describe_entity("x:ga")).as_json()
        found = await gateway.search_entities("Australia")
    assert said["synonyms"] in ("Geoscience", ["Geoscience"])
    assert "Australia" in said.values()
    assert found.result == []
