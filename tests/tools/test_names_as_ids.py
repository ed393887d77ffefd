"""Names in the place of IDs (docs/contract.md, "Canonical IDs"; decision 0026), and entities listed by their type."""

import re
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mcp import Client

from gateway.answers.models import Answer, CompactAnswer, SearchResult
from gateway.arguments import MAX_HITS
from gateway.errors import EndpointFault, Fault, GatewayError, InputError, QueryRefused
from gateway.escaping import json_text
from gateway.graph.values import Hits
from gateway.server.app import build
from gateway.settings.endpoint import EndpointSettings
from gateway.settings.limits import LimitSettings, SizeSettings
from gateway.settings.profile import Profile
from gateway.settings.vocabulary import TypeSettings
from gateway.sparql.store import SparqlStore
from gateway.terms.iri import LOCAL_NAME
from gateway.terms.prefixes import PrefixMap
from gateway.tools.gateway import Gateway
from gateway.tools.readers import EDGES_NOT_COUNTED
from gateway.transport.inprocess import InProcess
from tests.examples import examples, some
from tests.search_index.small_indexes import ManyNames, over_names
from tests.small import ROOM, Watched, WatchedElsewhere, X, engine, over

pytestmark = pytest.mark.anyio

GRAPH = """
x:ann a x:Person ; rdfs:label 'Ann Ley' ; skos:altLabel 'The Boss' ; x:knows x:bob .
x:bob a x:Person ; rdfs:label 'Bob' ; x:knows x:cid .
x:cid a x:Person ; rdfs:label 'Cid' ; rdfs:comment 'A knight.' .
x:city a x:Town ; rdfs:label 'cid' .
x:dee a x:Town ; rdfs:label 'Dee' .
x:stream a x:River ; skos:altLabel 'Dée' .
x:long a x:Person ; rdfs:label 'Eve of Essex' .
x:colon a x:Film ; rdfs:label 'Ann: the film' .
"""

Ask = Callable[[Gateway, str], Awaitable[Answer]]

ASKED: list[Ask] = [
    lambda gateway, text: gateway.bfs_query([text], 1),
    lambda gateway, text: gateway.intersect_subgraphs([text, "x:dee"], 1),
    lambda gateway, text: gateway.describe_entity(text),
    lambda gateway, text: gateway.describe_entities([text]),
]


@pytest.mark.parametrize("ask", ASKED, ids=["bfs_query", "intersect_subgraphs", "describe_entity", "describe_entities"])
@pytest.mark.parametrize(
    ("text", "entity", "told"),
    [
        ("Ann Ley", "x:ann", "'Ann Ley' is x:ann."),
        (" ann ley", "x:ann", "' ann ley' is x:ann."),
        ("the boss", "x:ann", "'the boss' is x:ann ('Ann Ley')."),
        (
            "Ann: the film",
            "x:colon",
            "'Ann: the film' is x:colon.",
        ),
    ],
)
async def test_the_name_of_one_entity_is_taken_for_its_id_with_a_warning(
    ask: Ask, text: str, entity: str, told: str
) -> None:
    async with over(GRAPH) as gateway:
        by_name, by_id = (await ask(gateway, text)).as_json(), (await ask(gateway, entity)).as_json()
    assert by_name.pop("warnings") == [told]
    assert by_name == by_id


@pytest.mark.parametrize(
    ("tool", "arguments", "is_told"),
    [
        ("describe_entity", {"id": "ann ley"}, False),
        ("describe_entities", {"ids": ["ann ley"]}, False),
        ("bfs_query", {"seeds": ["ann ley"], "max_hops": 1}, False),
        ("describe_entity", {"id": "the boss"}, True),
        ("bfs_query", {"seeds": ["the boss"], "max_hops": 1}, True),
        # These do not show the entity with its name.
        ("bfs_query", {"seeds": ["ann ley"], "max_hops": 1, "topology_only": True}, True),
        ("bfs_query", {"seeds": ["ann ley"], "max_hops": 1, "offset": 1}, True),
        ("bfs_query", {"seeds": ["ann ley"], "max_hops": 1, "values": ["type"]}, True),
        ("intersect_subgraphs", {"seeds": ["ann ley", "x:cid"], "k": 1}, True),
        ("intersect_subgraphs", {"seeds": ["ann ley", "bob"], "k": 1}, False),
    ],
)
async def test_a_compact_answer_that_shows_the_very_name_does_not_say_what_it_was_taken_for(
    tool: str, arguments: dict[str, Any], is_told: bool
) -> None:
    async with over(GRAPH) as gateway:
        answer = (await gateway.call(tool, arguments, shape="compact")).as_json()
    told = [text for text in answer.get("warnings", []) if "is x:ann" in text]
    assert bool(told) == is_told


