"""Questions about values: conditions, columns, an order, walks and sets, as a caller sees them (docs/values.md)."""

from collections.abc import Sequence
from typing import Any

import pytest

from gateway.errors import EndpointFault, InputError
from gateway.expand_compact import expand
from gateway.settings.profile import Profile
from gateway.tools.gateway import Gateway
from tests.small import ROOM, Watched, engine, over
from tests.tools.conftest import Open

pytestmark = pytest.mark.anyio

SHOP = """
@prefix x: <https://example.org/x/> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
x:saw a x:Tool ; rdfs:label "Saw" ; x:price x:p1 ; x:weight 2.5 ; x:madeBy x:ann ; x:made "1990-05-01"^^xsd:date .
x:axe a x:Tool ; rdfs:label "Axe" ; x:price x:p2 ; x:weight 2.50 ; x:madeBy x:ann .
x:pin a x:Tool ; rdfs:label "Pin" ; x:price x:p3 ; x:weight "0.1" ; x:madeBy x:bob .
x:cord a x:Tool ; rdfs:label "Cord" ; x:madeBy x:bob ; x:weight "light" .
x:drill a x:PowerTool ; rdfs:label "Drill" ; x:weight 3 ; x:madeBy x:bob .
x:PowerTool rdfs:subClassOf x:Tool .
x:p1 x:amount 30 . x:p2 x:amount 12 . x:p3 x:amount 1 .
x:ann a x:Person ; rdfs:label "Ann" ; x:knows x:bob . x:bob a x:Person ; rdfs:label "Bob" .
x:weight rdfs:label "weight in grams" .
"""


async def asked(tool: str, text: str = SHOP, profile: Profile | None = None, **arguments: Any) -> dict[str, Any]:
    async with over(text, profile or Profile(size=ROOM)) as gateway:
        return await answer_of(gateway, tool, **arguments)


async def answer_of(gateway: Gateway, tool: str, **arguments: Any) -> dict[str, Any]:
    return (await gateway.call(tool, arguments, shape="compact")).as_json()


def rows(answer: dict[str, Any]) -> list[Sequence[Any]]:
    return [[row[0].partition(" ")[0], *row[1:]] for row in answer["rows"]]


async def tools(**arguments: Any) -> dict[str, Any]:
    return await asked("search_entities", node_types=["Tool"], **arguments)


@pytest.mark.parametrize(
    ("condition", "fulfilling"),
    [
        ("x:weight < 2.5", ["x:pin"]),
        ("x:weight = 2.5", ["x:axe", "x:saw"]),
        ("weight != 2.5", ["x:drill", "x:pin"]),
        ('"weight in grams" >= 2.5', ["x:axe", "x:drill", "x:saw"]),
        ("x:price/x:amount > 10", ["x:axe", "x:saw"]),
        ("x:price missing", ["x:cord", "x:drill"]),
        ("x:madeBy = Ann", ["x:axe", "x:saw"]),
        ("x:madeBy/rdfs:label starts an", ["x:axe", "x:saw"]),
        ("name contains R", ["x:cord", "x:drill"]),
        ("x:made = 1990-05", ["x:saw"]),
        ("x:made = 1990", ["x:saw"]),
        ("type = PowerTool", ["x:drill"]),
        ("any = light", ["x:cord"]),
        ("x:madeBy in x:bob, x:nobody", ["x:cord", "x:drill", "x:pin"]),
        ("^x:knows exists", []),
    ],
)
async def test_a_condition_holds_for_the_entities_of_a_type_and_of_its_subclasses(
    condition: str, fulfilling: list[str]
) -> None:
    answer = await tools(where=[condition])
    assert [one for (one,) in rows(answer)] == fulfilling
    assert (answer["found"], answer["complete"]) == (len(fulfilling), True)


async def test_an_order_says_how_many_stand_behind_the_page_with_the_same_value_and_pages_go_on() -> None:
    first = await tools(sort_by="x:weight", limit=2)
    assert rows(first) == [["x:pin", "0.1"], ["x:axe", 2.5]]
    assert (first["found"], first["tied"], first["next_offset"]) == (5, 1, 2)
    second = await tools(sort_by="x:weight", limit=2, offset=2)
    assert rows(second) == [["x:saw", 2.5], ["x:drill", 3]]
    assert "tied" not in second
    assert rows(await tools(sort_by="-x:weight", limit=1)) == [["x:drill", 3]]


async def test_columns_show_ends_of_walks_with_names_or_ids() -> None:
    answer = await tools(values=["x:madeBy", "x:price/x:amount"], where=["x:price exists"], show="id")
    assert (answer["columns"], rows(answer)) == (
        ["x:madeBy", "x:price/x:amount"],
        [["x:axe", "x:ann", 12], ["x:pin", "x:bob", 1], ["x:saw", "x:ann", 30]],
    )


