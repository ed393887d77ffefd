"""Types of nodes, fetched while the last answers about edges are still on their way.

A far endpoint answers the last hop in several parts. Waiting for all of them before the first question about types
would leave the connections idle that have answered already.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Mapping, Sequence
from contextlib import asynccontextmanager

from gateway.errors import BudgetSpent, DeadlinePassed
from gateway.graph.values import Iri, Neighbourhood, NodeFacts

Ask = Callable[[Sequence[Iri]], Awaitable[Mapping[Iri, NodeFacts]]]


class FactsPrefetch:
    """Fetches types as nodes become known, in batches worth a query; no node twice without need."""

    def __init__(self, ask: Ask, enough: int) -> None:
        self._ask = ask
        self._enough = enough
        self._waiting: dict[Iri, None] = {}
        self._sent: set[Iri] = set()
        self._asked: list[asyncio.Task[Mapping[Iri, NodeFacts]]] = []

    def add(self, part: Mapping[Iri, Neighbourhood]) -> None:
        """Add the nodes in a part of an answer; ask about them once there are enough."""
        for neighbourhood in part.values():
            self._waiting |= dict.fromkeys(node for node in neighbourhood.ends if node not in self._sent)
        if len(self._waiting) >= self._enough:
            self._send(list(self._waiting))
            self._waiting = {}

    def _send(self, nodes: Sequence[Iri]) -> None:
        self._sent.update(nodes)
        self._asked.append(asyncio.ensure_future(self._ask(nodes)))

    async def facts(self, nodes: Collection[Iri]) -> Mapping[Iri, NodeFacts]:
        """Return the facts of some nodes: what was asked for ahead, and the rest."""
        rest = [node for node in nodes if node not in self._sent]
        if rest:
            self._send(rest)
        found: dict[Iri, NodeFacts] = {}
        for answers in await asyncio.gather(*self._asked):
            found |= answers
        # What was asked ahead could spend no more than expansion may; now there is what was reserved for facts.
        again = [node for node in nodes if isinstance(found[node].mark.fault, BudgetSpent | DeadlinePassed)]
        if again:
            found |= await self._ask(again)
        return {node: found[node] for node in nodes}

    async def close(self) -> None:
        """Give up what is still being asked."""
        for task in self._asked:
            task.cancel()
        if self._asked:
            await asyncio.wait(self._asked)


@asynccontextmanager
async def prefetching(ask: Ask, enough: int) -> AsyncIterator[FactsPrefetch]:
    """Ask about nodes as they become known; nothing is under way after the block."""
    ahead = FactsPrefetch(ask, enough)
    try:
        yield ahead
    finally:
        await ahead.close()
