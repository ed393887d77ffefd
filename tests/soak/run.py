"""A soak from its first call to its report."""

import asyncio
import gc
import hashlib
import math
import random
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack
from typing import Any

from gateway.answers.models import Answer
from gateway.errors import GatewayError
from gateway.tools.gateway import Gateway
from tests.columns import Column, ColumnName
from tests.oracle import OracleGraph
from tests.soak.leaks import held, left_over, tasks_of_the_gateway
from tests.soak.pulse import Pulse
from tests.soak.questions import GRAPHS, Expected, Question, draw, endless, oracle_of, profile_for, share_of
from tests.soak.report import Report
from tests.soak.schedule import Call, due_at, plan_of_json
from tests.soak.slot import Clean, Slot, opened
from tests.soak.verdict import Verdict, judge

SLOTS = 8
_QUESTIONS = 400
"""Different questions about each graph; a call forgets what the call before it learnt."""

_PATIENCE_S = 60.0

_AGAIN = 0.25
"""Share of the calls with a fault that are made once more without one."""

Say = Callable[[str], None]


def soak(
    columns: Sequence[Column], *, calls: int, seed: int, least: int, say: Say, graphs: Sequence[str] = GRAPHS
) -> Report:
    """Make seeded calls through the fault proxy, eight at a time, and report.

    Args:
        columns: The engines, each behind HTTP.
        calls: How many.
        seed: What everything is drawn from.
        least: How often each fault has to happen on each engine.
        say: Told how far it is.
        graphs: What is asked about.
    """
    report = Report(seed, [column.name for column in columns], least)
    planned = list(_calls(columns, graphs, calls, seed))
    say(f"{len({call.question for call in planned})} questions drawn")
    # What is expected is hundreds of thousands of objects, and looking through them would take a second now and then.
    gc.collect()
    gc.freeze()
    try:
        return asyncio.run(_run(columns, planned, report, say))
    finally:
        gc.unfreeze()


def replay(columns: Sequence[Column], failures: Sequence[Mapping[str, Any]], say: Say) -> Report:
    """Make the calls of a report again, each alone, with the same faults at the same requests."""
    report = Report(0, [column.name for column in columns], least=0)
    by_name = {column.name: column for column in columns}
    library = _Library(report.seed)
    again: list[Call] = []
    for written in failures:
        question = Question.of_json(written["question"])
        expected = question.expected(library.oracle(by_name[written["engine"]], question.graph))
        again.append(Call(len(again), written["engine"], written["tight"], question, expected, (), again=True))
    plans = [written["plan"] for written in failures]
    return asyncio.run(_run(columns, again, report, say, slots=1, plans=plans))


