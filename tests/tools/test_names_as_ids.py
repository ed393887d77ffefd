"""Names in the place of IDs (docs/contract.md, "Canonical IDs"; decision 0026)."""

from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mcp import Client

from gateway.answers.models import Answer
from gateway.errors import EndpointFault, InputError
from gateway.graph.values import Hits
from gateway.server.app import build
from gateway.settings.endpoint import EndpointSettings
from gateway.settings.limits import LimitSettings, SizeSettings
from gateway.settings.profile import Profile
from gateway.tools.gateway import Gateway
from tests.examples import examples
from tests.search_index.many_names import ManyNames, over_names
from tests.small import Watched, engine, over

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
        ("Ann Ley", "x:ann", "'Ann Ley' is no ID and was taken for x:ann, the only entity of this name."),
        (" ann ley", "x:ann", "' ann ley' is no ID and was taken for x:ann, the only entity of this name."),
        ("the boss", "x:ann", "'the boss' is no ID and was taken for x:ann ('Ann Ley'), the only entity of this name."),
        (
            "Ann: the film",
            "x:colon",
            "'Ann: the film' is no ID and was taken for x:colon, the only entity of this name.",
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


@pytest.mark.parametrize("ask", ASKED)
@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("Cid", "'Cid' is not an ID, and 2 entities have this name. They are: x:"),
        ("dee", "'dee' is not an ID, and 2 entities have this name. They are: x:dee ('Dee, x:Town'); x:stream ("),
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
        with pytest.raises(InputError, match=r"x:cid \('Cid, x:Person, A knight\.'\)"):
            await gateway.describe_entity("Cid")


async def test_the_position_of_a_wrong_name_is_named() -> None:
    async with over(GRAPH) as gateway:
        with pytest.raises(InputError, match=r"^ids\[1\]: 'Cid'"):
            await gateway.describe_entities(["Ann Ley", "Cid"])


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


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("bfs_query", {"seeds": ["Ann Ley"], "max_hops": 1}),
        ("intersect_subgraphs", {"seeds": ["Ann Ley", "Dee"], "k": 1}),
        ("describe_entity", {"id": "Ann Ley"}),
        ("describe_entities", {"ids": ["Ann Ley"]}),
    ],
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
    assert "was taken for x:ann" in " ".join(answer.as_json()["warnings"])
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


@pytest.mark.parametrize(
    ("name", "found"), [("Ann Ley", "Found: x:ann"), ("nobody", "no entity of this name was found")]
)
async def test_an_error_about_names_that_are_not_ready_in_time_says_so(name: str, found: str) -> None:
    profile = Profile(limits=LimitSettings(deadline_seconds=2.0))
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
    async with over(turtle) as gateway:
        if len(having) == 1:
            assert (await gateway.describe_entity(asked)).id == having[0]
        else:
            with pytest.raises(InputError):
                await gateway.describe_entity(asked)
