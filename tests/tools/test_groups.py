"""Groups and figures, as a caller sees them (docs/values.md, "Groups and figures")."""

from pathlib import Path
from typing import Any

import pytest

from gateway.api import open_gateway
from gateway.errors import EndpointFault, InputError
from gateway.messages import NAMES_MAY_BE_MISSED
from gateway.settings.profile import Profile
from tests.small import ROOM, Watched, WatchedElsewhere, engine, over
from tests.tools.test_values import SHOP, answer_of, asked, tools

pytestmark = pytest.mark.anyio


async def test_groups_stand_by_the_first_figure_and_pages_go_on_with_ties_told() -> None:
    first = await tools(group_by="x:weight", compute=["count", "sum x:price/x:amount"], limit=1)
    assert first["group_columns"] == ["x:weight", "count", "sum x:price/x:amount"]
    assert first["groups"] == [[2.5, 2, 42]]
    assert (first["group_count"], first["found"], first["next_offset"]) == (4, 5, 1)
    assert "tied" not in first
    second = await tools(group_by="x:weight", compute=["count", "sum x:price/x:amount"], limit=1, offset=1)
    assert (second["groups"], second["tied"], second["next_offset"]) == ([["0.1", 1, 1]], 2, 2)


async def test_groups_are_counted_where_no_figure_is_asked_for() -> None:
    answer = await tools(group_by="madeBy")
    assert (answer["group_columns"], answer["groups"]) == (
        ["x:madeBy", "count"],
        [["x:bob Bob", 3], ["x:ann Ann", 2]],
    )
    assert answer["complete"]


async def test_a_text_that_is_cut_in_a_group_is_told() -> None:
    text = SHOP + f'x:tub a x:Tub ; x:note "{"n" * 400}" .'
    answer = await asked("search_entities", text, node_types=["Tub"], group_by="x:note")
    assert answer["groups"][0][0].endswith("…")
    assert (answer["complete"], answer["values_complete"]) == (True, False)


async def test_nodes_without_an_end_are_the_group_null() -> None:
    answer = await tools(group_by="x:price/x:amount", sort_by="x:price/x:amount", show="id")
    assert answer["groups"] == [[1, 1], [12, 1], [30, 1], [None, 2]]


@pytest.mark.parametrize(
    ("compute", "figures"),
    [
        (["count", "avg x:price/x:amount"], {"count": 5, "avg x:price/x:amount": 14.333333333333334}),
        (["SUM(x:weight)", "count(*)"], {"sum x:weight": 8.1, "count": 5}),
        (["min x:made", "max weight in grams"], {"min x:made": "1990-05-01", "max x:weight": 3}),
        (["distinct x:madeBy", "distinct x:weight"], {"distinct x:madeBy": 2, "distinct x:weight": 4}),
        (["avg x:nowhere"], None),
    ],
)
async def test_figures_over_all_nodes_are_one_object(compute: list[str], figures: dict[str, Any] | None) -> None:
    if figures is None:
        with pytest.raises(InputError, match="nowhere"):
            await tools(compute=compute)
    else:
        assert (await tools(compute=compute))["computed"] == figures


async def test_an_end_counts_once_for_each_way_to_it() -> None:
    answer = await asked("search_entities", node_types=["Person"], compute=["sum ^x:madeBy/x:price/x:amount", "count"])
    assert answer["computed"] == {"sum ^x:madeBy/x:price/x:amount": 43, "count": 2}
    twice = SHOP + "x:pen a x:Tool ; x:madeBy x:bob ; x:price x:p3 ."
    answer = await asked("search_entities", twice, node_types=["Person"], compute=["sum ^x:madeBy/x:price/x:amount"])
    assert answer["computed"] == {"sum ^x:madeBy/x:price/x:amount": 44}


LISTS = SHOP + "x:set a x:Set ; x:sizes (1 2 2 3) ; x:holds x:box . x:box x:sizes (1 2 2) ."
OF_LISTS: dict[str, Any] = {"node_types": ["Set"], "compute": ["sum x:sizes", "sum x:holds/x:sizes"]}


async def test_members_of_a_list_are_ends_of_distinct_edges(tmp_path: Path) -> None:
    file = tmp_path / "lists.ttl"
    file.write_text(LISTS, encoding="utf-8")
    async with open_gateway(file) as gateway:
        answer = await answer_of(gateway, "search_entities", **OF_LISTS)
    assert answer["computed"] == {"sum x:sizes": 6, "sum x:holds/x:sizes": 3}


async def test_there_is_no_figure_over_lists_that_an_endpoint_has_as_blank_nodes() -> None:
    answer = await asked("search_entities", LISTS, **OF_LISTS)
    assert (answer["complete"], "computed" in answer) == (False, False)


