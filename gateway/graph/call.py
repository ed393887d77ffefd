"""One tool call: its limits, its cost so far, its progress, and tasks that run beside each other for it.

Limits: docs/contract.md, "Completeness".
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field, replace

from gateway.errors import BudgetSpent
from gateway.graph.deadline import Deadline
from gateway.graph.freshness import Freshness
from gateway.graph.other_graphs import OtherGraphs
from gateway.graph.values import Iri
from gateway.telemetry.tally import Tally

Progress = Callable[[int, int, str], Awaitable[None]]
"""Receives, after each step of a call: steps done, steps in all, and what was done."""


Spend = Callable[[], None]
"""Counts one request before it is sent; raises if the call may send no more."""


def unpaid() -> None:
    """Count nothing."""


async def no_progress(_done: int, _total: int, _message: str) -> None:
    """Report nothing."""


_PROBES = 3
"""Requests that find out what an endpoint is, how it reads unusual IRIs, and what is hidden of it."""


class Party:
    """Whom slots are shared among; two are never equal."""


@dataclass(eq=False, slots=True)
class GivenTerms:
    """The IRIs that a client gives in a call, and what a policy hides of them.

    Attributes:
        iris: The IRIs: of entities, types and predicates.
        hidden_nodes: Those that are in no visible triple as its subject or object; None until that is known.
        hidden_predicates: Those that are in none at all; they are among the hidden nodes.
        finding: Held by whoever finds that out.
    """

    iris: frozenset[Iri] = frozenset()
    hidden_nodes: frozenset[Iri] | None = None
    hidden_predicates: frozenset[Iri] = frozenset()
    finding: asyncio.Lock = field(default_factory=asyncio.Lock)


@dataclass(slots=True)
class Call:
    """One tool call, passed down to all code that works for it.

    Attributes:
        deadline: The time limit of the current part of the call.
        requests: Queries that may still be sent.
        rows: Rows that may still be read.
        nodes: Nodes that a traversal may reach in all.
        probes: How often `for_probe` gives requests beside `requests`.
        retries: Whether a request is sent again after a fault that may pass.
        sent: Queries sent so far.
        tally: What the call has cost.
        progress: Receives each step of a traversal.
        party: Whom slots are shared among: the call itself, whatever copies of this object are made for its parts.
        freshness: Until when what the call has read holds.
        others: The other graphs of the server that the client may see.
        given: The IRIs that the client gives.
        call_deadline: The time limit of the whole call; `deadline` may be earlier, to reserve time for later parts.
    """

    deadline: Deadline
    requests: int
    rows: int
    nodes: int
    probes: int = field(default=0)
    retries: bool = field(default=True)
    sent: int = field(default=0)
    tally: Tally = field(default_factory=Tally)
    progress: Progress = no_progress
    party: Party = field(default_factory=Party)
    freshness: Freshness = field(default_factory=Freshness)
    others: OtherGraphs = field(default_factory=dict)
    given: GivenTerms = field(default_factory=GivenTerms)
    call_deadline: Deadline = field(init=False)

    def __post_init__(self) -> None:
        """Start with the deadline of the whole call."""
        self.call_deadline = self.deadline

    def spend_request(self) -> None:
        """Count one query, before it is sent.

        Raises:
            DeadlinePassed: No time is left.
            BudgetSpent: No request is left.
        """
        self.freshness.asked()
        self.deadline.check()
        if self.requests <= 0:
            raise _spent(f"requests ({self.sent})")
        self.requests -= 1
        self.sent += 1

    @contextmanager
    def reserving(self, *, requests: float, time: float) -> Iterator[None]:
        """Reserve a share of the remaining requests and time for the code after the block."""
        reserved, deadline = int(self.requests * requests), self.deadline
        self.requests -= reserved
        self.deadline = Deadline(deadline.at - deadline.seconds_left * time, deadline.clock)
        try:
            yield
        finally:
            self.requests += reserved
            self.deadline = deadline

    @contextmanager
    def part(self, *, requests: int, rows: int) -> Iterator[Call]:
        """Give what works beside the rest of this call a call that may spend so much of it; what is left comes back."""
        part = replace(self, requests=requests, rows=rows)
        self.requests -= requests
        self.rows -= rows
        try:
            yield part
        finally:
            self.requests += part.requests
            self.rows += part.rows
            self.sent += requests - part.requests

    def for_other_graph(self, seconds: float, requests: int) -> Call:
        """Return a call that may ask another graph so many questions in some seconds; this one has the cost.

        Before its first question ever, an endpoint may be asked how it wants to be asked.
        """
        deadline = self.deadline.within(seconds)
        return replace(
            self,
            deadline=deadline,
            requests=requests,
            probes=_PROBES,
            retries=False,
            others={},
            given=GivenTerms(),
        )

    def for_probe(self) -> Call:
        """Return the call that pays for finding out how an endpoint wants to be asked: itself, unless it has probes."""
        if not self.probes:
            return self
        self.probes -= 1
        return replace(self, requests=_PROBES, probes=0)

    def beside(self) -> Call:
        """Return a call that pays for finding out what is hidden: an answer is as whole as if nothing were."""
        return replace(self, requests=_PROBES)

    @contextmanager
    def within(self, seconds: float) -> Iterator[None]:
        """Limit the block to a number of seconds, within the remaining time."""
        deadline = self.deadline
        self.deadline = deadline.within(seconds)
        try:
            yield
        finally:
            self.deadline = deadline

    def note_cache(self, *, hits: int, misses: int) -> None:
        """Count answers about single IDs that were in a cache, and answers that were not."""
        self.tally.cache_hits += hits
        self.tally.cache_misses += misses

    def spend_rows(self, count: int) -> None:
        """Count rows that were read; the rows with which a call exceeds the limit still count as read.

        Raises:
            BudgetSpent: The limit was reached before.
        """
        if self.rows <= 0:
            raise _spent("rows")
        self.rows -= count


def _spent(what: str) -> BudgetSpent:
    return BudgetSpent(
        f"The {what} that one call may use are used up.",
        next_step="Ask for fewer seeds or hops.",
    )


@asynccontextmanager
async def together() -> AsyncIterator[asyncio.TaskGroup]:
    """Run a block and its tasks until all have ended; where one fails, stop the others and raise its error as it is."""
    try:
        async with asyncio.TaskGroup() as tasks:
            yield tasks
    except BaseExceptionGroup as errors:
        raise errors.exceptions[0] from None
