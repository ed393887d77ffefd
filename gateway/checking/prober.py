"""One probe at a time: a harmless query with a limit and a short deadline, sent once."""

from __future__ import annotations

from collections.abc import Sequence

from gateway.errors import EndpointFault
from gateway.flow.control import FlowControl
from gateway.graph.deadline import Deadline
from gateway.settings.endpoint import EndpointSettings
from gateway.sparql import template
from gateway.sparql.results.decoder import decode
from gateway.sparql.results.rows import Row
from gateway.sparql.template import Parameter
from gateway.transport.base import ProbeResponse, Remote, Transport

SECONDS_EACH = 5.0
"""Time for one probe."""

_TOGETHER = 18
"""Times that, for all probes: an endpoint that hangs is not waited for again and again."""


class Prober:
    """Asks one engine.

    Attributes:
        deadline: When the whole check must be done.
        seconds_each: Time for one probe.
    """

    def __init__(self, transport: Transport, flow: FlowControl, deadline: Deadline, seconds_each: float) -> None:
        self._transport = transport
        self._flow = flow
        self.deadline = deadline
        self.seconds_each = seconds_each

    @classmethod
    def of(cls, transport: Transport, endpoint: EndpointSettings, seconds_each: float) -> Prober:
        """Return a prober that sends under an endpoint's flow control."""
        flow = transport.flow if isinstance(transport, Remote) else FlowControl(endpoint)
        return cls(transport, flow, Deadline.after(_TOGETHER * seconds_each), seconds_each)

    def through(self, transport: Transport) -> Prober:
        """Return a prober that asks by another way, under the same flow control and deadline."""
        return Prober(transport, self._flow, self.deadline, self.seconds_each)

    @property
    def soon(self) -> Deadline:
        """The deadline of one probe that begins now."""
        return self.deadline.within(self.seconds_each)

    async def look(self, remote: Remote, accept: str) -> ProbeResponse:
        """Look at an endpoint without a query.

        Raises:
            Fault: Nothing came.
        """
        deadline = self.soon
        async with self._flow.turn(deadline):
            return await remote.look(accept, deadline)

    async def rows(self, name: str, rows: int, /, **parameters: Parameter) -> Sequence[Row]:
        """Ask one question.

        Args:
            name: The template.
            rows: Rows at most.
            parameters: Its other parameters.

        Raises:
            Fault: No whole answer came.
        """
        text = template.load(name)
        deadline = self.soon
        async with self._flow.turn(deadline):
            body = await self._transport.select(text.render({**parameters, "rows": rows}), deadline)
        return decode(body, text.variables, rows)


def value_of(row: Row, variable: str) -> str:
    """Return what a variable is bound to.

    Raises:
        EndpointFault: Nothing, where the query binds it.
    """
    if variable not in row:
        raise EndpointFault("The endpoint's rows lack what the query asked for.")
    return row[variable].value


def number_of(rows: Sequence[Row], variable: str) -> int:
    """Return the number that the only row has.

    Raises:
        EndpointFault: There is no such row, or it has no such number.
    """
    text = value_of(rows[0], variable) if len(rows) == 1 else ""
    if not text.isascii() or not text.isdigit():
        raise EndpointFault("The endpoint answered a count with something that is no number.")
    return int(text)
