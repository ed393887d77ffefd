"""The thread that reads the client, where the event loop ends under it."""

import asyncio
import os

import anyio
from mcp.shared.message import SessionMessage

from gateway.server.stdio import _Reader

PING = b'{"jsonrpc": "2.0", "id": 1, "method": "ping"}\n'


def test_a_message_that_is_cancelled_with_the_loop_ends_the_thread_quietly() -> None:
    async def read_and_cancel() -> None:
        source, sink = os.pipe()
        inbox, reading = anyio.create_memory_object_stream[SessionMessage | Exception](0)
        writing, outbox = anyio.create_memory_object_stream[SessionMessage](1)
        ended = asyncio.ensure_future(
            asyncio.to_thread(_Reader(source, inbox, writing, asyncio.get_running_loop()).run)
        )
        others = asyncio.all_tasks()
        try:
            os.write(sink, PING)
            async with asyncio.timeout(10):
                # Nobody takes the message, so its task waits until the loop is closed.
                while not (sending := asyncio.all_tasks() - others):  # noqa: ASYNC110 - nobody says that a send waits
                    await asyncio.sleep(0)
                for task in sending:
                    task.cancel()
                await ended
        finally:
            for stream in (inbox, reading, writing, outbox):
                stream.close()
            os.close(sink)
            os.close(source)

    asyncio.run(read_and_cancel())
