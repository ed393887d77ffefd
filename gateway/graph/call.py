"""The object that a call is passed down as: its time, its budget, its counters.

Limits: docs/contract.md, "Completeness".
"""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field, replace
from itertools import chain, islice
from typing import Protocol, TypeVar

from gateway.errors import BudgetSpent, DeadlinePassed, Fault
from gateway.graph.values import Iri
from gateway.telemetry.tally import Clock, Tally

Item = TypeVar("Item")

_EARLY = 0.01
"""Seconds by which a timer that was set for a deadline may come before it, and more."""

_UNCHECKED = 1_000
"""Items of a long loop between two looks at the clock: some milliseconds."""


@dataclass(frozen=True, slots=True)
class Deadline:
    """A point in time by which an answer is wanted.

    Attributes:
        at: The point, in seconds of the clock.
        clock: A monotonic clock, in seconds.
    """

    at: float
    clock: Clock = time.monotonic

    @classmethod
    def after(cls, seconds: float, clock: Clock = time.monotonic) -> Deadline:
        """Return the deadline that many seconds from now."""
        return cls(clock() + seconds, clock)

    def within(self, seconds: float) -> Deadline:
        """Return the deadline that many seconds from now, or this one where it comes first."""
        return replace(self, at=min(self.at, self.clock() + max(0.0, seconds)))

    @property
    def seconds_left(self) -> float:
        """Seconds left, never negative."""
        return max(0.0, self.at - self.clock())

    @property
    def is_over(self) -> bool:
        """Whether a timer that has just ended may be that of this deadline, and not of something shorter."""
        return self.seconds_left <= _EARLY

    def check(self) -> None:
        """Raise when the time is up.

        Raises:
            DeadlinePassed: No time is left.
        """
        if self.clock() >= self.at:
            raise deadline_passed()

    def checking(self, items: Iterable[Item], at_once: int = _UNCHECKED) -> Iterator[Item]:
        """Return an iterator over items, for a long loop that has to end when the time is up.

        Args:
            items: The items.
            at_once: Items between two looks at the clock; fewer where one item may take long.

        Raises:
            DeadlinePassed: No time is left, at the first item or at a later one.
        """
        return chain.from_iterable(self.slices(items, at_once))

    def slices(self, items: Iterable[Item], at_once: int = _UNCHECKED) -> Iterator[list[Item]]:
        """Return an iterator over items, some at a time; see `checking`, which costs more for each item."""
        iterator = iter(items)
        while some := list(islice(iterator, at_once)):
            self.check()
            yield some


NEVER = Deadline(math.inf, lambda: 0.0)
"""For work that takes no time worth a look at the clock: what is known is told even where the time is used up."""


def deadline_passed() -> DeadlinePassed:
    """Return the error that says the time of this call is up."""
    return DeadlinePassed(
        "The time of this call is used up.",
        next_step="Ask for fewer seeds or hops, or try again later.",
    )


@dataclass(eq=False, slots=True)
class Epoch:
    """The time until a store forgets all that it has.

    Attributes:
        is_over: Whether the store has forgotten it.
    """

    is_over: bool = False


@dataclass(eq=False, slots=True)
class Freshness:
    """What a call has read, and until when that holds.

    Attributes:
        is_of_stored: Whether all of it was stored; false once anything was asked of the graph.
    """

    is_of_stored: bool = True
    _until: dict[Clock, float] = field(default_factory=dict)
    _epochs: set[Epoch] = field(default_factory=set)

    def used(self, until: float, clock: Clock, epoch: Epoch) -> None:
        """Note a stored answer that expires at a time of a clock, or when its epoch is over."""
        self._until[clock] = min(until, self._until.get(clock, math.inf))
        self._epochs.add(epoch)

    def asked(self) -> None:
        """Note that something was asked of the graph, or awaited from another call that does."""
        self.is_of_stored = False

    def holds(self) -> bool:
        """Return whether all of it was stored and would be found again now."""
        return (
            self.is_of_stored
            and all(clock() < until for clock, until in self._until.items())
            and not any(epoch.is_over for epoch in self._epochs)
        )


@dataclass(frozen=True, slots=True)
class KnownIds:
    """Which of some IRIs a graph has.

    Attributes:
        ids: The ID in that graph of each IRI that it has.
        failed: IRIs about which it could not be asked, and why.
    """

    ids: Mapping[Iri, str] = field(default_factory=dict)
    failed: Mapping[Iri, Fault] = field(default_factory=dict)


class OtherGraph(Protocol):
    """Another graph of the same server."""

    async def known_ids(self, iris: Sequence[Iri], call: Call) -> KnownIds:
        """Return which IRIs are nodes there.

        Raises:
            GatewayError: The graph is not open.
            Fault: It could not be asked.
        """
        ...


OtherGraphs = Mapping[str, OtherGraph]
"""Other graphs by name: those that the client may see."""


Progress = Callable[[int, int, str], Awaitable[None]]
"""Receives, after each step of a call: steps done, steps in all, and what was done."""


Spend = Callable[[], None]
"""Counts one request before it is sent; raises if the call may send no more."""


def unpaid() -> None:
    """Count nothing."""


async def no_progress(_done: int, _total: int, _message: str) -> None:
    """Report nothing."""


_PROBES = 3
"""How often an endpoint may be asked how it wants to be asked: what it is, how it reads unusual IRIs, what is hidden of
it."""

_PROBE_REQUESTS = 8
"""Requests of each: an answer needs a proof of its end, which may first have to be found."""


class Requester:
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
        requester: Whom slots are shared among: the call itself, whatever copies of this object are made for its parts.
        freshness: Until when what the call has read holds.
        others: The other graphs of the server that the client may see.
        given: The IRIs that the client gives.
        language: The tag of the language that the caller asks for; empty for the profile's languages.
        in_every_language: Whether values are shown in all languages, each text with its tag; names are not.
        in_no_other_language: Whether values are shown in `language` alone, and those in none; names are not.
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
    requester: Requester = field(default_factory=Requester)
    freshness: Freshness = field(default_factory=Freshness)
    others: OtherGraphs = field(default_factory=dict)
    given: GivenTerms = field(default_factory=GivenTerms)
    language: str = field(default="")
    in_every_language: bool = field(default=False)
    in_no_other_language: bool = field(default=False)
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
        return replace(self, requests=_PROBE_REQUESTS, probes=0)

    def beside(self) -> Call:
        """Return a call that pays for finding out what is hidden: an answer is as whole as if nothing were."""
        return replace(self, requests=_PROBE_REQUESTS)

    @contextmanager
    def within(self, seconds: float) -> Iterator[None]:
        """Limit the block to a number of seconds, within the remaining time."""
        deadline = self.deadline
        self.deadline = deadline.within(seconds)
        try:
            yield
        finally:
            self.deadline = deadline

    @contextmanager
    def in_language(self, language: str) -> Iterator[None]:
        """Have names read in another language within the block; empty for the profile's languages."""
        asked, self.language = self.language, language
        try:
            yield
        finally:
            self.language = asked

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
