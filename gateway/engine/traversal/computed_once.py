"""Values of an object that are computed when first asked for, in whatever thread."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, Self, TypeVar, overload

Value = TypeVar("Value")


class computed_once(Generic[Value]):  # noqa: N801 - a decorator, as `functools.cached_property` is
    """A property that is computed when first asked for and stored with its object.

    Unlike `functools.cached_property`, which before Python 3.12 holds one lock for all objects while it computes: the
    event loop would wait until a thread has computed the value of another object. Two threads that ask for one value at
    once may both compute it.
    """

    def __init__(self, compute: Callable[[Any], Value]) -> None:
        self._compute = compute
        self.__doc__ = compute.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        """Note under which name the value is stored."""
        self._name = name

    @overload
    def __get__(self, owner: None, kind: type) -> Self: ...
    @overload
    def __get__(self, owner: object, kind: type | None = None) -> Value: ...
    def __get__(self, owner: object | None, kind: type | None = None) -> Value | Self:
        """Return the value; stored under this name, it stands before this descriptor from then on."""
        if owner is None:
            return self
        value = vars(owner)[self._name] = self._compute(owner)
        return value
