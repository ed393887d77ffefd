"""What `describe_schema` says of values and of what instances of a type have."""

import random
from typing import Any

import pytest

from gateway.api import open_gateway
from gateway.errors import EndpointFault, InputError
from gateway.escaping import json_text
from gateway.settings.profile import Profile
from gateway.settings.vocabulary import EvidenceSettings, EvidenceWay, TypeSettings
from gateway.tools.gateway import Gateway
from tests.graphs import fixture
from tests.shape_oracle import kinds_by_value_predicate, nodes_by_value_predicate, shape, triples_of
from tests.shared_data import shared_data
from tests.small import ROOM, Watched, X, engine, over

pytestmark = pytest.mark.anyio

ODD = """
x:a x:n 1, 1.50, "abc"^^xsd:integer, "NaN"^^xsd:double, "-INF"^^xsd:double ; x:d "2001-05-01"^^xsd:date .
x:b x:n "0.5"^^xsd:float ; x:d "-0044-03-15"^^xsd:date, "12001-01-01"^^xsd:gYear .
x:b x:t "5", "caf\\u00e9"@fr, "\\u202Eevil\\nline" .
x:c x:zoned "2000-01-01T00:30:00+01:00"^^xsd:dateTime, "1999-12-31T23:45:00Z"^^xsd:dateTime ; x:yes true, false .
x:a x:p x:b .
"""


async def test_values_have_their_kinds_ranges_and_two_quoted_texts() -> None:
    async with over(ODD) as gateway:
        answer = await gateway.describe_schema()
    values = answer.values or {}
    assert values["x:n"] == [2, "number, text", "-INF to 1.5", "'abc'"]
    assert values["x:d"] == [2, "date", "-0044-03-15 to 12001-01-01"]
    assert values["x:t"] == [1, "text, language text", "'5'", r"'\u202eevil\nline'", "'caf\u00e9'"]
    # The first is 23:30 of the last day of 1999 in UTC.
    assert values["x:zoned"] == [1, "date", "2000-01-01T00:30:00+01:00 to 1999-12-31T23:45:00Z"]
    assert values["x:yes"] == [1, "boolean"]
    assert "x:p" not in values


def drawn(dice: random.Random) -> str:
    """Return a graph whose nodes have values and edges, some of them several, to typed and untyped nodes."""
    lines = []
    for node in range(60):
        lines += [f"x:n{node} a x:T{dice.randrange(4)} ." for _ in range(dice.randrange(3))]
        for _ in range(dice.randrange(8)):
            value = dice.choice([
                f"{dice.randrange(-50, 50)}", f'"{dice.random():.3f}"^^xsd:decimal', f'"w{dice.randrange(9)}"',
                f'"w{dice.randrange(9)}"@de', f'"{dice.randrange(1900, 2000)}-01-01"^^xsd:date', "true",
                f"x:n{dice.randrange(60)}",
            ])  # fmt: skip
            lines.append(f"x:n{node} x:p{dice.randrange(6)} {value} .")
    return "\n".join(lines)


@pytest.mark.parametrize("seed", range(10))
async def test_values_and_shapes_of_drawn_graphs_are_those_of_their_triples(seed: int) -> None:
    store = engine(drawn(random.Random(seed)))  # noqa: S311 - no secret
    triples = triples_of(store)
    types = [f"x:T{number}" for number in range(4)]
    async with over(store) as gateway:
        values = (await gateway.describe_schema()).values or {}
        shapes = (await gateway.describe_schema(node_types=types)).shapes or {}
    assert {whole(name): row[0] for name, row in values.items()} == nodes_by_value_predicate(triples)
    kinds = {whole(name): {*str(row[1]).split(", ")} for name, row in values.items()}
    assert kinds == kinds_by_value_predicate(triples)
    for type_id, found in shapes.items():
        expected = shape(triples, [whole(type_id)])
        assert found.read.startswith("counted: all ")
        assert {whole(name) for name in found.predicates} == expected.keys()
        for name, (share, several, *_) in found.predicates.items():
            right = expected[whole(name)]
            assert (share == "100%") is (right.share == 1)
            assert abs(float(share.rstrip("%")) - 100 * right.share) <= 1
            assert several == ("several" if right.has_several else "one")


