"""No call outlasts its time, in whatever stage that ends, and no answer that was cut short says otherwise."""

import asyncio
import itertools
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gateway.answers.models import Answer
from gateway.answers.page import PageNode
from gateway.answers.reference import REFERENCE
from gateway.answers.size import Window
from gateway.answers.values import NodeMetadata
from gateway.errors import DeadlinePassed
from gateway.graph.call import Deadline, Spend, deadline_passed, unpaid
from gateway.graph.values import Edge, Neighbourhood
from gateway.settings.limits import LimitSettings
from gateway.settings.profile import Profile
from gateway.terms.prefixes import PrefixMap
from gateway.tools.gateway import Gateway
from gateway.transport.inprocess import InProcess
from gateway.traversal.breadth_first import Exploration
from gateway.traversal.edge_table import EdgeTable
from gateway.traversal.topology import in_order, paths_to_seeds
from tests.examples import examples
from tests.small import ROOM, engine, over

SECONDS = 30.0
MANY = 600
STAR = engine(
    "x:u a x:U . x:hub "
    + " ; ".join(f"x:p x:n{number} ; x:q x:n{number}" for number in range(MANY))
    + " . "
    + " ".join(f"x:n{number} a x:T ; x:mentions {number % 3} ." for number in range(MANY))
)
PROFILE = Profile(size=ROOM, limits=LimitSettings(deadline_seconds=SECONDS))

CALLS: dict[str, Callable[[Gateway], Any]] = {
    "bfs_query": lambda gateway: gateway.bfs_query(["x:hub"], 1, limit=550, min_mentions=2, exclude_node_types=["x:U"]),
    "intersect_subgraphs": lambda gateway: gateway.intersect_subgraphs(["x:hub", "x:n1"], 2, via=True, limit=550),
    "describe_entities": lambda gateway: gateway.describe_entities([f"x:n{number}" for number in range(200)]),
}


class Clock:
    """A clock on which no time passes, until it has been read so many times; then all of it has passed.

    Queries of the engine are not counted: they look at it as often as the machine lets them.

    Attributes:
        reads: How often it was read.
        last: The last time that it is read in time.
    """

    def __init__(self) -> None:
        self.reads = 0
        self.last = 1 << 60

    def __call__(self) -> float:
        """Return the seconds."""
        self.reads += threading.current_thread().name != "sparql"
        return 0.0 if self.reads <= self.last else 1_000_000.0


class Session:
    """A gateway over a large star, on a loop that lasts for all examples."""

    def __init__(self, runner: asyncio.Runner) -> None:
        self.runner = runner
        self.clock = Clock()
        self.gateway = over(STAR, PROFILE, clock=self.clock)
        runner.run(self.gateway.describe_schema())
        self.whole: dict[str, tuple[int, Answer]] = {}
        for name in CALLS:
            # A call that follows one of its kind looks at the clock a few times less than one that follows another
            # kind. The fewest looks are counted, so that a share of them ends every call in time.
            for _ in range(3):
                self.call(name)
            before = self.clock.reads
            answer = self.call(name)
            self.whole[name] = (self.clock.reads - before, answer)

    def call(self, name: str, reads: int | None = None) -> Answer:
        """Make a call whose time ends after so many looks at the clock; never, where that is not given."""
        self.gateway.forget_snapshots()
        self.clock.last = 1 << 60 if reads is None else self.clock.reads + reads
        try:
            answer: Answer = self.runner.run(CALLS[name](self.gateway))
        finally:
            self.clock.last = 1 << 60
        return answer


@pytest.fixture(scope="module")
def session() -> Iterator[Session]:
    with asyncio.Runner() as runner:
        session = Session(runner)
        yield session
        runner.run(session.gateway.close())


@pytest.mark.slow
@settings(max_examples=examples(50))
@given(name=st.sampled_from(list(CALLS)), share=st.floats(0, 1))
def test_a_call_whose_time_ends_anywhere_is_an_error_or_says_what_it_lacks(
    session: Session, name: str, share: float
) -> None:
    reads, whole = session.whole[name]
    try:
        answer = session.call(name, int(share * reads))
    except DeadlinePassed:
        return
    written = answer.as_json()
    if written["complete"] and "degraded" not in written and "warnings" not in written:
        assert written == whole.as_json()