@pytest.mark.parametrize(
    ("tool", "arguments", "groups"),
    [
        ("bfs_query", {"seeds": ["x:ann"], "max_hops": 1, "only_predicates": ["^madeBy"]}, [["x:Tool", 2]]),
        ("intersect_subgraphs", {"seeds": ["x:saw", "x:axe"], "k": 1}, [["x:Person", 1]]),
        ("search_entities", {"query": "an"}, [["x:Person", 1]]),
    ],
)  # fmt: skip
async def test_every_set_has_groups(tool: str, arguments: dict[str, Any], groups: list[list[Any]]) -> None:
    answer = await asked(tool, **arguments, group_by="type")
    assert (answer["groups"], answer["complete"]) == (groups, True)
    assert not any(answer.get(key) for key in ("nodes", "edges", "rows", "result"))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"compute": ["median x:weight"]}, "no figure"),
        ({"compute": ["avg"]}, "no figure"),
        ({"compute": ["count x:weight"]}, "count is of nodes"),
        ({"group_by": "x:wight"}, "wight"),
        ({"group_by": "madeBy", "values": ["x:weight"]}, "columns are of nodes"),
        ({"group_by": "madeBy", "sort_by": "x:weight"}, "no column of the groups"),
    ],
)
async def test_what_is_no_figure_or_group_is_an_error_that_says_what_is_valid(
    arguments: dict[str, Any], message: str
) -> None:
    with pytest.raises(InputError, match=message) as caught:
        await tools(**arguments)
    assert caught.value.valid or caught.value.next_step


async def test_figures_behind_the_step_of_a_condition_are_told_to_be_over_all_values() -> None:
    answer = await tools(where=["x:price/x:amount > 10"], compute=["avg x:price/x:amount"])
    (warning,) = answer["warnings"]
    assert warning.startswith("compute: figures and groups are about all values of a node behind x:price, not only")


NOT_SHOWN = "No group and no figure is shown: each might be another one with what is missing."


async def test_there_is_no_figure_over_a_traversal_that_was_cut() -> None:
    answer = await asked("bfs_query", seeds=["x:bob"], max_hops=1, max_edges_per_node=1, compute=["count"])
    assert not answer["complete"]
    assert answer.keys().isdisjoint({"computed", "groups", "group_count"})
    assert NOT_SHOWN in answer["warnings"]


async def test_there_is_no_figure_where_a_value_could_not_be_read() -> None:
    async def fail(query: str) -> None:
        if "?text" in query:
            raise EndpointFault("It does not answer.")

    async with over(Watched(engine(SHOP), fail), Profile(size=ROOM)) as gateway:
        found = await answer_of(gateway, "bfs_query", seeds=["x:bob"], max_hops=1, group_by="x:weight")
        listed = await answer_of(gateway, "search_entities", node_types=["Tool"], compute=["sum x:weight"])
    for answer in (found, listed):
        assert not answer["complete"]
        assert answer.keys().isdisjoint({"computed", "groups", "group_count"})
        assert NOT_SHOWN in answer["warnings"]
    assert [gap["cause"] for gap in found["incomplete"]] == ["endpoint_failed"]


LANGUAGES = """
x:a a x:T ; rdfs:label 'Alpha'@en , 'Alfa'@de ; x:n 1 ; x:p x:c .
x:b a x:T ; rdfs:label 'Beta'@en , 'Beta'@de ; x:n 2 ; x:p x:c .
x:d a x:T ; rdfs:label 'Alpha'@en , 'Anders'@de ; x:n 3 ; x:p x:b .
x:c rdfs:label 'Center'@en , 'Mitte'@de .
"""


@pytest.mark.parametrize(
    ("group_by", "language", "groups"),
    [
        ("name", "", [["Alpha", 2, 4], ["Beta", 1, 2]]),
        ("name", "de", [["Alfa", 1, 1], ["Anders", 1, 3], ["Beta", 1, 2]]),
        ("p/name", "de", [["Mitte@de", 2, 3], ["Beta@de", 1, 3]]),
        ("label", "de", [["Alfa@de", 1, 1], ["Anders@de", 1, 3], ["Beta@de", 1, 2]]),
        (
            "label",
            "",
            [["Alpha@en", 2, 4], ["Alfa@de", 1, 1], ["Anders@de", 1, 3], ["Beta@de", 1, 2], ["Beta@en", 1, 2]],
        ),
    ],
)
async def test_groups_are_by_names_and_of_translations_in_the_language_of_the_call(
    group_by: str, language: str, groups: list[list[Any]]
) -> None:
    async with over(LANGUAGES) as gateway:
        answer = await gateway.search_entities(
            "", ["x:T"], group_by=group_by, compute=["count", "sum n"], language=language
        )
    assert answer.as_json()["groups"] == groups


@pytest.mark.parametrize(
    ("figure", "language", "value"),
    [("distinct name", "", 2), ("distinct name", "de", 3), ("max name", "de", "Beta"), ("distinct label", "de", 3)],
)
async def test_figures_are_over_names(figure: str, language: str, value: object) -> None:
    async with over(LANGUAGES) as gateway:
        answer = await gateway.search_entities("", ["x:T"], compute=[figure], language=language)
    assert list(answer.as_json()["computed"].values()) == [value]


