"""The contenders against a small server: each comes to the right answer, and the bare client sends what it must."""

import asyncio
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.contenders import by_hand
from benchmarks.contenders.asking import PlainClient, plain_client
from benchmarks.contenders.bare import resend
from benchmarks.contenders.base import Size, WrongAnswerError
from benchmarks.contenders.one_by_one import walk
from benchmarks.contenders.ours import Ours, size_of
from benchmarks.questions import WD, WDT, Question
from benchmarks.recording import Recording, Request
from tests.servers.oxigraph import running_oxigraph
from tests.servers.unavailable import ServerUnavailable, skip_or_fail

HOPS = Question("2 hops", "small", "wikidata-local", (f"{WD}Q1",), 2)
BOTH = replace(HOPS, name="k=2", seeds=(f"{WD}Q1", f"{WD}Q4"), kind="intersection")
EDGES = ((1, 10, 2), (3, 10, 1), (2, 11, 4), (4, 10, 5), (5, 11, 6), (2, 12, 3), (6, 10, 7))
TYPED = range(1, 8)


@pytest.fixture(scope="module")
def endpoint(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("contenders")
    graph: Path = folder / "small.nt"
    edges = [f"<{WD}Q{s}> <{WDT}P{p}> <{WD}Q{o}> .\n" for s, p, o in EDGES]
    types = [f"<{WD}Q{node}> <{WDT}P31> <{WD}Q100> .\n" for node in TYPED]
    graph.write_text("".join(edges + types), encoding="utf-8")
    try:
        with running_oxigraph([graph], workdir=folder) as server:
            yield server.endpoint
    except ServerUnavailable as error:
        skip_or_fail(error)


@pytest.mark.server
@pytest.mark.anyio
async def test_all_contenders_come_to_the_same_answer(endpoint: str) -> None:
    ours = Ours.at(endpoint, "wikidata-local")
    async with plain_client(endpoint) as client:
        assert size_of(await ours.topology(HOPS)) == Size(4, 4)
        assert await walk(client, HOPS, types_are_edges=False) == Size(4, 4)
        assert await by_hand.one_query(client, HOPS) == Size(4, 4)
        assert size_of(await ours.topology(BOTH)) == Size(4, 4)
        assert await by_hand.one_query(client, BOTH) == Size(4, 4)
        assert await by_hand.three_queries(client, BOTH) == Size(4, 4)
    await ours.close()


@pytest.mark.server
@pytest.mark.anyio
async def test_one_by_one_sends_a_query_for_each_node_and_direction_and_for_ten_types(endpoint: str) -> None:
    async with plain_client(endpoint) as client:
        await walk(client, HOPS, types_are_edges=False)
        assert len(client.seen.requests) == 3 * 2 + 1
        assert [request.after for request in client.seen.requests] == list(range(7))


@pytest.mark.server
@pytest.mark.anyio
async def test_what_the_gateway_sends_is_recorded_with_what_it_waited_for(endpoint: str) -> None:
    ours = Ours.at(endpoint, "wikidata-local")
    with ours.wire.recording() as seen:
        await ours.topology(HOPS)
    with ours.wire.recording() as again:
        pass
    await ours.close()
    assert [request.after for request in seen.requests] == [0, 1, 2]
    assert seen.answers == 3
    assert seen.rows >= 4
    assert again.requests == []


class Server(PlainClient):
    """Answers when it is told to, and notes how many requests wait."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.most = 0
        self._waiting = 0

    async def read(self, request: Request) -> int:
        """Let every other request that can be sent be sent first."""
        self.asked.append(request.query)
        self._waiting += 1
        self.most = max(self.most, self._waiting)
        for _ in range(20):
            await asyncio.sleep(0)
        self._waiting -= 1
        return 1


REQUESTS = [Request("first", 0), *(Request(f"second {number}", 1) for number in range(6)), Request("last", 7)]
RECORDED = Recording(REQUESTS, bytes=len(REQUESTS))


@pytest.mark.anyio
async def test_in_steps_no_request_is_sent_before_the_answers_it_waited_for() -> None:
    server = Server()
    await resend(server, RECORDED, 4, in_steps=True)
    assert server.asked[0] == "first"
    assert server.asked[-1] == "last"
    assert len(server.asked) == len(REQUESTS)
    assert server.most == 4


@pytest.mark.anyio
async def test_at_once_requests_only_wait_for_a_free_place() -> None:
    server = Server()
    await resend(server, RECORDED, 4, in_steps=False)
    assert server.asked == [request.query for request in REQUESTS]
    assert server.most == 4


@pytest.mark.anyio
async def test_a_bare_client_that_reads_other_answers_than_the_gateway_is_told_of() -> None:
    with pytest.raises(WrongAnswerError):
        await resend(Server(), Recording(REQUESTS, bytes=1), 4, in_steps=False)
