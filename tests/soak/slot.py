"""Which call comes when, what is to happen to it, and the places where calls are made, each with a proxy of its own."""

import asyncio
import random
import time
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, Self
from unittest.mock import patch

from gateway.answers.models import Answer
from gateway.flow.control import Breaker
from gateway.settings.profile import Profile
from gateway.tools.gateway import Gateway
from tests.columns import Column
from tests.drawn.judging import Truth, judge_under_faults
from tests.drawn.questions import Question
from tests.faults.catalogue import CATALOGUE, TOLD, InjectedFault
from tests.faults.proxy import FaultProxy, Plan, at, fault_proxy
from tests.harness.asking import judged
from tests.harness.report import Judgement, Verdict
from tests.servers.engines import ColumnName
from tests.soak.process import Pulse
from tests.soak.questions import likely_requests, profile_for

FAULTS_A_CALL = {0: 0.2, 1: 0.15, 2: 0.3, 3: 0.35}
"""How many faults are planned, and for which share of the calls; two thirds of them happen before their calls end."""


@dataclass(frozen=True)
class Call:
    """One call to make.

    Attributes:
        number: Its place in the run.
        engine: The engine it goes to.
        tight: Whether it goes to a gateway that asks for little at once.
        question: What is asked.
        truth: What is right.
        due: At which of its requests faults are due; which faults, the deck says when it is made.
        again: Whether it is made once more where a fault happened, without one, by a gateway that forgot nothing.
    """

    number: int
    engine: ColumnName
    tight: bool
    question: Question
    truth: Truth
    due: tuple[int, ...]
    again: bool = False


class Deck:
    """The faults of one slot for one engine: each comes as often as any other."""

    def __init__(self, seed: str, share: float) -> None:
        """Put the faults into an order that all slots share, and begin at another place of it in each.

        Args:
            seed: What the first order is drawn from, the same for all slots.
            share: Where to begin, from 0 to 1.
        """
        order = random.Random(seed).sample(TOLD, len(TOLD))  # noqa: S311 - a seeded run, not a secret
        self._dice = random.Random(f"{seed} {share}")  # noqa: S311 - the same
        self._left = deque(order)
        self._left.rotate(-round(share * len(order)))

    def deal(self, count: int) -> list[InjectedFault]:
        """Take so many faults."""
        while len(self._left) < count:
            self._left.extend(self._dice.sample(TOLD, len(TOLD)))
        return [self._left.popleft() for _ in range(count)]

    def take_back(self, plan: Plan) -> None:
        """Take back the faults that did not happen, so that they come next."""
        self._left.extendleft(planned.fault for planned in reversed(plan.due))


def due_at(question: Question, dice: random.Random) -> tuple[int, ...]:
    """Draw how many faults happen to a call, and to which of its requests."""
    count = dice.choices(list(FAULTS_A_CALL), list(FAULTS_A_CALL.values()))[0]
    return tuple(sorted(dice.sample(range(likely_requests(question) + count), count)))


def planned(call: Call, deck: Deck) -> Plan:
    """Return the plan of a call."""
    return at(*zip(call.due, deck.deal(len(call.due)), strict=True))


def plan_of_json(written: Sequence[Sequence[Any]]) -> Plan:
    """Read a plan from a report."""
    return at(*((int(number), CATALOGUE[name]) for number, name in written))


def plan_as_json(plan: Plan) -> list[list[Any]]:
    """Return a plan so that a report can hold it."""
    return [[planned.at, planned.fault.name] for planned in plan.due]


Clean = Mapping[tuple[ColumnName, bool, Question], Answer]
"""What the engines answer where nothing goes wrong, so that values can be compared; by engine and tightness."""

_IDLE_S = 1.0
_REST_SECONDS: Final = 0.01
_OPENINGS: Final = 4


@dataclass(frozen=True)
class Outcome:
    """What became of a call.

    Attributes:
        call: The call.
        plan: The faults that were due, by request.
        injected: Those that happened.
        verdict: What the answer is worth.
        detail: How it differs, or what it says is missing.
        seconds: How long it took.
        lingering: Whether a request of it was still open a second after its answer.
        blocked: For how much of it the process did nothing at all.
        again: What the answer was worth when the same was asked once more, without a fault; None where it was not.
    """

    call: Call
    plan: list[list[Any]]
    injected: tuple[str, ...]
    verdict: Verdict
    detail: str
    seconds: float
    lingering: bool
    blocked: float = 0.0
    again: Verdict | None = None

    def as_json(self) -> dict[str, Any]:
        """Return it so that a report can hold it, and `--replay` can make the call again."""
        return {
            "number": self.call.number,
            "engine": self.call.engine,
            "tight": self.call.tight,
            "question": self.call.question.as_json(),
            "plan": self.plan,
            "injected": list(self.injected),
            "verdict": self.verdict.value,
            "detail": self.detail,
            "seconds": round(self.seconds, 3),
            "blocked": round(self.blocked, 3),
            "lingering": self.lingering,
            "again": self.again.value if self.again else None,
        }