MANY = "".join(
    f"x:m{number} a x:Person ; rdfs:label 'Member {number}' ; rdfs:comment '{'long ' * 60}' . "
    f"x:m{number} x:knows x:m{number + 1} .\n"
    for number in range(12)
)


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("describe_entities", {"ids": [f"member {number}" for number in range(12)], "max_tokens": 400}),
        ("bfs_query", {"seeds": [f"member {number}" for number in range(12)], "max_hops": 1, "limit": 3}),
    ],
)
async def test_of_what_is_not_on_the_page_it_says_what_each_name_was_taken_for(
    tool: str, arguments: dict[str, Any]
) -> None:
    async with over(MANY, Profile()) as gateway:
        answer = json_text((await gateway.call(tool, arguments, shape="compact")).as_json())
    for number in range(12):
        is_shown, is_told = f"x:m{number} Member {number}" in answer, f"'member {number}' is x:m{number}." in answer
        assert is_shown != is_told


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("bfs_query", {"seeds": ["ann ley"], "max_hops": 1, "only_predicates": ["x:knows"]}),
        ("describe_entities", {"ids": ["ann ley", "bob"]}),
    ],
)
async def test_it_says_what_a_name_was_taken_for_where_a_query_fails_so_that_the_answer_lacks_the_name(
    tool: str, arguments: dict[str, Any]
) -> None:
    failing, sent, answers = 0, 0, 0

    async def fails(_: str) -> None:
        nonlocal sent
        sent += 1
        if sent == failing:
            raise EndpointFault("down")

    while sent >= failing:
        failing, sent = failing + 1, 0
        async with over(Watched(engine(GRAPH), fails), Profile()) as gateway:
            try:
                answer = json_text((await gateway.call(tool, arguments, shape="compact")).as_json())
            except GatewayError:
                continue
        answers += 1
        assert "x:ann Ann Ley" in answer or "'ann ley' is x:ann" in answer
    assert answers > 1


@pytest.mark.parametrize("ask", ASKED)
async def test_a_local_name_of_one_node_is_taken_where_no_entity_has_it_as_its_name(ask: Ask) -> None:
    async with over(GRAPH) as gateway:
        answer = await ask(gateway, "stream")
        # A name goes before a local name, and a local name is written as it is.
        assert "x:city" in json_text((await ask(gateway, "x:city")).as_json())
        with pytest.raises(InputError, match="no entity has this name"):
            await ask(gateway, "Stream")
    warning = (
        "No entity is called 'stream': it is taken for x:stream, by its local name. If another is meant, write its ID."
    )
    assert warning in (answer.as_json()["warnings"])


@pytest.mark.parametrize("ask", ASKED)
async def test_no_local_name_is_taken_where_those_of_nodes_without_a_name_were_not_compared(ask: Ask) -> None:
    async def refuses(query: str) -> None:
        if LOCAL_NAME in query:
            raise QueryRefused("No.")

    turtle = GRAPH + "<https://elsewhere.example/stream> x:knows x:ann ."
    async with over(WatchedElsewhere(engine(turtle), refuses)) as gateway:
        with pytest.raises(InputError, match="Not every name could be compared"):
            await ask(gateway, "stream")


@pytest.mark.parametrize("ask", ASKED)
async def test_no_local_name_is_taken_where_more_namespaces_are_declared_than_are_looked_at(ask: Ask) -> None:
    store, settings = SparqlStore(InProcess(engine(GRAPH), max_bytes=1 << 24), Profile()), Profile()
    many = {f"p{number}": f"https://example.org/{number}/" for number in range(100)}
    async with Gateway(store, settings, PrefixMap({**many, "x": X})) as gateway:
        with pytest.raises(InputError, match="no entity has this name"):
            await ask(gateway, "stream")
        # A condition says that it may be another.
        answer = await gateway.search_entities(node_types=["x:Person"], where=["x:knows = bob"])
        assert answer.complete
        answer = await gateway.search_entities(node_types=["x:Person"], where=["x:knows = stream"])
        assert (answer.result, answer.complete) == ([], False)


@pytest.mark.parametrize("ask", ASKED)
@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("CID", "'CID' is not an ID, and 2 entities have this name. They are: x:"),
        (
            "dee",
            "'dee' is not an ID, and 2 entities have this name. They are: x:dee ('Dee, x:Town', 0 edges); x:stream (",
        ),
        ("Essex", "'Essex' is not an ID, and no entity has this name. Nearest: x:long ('Eve of Essex, x:Person')."),
        ("Eve of Wessex", "'Eve of Wessex' is not an ID, and no entity has this name."),
        ("nobody", "'nobody' is not an ID, and no entity has this name. An ID is a prefix and a local name"),
        ("_ -", "'_ -' is not an ID. An ID is a prefix and a local name"),
        ("<Bob", "'<Bob' is not an ID. An ID is a prefix"),
        ("http://Bob>", "'http://Bob>' is not an ID. An ID is a prefix"),
    ],
)
async def test_any_other_text_is_an_error_that_lists_what_may_be_meant(ask: Ask, text: str, error: str) -> None:
    async with over(GRAPH) as gateway:
        with pytest.raises(InputError) as raised:
            await ask(gateway, text)
    assert error in str(raised.value)


async def test_an_error_about_a_name_tells_the_entities_apart() -> None:
    async with over(GRAPH) as gateway:
        with pytest.raises(InputError, match=r"x:cid \('Cid, x:Person, A knight\.', 1 edge\)"):
            await gateway.describe_entity("CID")


