"""A call of `async with`: an answer where it is awaited, and an error that says so where it is not."""

import asyncio
import inspect
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

import pytest

from bfsql_gateway import AsyncGateway, open_gateway
from bfsql_gateway.errors import GatewayError, InputError, NotAwaitedError

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize(
    "use",
    [
        lambda call: call.nodes,
        lambda call: call.as_json(),
        list,
        len,
        lambda call: call["nodes"],
        lambda call: "x" in call,
    ],
)
async def test_a_call_that_is_taken_for_its_answer_says_to_await_it(use: Callable[[Any], object]) -> None:
    async with open_gateway() as graph:
        with pytest.raises(NotAwaitedError, match=r"bfs_query was not awaited.* Write `await` before the call"):
            use(graph.bfs_query(["drug:warfarin"], 1))


async def test_a_notebook_shows_that_it_was_not_awaited() -> None:
    async with open_gateway() as graph:
        call: Any = graph.describe_schema()
        assert repr(call) == "<describe_schema(...) was not awaited: write `await` before the call>"
        assert not hasattr(call, "_repr_html_")
        assert call
        call.close()


async def test_a_call_is_a_coroutine_for_all_that_awaits_coroutines() -> None:
    def calls(graph: AsyncGateway) -> Iterator[Any]:
        while True:
            yield graph.bfs_query(["drug:warfarin"], 1)

    async with open_gateway() as graph:
        call = calls(graph)
        first = next(call)
        assert asyncio.iscoroutine(first)
        answers = [
            await first,
            await asyncio.create_task(next(call)),
            *await asyncio.gather(next(call), next(call)),
            await asyncio.wait_for(next(call), 60),
        ]
    assert {answer.node_count for answer in answers} == {16}


@pytest.mark.skipif(sys.version_info < (3, 12), reason="Python has no mark for it before 3.12")
async def test_a_call_counts_as_a_coroutine_function() -> None:
    async with open_gateway() as graph:
        assert inspect.iscoroutinefunction(graph.bfs_query)
        assert inspect.iscoroutinefunction(graph.call)


async def test_a_call_that_is_cancelled_ends_and_one_that_fails_raises_its_own_error() -> None:
    async with open_gateway() as graph:
        task = asyncio.create_task(graph.bfs_query(["drug:warfarin"], 1))
        assert "bfs_query" in repr(task)
        await asyncio.sleep(0)
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task
        assert task.cancelled()
        with pytest.raises(InputError):
            await graph.bfs_query(["drug:nobody"], 1)


def test_it_is_an_error_of_this_gateway_and_one_that_python_raises_there() -> None:
    assert issubclass(NotAwaitedError, GatewayError)
    assert issubclass(NotAwaitedError, AttributeError)
    assert issubclass(NotAwaitedError, TypeError)
