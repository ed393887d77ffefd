"""Room is counted in the bytes that are sent: compact answers fit, and hold more (docs/contract.md, "Size")."""

import asyncio
import json
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import event, given
from hypothesis import strategies as st

from gateway import expand
from gateway.escaping import json_text
from gateway.settings.profile import Profile, ShapeName
from gateway.settings.vocabulary import NameSettings
from gateway.tools.gateway import Gateway
from tests.answers.test_size import STAR, Drawn, drawn, drawn_graphs, is_smallest
from tests.small import over

Json = dict[str, Any]


async def asked(gateway: Gateway, tool: str, arguments: Mapping[str, Any], shape: ShapeName = "compact") -> Json:
    """Return an answer as it is sent."""
    answer = await gateway.call(tool, arguments, shape=shape, explain=True)
    sent: Json = json.loads(json_text(answer.as_json()))
    return sent


def bytes_of(answer: Json) -> int:
    return len(json_text(answer).encode())


async def pages_of(gateway: Gateway, graph: Drawn, **arguments: Any) -> list[Json]:
    """Read all pages of a question."""
    given_always = {"seeds": [graph.nodes[0]], "max_hops": 5, "max_tokens": graph.max_tokens, **arguments}
    pages: list[Json] = []
    place: Json | None = {}
    while place is not None:
        page = await asked(gateway, "bfs_query", {**given_always, **place})
        pages.append(page)
        place = (
            {"offset": page["next_offset"], "edge_offset": page.get("next_edge", 0)} if "next_offset" in page else None
        )
    return pages


@drawn
@given(graph=drawn_graphs(), topology_only=st.booleans(), names=st.booleans(), explain=st.booleans())
def test_no_compact_page_is_larger_than_was_asked_and_the_pages_have_every_node_and_edge_once(
    graph: Drawn, topology_only: bool, names: bool, explain: bool
) -> None:
    async def read() -> list[Json]:
        async with over(graph.store, Profile(names=NameSettings(on_stubs=names))) as gateway:
            return await pages_of(gateway, graph, topology_only=topology_only, explain=explain)

    sent = asyncio.run(read())
    pages = [expand(page) for page in sent]
    event(f"{min(len(pages), 4)} pages")
    for size, page in zip(map(bytes_of, sent), pages, strict=True):
        assert size <= graph.max_tokens * 4 or is_smallest(page)
    found = [node["id"] for page in pages for node in page["nodes"]]
    assert len(found) == len(set(found)) == pages[0]["node_count"]
    edges = [(edge["subject"], edge["predicate"], edge["object"]) for page in pages for edge in page["edges"]]
    assert len(edges) == len(set(edges)) == pages[0]["edge_count"]


@drawn
@given(graph=drawn_graphs())
def test_described_entities_fit_in_the_compact_shape_too(graph: Drawn) -> None:
    async def read() -> Json:
        async with over(graph.store, Profile()) as gateway:
            arguments = {"ids": graph.nodes, "max_tokens": graph.max_tokens}
            return await asked(gateway, "describe_entities", arguments)

    sent = asyncio.run(read())
    assert bytes_of(sent) <= graph.max_tokens * 4 or len(expand(sent)["result"]) == 1


CHAIN = "".join(
    f"x:hub x:rel x:n{number} . x:n{number} a x:Node ; rdfs:label 'node {number}' .\n" for number in range(2_999)
)


@pytest.mark.anyio
async def test_a_compact_page_holds_more_and_is_nearly_full() -> None:
    async with over(CHAIN, Profile()) as gateway:
        arguments = {"seeds": ["x:hub"], "max_hops": 1, "topology_only": True}
        answers = {shape: await asked(gateway, "bfs_query", arguments, shape) for shape in ("compact", "reference")}
    compact, reference = expand(answers["compact"]), answers["reference"]
    assert len(compact["nodes"]) > 2 * len(reference["nodes"])
    assert 31_900 < bytes_of(answers["compact"]) <= 32_000


@pytest.mark.anyio
async def test_names_outlive_metadata_when_room_is_short() -> None:
    async with over(STAR, Profile()) as gateway:
        arguments = {"seeds": ["x:hub"], "max_hops": 1, "max_tokens": 500}
        sent = await asked(gateway, "bfs_query", arguments)
    nodes = expand(sent)["nodes"]
    stubs = [node for node in nodes if "metadata" not in node]
    assert stubs
    assert all(node["name"].startswith("node ") for node in stubs if node["id"] != "x:hub")


@pytest.mark.anyio
async def test_stubs_have_names_unless_only_the_topology_is_asked_for_and_ids_are_readable() -> None:
    seeds = {"seeds": ["x:hub"], "max_hops": 1}
    async with over(STAR, Profile()) as gateway:
        filtered = expand(await asked(gateway, "bfs_query", {**seeds, "node_types": ["untyped"]}))
        bare = expand(await asked(gateway, "bfs_query", {**seeds, "topology_only": True}))
    async with over(STAR, Profile(names=NameSettings(on_stubs=True))) as gateway:
        opaque = expand(await asked(gateway, "bfs_query", {**seeds, "topology_only": True}))
    named = [sum("name" in node for node in answer["nodes"]) for answer in (filtered, bare, opaque)]
    assert named == [20, 0, 21]


@pytest.mark.anyio
async def test_a_page_of_one_node_with_very_many_properties_fits_and_its_edge_is_on_it() -> None:
    values = " ; ".join(f"x:a_property_with_a_long_name_{number} 'v{number}'" for number in range(1_000))
    async with over(f"x:a x:p x:b ; {values} .", Profile()) as gateway:
        arguments = {"seeds": ["x:b"], "max_hops": 1, "limit": 1}
        first = await asked(gateway, "bfs_query", arguments)
        second = await asked(gateway, "bfs_query", {**arguments, "offset": first["next_offset"]})
    assert bytes_of(second) <= 32_000
    assert expand(second)["edges"] == [{"subject": "x:a", "predicate": "x:p", "object": "x:b"}]
    assert second["degraded"] == {"nodes_as_stubs": 1}
