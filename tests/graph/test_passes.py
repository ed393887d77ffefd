"""Long calls that go on at the same time have a pass of the event loop each."""

import asyncio

import pytest

from gateway.graph.computing import Passes

pytestmark = pytest.mark.anyio


class Numbered:
    """Counts the passes of the running loop."""

    def __init__(self) -> None:
        self.number = 0
        self._loop = asyncio.get_running_loop()
        self._loop.call_soon(self._count)

    def _count(self) -> None:
        self.number += 1
        self._loop.call_soon(self._count)


async def test_one_that_is_alone_goes_on_at_once() -> None:
    passes, numbered = Passes(), Numbered()
    await passes.own()
    assert numbered.number == 0


async def test_each_has_a_pass_of_its_own_in_the_order_in_which_they_asked() -> None:
    passes, numbered = Passes(), Numbered()
    went_on: list[tuple[int, int]] = []

    async def go_on(name: int) -> None:
        await passes.own()
        went_on.append((name, numbered.number))

    await asyncio.gather(*map(go_on, range(6)))
    assert [name for name, _ in went_on] == list(range(6))
    assert len({number for _, number in went_on}) == 6


async def test_one_that_is_cancelled_takes_no_pass_and_holds_up_nobody() -> None:
    passes = Passes()
    first, *waiting = [asyncio.create_task(passes.own()) for _ in range(4)]
    await asyncio.sleep(0)
    assert first.done()
    waiting[0].cancel()
    waiting[1].cancel()
    await asyncio.wait_for(waiting[2], 10)
    assert all(one.cancelled() for one in waiting[:2])


async def test_a_loop_has_the_same_passes_for_all() -> None:
    loop = asyncio.get_running_loop()
    assert Passes.of(loop) is Passes.of(loop)
