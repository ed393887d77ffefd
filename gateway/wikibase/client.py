"""One request to the API of a Wikibase: wait for a turn, spend, send, count; again where the fault may pass."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from gateway.errors import DeadlinePassed, Fault, Throttled
from gateway.graph.call import Call
from gateway.graph.deadline import Deadline, deadline_passed
from gateway.settings.endpoint import EndpointSettings
from gateway.sparql.again import retrying
from gateway.sparql.breaker import Breaker, probed
from gateway.sparql.pace import Pace
from gateway.telemetry.query_timer import QueryTimer
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

_PROBE = (("action", "query"), ("meta", "siteinfo"), ("siprop", "general"), ("format", "json"))
"""The cheapest request that every MediaWiki answers."""


class ApiClient:
    """Asks one API, one request at a time, none before the end of a pause that it asked for, none while it rests."""

    def __init__(self, api: Api, endpoint: EndpointSettings, *, pace: Pace | None = None) -> None:
        """Send nothing yet.

        Args:
            api: The way to the API.
            endpoint: How often a request is sent again, and when an API that fails is left alone.
            pace: The pace of the API.
        """
        self._api = api
        self._retries = endpoint.retries
        self._pace = pace or Pace(EndpointSettings(concurrency=1))
        self._breaker = Breaker(endpoint.failures_before_rest, endpoint.rest_seconds, self._pace.clock)

    async def ask(self, name: str, fields: Sequence[Field], call: Call) -> Mapping[str, Any]:
        """Ask for something.

        Args:
            name: What is asked for, as a call's record names it.
            fields: Names and values of the parameters, but the format.
            call: The call, which pays for it.

        Returns:
            The JSON object that came; it tells no error.

        Raises:
            Fault: The API did not give an answer. Its text speaks of the API.
        """
        whole = [*fields, ("format", "json")]
        trying = retrying(self._retries, call.deadline, self._pace.sleep, pause=_PAUSE)
        try:
            async with asyncio.timeout(call.deadline.seconds_left):
                with call.tally.asking(f"api/{name}", query_of(whole)) as asking:
                    return await trying(self._once, whole, call, asking)
        except TimeoutError as error:
            raise _of_the_api(deadline_passed()) from error
        except Fault as fault:
            raise _of_the_api(fault) from None

    async def _once(self, fields: Sequence[Field], call: Call, asking: QueryTimer) -> Mapping[str, Any]:
        await self._breaker.admit(lambda: self._probe(call))
        async with self._pace.turn(call.deadline):
            call.spend_request()
            soon = call.paid_deadline.within(_SECONDS)
            try:
                with asking.sending():
                    answer = await self._api.get(fields, soon)
                    asking.came(answer.size)
            except Fault as fault:
                self._breaker.failed(fault)
                if isinstance(fault, Throttled):
                    self._pace.throttled(fault)
                raise
        self._breaker.answered()
        self._pace.answered()
        return answer.content

    async def _probe(self, call: Call) -> Fault | None:
        """Ask the API something harmless; return why it did not answer."""

        async def ask(deadline: Deadline) -> None:
            with call.tally.asking("api/siteinfo", query_of(_PROBE)) as asking, asking.sending():
                asking.came((await self._api.get(_PROBE, deadline)).size)

        return await probed(ask, call.deadline, "The Wikibase API")

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