def linked(label: int, alias: int, by: str = "rdfs:label") -> str:
    """Return a graph in which 'Rome' is the label of x:city with some edges, and a name of x:film with some."""
    edges = [f"x:city x:in x:c{number} ." for number in range(label)]
    edges += [f"x:film x:in x:f{number} ." for number in range(alias)]
    return f"x:city rdfs:label 'Rome' . x:film a x:Film ; {by} 'Rome' . {' '.join(edges)}"


@pytest.mark.parametrize("ask", ASKED)
@pytest.mark.parametrize(
    ("graph", "taken"),
    [
        (linked(5, 1), True),
        (linked(4, 1), False),
        # A label weighs three times what an alias does.
        (linked(5, 3, "skos:altLabel"), True),
        (linked(5, 4, "skos:altLabel"), False),
        # One edge is not many more than none.
        (linked(2, 0), True),
        (linked(1, 0), False),
        (linked(0, 0), False),
    ],
)
async def test_of_several_entities_of_a_name_one_that_is_far_more_linked_is_taken(
    ask: Ask, graph: str, taken: bool
) -> None:
    async with over(graph + " x:dee x:near x:c0 .", Profile(size=ROOM)) as gateway:
        if not taken:
            with pytest.raises(InputError, match="'Rome' is not an ID, and 2 entities have this name"):
                await ask(gateway, "Rome")
            return
        by_name, by_id = (await ask(gateway, "Rome")).as_json(), (await ask(gateway, "x:city")).as_json()
    (told, *_) = by_name.pop("warnings")
    assert re.fullmatch(
        r"'Rome' was taken for x:city\. "
        r"Others of this name: x:film \('(Rome, )?x:Film', \d edges?\)\.",
        told,
    )
    by_id.pop("warnings", None)
    assert by_name == by_id


@pytest.mark.parametrize(
    ("graph", "asked_"),
    [
        # The same spelling.
        ("x:city rdfs:label 'US' . x:film rdfs:label 'us' ; x:in x:a, x:b, x:c, x:d, x:e, x:f .", "US"),
        # What is not deprecated.
        ("x:city rdfs:label 'Rome' . x:film rdfs:label 'Rome' ; owl:deprecated true ; x:in x:a, x:b .", "Rome"),
    ],
)
async def test_what_is_spelt_so_and_not_deprecated_stands_out_before_edges_are_counted(graph: str, asked_: str) -> None:
    async with over(graph, Profile(size=ROOM)) as gateway:
        answer = await gateway.describe_entity(asked_)
    assert answer.id == "x:city"
    assert "Others of this name: x:film (" in (answer.warnings or [""])[0]


async def test_others_of_a_name_that_are_called_otherwise_are_told_by_what_they_are_called() -> None:
    graph = (
        "x:city rdfs:label 'Rome' ; x:in x:a, x:b, x:c, x:d, x:e, x:f . "
        "x:film a x:Film ; rdfs:label 'Roma' ; skos:altLabel 'Rome' ; rdfs:comment 'By Fellini.' . "
        "x:town a x:Town ; rdfs:label 'Rome' ; rdfs:comment 'In Georgia.' ."
    )
    async with over(graph, Profile(size=ROOM)) as gateway:
        answer = await gateway.describe_entity("Rome")
    told = "'Rome' was taken for x:city. Others of this name: "
    assert answer.warnings == [f"{told}x:town ('Rome, x:Town, In Georgia.', 0 edges); x:film ('Roma', 0 edges)."]


BANKS = """
x:bench a x:Seat ; rdfs:label 'bench'@en, 'Bank'@de ; x:in x:a, x:b, x:c, x:d, x:e, x:f .
x:money a x:Firm ; rdfs:label 'Bank'@en ; x:in x:a . x:near a x:Place ; rdfs:label 'bank'@en .
"""


@pytest.mark.parametrize("elsewhere", [False, True])
@pytest.mark.parametrize(
    ("language", "taken"),
    [(None, "x:money"), ("en", "x:money"), ("en-gb", "x:money"), ("de", "x:bench"), ("fr", "x:bench")],
)
async def test_of_several_entities_of_a_name_those_stand_out_that_have_it_in_the_language_asked_for(
    language: str | None, taken: str, elsewhere: bool
) -> None:
    async def hook(_: str) -> None:
        return None

    graph = WatchedElsewhere(engine(BANKS), hook) if elsewhere else engine(BANKS)
    async with over(graph, Profile(size=ROOM)) as gateway:
        answer = await gateway.describe_entity("Bank", language=language)
    assert answer.id == taken
    assert f"'Bank' was taken for {taken}" in (answer.warnings or [""])[0]


@pytest.mark.parametrize("tag", ["", "@mul", "@en"])
async def test_a_name_without_a_language_is_in_the_one_asked_for(tag: str) -> None:
    graph = f"x:a rdfs:label 'Bank'@de ; x:in x:b, x:c, x:d, x:e, x:f, x:g . x:z rdfs:label 'Bank'{tag} ."
    async with over(graph, Profile(size=ROOM)) as gateway:
        assert (await gateway.describe_entity("Bank", language="en")).id == "x:z"