TWO_PRICES = """
@prefix x: <https://example.org/x/> .
x:saw a x:Tool ; x:price x:p1, x:p2 . x:axe a x:Tool ; x:price x:p3 .
x:p1 x:amount 30 ; x:currency x:eur . x:p2 x:amount 12 ; x:currency x:usd . x:p3 x:amount 9 ; x:currency x:eur .
"""


@pytest.mark.parametrize(
    ("values", "limit", "is_said"),
    [
        (["x:price/x:amount", "x:price/x:currency"], 2, True),
        (["x:price/x:amount", "x:price/x:currency"], 1, False),
        (["x:price/x:amount", "x:price"], 2, False),
    ],
)
async def test_columns_through_the_same_nodes_say_that_their_values_are_not_in_pairs(
    values: list[str], limit: int, *, is_said: bool
) -> None:
    listed = await asked("search_entities", TWO_PRICES, node_types=["Tool"], values=values, limit=limit)
    said = [text for text in listed.get("warnings", []) if "belong together" in text]
    assert [", ".join(values) in text for text in said] == [True] * is_said


async def test_the_advice_of_columns_not_in_pairs_shows_the_pairs() -> None:
    beside: dict[str, Any] = {"only_predicates": ["x:price"], "values": ["x:amount", "x:currency"]}
    answer = await asked("bfs_query", TWO_PRICES, seeds=["x:saw"], max_hops=1, **beside)
    assert rows(answer) == [["x:p1", 30, "x:eur"], ["x:p2", 12, "x:usd"]]


async def test_an_entry_of_several_predicates_is_one_hop() -> None:
    answer = await asked("bfs_query", seeds=["x:saw"], max_hops=1, only_predicates=["x:madeBy/^x:madeBy"])
    assert answer == {
        "complete": True,
        "edges": {"x:saw Saw": {"x:madeBy/^x:madeBy": ["x:axe Axe", "x:saw"]}},
    }


async def test_one_list_of_walks_a_seed_is_a_join() -> None:
    answer = await asked(
        "intersect_subgraphs", seeds=["x:ann", "x:p1"], k=1, only_predicates=[["^x:madeBy"], ["^x:price"]], edges=False
    )
    assert answer["nodes"] == {"x:Tool": ["x:saw Saw"]}


async def test_in_a_traversal_conditions_leave_what_leads_to_the_members() -> None:
    answer = await asked(
        "bfs_query",
        seeds=["x:ann"],
        max_hops=2,
        only_predicates=[["x:knows"], ["^x:madeBy"]],
        where=["x:weight > 1"],
    )
    assert sorted(node["id"] for node in expand(answer)["nodes"]) == ["x:ann", "x:bob", "x:drill"]
    assert answer["removed"] == {"where": 2}


async def test_where_nothing_fulfils_all_conditions_each_is_told_alone() -> None:
    answer = await tools(where=["x:weight < 1", "x:price/x:amount > 10"])
    (warning,) = (text for text in answer["warnings"] if "alone" in text)
    assert warning == (
        "where: no node fulfils all conditions. Each alone lets through: 'x:weight < 1 (number)' 1; "
        "'x:price/x:amount > 10 (number)' 2."
    )


@pytest.mark.parametrize(
    ("where", "absent"),
    [
        ("x:madeBy = x:nobody", ["x:nobody"]),
        ("x:madeBy in x:nobody, x:no_one", ["x:no_one", "x:nobody"]),
        ("x:madeBy = x:saw", []),
        ("x:madeBy = x:ann", []),
    ],
)
async def test_a_condition_that_lets_nothing_through_says_which_nodes_the_graph_does_not_have(
    where: str, absent: list[str]
) -> None:
    are = "is no node" if len(absent) == 1 else "are no nodes"
    told = [f"where: {', '.join(absent)} {are} of this graph, so nothing leads there."] if absent else []
    listed = await tools(where=[where])
    traversed = await asked("bfs_query", seeds=["x:ann"], max_hops=1, where=[where])
    for answer in (listed, traversed):
        assert [text for text in answer.get("warnings", []) if "of this graph" in text] == told


@pytest.mark.parametrize("arguments", [{"node_types": ["Person"]}, {"seeds": ["x:ann", "x:bob"], "max_hops": 1}])
async def test_a_condition_that_compares_with_a_type_and_lets_nothing_through_says_so(
    arguments: dict[str, Any],
) -> None:
    tool = "bfs_query" if "seeds" in arguments else "search_entities"
    answer = await asked(tool, where=["^x:madeBy = x:Tool"], **arguments)
    said = [text for text in answer["warnings"] if "is a type" in text]
    assert (answer["found"], len(said)) == (0, 1)
    assert "write '^x:madeBy/type = x:Tool'" in said[0]
    advised = await asked("search_entities", node_types=["Person"], where=["^x:madeBy/type = x:Tool"])
    assert [row[0] for row in rows(advised)] == ["x:ann", "x:bob"]


