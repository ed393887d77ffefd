"""What a process holds: tasks, connections, file handles."""

import asyncio
from dataclasses import dataclass
from pathlib import Path

import gateway

_PACKAGE = str(Path(gateway.__file__).parent)
_PATIENCE_S = 3.0
_POLL_S = 0.02


@dataclass(frozen=True)
class Held:
    """What is held at one moment.

    Attributes:
        tasks: All tasks of the loop.
        handles: File handles, sockets among them.
    """

    tasks: frozenset[asyncio.Task[object]]
    handles: int


def held() -> Held:
    """Count now."""
    return Held(frozenset(asyncio.all_tasks()), sum(1 for _ in Path("/dev/fd").iterdir()))


def tasks_of_the_gateway() -> list[str]:
    """Name the tasks that run code of the gateway."""
    running = (task.get_coro() for task in asyncio.all_tasks())
    codes = (getattr(coroutine, "cr_code", None) for coroutine in running)
    return [code.co_qualname for code in codes if code is not None and code.co_filename.startswith(_PACKAGE)]


async def left_over(before: Held) -> tuple[list[str], int]:
    """Return the tasks and the number of handles that are more than before, once both have had time to end."""
    tasks: list[str] = []
    handles = 0
    for _ in range(round(_PATIENCE_S / _POLL_S)):
        now = held()
        tasks = [str(task.get_coro()) for task in now.tasks - before.tasks]
        handles = max(0, now.handles - before.handles)
        if not tasks and not handles:
            break
        await asyncio.sleep(_POLL_S)
    return tasks, handles
