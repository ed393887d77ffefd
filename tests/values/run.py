"""Asks drawn questions about values of a store, also through a proxy that injects the faults of the soak."""

import asyncio
import random
import re
import tempfile
from argparse import ArgumentParser, Namespace
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from gateway.answers.models import CompactAnswer
from gateway.arguments import MAX_HITS
from gateway.errors import GatewayError
from gateway.settings.endpoint import EndpointSettings, TimeoutSettings
from gateway.settings.limits import LimitSettings
from gateway.settings.profile import Profile
from gateway.tools.gateway import Gateway
from tests.faults.proxy import at, fault_proxy
from tests.harness.asking import all_pages, at_once, judged
from tests.harness.kind import Kind, Say, UsageError
from tests.harness.report import BAD, Judgement, Report, Verdict
from tests.harness.stores import OVER_HTTP, STORES
from tests.soak.slot import FAULTS_A_CALL, Deck, opened, short_rests
from tests.values.figures import groups_of, judge_groups
from tests.values.graphs import KINDS, PREFIXES, DrawnGraph, drawn
from tests.values.judge import Json, judge, next_page, told
from tests.values.oracle import answer, is_grouped
from tests.values.questions import GROUPED, Question, draw
from tests.values.stores import Store, holding, name_of
from tests.values.walks import Graph

_LACKING: Final = 0.1
"""The largest share of answers that may be refused or incomplete where nothing fails."""

_REQUESTS: Final = 8
"""About as many as a question needs."""

_DEADLINE_SECONDS: Final = 2.0

_ABSENCE: Final = re.compile(
    r"(?i)(no (predicate|type|edge) of this graph (is|has)|is no entity of|exists in this graph)"
)
"""What an error says that claims that something is not there: drawn questions name nothing that is not."""


def report_without_faults() -> Report:
    """Return a report by which nothing may be wrong, and few questions refused."""
    return Report(BAD, _LACKING)


async def ask_all(
    store: Store, graphs: Sequence[DrawnGraph], seed: int, count: int, report: Report, grouped: float = GROUPED
) -> None:
    """Ask so many questions about each graph of a store, and judge the answers."""
    for graph in graphs:
        dice = random.Random(f"{seed} {_called(graph)}")  # noqa: S311 - not for security
        # A store that cannot hold blank nodes has not every predicate.
        known = replace(graph, triples=store.held(graph)) if store.lacks_blank_nodes else graph
        drawn_questions = draw(known, dice, count, blank_nodes=store.blank_nodes, grouped=grouped)
        await ask(store, graph, drawn_questions, report)


async def ask(store: Store, graph: DrawnGraph, questions: Sequence[Question], report: Report) -> None:
    """Ask questions about one graph of a store, and judge the answers."""
    held = Graph(store.held(graph), PREFIXES, blank_nodes=store.blank_nodes)
    async with store.open(graph) as gateway:
        for question in questions:
            worth = await asked(gateway, held, question)
            report.add(store.name, question["tool"], question, worth, graph=_called(graph))


def _called(graph: DrawnGraph) -> str:
    return f"drawn {graph.number} ({graph.kind})"


async def asked(gateway: Gateway, graph: Graph, question: Question) -> Judgement:
    """Ask a question, read all pages of the answer, or the first where a limit was given, and judge them."""
    arguments = {name: value for name, value in question.items() if name != "tool"}

    async def call(more: Mapping[str, Any]) -> Json:
        given: Any = await gateway.call(question["tool"], {**arguments, **more}, shape="compact")
        written: Json = given.written if isinstance(given, CompactAnswer) else given.as_json()
        return written

    def judge_all(pages: Sequence[Json] | GatewayError) -> Judgement:
        if isinstance(pages, GatewayError):
            return Verdict.ERROR, f"{type(pages).__name__}: {pages.wrong}"
        expand = gateway.prefixes.expand
        if is_grouped(question):
            members = answer(graph, question).members
            return judge_groups(question, groups_of(graph, members, question), len(members), pages, expand)
        return judge(question, answer(graph, question), told(pages, expand), expand)

    return await judged(all_pages(call, lambda page: None if "limit" in question else next_page(page)), judge_all)