def whole(name: str) -> str:
    return name.replace("x:", X)


async def test_a_shape_of_many_instances_is_a_sample_and_says_so() -> None:
    turtle = "\n".join(f"x:i{number} a x:T ; x:v {number} ; x:p x:hub ." for number in range(300))
    async with over(turtle) as gateway:
        answer = await gateway.describe_schema(node_types=["T"])
    found = (answer.shapes or {})["x:T"]
    assert found.read == "sampled: 200 of 300 instances"
    assert found.predicates["x:p"] == ["100%", "one", "untyped", "x:hub"]


async def test_an_instance_with_more_edges_than_are_read_makes_shares_lower_bounds() -> None:
    turtle = "x:hub a x:T . x:other a x:T ; x:q x:z ." + "\n".join(f"x:m{number} x:p x:hub ." for number in range(90))
    async with over(turtle) as gateway:
        found = ((await gateway.describe_schema(node_types=["T"])).shapes or {})["x:T"]
    assert found.read == "sampled: 2 of 2 instances; 1 of these with some of their edges only"
    assert found.predicates["^x:p"][:2] == [">=50%", "several"]
    assert found.predicates["x:q"][:2] == ["50%", "one"]


async def test_instances_of_subclasses_are_counted_in_and_named() -> None:
    turtle = "x:S rdfs:subClassOf x:T . x:a a x:S ; x:v 1 . x:b a x:T ; x:v 2 ."
    profile = Profile(size=ROOM, types=TypeSettings(subclass_of=("http://www.w3.org/2000/01/rdf-schema#subClassOf",)))
    async with over(turtle, profile) as gateway:
        found = ((await gateway.describe_schema(node_types=["T"])).shapes or {})["x:T"]
    assert (found.read, found.subclasses) == ("counted: all 2 instances", "x:S")
    assert found.predicates["x:v"] == ["100%", "one", "number", "1 to 2"]


async def test_beside_shapes_there_are_no_lists_and_no_advice_for_every_graph() -> None:
    async with over("x:a a x:T ; x:v 1 ; x:p x:b .") as gateway:
        answer = await gateway.describe_schema(node_types=["T"])
    assert (answer.entity_types, answer.predicates, answer.values, answer.tool_usage_notes) == (["x:T"], [], None, None)
    assert answer.prefixes == {"x": X}


async def schema_size(gateway: Gateway, **given: Any) -> int:
    """Return the characters of a schema in the shape for models."""
    return len(json_text((await gateway.call("describe_schema", given, shape="compact")).as_json()))


@pytest.mark.parametrize("name", ["wikidata-slice", pytest.param("wd50k", marks=[pytest.mark.large])])
async def test_a_schema_of_opaque_ids_takes_3000_characters_and_8000_with_shapes(name: str) -> None:
    graph = fixture(name) if name == "wikidata-slice" else shared_data("wd50k.nt.gz")
    async with open_gateway(graph, profile="wikidata-local") as gateway:
        await gateway.wait_until_ready()
        assert await schema_size(gateway) <= 3_000
        types = (await gateway.describe_schema()).entity_types
        for count in (1, 5, len(types)):
            assert await schema_size(gateway, node_types=types[:count]) <= 8_000


async def test_more_rows_of_a_shape_are_shown_where_all_are_asked_for() -> None:
    predicates = " ; ".join(f"x:predicate_with_quite_a_long_name_{number:03} {number}" for number in range(150))
    async with over(f"x:a a x:T ; {predicates} .") as gateway:
        some = await gateway.describe_schema(node_types=["T"])
        every = await gateway.describe_schema(node_types=["T"], all=True)
    shown, whole = ((answer.shapes or {})["x:T"] for answer in (some, every))
    assert len(json_text(some.as_json()).encode()) <= 8_000
    assert len(json_text(every.as_json()).encode()) <= 15_000
    assert (shown.predicates_total, whole.predicates_total) == (150, None)
    assert [*shown.predicates] == [*whole.predicates][: len(shown.predicates)]
    assert 50 < len(shown.predicates) < len(whole.predicates) == 150