async def test_a_code_weighs_no_more_than_an_alias() -> None:
    graph = "x:city skos:notation 'AB12' ; x:in x:a, x:b, x:c . x:film skos:notation 'AB12' ."
    async with over(graph, Profile(size=ROOM)) as gateway:
        with pytest.raises(InputError, match="2 entities have this name"):
            await gateway.describe_entity("AB12")


@pytest.mark.parametrize(("tool", "argument"), [("describe_entities", "ids"), ("bfs_query", "seeds")])
async def test_where_many_texts_are_wrong_none_of_those_behind_them_is_left_out_in_silence(
    tool: str, argument: str
) -> None:
    hops = {"max_hops": 1} if tool == "bfs_query" else {}
    texts = ["x:ann", *(f"Nobody {number}" for number in range(30)), "Ann Ley"]
    async with over(GRAPH, Profile(size=ROOM)) as gateway:
        with pytest.raises(InputError, match=f"{argument}: the last 11 entries were not read"):
            await gateway.call(tool, {argument: texts, **hops})


async def test_many_entities_of_a_name_are_counted_before_one_is_taken() -> None:
    others = " ".join(f"x:n{number} rdfs:label 'Rome' ." for number in range(30))
    async with over(linked(9, 1) + others, Profile(size=ROOM)) as gateway:
        answer = await gateway.describe_entity("Rome")
    assert answer.id == "x:city"
    assert (answer.warnings or [""])[0].endswith("; and 28 more.")


async def test_a_name_is_not_taken_for_the_most_linked_where_edges_could_not_be_counted() -> None:
    async def broken(query: str) -> None:
        if "x/film" in query and "COUNT" in query:
            raise EndpointFault("It is broken.")

    async with over(Watched(engine(linked(9, 1)), broken)) as gateway:
        with pytest.raises(GatewayError) as raised:
            await gateway.describe_entity("Rome")
    assert "2 entities have this name" in str(raised.value)
    assert EDGES_NOT_COUNTED in str(raised.value)


async def test_the_position_of_a_wrong_name_is_named() -> None:
    async with over(GRAPH) as gateway:
        with pytest.raises(InputError, match=r"^seeds\[1\]: 'CID'"):
            await gateway.intersect_subgraphs(["Ann Ley", "CID"], 1)


BAD = ["Nobody", "x:ann", "CID", "<Bob"]
ABOUT_BAD = [
    r"\[0\]: 'Nobody' is not an ID, and no entity has this name\..*",
    r"\[2\]: 'CID' is not an ID, and 2 entities have this name\. They are: .*",
    r"\[3\]: '<Bob' is not an ID\..*",
]


@pytest.mark.parametrize(
    ("tool", "given_", "argument"),
    [("bfs_query", {"max_hops": 1}, "seeds"), ("describe_entities", {}, "ids")],
)
async def test_what_means_nothing_in_a_list_of_any_of_these_is_left_out_and_told(
    tool: str, given_: dict[str, Any], argument: str
) -> None:
    async with over(GRAPH, Profile(size=ROOM)) as gateway:
        answer = (await gateway.call(tool, {argument: BAD, **given_})).as_json()
        alone = (await gateway.call(tool, {argument: ["x:ann"], **given_})).as_json()
        with pytest.raises(InputError) as raised:
            await gateway.call(tool, {argument: [*BAD[:1], *BAD[2:]], **given_})
    warnings = answer.pop("warnings")
    assert len(warnings) == len(ABOUT_BAD)
    for warning, expected in zip(warnings, ABOUT_BAD, strict=True):
        assert re.fullmatch(rf"{argument}{expected} It was left out\.", warning)
    assert answer == alone
    assert all(each in str(raised.value) for each in ("'Nobody'", "'CID'", "<Bob"))


async def test_an_intersection_names_everything_that_is_wrong_with_its_seeds_at_once() -> None:
    async with over(GRAPH) as gateway:
        with pytest.raises(InputError) as raised:
            await gateway.intersect_subgraphs(BAD, 1)
    assert all(re.search(f"seeds{each}", str(raised.value)) for each in ABOUT_BAD)


async def test_many_wrong_items_are_counted() -> None:
    async with over(GRAPH, Profile(size=ROOM)) as gateway:
        with pytest.raises(InputError, match=r"seeds\[4\]: 'Nobody 4' .* 3 more are wrong\."):
            await gateway.bfs_query([f"Nobody {number}" for number in range(8)], 1)
        answer = await gateway.bfs_query(["x:ann", *(f"Nobody {number}" for number in range(8))], 1)
    assert (answer.warnings or [])[-1] == "seeds: 3 more names like these."


STEERED = "x:a x:p x:b ; x:q x:c ; a x:T . x:b x:p x:c ; a x:U ."


