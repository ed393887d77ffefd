"""The graphs of the benchmarks, and those who are asked about them: the harness of limits, and the contenders."""

import asyncio
import hashlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from pathlib import Path

import pytest

from benchmarks import graphs
from benchmarks.contenders import by_hand
from benchmarks.contenders.asking import PlainClient, plain_client
from benchmarks.contenders.bare import resend
from benchmarks.contenders.base import Size, WrongAnswerError
from benchmarks.contenders.one_by_one import walk
from benchmarks.contenders.ours import Ours, size_of
from benchmarks.parts.pathological import measured
from benchmarks.pathological_graphs import GRAPHS, OTHER, SEED, OddGraph
from benchmarks.questions import WD, WDT, Question
from benchmarks.random_graphs import RandomGraph, node
from benchmarks.recording import Recording, Request
from gateway.api import open_gateway
from tests.oracle import OracleGraph, bfs
from tests.servers.oxigraph import running_oxigraph
from tests.servers.unavailable import ServerUnavailable, skip_or_fail

pytestmark = pytest.mark.anyio

SMALL = 20_000


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("generated") / "small.nt"
    path.write_text("".join(graphs.triples(SMALL)), encoding="utf-8")
    return path


def test_a_graph_has_as_many_distinct_triples_as_it_is_asked_for(small: Path) -> None:
    lines = small.read_text(encoding="utf-8").splitlines()
    assert len(lines) == len(set(lines)) == SMALL


def test_the_same_size_gives_the_same_graph_everywhere(small: Path) -> None:
    # The cached databases and everyone's figures are about this very graph.
    assert hashlib.sha256(small.read_bytes()).hexdigest()[:16] == "364b79d602cf692e"


def test_a_graph_of_statements_is_the_same_everywhere_and_has_no_triple_twice() -> None:
    lines = list(graphs.statements(SMALL))
    assert len(lines) == len(set(lines))
    assert hashlib.sha256("".join(lines).encode()).hexdigest()[:16] == "04b00c3e3452ec2b"


def test_few_nodes_are_in_most_of_the_edges(small: Path) -> None:
    oracle = OracleGraph.from_files([small])
    degrees = sorted(Counter(end for edge in oracle.edges for end in {edge[0], edge[2]}).values())
    median, hundredth, largest = degrees[len(degrees) // 2], degrees[-len(degrees) // 100], degrees[-1]
    assert hundredth > 5 * median
    assert largest > 20 * median
    assert 0.01 < largest / len(oracle.edges) < 0.1


@pytest.mark.parametrize("size", [2_000, SMALL])
def test_the_planted_question_has_one_answer_in_every_size(size: int, tmp_path: Path) -> None:
    path = tmp_path / "graph.nt"
    path.write_text("".join(graphs.triples(size)), encoding="utf-8")
    found = bfs(OracleGraph.from_files([path]), [graphs.PLANTED_SEED], 2)
    assert (len(found.distance), len(found.edges)) == (graphs.PLANTED_NODES, graphs.PLANTED_EDGES)
    planted = {line for line in islice(graphs.triples(100_000), 1_000) if "/planted/" in line}
    with path.open(encoding="utf-8") as lines:
        assert planted == {line for line in lines if "/planted/" in line}


def test_the_planted_neighbourhood_is_part_of_the_graph_around_it(small: Path) -> None:
    oracle = OracleGraph.from_files([small])
    near, further = (len(bfs(oracle, [graphs.PLANTED_SEED], hops).distance) for hops in (2, 4))
    assert further > 2 * near


def test_a_graph_without_room_for_the_planted_part_is_refused() -> None:
    with pytest.raises(ValueError, match="no room"):
        next(graphs.triples(100))


def test_a_random_graph_is_the_same_every_time() -> None:
    graph = RandomGraph(50, 400, 3)
    lines = list(graph.triples())
    assert lines == list(graph.triples())
    assert len(lines) == 2 * 50 + 400


def test_a_skewed_graph_has_hubs_and_another_has_none() -> None:
    def largest(skew: int) -> int:
        edges = [line for line in RandomGraph(1_000, 10_000, skew).triples() if "/property/" in line]
        [(_, count)] = Counter(line.split()[0] for line in edges).most_common(1)
        return count

    assert largest(3) > 500
    assert largest(1) < 50


@pytest.mark.anyio
async def test_the_gateway_reads_a_random_graph(tmp_path: Path) -> None:
    file = RandomGraph(20, 60, 1).write(tmp_path / "random.nt")
    async with open_gateway(str(file)) as gateway:
        answer = await gateway.describe_entity(node(7))
    assert "node 7" in answer.model_dump_json()


ODD = OddGraph(lambda: iter([(SEED, "http://odd.example/p", '"a"')]), profile={"types": {"subclass_of": []}})


def test_every_graph_begins_with_triples_and_has_two_seeds() -> None:
    for graph in GRAPHS.values():
        # The long literal is made when its triple is.
        assert len(next(graph.triples())) == 3
        assert len(set(graph.seeds)) == 2


def test_a_graph_is_written_as_n_triples_with_its_seeds(tmp_path: Path) -> None:
    lines = ODD.write(tmp_path / "graph.nt").read_text(encoding="ascii").splitlines()
    assert lines[0] == f'<{SEED}> <http://odd.example/p> "a" .'
    assert len(lines) == 4
    assert any(f"<{SEED}>" in line and f"<{OTHER}>" in line for line in lines[1:])


@pytest.mark.server
async def test_a_graph_is_asked_by_all_tools_and_its_file_removed(tmp_path: Path) -> None:
    hold, slowest = await measured("small", ODD, tmp_path)
    assert hold.result is not None
    assert hold.result > 0
    assert "errors" not in hold.note
    assert slowest.verdict == "met"
    assert not (tmp_path / "graph.nt").exists()


@pytest.mark.server
async def test_calls_and_pings_that_are_given_up_are_figures_and_no_exceptions(tmp_path: Path) -> None:
    hold, slowest = await measured("small", ODD, tmp_path, patience=1e-6)
    assert "pings at most" in hold.note
    assert "errors: describe_schema, search_entities" in hold.note
    assert slowest.result is not None


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
