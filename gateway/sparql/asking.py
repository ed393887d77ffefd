"""One question to the endpoint: render, spend, send, decode, count."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence

from gateway.errors import AnswerCut, Fault, QueryRefused
from gateway.graph.budget import Budget
from gateway.sparql import template
from gateway.sparql.results import Row, decode
from gateway.sparql.template import Parameter
from gateway.terms.iri import may_be_rewritten
from gateway.transport.base import Transport

_log = logging.getLogger(__name__)

_DECODE_IN_THREAD = 1 << 18
"""Bytes from which a body is decoded off the event loop: 100,000 rows would block it for 0.2 s (embedded.md 1)."""


_ECHOED = 200
"""IRIs in one query that asks how the engine reads them."""


class Overflow(AnswerCut):
    """There are more rows than one query may return.

    Attributes:
        rows: The rows that came; they are true, but not all.
    """

    def __init__(self, rows: Sequence[Row]) -> None:
        super().__init__(
            "The answer has more rows than one query may return.", next_step="Ask for fewer entities at once."
        )
        self.rows = rows


class Asker:
    """Sends templates to one endpoint."""

    def __init__(self, transport: Transport, query_rows: int) -> None:
        self._transport = transport
        self._query_rows = query_rows
        self._kept_as_is: dict[str, bool] = {}

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
        text = template.load(name)
        query = text.render({**parameters, "rows": limit + 1})
        budget.spend_request()
        body = await self._transport.select(query, budget.deadline)
        large = len(body) > _DECODE_IN_THREAD
        rows = await asyncio.to_thread(decode, body, text.variables) if large else decode(body, text.variables)
        _log.debug("%s: %d rows, %d bytes", name, len(rows), len(body))
        budget.spend_rows(len(rows))
        if len(rows) > limit:
            raise Overflow(rows[:limit])
        return rows

    def vetting(self, budget: Budget) -> Callable[[Iterable[str]], Awaitable[Mapping[str, Fault]]]:
        """Return `rewritten` on a call's budget."""
        return lambda iris: self.rewritten(iris, budget)

    async def rewritten(self, iris: Iterable[str], budget: Budget) -> Mapping[str, Fault]:
        """Return those of the IRIs that the endpoint reads as others, or could not be asked about, and why.

        Only IRIs that some engine may rewrite are asked about, each once.
        """
        doubtful = [iri for iri in dict.fromkeys(iris) if may_be_rewritten(iri)]
        new = [iri for iri in doubtful if iri not in self._kept_as_is]
        size = min(_ECHOED, self._query_rows)
        faults: dict[str, Fault] = {}
        for start in range(0, len(new), size):
            faults |= await self._echo(new[start : start + size], budget)
        rewriting = QueryRefused("The endpoint reads an IRI of the graph as another one, so it cannot be asked for.")
        return faults | {iri: rewriting for iri in doubtful if self._kept_as_is.get(iri) is False}

    async def _echo(self, iris: Sequence[str], budget: Budget) -> dict[str, Fault]:
        """Learn how the endpoint reads some IRIs; return those about which that could not be learnt, and why."""
        try:
            rows = await self.rows("echo", budget, {"nodes": iris})
        except QueryRefused as refused:
            # One that the engine refuses must not leave the others of its batch unasked.
            if len(iris) == 1:
                return {iris[0]: refused}
            middle = len(iris) // 2
            return {**await self._echo(iris[:middle], budget), **await self._echo(iris[middle:], budget)}
        except Fault as fault:
            return dict.fromkeys(iris, fault)
        echoed = {row["n"]["value"] for row in rows if "n" in row}
        self._kept_as_is |= {iri: iri in echoed for iri in iris}
        return {}

    async def close(self) -> None:
        """Close the transport."""
        await self._transport.close()
