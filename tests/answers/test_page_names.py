"""Where a traversal has many nodes, the names of those that the page shows are read, and no others."""

import asyncio
import json
import re
from collections.abc import Sequence
from typing import Any

import pytest

from gateway.errors import GaveUp
from gateway.settings.limits import LimitSettings, SizeSettings
from gateway.settings.profile import Profile, ShapeName
from gateway.settings.vocabulary import NameSettings
from gateway.tools.gateway import Gateway
from tests.small import ROOM, Watched, engine, over

pytestmark = pytest.mark.anyio

NODES = 300
GRAPH = engine(
    'x:hub rdfs:label "The hub" .'
    + "".join(
        f'x:hub x:p x:n{n:03} . x:n{n:03} a x:{"Even" if n % 2 == 0 else "Odd"} ; rdfs:label "Name {n}" .'
        for n in range(NODES)
    )
)
OPAQUE = Profile(names=NameSettings(on_stubs=True), size=SizeSettings(max_tokens=3_000))
READABLE = Profile(size=SizeSettings(max_tokens=1_000))


class Asked:
    """Records which nodes are asked for their types alone, and which for their names."""

    def __init__(self) -> None:
        self.types: list[str] = []
        self.names: list[str] = []
        self.names_are_asked = asyncio.Event()

    def forget(self) -> None:
        """Forget what was asked."""
        self.types, self.names = [], []
        self.names_are_asked.clear()

    async def __call__(self, query: str) -> None:
        """Take a query."""
        nodes = re.findall(r"[:/](n\d{3}|hub)\b", query)
        if "SELECT ?n ?v" in query:
            self.types += nodes
        if "SELECT ?n ?p ?v" in query and "FILTER(?p IN (" in query:
            self.names += nodes
            self.names_are_asked.set()


def names_of(nodes: Sequence[Any]) -> dict[str, str | None]:
    return {node.id: node.name for node in nodes}


def right_name(node: str) -> str:
    return "The hub" if node == "x:hub" else f"Name {int(node[-3:])}"


async def test_each_page_has_the_names_of_its_nodes_and_no_others_are_read() -> None:
    asked = Asked()
    async with over(Watched(GRAPH, asked), OPAQUE) as gateway:
        await gateway.describe_schema()
        asked.forget()
        first = await gateway.bfs_query(["x:hub"], 1, topology_only=True, limit=20)
        assert len(asked.types) == NODES + 1
        assert sorted(asked.names) == sorted(node.id.removeprefix("x:") for node in first.nodes)
        second = await gateway.bfs_query(["x:hub"], 1, topology_only=True, limit=20, offset=first.next_offset or 0)
    for page in (first, second):
        assert len(page.nodes) == 20
        assert names_of(page.nodes) == {node.id: right_name(node.id) for node in page.nodes}


async def test_all_nodes_of_a_page_that_is_full_have_names() -> None:
    async with over(GRAPH, OPAQUE) as gateway:
        page = await gateway.bfs_query(["x:hub"], 1, topology_only=True)
    assert 50 < len(page.nodes) < NODES
    assert names_of(page.nodes) == {node.id: right_name(node.id) for node in page.nodes}


@pytest.mark.parametrize(("profile", "topology_only"), [(OPAQUE, True), (READABLE, False)], ids=["opaque", "readable"])
async def test_names_are_asked_for_while_types_are_on_their_way(profile: Profile, topology_only: bool) -> None:
    asked = Asked()

    async def types_come_last(query: str) -> None:
        await asked(query)
        if "SELECT ?n ?v" in query:
            async with asyncio.timeout(60):
                await asked.names_are_asked.wait()

    async with over(Watched(GRAPH, types_come_last), profile) as gateway:
        await gateway.describe_schema()
        asked.forget()
        answer = await compact(gateway, topology_only=topology_only)
    assert answer["complete"]
    assert "x:hub The hub" in json.dumps(answer["nodes"]["untyped"])


async def compact(gateway: Gateway, **more: object) -> dict[str, Any]:
    arguments = {"seeds": ["x:hub"], "max_hops": 1, **more}
    return (await gateway.call("bfs_query", arguments, shape="compact")).as_json()


async def test_after_a_filter_the_nodes_that_it_leaves_have_names() -> None:
    asked = Asked()
    async with over(Watched(GRAPH, asked), OPAQUE) as gateway:
        await gateway.describe_schema()
        asked.forget()
        page = await gateway.bfs_query(["x:hub"], 1, topology_only=True, exclude_node_types=["x:Even"], limit=30)
    assert len(page.nodes) == 30
    assert names_of(page.nodes) == {node.id: right_name(node.id) for node in page.nodes}
    assert not any(int(node[1:]) % 2 == 0 for node in asked.names if node != "hub")


async def test_few_nodes_have_types_and_names_by_one_query() -> None:
    asked = Asked()
    few = engine("".join(f'x:hub x:p x:n{n:03} . x:n{n:03} a x:T ; rdfs:label "Name {n}" .' for n in range(100)))
    async with over(Watched(few, asked), OPAQUE) as gateway:
        await gateway.describe_schema()
        asked.forget()
        page = await gateway.bfs_query(["x:hub"], 1, topology_only=True, limit=5)
    assert asked.types == []
    assert [node.name for node in page.nodes] == [None, "Name 0", "Name 1", "Name 2", "Name 3"]
    assert len(set(asked.names)) == 101


