"""A session with a sidecar: clients ask all the time while either half is killed or stopped, and comes back."""

from __future__ import annotations

import asyncio
import itertools
import random
import signal
import tempfile
from argparse import ArgumentParser, Namespace
from collections import Counter
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from mcp import Client

from gateway import resources
from gateway.api import open_gateway
from gateway.tools.gateway import Gateway
from tests.harness.kind import Kind, Say
from tests.harness.report import Verdict
from tests.servers.loopback import ask
from tests.sidecar.pair import DEADLINE_SECONDS, Pair

Question = tuple[str, Mapping[str, Any]]


async def ids_of(gateway: Gateway, seed: str) -> Sequence[str]:
    """Return the IDs near a node."""
    answer = await gateway.bfs_query([seed], max_hops=3, topology_only=True, limit=500)
    return sorted(node.id for node in answer.nodes)


def drawn(ids: Sequence[str], seed: str) -> Iterator[Question]:
    """Draw questions without end; hardly any comes twice."""
    draw = random.Random(seed)  # noqa: S311 - no secret
    while True:
        first, second = draw.sample(ids, 2)
        choices: list[Question] = [
            ("bfs_query", {"seeds": [first, second], "max_hops": draw.randint(1, 3), "topology_only": True}),
            ("bfs_query", {"seeds": draw.sample(ids, 4), "max_hops": 1}),
            ("intersect_subgraphs", {"seeds": [first, second], "k": draw.randint(1, 2), "topology_only": True}),
            ("describe_entities", {"ids": draw.sample(ids, 5)}),
        ]
        yield draw.choice(choices)


async def verdict(question: Question, answer: Mapping[str, Any] | None, oracle: Gateway) -> Verdict:
    """Compare an answer with that of a graph in this process; None is an error."""
    if answer is None:
        return Verdict.ERROR
    tool, arguments = question
    expected = (await oracle.call(tool, arguments)).as_json()
    says_whole = answer["complete"] if "complete" in answer else not answer.get("remaining_ids")
    if not says_whole:
        return Verdict.MARKED if _terms(answer) <= _terms(expected) else Verdict.WRONG
    if _facts(answer) == _facts(expected):
        return Verdict.RIGHT
    # What could not be read about nodes and edges is told apart from `complete`, which is about the traversal.
    is_degraded = answer.get("degraded") != expected.get("degraded")
    return Verdict.MARKED if is_degraded and _terms(answer) == _terms(expected) else Verdict.WRONG


