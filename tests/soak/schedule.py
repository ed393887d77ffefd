"""Which call comes when, and what is to happen to it."""

import random
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tests.columns import ColumnName
from tests.drawn.judging import Truth
from tests.drawn.questions import Question
from tests.faults.catalogue import CATALOGUE, TOLD, InjectedFault
from tests.faults.proxy import Plan, at
from tests.soak.questions import likely_requests

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
