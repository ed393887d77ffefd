"""Calls with arguments that they do not take: what is wrong with them, and what was probably meant."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache, wraps
from typing import Any, ParamSpec, TypeVar, get_args, get_type_hints

from gateway.arguments import unknown_argument
from gateway.errors import InputError, WrongCallError, counted

P = ParamSpec("P")
T = TypeVar("T")

_OPTIONS = "options"
"""What each call names its `**options`; their names stand in its signature too, but for those that it refuses."""


def begun_call(call: Callable[..., T], args: Sequence[Any], kwargs: Mapping[str, Any]) -> T:
    """Begin a call that runs nothing before it is awaited, or asked for its first item.

    Args:
        call: The method.
        args: Its gateway, and the arguments without a name.
        kwargs: The other arguments.

    Raises:
        WrongCallError: It does not take these arguments, or one is a whole table.
    """
    args = [*args[:1], *(_as_list(call.__name__, value) for value in args[1:])]
    kwargs = {name: _as_list(call.__name__, value) for name, value in kwargs.items()}
    # What `**options` takes is not checked by Python.
    if wrong := _unknown(call.__name__, kwargs, _known(call)):
        raise wrong
    try:
        return call(*args, **kwargs)
    except TypeError as error:
        raise _wrong_call(call, _parameters(call)[1:], args[1:], kwargs) or error from None


def _as_list(name: str, value: object) -> object:
    """Return a column of pandas, numpy or polars, which has no truth value, as a list.

    Raises:
        WrongCallError: It is a table.
    """
    kind = type(value)
    if to_list := getattr(kind, "tolist", None) or getattr(kind, "to_list", None):
        return to_list(value)
    if hasattr(kind, "columns") and hasattr(kind, "__len__"):
        raise WrongCallError(
            f"{name} takes no table ({kind.__name__}).", next_step='Give one column of it, such as table["id"].'
        )
    return value


def checked_call(call: Callable[P, T]) -> Callable[P, T]:
    """Return a function that raises a `WrongCallError` where it does not take the arguments of a call."""
    parameters = _parameters(call)

    @wraps(call)
    def checked(*args: P.args, **kwargs: P.kwargs) -> T:
        try:
            inspect.signature(call).bind(*args, **kwargs)
        except TypeError as error:
            raise _wrong_call(call, parameters, args, kwargs) or error from None
        return call(*args, **kwargs)

    return checked


def _parameters(call: Callable[..., Any]) -> list[inspect.Parameter]:
    return [*inspect.signature(call).parameters.values()]


def _unknown(name: str, kwargs: Mapping[str, Any], known: Sequence[str]) -> InputError | None:
    wrong = next((one for one in kwargs if one not in known), None)
    return None if wrong is None else unknown_argument(name, wrong, known, WrongCallError)


def _wrong_call(
    call: Callable[..., Any], own: Sequence[inspect.Parameter], args: Sequence[Any], kwargs: Mapping[str, Any]
) -> InputError | None:
    """Return what is wrong with the arguments of a call, those behind the gateway; None where nothing is."""
    name = call.__name__
    by_place = [one.name for one in own if one.kind is one.POSITIONAL_OR_KEYWORD]
    known = [*_names(call, own)]
    # A misspelt name explains a missing one, so it is reported first.
    if error := _unknown(name, kwargs, known):
        return error
    given = by_place[: len(args)]
    if len(args) > len(by_place):
        return WrongCallError(
            f"{name} takes {counted(len(by_place), 'argument')} without a name, and {len(args):,} were given.",
            valid=f"Its arguments are {', '.join(known)}.",
            next_step=f"Write the others with their names: {known[-1]}=...",
        )
    for one in given:
        if one in kwargs:
            return WrongCallError(f"{name} has the argument {one} twice, with its name and without.")
    missing = [one.name for one in own if one.default is one.empty and one.kind is not one.VAR_KEYWORD]
    for one in missing:
        if one not in given and one not in kwargs:
            return WrongCallError(f"{name} needs the argument {one}.", valid=f"Its arguments are {', '.join(known)}.")
    return None


@lru_cache(maxsize=64)
def _known(call: Callable[..., Any]) -> Sequence[str]:
    """Return the names of all arguments of a method behind the gateway."""
    return [*_names(call, _parameters(call)[1:])]


def _names(call: Callable[..., Any], own: Sequence[inspect.Parameter]) -> Iterator[str]:
    """Yield the names of all arguments, those that `**options` takes too, whether they are shown or refused."""
    names = [one.name for one in own if one.kind is not one.VAR_KEYWORD]
    if _OPTIONS in call.__annotations__:
        (options,) = get_args(get_type_hints(call)[_OPTIONS])
        names += options.__annotations__
    yield from dict.fromkeys(names)
