"""The calls that are under way: how many at once, and how they end when the server stops."""

import asyncio

import pytest

from gateway.errors import DeadlinePassed, GatewayError
from gateway.server.calls import Calls

pytestmark = pytest.mark.anyio


class Gate:
    """A call that ends when it is let through."""

    def __init__(self) -> None:
        self.running = 0
        self.most = 0
        self.opened = asyncio.Event()

    async def __call__(self) -> str:
        """Run until the gate is opened."""
        self.running += 1
        self.most = max(self.most, self.running)
        try:
            await self.opened.wait()
        finally:
            self.running -= 1
        return "answer"


async def settled() -> None:
    """Let every task go as far as it can."""
    for _ in range(10):
        await asyncio.sleep(0)


async def test_some_calls_run_some_wait_and_the_rest_are_refused() -> None:
    calls, gate = Calls(60, running=2, waiting=3), Gate()
    tasks = [asyncio.create_task(calls.run(gate)) for _ in range(8)]
    await settled()
    assert gate.running == 2
    refused = [task for task in tasks if task.done()]
    assert len(refused) == 3
    for task in refused:
        assert "2 calls are running and 3 are waiting. Call again" in str(task.exception())
    gate.opened.set()
    answered = await asyncio.gather(*(task for task in tasks if task not in refused))
    assert answered == ["answer"] * 5
    assert gate.most == 2
    assert await calls.run(gate) == "answer"


async def test_a_call_waits_no_longer_than_it_may_take() -> None:
    calls, gate = Calls(0, running=1), Gate()
    first = asyncio.create_task(calls.run(gate))
    await settled()
    with pytest.raises(DeadlinePassed, match="Call again"):
        await calls.run(gate)
    gate.opened.set()
    assert await first == "answer"


async def test_a_call_that_is_cancelled_ends_and_gives_its_place_back() -> None:
    calls, gate = Calls(60, running=1, waiting=0), Gate()
    task = asyncio.create_task(calls.run(gate))
    await settled()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert gate.running == 0
    gate.opened.set()
    assert await calls.run(gate) == "answer"


async def test_a_stop_lets_calls_end_and_refuses_new_ones() -> None:
    calls, gate = Calls(60), Gate()
    task = asyncio.create_task(calls.run(gate))
    await settled()
    stopping = asyncio.create_task(calls.stop(60))
    await settled()
    with pytest.raises(GatewayError, match="The server is stopping"):
        await calls.run(gate)
    gate.opened.set()
    await stopping
    assert await task == "answer"


async def test_a_stop_ends_calls_that_take_too_long_with_an_error() -> None:
    calls, gate = Calls(60, running=1), Gate()
    tasks = [asyncio.create_task(calls.run(gate)) for _ in range(3)]
    await settled()
    await calls.stop(0)
    ended = await asyncio.gather(*tasks, return_exceptions=True)
    assert gate.running == 0
    for error in ended:
        assert isinstance(error, GatewayError)
        assert "The server is stopping" in str(error)


async def test_an_error_of_a_call_is_its_own() -> None:
    async def fail() -> None:
        raise GatewayError("wrong")

    with pytest.raises(GatewayError, match="wrong"):
        await Calls(60).run(fail)
