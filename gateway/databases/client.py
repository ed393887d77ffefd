"""A query to a database, in batches, and who reads what by it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from functools import partial
from typing import Any, Generic, Protocol, TypeVar

from gateway.databases.terms import IriMapping
from gateway.errors import AnswerCut, BrokenAnswer, Fault
from gateway.flow.control import FlowControl
from gateway.graph.call import Call, Deadline, together
from gateway.graph.reading import ReceivedRows
from gateway.graph.values import Mark
from gateway.settings.profile import Profile
from gateway.telemetry.tally import Clock, QueryTimer
from gateway.terms.literals import Literal

_RECENT_SECONDS = 5.0
"""A database that answered within so many seconds is reachable without being asked."""

_NUMBER = 8
"""Bytes of a number, a truth value or a null."""

Row = Sequence[Any]
"""A row, whose values a reader checks by their types."""


_TEXTS = frozenset[type]({str, type(None)})
_NUMBERS = frozenset[type]({int, float, bool, type(None)})


def _size_of(rows: Sequence[Row]) -> int:
    """Return about how many bytes rows had on their way: drivers do not say."""
    return sum(map(_size_of_column, zip(*rows, strict=True)))


def _size_of_column(values: Collection[Any]) -> int:
    # Most columns are of texts or of numbers alone, and a large answer has tens of thousands of these.
    kinds = {*map(type, values)}
    if kinds <= _TEXTS:
        texts = [*filter(None, values)]
        return sum(map(len, texts)) + _NUMBER * (len(values) - len(texts))
    if kinds <= _NUMBERS:
        return _NUMBER * len(values)
    return sum(map(_size_of_value, values))


def _size_of_value(value: Any) -> int:
    match value:
        case str():
            return len(value)
        case Literal():
            return len(value.value)
        case Mapping():
            return _size_of_column(value.keys()) + _size_of_column(value.values())
        case list() | tuple():
            return _size_of_column(value)
    return _NUMBER


def only_row(rows: Sequence[Row]) -> Row:
    """Return the row of a query that counts, which has one.

    Raises:
        BrokenAnswer: It has none, or several.
    """
    if len(rows) != 1:
        raise BrokenAnswer("The database sent no count.", next_step="Try again.")
    return rows[0]


def check_whole(rows: Sequence[Row], total: int | None) -> None:
    """Check that as many rows came as the database says, each as wide as the others.

    Args:
        rows: Those that came.
        total: What it says; None if that did not come either.

    Raises:
        AnswerCut: It is another number, or a row is shorter than another one.
    """
    if len(rows) != total or len({*map(len, rows)}) > 1:
        raise AnswerCut(
            "The rows of an answer that came are not as many as the database says, or not all alike, or it did not say "
            "how many.",
            next_step="The operator of this gateway should look at what stands between it and the database.",
        )


class Pool(Protocol):
    """Connections to one database."""

    async def fetch(self, query: str, arguments: Sequence[object], deadline: Deadline) -> Sequence[Row]:
        """Return the rows of a query.

        Args:
            query: The query.
            arguments: Its parameters; the last one is the number of rows that may come.
            deadline: When the answer must be there.

        Raises:
            Fault: They did not all come.
        """
        ...

    async def close(self) -> None:
        """Close all connections."""
        ...


DatabaseRows = ReceivedRows[Sequence[Row]]
"""The rows of one answer."""


class DatabaseClient(ABC):
    """Sends queries to one database.

    Args:
        pool: The connections.
        profile: The profile.
        ids: The IRIs of IDs.
        terms: The IRIs of types, predicates and names of properties.
        alive: A query that asks something harmless; its only parameter is the number of rows.
        clock: A monotonic clock, in seconds.

    Attributes:
        query_rows: Rows that one query may return.
        flow: The flow control of the database.
    """

    def __init__(
        self, pool: Pool, profile: Profile, ids: IriMapping, terms: IriMapping, *, alive: str, clock: Clock
    ) -> None:
        self.profile, self.ids, self.terms, self.clock = profile, ids, terms, clock
        self.query_rows = profile.limits.query_rows
        self.flow = FlowControl(profile.endpoint.requests, server="the database", clock=clock)
        self._pool = pool
        self._alive = alive

    @abstractmethod
    async def query(self, name: str, call: Call) -> str:
        """Return the text of a query by the name of its file.

        Raises:
            Fault: The database could not be asked for what the text depends on.
        """

    async def leaves_out(self, call: Call) -> bool:  # noqa: ARG002 - most databases have all that there is
        """Return whether edges are known that the database does not have, so that queries ask for their number.

        Raises:
            Fault: The database could not be asked for that.
        """
        return False

    @abstractmethod
    def forget(self) -> None:
        """Look up again, with the next question, what the graph is made of."""

    async def rows(self, name: str, call: Call, *arguments: object, at_most: int | None = None) -> DatabaseRows:
        """Ask one question.

        Args:
            name: The query; its last parameter is the number of rows.
            call: The call, which pays for it.
            arguments: The other parameters.
            at_most: Rows that may come; the profile's `query_rows` where not given.

        Raises:
            Fault: The database did not give all rows, or so many.
        """
        return await self._answer(name, await self.query(name, call), arguments, at_most, call)

    async def _answer(
        self, name: str, query: str, arguments: Sequence[object], at_most: int | None, call: Call
    ) -> DatabaseRows:
        limit = self.query_rows if at_most is None else min(at_most, self.query_rows)
        rows = await self._fetched(name, query, arguments, limit + 1, call)
        call.spend_rows(len(rows))
        if len(rows) <= limit:
            return DatabaseRows(rows)
        call.tally.overflows += 1
        limited_by = "limits.query_rows" if limit == self.query_rows else "limits.body_megabytes"
        missing = AnswerCut(
            f"The answer has more than {limit:,} rows.",
            next_step=f"Ask for fewer nodes, or set {limited_by} in the profile higher.",
        )
        return DatabaseRows(rows[:limit], missing)

    async def _fetched(
        self, name: str, query: str, arguments: Sequence[object], limit: int, call: Call
    ) -> Sequence[Row]:
        with call.tally.query_timer(name, query) as timer:
            return await self.flow.run(
                call, partial(self._sent, query, [*arguments, limit], call.deadline, timer), self._probe
            )

    async def _sent(
        self, query: str, arguments: Sequence[object], deadline: Deadline, timer: QueryTimer
    ) -> Sequence[Row]:
        with timer.sending():
            async with self.flow.sending(deadline):
                rows = await self._pool.fetch(query, arguments, deadline)
            timer.received(_size_of(rows))
            timer.decoded(len(rows))
        return rows

    async def _probe(self, deadline: Deadline) -> None:
        await self._pool.fetch(self._alive, [1], deadline)

    async def check_reachable(self, deadline: Deadline) -> None:
        """Ask something harmless, unless the database has just answered; see `GraphStore.check_reachable`."""
        if self.flow.seconds_since_answer >= _RECENT_SECONDS:
            await self._probe(deadline)
            self.flow.answered()

    async def close(self) -> None:
        """Close the connections."""
        await self._pool.close()


class DatabaseReader:
    """Reads something of one graph."""

    def __init__(self, client: DatabaseClient) -> None:
        self._client = client
        self._profile = client.profile
        self._ids = client.ids
        self._terms = client.terms


Key = TypeVar("Key")
Answer = TypeVar("Answer")

Ask = Callable[[Sequence[Key]], Awaitable[Mapping[Key, Answer]]]
"""Asks about one batch; raises a fault that is `smaller` if it is to be asked again in parts."""


async def in_batches(
    keys: Sequence[Key], size: int, call: Call, ask: Ask[Key, Answer], kind: Callable[..., Answer]
) -> dict[Key, Answer]:
    """Return the answer about each key.

    Args:
        keys: The keys.
        size: Keys in one question.
        call: The call that asks.
        ask: Asks one question.
        kind: The type of the answers, of which one that a fault has prevented has only a mark.
    """
    distinct = list(dict.fromkeys(keys))
    async with together() as tasks:
        running = [
            tasks.create_task(_ask_in_parts(distinct[start : start + size], call, ask, kind))
            for start in range(0, len(distinct), size)
        ]
    return {key: answer for task in running for key, answer in task.result().items()}


async def _ask_in_parts(
    batch: Sequence[Key], call: Call, ask: Ask[Key, Answer], kind: Callable[..., Answer]
) -> Mapping[Key, Answer]:
    try:
        return await ask(batch)
    except Fault as fault:
        if not fault.smaller or len(batch) == 1:
            return dict.fromkeys(batch, kind(mark=Mark(fault)))
    call.tally.splits += 1
    middle = len(batch) // 2
    first = await _ask_in_parts(batch[:middle], call, ask, kind)
    return {**first, **await _ask_in_parts(batch[middle:], call, ask, kind)}


Found = TypeVar("Found")


class Remembered(Generic[Found]):
    """One thing that is looked up and stored for some time.

    Args:
        seconds: How long it is used.
        clock: A monotonic clock, in seconds.
    """

    def __init__(self, seconds: float, clock: Clock) -> None:
        self._seconds = seconds
        self._clock = clock
        self._stored: tuple[Found, float] | None = None
        self._forgotten = 0

    async def found(self, look_up: Callable[[], Awaitable[Found]]) -> Found:
        """Return what was found, looked up again where that was too long ago or has been forgotten."""
        began = self._clock()
        if self._stored is not None and began < self._stored[1]:
            return self._stored[0]
        forgotten = self._forgotten
        found = await look_up()
        # Between question and answer it may have changed, which is why somebody said to forget it.
        if forgotten == self._forgotten:
            self._stored = found, began + self._seconds
        return found

    def forget(self) -> None:
        """Look it up again with the next question, also where a look-up is under way."""
        self._stored = None
        self._forgotten += 1