def _facts(answer: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return what an answer says of the graph: nodes and edges, or entities, and what the graph does not have."""
    return {key: answer.get(key) for key in ("nodes", "edges", "levels", "node_count", "result", "not_found")}


def _terms(answer: Mapping[str, Any]) -> frozenset[tuple[str, ...]]:
    """Return the nodes, entities and edges of an answer, and what the graph does not have."""
    nodes = {(node["id"],) for node in (*answer.get("nodes", ()), *answer.get("result", ()))}
    edges = {(edge["subject"], edge["predicate"], edge["object"]) for edge in answer.get("edges", ())}
    return frozenset({*nodes, *edges, *(("not found", one) for one in answer.get("not_found", ()))})


SEED_NODE: Final = "drug:warfarin"
CLIENTS: Final = 6
_PAUSE_SECONDS: Final = 0.05
"""Between two questions of a client: errors come at once, and would be all that is counted."""

_UNDER_WAY: Final = 3 * CLIENTS
"""Answers after which all clients are in the middle of asking."""

_GRACE_SECONDS: Final = 4.0
"""A call that has no answer so long after its deadline hangs."""

AFTER: Final = 20
"""Questions that are asked once all is said to be well, and must all be answered in full."""

_CLEAR: Final = ("endpoint", "time of this call")
"""What errors are about, if they say what failed."""


@dataclass
class Phase:
    """What clients saw from one event to the next.

    Attributes:
        name: What happened.
        answers: How many calls ended how.
        slowest: Seconds of the slowest call.
        seconds_to_red: Until the gateway said that it is not ready; None if that is not waited for.
        seconds_to_green: From then, once the cause was over, until it said that it is ready.
        whole_after: Questions answered rightly and in full right after that, of `AFTER`.
    """

    name: str
    answers: Counter[Verdict] = field(default_factory=Counter)
    slowest: float = 0.0
    seconds_to_red: float | None = None
    seconds_to_green: float | None = None
    whole_after: int = 0
    under_way: asyncio.Event = field(default_factory=asyncio.Event, repr=False)
    """Set once the clients are in the middle of asking."""

    @property
    def is_whole_after(self) -> bool:
        """Whether all was well again at once."""
        return self.whole_after == AFTER

    def __str__(self) -> str:
        """Return it as a line."""
        times = [("red", self.seconds_to_red), ("green", self.seconds_to_green)]
        waits = "".join(f", {state} after {seconds:.1f} s" for state, seconds in times if seconds is not None)
        answers = ", ".join(f"{count} {kind}" for kind, count in sorted(self.answers.items()))
        return f"{self.name}: {answers}; slowest {self.slowest:.1f} s{waits}; then {self.whole_after} of {AFTER} whole"


@dataclass
class Outcome:
    """What the session showed.

    Attributes:
        phases: The phases in their order.
        wrong: Answers that claim what is not so.
        starts: How often each half was started.
    """

    phases: list[Phase] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)
    starts: dict[str, int] = field(default_factory=dict)

    @property
    def passed(self) -> bool:
        """Whether no answer was wrong, and each half recovered from the death of the other."""
        return not self.wrong and all(phase.is_whole_after for phase in self.phases)

    def as_text(self) -> str:
        """Return a line for each phase, and the wrong answers."""
        told = f"Starts: {self.starts}. Wrong answers: {len(self.wrong)}."
        return "".join(f"{line}\n" for line in (*self.phases, told, *(wrong[:500] for wrong in self.wrong)))

    def as_json(self) -> dict[str, Any]:
        """Return it as JSON."""
        phases = [{**vars(phase), "under_way": phase.under_way.is_set()} for phase in self.phases]
        return {"phases": phases, "wrong": self.wrong, "starts": self.starts}


class Session:
    """Clients of a pair, and a graph in this process that knows the right answers.

    Args:
        pair: The pair.
        oracle: The graph in this process.
        ids: IDs to ask about.
        outcome: Receives what is seen.
    """

    def __init__(self, pair: Pair, oracle: Gateway, ids: list[str], outcome: Outcome) -> None:
        self._pair = pair
        self._oracle = oracle
        self._ids = ids
        self.outcome = outcome

    async def asked(self, client: Client, question: Question, phase: Phase) -> Verdict:
        """Ask one question and count how it was answered."""
        loop = asyncio.get_running_loop()
        began = loop.time()
        async with asyncio.timeout(DEADLINE_SECONDS + _GRACE_SECONDS):
            result = await client.call_tool(question[0], dict(question[1]))
        phase.slowest = max(phase.slowest, loop.time() - began)
        text = str(result.content)
        if result.is_error and not any(clear in text for clear in _CLEAR):
            self.outcome.wrong.append(f"{question}: an error that does not say what failed: {text}")
        found = await verdict(question, None if result.is_error else result.structured_content, self._oracle)
        phase.answers[found] += 1
        if phase.answers.total() >= _UNDER_WAY:
            phase.under_way.set()
        if found is Verdict.WRONG:
            self.outcome.wrong.append(f"{question}: {result.structured_content}")
        return found

    async def all_well(self, client: Client, phase: Phase) -> None:
        """Ask some questions that must be answered in full now."""
        asked = Phase("after")
        for question in itertools.islice(drawn(self._ids, f"after {phase.name}"), AFTER):
            await self.asked(client, question, asked)
        phase.whole_after = asked.answers[Verdict.RIGHT]

    @asynccontextmanager
    async def load(self, phase: Phase) -> AsyncIterator[None]:
        """Let clients ask, each in its own session, while the block runs."""
        stop = asyncio.Event()

        async def keep_asking(number: int) -> None:
            async with Client(self._pair.url) as client:
                for question in drawn(self._ids, f"{phase.name} {number}"):
                    if stop.is_set():
                        return
                    await self.asked(client, question, phase)
                    await asyncio.sleep(_PAUSE_SECONDS)

        async with asyncio.TaskGroup() as clients:
            for number in range(CLIENTS):
                clients.create_task(keep_asking(number))
            try:
                yield
            finally:
                stop.set()


async def run_session(folder: Path, graph: Path, *, seconds: float, say: Say) -> Outcome:
    """Run a whole session.

    Args:
        folder: Where both halves keep their files.
        graph: The graph that they serve.
        seconds: How long clients ask in each state.
        say: Receives a line for each phase.
    """
    outcome, pair = Outcome(), Pair(folder, graph)
    try:
        await pair.start(pair.fuseki)
        await pair.start(pair.gateway)
        async with open_gateway(graph, profile=str(pair.profile)) as oracle:
            ids = await ids_of(oracle, SEED_NODE)
            session = Session(pair, oracle, list(ids), outcome)
            await pair.until_ready(is_ready=True)
            for phase in (
                await _calm(session, pair, seconds),
                await _fuseki_killed(session, pair, seconds),
                await _fuseki_stopped(session, pair, seconds),
                await _gateway_killed(session, pair, seconds),
            ):
                outcome.phases.append(phase)
                say(str(phase))
            outcome.wrong += await _quoted(pair)
        outcome.starts = {"fuseki": pair.fuseki.starts, "gateway": pair.gateway.starts}
    finally:
        await pair.close()
    return outcome


async def _quoted(pair: Pair) -> list[str]:
    """Return the places for operators in which there is text of a question or of the graph."""
    places = {
        "the audit log": pair.audit_log.read_text(encoding="utf-8"),
        "the log": pair.log.read_text(encoding="utf-8"),
        "the metrics": (await pair.page("/metrics")).text,
    }
    assert all("bfs_query" in text for text in places.values())
    return [f"{place} quotes the graph" for place, text in places.items() if "drug" in text or "warfarin" in text]


async def _calm(session: Session, pair: Pair, seconds: float) -> Phase:
    phase = Phase("both run")
    async with session.load(phase):
        await asyncio.sleep(seconds)
    async with Client(pair.url) as client:
        await session.all_well(client, phase)
    return phase


async def _fuseki_killed(session: Session, pair: Pair, seconds: float) -> Phase:
    phase, gateway = Phase("kill -9 of Fuseki"), pair.gateway.pid
    async with Client(pair.url) as client:
        async with session.load(phase):
            await phase.under_way.wait()
            pair.fuseki.send(signal.SIGKILL)
            phase.seconds_to_red = await pair.until_ready(is_ready=False)
            await asyncio.sleep(seconds)
            await pair.start(pair.fuseki)
            phase.seconds_to_green = await pair.until_ready(is_ready=True)
        # The same session as before: nothing of the gateway was restarted.
        await session.all_well(client, phase)
    assert (await pair.page("/healthz")).status == 200
    assert pair.gateway.pid == gateway
    assert pair.gateway.starts == 1
    return phase


async def _fuseki_stopped(session: Session, pair: Pair, seconds: float) -> Phase:
    phase, pids = Phase("SIGSTOP of Fuseki"), (pair.fuseki.pid, pair.gateway.pid)
    async with Client(pair.url) as client:
        async with session.load(phase):
            await phase.under_way.wait()
            pair.fuseki.send(signal.SIGSTOP)
            try:
                phase.seconds_to_red = await pair.until_ready(is_ready=False)
                await asyncio.sleep(seconds)
            finally:
                pair.fuseki.send(signal.SIGCONT)
            phase.seconds_to_green = await pair.until_ready(is_ready=True)
        await session.all_well(client, phase)
    assert (pair.fuseki.pid, pair.gateway.pid) == pids
    return phase


async def _gateway_killed(session: Session, pair: Pair, seconds: float) -> Phase:
    phase, fuseki = Phase("kill -9 of the gateway"), pair.fuseki.starts
    pair.gateway.send(signal.SIGKILL)
    answer = await asyncio.to_thread(ask, pair.endpoint, "SELECT (COUNT(*) AS ?n) WHERE { ?s ?p ?o }")
    assert answer.status == 200
    await pair.start(pair.gateway)
    phase.seconds_to_green = await pair.until_ready(is_ready=True)
    async with session.load(phase):
        await asyncio.sleep(seconds)
    async with Client(pair.url) as client:
        await session.all_well(client, phase)
    assert pair.fuseki.starts == fuseki
    return phase


def _options(parser: ArgumentParser) -> None:
    parser.add_argument("--seconds", type=float, default=10.0, help="how long clients ask in each state")


def _run(options: Namespace, say: Say) -> Outcome:
    graph = resources.folder("fixtures") / "medical.ttl"
    with tempfile.TemporaryDirectory(prefix="sidecar-") as folder:
        return asyncio.run(run_session(Path(folder), graph, seconds=options.seconds, say=say))


KIND: Final = Kind(
    "a gateway and a Fuseki that are killed and stopped in turn while clients ask; 1 where one stays dead",
    _run,
    options=_options,
)
