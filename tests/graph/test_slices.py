import asyncio

import pytest

from gateway.graph.computing import Slices

pytestmark = pytest.mark.anyio


async def test_others_have_a_turn_once_a_slice_has_taken_long_enough_and_not_before() -> None:
    now = 0.0
    slices = Slices(lambda: now)
    log: list[str] = []

    async def watch() -> None:
        log.append("turn")

    waiting = asyncio.create_task(watch())
    now = 0.009
    await slices.end_one()
    assert (slices.turns, log.count("turn")) == (0, 0)
    now = 0.011
    await slices.end_one()
    assert (slices.turns, log.count("turn")) == (1, 1)
    # The next slice begins after their turn.
    now = 0.02
    await slices.end_one()
    assert slices.turns == 1
    await waiting
