"""A call that was not awaited yet, and says so to whoever takes it for its answer."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Coroutine, Generator, Iterator
from functools import wraps
from types import TracebackType
from typing import Any, NoReturn, ParamSpec, TypeVar

from gateway.errors import NotAwaitedError
from gateway.python.wrong_call import begun_call

P = ParamSpec("P")
T = TypeVar("T")


class PendingCall(Coroutine[Any, Any, T]):
    """The coroutine of a call. Whatever else it is used for is an error that tells to await it.

    Args:
        coroutine: What is awaited.
        name: The name of the call.
    """

    __slots__ = ("_coroutine", "_name")

    def __init__(self, coroutine: Coroutine[Any, Any, T], name: str) -> None:
        self._coroutine = coroutine
        self._name = name

    def __await__(self) -> Generator[Any, Any, T]:
        return self._coroutine.__await__()

    def send(self, value: Any, /) -> Any:
        """Go on with the coroutine."""
        return self._coroutine.send(value)

    def throw(
        self,
        typ: type[BaseException] | BaseException,
        val: BaseException | object = None,
        tb: TracebackType | None = None,
        /,
    ) -> Any:
        """Raise an exception in the coroutine."""
        error = typ if isinstance(typ, BaseException) else val if isinstance(val, BaseException) else typ()
        return self._coroutine.throw(error.with_traceback(tb) if tb is not None else error)

    def close(self) -> None:
        """End the coroutine."""
        self._coroutine.close()

    def __getattr__(self, name: str) -> Any:
        # asyncio shows these of a coroutine, or looks for them; a notebook looks for methods that begin so.
        if name.startswith(("_", "cr_", "gi_")):
            return getattr(self._coroutine, name)
        raise self._not_awaited(f"has no {name}")

    def __iter__(self) -> Iterator[NoReturn]:
        raise self._not_awaited("cannot be iterated over")

    def __len__(self) -> int:
        raise self._not_awaited("has no length")

    def __getitem__(self, key: object) -> NoReturn:
        raise self._not_awaited("has no items")

    def __contains__(self, key: object) -> bool:
        raise self._not_awaited("has no items")

    def __bool__(self) -> bool:
        # Or its length would be asked for.
        return True

    def __repr__(self) -> str:
        return f"<{self._name}(...) was not awaited: write `await` before the call>"

    def _not_awaited(self, what: str) -> NotAwaitedError:
        # Or Python warned of it too, later and elsewhere.
        self._coroutine.close()
        return NotAwaitedError(
            f"The call of {self._name} was not awaited, so it {what}.",
            next_step=f"Write `await` before the call ({self._name}), or open the gateway by `with` instead of"
            " `async with`: then no call is awaited.",
        )


def said_if_not_awaited(call: Callable[P, Coroutine[Any, Any, T]]) -> Callable[P, Coroutine[Any, Any, T]]:
    """Return a coroutine function whose coroutines say so where they are taken for their results."""

    @wraps(call)
    def begun(*args: P.args, **kwargs: P.kwargs) -> Coroutine[Any, Any, T]:
        return PendingCall(begun_call(call, args, kwargs), call.__name__)

    if sys.version_info >= (3, 12):
        inspect.markcoroutinefunction(begun)
    return begun
