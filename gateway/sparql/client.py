"""One query to the endpoint: render it, send it under the endpoint's flow control, decode the answer."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import math
import sys
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Literal

from gateway.errors import (
    AnswerCut,
    BrokenAnswer,
    DeadlinePassed,
    EndpointFault,
    Fault,
    GaveUp,
    NoQueryEndpoint,
    QueryRefused,
    ServerFailed,
    WrongFormat,
    quoted,
)
from gateway.flow.control import FlowControl
from gateway.graph.call import Call, Deadline, Spend
from gateway.graph.computing import in_thread
from gateway.graph.kept import WEEK, KeptFacts
from gateway.settings.endpoint import EngineName, Sentinel
from gateway.settings.profile import Profile, policy_of
from gateway.sparql import template
from gateway.sparql.engines import TRAITS, UNRECOGNISED, EngineDetector
from gateway.sparql.json_rows import decode
from gateway.sparql.learned import FEWEST, FormatChoice, RewrittenIris, RowCap
from gateway.sparql.merging import Merged, Merger, Question, may_be_merged
from gateway.sparql.remembered import Remembered
from gateway.sparql.rule import EndpointPolicy
from gateway.sparql.sentinel import END, EndProofs, Place, Proof, marker, without_sentinel
from gateway.sparql.table import EMPTY, EndedEarly, EndUnproven, Overflow, Rows, Table, integer
from gateway.sparql.template import Parameter
from gateway.sparql.tsv_rows import decode_tsv
from gateway.telemetry.tally import QueryTimer
from gateway.transport.base import (
    Beside,
    InFormats,
    InWays,
    OverGraphs,
    Remote,
    TextRows,
    Transport,
    WithBindings,
    WithTexts,
)

_log = logging.getLogger(__name__)

_Select = Callable[[str, Deadline, Spend], Awaitable[bytes]]
_Decode = Callable[[bytes, Sequence[str], int], Table]

_SHORT_QUERY_SECONDS = 2.0
"""Time for the template `alive`, which reads nothing of the graph."""

_ALIVE = "alive"
_MERGED_SECONDS = 15.0
_PART_FOR_MERGED = 0.25
"""Time for several questions in one query, in seconds and of what is left; what takes longer is asked alone, for which
the rest has to do."""

_REFUSED_SECONDS = 60.0
"""For so long, a kind of query that an endpoint refused by an error of its own is refused without asking whether it
lives."""

_CHECK = "The operator of this gateway should run `bfsql-gateway check`, which names what the endpoint does not answer."

_RECENT_SECONDS = 5.0
"""An endpoint that answered within so many seconds is reachable without being asked."""

_FEW_BYTES = 1 << 19
"""Bytes of an answer that are decoded in some milliseconds."""

_ROW_CAP = "row cap"
"""Begins the name of the endpoint's cap, among what is kept of it."""