@contextmanager
def short_rests() -> Iterator[None]:
    """Let gateways ask a server again at once that a fault closed: it is back with the next call."""
    with patch("gateway.flow.control.Breaker", partial(Breaker, rest_seconds=_REST_SECONDS)):
        yield


async def opened(column: Column, graph: str, profile: Profile, *, through: str = "") -> Gateway:
    """Open a gateway that has read which predicates carry names.

    A server is slow at first, and a gateway that could not read that in time says so in each answer, for a minute.
    """
    for _ in range(_OPENINGS - 1):
        gateway = await _reading(column.open(graph, profile, through=through))
        schema = await gateway.describe_schema()
        if schema.names is not None or "name" in profile.roles.model_fields_set:
            return gateway
        await gateway.close()
    return await _reading(column.open(graph, profile, through=through))


async def _reading(gateway: Gateway) -> Gateway:
    """Return a gateway after its first reading of the schema, which may take longer than a call."""
    await gateway.describe_schema()
    await gateway.wait_for_schema()
    return gateway


class Slot:
    """A proxy before every endpoint, and a gateway to each; one call at a time."""

    def __init__(self, columns: Sequence[Column], graphs: Sequence[str], seed: int, share: float, pulse: Pulse) -> None:
        """Prepare a slot.

        Args:
            columns: The engines.
            graphs: The graphs that are asked about.
            seed: What the order of the faults is drawn from.
            share: The slot's place among the slots, from 0 to 1.
            pulse: That of the process.
        """
        self._pulse = pulse
        self._columns = columns
        self._graphs = graphs
        self._decks = {column.name: Deck(f"{seed} {column.name}", share) for column in columns}
        self._gateways: dict[tuple[str, str, bool], Gateway] = {}
        self._open = AsyncExitStack()
        self.proxy: FaultProxy | None = None

    async def __aenter__(self) -> Self:
        """Start the proxy, open the gateways and let them read the schemas while nothing goes wrong."""
        await self._open.__aenter__()
        self._open.enter_context(short_rests())
        routes = {f"{column.name}/{graph}": column.url(graph) for column in self._columns for graph in self._graphs}
        self.proxy = await self._open.enter_async_context(fault_proxy(routes))
        for column in self._columns:
            for graph in self._graphs:
                for tight in (False, True) if graph == "random" else (False,):
                    profile = profile_for(graph, column.name, tight=tight)
                    through = self.proxy.url(f"{column.name}/{graph}")
                    self._gateways[column.name, graph, tight] = await opened(column, graph, profile, through=through)
        return self

    async def close_gateways(self) -> int:
        """Close the gateways, and return how many connections they left open at the proxy."""
        assert self.proxy is not None
        for gateway in self._gateways.values():
            await gateway.close()
        for _ in range(100):
            if not self.proxy.connections:
                break
            await asyncio.sleep(0.02)
        return self.proxy.connections

    async def __aexit__(self, *_: object) -> None:
        """Close all of it."""
        await self.close_gateways()
        await self._open.aclose()

    async def make(self, call: Call, clean: Clean, plan: Plan | None = None) -> Outcome:
        """Make a call and judge its answer."""
        assert self.proxy is not None
        gateway = self._gateways[call.engine, call.question.graph, call.tight]
        gateway.forget()
        deck = self._decks[call.engine]
        plan = planned(call, deck) if plan is None else plan
        written = plan_as_json(plan)
        await self.proxy.begin(plan)
        begun = time.monotonic()
        verdict, detail = await self._answered(gateway, call, clean)
        seconds = time.monotonic() - begun
        blocked = self._pulse.missed_since(begun)
        lingering = not await self._settled()
        deck.take_back(plan)
        again = None
        if call.again and plan.injected:
            await self.proxy.begin(Plan())
            # What a fault left in the cache must not be believed; pages would only repeat an answer.
            gateway.forget_snapshots()
            again, further = await self._answered(gateway, call, clean)
            detail = f"{detail}; again: {again} {further}"
        return Outcome(call, written, tuple(plan.injected), verdict, detail, seconds, lingering, blocked, again)

    @staticmethod
    async def _answered(gateway: Gateway, call: Call, clean: Clean) -> Judgement:
        right = clean.get((call.engine, call.tight, call.question))
        return await judged(
            gateway.call(call.question.tool, call.question.arguments),
            lambda answer: judge_under_faults(call.question, call.truth, answer, gateway.prefixes.expand, right),
        )

    async def _settled(self) -> bool:
        """Tell whether the proxy has nothing to do for this slot within a moment, as no call is running."""
        assert self.proxy is not None
        try:
            async with asyncio.timeout(_IDLE_S):
                await self.proxy.idle.wait()
        except TimeoutError:
            return False
        return True