@pytest.mark.parametrize(
    ("asked", "walk"),
    [
        ({"values": ["name@de"]}, "name"),
        ({"values": ["p/name@de"]}, "p/name"),
        ({"sort_by": "name@de"}, "name"),
        ({"group_by": "label@de"}, "label"),
        ({"compute": ["distinct name@de"]}, "name"),
        ({"where": ["label@de = Alfa"]}, "label"),
    ],
)
async def test_a_walk_with_a_language_says_what_to_write(asked: dict[str, Any], walk: str) -> None:
    async with over(LANGUAGES) as gateway:
        with pytest.raises(InputError) as error:
            await gateway.search_entities("", ["x:T"], **asked)
    assert error.value.valid == f"Write '{walk}', and the argument language: 'de'."


CALLED = "x:a a x:T ; x:shortName 'Ann' ; x:q x:b . x:b a x:T ; x:shortName 'Bob' ; x:q x:a ."


@pytest.mark.parametrize(
    "asked",
    [
        {"group_by": "name"},
        {"compute": ["distinct name"]},
        {"values": ["name"]},
        {"values": ["q/name"]},
        {"sort_by": "name"},
        {"where": ["name exists"]},
    ],
)
async def test_what_rests_on_names_is_not_complete_while_it_is_not_known_which_these_are(asked: dict[str, Any]) -> None:
    async def hook(query: str) -> None:
        if "?o)) } LIMIT 1" in " ".join(query.replace("isLiteral(?o)", "?o)").split()):
            raise EndpointFault("Busy.")

    async with over(WatchedElsewhere(engine(CALLED), hook)) as gateway:
        answer = (await gateway.search_entities("", ["x:T"], **asked)).as_json()
        around = (await gateway.bfs_query(["x:a"], max_hops=1, group_by="name")).as_json()
    assert not answer["complete"]
    assert NAMES_MAY_BE_MISSED in answer["warnings"]
    assert answer.keys().isdisjoint({"computed", "groups"})
    assert "groups" not in around


PARTS = """
x:s x:toN x:n ; x:toM x:m .
x:n a x:N ; x:part x:q1 , x:q2 ; x:note 'one'@en , 'eins'@de .
x:q1 x:size 'big'@en . x:q2 x:size 'gross'@de .
x:m a x:M ; x:part x:q3 , x:q4 . x:q3 rdfs:label 'House'@en , 'Haus'@de . x:q4 rdfs:label 'Road'@en , 'Weg'@de .
"""


@pytest.mark.parametrize(
    ("entity_type", "asked", "found", "hidden"),
    [
        ("x:N", {"compute": ["distinct part/size"]}, 2, None),
        ("x:N", {"group_by": "part/size"}, [["big@en", 1], ["gross@de", 1]], None),
        ("x:N", {"compute": ["distinct note"]}, 1, {"de": 1}),
        ("x:M", {"group_by": "part/name"}, [["House@en", 1], ["Road@en", 1]], {"de": 2}),
        ("x:M", {"compute": ["max part/label"]}, "Road@en", {"de": 2}),
    ],
)
async def test_translations_are_those_of_one_subject_and_counted(
    entity_type: str, asked: dict[str, Any], found: object, hidden: dict[str, int] | None
) -> None:
    async with over(PARTS) as gateway:
        answer = (await gateway.search_entities("", [entity_type], language="en", **asked)).as_json()
        to = {"x:N": "x:toN", "x:M": "x:toM"}[entity_type]
        around = (await gateway.bfs_query(["x:s"], max_hops=1, only_predicates=[to], language="en", **asked)).as_json()
    for one in (answer, around):
        shown = one["groups"] if "group_by" in asked else next(iter(one["computed"].values()))
        assert shown == found
        assert one.get("other_languages") == hidden


async def test_where_a_subject_of_texts_cannot_be_read_no_figures_are_shown() -> None:
    async def hook(query: str) -> None:
        if "x/q2>" in query and "x/size>" in query:
            raise EndpointFault("Busy.")

    async with over(WatchedElsewhere(engine(PARTS), hook)) as gateway:
        answer = (await gateway.search_entities("", ["x:N"], language="en", compute=["distinct part/size"])).as_json()
    assert not answer["complete"]
    assert "computed" not in answer


@pytest.mark.parametrize(
    ("asked", "argument"),
    [({"group_by": "name"}, "group_by"), ({"compute": ["distinct name"]}, "compute"), ({"group_by": "x:name"}, "")],
)
async def test_a_predicate_that_is_called_as_names_are_is_not_grouped_by_and_a_warning_says_so(
    asked: dict[str, Any], argument: str
) -> None:
    async with over("x:a a x:T ; rdfs:label 'A' ; x:name 'N' .") as gateway:
        answer = (await gateway.search_entities("", ["x:T"], **asked)).as_json()
    said = [f"{argument}: 'name' is not the predicate of this name; for that, write its ID."] if argument else None
    assert answer.get("warnings") == said
