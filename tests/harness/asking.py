"""Asking drawn questions: page by page, several at a time, and whatever is raised."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Any, Final, TypeVar

from gateway.errors import GatewayError
from tests.harness.report import Judgement, Verdict

AT_ONCE: Final = 4
"""Questions that are under way at the same time, as several clients ask."""

Asked = TypeVar("Asked")
Answered = TypeVar("Answered")


async def judged(asking: Awaitable[Answered], judge: Callable[[Answered | GatewayError], Judgement]) -> Judgement:
    """Wait for an answer and judge it, or the error that came in its place."""
    answer: Answered | GatewayError
    try:
        answer = await asking
    except GatewayError as error:
        answer = error
    except Exception as error:  # noqa: BLE001 - an exception that is no error of the gateway's is a finding
        return Verdict.CRASHED, repr(error)
    return judge(answer)


async def all_pages(
    call: Callable[[Mapping[str, Any]], Awaitable[Answered]],
    further: Callable[[Answered], Mapping[str, Any] | None],
) -> list[Answered]:
    """Ask for one page after the other.

    Args:
        call: Asks, with arguments that are added to those of the question.
        further: Returns the arguments of the page behind a page, or None on the last.
    """
    pages = [await call({})]
    while (more := further(pages[-1])) is not None:
        pages.append(await call(more))
    return pages


async def at_once(
    questions: Iterable[Asked], ask: Callable[[Asked], Awaitable[Answered]], most: int = AT_ONCE
) -> list[Answered]:
    """Ask some questions, so many at a time, and return what came of each."""
    turn = asyncio.Semaphore(most)

    async def one(question: Asked) -> Answered:
        async with turn:
            return await ask(question)

    async with asyncio.TaskGroup() as tasks:
        asked = [tasks.create_task(one(question)) for question in questions]
    return [task.result() for task in asked]