async def test_a_type_that_does_not_exist_is_an_error_and_nodes_without_one_have_no_shape() -> None:
    async with over("x:a a x:T ; x:p x:b .") as gateway:
        with pytest.raises(InputError, match="no type of this graph is called 'Tee'"):
            await gateway.describe_schema(node_types=["Tee"])
        answer = await gateway.describe_schema(node_types=["untyped"])
    assert answer.shapes == {}
    assert answer.warnings == ["node_types: nodes without a type have no shape."]


async def test_what_was_read_is_not_asked_for_again() -> None:
    asked: list[str] = []

    async def hook(query: str) -> None:
        asked.append(query)

    async with over(Watched(engine("x:a a x:T ; x:v 1 ; x:p x:b ."), hook)) as gateway:
        first = [await gateway.describe_schema(), await gateway.describe_schema(node_types=["T"])]
        count = len(asked)
        again = [await gateway.describe_schema(), await gateway.describe_schema(node_types=["T"])]
    assert again == first
    assert len(asked) == count


async def test_where_an_engine_cannot_count_values_some_nodes_are_looked_at() -> None:
    async def hook(query: str) -> None:
        if "isLiteral(?v)" in query and "GROUP BY" in query:
            raise EndpointFault("No aggregates of these.")

    async with over(Watched(engine("x:a a x:T ; x:v 1, 2 ; x:p x:b ."), hook)) as gateway:
        answer = await gateway.describe_schema()
    assert answer.values == {"x:v": ["at least 1", "number", "sampled: 1 to 2"]}


async def test_lists_are_told_where_values_cannot_be_read() -> None:
    async def hook(query: str) -> None:
        if "isLiteral(?v)" in query:
            raise EndpointFault("Not this.")

    async with over(Watched(engine("x:a a x:T ; x:v 1 ; x:p x:b ."), hook)) as gateway:
        answer = await gateway.describe_schema()
    assert (answer.entity_types, answer.values) == (["x:T"], None)
    assert "could not be read in time" in (answer.warnings or [""])[0]


STATED = """
x:ann x:knows x:bob , x:cid . x:ann rdfs:label 'Ann' ; x:since 1 .
x:r1 rdf:reifies <<( x:ann x:knows x:bob )>> ; a x:Claim ; x:quote 'they met' ; x:by x:doc .
[] a rdf:Statement ; rdf:subject x:ann ; rdf:predicate x:knows ; rdf:object x:cid ; x:quote 'so they say' ; x:since 2 .
"""


async def test_predicates_of_what_is_stated_about_edges_are_named_and_an_argument_that_names_one_says_so() -> None:
    async with over(STATED) as gateway:
        advice = (await gateway.describe_schema()).next_steps
        for arguments in ({"where": ["quote exists"]}, {"values": ["x:quote"]}, {"sort_by": "by"}):
            with pytest.raises(InputError, match="is stated about edges, as evidence: as such it cannot be followed"):
                await gateway.search_entities(node_types=["untyped"], **arguments)
        with pytest.raises(InputError, match="only_predicates: x:quote is stated about edges"):
            await gateway.bfs_query(["x:ann"], 1, only_predicates=["quote"])
        # One that nodes have too is theirs.
        answer = await gateway.bfs_query(["x:ann"], 1, values=["since"])
    said = "The evidence of edges, which bfs_query shows and no filter or condition reads, has x:quote, x:by, x:since."
    assert said in advice
    assert answer.rows == [["x:bob", None], ["x:cid", None]]
    async with over("x:a x:p x:b .") as gateway:
        assert "evidence" not in (await gateway.describe_schema()).next_steps


@pytest.mark.parametrize(("way", "said"), [("statements", " has x:quote, x:since."), ("singleton_properties", "")])
async def test_no_predicate_is_named_of_what_is_stated_in_a_way_that_is_not_read(way: EvidenceWay, said: str) -> None:
    async with over(STATED, Profile(evidence=EvidenceSettings(ways=(way,)))) as gateway:
        advice = (await gateway.describe_schema()).next_steps
    assert advice.partition("The evidence of edges, which bfs_query shows and no filter or condition reads,")[2] == said
