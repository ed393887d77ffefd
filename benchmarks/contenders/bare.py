"""The bare client: this gateway's own requests again, their answers thrown away. It is the floor under the gateway."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from benchmarks.contenders.asking import PlainClient
from benchmarks.contenders.base import NO_ANSWER, Size
from benchmarks.recording import Request


async def resend(client: PlainClient, requests: Sequence[Request], concurrency: int, *, in_steps: bool) -> Size:
    """Send recorded requests again, as many at a time as the gateway does.

    Args:
        client: Who sends them.
        requests: What the gateway sent in one run.
        concurrency: Requests in flight at once.
        in_steps: Whether a request waits for as many answers as had come when the gateway asked for it: a second
            hop cannot be asked for before the first has answered. Otherwise all are sent as if known beforehand.
    """
    slots = asyncio.Semaphore(concurrency)
    progress = asyncio.Condition()
    answers = 0

    async def send(request: Request) -> None:
        nonlocal answers
        if in_steps:
            async with progress:
                await progress.wait_for(lambda: answers >= request.after)
        async with slots:
            await client.thrown_away(request.query)
        async with progress:
            answers += 1
            progress.notify_all()

    async with asyncio.TaskGroup() as tasks:
        for request in requests:
            tasks.create_task(send(request))
    return NO_ANSWER
