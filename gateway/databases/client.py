"""One query to a database: sent under its flow control, and counted for the call."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol

from gateway.errors import AnswerCut
from gateway.flow.control import FlowControl
from gateway.graph.call import Call
from gateway.graph.deadline import Deadline
from gateway.telemetry.tally import QueryTimer
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


def check_whole(rows: Sequence[Row], total: int | None) -> None:
    """Check that as many rows came as the database says.

    Args:
        rows: Those that came.
        total: What it says; None if that did not come either.

    Raises:
        AnswerCut: It is another number.
    """
    if len(rows) != total:
        raise AnswerCut(
            "The rows of an answer that came are not as many as the database says, or it did not say how many.",
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


@dataclass(frozen=True, slots=True)
class Rows:
    """The rows of an answer, which a reader takes as all or as a part: a cut is not to be overlooked."""

    _rows: Sequence[Row]
    _is_cut: bool
    _limited_by: str = "limits.query_rows"

    def whole(self) -> Sequence[Row]:
        """Return the rows.

        Raises:
            AnswerCut: There are more than one query may return.
        """
        if self._is_cut:
            raise AnswerCut(
                f"The answer has more than {len(self._rows):,} rows.",
                next_step=f"Ask for fewer nodes, or set {self._limited_by} in the profile higher.",
            )
        return self._rows

    def part(self) -> tuple[Sequence[Row], bool]:
        """Return the rows that came, and whether there are more."""
        return self._rows, self._is_cut


class DatabaseClient(ABC):
    """Sends queries to one database.

    Args:
        pool: The connections.
        flow: The flow control of the database.
        query_rows: Rows that one query may return.
        alive: A query that asks something harmless; its only parameter is the number of rows.

    Attributes:
        query_rows: See above.
        flow: See above.
    """

    def __init__(self, pool: Pool, flow: FlowControl, query_rows: int, alive: str) -> None:
        self.query_rows = query_rows
        self.flow = flow
        self._pool = pool
        self._alive = alive

    @abstractmethod
    async def query(self, name: str, call: Call) -> str:
        """Return the text of a query by the name of its file.

        Raises:
            Fault: The database could not be asked for what the text depends on.
        """

    @abstractmethod
    def forget(self) -> None:
        """Look up again, with the next question, what the graph is made of."""

    async def rows(self, name: str, call: Call, *arguments: object, at_most: int | None = None) -> Rows:
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
    ) -> Rows:
        limit = self.query_rows if at_most is None else min(at_most, self.query_rows)
        rows = await self._fetched(name, query, arguments, limit + 1, call)
        call.spend_rows(len(rows))
        if len(rows) <= limit:
            return Rows(rows, False)
        call.tally.overflows += 1
        return Rows(rows[:limit], True, "limits.query_rows" if limit == self.query_rows else "limits.body_megabytes")

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
