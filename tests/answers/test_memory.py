"""What lives as long as a gateway is bounded in bytes, whatever it is asked."""

import gc
import tracemalloc

import pytest

from gateway.cache.memory import MemoryCache, memory_size
from gateway.cache.store import CachedStore
from gateway.errors import AnswerCut, EdgesCapped, Fault
from gateway.flow.control import FlowControl
from gateway.graph.call import Call, Deadline
from gateway.graph.values import Degree, Existence, Mark, NodeFacts
from gateway.settings.limits import SnapshotSettings
from gateway.settings.profile import Profile
from gateway.sparql.client import SparqlClient
from gateway.sparql.store import SparqlStore
from gateway.terms.bounded_map import BoundedMap
from gateway.terms.prefixes import PrefixMap
from gateway.tools.gateway import Gateway
from gateway.transport.inprocess import InProcess
from tests.small import PREFIXES, engine

pytestmark = pytest.mark.anyio

MEGABYTE = 1 << 20
DOUBTFUL = "https://example.org/x/./"
"""How IRIs begin that an engine may rewrite, and about which it is asked."""


def allowance() -> Call:
    return Call(Deadline.after(60), 10_000, 10_000_000, 10_000_000)


def in_process() -> InProcess:
    return InProcess(engine("x:a x:p x:b ."), max_bytes=1 << 26)


def test_what_is_remembered_is_bounded_and_what_is_known_stays_right() -> None:
    remembered: BoundedMap[str, int] = BoundedMap(10_000)
    for number in range(10_000):
        remembered.add(str(number), number, 100)
        assert remembered.known[str(number)] == number
        assert len(remembered) <= 10_000 // 220
    remembered.add("large", 1, 2_000)
    assert "large" not in remembered.known


async def test_how_iris_are_read_is_remembered_in_few_bytes() -> None:
    client = SparqlClient(in_process(), Profile(), FlowControl(Profile().endpoint.requests))
    padding = "x" * 20_000
    await client.rewritten([f"{DOUBTFUL}first"], allowance())
    gc.collect()
    tracemalloc.start()
    try:
        for number in range(20):
            iris = [f"{DOUBTFUL}{number}/{place}/{padding}" for place in range(40)]
            await client.rewritten(iris, allowance())
        gc.collect()
        held, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert held < 8 * MEGABYTE


def frames_of(fault: Fault) -> list[object]:
    return [held for held in (fault.__traceback__, fault.__context__, fault.__cause__) if held is not None]


def test_a_mark_does_not_hold_what_was_read_when_its_fault_was_raised() -> None:
    def read(text: str) -> None:
        try:
            int(text)
        except ValueError as error:
            raise AnswerCut("The endpoint sent only a part.") from error

    with pytest.raises(AnswerCut) as caught:
        read("x")
    assert frames_of(caught.value)
    mark = Mark(caught.value)
    assert mark.fault is not None
    assert not frames_of(mark.fault)


LONG = "\u4e00" * 100_000


@pytest.mark.parametrize(
    "answer",
    [
        NodeFacts(description=LONG),
        NodeFacts(name=LONG),
        NodeFacts(types=(LONG,)),
        NodeFacts(mark=Mark(EdgesCapped(LONG))),
        Degree(mark=Mark(EdgesCapped(LONG))),
        Existence(mark=Mark(EdgesCapped(LONG))),
    ],
    ids=["description", "name", "types", "mark of facts", "mark of a degree", "mark of an existence"],
)
def test_all_texts_of_an_answer_are_counted(answer: object) -> None:
    assert memory_size(answer) >= 2 * len(LONG)


def test_the_bound_holds_for_answers_that_are_mostly_descriptions() -> None:
    memory = MemoryCache(MEGABYTE, 60.0, lambda: 0.0)
    tracemalloc.start()
    try:
        for number in range(200):
            memory.put("nodes", {str(number): NodeFacts(description=f"{number} {'x' * 50_000}")}, memory.sizes())
        held, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert held <= MEGABYTE
    assert memory.evicted


@pytest.mark.large
async def test_a_thousand_different_questions_leave_no_more_memory_than_the_bounds_say() -> None:
    graph = engine(" ".join(f"x:n{number} x:p x:n{number + 1} ." for number in range(100)))
    profile = Profile(snapshots=SnapshotSettings(megabytes=1))
    store = CachedStore(SparqlStore(InProcess(graph, max_bytes=1 << 26), profile), megabytes=1, ttl_seconds=1_000)
    padding = "x" * 900
    sent = 0
    async with Gateway(store, profile, PrefixMap(PREFIXES)) as gateway:
        await gateway.bfs_query(["x:n1"], 1)
        gc.collect()
        tracemalloc.start()
        try:
            for number in range(1_000):
                unknown = [f"{DOUBTFUL}{number}/{place}/{padding}" for place in range(40)]
                sent += sum(map(len, unknown))
                await gateway.bfs_query([f"x:n{number % 100}", *unknown], 1, topology_only=True)
            gc.collect()
            held, _ = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
    # 32 MB of short forms, 4 MB each of how IRIs are read and of nodes near blank ones, 1 MB each of answers.
    assert sent > 30 * MEGABYTE
    assert held < 43 * MEGABYTE