@pytest.mark.parametrize(
    ("given_", "same_as", "told"),
    [
        ({"only_predicates": ["x:p", "nothing"]}, {"only_predicates": ["x:p"]}, "only_predicates: no predicate of"),
        ({"only_predicates": ["p", "rdf:type"]}, {"only_predicates": ["x:p"]}, "only_predicates: rdf:type is no edge"),
        (
            {"only_predicates": [["x:p"], ["x:q", "nothing", "x:p"]], "max_hops": 2},
            {"only_predicates": [["x:p"], ["x:q", "x:p"]], "max_hops": 2},
            "only_predicates: no predicate of",
        ),
        ({"only_predicates": ["x:p", None]}, {"only_predicates": ["x:p"]}, "only_predicates: no predicate of"),
        (
            {"only_predicates": [["x:p", None], None], "max_hops": 2},
            {"only_predicates": [["x:p"], []], "max_hops": 2},
            "only_predicates: no predicate of",
        ),
        ({"node_types": [None, "T"]}, {"node_types": ["T"]}, "node_types: no type of"),
        ({"seeds": ["x:a", None]}, {}, "seeds[1]: '' is not an ID"),
        ({"node_types": ["T", "Nothing"]}, {"node_types": ["T"]}, "node_types: no type of"),
        (
            {"only_predicates": [[], ["x:p", "nothing"]], "max_hops": 2},
            {"only_predicates": [[], ["x:p"]], "max_hops": 2},
            "only_predicates: no predicate of",
        ),
    ],
)
async def test_a_wrong_predicate_or_type_is_left_out_and_told(
    given_: dict[str, Any], same_as: dict[str, Any], told: str
) -> None:
    call = {"seeds": ["x:a"], "max_hops": 1}
    async with over(STEERED, Profile(size=ROOM)) as gateway:
        answer = (await gateway.call("bfs_query", {**call, **given_})).as_json()
        expected = (await gateway.call("bfs_query", {**call, **same_as})).as_json()
    (warning,) = answer.pop("warnings")
    assert (warning[: len(told)], warning.endswith("It was left out.")) == (told, True)
    assert {**answer, "only_predicates": None} == {**expected, "only_predicates": None}


@pytest.mark.parametrize(
    "given_",
    [
        {"only_predicates": [["x:p"], ["nothing", "nowhere"]], "max_hops": 2},
        {"exclude_node_types": ["T", "Nothing", "Nowhere"]},
        {"only_node_types": ["T", "Nothing", "Nowhere"]},
        # A walk that is too long means something.
        {"only_predicates": ["x:p", "x:nothing/x:p/x:p/x:p/x:p/x:nowhere"]},
        {"where": ["x:p exists", "nothing > 3", "nowhere = 4"]},
    ],
)
async def test_a_list_that_would_be_empty_exclusions_and_conditions_are_errors_that_name_all_that_is_wrong(
    given_: dict[str, Any],
) -> None:
    async with over(STEERED, Profile(size=ROOM)) as gateway:
        with pytest.raises(InputError, match=r"(?i)nothing.*nowhere"):
            await gateway.call("bfs_query", {"seeds": ["x:a"], "max_hops": 1, **given_})


async def test_a_name_and_the_id_of_one_entity_are_one_seed() -> None:
    async with over(GRAPH) as gateway:
        answer = await gateway.intersect_subgraphs(["Ann Ley", "x:ann"], 1)
        described = await gateway.describe_entities(["Ann Ley", "x:ann"])
        around = await gateway.bfs_query(["Ann Ley", "x:ann"], 1)
    assert answer.seeds == around.seeds == [entity.id for entity in described.result] == ["x:ann"]
    assert [warning.partition(" ")[0] for warning in answer.warnings or ()] == ["'Ann", "seeds:"]


@pytest.mark.parametrize(
    "endpoint", [EndpointSettings(other_graph="the other half"), EndpointSettings(trusted=False)], ids=["half", "cut"]
)
async def test_a_name_is_not_taken_for_an_id_where_other_entities_may_have_it(endpoint: EndpointSettings) -> None:
    async with over(GRAPH, Profile(endpoint=endpoint)) as gateway:
        with pytest.raises(InputError, match="so others may have this one"):
            await gateway.describe_entity("Ann Ley")


@pytest.mark.parametrize("ask", ASKED)
async def test_a_name_is_not_taken_for_an_id_where_not_all_entities_of_this_name_fit_in_an_answer(ask: Ask) -> None:
    size = SizeSettings(max_tokens=200, ceiling_tokens=200)
    graph = f"x:{'c' * 400} rdfs:label 'Cid' . x:{'d' * 400} rdfs:label 'Cid' ; x:knows x:ann ."
    async with over(graph, Profile(size=size)) as gateway:
        found = await gateway.search_entities("Cid")
        assert (len(found.result), found.found) == (1, 2)
        with pytest.raises(InputError, match="so others may have this one"):
            await ask(gateway, "Cid")


async def test_a_search_that_did_not_compare_every_name_takes_none_for_an_id(monkeypatch: pytest.MonkeyPatch) -> None:
    async with over(GRAPH) as gateway:
        store = gateway._store  # noqa: SLF001 - a store whose search is not exhaustive
        search = store.search

        async def hurried(*arguments: object) -> Hits:
            hits = await search(*arguments)  # type: ignore[arg-type]
            return Hits(hits.hits, hits.truncated, hits.how, exhaustive=False)

        monkeypatch.setattr(store, "search", hurried)
        with pytest.raises(InputError, match="not every name could be compared or listed"):
            await gateway.bfs_query(["Ann Ley"], 1)


