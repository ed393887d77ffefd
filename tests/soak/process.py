"""What this process holds (tasks, file handles), and how long it could do nothing."""

import asyncio
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import gateway

_PACKAGE = str(Path(gateway.__file__).parent)
_PATIENCE_S = 3.0
_POLL_S = 0.02
_BEAT_S = 0.05
_WORTH_TELLING_S = 0.1


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


class Pulse:
    """Beats on the event loop and notes when it came late.

    A late call on a busy machine says less than on a free one.
    """

    def __init__(self) -> None:
        self._missed: list[tuple[float, float]] = []
        self._beating: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        """Begin to beat."""
        self._beating = asyncio.create_task(self._beat())
        return self

    async def __aexit__(self, *_: object) -> None:
        """Stop."""
        if self._beating is not None:
            self._beating.cancel()
            await asyncio.wait([self._beating])

    @property
    def worst(self) -> float:
        """The longest time in which nothing was done, in seconds."""
        return max((late for _, late in self._missed), default=0.0)

    def missed_since(self, begun: float) -> float:
        """Return for how many seconds in all nothing was done since a moment of the monotonic clock."""
        return sum(late for at, late in self._missed if at > begun)

    async def _beat(self) -> None:
        while True:
            due = time.monotonic() + _BEAT_S
            await asyncio.sleep(_BEAT_S)
            late = time.monotonic() - due
            if late > _WORTH_TELLING_S:
                self._missed.append((time.monotonic(), late))