async def test_texts_that_read_as_numbers_and_values_that_cannot_be_compared_are_counted() -> None:
    answer = await asked("bfs_query", seeds=["x:bob"], max_hops=1, where=["x:weight < 3"], edges=False)
    assert [text.partition(", by")[0] for text in answer["warnings"]] == [
        "where: 1 text that read as a number was compared as one",
        "where: 1 value cannot be compared, and fulfil nothing",
    ]


async def test_nodes_that_fail_unequal_only_because_they_have_no_value_are_counted() -> None:
    def warnings(answer: dict[str, Any]) -> list[str]:
        return [text for text in answer.get("warnings", []) if "no value" in text]

    without = "that have no value cannot fulfil 'x:price/x:amount != 12 (number)'; missing finds them."
    answer = await tools(where=["x:price/x:amount != 12"])
    assert answer["complete"]
    assert warnings(answer) == [f"where: 2 nodes {without}"]
    assert (await tools(where=["x:price missing"]))["found"] == 2
    # Of the two, another condition leaves none.
    assert not warnings(await tools(where=["x:price/x:amount != 12", "x:price exists"]))
    assert not warnings(await tools(where=["x:price/x:amount > 12"]))


async def test_entities_without_a_type_are_a_set() -> None:
    answer = await asked("search_entities", node_types=["untyped"], where=["x:amount exists"])
    assert [one for (one,) in rows(answer)] == ["x:p1", "x:p2", "x:p3"]


async def test_a_list_of_a_type_has_pages_in_one_order() -> None:
    async with over(SHOP, Profile(size=ROOM)) as gateway:
        pages = [await answer_of(gateway, "search_entities", node_types=["Tool"], limit=2)]
        while "next_offset" in pages[-1]:
            offset = pages[-1]["next_offset"]
            pages.append(await answer_of(gateway, "search_entities", node_types=["Tool"], limit=2, offset=offset))
        whole = await answer_of(gateway, "search_entities", node_types=["Tool"], limit=10)
    assert [hit for page in pages for hit in page["result"]] == whole["result"]
    assert len(whole["result"]) == 5


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"where": ["x:wight < 3"]}, "wight"),
        ({"where": ["weight < "]}, "nothing stands behind"),
        ({"where": ["weight"]}, "no operator"),
        ({"values": ["x:price/x:amount/x:a/x:b/x:c"]}, "5 steps"),
        ({"sort_by": "-nothing"}, "nothing"),
        ({"where": ["x:madeBy = Nobody"]}, "no entity"),
    ],
)
async def test_a_wrong_condition_walk_or_order_is_an_error_that_says_what_is_valid(
    arguments: dict[str, Any], message: str
) -> None:
    with pytest.raises(InputError, match=message) as caught:
        await tools(**arguments)
    assert caught.value.valid or caught.value.next_step


async def test_what_could_not_be_decided_is_left_out_and_the_answer_is_not_complete() -> None:
    async def fail(query: str) -> None:
        if "?text" in query:
            raise EndpointFault("It does not answer.")

    async with over(Watched(engine(SHOP), fail), Profile(size=ROOM)) as gateway:
        found = await answer_of(gateway, "bfs_query", seeds=["x:bob"], max_hops=1, where=["x:weight < 3"])
        listed = await answer_of(gateway, "search_entities", node_types=["Tool"], where=["x:madeBy missing"])
    assert (found["complete"], [gap["cause"] for gap in found["incomplete"]]) == (False, ["endpoint_failed"])
    assert (listed["complete"], listed["rows"]) == (False, [])


async def test_a_name_that_more_entities_have_than_are_read_is_an_error_of_the_condition() -> None:
    many = "".join(f'x:n{number} rdfs:label "Ann" .\n' for number in range(5_001))
    with pytest.raises(InputError, match="more entities are called 'Ann' than are read"):
        await asked("search_entities", SHOP + many, node_types=["Tool"], where=["x:madeBy = Ann"])


async def test_more_names_than_are_looked_up_are_an_error_that_asks_for_ids() -> None:
    names = ", ".join(f"Nobody {number}" for number in range(21))
    with pytest.raises(InputError, match="too many names of entities"):
        await tools(where=[f"x:madeBy in {names}"])


