"""Asks drawn questions about values through a proxy that injects the faults of the soak."""

import asyncio
import random
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from gateway.arguments import MAX_HITS
from gateway.settings.endpoint import EndpointSettings, TimeoutSettings
from gateway.settings.limits import LimitSettings
from gateway.settings.profile import Profile
from tests.faults.catalogue import TOLD
from tests.faults.proxy import at, fault_proxy
from tests.soak.schedule import FAULTS_A_CALL, Deck
from tests.soak.slot import opened, short_rests
from tests.values.graphs import PREFIXES, DrawnGraph
from tests.values.judge import Verdict
from tests.values.questions import Question, draw
from tests.values.run import Report, asked
from tests.values.stores import Store, name_of
from tests.values.walks import Graph

_AT_ONCE: Final = 4
"""Graphs that are asked about at the same time, each through a proxy of its own."""

_REQUESTS: Final = 8
"""About as many as a question needs."""

_DEADLINE_SECONDS: Final = 2.0

_ABSENCE: Final = re.compile(
    r"(?i)(no (predicate|type|edge) of this graph (is|has)|is no entity of|exists in this graph)"
)
"""What an error says that claims that something is not there: drawn questions name nothing that is not."""


@dataclass
class FaultReport(Report):
    """What the answers of one store are worth that come through the proxy.

    Attributes:
        injected: How often each fault happened.
    """

    injected: Counter[str] = field(default_factory=Counter)

    @property
    def is_good(self) -> bool:
        """Whether nothing is wrong."""
        return self.has_nothing_bad

    def as_text(self) -> str:
        """Return a line, and one about the faults."""
        rarest = min((self.injected[fault.name] for fault in TOLD), default=0)
        return f"{super().as_text()}{'':12} {self.injected.total()} faults, each at least {rarest} times\n"


async def ask_through_faults(store: Store, graphs: Sequence[DrawnGraph], seed: int, count: int) -> FaultReport:
    """Ask about graphs while their endpoint fails, and judge the answers.

    Args:
        store: A SPARQL engine behind HTTP.
        graphs: The graphs.
        seed: What everything is drawn from.
        count: Questions about each graph.
    """
    assert store.column is not None
    report = FaultReport(store.column.name)
    free = asyncio.Semaphore(_AT_ONCE)

    async def one(place: int, graph: DrawnGraph) -> None:
        async with free:
            await _ask_about(store, graph, Deck(f"{seed}", place / len(graphs)), seed, count, report)

    with short_rests():
        async with asyncio.TaskGroup() as tasks:
            for place, graph in enumerate(graphs):
                tasks.create_task(one(place, graph))
    return report


async def _ask_about(store: Store, graph: DrawnGraph, deck: Deck, seed: int, count: int, report: FaultReport) -> None:
    assert store.column is not None
    name = f"drawn {graph.number} ({graph.kind})"
    dice = random.Random(f"{seed} {name} faults")  # noqa: S311 - not for security
    held = Graph(store.held(graph), PREFIXES, blank_nodes=store.blank_nodes)
    questions = [_on_one_page(one) for one in draw(graph, dice, count, blank_nodes=store.blank_nodes)]
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
                if verdict is Verdict.REFUSED and _ABSENCE.search(detail):
                    verdict = Verdict.WRONG_COMPLETE
                deck.take_back(plan)
                report.injected.update(plan.injected)
                report.add(name, question, verdict, f"{detail}; {planned}" if planned else detail)


def _on_one_page(question: Question) -> Question:
    """Return a question whose answer is one page: those behind it read the set anew, and have other faults."""
    return {"limit": MAX_HITS} | question if question["tool"] == "search_entities" else question


def _failing(store: Store, graph: DrawnGraph) -> Profile:
    """Return the profile for a graph: nothing names the engine of every second one, and every third asks for little."""
    assert store.column is not None
    engine = {"engine": "unknown"} if graph.number % 2 else {}
    timeout = TimeoutSettings(parameter="timeout" if store.column.name == "fuseki" else "")
    endpoint = EndpointSettings.model_validate({"timeout": timeout, **engine})
    few = {"query_rows": 60, "batch": 10, "facts_batch": 10, "requests": 2_000} if graph.number % 3 == 0 else {}
    # The schema is read before the first question, which waits for it.
    limits = LimitSettings.model_validate({"deadline_seconds": _DEADLINE_SECONDS, "schema_seconds": 60, **few})
    return store.profile.model_copy(update={"endpoint": endpoint, "limits": limits})
