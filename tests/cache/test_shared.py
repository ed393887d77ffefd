"""Answers that processes share in a Valkey, as bytes and back: two gateways in the place of two processes."""

import asyncio
import os
import signal
import socket
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from hashlib import blake2b
from pathlib import Path
from typing import Any, Final

import pyoxigraph
import pytest
from aiohttp import web
from hypothesis import given
from hypothesis import strategies as st

from gateway.api import open_gateway
from gateway.cache.shared import (
    COUNTS,
    DEGREES,
    DESCRIPTIONS,
    EDGES,
    EVIDENCE,
    EXISTENCE,
    FACTS,
    IDENTITIES,
    REACH,
    SUBCLASSES,
)
from gateway.cache.shared_values import SharedValues
from gateway.errors import ConfigurationError, EndpointFault
from gateway.graph.counts import EdgeCount, EdgeCounts
from gateway.graph.values import (
    Assertion,
    BlankNode,
    Degree,
    Description,
    DirectSubclasses,
    Edge,
    Evidence,
    Existence,
    Identities,
    Mark,
    Neighbourhood,
    NodeFacts,
    NoValue,
    Quantity,
    Reach,
    Resource,
)
from gateway.settings.limits import SharedCacheServer
from gateway.terms.literals import Literal
from gateway.tools.gateway import Gateway
from tests.servers.loopback import HOST
from tests.servers.unavailable import ServerUnavailable, skip_or_fail
from tests.servers.valkey import ValkeyServer, running_valkey
from tests.small import PREFIXES, engine
from tests.transport.fake_endpoint import JSON, FakeEndpoint, fake_endpoint

pytestmark = pytest.mark.anyio

GRAPH: Final = " ".join(
    f"x:hub x:p x:n{number} . x:n{number} x:q x:m{number} ; x:size {number} ." for number in range(9)
)
LARGEST: Final = 1_000
QUESTION: Final[dict[str, Any]] = {"seeds": ["x:hub"], "max_hops": 2}


async def answering(request: web.BaseRequest) -> web.StreamResponse:
    """Answer as an engine does that holds the graph."""
    query = (await request.post()).get("query")
    if query is None:
        return web.Response(status=400)
    solutions = engine(GRAPH).query(str(query))
    assert isinstance(solutions, pyoxigraph.QuerySolutions)
    body = solutions.serialize(format=pyoxigraph.QueryResultsFormat.JSON)
    return web.Response(body=body, content_type=JSON)


@pytest.fixture
def valkey(tmp_path: Path) -> Iterator[ValkeyServer]:
    """A server of this test alone."""
    try:
        with running_valkey(tmp_path) as server:
            yield server
    except ServerUnavailable as error:
        skip_or_fail(error)


@asynccontextmanager
async def two_gateways(url: str) -> AsyncIterator[tuple[FakeEndpoint, Gateway, Gateway]]:
    """Give two gateways over one endpoint, each of which has read the schema."""
    async with (
        asyncio.timeout(60),
        fake_endpoint(answering) as endpoint,
        open_gateway(endpoint=endpoint.url, prefixes=PREFIXES, shared_cache=url) as first,
        open_gateway(endpoint=endpoint.url, prefixes=PREFIXES, shared_cache=url) as second,
    ):
        for gateway in (first, second):
            await gateway.describe_schema()
        yield endpoint, first, second


async def asked(endpoint: FakeEndpoint, gateway: Gateway, **given: Any) -> tuple[dict[str, Any], int]:
    """Return an answer, and how many queries it took."""
    before = len(endpoint.queries)
    answer = (await gateway.call("bfs_query", {**QUESTION, **given})).as_json()
    return answer, len(endpoint.queries) - before


@pytest.mark.server
async def test_what_one_process_has_read_another_does_not_ask_for_again(valkey: ValkeyServer) -> None:
    async with two_gateways(valkey.url) as (endpoint, first, second):
        one, queries = await asked(endpoint, first)
        assert (one["node_count"], one["complete"], queries > 0) == (19, True, True)
        assert await asked(endpoint, second) == (one, 0)


