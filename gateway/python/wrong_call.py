"""Calls with arguments that they do not take: what is wrong with them, and what was probably meant."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeVar, get_args, get_type_hints

from gateway.arguments import unknown_argument
from gateway.errors import InputError, WrongCallError, counted

T = TypeVar("T")


def begun_call(call: Callable[..., T], args: Sequence[Any], kwargs: Mapping[str, Any]) -> T:
    """Begin a call that runs nothing before it is awaited, or asked for its first item.

    Args:
        call: The method.
        args: Its gateway, and the arguments without a name.
        kwargs: The other arguments.

    Raises:
        WrongCallError: It does not take these arguments.
    """
    try:
        return call(*args, **kwargs)
    except TypeError as error:
        raise _wrong_call(call, args, kwargs) or error from None


def _wrong_call(call: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]) -> InputError | None:
    """Return what is wrong with the arguments of a call; None where nothing is."""
    name = call.__name__
    # Behind the gateway.
    own = [*inspect.signature(call).parameters.values()][1:]
    by_place = [one.name for one in own if one.kind is one.POSITIONAL_OR_KEYWORD]
    known = [*_known(call, own)]
    # A misspelt name explains a missing one, so it is reported first.
    for one in kwargs:
        if one not in known:
            return unknown_argument(name, one, known, WrongCallError)
    given = by_place[: len(args) - 1]
    if len(args) - 1 > len(by_place):
        return WrongCallError(
            f"{name} takes {counted(len(by_place), 'argument')} without a name, and {len(args) - 1:,} were given.",
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


def _known(call: Callable[..., Any], own: Sequence[inspect.Parameter]) -> Iterator[str]:
    """Yield the names of all arguments, those that `**options` takes too."""
    for one in own:
        if one.kind is one.VAR_KEYWORD:
            for options in get_args(get_type_hints(call)[one.name]):
                yield from options.__annotations__
        else:
            yield one.name