async def test_of_a_search_that_was_cut_it_is_not_said_that_no_entity_has_a_name(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with over(GRAPH) as gateway:
        store = gateway._store  # noqa: SLF001 - a store whose search is cut
        search = store.search

        async def cut(*arguments: object) -> Hits:
            hits = await search(*arguments)  # type: ignore[arg-type]
            return Hits((), truncated=True, how=hits.how, exhaustive=True)

        monkeypatch.setattr(store, "search", cut)
        with pytest.raises(InputError, match="no entity of this name was found"):
            await gateway.describe_entity("Ann Ley")
        answer = await gateway.bfs_query(["Ann Ley", "x:bob"], 1)
        assert any("no entity of this name was found" in warning for warning in answer.warnings or ())


@pytest.mark.parametrize(
    ("tool", "arguments"),
    some(
        [
            ("bfs_query", {"seeds": ["Ann Ley"], "max_hops": 1}),
            ("intersect_subgraphs", {"seeds": ["Ann Ley", "Dee"], "k": 1}),
            ("describe_entity", {"id": "Ann Ley"}),
            ("describe_entities", {"ids": ["Ann Ley"]}),
        ],
        "the first call with a name",
    ),
)
async def test_the_first_call_with_a_name_waits_for_all_names_and_tells_how_far_they_are(
    tool: str, arguments: dict[str, Any]
) -> None:
    names, reports = ManyNames(), list[str]()

    async def progress(_done: int, _total: int, message: str) -> None:
        reports.append(message)
        names.seen.set()

    async with over_names(GRAPH, names) as gateway:
        answer = await gateway.call(tool, arguments, progress)
    assert "is x:ann." in " ".join(answer.as_json()["warnings"])
    assert reports[0] == "Reading names of 20,003 entities"


async def test_a_client_that_waits_for_names_and_hops_sees_progress_that_never_falls() -> None:
    names, reports = ManyNames(), list[float]()

    async def note(progress: float, total: float | None, message: str | None) -> None:  # noqa: ARG001 - the callback's shape
        reports.append(progress)
        names.seen.set()

    async with Client(await build(over_names(GRAPH, names))) as client:
        answer = await client.call_tool("bfs_query", {"seeds": ["Ann Ley"], "max_hops": 2}, progress_callback=note)
    assert not answer.is_error
    assert len(reports) > 3
    assert reports == sorted(reports)
    assert reports[-1] > 20_003


async def test_a_call_with_an_id_waits_for_no_names() -> None:
    async with over_names(GRAPH, ManyNames()) as gateway:
        assert (await gateway.describe_entity("x:ann")).id == "x:ann"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "found"), [("Ann Ley", "Found: x:ann"), ("nobody", "no entity of this name was found")]
)
async def test_an_error_about_names_that_are_not_ready_in_time_says_so(name: str, found: str) -> None:
    profile = Profile(limits=LimitSettings(deadline_seconds=6.0))
    async with over_names(GRAPH, ManyNames(), profile) as gateway:
        with pytest.raises(InputError, match="The index of all names is not ready yet") as raised:
            await gateway.describe_entity(name)
    assert found in str(raised.value)
    assert "no entity has this name" not in str(raised.value)


async def test_waiting_for_names_takes_as_long_as_it_takes() -> None:
    names = ManyNames()

    async def progress(_done: int, _total: int, _message: str) -> None:
        names.seen.set()

    async with over_names(GRAPH, names) as gateway:
        await gateway.wait_for_names(progress)
        answer = await gateway.search_entities("othr 7")
    assert (answer.warnings, [hit.name for hit in answer.guesses or ()]) == (None, ["other 7"])


async def test_an_id_is_never_looked_up_as_a_name() -> None:
    turtle = "x:ann rdfs:label 'x:bob' ; x:knows x:cid . x:bob x:knows x:cid ."
    async with over(turtle) as gateway:
        assert (await gateway.describe_entity("x:bob")).id == "x:bob"


async def test_an_endpoint_that_fails_is_an_error_and_no_unknown_name() -> None:
    async def broken(query: str) -> None:
        if "REGEX" in query or "CONTAINS" in query:
            raise EndpointFault("It is broken.")

    async with over(Watched(engine(GRAPH), broken)) as gateway:
        with pytest.raises(EndpointFault):
            await gateway.describe_entity("Ann Ley")


_NAMES = st.lists(st.sampled_from(["Ann", "ann", "Änn", "Bob", "Bob Ley", "x", "Cid"]), min_size=1, max_size=6)


@settings(max_examples=examples(60), deadline=None)
@given(_NAMES, st.sampled_from(["Ann", "bob", "Bob Ley", "Cid", "Dee"]))
async def test_a_name_is_taken_for_an_id_where_one_entity_has_it_and_never_else(names: list[str], asked: str) -> None:
    turtle = "".join(f"x:n{number} a x:Thing ; rdfs:label '{name}' .\n" for number, name in enumerate(names))
    plain = [name.casefold().replace("ä", "a") for name in names]
    having = [f"x:n{number}" for number, name in enumerate(plain) if name == asked.casefold()]
    having = [one for one in having if names[int(one[3:])] == asked] or having
    async with over(turtle) as gateway:
        if len(having) == 1:
            assert (await gateway.describe_entity(asked)).id == having[0]
        else:
            with pytest.raises(InputError):
                await gateway.describe_entity(asked)