@pytest.mark.server
async def test_processes_share_nothing_if_only_one_found_out_the_engine(valkey: ValkeyServer) -> None:
    # The other cannot see which answers the engine cut: this one must not take them for whole.
    is_broken = True

    async def handler(request: web.BaseRequest) -> web.StreamResponse:
        if "query" not in await request.post():
            return web.Response(status=500) if is_broken else web.Response(headers={"Server": "Oxigraph/0.5.13"})
        return await answering(request)

    async with (
        asyncio.timeout(60),
        fake_endpoint(handler) as endpoint,
        open_gateway(endpoint=endpoint.url, prefixes=PREFIXES, shared_cache=valkey.url) as first,
        open_gateway(endpoint=endpoint.url, prefixes=PREFIXES, shared_cache=valkey.url) as second,
    ):
        await first.describe_schema()
        one, _ = await asked(endpoint, first)
        is_broken = False
        await second.describe_schema()
        other, queries = await asked(endpoint, second)
        assert (one, queries > 0) == (other, True)


@pytest.mark.server
async def test_pages_of_one_answer_come_from_either(valkey: ValkeyServer) -> None:
    async with two_gateways(valkey.url) as (endpoint, first, second):
        page, _ = await asked(endpoint, first, limit=5)
        place = {
            "limit": 5,
            "offset": page["next_offset"],
            "edge_offset": page.get("next_edge", 0),
            "snapshot": page["snapshot"],
        }
        other, queries = await asked(endpoint, second, **place)
        assert "result_changed" not in other
        assert (other, await asked(endpoint, first, **place)) == (other, (other, 0))
        assert {node["id"] for node in page["nodes"]}.isdisjoint(node["id"] for node in other["nodes"])
        # Metadata of the nodes of the second page, which nobody has read before. Whether there are lists and class
        # expressions each process asks for itself, once.
        assert queries <= 3


