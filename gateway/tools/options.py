"""What `help` shows of the arguments that a call takes as `**options`: each with its type, default and meaning."""

from __future__ import annotations

import inspect
import re
import textwrap
from collections.abc import Callable, Iterator
from typing import Any, TypeVar, get_args, get_type_hints

from gateway.arguments import Arguments, BfsQuery, SearchEntities, SearchOptions, TraversalOptions

C = TypeVar("C", bound=Callable[..., Any])

_OPTIONS = re.compile(r"^(?P<indent> *)\*\*options:.*\n(?:(?P=indent) +\S.*\n)*", re.MULTILINE)
_AS_THERE = re.compile(r"As (?:in search_entities|there)\.")
_WIDTH = 112


def with_options(model: type[Arguments], without: tuple[str, ...] = ()) -> Callable[[C], C]:
    """Let the signature and the docstring of a method have the arguments that its `**options` take.

    Args:
        model: Describes the arguments.
        without: Those that the method refuses.
    """

    def described(call: C) -> C:
        (options,) = get_args(get_type_hints(call)["options"])
        signature = inspect.signature(call)
        listed = [one for one in signature.parameters.values() if one.kind is not one.VAR_KEYWORD]
        shown = [one for one in _parameters(options, model) if one.name not in without]
        vars(call)["__signature__"] = signature.replace(parameters=[*listed, *shown])
        call.__doc__ = _OPTIONS.sub(lambda found: _entries(shown, model, found["indent"]), call.__doc__ or "")
        return call

    return described


def _describe(options: type[Any], model: type[Arguments]) -> None:
    """Let the docstring of a dictionary of options say what each of them is."""
    text = inspect.getdoc(options) or ""
    options.__doc__ = f"{text}\n\nArgs:\n{_entries(_parameters(options, model), model, '    ')}"


def _parameters(options: type[Any], model: type[Arguments]) -> Iterator[inspect.Parameter]:
    for name, hint in get_type_hints(options).items():
        default = model.model_fields[name].get_default(call_default_factory=True)
        yield inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=_type_text(hint))


def _type_text(hint: Any) -> str:
    return inspect.formatannotation(hint).replace("collections.abc.", "").replace("typing.", "")


def _entries(
    options: Iterator[inspect.Parameter] | list[inspect.Parameter], model: type[Arguments], indent: str
) -> str:
    """Return a line or more of a docstring for each of some options."""
    lines: list[str] = []
    for one in options:
        meaning = model.model_fields[one.name].description or ""
        if _AS_THERE.fullmatch(meaning):
            meaning = SearchEntities.model_fields[one.name].description or ""
        text = f"{one.name} ({one.annotation}): {meaning.rstrip('.')}. Default: {one.default!r}."
        lines += textwrap.wrap(text, _WIDTH, initial_indent=indent, subsequent_indent=f"{indent}    ")
    return "".join(f"{line}\n" for line in lines)


_describe(SearchOptions, SearchEntities)
_describe(TraversalOptions, BfsQuery)
