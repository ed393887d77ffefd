"""Several questions of one call in one query, for an endpoint that runs one query at a time.

What a call asks side by side waits in line there, and each question costs a round trip. Those about given nodes that
are asked at the same moment are sent in one query instead. Each has its own limit and a row of ours that proves its
end, so an answer that is cut loses the questions from there on. A question that is lost, for whatever reason, is asked
alone, as if nothing had been merged.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Final

from gateway.errors import BrokenAnswer
from gateway.graph.call import Call, Requester
from gateway.sparql import markup, template
from gateway.sparql.sentinel import END, apart, marker
from gateway.sparql.table import LiteralTerm, Table
from gateway.telemetry.tally import Clock
from gateway.terms import render

_AT_ONCE: Final = 4
"""Questions in one query at most."""

_CHARACTERS: Final = 60_000
"""Characters of all of them: a longer query may be refused, and its answer may be long."""

_PASSES: Final = 12
"""Passes of the event loop in which the other questions may come that a call asks at the same moment.

Between a task that asks and its query there are the caches and the batches, a task each.
"""

_APART_SECONDS: Final = 900.0
"""How long questions by some templates are not merged after an answer to them was not whole."""

_DIALECTS: Final = frozenset({"sparql-1.1", "lateral"})


@dataclass(frozen=True, slots=True)
class Question:
    """A query that may be merged.

    Attributes:
        text: Its template.
        query: The query.
        shown: The query as `explain` shows it.
        at_most: The rows that it has at most.
    """

    text: template.Template
    query: str
    shown: str
    at_most: int


@dataclass(frozen=True, slots=True)
class Merged:
    """Several questions in one query.

    Attributes:
        questions: The questions, in the order in which their rows come.
        at_most: The rows that it has at most.
    """

    questions: tuple[Question, ...]
    at_most: int

    @property
    def name(self) -> str:
        """The names of their templates."""
        return " + ".join(one.text.name for one in self.questions)

    @property
    def variables(self) -> tuple[str, ...]:
        """What the query projects."""
        return (*dict.fromkeys(name for one in self.questions for name in one.text.variables), END)

    @property
    def query(self) -> str:
        """What is sent."""
        return self._around([one.query for one in self.questions])

    @property
    def shown(self) -> str:
        """What `explain` shows."""
        return self._around([one.shown for one in self.questions])

    def _around(self, queries: Sequence[str]) -> str:
        prologue: dict[str, None] = {}
        written = []
        for number, query in enumerate(queries):
            prefixes, body = apart(query)
            prologue |= dict.fromkeys(prefixes.splitlines(keepends=True))
            slots = {
                "query": body.rstrip(),
                "label": render.string(_label(number)),
                "marker": render.string(_mark(number, query)),
            }
            written.append("".join(markup.write(_parts("merged_question"), slots, _none)).rstrip())
        slots = {
            "variables": " ".join(f"?{name}" for name in self.variables[:-1]),
            "first": written[0],
            "most": render.integer(self.at_most),
        }
        return "".join([*prologue, *markup.write(_parts("merged"), slots, lambda _: written[1:])])

    def answers(self, rows: Table) -> tuple[Table | None, ...]:
        """Return the rows of each question; None where it is not proven that all of them came.

        Raises:
            BrokenAnswer: The answer has rows twice.
        """
        ends = [end.value if isinstance(end, LiteralTerm) else None for end in rows.terms(END)]
        found: list[Table | None] = [None] * len(self.questions)
        position = 0
        for number, question in enumerate(self.questions):
            begin, label = position, _label(number)
            while position < len(ends) and ends[position] == label:
                position += 1
            if position == len(ends):
                break
            if ends[position] != _mark(number, question.query):
                return (None,) * len(found)
            own = rows.at(range(begin, position))
            if question.text.is_distinct and own.repeated(question.text.variables):
                raise BrokenAnswer("The endpoint sent rows of an answer twice.", next_step="Try again later.")
            found[number] = own
            position += 1
        # Rows behind the last one show that they do not come in order, so a row before it proves nothing.
        return tuple(found) if position == len(ends) else (None,) * len(found)


def may_be_merged(text: template.Template) -> bool:
    """Return whether questions by a template may be merged: they are about given nodes, and prove their ends."""
    is_of_nodes = "nodes" in text.of_iris and text.reads == "graph"
    return is_of_nodes and text.end == "sentinel" and text.dialect in _DIALECTS


def _label(number: int) -> str:
    return str(number)


def _mark(number: int, query: str) -> str:
    return f"{number} {marker(query)}"


def _none(_: str) -> Sequence[str]:
    return ()


@cache
def _parts(name: str) -> Sequence[markup.Part]:
    return markup.read(template.part(name))


@dataclass(slots=True, eq=False)
class _Waiting:
    """A question that waits for its rows, and the call that asks it."""

    question: Question
    call: Call
    rows: Table | None = None


@dataclass(slots=True, eq=False)
class _Gathering:
    """Questions of one call that go into one query."""

    questions: list[_Waiting] = field(default_factory=list)
    waiters: int = 0
    task: asyncio.Task[None] = field(init=False)


Send = Callable[[Merged, Sequence[Call]], Awaitable[Sequence[Table | None] | None]]
"""Sends a query for parts of one call, and returns the rows of each question; None where that says nothing of them."""


class Merger:
    """Puts the questions together that a call asks at the same moment.

    Args:
        send: Sends a query.
        clock: A monotonic clock, in seconds.
    """

    def __init__(self, send: Send, clock: Clock) -> None:
        self._send = send
        self._clock = clock
        self._gathering: dict[Requester, _Gathering] = {}
        self._apart: dict[frozenset[str], float] = {}

    async def rows(self, question: Question, call: Call) -> Table | None:
        """Return all rows of a question that was asked together with others; None where it is to be asked alone."""
        gathering = self._gathering.get(call.requester)
        if gathering is None:
            gathering = self._gathering[call.requester] = _Gathering()
            gathering.task = asyncio.create_task(self._ask(gathering, call.requester))
        waiting = _Waiting(question, call)
        gathering.questions.append(waiting)
        task = gathering.task
        gathering.waiters += 1
        try:
            await asyncio.wait({task})
        finally:
            gathering.waiters -= 1
            if self._gathering.get(call.requester) is gathering:
                gathering.questions.remove(waiting)
            if not gathering.waiters and not task.done():
                # Who asks from now on must not wait for what is being cancelled.
                self._close(gathering, call.requester)
                task.cancel()
                await asyncio.wait({task})
        task.result()
        return waiting.rows

    async def _ask(self, gathering: _Gathering, requester: Requester) -> None:
        try:
            for _ in range(_PASSES):
                await asyncio.sleep(0)
        finally:
            self._close(gathering, requester)
        together = self._together(gathering.questions)
        if len(together) <= 1:
            return
        questions = tuple(one.question for one in together)
        merged = Merged(questions, sum(one.at_most + 1 for one in questions))
        answers = await self._send(merged, [one.call for one in together])
        if answers is None:
            return
        if None in answers:
            self._apart[_names(together)] = self._clock() + _APART_SECONDS
        for one, rows in zip(together, answers, strict=True):
            one.rows = rows

    def _close(self, gathering: _Gathering, requester: Requester) -> None:
        if self._gathering.get(requester) is gathering:
            del self._gathering[requester]

    def _together(self, asked: Sequence[_Waiting]) -> Sequence[_Waiting]:
        """Return those of some questions that go into one query."""
        chosen: list[_Waiting] = []
        namespaces: dict[str, str] = {}
        characters = 0
        for one in asked:
            declared = dict(line.split(": ", 1) for line in apart(one.question.query)[0].splitlines())
            characters += len(one.question.query)
            if len(chosen) == _AT_ONCE or characters > _CHARACTERS:
                break
            if all(namespaces.get(prefix, namespace) == namespace for prefix, namespace in declared.items()):
                namespaces |= declared
                chosen.append(one)
        return () if self._apart.get(_names(chosen), 0.0) > self._clock() else chosen


def _names(questions: Sequence[_Waiting]) -> frozenset[str]:
    return frozenset(one.question.text.name for one in questions)
