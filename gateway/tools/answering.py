"""How a call is answered: arguments read, a page made of them and written, and its cost recorded however it ends.

Complete answers in the compact shape are stored whole, for as long as all that they were made from is stored and fresh.
The cache in front of the graph spares requests; presentation would still take several times as long as all the rest of
a call. An answer is stored only if nothing was asked of the graph for it: then the same call would be answered by the
same. It is stored as text, so that no caller changes the answer of another.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Generic, TypeVar, cast

from cachetools import LRUCache

from gateway.answers.models import CompactAnswer, Result, ToolAnswer
from gateway.answers.page import AnyPage, PageGap, SubgraphPage
from gateway.answers.reference import REFERENCE
from gateway.answers.shape import Json, Shape, size_of
from gateway.answers.size import explained, max_bytes
from gateway.arguments import (
    EVERY_LANGUAGE,
    AnyArguments,
    Arguments,
    BfsQuery,
    DescribeEntities,
    DescribeEntity,
    IntersectSubgraphs,
    MemberArguments,
    is_only,
    language_of,
    parse,
)
from gateway.errors import DeadlinePassed, InputError, UnknownTermError
from gateway.escaping import json_text
from gateway.graph.call import Call, Deadline, Freshness, GivenTerms, OtherGraphs, Progress, no_progress
from gateway.graph.computing import in_thread
from gateway.schema.cache import SchemaCache
from gateway.schema.view import SchemaView
from gateway.settings.profile import Profile
from gateway.telemetry.record import Record
from gateway.telemetry.tally import Clock, Tally, span
from gateway.terms.coined_prefixes import NamedNamespaces
from gateway.terms.prefixes import PrefixMap
from gateway.tools.readers import given_iris, texts_in
from gateway.tools.terms_by_meaning import TermsByMeaning

AnyAnswer = TypeVar("AnyAnswer", bound=ToolAnswer | CompactAnswer)

OnRecord = Callable[[Record], object]
"""Receives the record of each call when it has ended; it must not raise."""


Namespaces = Callable[[Deadline], tuple[Iterable[str], bool]]
"""Returns the namespaces of IRIs of a graph, and whether these are all; fewer where the time is not enough."""

_FREE_TEXTS = frozenset({"query", "queries", "snapshot", "language", "show"})
"""Arguments that are no IDs and have none in them."""

_FOR_KNOWN_PREFIXES = 0.1
_FOR_UNKNOWN_PREFIXES = 0.5
"""The share of its time in which a call reads the namespaces of the graph: without them, one that another namespace has
too might be read, or none."""


def drop_record(_: Record) -> None:
    """Do nothing with the record of a call."""


@dataclass(frozen=True, slots=True)
class Tool(Generic[AnyArguments, AnyAnswer]):
    """How a tool answers: its arguments become a page that fits in a shape, and what that is written as its answer."""

    arguments: type[AnyArguments]
    page: Callable[[AnyArguments, Shape, Call], Awaitable[AnyPage]]
    answer: Callable[[Json], AnyAnswer]


_STORED = frozenset({BfsQuery.tool, IntersectSubgraphs.tool, DescribeEntity.tool, DescribeEntities.tool})
"""Tools whose answers follow from nodes, edges and the schema. Searches have indexes beside these."""


class Answerer:
    """Answers calls about one graph.

    Args:
        profile: The settings of the endpoint and its graph.
        prefixes: The prefixes of IDs.
        schema_cache: Has the schema by which calls are answered.
        clock: The time in seconds.
        on_record: Receives the record of each call; the log receives it too.
        note: Returns what each answer says beside what it is about, as a warning; empty for nothing.
        namespaces: Returns the namespaces of a graph in this process; None where they are not known.
        terms: Finds terms by the meaning of their names; None without an embedder.

    Attributes:
        others: The other graphs in which descriptions look for entities, where a call names none.
    """

    def __init__(
        self,
        profile: Profile,
        prefixes: PrefixMap,
        schema_cache: SchemaCache,
        clock: Clock,
        on_record: OnRecord,
        note: Callable[[], str] = str,
        namespaces: Namespaces | None = None,
        terms: TermsByMeaning | None = None,
    ) -> None:
        self._terms = terms
        self._profile = profile
        self._hides = not profile.hidden.is_empty
        self._prefixes = prefixes
        self._schema_cache = schema_cache
        self._clock = clock
        self._on_record = on_record
        self._answers = AnswerCache()
        self._note = note
        self._namespaces = namespaces
        self._learning = asyncio.Lock()
        self._tried = 0.0
        self.others: OtherGraphs = {}

    def forget(self) -> None:
        """Drop all stored answers."""
        self._answers.clear()

    async def answer(
        self,
        tool: Tool[AnyArguments, AnyAnswer],
        given: Mapping[str, Any],
        progress: Progress = no_progress,
        *,
        explain: bool = True,
        shape: Shape = REFERENCE,
        is_stored: bool = False,
        others: OtherGraphs | None = None,
    ) -> AnyAnswer:
        """Return the answer of a call to unchecked arguments, and record its cost however it ends.

        Args:
            tool: The tool.
            given: The arguments by name.
            progress: Called after each hop of a traversal.
            explain: Whether the argument `explain` is accepted.
            shape: The shape of the answer.
            is_stored: Whether a compact answer may be stored, for calls that would be answered by the same.
            others: The other graphs in which descriptions look for entities, if not `self.others`.

        Raises:
            InputError: An argument is wrong.
            Fault: The graph could not be queried.
        """
        name = tool.arguments.tool
        seen = self.others if others is None else others
        # What another graph has may change, and who may see it is another client's affair.
        is_of_others = bool(seen and self._profile.identity.predicates)
        note = self._note()
        answers = self._answers if is_stored and name in _STORED and not is_of_others and not note else None
        tally = Tally(name, self._clock)
        with span(f"call {name}", {"bfsql.tool": name}) as traced:
            try:
                # Time outside the other stages counts as presentation.
                with tally.stage("presentation"), self._prefixes.one_answer():
                    arguments = parse(tool.arguments, given, explain=explain)
                    tally.with_queries = arguments.explain
                    call = self._call(tally, progress, seen)
                    call.in_every_language = arguments.language == EVERY_LANGUAGE
                    call.language = language_of(arguments.language)
                    call.in_no_other_language = is_only(arguments.language)
                    await self._learn_prefixes(arguments, call)
                    if self._hides:
                        call.given = GivenTerms(given_iris(arguments, self._prefixes))
                    schema = self._schema_cache.latest
                    # Only compact answers are stored.
                    answer = None if answers is None else cast("AnyAnswer | None", answers.get(arguments, schema))
                    is_complete = True
                    gaps: Sequence[PageGap] = ()
                    if answer is None:
                        page = await self._page(tool, arguments, shape, call)
                        written = _noted(page.written, note) if note else page.written
                        answer, is_complete = tool.answer(written), page.complete
                        _note_show(answer, arguments)
                        gaps = page.header.gaps if isinstance(page, SubgraphPage) else ()
                        # With less time, something may be left out for lack of it.
                        had_time = call.call_deadline.seconds_left > self._profile.limits.deadline_seconds / 2
                        is_latest = schema is self._schema_cache.latest
                        if answers is not None and is_complete and is_latest and had_time:
                            answers.put(arguments, page.written, call.freshness, schema)
            except BaseException as error:
                self._on_record(tally.failed(error))
                raise
            record = tally.answered(complete=is_complete, causes=[gap.cause for gap in gaps])
            traced.note({"bfsql.outcome": record.outcome, "bfsql.causes": record.causes, "bfsql.rows": record.rows})
        self._on_record(record)
        if arguments.explain:
            limit = max_bytes(self._profile.size, getattr(arguments, "max_tokens", None), explain=False)
            answer.explain = explained(record, limit - size_of(answer.as_json()))
        return answer

    async def _page(
        self, tool: Tool[AnyArguments, AnyAnswer], arguments: AnyArguments, shape: Shape, call: Call
    ) -> AnyPage:
        """Return the page of a tool; an error of a name that is none has the terms that are near in meaning.

        Raises:
            InputError: An argument is wrong.
            Fault: The graph could not be queried.
        """
        try:
            return await tool.page(arguments, shape, call)
        except InputError as error:
            view = self._schema_cache.latest
            if self._terms is None or view is None or type(error) not in {InputError, UnknownTermError}:
                raise
            near = await self._terms.near(arguments, view, call)
            if not near:
                raise
            next_step = f"{near} {error.next_step}".strip()
            raise type(error)(error.wrong, valid=error.valid, next_step=next_step) from error

    async def _learn_prefixes(self, arguments: Arguments, call: Call) -> None:
        """Read the namespaces of the graph before the first coined prefix is read, if that takes no longer than it may.

        Where it does, it is not tried again, unless for an unknown prefix after it was for known ones.
        """
        if self._namespaces is None:
            return
        given = [value for name, value in vars(arguments).items() if name not in _FREE_TEXTS]
        names = self._prefixes.coined_names(texts_in(given))
        share = _FOR_KNOWN_PREFIXES if all(map(self._prefixes.knows, names)) else _FOR_UNKNOWN_PREFIXES
        if not names or share <= self._tried:
            return
        try:
            async with asyncio.timeout(call.call_deadline.seconds_left * share), self._learning:
                if share > self._tried:
                    named, are_all = await in_thread(call, partial(self._named, self._namespaces))
                    self._prefixes.learn(named, are_all=are_all)
                    self._tried = 1.0
        except (TimeoutError, DeadlinePassed):
            self._tried = max(share, self._tried)

    def _named(self, namespaces: Namespaces, deadline: Deadline) -> tuple[NamedNamespaces, bool]:
        found, are_all = namespaces(deadline)
        return self._prefixes.named(deadline.checking(found)), are_all

    def own_call(self, name: str, seconds: float | None = None) -> Call:
        """Return a call that no caller made, with so many seconds, or those that every call has."""
        return self._call(Tally(name, self._clock), no_progress, {}, seconds)

    def _call(self, tally: Tally, progress: Progress, others: OtherGraphs, seconds: float | None = None) -> Call:
        limits = self._profile.limits
        deadline = Deadline.after(limits.deadline_seconds if seconds is None else seconds, self._clock)
        return Call(deadline, limits.requests, limits.rows, limits.nodes, tally=tally, progress=progress, others=others)


def _note_show(answer: object, arguments: Arguments) -> None:
    if isinstance(answer, Result) and isinstance(arguments, MemberArguments):
        answer.set_show(arguments.show)


def _noted(written: Json, note: str) -> Json:
    """Return an answer with one more warning, the first one."""
    return {**written, "warnings": [note, *written.get("warnings", ())]}


_BYTES = 8 << 20
"""Memory for answers: some hundred pages of the default size."""

_ENTRY = 2_000
"""Bytes of an entry beside its text."""

_Key = tuple[str, str]


@dataclass(frozen=True, slots=True)
class _Stored:
    """An answer, what it was made from, and the schema by which it was written."""

    text: str
    freshness: Freshness
    schema: SchemaView | None

    @property
    def size(self) -> int:
        """Bytes, for one to four a character."""
        return self.text.__sizeof__() + _ENTRY


class AnswerCache:
    """Answers by tool and arguments; those with what they cost are not stored."""

    def __init__(self, bytes_: int = _BYTES) -> None:
        self._answers: LRUCache[_Key, _Stored] = LRUCache(bytes_, getsizeof=lambda stored: stored.size)

    def get(self, question: Arguments, schema: SchemaView | None) -> CompactAnswer | None:
        """Return the answer to a question; None if none is stored, or it would be made from something else now."""
        key = _key(question)
        stored = self._answers.get(key)
        if stored is None:
            return None
        if stored.schema is not schema or not stored.freshness.holds():
            del self._answers[key]
            return None
        return CompactAnswer(json.loads(stored.text))

    def put(self, question: Arguments, written: Json, freshness: Freshness, schema: SchemaView | None) -> None:
        """Store a complete answer as it is written, if nothing was asked of the graph for it."""
        if not freshness.holds() or question.explain:
            return
        stored = _Stored(json_text(written), freshness, schema)
        if stored.size <= self._answers.maxsize:
            self._answers[_key(question)] = stored

    def clear(self) -> None:
        """Drop all answers."""
        self._answers.clear()


def _key(question: Arguments) -> _Key:
    return question.tool, question.model_dump_json()
