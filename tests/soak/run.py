"""A soak from its first call to its report."""

import asyncio
import gc
import hashlib
import json
import math
import random
import tempfile
import time
from argparse import ArgumentParser, Namespace
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, ExitStack
from pathlib import Path
from typing import Any, Final

from gateway.answers.models import Answer
from gateway.errors import GatewayError
from gateway.tools.gateway import Gateway
from tests.columns import Column
from tests.columns import column as started
from tests.drawn.judging import Truth, judge_under_faults
from tests.drawn.questions import Question
from tests.harness.kind import Kind, Say
from tests.harness.report import Verdict
from tests.harness.stores import OVER_HTTP
from tests.servers.engines import ColumnName
from tests.soak.process import Pulse, held, left_over, tasks_of_the_gateway
from tests.soak.questions import GRAPHS, draw, endless, profile_for, share_of, truth_of
from tests.soak.report import Report
from tests.soak.slot import Call, Clean, Slot, due_at, opened, plan_of_json

SLOTS = 8
_CALLS = 10_000
_LEAST = 50
_QUESTIONS = 400
"""Different questions about each graph; a call forgets what the call before it learnt."""

_PATIENCE_S = 60.0

_AGAIN = 0.25
"""Share of the calls with a fault that are made once more without one."""


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
        truth = library.truth(by_name[written["engine"]], question.graph)
        again.append(Call(len(again), written["engine"], written["tight"], question, truth, (), again=True))
    plans = [written["plan"] for written in failures]
    return asyncio.run(_run(columns, again, report, say, slots=1, plans=plans))


def _calls(columns: Sequence[Column], graphs: Sequence[str], count: int, seed: int) -> Iterator[Call]:
    dice = random.Random(seed)  # noqa: S311 - a seeded run, not a secret
    library = _Library(seed)
    pools: dict[tuple[str, str], Iterator[Question]] = {}
    shares = [share_of(graph, graphs) for graph in graphs]
    for column in columns:
        for graph, share in zip(graphs, shares, strict=True):
            drawn = library.questions(column, graph, min(_QUESTIONS, math.ceil(count * share)))
            pools[column.name, graph] = endless(drawn, random.Random(f"{seed} {column.name} {graph}"))  # noqa: S311
    for number in range(count):
        column = columns[number // SLOTS % len(columns)]
        graph = dice.choices(graphs, shares)[0]
        question, truth = next(pools[column.name, graph]), library.truth(column, graph)
        tight = graph == "random" and dice.random() < 0.4
        yield Call(number, column.name, tight, question, truth, due_at(question, dice), dice.random() < _AGAIN)


class _Library:
    """What is right and what is asked, for each graph and what an engine was given of it."""

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._truths: dict[str, Truth] = {}
        self._drawn: dict[str, Sequence[Question]] = {}
        self._keys: dict[tuple[str, str], str] = {}

    def truth(self, column: Column, graph: str) -> Truth:
        """Return what is right of a graph as an engine holds it."""
        key = self._key(column, graph)
        if key not in self._truths:
            self._truths[key] = truth_of(column, graph)
        return self._truths[key]

    def questions(self, column: Column, graph: str, count: int) -> Sequence[Question]:
        """Return questions about it."""
        key = self._key(column, graph)
        if key not in self._drawn:
            dice = random.Random(f"{self._seed} {graph}")  # noqa: S311 - a seeded run, not a secret
            self._drawn[key] = draw(graph, self.truth(column, graph), dice, count)
        return self._drawn[key]

    def _key(self, column: Column, graph: str) -> str:
        """Return what tells files of other content apart."""
        if (column.name, graph) not in self._keys:
            digest = hashlib.sha256(graph.encode())
            for file in column.files[graph]:
                digest.update(file.read_bytes())
            self._keys[column.name, graph] = digest.hexdigest()
        return self._keys[column.name, graph]


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
                verdict, detail = judge_under_faults(call.question, call.truth, answer, gateway.prefixes.expand)
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


def _options(parser: ArgumentParser) -> None:
    parser.add_argument("--least", type=int, help="times each fault on each engine; 50 in a whole run")
    parser.add_argument("--replay", type=Path, metavar="FILE", help="make the failed calls of a report again")


def _soaked(options: Namespace, say: Say) -> Report:
    least = options.least if options.least is not None else _LEAST * options.questions // _CALLS
    with tempfile.TemporaryDirectory(prefix="soak-") as folder, ExitStack() as servers:
        columns = []
        for name in options.engine or OVER_HTTP:
            place = Path(folder) / name
            place.mkdir()
            columns.append(servers.enter_context(started(name, place, GRAPHS)))
        if options.replay is not None:
            return replay(columns, json.loads(options.replay.read_text(encoding="utf-8"))["failures"], say)
        return soak(columns, calls=options.questions, seed=options.seed, least=least, say=say)


KIND: Final = Kind(
    "thousands of calls through the fault proxy, each answer compared with the oracle's",
    _soaked,
    questions=_CALLS,
    counted="calls on all engines together",
    engines=OVER_HTTP,
    options=_options,
)
