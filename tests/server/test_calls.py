"""The calls that are under way: how many at once, and how they end when the server stops."""

import asyncio

import pytest

from gateway.errors import DeadlinePassed, GatewayError
from gateway.server.calls import SHARE, Calls, Share
from gateway.server.client import Disconnect, Origin

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


async def test_a_client_above_its_share_waits_and_leaves_slots_to_others() -> None:
    calls, heavy, light = Calls(60, running=3, share=Share(2, 10)), Gate(), Gate()
    tasks = [asyncio.create_task(calls.run(heavy, Origin("heavy"))) for _ in range(5)]
    await settled()
    assert heavy.running == 2
    answer = asyncio.create_task(calls.run(light, Origin("light")))
    await settled()
    assert light.running == 1
    light.opened.set()
    assert await answer == "answer"
    assert heavy.running == 2
    heavy.opened.set()
    assert await asyncio.gather(*tasks) == ["answer"] * 5
    assert heavy.most == 2


async def test_clients_that_wait_get_slots_in_turn() -> None:
    calls, order = Calls(60, running=1), list[str]()

    def work(client: str) -> asyncio.Task[str]:
        async def run() -> str:
            order.append(client)
            await asyncio.sleep(0)
            return client

        return asyncio.create_task(calls.run(run, Origin(client)))

    tasks = [work("first") for _ in range(4)]
    await settled()
    order.clear()
    gate = Gate()
    blocking = asyncio.create_task(calls.run(gate, Origin("gate")))
    await settled()
    tasks += [work("first") for _ in range(4)] + [work("second") for _ in range(2)]
    await settled()
    gate.opened.set()
    await asyncio.gather(blocking, *tasks)
    assert order == ["first", "second", "first", "second", "first", "first"]


async def test_a_client_is_refused_above_its_share_and_told_what_to_do() -> None:
    calls, gate = Calls(60, running=2, waiting=8, share=Share(1, 3)), Gate()
    tasks = [asyncio.create_task(calls.run(gate, Origin("heavy"))) for _ in range(3)]
    await settled()
    with pytest.raises(GatewayError, match=r"3 calls under way, and may have no more. Wait for their answers"):
        await calls.run(gate, Origin("heavy"))
    tasks.append(asyncio.create_task(calls.run(gate, Origin("light"))))
    await settled()
    gate.opened.set()
    assert await asyncio.gather(*tasks) == ["answer"] * 4
    assert await calls.run(gate, Origin("heavy")) == "answer"


async def test_a_client_without_a_call_under_way_is_not_refused_because_of_others() -> None:
    calls, gate = Calls(60, running=2, waiting=2, share=Share(2, 2)), Gate()
    tasks = [asyncio.create_task(calls.run(gate, Origin(client))) for client in (1, 1, 2, 2, 3, 4)]
    await settled()
    assert not any(task.done() for task in tasks)
    with pytest.raises(GatewayError, match="The server is busy"):
        await calls.run(gate, Origin(3))
    gate.opened.set()
    assert await asyncio.gather(*tasks) == ["answer"] * 6


def test_one_client_may_have_half_of_what_there_is() -> None:
    assert Share(8, 64) == SHARE


async def test_a_call_ends_when_its_connection_is_closed_and_gives_its_place_back() -> None:
    calls, gate = Calls(60, running=1), Gate()
    running, waiting = Disconnect({}), Disconnect({})
    tasks = [asyncio.create_task(calls.run(gate, Origin("one", each))) for each in (running, waiting)]
    await settled()
    waiting.happened()
    running.happened()
    await settled()
    assert gate.running == 0
    for task in tasks:
        assert "The client closed the connection" in str(task.exception())
    with pytest.raises(GatewayError, match="closed the connection"):
        await calls.run(gate, Origin("one", running))
    gate.opened.set()
    assert await calls.run(gate) == "answer"
    running.happened()
