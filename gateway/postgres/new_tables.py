"""Makes the tables of a graph that is loaded, in one transaction."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from typing import Any

import asyncpg

from gateway.graph.deadline import Deadline
from gateway.postgres.connection import Address, connected
from gateway.postgres.loading_faults import loading_fault_of
from gateway.postgres.quoting import identifier
from gateway.postgres.sql import filled
from gateway.settings.postgres import PostgresSettings

_log = logging.getLogger(__name__)

_UNBOUNDED = 1 << 40
"""Seconds: a load takes as long as it takes."""


class _UndoneError(Exception):
    """Ends a transaction that was only tried."""


@dataclass(frozen=True, slots=True)
class NewTables:
    """The tables that a graph is loaded into.

    Attributes:
        address: The database; its user may create tables.
        names: The names of the tables.
    """

    address: Address
    names: PostgresSettings

    @asynccontextmanager
    async def made(self, *, replace: bool = False) -> AsyncIterator[Any]:
        """Begin a transaction and make the tables; the block may write to them, and what it raises undoes all.

        Args:
            replace: Whether tables of these names are removed first.

        Raises:
            Fault: The database could not be asked; then nothing is changed.
            ConfigurationError: The tables are there already, or cannot be made there.
        """
        try:
            async with connected(self.address) as connection, connection.transaction():
                if replace:
                    await connection.execute(self._sql("drop"))
                await connection.execute(self._sql("create"))
                yield connection
        except (OSError, asyncpg.PostgresError, asyncpg.InterfaceError, asyncpg.InternalClientError) as error:
            # Its text may hold data of the graph.
            raise loading_fault_of(error, Deadline.after(_UNBOUNDED)) from None

    async def check(self, *, replace: bool = False) -> None:
        """Find at once what would refuse the tables: make them, and undo it; see `made`."""
        with suppress(_UndoneError):
            async with self.made(replace=replace):
                raise _UndoneError

    async def index(self, connection: Any) -> None:
        """Make the indexes, and the one for parts of names if the database has the extension for it."""
        await connection.execute(self._sql("index"))
        try:
            async with connection.transaction():
                await connection.execute(self._sql("trigrams"))
        except asyncpg.PostgresError as error:
            _log.warning("no trigram index was made (SQLSTATE %s): searches compare all names", error.sqlstate)

    def _sql(self, name: str) -> str:
        names = self.names
        return filled(
            f"load/{name}",
            nodes=identifier(names.nodes.table),
            edges=identifier(names.edges.table),
            evidence=identifier(names.evidence.table),
        )
