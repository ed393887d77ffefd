"""Requests to the API of a Wikibase, under its flow control."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Protocol

import anyio

from gateway.errors import DeadlinePassed, Fault, Throttled
from gateway.flow.control import FlowControl
from gateway.flow.quota import Sleep
from gateway.graph.call import Call, Spend, unpaid
from gateway.graph.deadline import Clock, Deadline
from gateway.settings.endpoint import RequestSettings
from gateway.telemetry.tally import QueryTimer
from gateway.transport.wikibase_api import ApiAnswer, query_of

Field = tuple[str, str]


class Api(Protocol):
    """A way to the API of a Wikibase; see `gateway.transport.wikibase_api`."""

    async def get(self, fields: Sequence[Field], deadline: Deadline, spend: Spend, /) -> ApiAnswer:
        """Send a request and return its answer."""
        ...

    async def close(self) -> None:
        """Close the connections."""
        ...


_SECONDS = 10.0
"""Time for one answer: a search usually takes less than one, and what is left of a call's time is for the graph."""

_FIRST_PAUSE = 0.5
"""Seconds before a request is sent again, at first."""

_PROBE = (("action", "query"), ("meta", "siteinfo"), ("siprop", "general"), ("format", "json"))
"""The cheapest request that every MediaWiki answers."""


def api_flow(requests: RequestSettings, *, clock: Clock = time.monotonic, sleep: Sleep = anyio.sleep) -> FlowControl:
    """Return the flow control of an API: one request at a time, and the endpoint's setting for retries."""
    settings = RequestSettings(concurrency=1, retries=requests.retries)
    return FlowControl(settings, server="The Wikibase API", first_pause=_FIRST_PAUSE, clock=clock, sleep=sleep)


class ApiClient:
    """Sends requests to one API under its flow control."""

    def __init__(self, api: Api, flow: FlowControl) -> None:
        self._api = api
        self._flow = flow

    async def ask(self, name: str, fields: Sequence[Field], call: Call) -> Mapping[str, Any]:
        """Send a request and return the JSON object that came; it has no `error`.

        Args:
            name: What is asked for, as a call's record names it.
            fields: Names and values of the parameters, but the format.
            call: The call, which pays for it.

        Raises:
            Fault: The API did not give an answer. Its text speaks of the API.
        """
        whole = [*fields, ("format", "json")]
        try:
            with call.tally.query_timer(f"api/{name}", query_of(whole)) as timer:
                send = partial(self._answer, whole, call, timer)
                return (await self._flow.run(call, send, partial(self._probe, call))).content
        except Fault as fault:
            raise _of_the_api(fault) from None

    async def _answer(self, fields: Sequence[Field], call: Call, timer: QueryTimer) -> ApiAnswer:
        deadline = call.deadline.within(_SECONDS)
        with timer.sending():
            async with self._flow.sending(deadline):
                answer = await self._api.get(fields, deadline, call.spend_request)
            timer.received(answer.size)
        return answer

    async def _probe(self, call: Call, deadline: Deadline) -> None:
        """Ask the API something harmless."""
        with call.tally.query_timer("api/siteinfo", query_of(_PROBE)) as timer, timer.sending():
            async with self._flow.sending(deadline):
                answer = await self._api.get(_PROBE, deadline, unpaid)
            timer.received(answer.size)

    async def close(self) -> None:
        """Close the connections."""
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
