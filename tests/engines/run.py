"""Asking one engine all questions, a graph at a time, a quarter of the answers cut between two rows."""

import asyncio
import json
import random
import tempfile
import time
from argparse import ArgumentParser, Namespace
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from typing import Final

from gateway.flow.control import FlowControl
from gateway.graph.call import Call, Deadline
from gateway.settings.profile import Profile
from gateway.sparql.engines import EngineDetector
from tests.columns import Column
from tests.drawn.judging import Truth
from tests.drawn.questions import Question, profile_for
from tests.drawn.run import asked, drawn, truth_of
from tests.engines import odd_iris
from tests.engines.catalogue import ENGINES, Engine
from tests.engines.judged import EngineReport, Engines, Judged, Part, write_table
from tests.faults.catalogue import BY_SENTINEL, InjectedFault
from tests.faults.proxy import each, fault_proxy
from tests.faults.reply import Answer, Reply
from tests.harness.asking import at_once
from tests.harness.kind import Kind, Say, UsageError
from tests.servers.engines import Asked, Files
from tests.servers.loaded import LoadError
from tests.servers.maven import ChecksumMismatchError
from tests.servers.oxigraph import OxigraphLoadError
from tests.servers.process import ServerStartError
from tests.servers.unavailable import ServerUnavailable

SHARE: Final = 0.25
"""Of the answers that have rows."""


def quarter_cut(seed: str) -> InjectedFault:
    """Return what happens to every answer: to a quarter of those with rows, one of the cuts.

    Args:
        seed: What is drawn from it: which answers, and which cut.
    """
    dice = random.Random(seed)  # noqa: S311 - not a secret

    def spoil(answer: Answer) -> Reply | None:
        if not answer.rows or dice.random() >= SHARE:
            return None
        return dice.choice(BY_SENTINEL).spoil(answer)

    return InjectedFault("quarter-cut", "a proxy with a cap of its own", spoil, detectable=False, by_sentinel=True)


SHARES: Final = {
    "names": 0.15,
    "random": 0.3,
    "medical": 0.1,
    "films": 0.1,
    "associations": 0.1,
    "singletons": 0.05,
    "wikidata-slice": 0.05,
    "awkward": 0.15,
}
"""Which part of the drawn questions is about which graph: those that any machine has, without shared data."""

_OF_ODD_IRIS: Final = 0.25
_CUT: Final = 2
"""Of the drawn questions each second is asked again while answers are cut."""

_DEADLINE_SECONDS: Final = 60.0


def ask(engine: Engine, count: int, seed: int) -> EngineReport:
    """Start an engine and ask it; the report has what the gateway took it for.

    Args:
        engine: The engine.
        count: Questions that are drawn about all graphs.
        seed: What they are drawn from.

    Raises:
        ServerUnavailable: This machine cannot run the engine.
        ChecksumMismatchError: What was fetched is not what is pinned.
        ServerStartError: It was started and did not answer.
        LoadError: It refused a graph, or lost a part of it.
    """
    begun = time.monotonic()
    report = EngineReport(engine.name)
    with tempfile.TemporaryDirectory(prefix="engines-") as place:
        folder = Path(place)
        for together in engine.served_together(graphs_of(engine, folder)):
            own = folder / "-".join(["server", *together])[:60]
            own.mkdir()
            with engine.start(together, own) if engine.start else nullcontext() as how:
                asyncio.run(_ask_all(engine, _column(together, how), count, seed, report))
    report.seconds = time.monotonic() - begun
    return report


def graphs_of(engine: Engine, folder: Path) -> Files:
    """Write the graphs that an engine is asked about."""
    written = engine.files(folder)
    odd = odd_iris.write(folder / f"{odd_iris.GRAPH}.nt", composed=engine.name == "blazegraph")
    return {**{graph: written[graph] for graph in engine.graphs or SHARES}, odd_iris.GRAPH: [odd]}


def questions_about(graph: str, truth: Truth, count: int, seed: int, engine: Engine) -> list[Question]:
    """Return the questions about one graph, of so many about all."""
    if graph != odd_iris.GRAPH:
        share = SHARES[graph] / sum(SHARES[one] for one in engine.graphs or SHARES)
        return drawn(graph, truth, seed, round(count * share), engine.name)
    return [*drawn(graph, truth, seed, round(count * _OF_ODD_IRIS)), *odd_iris.questions()]