@pytest.mark.parametrize("name", CALLS)
def test_a_call_whose_time_ends_while_the_answer_is_written_is_an_error(session: Session, name: str) -> None:
    reads, _ = session.whole[name]
    with pytest.raises(DeadlinePassed, match="time of this call"):
        session.call(name, reads - 16)


# --- the long loops, each by itself ---


def ending() -> Deadline:
    """Return a deadline that passes at the third look."""
    clock = Clock()
    clock.last = 2
    return Deadline(1.0, clock)


NODES = [f"urn:{number}" for number in range(3_000)]
EXPANDED = dict.fromkeys(NODES, Neighbourhood())
EDGES = [Edge(one, "urn:p", other) for one, other in itertools.pairwise(NODES)]
TABLE = EdgeTable.of(NODES, EDGES, Deadline.after(60.0))
FOUND = Exploration([], known={edge.subject: Neighbourhood((edge,)) for edge in EDGES})


def window() -> Window:
    metadata = NodeMetadata(properties={"x:n": ["n" * 300]})
    return Window(
        [PageNode(node, node, "untyped", metadata=metadata) for node in NODES], [], [], [], REFERENCE, ending()
    )


@pytest.mark.parametrize(
    "work",
    [
        lambda: EdgeTable.of(NODES, EDGES, ending()),
        lambda: TABLE.without({NODES[0]}, ending()),
        lambda: in_order([], dict.fromkeys(NODES, 0), FOUND, PrefixMap({}), ending()),
        lambda: window().size,
        lambda: window().shrink(10, names_on_stubs=False),
        lambda: window().cut(10),
        lambda: paths_to_seeds(NODES, Exploration([dict.fromkeys(NODES, 0)]), ending()),
        lambda: paths_to_seeds([], Exploration([dict.fromkeys(NODES, 0)], known=EXPANDED), ending()),
    ],
)
def test_a_long_loop_ends_with_the_time(work: Callable[[], object]) -> None:
    with pytest.raises(DeadlinePassed):
        work()


def test_a_deadline_lets_a_loop_see_every_item_in_order_while_there_is_time() -> None:
    assert list(Deadline(1.0, lambda: 0.0).checking(iter(NODES))) == NODES
    assert list(Deadline(0.0, lambda: 0.0).checking([])) == []


# --- a graph that takes all the time it is given ---


class Slow:
    """A transport that answers some queries only when their time is over.

    Attributes:
        now: The time.
        slow: Part of the text of these queries.
    """

    def __init__(self, slow: str) -> None:
        self._inner = InProcess(STAR, max_bytes=1 << 24)
        self.now = 0.0
        self.slow = slow

    async def select(self, query: str, deadline: Deadline, spend: Spend = unpaid, /) -> bytes:
        """Run a query, or let its time pass."""
        if self.slow and self.slow in query:
            self.now = max(self.now, deadline.at)
            raise deadline_passed()
        return await self._inner.select(query, deadline, spend)

    async def close(self) -> None:
        """Let go of the engine."""
        await self._inner.close()


@pytest.mark.anyio
async def test_metadata_that_takes_all_the_time_is_reported_and_the_answer_comes() -> None:
    transport = Slow("")
    async with over(transport, PROFILE, clock=lambda: transport.now) as gateway:
        await gateway.describe_schema()
        transport.slow = "isLiteral"
        answer = await gateway.bfs_query(["x:hub"], 1, limit=10)
        assert answer.complete
        assert (len(answer.nodes), answer.node_count) == (10, MANY + 1)
        assert answer.degraded is not None
        assert answer.degraded["metadata_failed"] == 10
        assert 0 < transport.now < SECONDS


@pytest.mark.anyio
async def test_edges_that_take_all_the_time_are_reported_and_the_answer_comes_with_types() -> None:
    transport = Slow("")
    async with over(transport, PROFILE, clock=lambda: transport.now) as gateway:
        await gateway.describe_schema()
        transport.slow = ":n17 "
        answer = await gateway.bfs_query(["x:hub"], 2, limit=10, topology_only=True)
        assert {gap.cause for gap in answer.incomplete or ()} >= {"deadline"}
        assert answer.node_count == MANY + 1
        assert 0 < transport.now < SECONDS
