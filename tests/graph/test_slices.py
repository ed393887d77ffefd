"""Slices of long computations on the event loop: each call's is a pass of its own."""

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


async def test_a_long_loop_gives_others_a_turn_between_its_items() -> None:
    now = 0.0
    slices = Slices(lambda: now)
    seen: list[int] = []
    async for item in slices.over(range(10), at_once=3):
        seen.append(item)
        now += 0.006
    assert seen == [*range(10)]
    # After three items each, and not after the last.
    assert slices.turns == 3


async def test_slices_that_begin_at_the_same_time_have_a_pass_each() -> None:
    log: list[str] = []

    async def compute(name: str) -> None:
        await Slices().begin()
        log.append(name)
        asyncio.get_running_loop().call_soon(log.append, "next pass")

    await asyncio.gather(*(compute(name) for name in ("a", "b", "c")))
    assert [line for line in log if line != "next pass"] == ["a", "b", "c"]
    assert log.index("b") > log.index("next pass")
    assert "next pass" in log[log.index("b") : log.index("c")]