_TWO = 2
"""Rows of the template `two_rows`."""

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
        marker: The value of the row that proves the end; None where it does not ask for one.
        is_proven: Whether it is proven that all rows came; a format need not show it.
        bindings: The labels of the blank nodes that are bound beside it, by variable.
        merged: The questions that it asks in one; None where it asks one.
    """

    text: template.Template
    query: str
    shown: str
    variables: tuple[str, ...]
    at_most: int
    marker: str | None = None
    is_proven: bool = True
    bindings: Mapping[str, str] = field(default_factory=dict)
    merged: Merged | None = None

    @property
    def name(self) -> str:
        """The name of its template, or the names of those of several questions."""
        return self.text.name if self.merged is None else self.merged.name

    def with_sentinel(self, *, is_sorted: bool) -> _Asked:
        """Return the query that asks for the row that proves the end."""
        query, shown = (
            self.text.with_sentinel(one, self.at_most, is_sorted=is_sorted) for one in (self.query, self.shown)
        )
        return replace(
            self,
            query=query,
            shown=shown,
            variables=(*self.variables, END),
            at_most=self.at_most + 1,
            marker=marker(self.query),
        )

    def counting(self) -> _Asked:
        """Return the query that counts the rows of this one."""
        query, shown = map(template.counting, (self.query, self.shown))
        return replace(self, query=query, shown=shown, variables=("count", END), at_most=1)


@dataclass(frozen=True, slots=True)
class _Came:
    """What came: the rows of a query, and where the row that proves their end was, if it asked for one.

    Of several questions in one, `answers` has the rows of each that is whole.
    """

    rows: Table
    place: Place | None = None
    answers: Sequence[Table | None] = ()


def _read(answer: Table, asked: _Asked) -> _Came:
    """Return the rows of an answer without the row that proves its end.

    Raises:
        BrokenAnswer: It is the answer to another query, or has rows twice.
    """
    if asked.merged is not None:
        answers = asked.merged.answers(answer)
        ends = sum(rows is not None for rows in answers)
        return _Came(answer.first(len(answer) - ends), answers=answers)
    came = _Came(answer) if asked.marker is None else _Came(*without_sentinel(answer, asked.marker))
    if asked.text.is_distinct and came.rows.repeated(asked.text.variables):
        raise BrokenAnswer("The endpoint sent rows of an answer twice.", next_step="Try again later.")
    return came


class SparqlClient:
    """Sends templates to one endpoint.

    Attributes:
        query_rows: Rows that one query may return.
        is_remote: Whether the engine is reached over a network; its graph may be of any size.
        flow: The endpoint's flow control.
        remembered: What the graph has and has not, as it said.
        kept: What earlier processes found out about the endpoint.
        rewritten: Returns those of some IRIs that no query can ask for, and why; see `RewrittenIris`.
    """

    def __init__(
        self,
        transport: Transport,
        profile: Profile,
        flow: FlowControl,
        detector: EngineDetector | None = None,
        kept: KeptFacts | None = None,
    ) -> None:
        most = profile.limits.query_rows
        self.query_rows = self._own_query_rows = most if detector is None else min(most, detector.query_rows)
        self.flow = flow
        self.kept = kept or KeptFacts(None, profile.cache, time.time)
        self.remembered = Remembered(self.kept, flow.clock)
        self._transport = transport
        # The check of a protocol takes as long as the search of a small graph.
        self.is_remote = isinstance(transport, Remote)
        self._over_all_graphs: Transport | None = None
        self._detector = detector
        self._formats = FormatChoice(profile.endpoint.format)
        self._pinned = profile.endpoint.sentinel
        self._proofs = EndProofs(flow.clock)
        self._testing = asyncio.Lock()
        self._refused_until: dict[str, float] = {}
        self._row_cap = RowCap()
        self._takes_queries: bool | None = None
        self._trying = asyncio.Lock()
        # Of a graph in this process, what is hidden was never loaded.
        policy = policy_of(profile) if self.is_remote else None
        self._policy = None if policy is None else EndpointPolicy(policy, flow.clock)
        self.rewritten = RewrittenIris(self).faults
        self._merger = Merger(self._send_merged, flow.clock)
        self._taken_over = ""
        self._take_over_row_cap()

    @property
    def hides_evidence(self) -> bool:
        """Whether a policy hides something of what the engine has: whatever states evidence, too."""
        return self._policy is not None

    @property
    def gives_texts(self) -> bool:
        """Whether `texts` can be asked: the engine is in this process."""
        return not self.is_remote and isinstance(self._transport, WithTexts)

    @property
    def service_description(self) -> str:
        """The endpoint's answer to a request without a query; empty where none was sent, or a part is hidden."""
        return self._detector.description if self._detector is not None and self._policy is None else ""

    @property
    def seconds_there_and_back(self) -> float | None:
        """How long a request without a query took on a connection that was open; None where none was sent."""
        return None if self._detector is None else self._detector.seconds_there_and_back

    @property
    def read_by(self) -> str | None:
        """By which rules answers are read as whole or cut; None until the engine was looked for, and where that failed.

        It is the engine, and how queries ask for the row that proves the end of an answer.
        """
        engine = None if self._detector is None else self._detector.engine
        return None if engine is None else f"{engine} {self._first_proof(engine)}"

    async def engine(self, call: Call) -> EngineName:
        """Return the engine behind the endpoint; `unknown` where it was not recognised."""
        if self._detector is None:
            return "unknown"
        with call.tally.waiting():
            await self._detector.detect(call)
        return self._detector.recognised.engine

    async def known_of_engine(self, name: str, call: Call) -> bool | None:
        """Return whether the engine can do something, as an earlier process found out; None where that is not known.

        One that shows no version may be another one as soon as answers may have changed.
        """
        if self._detector is not None:
            await self.engine(call)
        known = self.kept.known(self._of_engine(name), bool, seconds=self._seconds_of_engine)
        return None if known is None else known[0]

    def keep_of_engine(self, name: str, *, can: bool) -> None:
        """Keep whether the engine can do something."""
        self.kept.keep(self._of_engine(name), can)

    def _of_engine(self, name: str) -> str:
        engine = UNRECOGNISED if self._detector is None else self._detector.recognised
        return f"{name} of {engine.engine} {engine.version}"

    @property
    def _seconds_of_engine(self) -> float | None:
        """For how long something is used that depends on the engine; None for as long as stored answers are."""
        return WEEK if self._detector is not None and self._detector.recognised.version else None

    async def rows(
        self,
        name: str,
        call: Call,
        parameters: Mapping[str, Parameter],
        *,
        at_most: int | None = None,
        pages: int = 1,
        bindings: Mapping[str, str] | None = None,
    ) -> Rows:
        """Ask one question and return the rows of its answer.

        Args:
            name: The template.
            call: The call, which pays for it.
            parameters: The template's parameters without `rows`.
            at_most: Rows that may come; the profile's `query_rows` where not given.
            pages: By how much more than `query_rows` may come from an engine in this process, which has no row cap.
            bindings: The labels of blank nodes that are bound beside the query, by variable.

        Raises:
            Fault: The endpoint did not give a whole answer.
        """
        if self.is_remote and self._detector is not None:
            with call.tally.waiting():
                await self._detector.detect(call)
            self.query_rows = min(self.query_rows, self._detector.query_rows)
            self._take_over_row_cap()
        if self._policy is not None:
            text = template.load(name)
            await self._policy.check(text, await self._known_engine(call), partial(self._has_wikibase, call))
            if text.reads == "graph":
                await self._policy.find_hidden(call, self)
        try:
            if pages > 1 and not self.is_remote:
                return await self._rows(name, call, parameters, self.query_rows * pages, bindings)
            return await self._below_row_cap(name, call, parameters, at_most, bindings)
        except DeadlinePassed as error:
            if not self.is_remote or self.flow.has_answered or self.flow.quota.is_limited:
                raise
            # Smaller questions are no use.
            raise DeadlinePassed(
                "The time of this call is used up, and the endpoint has not answered anything so far.",
                next_step="Try again later; if it stays, the operator of this gateway should check the endpoint.",
            ) from error

    async def has_rows(self, name: str, call: Call, parameters: Mapping[str, Parameter]) -> bool:
        """Return whether the answer to a question has rows, of which one is asked for; see `rows` for faults."""
        return len((await self.rows(name, call, parameters, at_most=1)).part()[0]) > 0

    async def texts(
        self, name: str, call: Call, parameters: Mapping[str, Parameter], keeps: Callable[[str], bool]
    ) -> TextRows:
        """Ask an engine in this process one question, and return its first rows as `WithTexts` gives them.

        Args:
            name: The template.
            call: The call, which pays for it.
            parameters: The template's parameters without `rows`.
            keeps: Whether the rows that begin with a text are wanted.

        Raises:
            Fault: The engine did not give a whole answer.
        """
        transport = self._transport
        if self.is_remote or not isinstance(transport, WithTexts):
            raise TypeError("only an engine in this process gives answers of any length")
        asked = self._asked(template.load(name), {**parameters, "rows": sys.maxsize}, sys.maxsize, call)
        with call.tally.query_timer(name, asked.shown) as timer:

            async def send() -> TextRows:
                with timer.sending():
                    found = await transport.select_texts(asked.query, keeps, call.deadline)
                    timer.received(0)
                    timer.decoded(len(found.rows))
                    return found

            found = await self.flow.run(call, send, partial(self._probe, call))
        call.spend_rows(len(found.rows))
        return found

    async def _below_row_cap(
        self,
        name: str,
        call: Call,
        parameters: Mapping[str, Parameter],
        at_most: int | None,
        bindings: Mapping[str, str] | None,
    ) -> Rows:
        """Ask again where the endpoint says at how many rows it cut the answer, for fewer if it says so twice.

        Said once, it is no cap yet: Virtuoso reads its settings without a lock and now and then cuts one answer by
        another setting (docs/notes/endpoints.md, "Row caps").
        """
        said: int | None = None
        for _ in range(_CUTS_BY_ROWS):
            asked = self.query_rows
            try:
                return await self._rows(name, call, parameters, self._below(at_most), bindings)
            except AnswerCut as cut:
                if cut.row_cap is None or _rows_below(cut.row_cap) >= asked:
                    raise
                if cut.row_cap == said:
                    self._found_row_cap(said)
                said = cut.row_cap
        return await self._rows(name, call, parameters, self._below(at_most), bindings)

    def _below(self, at_most: int | None) -> int:
        return self.query_rows if at_most is None else min(at_most, self.query_rows)

    async def _rows(
        self,
        name: str,
        call: Call,
        parameters: Mapping[str, Parameter],
        limit: int,
        bindings: Mapping[str, str] | None = None,
    ) -> Rows:
        text = template.load(name)
        asked = self._asked(text, {**parameters, "rows": limit + 1}, limit + 1, call)
        rows, missing = await self._proven(replace(asked, bindings=bindings) if bindings else asked, call)
        call.spend_rows(len(rows))
        if len(rows) > limit:
            self._row_cap.saw_whole(len(rows))
            call.tally.overflows += 1
            return Rows(rows.first(limit), Overflow())
        if not isinstance(missing, EndedEarly):
            self._row_cap.saw_whole(len(rows))
            return Rows(rows, missing)
        _log.info("an answer to %s ended after %d rows, without a proof of its end", name, len(rows))
        cap = self._row_cap.saw_cut(len(rows), asked.query)
        if cap is not None and self._found_row_cap(cap):
            return await self._rows(name, call, parameters, self._below(limit), bindings)
        return Rows(rows, missing)

    def _asked(self, text: template.Template, parameters: Mapping[str, Parameter], at_most: int, call: Call) -> _Asked:
        shown = text.render(parameters)
        query = shown
        if self._policy is not None:
            query = text.render(self._policy.sent(text, parameters, call.given), guard=self._policy.conditions)
        return _Asked(text, query, shown, text.variables, at_most)

    async def _proven(self, asked: _Asked, call: Call) -> tuple[Table, AnswerCut | None]:
        """Ask by one proof of the end after the other until one holds; return the rows and why some may be missing."""
        name, first = asked.text.name, self._first_proof(self._recognised) if asked.text.end == "sentinel" else "none"
        if self._merges(asked, first):
            question = Question(asked.text, asked.query, asked.shown, asked.at_most)
            if (rows := await self._merger.rows(question, call)) is not None:
                return rows, None
        tested: list[Proof] = []
        while (proof := self._proofs.of(name, first, tested)) not in {"none", "counted"}:
            came = await self._with_sentinel(asked, proof, call)
            if came.place is Place.MISSING:
                return came.rows, EndedEarly()
            if came.place is Place.LAST and (len(came.rows) or await self._may_have_no_rows(proof, call)):
                if len(came.rows):
                    self._proofs.held(name, proof)
                return came.rows, None
            self._proofs.failed(name, proof, asked.query)
            tested.append(proof)
        came = await self._came(replace(asked, is_proven=first != "none" or asked.text.end == "counted"), call)
        if proof == "counted":
            return came.rows, await self._missing(asked, came.rows, call)
        return came.rows, None if first == "none" else EndUnproven()

    def _merges(self, asked: _Asked, first: Sentinel) -> bool:
        """Return whether a question may be asked in one query with others that its call asks at the same moment.

        That needs an engine that sorts, as answers have shown.
        """
        if not self.is_remote or self.flow.at_once > 1 or asked.bindings or not may_be_merged(asked.text):
            return False
        return self._proofs.of(asked.text.name, first) == "sorted" and self._proofs.is_proven("sorted")

    async def _send_merged(self, merged: Merged, calls: Sequence[Call]) -> Sequence[Table | None] | None:
        """Send several questions in one query; the call whose time ends first pays for it.

        A part of its time is left for asking each alone.
        """
        payer = min(calls, key=lambda call: call.deadline.at)
        if payer.requests <= len(calls):
            return None
        # No more rows than one question may have: an endpoint may send no more.
        most = min(merged.at_most, self.query_rows + len(calls))
        merged = replace(merged, at_most=most)
        text = merged.questions[0].text
        asked = _Asked(text, merged.query, merged.shown, merged.variables, most, merged=merged)
        with payer.part(requests=1, rows=0) as part:
            part.retries = False
            part.deadline = part.deadline.within(min(_MERGED_SECONDS, part.deadline.seconds_left * _PART_FOR_MERGED))
            try:
                return (await self._came(asked, part)).answers
            except Fault as fault:
                _log.info("%s were not answered in one query: %s", merged.name, type(fault).__name__)
                is_about_query = isinstance(fault, AnswerCut | GaveUp | QueryRefused | BrokenAnswer | DeadlinePassed)
                return [None] * len(calls) if is_about_query and not part.requests else None

    async def _with_sentinel(self, asked: _Asked, proof: Proof, call: Call) -> _Came:
        """Ask for the row that proves the end; once more where it is not last, which once may be so by accident."""
        query = asked.with_sentinel(is_sorted=proof == "sorted")
        try:
            came = await self._came(query, call)
        except QueryRefused:
            # The engine may refuse what asks for that row, and not the query.
            if await self._may_have_no_rows(proof, call):
                raise
            return _Came(EMPTY, Place.ELSEWHERE)
        return await self._came(query, call) if came.place is Place.ELSEWHERE else came

    async def _may_have_no_rows(self, proof: Proof, call: Call) -> bool:
        """Return whether the row that proves the end may stand alone: it was last behind rows at this endpoint.

        Where no answer has shown it yet, one is asked for that has two rows: an engine that writes our row first, and
        cuts an answer behind it, has no others.
        """
        async with self._testing:
            if not self._proofs.is_proven(proof):
                text = template.load("two_rows")
                asked = self._asked(text, {"rows": _TWO + 1}, _TWO + 1, call).with_sentinel(is_sorted=proof == "sorted")
                try:
                    came = await self._came(asked, call)
                except QueryRefused:
                    return False
                if came.place is Place.LAST and len(came.rows) == _TWO:
                    self._proofs.held(text.name, proof)
        return self._proofs.is_proven(proof)

    async def _missing(self, asked: _Asked, rows: Table, call: Call) -> AnswerCut | None:
        """Return why rows of an answer are missing by their count, or may be, where they cannot be counted."""
        try:
            counted = (await self._came(asked.counting(), call)).rows
            _, place = without_sentinel(counted, marker(asked.query))
            count = sum(integer("count")(counted)) if place is Place.LAST else None
        except (QueryRefused, EndpointFault):
            count = None
        if count is None:
            self._proofs.failed(asked.text.name, "counted", asked.query)
            return EndUnproven()
        self._proofs.held(asked.text.name, "counted")
        return None if count == len(rows) else EndedEarly()

    async def _came(self, asked: _Asked, call: Call) -> _Came:
        """Send a query and return what comes."""
        with call.tally.query_timer(asked.name, asked.shown) as timer:
            send = partial(self._answer, self._transport_for(asked.text), asked, call, timer)
            try:
                return await self.flow.run(call, send, partial(self._probe, call))
            except ServerFailed as failed:
                if not await self._has_refused(asked, call):
                    raise
                wrong = "The endpoint answers others, and refuses this query."
                raise self._refusal(wrong, failed.first_line, _CHECK) from failed
            except QueryRefused as refused:
                if not refused.first_line:
                    raise
                raise self._refusal(refused.wrong, refused.first_line, refused.next_step) from refused

    def _refusal(self, wrong: str, first_line: str, next_step: str) -> QueryRefused:
        """Return a refusal with the endpoint's own words, but under a policy: they may repeat what is hidden."""
        said = f"{wrong.removesuffix('.')}: {quoted(first_line)}." if first_line and self._policy is None else wrong
        return QueryRefused(said, next_step=next_step)

    async def _has_refused(self, asked: _Asked, call: Call) -> bool:
        """Return whether an endpoint that failed has refused this kind of query: it answers a harmless one."""
        if asked.name == _ALIVE or not self.is_remote:
            return False
        now = self.flow.clock()
        if now >= self._refused_until.get(asked.name, now):
            try:
                await self._probe(call, call.deadline.within(_SHORT_QUERY_SECONDS))
            except Fault:
                return False
            self._refused_until[asked.name] = now + _REFUSED_SECONDS
        # The failure speaks against the query, and not against the endpoint.
        self.flow.answered()
        return True

    async def _known_engine(self, call: Call) -> EngineName:
        """Return the engine; an endpoint that does not answer at all is a fault, and no engine that is not known."""
        engine = None if self._detector is None else self._detector.engine
        if engine is None:
            await self._rows("alive", call.for_probe(), {}, 1)
        return engine or "unknown"

    async def _has_wikibase(self, call: Call) -> bool:
        rows = await self._rows("policy/wikibase", call.for_probe(), {}, 1)
        # There may be many, and one is enough.
        return bool(rows.part()[0]) or bool(rows.whole())

    @property
    def _recognised(self) -> EngineName:
        """The engine as far as it is known by now."""
        return "unknown" if self._detector is None else self._detector.recognised.engine

    def _first_proof(self, engine: EngineName) -> Sentinel:
        """Return how an engine is asked for the row that proves the end, as long as nothing speaks against it."""
        if self._pinned != "auto":
            return self._pinned
        # Nothing can be cut off an answer in this process. What sorts does so by the standard (SPARQL 1.1 Query, 15.1).
        return (TRAITS[engine].sentinel or "sorted") if self.is_remote else "none"

    def forget(self) -> None:
        """Forget what was found out about the graph, and the row cap that an earlier process found."""
        self.query_rows = self._own_query_rows
        self.remembered.forget(_ROW_CAP)

    def _take_over_row_cap(self) -> None:
        """Ask below the row cap that an earlier process found at the engine, as far as that is known by now."""
        if (name := self._of_engine(_ROW_CAP)) == self._taken_over:
            return
        self._taken_over = name
        cap = self.kept.known(name, float, seconds=self._seconds_of_engine)
        if cap is not None and FEWEST <= cap[0] < math.inf:
            self._learn_row_cap(int(cap[0]))

    def _found_row_cap(self, cap: int) -> bool:
        """Learn a row cap that this process found, and keep it; return whether that is news."""
        if not self._learn_row_cap(cap):
            return False
        self._own_query_rows = self.query_rows
        self.kept.keep(self._of_engine(_ROW_CAP), float(cap))
        return True

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

    async def _answer(self, transport: Transport, asked: _Asked, call: Call, timer: QueryTimer) -> _Came:
        """Send a query once and decode its answer; once more, for JSON, if the TSV that came cannot be read."""
        if asked.bindings:
            if not isinstance(transport, WithBindings):
                raise QueryRefused("Nothing can be bound beside a query in this process.")
            return await self._decoded(partial(transport.select_bound, asked.bindings), decode, asked, call, timer)
        wanted = self._formats.of(asked.text, self._recognised, is_proven=True) if asked.is_proven else "json"
        if asked.merged is not None or wanted == "json" or not isinstance(transport, InFormats):
            return await self._decoded(transport.select, decode, asked, call, timer)
        with contextlib.suppress(WrongFormat):
            lines = partial(decode_tsv, iris=asked.text.iris)
            return await self._decoded(partial(transport.select_in, "tsv"), lines, asked, call, timer)
        call.spend_request()
        came = await self._decoded(transport.select, decode, asked, call, timer)
        self._formats.refuse_tsv(asked.text)
        return came

    async def _decoded(
        self, select: _Select, decode_body: _Decode, asked: _Asked, call: Call, timer: QueryTimer
    ) -> _Came:
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
                came = await in_thread(
                    call,
                    lambda _: _read(decode_body(body, asked.variables, asked.at_most), asked),
                    unless=len(body) <= _FEW_BYTES,
                )
            except WrongFormat:
                raise
            except EndpointFault:
                self.flow.quota.charge_error()
                raise
            timer.decoded(len(came.rows))
        return came

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

    @property
    def doubts_escapes(self) -> bool:
        """Whether the engine may read an IRI with an escape as another one: one that nothing names may decode it."""
        return self.is_remote and self._recognised == "unknown"

    def send_by(self, way: Literal["post", "direct"]) -> bool:
        """Send queries in a way from now on; return whether that is a change."""
        if isinstance(self._over_all_graphs, InWays):
            self._over_all_graphs.send_by(way)
        return isinstance(self._transport, InWays) and self._transport.send_by(way)

    async def close(self) -> None:
        """Close the transport."""
        await self._transport.close()
