"""One query to the database: sent under its flow control, and counted for the call."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from sys import getsizeof

from gateway.errors import AnswerCut, ConfigurationError, EndpointFault
from gateway.flow.control import FlowControl
from gateway.graph.call import Call
from gateway.graph.deadline import Deadline
from gateway.postgres.connection import Pool, Row
from gateway.postgres.identifiers import identifier
from gateway.postgres.sql import load
from gateway.postgres.tables import Tables, names_of_tables, tables_of
from gateway.settings.postgres import PostgresSettings
from gateway.telemetry.tally import QueryTimer

_COLUMNS = 2_000
"""Columns of a table; PostgreSQL allows 1,600."""

_RECENT_SECONDS = 5.0
"""A database that answered within so many seconds is reachable without being asked."""


@dataclass(frozen=True, slots=True)
class Rows:
    """The rows of an answer, which a reader takes as all or as a part: a cut is not to be overlooked."""

    _rows: Sequence[Row]
    _is_cut: bool

    def whole(self) -> Sequence[Row]:
        """Return the rows.

        Raises:
            AnswerCut: There are more than one query may return.
        """
        if self._is_cut:
            raise AnswerCut(
                f"The answer has more than {len(self._rows):,} rows.",
                next_step="Ask for fewer nodes, or set limits.query_rows in the profile higher.",
            )
        return self._rows

    def part(self) -> tuple[Sequence[Row], bool]:
        """Return the rows that came, and whether there are more."""
        return self._rows, self._is_cut


class PostgresClient:
    """Sends the queries of `queries/postgres/` to one database.

    Attributes:
        query_rows: Rows that one query may return.
        flow: The flow control of the database.
    """

    def __init__(self, pool: Pool, settings: PostgresSettings, flow: FlowControl, query_rows: int) -> None:
        self.query_rows = query_rows
        self.flow = flow
        self._pool = pool
        self._settings = settings
        self._tables: Tables | None = None

    async def tables(self, call: Call) -> Tables:
        """Return the tables of the graph, which are looked up once.

        Raises:
            Fault: The database could not be asked, or lacks a table or column that the profile names.
        """
        if self._tables is None:
            found = {}
            for name in names_of_tables(self._settings):
                rows = await self._fetched("columns", load("columns"), [identifier(name)], _COLUMNS, call)
                found[name] = {str(column): str(kind) for column, kind in rows}
            try:
                self._tables = tables_of(self._settings, found)
            except ConfigurationError as error:
                raise EndpointFault(error.wrong, valid=error.valid, next_step=error.next_step) from error
        return self._tables

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
        tables = await self.tables(call)
        return await self._answer(name, tables.query(name), arguments, at_most, call)

    async def evidence(self, call: Call, *arguments: object) -> Rows:
        """Ask for rows of evidence; see `rows`."""
        tables = await self.tables(call)
        return await self._answer("evidence", tables.evidence, arguments, None, call)

    async def _answer(
        self, name: str, query: str, arguments: Sequence[object], at_most: int | None, call: Call
    ) -> Rows:
        limit = self.query_rows if at_most is None else min(at_most, self.query_rows)
        rows = await self._fetched(name, query, arguments, limit + 1, call)
        call.spend_rows(len(rows))
        if len(rows) <= limit:
            return Rows(rows, False)
        call.tally.overflows += 1
        return Rows(rows[:limit], True)

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
            timer.received(sum(map(getsizeof, rows)))
            timer.decoded(len(rows))
        return rows

    async def _probe(self, deadline: Deadline) -> None:
        await self._pool.fetch(load("alive"), [1], deadline)

    async def check_reachable(self, deadline: Deadline) -> None:
        """Ask something harmless, unless the database has just answered; see `GraphStore.check_reachable`."""
        if self.flow.seconds_since_answer >= _RECENT_SECONDS:
            await self._probe(deadline)
            self.flow.answered()

    async def close(self) -> None:
        """Close the connections."""
        await self._pool.close()