@pytest.mark.server
async def test_both_go_on_while_the_server_is_away_and_use_it_when_it_is_back(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gateway.cache.shared_values._BACKOFF_SECONDS", 0.0)
    with running_valkey(tmp_path) as server:
        async with two_gateways(server.url) as (endpoint, first, second):
            whole, _ = await asked(endpoint, first)
            os.kill(server.process.pid, signal.SIGKILL)
            await asyncio.to_thread(server.process.wait)
            second.forget_snapshots()
            answer, queries = await asked(endpoint, second)
            assert (answer, queries > 0) == (whole, True)
            assert "the shared cache is away" in caplog.text
            with running_valkey(tmp_path, server.port):
                first.forget()
                answer, queries = await asked(endpoint, first)
                assert (answer, queries > 0) == (whole, True)
                assert "the shared cache answers again" in caplog.text
                second.forget()
                await asked(endpoint, first)
                assert (await asked(endpoint, second))[0] == whole


@pytest.mark.server
async def test_calls_go_on_while_the_server_is_stopped_and_use_it_when_it_goes_on(
    valkey: ValkeyServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gateway.cache.shared_values._BACKOFF_SECONDS", 0.0)
    async with two_gateways(valkey.url) as (endpoint, first, second):
        whole, _ = await asked(endpoint, first)
        with valkey.process.stopped():
            second.forget_snapshots()
            answers = await asyncio.gather(*(asked(endpoint, second) for _ in range(12)))
            assert [answer for answer, _ in answers] == [whole] * 12
        first.forget()
        await asked(endpoint, first)
        assert await asked(endpoint, second) == (whole, 0)


@pytest.mark.server
async def test_what_one_process_forgets_no_process_uses(valkey: ValkeyServer) -> None:
    async with two_gateways(valkey.url) as (endpoint, first, second):
        await asked(endpoint, first)
        first.forget()
        _, queries = await asked(endpoint, first)
        assert queries > 0
        assert (await asked(endpoint, second))[1] == 0


@pytest.mark.server
async def test_what_was_asked_for_before_others_forgot_is_not_used_after_it(valkey: ValkeyServer) -> None:
    old, new = (SharedValues(SharedCacheServer(valkey.url), "x:") for _ in range(2))
    try:
        assert await old.get(["a"]) == [None]
        asked_in = old.generation
        new.forget()
        assert await new.get(["a"]) == [None]
        # Another call of the first process hears of it while the answer is under way.
        await old.get(["b"])
        await old.put([("a", b"old")], 60, asked_in)
        assert (await old.get(["a"]), await new.get(["a"])) == ([None], [None])
        await old.put([("a", b"fresh")], 60, old.generation)
        assert await new.get(["a"]) == [b"fresh"]
    finally:
        await asyncio.gather(old.close(), new.close())


@pytest.mark.server
async def test_a_server_that_lost_what_was_forgotten_brings_nothing_back(valkey: ValkeyServer) -> None:
    import redis  # noqa: PLC0415 - a client of our own beside that of the gateway

    values = SharedValues(SharedCacheServer(valkey.url), "x:")
    try:
        await values.get(["a"])
        await values.put([("a", b"old")], 60, values.generation)
        values.forget()
        assert await values.get(["a"]) == [None]
        with redis.Redis.from_url(valkey.url) as client:
            client.delete("x:generation")
        assert await values.get(["a"]) == [None]
    finally:
        await values.close()


@pytest.mark.server
async def test_what_is_no_answer_is_asked_of_the_graph(valkey: ValkeyServer) -> None:
    import redis  # noqa: PLC0415 - a client of our own beside that of the gateway

    async with two_gateways(valkey.url) as (endpoint, first, second):
        whole, _ = await asked(endpoint, first)
        with redis.Redis.from_url(valkey.url) as client:
            keys = list(client.scan_iter("bfsql:*"))
            assert len(keys) > 10
            for number, key in enumerate(keys):
                client.set(key, [b"", b"\xc1", b"\x93\x01\x02", b"\xff" * 100, b"\x80"][number % 5])
        answer, queries = await asked(endpoint, second)
        assert (answer, queries > 0) == (whole, True)


@pytest.mark.server
async def test_no_value_is_read_beyond_the_longest_of_ours(
    valkey: ValkeyServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    import redis  # noqa: PLC0415 - a client of our own beside that of the gateway

    async with two_gateways(valkey.url) as (endpoint, first, second):
        whole, _ = await asked(endpoint, first)
        monkeypatch.setattr("gateway.cache.shared_values._LARGEST", LARGEST)
        with redis.Redis.from_url(valkey.url) as client:
            keys = [key for key in client.scan_iter("bfsql:*") if b"generation" not in key]
            of_another_type, *others = keys
            client.delete(of_another_type)
            client.rpush(of_another_type, b"!")
            for key in others:
                client.setrange(key, LARGEST * 100, b"!")
            before = client.info("stats")["total_net_output_bytes"]
            answer, queries = await asked(endpoint, second)
            sent = client.info("stats")["total_net_output_bytes"] - before
    assert (answer, queries > 0) == (whole, True)
    assert 0 < sent < len(keys) * LARGEST * 2


@pytest.mark.server
async def test_a_server_that_never_answers_costs_no_more_than_its_time(caplog: pytest.LogCaptureFixture) -> None:
    # Connections wait in the backlog, and nobody accepts them.
    with socket.create_server((HOST, 0)) as silent:
        async with two_gateways(f"redis://{HOST}:{silent.getsockname()[1]}") as (endpoint, first, _):
            answer, queries = await asked(endpoint, first)
    assert (answer["complete"], queries > 0) == (True, True)
    assert caplog.text.count("the shared cache is away") <= 2


@pytest.mark.server
@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1",
        "redis://user:secret@127.0.0.1",
        "",
        "redis://127.0.0.1:x",
        "redis://127.0.0.1?password=hunter2",
        "unix:///v?db=0&password=hunter2",
    ],
)
def test_a_url_that_is_none_is_a_clear_error_without_a_secret(url: str) -> None:
    with pytest.raises(ConfigurationError, match="--shared-cache") as raised:
        SharedCacheServer(url)
    assert "secret" not in str(raised.value)


def _forged(content: bytes, name: bytes) -> bytes:
    """Return an answer with other IRIs in it, as somebody writes it who knows all but the secret."""
    value = content[16:].replace(b"/x/m", b"/x/f")
    return blake2b(name + b"\n" + value, digest_size=16, key=blake2b(b"", digest_size=32).digest()).digest() + value


@pytest.mark.server
async def test_whoever_reaches_the_server_without_the_secret_forges_no_answer(
    valkey: ValkeyServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    import redis  # noqa: PLC0415 - a client of our own beside that of the gateway

    monkeypatch.setenv("BFSQL_SHARED_CACHE_SECRET", "what only the gateways know")
    async with two_gateways(valkey.url) as (endpoint, first, second):
        whole, _ = await asked(endpoint, first)
        with redis.Redis.from_url(valkey.url) as client:
            keys = [key for key in client.scan_iter("bfsql:*") if b"generation" not in key]
            contents = {key: client.get(key) for key in keys}
            assert sum(b"/x/m" in content for content in contents.values()) > 5
            for key, content in contents.items():
                client.set(key, _forged(content, key))
        answer, queries = await asked(endpoint, second)
    assert (answer, queries > 0) == (whole, True)


TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
IRIS = st.lists(TEXT, max_size=4).map(tuple)
LITERALS = st.builds(Literal, TEXT, TEXT, TEXT)
QUANTITIES = st.builds(Quantity, st.builds(Literal, TEXT, TEXT), TEXT)
LEAVES = LITERALS | QUANTITIES | st.builds(Resource, TEXT) | st.builds(NoValue, st.booleans())
PROPERTIES = st.recursive(
    st.dictionaries(TEXT, st.lists(LEAVES, max_size=3).map(tuple), max_size=3),
    lambda inner: st.dictionaries(
        TEXT, st.lists(LEAVES | st.builds(BlankNode, inner, st.booleans()), max_size=3).map(tuple), max_size=3
    ),
    max_leaves=5,
)
COUNTS_OF_EDGES = st.builds(EdgeCount, TEXT, st.booleans(), st.integers(0, 9), IRIS)
ANSWERS = st.one_of(
    st.builds(
        Neighbourhood, st.lists(st.builds(Edge, TEXT, TEXT, TEXT), max_size=5).map(tuple), st.integers(0, 99)
    ).map(lambda answer: (EDGES, answer)),
    st.builds(Degree, st.integers(0, 10**9), st.booleans()).map(lambda answer: (DEGREES, answer)),
    st.builds(EdgeCounts, st.lists(COUNTS_OF_EDGES, max_size=3).map(tuple), st.integers(0, 9)).map(
        lambda answer: (COUNTS, answer)
    ),
    st.builds(NodeFacts, IRIS, TEXT, description=TEXT, left_out=st.integers(0, 9)).map(lambda answer: (FACTS, answer)),
    st.builds(Existence, st.booleans()).map(lambda answer: (EXISTENCE, answer)),
    st.builds(DirectSubclasses, IRIS).map(lambda answer: (SUBCLASSES, answer)),
    st.builds(Identities, IRIS).map(lambda answer: (IDENTITIES, answer)),
    st.builds(Reach, st.dictionaries(TEXT, st.integers(0, 5), max_size=4)).map(lambda answer: (REACH, answer)),
    st.builds(Description, PROPERTIES, left_out=st.integers(0, 9)).map(lambda answer: (DESCRIPTIONS, answer)),
    st.builds(
        Evidence, st.lists(st.builds(Assertion, PROPERTIES, IRIS), max_size=2).map(tuple), left_out=st.integers(0, 9)
    ).map(lambda answer: (EVIDENCE, answer)),
)


@given(ANSWERS)
def test_what_is_read_is_what_was_written(drawn: tuple[object, object]) -> None:
    kind, answer = drawn
    content = kind.write(answer)  # type: ignore[attr-defined]
    assert isinstance(content, bytes)
    assert kind.read(content) == answer  # type: ignore[attr-defined]


@given(st.binary(max_size=60) | ANSWERS.map(lambda drawn: drawn[0].write(drawn[1])))
def test_other_bytes_are_no_answer_or_a_whole_one(content: bytes) -> None:
    for kind in (
        EDGES,
        FACTS,
        DESCRIPTIONS,
        EVIDENCE,
        COUNTS,
        REACH,
    ):
        read = kind.read(content)
        assert read is None or read.mark.whole


def test_answers_that_are_not_whole_or_hold_hashes_of_this_process_are_not_written() -> None:
    fault = Mark(EndpointFault("Gone."))
    assert EDGES.write(Neighbourhood(mark=fault)) is None
    assert EDGES.write(Neighbourhood(left_out=frozenset({1}))) is None
    assert DESCRIPTIONS.write(Description(mark=fault)) is None
    assert DESCRIPTIONS.write(Description(refined=False)) is None
    assert EVIDENCE.write(Evidence(mark=fault)) is None