def _column(files: Files, how: Mapping[str, Asked] | None) -> Column:
    # The name is that of an engine of the tests; here all that hangs on it is read from the files.
    return Column("in-process", files, annotated=False, _asked=how.__getitem__ if how is not None else None)


async def _ask_all(engine: Engine, column: Column, count: int, seed: int, report: EngineReport) -> None:
    for graph, paths in column.files.items():
        report.recognised = report.recognised or await _recognised(engine, column, graph)
        truth = truth_of(graph, paths, engine.name, evidence=engine.evidence)
        about = questions_about(graph, truth, count, seed, engine)
        async with column.open(graph, _profile(engine, graph)) as gateway:
            part = Part.ODD if graph == odd_iris.GRAPH else Part.DRAWN
            worth = await at_once(about, partial(asked, gateway, truth=truth))
            report.answers += [Judged(part, question, *one) for question, one in zip(about, worth, strict=True)]
        if engine.start is not None and graph != odd_iris.GRAPH:
            report.answers += await _while_cut(engine, column, graph, about[::_CUT], truth, seed)


def _profile(engine: Engine, graph: str) -> Profile:
    profile = profile_for(graph)
    limits = profile.limits.model_copy(update={"deadline_seconds": _DEADLINE_SECONDS})
    return engine.settled(profile.model_copy(update={"limits": limits}))


async def _recognised(engine: Engine, column: Column, graph: str) -> str:
    """Return what a gateway takes an engine for, before its first query."""
    if engine.start is None:
        return "itself"
    profile = column.settle(graph, _profile(engine, graph))
    transport = column.transport(graph)
    try:
        detector = EngineDetector(transport, profile, FlowControl(profile.endpoint.requests))
        await detector.detect(Call(Deadline.after(10), requests=2, rows=0, nodes=0))
    finally:
        await transport.close()
    return detector.engine or "unknown"


async def _while_cut(
    engine: Engine, column: Column, graph: str, about: Sequence[Question], truth: Truth, seed: int
) -> list[Judged]:
    """Ask one question after the other, each of a gateway that has nothing stored, while answers are cut."""
    judged: list[Judged] = []
    async with fault_proxy(column.url(graph)) as proxy:
        plan = await proxy.begin(each(quarter_cut(f"{seed} {engine.name} {graph}")))
        async with column.open(graph, _profile(engine, graph), through=proxy.url()) as gateway:
            for question in about:
                gateway.forget()
                before = len(plan.injected)
                verdict, detail = await asked(gateway, question, truth)
                judged.append(Judged(Part.CUT, question, verdict, detail, len(plan.injected) - before))
    return judged


_NOT_RUN: Final = (ServerUnavailable, ChecksumMismatchError, ServerStartError, LoadError, OxigraphLoadError)


def _options(parser: ArgumentParser) -> None:
    parser.add_argument("--allow-missing", type=_names, default=[], metavar="A,B", help="which need not run")
    parser.add_argument("--against", type=Path, metavar="FILE", help="a report of an earlier run, to compare with")
    parser.add_argument("--table", type=Path, metavar="FILE", help="the page whose table is written")


def _names(text: str) -> list[str]:
    return text.split(",")


def _run(options: Namespace, say: Say) -> Engines:
    engines = [ENGINES[name] for name in options.engine or ENGINES]
    if options.table is not None and len(engines) < len(ENGINES):
        raise UsageError("the table is one of all engines: leave out --engine")
    before = None if options.against is None else json.loads(options.against.read_text(encoding="utf-8"))
    reports = []
    for engine in engines:
        try:
            reports.append(ask(engine, options.questions, options.seed))
        except _NOT_RUN as error:
            reports.append(EngineReport(engine.name, not_run=str(error)))
        say(reports[-1].as_text())
    run = Engines(options.questions, options.seed, reports, options.allow_missing, before)
    if options.table is not None:
        write_table(options.table, engines, run)
    return run


KIND: Final = Kind(
    "drawn questions on many engines, with whole and with cut answers; 1 where one is wrong, or was not run",
    _run,
    questions=60,
    counted="drawn for each engine",
    engines=tuple(ENGINES),
    options=_options,
)