async def test_names_that_cannot_be_read_are_told_and_types_stay() -> None:
    async def no_names(query: str) -> None:
        if "SELECT ?n ?p ?v" in query:
            raise GaveUp("The endpoint gave up.")

    watched = Watched(GRAPH, Asked())
    async with over(watched, OPAQUE) as gateway:
        await gateway.describe_schema()
        watched.hook = no_names
        page = await gateway.bfs_query(["x:hub"], 1, topology_only=True, limit=20)
    assert {node.name for node in page.nodes} == {None}
    assert {node.entity_type for node in page.nodes} == {"untyped", "x:Even", "x:Odd"}
    assert page.complete
    assert (page.degraded or {}).get("metadata_failed") == 20


@pytest.mark.slow
async def test_a_node_that_was_to_have_details_has_its_name_where_there_is_no_room_for_them() -> None:
    for tokens in range(1_000, 3_000, 50):
        async with over(GRAPH, OPAQUE) as gateway:
            await gateway.bfs_query(["x:hub"], 1, limit=3)
            answer = await compact(gateway, node_types=["x:Even"], max_tokens=tokens)
            stubs = [node for part in answer["nodes"].values() for node in part if isinstance(node, str)]
            assert [node for node in stubs if " " not in node] == []


async def test_a_node_whose_metadata_cannot_be_read_keeps_its_name() -> None:
    async def no_literals(query: str) -> None:
        if "isLiteral(?v)" in query:
            raise GaveUp("The endpoint gave up.")

    watched = Watched(GRAPH, Asked())
    async with over(watched, Profile(names=NameSettings(on_stubs=True), size=ROOM)) as gateway:
        await gateway.bfs_query(["x:hub"], 1, limit=5)
        watched.hook = no_literals
        page = await gateway.bfs_query(["x:hub"], 1)
    assert (page.degraded or {}).get("metadata_failed") == NODES + 1
    assert names_of(page.nodes) == {node.id: right_name(node.id) for node in page.nodes}


@pytest.mark.parametrize("shape", ["compact", "reference"])
async def test_what_others_asked_before_brings_no_names_into_an_answer_without_names(shape: ShapeName) -> None:
    arguments = {"seeds": ["x:hub"], "max_hops": 1, "topology_only": True}
    async with over(GRAPH, READABLE) as gateway:
        before = (await gateway.call("bfs_query", arguments, shape=shape)).as_json()
    async with over(GRAPH, READABLE) as gateway:
        await compact(gateway)
        after = (await gateway.call("bfs_query", arguments, shape=shape)).as_json()
    assert after == before


async def test_names_are_not_asked_for_again_where_the_endpoint_fails() -> None:
    sent = 0

    async def no_names(query: str) -> None:
        nonlocal sent
        sent += 1
        if "SELECT ?n ?p ?v" in query:
            raise GaveUp("The endpoint gave up.")

    watched = Watched(GRAPH, Asked())
    async with over(watched, OPAQUE) as gateway:
        await gateway.describe_schema()
        watched.hook = no_names
        await gateway.bfs_query(["x:hub"], 1, topology_only=True, limit=64)
    # An answer that the endpoint gives up is asked for in halves, until it is clear that this does not help.
    assert sent <= 40


@pytest.mark.parametrize("requests", range(2, 12))
async def test_names_take_no_request_that_types_need(requests: int) -> None:
    limits = LimitSettings(requests=requests, facts_batch=50)
    profiles = (OPAQUE, OPAQUE.model_copy(update={"names": NameSettings(on_stubs=False)}))
    found = []
    for profile in profiles:
        async with over(GRAPH, profile.model_copy(update={"limits": limits})) as gateway:
            await gateway.describe_schema()
            answer = await gateway.bfs_query(["x:hub"], 1, topology_only=True, limit=20)
            found.append([(gap.cause, gap.count) for gap in answer.incomplete or ()])
    assert found[0] == found[1]


async def test_names_that_metadata_will_have_are_not_asked_for() -> None:
    asked = Asked()
    async with over(Watched(GRAPH, asked), Profile(size=ROOM)) as gateway:
        await gateway.describe_schema()
        asked.forget()
        answer = await compact(gateway)
    assert answer["complete"]
    assert asked.names == []


@pytest.mark.parametrize("batch", [50, 150, 500])
async def test_small_batches_read_no_more_names(batch: int) -> None:
    asked = Asked()
    profile = OPAQUE.model_copy(update={"limits": LimitSettings(facts_batch=batch)})
    async with over(Watched(GRAPH, asked), profile) as gateway:
        await gateway.describe_schema()
        asked.forget()
        await gateway.bfs_query(["x:hub"], 1, topology_only=True, limit=20)
    assert len(asked.types) == NODES + 1
    assert len(asked.names) == 20
