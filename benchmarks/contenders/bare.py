"""The bare client: this gateway's own requests again, in the same formats; their answers are read and thrown away."""

from __future__ import annotations

import asyncio
from typing import Protocol

from benchmarks.contenders.base import NO_ANSWER, Size, WrongAnswerError
from benchmarks.recording import Recording, Request


class Reader(Protocol):
    """Sends recorded requests and reads their answers."""

    async def read(self, request: Request) -> int:
        """Send one, and return how many bytes its answer has."""
        ...


async def resend(client: Reader, recorded: Recording, concurrency: int, *, in_steps: bool) -> Size:
    """Send recorded requests again, as many at a time as the gateway does.

    Args:
        client: Who sends them.
        recorded: What the gateway sent in one run, and how much came.
        concurrency: Requests in flight at once.
        in_steps: Whether a request waits for as many answers as had come when the gateway asked for it: a second
            hop cannot be asked for before the first has answered. Otherwise all are sent as if known beforehand.

    Raises:
        WrongAnswerError: Other answers came than the gateway got.
    """
    slots = asyncio.Semaphore(concurrency)
    progress = asyncio.Condition()
    answers = read = 0

    async def send(request: Request) -> None:
        nonlocal answers, read
        if in_steps:
            async with progress:
                await progress.wait_for(lambda: answers >= request.after)
        async with slots:
            count = await client.read(request)
        async with progress:
            answers += 1
            read += count
            progress.notify_all()

    async with asyncio.TaskGroup() as tasks:
        for request in recorded.requests:
            tasks.create_task(send(request))
    if read != recorded.bytes:
        raise WrongAnswerError(f"{read:,} bytes came, and {recorded.bytes:,} to the gateway")
    return NO_ANSWER
