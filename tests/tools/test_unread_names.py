"""Questions that name types and predicates by labels that could not be read: no error claims that there are none."""

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

import pytest

from gateway.answers.models import CompactAnswer
from gateway.databases.client import Row
from gateway.errors import EndpointFault, Fault, GaveUp, InputError
from gateway.settings.load import load_profile
from gateway.settings.profile import Profile
from gateway.terms.prefixes import PrefixMap
from gateway.tools.gateway import Gateway
from tests.databases.fakes import TERMS, store
from tests.small import ROOM, Watched, engine, over

pytestmark = pytest.mark.anyio

GRAPH = """
x:a a y:T1 ; rdfs:label "Ahle" ; x:p1 x:m .
x:m a y:T2 ; rdfs:label "Zulu" .
x:p1 rdfs:label "made by" .
y:T1 rdfs:label "hand tool" .
y:T2 rdfs:label "maker" .
"""
NAMES = "?n ?p ?v"
"""A part of the queries for types and names."""
NAMES_OF_TERMS = "<https://example.org/x/p1> }\n  ?n ?p ?v"
"""A part of the query for the names of types and predicates."""
NAME_PREDICATES = "AS ?p) WHERE"
"""A part of the query for the predicates of names that a graph uses."""

Failing = set[str]
"""Parts of queries that fail."""

Opening = Callable[[Failing], AbstractAsyncContextManager[Gateway]]


@asynccontextmanager
async def sparql(failing: Failing) -> AsyncIterator[Gateway]:
    async def hook(query: str) -> None:
        if any(part in query for part in failing):
            raise EndpointFault("The endpoint's answer is no whole SPARQL JSON.")

    async with over(Watched(engine(GRAPH), hook), Profile(size=ROOM)) as gateway:
        yield gateway


@asynccontextmanager
async def database(failing: Failing) -> AsyncIterator[Gateway]:
    labels = {"p1": "made by", "T1": "hand tool", "T2": "maker", "a": "Ahle", "m": "Zulu"}
    types = {"a": ["T1"], "m": ["T2"]}

    def answers(query: str, arguments: Sequence[Any]) -> Sequence[Row]:
        if NAMES in failing and query == "nodes" and not {"a", "m"} & {*arguments[0]}:
            raise GaveUp("The database cancelled the query.")
        if "SELECT" in failing:
            raise GaveUp("The database cancelled the query.")
        match query:
            case "type_counts":
                return [["T1", 1], ["T2", 1]]
            case "predicate_counts":
                return [["p1", 1]]
            case "sampled_nodes":
                return [["a"], ["m"]]
            case "nameless":
                return [[2, 0]]
            case "nodes":
                known = [(text, text.removeprefix(TERMS)) for text in arguments[0]]
                return [
                    [text, types.get(name), labels[name], False, None, None, None]
                    for text, name in known
                    if name in labels
                ]
        return []

    profile = load_profile("bfsql-postgres").model_copy(update={"size": ROOM})
    async with Gateway(store(answers, profile=profile), profile, PrefixMap({"term": TERMS})) as gateway:
        yield gateway


STORES: Sequence[Opening] = [sparql, database]
each_store = pytest.mark.parametrize("opening", STORES, ids=["sparql", "database"])

QUESTIONS: Sequence[tuple[str, dict[str, Any]]] = [
    ("search_entities", {"node_types": ["untyped"], "where": ["made by exists"]}),
    ("search_entities", {"node_types": ["untyped"], "where": ["type != maker"]}),
    ("search_entities", {"node_types": ["untyped"], "values": ["made by"]}),
    ("search_entities", {"node_types": ["untyped"], "sort_by": "made by"}),
    ("bfs_query", {"seeds": ["<https://example.org/x/a>"], "max_hops": 1, "only_predicates": ["made by"]}),
]
each_question = pytest.mark.parametrize(("tool", "arguments"), QUESTIONS)


async def ask(gateway: Gateway, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
    answer = await gateway.call(tool, arguments, shape="compact")
    assert isinstance(answer, CompactAnswer)
    return dict(answer.written)


@each_store
@each_question
async def test_a_label_is_not_unknown_while_labels_are_unread(
    opening: Opening, tool: str, arguments: dict[str, Any]
) -> None:
    async with opening({NAMES}) as gateway:
        with pytest.raises(Fault, match=r"names of types and predicates .* could not all be read.* Try again"):
            await ask(gateway, tool, arguments)


@each_store
@each_question
async def test_nothing_is_unknown_while_the_schema_is_unread(
    opening: Opening, tool: str, arguments: dict[str, Any]
) -> None:
    async with opening({"SELECT"}) as gateway:
        with pytest.raises(Fault, match=r"could not (all )?be read.* again"):
            await ask(gateway, tool, arguments)


@each_question
async def test_labels_that_were_unread_are_read_when_one_is_named(tool: str, arguments: dict[str, Any]) -> None:
    failing = {NAMES}
    async with sparql(failing) as gateway:
        await gateway.describe_schema()
        await gateway.wait_for_schema()
        failing.clear()
        assert await ask(gateway, tool, arguments)


@pytest.mark.parametrize(("opening", "part"), [(sparql, NAMES_OF_TERMS), (database, NAMES)], ids=["sparql", "database"])
async def test_a_name_that_nothing_has_is_an_error_of_the_caller_once_labels_were_read(
    opening: Opening, part: str
) -> None:
    failing = {part}
    async with opening(failing) as gateway:
        await gateway.describe_schema()
        await gateway.wait_for_schema()
        failing.clear()
        with pytest.raises(InputError, match="No predicate of this graph is called 'nothing'"):
            await ask(gateway, "search_entities", {"node_types": ["untyped"], "where": ["nothing > 1"]})


async def test_no_label_is_unknown_while_the_predicates_of_names_are_not_found() -> None:
    async with sparql({NAME_PREDICATES}) as gateway:
        assert (await gateway.describe_schema()).names is None
        assert await ask(gateway, "search_entities", {"node_types": ["untyped"], "where": ["made by exists"]})
        with pytest.raises(Fault, match=r"names of types and predicates .* could not all be read.* Try again"):
            await ask(gateway, "search_entities", {"node_types": ["untyped"], "where": ["nothing > 1"]})