FILMS = """
x:few a x:Film ; rdfs:label 'Zebra' ; x:by x:ann .
x:many a x:Film ; rdfs:label 'Yak' ; x:by x:ann, x:bob .
x:nameless a x:Film, x:Work ; x:by x:ann, x:bob, x:cid .
x:work a x:Work .
x:ann a x:Person ; rdfs:label 'Ann' .
[] a x:Film ; rdfs:label 'Blank' .
x:note a x:Film, rdf:Statement ; rdf:subject x:few ; rdf:predicate x:by ; rdf:object x:ann .
"""


async def listed(types: list[str], turtle: str = FILMS, query: str = "", limit: int | None = None) -> SearchResult:
    """List the entities of some types of a small graph."""
    async with over(turtle) as gateway:
        return await gateway.search_entities(query, types, limit=limit)


@pytest.mark.parametrize("query", ["", " ", "*"])
async def test_types_without_a_query_list_their_entities_with_and_without_names(query: str) -> None:
    answer = await listed(["Film"], query=query)
    assert [(hit.id, hit.name, hit.match) for hit in answer.result] == [
        ("x:nameless", None, "type"),
        ("x:many", "Yak", "type"),
        ("x:few", "Zebra", "type"),
    ]
    # The blank film is not listed, and told.
    assert (answer.complete, answer.searched) == (False, None)
    assert (await listed(["Film"], FILMS.replace("[] a x:Film", "x:named a x:Place"), query=query)).complete


async def test_an_entity_of_two_listed_types_is_one_hit() -> None:
    assert [hit.id for hit in (await listed(["Film", "Work"])).result].count("x:nameless") == 1


SUBCLASSES = Profile(size=ROOM, types=TypeSettings(subclass_of=("http://www.w3.org/2000/01/rdf-schema#subClassOf",)))
SEVERAL_TYPES = """
x:Novel rdfs:subClassOf x:Book . x:Poem rdfs:subClassOf x:Book .
x:a a x:Book, x:Rare . x:b a x:Novel, x:Rare . x:c a x:Book, x:Novel .
x:d a x:Poem, x:Novel, owl:Thing . x:e a x:Rare . x:f a x:Poem .
x:a rdfs:label 'one' . x:b rdfs:label 'one' . x:c rdfs:label 'one' .
x:d rdfs:label 'one' . x:e rdfs:label 'one' . x:f rdfs:label 'one' .
"""


@pytest.mark.parametrize("query", ["", "one"])
@pytest.mark.parametrize(
    ("types", "expected"),
    [
        (["Book"], {"x:a": "x:Book", "x:b": "x:Novel", "x:c": "x:Book", "x:d": "x:Poem", "x:f": "x:Poem"}),
        (["Poem"], {"x:d": "x:Poem", "x:f": "x:Poem"}),
        (["Novel", "Rare"], {"x:a": "x:Rare", "x:b": "x:Novel", "x:c": "x:Novel", "x:d": "x:Novel", "x:e": "x:Rare"}),
        (["owl:Thing"], {"x:d": "owl:Thing"}),
    ],
)
async def test_a_hit_shows_the_type_by_which_it_was_selected(
    query: str, types: list[str], expected: dict[str, str]
) -> None:
    async with over(SEVERAL_TYPES, SUBCLASSES) as gateway:
        answer = await gateway.search_entities(query, types)
    assert {hit.id: hit.entity_type for hit in answer.result} == expected


async def test_without_types_a_hit_shows_the_type_that_it_shows_everywhere() -> None:
    async with over(SEVERAL_TYPES, SUBCLASSES) as gateway:
        hits = (await gateway.search_entities("one")).result
        described = (await gateway.describe_entities([hit.id for hit in hits])).result
    assert [hit.entity_type for hit in hits] == [entity.entity_type for entity in described]


async def test_a_star_without_types_is_a_name() -> None:
    async with over("x:star rdfs:label '*' .") as gateway:
        assert [hit.id for hit in (await gateway.search_entities("*")).result] == ["x:star"]


async def test_neither_a_query_nor_a_type_is_an_error_that_says_what_both_do() -> None:
    with pytest.raises(InputError, match="node_types lists all entities of these types"):
        await listed([])


@pytest.mark.parametrize(
    ("types", "expected"), [(["untyped"], ["x:Film", "x:b"]), (["Film", "untyped"], ["x:Film", "x:a", "x:b"])]
)
async def test_entities_without_a_type_are_listed(types: list[str], expected: list[str]) -> None:
    async with over("x:a a x:Film . x:b x:p x:a .") as gateway:
        answer = await gateway.call("search_entities", {"query": "", "node_types": types}, shape="compact")
    assert isinstance(answer, CompactAnswer)
    assert [row[0] for row in answer.written["rows"]] == expected
    assert answer.written["complete"]


