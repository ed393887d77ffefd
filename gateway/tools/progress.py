"""What may be told of the progress of a call: a coroutine function, a function, or a progress bar."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from inspect import isawaitable, iscoroutinefunction
from typing import Any, Protocol

from gateway.graph.call import Progress


class Bar(Protocol):
    """A progress bar, as tqdm makes it."""

    n: Any
    total: Any

    def set_description(self, desc: str | None = None, refresh: bool | None = True, /) -> object:
        """Say what is being done."""

    def update(self, n: Any = 1, /) -> object:
        """Go on by so many steps."""


AnyProgress = Callable[[int, int, str], Awaitable[None] | None] | Bar
"""Receives, after each step of a call: steps done, steps in all, and what was done. A bar shows them."""


def as_progress(given: AnyProgress) -> Progress:
    """Return a coroutine function that tells what was given."""
    if iscoroutinefunction(given):
        return given
    if not callable(given):
        return _of_bar(given)

    async def tell(done: int, total: int, message: str) -> None:
        waiting = given(done, total, message)
        if isawaitable(waiting):
            await waiting

    return tell


def _of_bar(bar: Bar) -> Progress:
    async def show(done: int, total: int, message: str) -> None:
        bar.total = total
        bar.set_description(message, False)
        bar.update(done - bar.n)

    return show
