"""One query to the endpoint: render it, send it under the endpoint's flow control, decode the answer."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal

from gateway.errors import (
    AnswerCut,
    DeadlinePassed,
    EndpointFault,
    Fault,
    NoQueryEndpoint,
    WrongFormat,
)
from gateway.flow.control import FlowControl
from gateway.graph.call import Call, GivenTerms, Spend
from gateway.graph.computing import in_thread
from gateway.graph.deadline import Deadline
from gateway.settings.endpoint import EngineName, Sentinel
from gateway.settings.profile import Profile, policy_of
from gateway.sparql import template
from gateway.sparql.engines.detector import EngineDetector
from gateway.sparql.engines.traits import TRAITS
from gateway.sparql.formats import FormatChoice
from gateway.sparql.policy import EndpointPolicy
from gateway.sparql.results.decoder import decode
from gateway.sparql.results.rows import Rows
from gateway.sparql.results.sentinel import END, Place, without_sentinel
from gateway.sparql.results.table import Table
from gateway.sparql.results.tsv import decode_tsv
from gateway.sparql.rewritten_iris import RewrittenIris
from gateway.sparql.row_cap import RowCap
from gateway.sparql.template import Parameter
from gateway.telemetry.tally import QueryTimer
from gateway.transport.base import Beside, InFormats, OverGraphs, Remote, Transport
from gateway.transport.formats import Format

_log = logging.getLogger(__name__)

_Select = Callable[[str, Deadline, Spend], Awaitable[bytes]]
_Decode = Callable[[bytes, Sequence[str], int], Table]

_SHORT_QUERY_SECONDS = 2.0
"""Time for the template `alive`, which reads nothing of the graph."""

_RECENT_SECONDS = 5.0
"""An endpoint that answered within so many seconds is reachable without being asked."""

_FEW_BYTES = 1 << 19
"""Bytes of an answer that are decoded in some milliseconds."""

_CUTS_BY_ROWS = 2
"""Answers to one query that may be cut at a number of rows that the endpoint names, before it is sent a last time."""


def _rows_below(cap: int) -> int:
    """Return how many rows to ask for where the endpoint sends so many at most, the sentinel among them."""
    return max(10, min(cap * 9 // 10, cap - 2))


@dataclass(frozen=True, slots=True)
class _Asked:
    """A query, the variables that it projects, and the rows that it has at most.

    Attributes:
        text: Its template.
        query: What is sent.
        shown: What `explain` shows: the query as it would be without a policy, whose conditions name what is hidden.
        variables: What it projects.
        at_most: The rows that it has at most.
        sentinel: How it asks for the row that proves the end.
    """

    text: template.Template
    query: str
    shown: str
    variables: tuple[str, ...]
    at_most: int
    sentinel: Sentinel

    @classmethod
    def of(
        cls,
        text: template.Template,
        parameters: Mapping[str, Parameter],
        at_most: int,
        sentinel: Sentinel,
        policy: EndpointPolicy | None,
        given: GivenTerms,
    ) -> _Asked:
        if sentinel == "none":
            render: Callable[..., str] = text.render
            variables = text.variables
        else:
            render = partial(text.render_with_sentinel, is_sorted=sentinel == "sorted")
            variables, at_most = (*text.variables, END), at_most + 1
        shown = render(parameters)
        query = shown if policy is None else render(policy.sent(text, parameters, given), guard=policy.conditions)
        return cls(text, query, shown, variables, at_most, sentinel)


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
        # The check of a protocol takes as long as the search of a small graph.
        self._is_remote = isinstance(transport, Remote)
        self._over_all_graphs: Transport | None = None
        self._detector = detector
        self._formats = FormatChoice(profile.endpoint.format)
        self._sentinel: Literal["auto"] | Sentinel = profile.endpoint.sentinel
        self._row_cap = RowCap()
        self._takes_queries: bool | None = None
        self._trying = asyncio.Lock()
        # Of a graph in this process, what is hidden was never loaded.
        policy = policy_of(profile) if self._is_remote else None
        self._policy = None if policy is None else EndpointPolicy(policy, flow.clock)
        self._rewritten = RewrittenIris(self)

    @property
    def hides_evidence(self) -> bool:
        """Whether a policy hides whatever states evidence."""
        return self._policy is not None

    @property
    def is_remote(self) -> bool:
        """Whether the engine is reached over a network; its graph may be of any size."""
        return self._is_remote

    @property
    def service_description(self) -> str:
        """The endpoint's answer to a request without a query; empty where none was sent, or a part is hidden."""
        return self._detector.description if self._detector is not None and self._policy is None else ""

    @property
    def read_by(self) -> str | None:
        """By which rules answers are read as whole or cut; None until the engine was looked for, and where that failed.

        It is the engine, and how queries ask for the row that proves the end of an answer.
        """
        engine = None if self._detector is None else self._detector.engine
        return None if engine is None else f"{engine} {self._sentinel_of(engine)}"

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
        if self._policy is not None:
            text = template.load(name)
            await self._policy.check(text, await self._known_engine(call), partial(self._has_wikibase, call))
            if text.reads == "graph":
                await self._policy.find_hidden(call, self)
        try:
            return await self._below_row_cap(name, call, parameters, at_most)
        except DeadlinePassed as error:
            if not self.is_remote or self.flow.has_answered or self.flow.quota.is_limited:
                raise
            # Smaller questions are no use.
            raise DeadlinePassed(
                "The time of this call is used up, and the endpoint has not answered anything so far.",
                next_step="Try again later; if it stays, the operator of this gateway should check the endpoint.",
            ) from error

    async def _below_row_cap(
        self, name: str, call: Call, parameters: Mapping[str, Parameter], at_most: int | None
    ) -> Rows:
        """Ask again where the endpoint says at how many rows it cut the answer, for fewer if it says so twice.

        Said once, it is no cap yet: Virtuoso reads its settings without a lock and now and then cuts one answer by
        another setting (docs/notes/endpoints.md, "Row caps").
        """
        said: int | None = None
        for _ in range(_CUTS_BY_ROWS):
            asked = self.query_rows
            try:
                return await self._rows(name, call, parameters, at_most)
            except AnswerCut as cut:
                if cut.row_cap is None or _rows_below(cut.row_cap) >= asked:
                    raise
                if cut.row_cap == said:
                    self._learn_row_cap(said)
                said = cut.row_cap
        return await self._rows(name, call, parameters, at_most)

    async def _rows(self, name: str, call: Call, parameters: Mapping[str, Parameter], at_most: int | None) -> Rows:
        limit = self.query_rows if at_most is None else min(at_most, self.query_rows)
        text = template.load(name)
        given = {**parameters, "rows": limit + 1}
        asked = _Asked.of(text, given, limit + 1, self._sentinel_for(text), self._policy, call.given)
        with call.tally.query_timer(name, asked.shown) as timer:
            send = partial(self._answer, self._transport_for(text), asked, call, timer)
            answer = await self.flow.run(call, send, partial(self._probe, call))
        rows, place = without_sentinel(answer, text.variables) if asked.sentinel != "none" else (answer, None)
        if place is Place.ELSEWHERE:
            _log.info("the endpoint does not write the row last that proves the end: it is not asked for it any more")
            self._sentinel = "none"
            return await self._rows(name, call, parameters, at_most)
        call.spend_rows(len(rows))
        if len(rows) > limit:
            self._row_cap.saw_whole(len(answer))
            call.tally.overflows += 1
            return Rows(rows.first(limit), is_cut=True)
        if place is not Place.MISSING:
            self._row_cap.saw_whole(len(answer))
            return Rows(rows)
        _log.info("an answer to %s ended after %d rows, without the row that proves its end", name, len(rows))
        cap = self._row_cap.saw_cut(len(rows), asked.query)
        if cap is not None and self._learn_row_cap(cap):
            return await self._rows(name, call, parameters, at_most)
        return Rows(rows, ended_early=True)

    async def _known_engine(self, call: Call) -> EngineName:
        """Return the engine; an endpoint that does not answer at all is a fault, and no engine that is not known."""
        engine = None if self._detector is None else self._detector.engine
        if engine is None:
            await self._rows("alive", call.for_probe(), {}, 1)
        return engine or "unknown"

    async def _has_wikibase(self, call: Call) -> bool:
        rows, _ = (await self._rows("policy/wikibase", call.for_probe(), {}, 1)).part()
        return bool(rows)

    def _sentinel_for(self, text: template.Template) -> Sentinel:
        """Return how a query asks for the row that proves the end of its answer."""
        if text.end != "sentinel":
            return "none"
        # Nothing can be cut off an answer in this process.
        return self._sentinel_of(
            self._detector.recognised.engine if self._detector is not None and self.is_remote else "unknown"
        )

    def _sentinel_of(self, engine: EngineName) -> Sentinel:
        return TRAITS[engine].sentinel if self._sentinel == "auto" else self._sentinel

    def _learn_row_cap(self, cap: int) -> bool:
        """Ask for fewer rows than the endpoint sends at most from now on; return whether that is news."""
        below = _rows_below(cap)
        if below >= self.query_rows:
            return False
        _log.info("the endpoint sends %d rows at most; queries ask for %d from now on", cap, below)
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

    async def _answer(self, transport: Transport, asked: _Asked, call: Call, timer: QueryTimer) -> Table:
        """Send a query once and decode its answer; once more, for JSON, if the TSV that came cannot be read."""
        if self._format_for(asked) == "json" or not isinstance(transport, InFormats):
            return await self._decoded(transport.select, decode, asked, call, timer)
        with contextlib.suppress(WrongFormat):
            lines = partial(decode_tsv, iris=asked.text.iris)
            return await self._decoded(partial(transport.select_in, "tsv"), lines, asked, call, timer)
        call.spend_request()
        rows = await self._decoded(transport.select, decode, asked, call, timer)
        self._formats.refuse_tsv(asked.text)
        return rows

    def _format_for(self, asked: _Asked) -> Format:
        engine = self._detector.recognised.engine if self._detector is not None else "unknown"
        return self._formats.of(asked.text, engine, is_proven=asked.sentinel != "none" or asked.text.end == "counted")

    async def _decoded(
        self, select: _Select, decode_body: _Decode, asked: _Asked, call: Call, timer: QueryTimer
    ) -> Table:
        """Send a query in one format and decode its answer."""
        with timer.sending():
            try:
                body = await select(asked.query, call.deadline, call.spend_request)
            except NoQueryEndpoint:
                if not await self._has_taken_short_query(call.deadline):
                    raise
                # The refusal was one that passes, or the endpoint takes GET alone and the query was too long for that.
                call.spend_request()
                body = await select(asked.query, call.deadline, call.spend_request)
            timer.received(len(body))
            try:
                # The parser lets no other thread run, but it takes only a part of the time.
                rows = await in_thread(
                    call, lambda _: decode_body(body, asked.variables, asked.at_most), unless=len(body) <= _FEW_BYTES
                )
            except WrongFormat:
                raise
            except EndpointFault:
                self.flow.quota.charge_error()
                raise
            timer.decoded(len(rows))
        return rows

    async def _has_taken_short_query(self, deadline: Deadline) -> bool:
        """Return whether the endpoint is one: after it refused a query, it took a short one.

        That is tried until the endpoint says whether it is one: a fault that passes is not remembered.
        """
        if not self.is_remote:
            return False
        async with self._trying:
            if self._takes_queries is None:
                text = template.load("alive")
                try:
                    body = await self._transport.select(text.render({"rows": 1}), deadline.within(_SHORT_QUERY_SECONDS))
                    self._takes_queries = len(decode(body, text.variables)) == 1
                except NoQueryEndpoint:
                    self._takes_queries = False
                except Fault:
                    return False
        return self._takes_queries

    async def _probe(self, call: Call, deadline: Deadline) -> None:
        """Send the endpoint a harmless query."""
        text = template.load("alive")
        query = text.render({"rows": 1})
        with call.tally.query_timer(text.name, query) as timer, timer.sending():
            body = await self._transport.select(query, deadline)
            timer.received(len(body))
            timer.decoded(len(decode(body, text.variables)))

    async def check_reachable(self, deadline: Deadline) -> None:
        """Send the endpoint a harmless query, unless it has just answered one; see `GraphStore.check_reachable`."""
        if not self.is_remote or self.flow.seconds_since_answer < _RECENT_SECONDS:
            return
        text = template.load("alive")
        query = text.render({"rows": 1})
        if not self.flow.has_answered:
            # How the endpoint takes queries is found out in the usual way.
            body = await self._transport.select(query, deadline)
        elif isinstance(self._transport, Beside) and not self.flow.quota.is_limited:
            body = await self._transport.select_beside(query, deadline)
        elif self.flow.connections.locked():
            # Queries that are under way will show it, and one more than is allowed may be one too many.
            return
        else:
            body = await self._transport.select(query, deadline)
        decode(body, text.variables)
        # It ends a rest of the circuit breaker at once: calls need not wait for its own probe.
        self.flow.answered()

    async def rewritten(self, iris: Iterable[str], call: Call) -> Mapping[str, Fault]:
        """Return those of the IRIs that no query can ask for, and why; see `RewrittenIris`."""
        return await self._rewritten.faults(iris, call)

    async def close(self) -> None:
        """Close the transport."""
        await self._transport.close()