async def test_an_id_without_slashes_is_an_id_in_a_condition() -> None:
    text = SHOP + "x:book a x:Tool ; x:madeBy <urn:isbn:9> . <urn:isbn:9> x:knows x:bob ."
    answer = await asked("search_entities", text, node_types=["Tool"], where=["x:madeBy = urn:isbn:9"])
    assert [row[0] for row in answer["rows"]] == ["x:book"]


async def test_a_walk_does_not_lead_through_a_literal() -> None:
    answer = await tools(values=["x:weight/^x:weight"], show="id")
    assert {row[1] for row in answer["rows"]} == {None}


async def test_a_usual_predicate_that_the_graph_does_not_have_is_warned_of(over_file: Open) -> None:
    async with over_file("x:a a x:T ; rdfs:label 'A' ; x:size 3 .") as gateway:
        none = await gateway.search_entities(node_types=["x:T"], values=["skos:prefLabel", "skos:definition", "name"])
        asked = await gateway.search_entities(node_types=["x:T"], where=["skos:prefLabel exists"])
        some = await gateway.search_entities(node_types=["x:T"], values=["rdfs:label", "x:size", "name"])
    assert none.warnings is not None
    assert [text.partition(" `")[0] for text in none.warnings] == [
        "This graph has no texts by skos:definition, skos:prefLabel, so no node has one."
    ]
    assert any("no texts by skos:prefLabel" in text for text in asked.warnings or ())
    assert not some.warnings


DURATIONS = """
@prefix x: <https://example.org/x/> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
x:a a x:Film ; x:runtime "PT9M"^^xsd:duration .
x:b a x:Film ; x:runtime "PT2H"^^xsd:dayTimeDuration .
x:c a x:Film ; x:runtime "PT1H"^^xsd:duration .
x:d a x:Film ; x:runtime "P1M"^^xsd:yearMonthDuration .
"""


async def test_durations_are_compared_by_their_length() -> None:
    async def films(**arguments: Any) -> dict[str, Any]:
        answer = await asked("search_entities", DURATIONS, node_types=["x:Film"], values=["x:runtime"], **arguments)
        assert answer["complete"]
        return answer

    async def fulfilling(condition: str) -> list[str]:
        return sorted(row[0] for row in rows(await films(where=[condition])))

    assert await fulfilling("x:runtime > PT10M") == ["x:b", "x:c", "x:d"]
    assert await fulfilling("x:runtime < PT10M") == ["x:a"]
    # The store has another spelling, so that its text is not what is written here.
    assert await fulfilling("x:runtime = PT120M") == ["x:b"]
    answer = await films(where=["x:runtime < P30D"])
    assert sorted(row[0] for row in rows(answer)) == ["x:a", "x:b", "x:c"]
    assert answer["where"] == ["x:runtime < P30D (duration or text)"]
    assert "1 value" in str(answer["warnings"])
    assert [row[0] for row in rows(await films(sort_by="-x:runtime"))] == ["x:d", "x:b", "x:c", "x:a"]
    computed = await asked(
        "search_entities", DURATIONS, node_types=["x:Film"], compute=["min x:runtime", "max x:runtime"]
    )
    assert computed["computed"] == {"min x:runtime": "PT9M", "max x:runtime": "P1M"}


async def test_texts_that_read_as_durations_are_read_so_and_broken_durations_are_told() -> None:
    text = """
    @prefix x: <https://example.org/x/> .
    @prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
    x:a a x:Film ; x:runtime "PT9M" . x:b a x:Film ; x:runtime "PT1H" .
    x:c a x:Film ; x:runtime "P-1M"^^xsd:duration .
    """
    answer = await asked("search_entities", text, node_types=["x:Film"], where=["x:runtime > PT10M"])
    assert [row[0] for row in rows(answer)] == ["x:b"]
    assert [one.partition(", by")[0] for one in answer["warnings"]] == [
        "where: 2 texts that read as a duration were compared as one",
        "where: 1 value cannot be compared, and fulfil nothing",
    ]


async def test_a_word_under_which_answers_show_other_predicates_is_told_from_them() -> None:
    text = """
    x:graph a x:Graph ; <http://purl.org/dc/elements/1.1/description> "All of it." .
    x:saw a x:Tool ; rdfs:label "Saw" ; rdfs:comment "It cuts." .
    """
    answer = await asked("search_entities", text, node_types=["Tool"], where=["description contains cuts"])
    assert answer["found"] == 0
    told = "'description' is here the predicate of this name; answers show rdfs:comment under it too: ask by ID."
    assert answer["warnings"] == [told]
    by_id = await asked("search_entities", text, node_types=["Tool"], where=["rdfs:comment contains cuts"])
    assert (by_id["found"], by_id.get("warnings")) == (1, None)