@settings(max_examples=examples(40), deadline=None)
@given(st.integers(1, 120), st.integers(1, 100))
async def test_every_entity_is_counted_and_as_many_are_shown_as_were_asked_for(count: int, limit: int) -> None:
    turtle = "".join(f"x:n{number:03} a x:Film .\n" for number in range(count))
    answer = await listed(["Film"], turtle, limit=limit)
    assert [hit.id for hit in answer.result] == [f"x:n{number:03}" for number in range(min(count, limit))]
    assert (answer.found or len(answer.result)) == count
    assert answer.complete
    assert (f"{limit} of {count} {'is' if limit == 1 else 'are'} listed" in (answer.next_steps or "")) == (
        count > limit
    )
    assert ("a larger limit" in (answer.next_steps or "")) == (count > limit and limit < MAX_HITS)


async def test_a_list_that_was_cut_is_not_complete() -> None:
    turtle = "".join(f"x:n{number} a x:Film .\n" for number in range(5_001))
    answer = await listed(["Film"], turtle)
    assert not answer.complete
    assert answer.searched is not None
    assert (answer.searched.truncated, answer.found) == (True, 5_000)


async def test_a_list_from_a_part_of_a_graph_is_not_complete() -> None:
    endpoint = EndpointSettings(other_graph="the graph of articles")
    async with over(FILMS, Profile(endpoint=endpoint)) as gateway:
        answer = await gateway.search_entities(node_types=["Work"])
        assert not answer.complete
        assert any("the graph of articles" in warning for warning in answer.warnings or ())


CODES = """
x:n a x:Term ; rdfs:label 'cytoplasm' ; skos:notation 'GO:0005737' ; x:part x:m .
x:m a x:Term ; rdfs:label 'cell' ; skos:notation 'GO:0005623' .
"""


@pytest.mark.parametrize("ask", ASKED)
async def test_an_identifier_that_could_not_be_looked_up_is_the_fault(ask: Ask) -> None:
    failing: list[bool] = []

    async def hook(query: str) -> None:
        if failing and ("LCASE" in query or "CONTAINS" in query or "notation" in query):
            raise EndpointFault("The endpoint is away.")

    async with over(Watched(engine(CODES), hook), Profile(size=ROOM)) as gateway:
        await gateway.describe_schema()
        await gateway.wait_for_schema()
        await ask(gateway, "GO:0005737")
        gateway.forget()
        failing.append(True)
        with pytest.raises(EndpointFault, match="away"):
            await ask(gateway, "GO:0005737")


@pytest.mark.parametrize("ask", ASKED)
async def test_whether_an_identifier_is_an_iri_of_the_graph_that_could_not_be_found_out_is_the_fault(ask: Ask) -> None:
    failing: list[bool] = []

    async def hook(query: str) -> None:
        if failing and "?p1" in query:
            raise EndpointFault("The endpoint is away.")

    async with over(Watched(engine(CODES), hook), Profile(size=ROOM)) as gateway:
        await gateway.describe_schema()
        await gateway.wait_for_schema()
        failing.append(True)
        with pytest.raises(EndpointFault, match="away"):
            await ask(gateway, "GO:0005737")


@pytest.mark.parametrize("ask", ASKED)
async def test_one_entity_of_an_identifier_is_not_taken_where_others_may_have_it(ask: Ask) -> None:
    async with over(CODES, Profile(size=ROOM, endpoint=EndpointSettings(trusted=False))) as gateway:
        with pytest.raises(InputError, match=r"'GO:0005737' is no IRI of this graph, .* so others may have this one"):
            await ask(gateway, "GO:0005737")


@pytest.mark.parametrize("ask", ASKED)
async def test_an_identifier_that_was_not_compared_with_all_names_is_not_missing(ask: Ask) -> None:
    async with over(CODES, Profile(size=ROOM, endpoint=EndpointSettings(trusted=False))) as gateway:
        with pytest.raises(Fault, match="'GO:9999999' is no IRI of this graph, and not every name could be compared"):
            await ask(gateway, "GO:9999999")


async def test_local_names_of_nodes_with_a_name_are_guesses_and_are_named_in_errors() -> None:
    turtle = """
    x:CheeseTopping a x:Topping ; rdfs:label 'CoberturaDeQueijo'@pt .
    x:GoatsCheeseTopping a x:Topping ; rdfs:label 'CoberturaDeQueijoDeCabra'@pt .
    x:Pizza a x:Dish ; rdfs:label 'Prato'@pt ; x:has x:CheeseTopping .
    """
    async with over(turtle) as gateway:
        whole = await gateway.search_entities("CheeseTopping")
        words = await gateway.search_entities("cheese")
        typed = await gateway.search_entities("cheese", node_types=["x:Dish"])
        named = await gateway.search_entities("prato")
        with pytest.raises(InputError, match="Nearest: x:CheeseTopping"):
            await gateway.describe_entity("Cheese")
        with pytest.raises(InputError, match="Nearest by name: x:CheeseTopping"):
            await gateway.bfs_query(["x:CoberturaDeQueijos"], 1)
    assert [answer.result for answer in (whole, words, typed)] == [[], [], []]
    assert [(hit.id, hit.match) for hit in whole.guesses or ()] == [("x:CheeseTopping", "id")]
    assert [hit.id for hit in words.guesses or ()] == ["x:CheeseTopping", "x:GoatsCheeseTopping"]
    assert typed.guesses is None
    assert [hit.id for hit in named.result] == ["x:Pizza"]
