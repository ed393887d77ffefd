"""One request to the API of a Wikibase: wait for a turn, spend, send, count; again where the fault may pass."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from gateway.errors import DeadlinePassed, Fault, Throttled
from gateway.graph.budget import Budget, Deadline, deadline_passed
from gateway.settings.endpoint import Endpoint
from gateway.sparql.again import retrying
from gateway.sparql.pace import Pace
from gateway.telemetry import Asking
from gateway.transport.wikibase_api import ApiAnswer, query_of

Field = tuple[str, str]


class Api(Protocol):
    """A way to the API of a Wikibase; see `gateway.transport.wikibase_api`."""

    async def get(self, fields: Sequence[Field], deadline: Deadline) -> ApiAnswer:
        """Ask for something."""
        ...

    async def close(self) -> None:
        """Let go of connections."""
        ...


_SECONDS = 10.0
"""Time for one answer: a search usually takes less than one, and what is left of a call's time is for the graph."""


_PAUSE = 0.5
"""Seconds before a request is sent again, at first."""


class ApiAsker:
    """Asks one API, one request at a time, and none before the end of a pause that it asked for."""

    def __init__(self, api: Api, *, retries: int, pace: Pace | None = None) -> None:
        self._api = api
        self._retries = retries
        self._pace = pace or Pace(Endpoint(concurrency=1))

    async def ask(self, name: str, fields: Sequence[Field], budget: Budget) -> Mapping[str, Any]:
        """Ask for something.

        Args:
            name: What is asked for, as a call's record names it.
            fields: Names and values of the parameters, but the format.
            budget: The call's budget, which pays for it.

        Returns:
            The JSON object that came; it tells no error.

        Raises:
            Fault: The API did not give an answer. Its text speaks of the API.
        """
        whole = [*fields, ("format", "json")]
        trying = retrying(self._retries, budget.deadline, self._pace.sleep, pause=_PAUSE)
        try:
            async with asyncio.timeout(budget.deadline.seconds_left):
                with budget.tally.asking(f"api/{name}", query_of(whole)) as asking:
                    return await trying(self._once, whole, budget, asking)
        except TimeoutError as error:
            raise _of_the_api(deadline_passed()) from error
        except Fault as fault:
            raise _of_the_api(fault) from None

    async def _once(self, fields: Sequence[Field], budget: Budget, asking: Asking) -> Mapping[str, Any]:
        async with self._pace.turn(budget.deadline):
            budget.spend_request()
            deadline = budget.deadline
            soon = Deadline(min(deadline.at, deadline.clock() + _SECONDS), deadline.clock, budget.spend_request)
            try:
                with asking.sending():
                    answer = await self._api.get(fields, soon)
                    asking.came(answer.size)
            except Throttled as fault:
                self._pace.throttled(fault)
                raise
        self._pace.answered()
        return answer.content

    async def close(self) -> None:
        """Let go of connections."""
        await self._api.close()


def _of_the_api(fault: Fault) -> Fault:
    """Return a fault, some of which come from parts that all transports share, as one that speaks of the API."""
    if isinstance(fault, DeadlinePassed):
        return DeadlinePassed("The Wikibase API did not answer in time.", next_step="Try again later.")
    wrong, next_step = (
        text.replace("The endpoint", "The Wikibase API").replace("the endpoint", "the Wikibase API")
        for text in (fault.wrong, fault.next_step)
    )
    if isinstance(fault, Throttled):
        return Throttled(wrong, next_step=next_step, retry_after=fault.retry_after)
    return type(fault)(wrong, valid=fault.valid, next_step=next_step)
