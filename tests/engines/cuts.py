"""A quarter of the answers, cut between two rows so that nothing shows it."""

import random
from typing import Final

from tests.faults.catalogue import BY_SENTINEL
from tests.faults.injected import InjectedFault
from tests.faults.reply import Answer, Reply

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
