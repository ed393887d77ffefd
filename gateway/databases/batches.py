"""Asks one question about many IDs in batches, and splits a batch whose answer is too large."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TypeVar

from gateway.errors import Fault
from gateway.graph.call import Call, together
from gateway.graph.values import Mark

Key = TypeVar("Key")
Answer = TypeVar("Answer")

Ask = Callable[[Sequence[Key]], Awaitable[Mapping[Key, Answer]]]
"""Asks about one batch; raises a fault that is `smaller` if it is to be asked again in parts."""


async def in_batches(
    keys: Sequence[Key], size: int, call: Call, ask: Ask[Key, Answer], failed: Callable[[Mark], Answer]
) -> dict[Key, Answer]:
    """Return the answer about each key.

    Args:
        keys: The keys.
        size: Keys in one question.
        call: The call that asks.
        ask: Asks one question.
        failed: Returns the answer about a key which a fault has left without one.
    """
    distinct = list(dict.fromkeys(keys))
    async with together() as tasks:
        running = [
            tasks.create_task(_asked(distinct[start : start + size], call, ask, failed))
            for start in range(0, len(distinct), size)
        ]
    return {key: answer for task in running for key, answer in task.result().items()}


async def _asked(
    batch: Sequence[Key], call: Call, ask: Ask[Key, Answer], failed: Callable[[Mark], Answer]
) -> Mapping[Key, Answer]:
    try:
        return await ask(batch)
    except Fault as fault:
        if not fault.smaller or len(batch) == 1:
            return dict.fromkeys(batch, failed(Mark(fault)))
    call.tally.splits += 1
    middle = len(batch) // 2
    first = await _asked(batch[:middle], call, ask, failed)
    return {**first, **await _asked(batch[middle:], call, ask, failed)}
