"""When the schema is read, and for how long it is believed."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import cast

import pytest

from gateway.engine.book import SchemaBook
from gateway.errors import BudgetSpent, EndpointFault, Fault, NetworkFault
from gateway.graph.budget import Budget, Deadline, deadline_passed
from gateway.graph.store import GraphStore
from gateway.graph.values import Schema, Term
from gateway.settings.profile import Limits, Profile
from gateway.terms.prefixes import PrefixMap
from tests.engine.small import PREFIXES, ROOM, Watched, X, engine, over

EXACT = Schema((Term(f"{X}T", 3, "thing"),), (Term(f"{X}p", 2),), exact=True, version="1")
PARTIAL = Schema((Term(f"{X}T", 3),), (), exact=False, reason="too large", version="2")
HOUR = 3600.0

pytestmark = pytest.mark.anyio


async def at_once() -> None:
    """Wait for nothing."""


@dataclass
class Schemas:
    """A store that knows nothing but its schema; each reading is counted."""

    answer: Schema | Fault
    before: Callable[[], Awaitable[None]] = at_once
    budgets: list[Budget] = field(default_factory=list)
    asked: asyncio.Event = field(default_factory=asyncio.Event)

    async def schema(self, budget: Budget) -> Schema:
        """Return the schema, or raise."""
        self.budgets.append(budget)
        self.asked.set()
        await self.before()
        if isinstance(self.answer, Fault):
            raise self.answer
        return self.answer


@dataclass
class Shelf:
    """A book on a clock that a test turns."""

    store: Schemas
    limits: Limits = field(default_factory=Limits)
    now: float = 1_000.0

    def __post_init__(self) -> None:
        """Open the book."""
        profile = Profile(limits=self.limits)
        self.book = SchemaBook(cast("GraphStore", self.store), profile, PrefixMap(PREFIXES))

    def budget(self, seconds: float = 30.0) -> Budget:
        """Return the budget of one call."""
        return Budget(Deadline.after(seconds, lambda: self.now), 200, 500_000, 200_000)

    async def read(self, seconds: float = 30.0) -> Schema:
        """Ask for the schema as a call does."""
        return (await self.book.known(self.budget(seconds))).schema

    @property
    def readings(self) -> int:
        """How often the store was asked."""
        return len(self.store.budgets)


@pytest.mark.parametrize("schema", [EXACT, PARTIAL], ids=["exact", "partial"])
async def test_a_schema_that_was_read_lasts_for_its_hours(schema: Schema) -> None:
    shelf = Shelf(Schemas(schema), Limits(schema_hours=2.0))
    assert await shelf.read() == schema
    shelf.now += 2 * HOUR - 1
    assert await shelf.read() == schema
    assert shelf.readings == 1
    shelf.now += 2
    assert await shelf.read() == schema
    assert shelf.readings == 2


@pytest.mark.parametrize(
    "fault", [EndpointFault("Down."), NetworkFault("Away."), deadline_passed(), BudgetSpent("Spent.")]
)
async def test_a_schema_that_could_not_be_read_is_not_asked_for_again_for_a_minute(fault: Fault) -> None:
    shelf = Shelf(Schemas(fault))
    known = await shelf.book.known(shelf.budget())
    assert known.fault is fault
    assert known.schema == Schema(reason=fault.wrong)
    shelf.now += 59
    await shelf.read()
    assert shelf.readings == 1
    shelf.store.answer = EXACT
    shelf.now += 2
    again = await shelf.book.known(shelf.budget())
    assert shelf.readings == 2
    assert again.fault is None
    assert again.schema == EXACT


async def test_an_empty_schema_after_a_failure_refuses_no_filter() -> None:
    shelf = Shelf(Schemas(EndpointFault("Down.")))
    known = await shelf.book.known(shelf.budget())
    chosen = known.types.choose("node_types", ["Drug"])
    assert chosen.iris == frozenset()
    assert len(chosen.warnings) == 1


async def test_concurrent_first_calls_read_it_once() -> None:
    go_on = asyncio.Event()
    store = Schemas(EXACT, before=lambda: _wait(go_on))
    shelf = Shelf(store)
    calls = [asyncio.create_task(shelf.read()) for _ in range(20)]
    await store.asked.wait()
    go_on.set()
    assert await asyncio.gather(*calls) == [EXACT] * 20
    assert shelf.readings == 1


async def _wait(event: asyncio.Event) -> None:
    await event.wait()


async def test_a_first_call_that_is_cancelled_leaves_the_reading_to_the_next() -> None:
    forever = asyncio.Event()
    store = Schemas(EXACT, before=lambda: _wait(forever))
    shelf = Shelf(store)
    first, second = asyncio.create_task(shelf.read()), asyncio.create_task(shelf.read())
    await store.asked.wait()
    store.before = at_once
    first.cancel()
    assert await second == EXACT
    assert shelf.readings == 2
    assert first.cancelled()


async def test_the_reading_has_an_allowance_of_its_own() -> None:
    shelf = Shelf(Schemas(EXACT), Limits(schema_seconds=7.0, scan_rows=123))
    budget = shelf.budget()
    await shelf.book.known(budget)
    (allowance,) = shelf.store.budgets
    assert (budget.requests, budget.rows, budget.sent) == (200, 500_000, 0)
    assert allowance is not budget
    assert allowance.deadline.seconds_left == 7.0


async def test_the_reading_takes_no_longer_than_the_call_has_left() -> None:
    shelf = Shelf(Schemas(EXACT), Limits(schema_seconds=7.0))
    await shelf.read(seconds=3.0)
    assert shelf.store.budgets[0].deadline.seconds_left == 3.0


async def test_a_gateway_reads_its_schema_once_for_all_tools() -> None:
    scans: list[str] = []

    async def hook(query: str) -> None:
        if "GROUP BY" in query:
            scans.append(query)

    async with over(Watched(engine("x:a a x:T ; x:p x:b ; rdfs:label 'A' ."), hook)) as gateway:
        await asyncio.gather(
            gateway.describe_schema(),
            gateway.bfs_query(["x:a"], 1),
            gateway.describe_entity("x:a"),
            gateway.describe_entities(["x:a", "x:b"]),
            gateway.search_entities("A"),
            gateway.intersect_subgraphs(["x:a", "x:b"], 1),
        )
    assert len(scans) == 2


async def test_tools_work_while_the_schema_cannot_be_read_and_describe_schema_says_so() -> None:
    async def hook(query: str) -> None:
        if "GROUP BY" in query:
            raise EndpointFault("No aggregates here.")

    async with over(Watched(engine("x:a a x:T ; x:p x:b ."), hook)) as gateway:
        answer = await gateway.bfs_query(["x:a"], 1, node_types=["T"])
        with pytest.raises(EndpointFault, match="No aggregates"):
            await gateway.describe_schema()
    assert answer.complete is True
    assert [node.entity_type for node in answer.nodes] == ["x:T", "untyped"]
    assert answer.nodes[0].metadata == {}
    assert answer.nodes[1].metadata is None


async def test_a_graph_that_is_too_large_to_enumerate_has_a_schema_that_says_so() -> None:
    turtle = " ".join(f"x:a{number} a x:T{number} ; x:p{number} x:b ." for number in range(5))
    async with over(turtle, Profile(size=ROOM, limits=Limits(scan_rows=3))) as gateway:
        schema = await gateway.describe_schema()
    assert schema.comprehensive is False
    assert schema.warnings is not None
    assert schema.entity_types
    assert schema.predicates
