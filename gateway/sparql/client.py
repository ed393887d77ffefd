"""One query to the endpoint: render it, send it under the endpoint's flow control, decode the answer."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from sys import getsizeof

from gateway.errors import AnswerCut, DeadlinePassed, EndpointFault, Fault, NoQueryEndpoint, QueryRefused, quoted
from gateway.flow.control import FlowControl
from gateway.graph.call import Call
from gateway.graph.computing import in_thread
from gateway.graph.deadline import Deadline
from gateway.settings.endpoint import EngineName
from gateway.settings.profile import Profile
from gateway.sparql import template
from gateway.sparql.engines.detector import EngineDetector
from gateway.sparql.results import columns
from gateway.sparql.results.decoder import decode
from gateway.sparql.results.rows import Rows
from gateway.sparql.results.table import Table
from gateway.sparql.template import Parameter
from gateway.telemetry.tally import QueryTimer
from gateway.terms.bounded_map import BoundedMap
from gateway.terms.iri import composed, may_be_rewritten
from gateway.transport.base import OverGraphs, Remote, Transport

_log = logging.getLogger(__name__)

_SHORT_QUERY_SECONDS = 2.0
"""Time for the template `alive`, which reads nothing of the graph."""

_FEW_BYTES = 1 << 19
"""Bytes of an answer that are decoded in some milliseconds."""

_IRIS_AT_ONCE = 200
"""IRIs in one query that asks how the engine reads them."""

_KNOWN_IRIS_BYTES = 4 << 20
"""Memory for what it said."""


def refused_iri(iri: str, refused: QueryRefused) -> QueryRefused:
    """Return the refusal of a query as one that names the IRI in it that the engine does not take."""
    return QueryRefused(
        f"The engine refused a query about {quoted(iri)}, which may be no IRI by the engine's rules.",
        valid="Engines differ: some refuse [ and ], or a % without two hexadecimal digits after it.",
        next_step=refused.next_step or "Ask without it.",
    )


def _rewritten(iri: str) -> QueryRefused:
    return QueryRefused(
        f"The endpoint reads {quoted(iri)} as another IRI, so it cannot be asked for.", next_step="Ask without it."
    )


class SparqlClient:
    """Sends templates to one endpoint.

    Attributes:
        query_rows: Rows that one query may return.
        flow: The endpoint's flow control.
    """

    def __init__(
        self, transport: Transport, profile: Profile, flow: FlowControl, detector: EngineDetector | None = None
    ) -> None:
        self.query_rows = profile.limits.query_rows
        self.flow = flow
        self._transport = transport
        self._over_all_graphs: Transport | None = None
        self._detector = detector
        self._takes_queries: bool | None = None
        self._trying = asyncio.Lock()
        self._is_unchanged: BoundedMap[str, bool] = BoundedMap(_KNOWN_IRIS_BYTES)

    @property
    def is_remote(self) -> bool:
        """Whether the engine is reached over a network; its graph may be of any size."""
        return isinstance(self._transport, Remote)

    @property
    def service_description(self) -> str:
        """The endpoint's answer to a request without a query; empty where none was sent."""
        return self._detector.description if self._detector is not None else ""

    async def engine(self, call: Call) -> EngineName:
        """Return the engine behind the endpoint; `unknown` where it was not recognised."""
        if self._detector is None:
            return "unknown"
        with call.tally.waiting():
            await self._detector.detect(call)
        return self._detector.recognised.engine

    async def rows(
        self, name: str, call: Call, parameters: Mapping[str, Parameter], *, at_most: int | None = None
    ) -> Rows:
        """Ask one question and return the rows of its answer.

        Args:
            name: The template.
            call: The call, which pays for it.
            parameters: The template's parameters without `rows`.
            at_most: Rows that may come; the profile's `query_rows` where not given.

        Raises:
            Fault: The endpoint did not give a whole answer.
        """
        if self._detector is not None:
            with call.tally.waiting():
                await self._detector.detect(call)
            self.query_rows = min(self.query_rows, self._detector.query_rows)
        try:
            try:
                return await self._rows(name, call, parameters, at_most)
            except AnswerCut as cut:
                if not self._learn_row_cap(cut):
                    raise
            return await self._rows(name, call, parameters, at_most)
        except DeadlinePassed as error:
            if not self.is_remote or self.flow.has_answered or self.flow.quota.is_limited:
                raise
            # Smaller questions are no use.
            raise DeadlinePassed(
                "The time of this call is used up, and the endpoint has not answered anything so far.",
                next_step="Try again later; if it stays, the operator of this gateway should check the endpoint.",
            ) from error

    async def _rows(self, name: str, call: Call, parameters: Mapping[str, Parameter], at_most: int | None) -> Rows:
        limit = self.query_rows if at_most is None else min(at_most, self.query_rows)
        text = template.load(name)
        query = text.render({**parameters, "rows": limit + 1})
        with call.tally.query_timer(name, query) as timer:
            send = partial(self._answer, self._transport_for(text), query, text, limit + 1, call, timer)
            rows = await self.flow.run(call, send, partial(self._probe, call))
        call.spend_rows(len(rows))
        if len(rows) <= limit:
            return Rows(rows)
        call.tally.overflows += 1
        return Rows(rows.first(limit), is_cut=True)

    def _learn_row_cap(self, cut: AnswerCut) -> bool:
        """Ask for fewer rows than the cap that the endpoint has named; return whether that is news."""
        if cut.row_cap is None:
            return False
        below = max(10, cut.row_cap * 9 // 10)
        if below >= self.query_rows:
            return False
        _log.info("the endpoint sends %d rows at most; queries ask for %d from now on", cut.row_cap, below)
        self.query_rows = below
        return True

    def _transport_for(self, text: template.Template) -> Transport:
        """Return the way to the graphs that a template is about.

        A query that names its default graph sees no named graph (SPARQL 1.1 Query 13.2), so those about named graphs
        name none.
        """
        if text.dialect != template.NAMED_GRAPHS or not isinstance(self._transport, OverGraphs):
            return self._transport
        if self._over_all_graphs is None:
            self._over_all_graphs = self._transport.over_all_graphs()
        return self._over_all_graphs

    async def _answer(
        self, transport: Transport, query: str, text: template.Template, at_most: int, call: Call, timer: QueryTimer
    ) -> Table:
        """Send a query once and decode its answer."""
        with timer.sending():
            try:
                body = await transport.select(query, call.deadline, call.spend_request)
            except NoQueryEndpoint:
                if not await self._has_taken_short_query(call.deadline):
                    raise
                # The refusal was one that passes, or the endpoint takes GET alone and the query was too long for that.
                call.spend_request()
                body = await transport.select(query, call.deadline, call.spend_request)
            timer.received(len(body))
            try:
                # The parser lets no other thread run, but it takes only a part of the time.
                rows = await in_thread(
                    call, lambda _: decode(body, text.variables, at_most), unless=len(body) <= _FEW_BYTES
                )
            except EndpointFault:
                self.flow.quota.charge_error()
                raise
            timer.decoded(len(rows))
        return rows

    async def _has_taken_short_query(self, deadline: Deadline) -> bool:
        """Return whether the endpoint is one: after it refused a query, it took a short one; that is tried once."""
        if not self.is_remote:
            return False
        async with self._trying:
            if self._takes_queries is None:
                text = template.load("alive")
                try:
                    body = await self._transport.select(text.render({"rows": 1}), deadline.within(_SHORT_QUERY_SECONDS))
                    self._takes_queries = len(decode(body, text.variables)) == 1
                except Fault:
                    self._takes_queries = False
        return self._takes_queries

    async def _probe(self, call: Call, deadline: Deadline) -> None:
        """Send the endpoint a harmless query."""
        text = template.load("alive")
        query = text.render({"rows": 1})
        with call.tally.query_timer(text.name, query) as timer, timer.sending():
            body = await self._transport.select(query, deadline)
            timer.received(len(body))
            timer.decoded(len(decode(body, text.variables)))

    async def rewritten(self, iris: Iterable[str], call: Call) -> Mapping[str, Fault]:
        """Return those of the IRIs that the endpoint reads as others, or could not be asked about, and why.

        Only IRIs that some engine may rewrite are asked about, each once.
        """
        doubtful = list(filter(may_be_rewritten, dict.fromkeys(iris)))
        known = self._is_unchanged.known
        is_unchanged = {iri: known[iri] for iri in doubtful if iri in known}
        new = [iri for iri in doubtful if iri not in is_unchanged]
        size = max(1, min(_IRIS_AT_ONCE, self.query_rows // 2))
        faults: dict[str, Fault] = {}
        for start in range(0, len(new), size):
            faults |= await self._read_back(new[start : start + size], is_unchanged, call)
        for iri in new:
            if iri in is_unchanged:
                self._is_unchanged.add(iri, is_unchanged[iri], getsizeof(iri))
        return faults | {iri: _rewritten(iri) for iri, unchanged in is_unchanged.items() if not unchanged}

    async def _read_back(self, iris: Sequence[str], is_unchanged: dict[str, bool], call: Call) -> dict[str, Fault]:
        """Learn which IRIs the endpoint reads as they are; return those about which it could not be asked, and why."""
        try:
            # Beside its composed form, an IRI does not come back from an engine to which the two are one.
            together = dict.fromkeys([*map(composed, iris), *iris])
            rows = (await self.rows("iris_as_read", call, {"nodes": list(together)})).whole()
            as_read = {*columns.iri("n")(columns.binding(rows, "n"))}
        except QueryRefused as refused:
            # One that the engine refuses must not leave the others of its batch unasked.
            if len(iris) == 1:
                return {iris[0]: refused_iri(iris[0], refused)}
            middle = len(iris) // 2
            first = await self._read_back(iris[:middle], is_unchanged, call)
            return {**first, **await self._read_back(iris[middle:], is_unchanged, call)}
        except Fault as fault:
            return dict.fromkeys(iris, fault)
        is_unchanged |= {iri: iri in as_read for iri in iris}
        return {}

    async def close(self) -> None:
        """Close the transport."""
        await self._transport.close()
