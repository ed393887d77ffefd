"""Sends the queries of probes: each with a limit and a short deadline, once, and one at a time."""

from __future__ import annotations

from gateway.flow.control import FlowControl
from gateway.graph.call import Deadline
from gateway.settings.endpoint import EndpointSettings
from gateway.sparql import template
from gateway.sparql.json_rows import decode
from gateway.sparql.sentinel import END, Place, marker, without_sentinel
from gateway.sparql.table import Table, UnexpectedRows, integer
from gateway.sparql.template import Parameter
from gateway.sparql.tsv_rows import decode_tsv
from gateway.transport.base import InFormats, ProbeResponse, Remote, Transport

SECONDS_EACH = 5.0
"""The time for one probe."""

_TOGETHER = 18
"""The time for all probes, as a multiple of that for one: an endpoint may hang in each."""


class Prober:
    """Sends probes to one endpoint.

    Attributes:
        deadline: The deadline of the whole check.
        seconds_each: The time for one probe.
    """

    def __init__(self, transport: Transport, flow: FlowControl, deadline: Deadline, seconds_each: float) -> None:
        self._transport = transport
        self._flow = flow
        self.deadline = deadline
        self.seconds_each = seconds_each

    @classmethod
    def of(cls, transport: Transport, endpoint: EndpointSettings, seconds_each: float) -> Prober:
        """Return a prober under the flow control of an endpoint."""
        flow = transport.flow if isinstance(transport, Remote) else FlowControl(endpoint.requests)
        return cls(transport, flow, Deadline.after(_TOGETHER * seconds_each), seconds_each)

    def with_transport(self, transport: Transport) -> Prober:
        """Return a prober for another transport, with the same flow control and deadline."""
        return Prober(transport, self._flow, self.deadline, self.seconds_each)

    async def look(self, remote: Remote, accept: str) -> ProbeResponse:
        """Return the response of an endpoint to a request without a query.

        Raises:
            Fault: There was none.
        """
        deadline = self.deadline.within(self.seconds_each)
        async with self._flow.turn(deadline):
            return await remote.look(accept, deadline)

    async def rows(self, name: str, rows: int, /, **parameters: Parameter) -> Table:
        """Return the rows of one query: at most `rows`.

        Raises:
            Fault: There was no complete answer.
        """
        text = template.load(name)
        deadline = self.deadline.within(self.seconds_each)
        async with self._flow.turn(deadline):
            body = await self._transport.select(text.render({**parameters, "rows": rows}), deadline)
        return decode(body, text.variables, rows)

    async def sentinel(self, name: str, rows: int, /, *, is_sorted: bool, **parameters: Parameter) -> Place:
        """Return where the sentinel is in the answer to one query for at most `rows` rows.

        Raises:
            Fault: There was no complete answer.
        """
        text = template.load(name)
        query = text.render({**parameters, "rows": rows})
        with_sentinel = text.with_sentinel(query, rows, is_sorted=is_sorted)
        deadline = self.deadline.within(self.seconds_each)
        async with self._flow.turn(deadline):
            body = await self._transport.select(with_sentinel, deadline)
        return without_sentinel(decode(body, (*text.variables, END), rows + 1), marker(query))[1]

    async def lines(self, remote: InFormats, name: str, rows: int, /, **parameters: Parameter) -> Table:
        """Return the rows of one query, which are asked for in TSV.

        Raises:
            Fault: There was no complete answer, or none in TSV.
        """
        text = template.load(name)
        deadline = self.deadline.within(self.seconds_each)
        async with self._flow.turn(deadline):
            body = await remote.select_in("tsv", text.render({**parameters, "rows": rows}), deadline)
        return decode_tsv(body, text.variables, rows, text.iris)


def number_of(rows: Table, variable: str) -> int:
    """Return the number in the only row.

    Raises:
        UnexpectedRows: There is not exactly one row, or it has no such number.
    """
    numbers = list(integer(variable)(rows))
    if len(numbers) != 1 or numbers[0] < 0:
        raise UnexpectedRows
    return numbers[0]