async def ask_through_faults(
    store: Store, graphs: Sequence[DrawnGraph], seed: int, count: int, report: Report, grouped: float = GROUPED
) -> None:
    """Ask about graphs while their endpoint fails, and judge the answers.

    Args:
        store: A SPARQL engine behind HTTP.
        graphs: The graphs, which are asked about at the same time, each through a proxy of its own.
        seed: What everything is drawn from.
        count: Questions about each graph.
        report: Counts the answers, and the faults.
        grouped: The share of questions about groups and figures.
    """

    async def one(placed: tuple[int, DrawnGraph]) -> None:
        place, graph = placed
        await _ask_about(store, graph, Deck(f"{seed}", place / len(graphs)), seed, count, report, grouped)

    with short_rests():
        await at_once(enumerate(graphs), one)


async def _ask_about(
    store: Store, graph: DrawnGraph, deck: Deck, seed: int, count: int, report: Report, grouped: float
) -> None:
    dice = random.Random(f"{seed} {_called(graph)} faults")  # noqa: S311 - not for security
    held = Graph(store.held(graph), PREFIXES, blank_nodes=store.blank_nodes)
    drawn_questions = draw(graph, dice, count, blank_nodes=store.blank_nodes, grouped=grouped)
    questions = [_on_one_page(one) for one in drawn_questions]
    async with fault_proxy(store.column.url(name_of(graph))) as proxy:
        profile = _failing(store, graph)
        async with await opened(store.column, name_of(graph), profile, through=proxy.url()) as gateway:
            for question in questions:
                gateway.forget()
                number = dice.choices(list(FAULTS_A_CALL), list(FAULTS_A_CALL.values()))[0]
                due = sorted(dice.sample(range(_REQUESTS), number))
                plan = await proxy.begin(at(*zip(due, deck.deal(number), strict=True)))
                planned = [(one.at, one.fault.name) for one in plan.due]
                verdict, detail = await asked(gateway, held, question)
                if verdict is Verdict.ERROR and _ABSENCE.search(detail):
                    verdict = Verdict.WRONG
                deck.take_back(plan)
                report.injected.update(plan.injected)
                worth = (verdict, f"{detail}; {planned}" if planned else detail)
                report.add(store.name, question["tool"], question, worth, graph=_called(graph))


def _on_one_page(question: Question) -> Question:
    """Return a question whose answer is one page: those behind it read the set anew, and have other faults."""
    return {"limit": MAX_HITS} | question if question["tool"] == "search_entities" else question


def _failing(store: Store, graph: DrawnGraph) -> Profile:
    """Return the profile for a graph: nothing names the engine of every second one, and every third asks for little."""
    engine = {"engine": "unknown"} if graph.number % 2 else {}
    timeout = TimeoutSettings(parameter="timeout" if store.column.name == "fuseki" else "")
    endpoint = EndpointSettings.model_validate({"timeout": timeout, **engine})
    few = {"query_rows": 60, "batch": 10, "facts_batch": 10, "requests": 2_000} if graph.number % 3 == 0 else {}
    # The schema is read before the first question, which waits for it.
    limits = LimitSettings.model_validate({"deadline_seconds": _DEADLINE_SECONDS, "schema_seconds": 60, **few})
    return store.profile.model_copy(update={"endpoint": endpoint, "limits": limits})


def _options(parser: ArgumentParser) -> None:
    parser.add_argument("--graphs", type=int, default=2 * len(KINDS), help="drawn graphs")
    parser.add_argument("--figures", action="store_true", help="about groups and figures alone")
    parser.add_argument("--faults", action="store_true", help="through a proxy that injects the faults of the soak")


def _run(options: Namespace, say: Say) -> Report:
    names = options.engine or ["files"]
    if options.faults and (others := [name for name in names if name not in OVER_HTTP]):
        raise UsageError(f"--faults: {', '.join(others)} is no SPARQL server; those are {', '.join(OVER_HTTP)}")
    graphs = [drawn(number) for number in range(options.graphs)]
    of_each, report = -(-options.questions // len(graphs)), Report(BAD) if options.faults else report_without_faults()
    for name in names:
        with tempfile.TemporaryDirectory(prefix="values-") as folder, holding(name, Path(folder), graphs) as store:
            ask_store = ask_through_faults if options.faults else ask_all
            grouped = 1.0 if options.figures else GROUPED
            asyncio.run(ask_store(store, graphs, options.seed, of_each, report, grouped))
        say(f"{name}: {report.count(*Verdict, engine=name)} answers")
    return report


KIND: Final = Kind(
    "drawn questions about values, compared with an oracle over triples; 1 also where many are refused",
    _run,
    questions=400,
    counted="on each store; `files` where none is named",
    seed=1,
    engines=STORES,
    options=_options,
)
