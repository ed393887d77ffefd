"""One question to the endpoint: render, spend, send, decode, count."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping, Sequence

from gateway.errors import AnswerCut
from gateway.graph.budget import Budget
from gateway.sparql import template
from gateway.sparql.results import Row, decode
from gateway.sparql.template import Parameter
from gateway.transport.base import Transport

_log = logging.getLogger(__name__)

_DECODE_IN_THREAD = 1 << 18
"""Bytes from which a body is decoded off the event loop: 100,000 rows would block it for 0.2 s (embedded.md 1)."""


class Overflow(AnswerCut):
    """There are more rows than one query may return.

    Attributes:
        rows: The rows that came; they are true, but not all.
    """

    def __init__(self, rows: Sequence[Row]) -> None:
        super().__init__("The answer has more rows than one query may return.")
        self.rows = rows


class Asker:
    """Sends templates to one endpoint."""

    def __init__(self, transport: Transport, query_rows: int) -> None:
        self._transport = transport
        self._query_rows = query_rows

    async def rows(
        self, name: str, budget: Budget, parameters: Mapping[str, Parameter], *, at_most: int | None = None
    ) -> Sequence[Row]:
        """Ask one question and return all rows of its answer.

        Args:
            name: The template.
            budget: The call's budget, which pays for it.
            parameters: The template's parameters without `rows`.
            at_most: Rows that may come; the profile's `query_rows` where not given.

        Raises:
            Overflow: There are more rows.
            Fault: The endpoint did not give a whole answer.
        """
        limit = self._query_rows if at_most is None else min(at_most, self._query_rows)
        query = template.load(name).render({**parameters, "rows": limit + 1})
        budget.spend_request()
        body = await self._transport.select(query, budget.deadline)
        rows = await asyncio.to_thread(decode, body) if len(body) > _DECODE_IN_THREAD else decode(body)
        _log.debug("%s: %d rows, %d bytes", name, len(rows), len(body))
        budget.spend_rows(len(rows))
        if len(rows) > limit:
            raise Overflow(rows[:limit])
        return rows

    async def close(self) -> None:
        """Close the transport."""
        await self._transport.close()
