"""Who gets a cache: gateways over endpoints, unless the profile says otherwise; graphs in this process on request."""

import asyncio
from pathlib import Path

import pyoxigraph
import pytest
from aiohttp import web

from gateway.api import open_gateway
from gateway.graph.call import Call, Deadline
from gateway.settings.limits import CacheSettings
from gateway.settings.profile import Profile
from gateway.stores.endpoints import store_over
from tests.small import PREFIXES, Watched, X, engine
from tests.transport.fake_endpoint import JSON, fake_endpoint

pytestmark = pytest.mark.anyio

STAR = " ".join(f"x:hub x:p x:n{number} ." for number in range(6))


async def answering(request: web.BaseRequest) -> web.StreamResponse:
    """Answer as an engine does that holds a star."""
    query = str((await request.post())["query"])
    solutions = engine(STAR).query(query)
    assert isinstance(solutions, pyoxigraph.QuerySolutions)
    body = solutions.serialize(format=pyoxigraph.QueryResultsFormat.JSON)
    return web.Response(body=body, content_type=JSON)


async def queries_of_a_repeated_question(profile: Profile) -> tuple[int, int, int]:
    """Ask twice, and once more after all was forgotten; return how many queries each needed."""
    async with (
        asyncio.timeout(60),
        fake_endpoint(answering) as endpoint,
        open_gateway(endpoint=endpoint.url, profile=profile, prefixes=PREFIXES) as gateway,
    ):
        await gateway.describe_schema()
        needed = []
        for forget in (gateway.forget_snapshots, gateway.forget_snapshots, gateway.forget):
            forget()
            before = len(endpoint.queries)
            assert (await gateway.bfs_query(["x:hub"], 1)).node_count == 7
            needed.append(len(endpoint.queries) - before)
    first, second, third = needed
    return first, second, third


async def test_what_was_read_of_an_endpoint_is_not_asked_for_again_until_it_is_forgotten() -> None:
    first, second, third = await queries_of_a_repeated_question(Profile())
    assert first >= third > 0
    assert second == 0


async def test_a_profile_can_do_without_a_cache() -> None:
    _, second, third = await queries_of_a_repeated_question(Profile(cache=CacheSettings(megabytes=0)))
    assert second == third > 0


@pytest.mark.parametrize("megabytes", [None, 0, 8])
async def test_a_graph_in_this_process_has_the_same_answers_with_and_without(
    megabytes: int | None, tmp_path: Path
) -> None:
    path = tmp_path / "star.nt"
    engine(STAR).dump(path, pyoxigraph.RdfFormat.N_TRIPLES, from_graph=pyoxigraph.DefaultGraph())
    profile = Profile(cache=CacheSettings(megabytes=megabytes), prefixes=PREFIXES)
    async with open_gateway(path, profile=profile) as gateway:
        first = await gateway.bfs_query(["x:hub"], 2)
        gateway.forget_snapshots()
        assert await gateway.bfs_query(["x:hub"], 2) == first
        assert first.node_count == 7


async def test_names_that_were_being_read_when_other_predicates_became_names_are_not_stored() -> None:
    held, go_on = asyncio.Event(), asyncio.Event()

    async def hook(query: str) -> None:
        if f"{X}n0>" in query and not held.is_set():
            held.set()
            await go_on.wait()

    titled = " ".join(f"x:n{number} x:title 'Person number {number}' ; x:knows x:n0 ." for number in range(30))
    store = store_over(Watched(engine(titled), hook), Profile())

    def call() -> Call:
        return Call(Deadline.after(60.0), 1_000, 1_000_000, 1_000_000)

    async def name() -> str:
        return (await store.nodes([f"{X}n0"], call(), names=True))[f"{X}n0"].name

    try:
        first = asyncio.create_task(name())
        await held.wait()
        assert (await store.quick_schema(call())).names == (f"{X}title",)
        go_on.set()
        assert await first == ""
        assert await name() == "Person number 0"
    finally:
        await store.close()
