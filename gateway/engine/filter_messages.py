"""The sentences that a model reads about the names in its filters."""

from __future__ import annotations

from gateway.errors import InputError


def several_meant(argument: str, name: str, kind: str, meant: str) -> str:
    """Return a warning: a name means several terms.

    Args:
        argument: The argument's name.
        name: The name, quoted.
        kind: `type` or `predicate`.
        meant: The terms, as a list.
    """
    return f"{argument}: {name} means several {kind}s, and all are meant: {meant}."


def more_names(argument: str, count: int) -> str:
    """Return what stands for further warnings about names."""
    return f"{argument}: {count} more names like these."


def unknown_name(argument: str, name: str, kind: str, nearest: str, some: str) -> InputError:
    """Return the error of a name that matches nothing in a graph of which all terms are known.

    Args:
        argument: The argument's name.
        name: The name, quoted.
        kind: `type` or `predicate`.
        nearest: Terms with similar names, as a list; may be empty.
        some: Some terms, as a list.
    """
    return InputError(
        f"{argument}: no {kind} of this graph is called {name}.",
        valid=f"Nearest: {nearest}." if nearest else f"Known: {some}.",
        next_step="Call describe_schema for the list.",
    )


def perhaps_unknown_name(argument: str, name: str, kind: str, nearest: str) -> str:
    """Return a warning: a name matches nothing that is known; see `unknown_name`."""
    hint = f"; nearest known: {nearest}" if nearest else ""
    return (
        f"{argument}: {name} is no {kind} that is known here or stands in this answer{hint}. "
        "The list of this graph is not comprehensive, so it may exist elsewhere."
    )


def subclasses_unread(argument: str, types: str) -> str:
    """Return a warning: the subclasses of some types could not all be read."""
    return f"{argument}: the subclasses of {types} could not all be read, so the filter may miss some."


def too_many_subclasses(argument: str, most: int) -> str:
    """Return a warning: a filter has more subclasses than are read."""
    return f"{argument}: there are more than {most:,} subclasses; name narrower types."