def _calls(columns: Sequence[Column], graphs: Sequence[str], count: int, seed: int) -> Iterator[Call]:
    dice = random.Random(seed)  # noqa: S311 - a seeded run, not a secret
    library = _Library(seed)
    pools: dict[tuple[str, str], Iterator[tuple[Question, Expected]]] = {}
    shares = [share_of(graph, graphs) for graph in graphs]
    for column in columns:
        for graph, share in zip(graphs, shares, strict=True):
            drawn = library.questions(column, graph, min(_QUESTIONS, math.ceil(count * share)))
            pools[column.name, graph] = endless(drawn, random.Random(f"{seed} {column.name} {graph}"))  # noqa: S311
    for number in range(count):
        column = columns[number // SLOTS % len(columns)]
        graph = dice.choices(graphs, shares)[0]
        question, expected = next(pools[column.name, graph])
        tight = graph == "random" and dice.random() < 0.4
        yield Call(number, column.name, tight, question, expected, due_at(question, dice), dice.random() < _AGAIN)


class _Library:
    """Oracles and questions, one for each graph and what an engine was given of it."""

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._oracles: dict[str, OracleGraph] = {}
        self._drawn: dict[str, Sequence[tuple[Question, Expected]]] = {}

    def oracle(self, column: Column, graph: str) -> OracleGraph:
        """Return the oracle over a graph as an engine holds it."""
        key = _content(column, graph)
        if key not in self._oracles:
            self._oracles[key] = oracle_of(column, graph)
        return self._oracles[key]

    def questions(self, column: Column, graph: str, count: int) -> Sequence[tuple[Question, Expected]]:
        """Return questions about it, and what is right."""
        key = _content(column, graph)
        if key not in self._drawn:
            dice = random.Random(f"{self._seed} {graph}")  # noqa: S311 - a seeded run, not a secret
            self._drawn[key] = draw(graph, self.oracle(column, graph), dice, count)
        return self._drawn[key]


def _content(column: Column, graph: str) -> str:
    digest = hashlib.sha256(graph.encode())
    for file in column.files[graph]:
        digest.update(file.read_bytes())
    return digest.hexdigest()


async def _run(
    columns: Sequence[Column],
    calls: Sequence[Call],
    report: Report,
    say: Say,
    *,
    slots: int = SLOTS,
    plans: Sequence[Any] = (),
) -> Report:
    clean = await _clean(columns, calls, report)
    say(f"{len(clean)} of them answered without faults, to compare values with")
    before = held()
    graphs = sorted({call.question.graph for call in calls})
    async with AsyncExitStack() as opened:
        pulse = await opened.enter_async_context(Pulse())
        places = [
            await opened.enter_async_context(Slot(columns, graphs, report.seed, place / slots, pulse))
            for place in range(slots)
        ]
        begun = time.monotonic()

        async def work(slot: Slot, own: Sequence[Call]) -> None:
            for call in own:
                plan = plan_of_json(plans[call.number]) if plans else None
                report.outcomes.append(await slot.make(call, clean, plan))
                if len(report.outcomes) % 500 == 0:
                    say(f"{len(report.outcomes):,} calls, {time.monotonic() - begun:,.0f} s")

        async with asyncio.TaskGroup() as tasks:
            for place, slot in enumerate(places):
                tasks.create_task(work(slot, calls[place::slots]))
        report.seconds = time.monotonic() - begun
        report.blocked = pulse.worst
        report.tasks += tasks_of_the_gateway()
        report.connections = sum([await slot.close_gateways() for slot in places])
        report.upstream_failures = sum(slot.proxy.upstream_failures for slot in places if slot.proxy)
    tasks_left, report.handles = await left_over(before)
    report.tasks += tasks_left
    report.outcomes.sort(key=lambda outcome: outcome.call.number)
    return report


async def _clean(columns: Sequence[Column], calls: Sequence[Call], report: Report) -> Clean:
    """Ask each engine, without a proxy, what has values in its answer."""
    by_name = {column.name: column for column in columns}
    groups: defaultdict[tuple[ColumnName, str, bool], list[Call]] = defaultdict(list)
    for call in calls:
        group = groups[call.engine, call.question.graph, call.tight]
        if not (call.question.hops and call.question.topology_only):
            group.append(call)
    answers: dict[tuple[ColumnName, bool, Question], Answer] = {}
    for (engine, graph, tight), group in groups.items():
        patient = profile_for(graph, engine, tight=tight, seconds=_PATIENCE_S)
        async with await opened(by_name[engine], graph, patient) as gateway:
            for call in {call.question: call for call in group}.values():
                answer = await _asked(gateway, call.question)
                verdict, detail = judge(call.question, call.expected, answer)
                if verdict is not Verdict.RIGHT:
                    report.unclean.append(f"{engine} {verdict}: {call.question}: {detail}")
                elif isinstance(answer, Answer):
                    answers[engine, tight, call.question] = answer
    return answers


async def _asked(gateway: Gateway, question: Question) -> Answer | GatewayError:
    try:
        return await gateway.call(question.tool, question.arguments)
    except GatewayError as error:
        return error
