"""Finds the file of a profile, and reads it with what it extends."""

from __future__ import annotations

import difflib
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from gateway import resources
from gateway.errors import ConfigurationError
from gateway.settings.bounded_read import read_at_most

Table = dict[str, Any]
"""What a TOML file holds."""

_EXTENDS = "extends"
_LARGEST = 250_000
"""Bytes of a profile."""

_DEEPEST = 20
"""Tables and lists in each other; a profile has three."""


def built_in() -> list[str]:
    """Return the names of the profiles that come with the gateway."""
    return sorted(path.stem for path in resources.folder("config").glob("*.toml"))


def path_of(name_or_path: str, beside: Path | None = None) -> Path:
    """Return the file of a profile.

    Args:
        name_or_path: The name of a built-in profile, or a path.
        beside: The folder that a path is relative to; the working directory where not given.

    Raises:
        ConfigurationError: There is no such profile; the text names the nearest one.
    """
    known = built_in()
    if name_or_path in known:
        return resources.folder("config") / f"{name_or_path}.toml"
    path = Path(name_or_path) if beside is None else beside / name_or_path
    if path.is_file():
        return path
    near = difflib.get_close_matches(name_or_path, known, n=1)
    hint = f" Did you mean {near[0]!r}?" if near else ""
    raise ConfigurationError(
        f"There is no profile {name_or_path!r}.{hint}",
        valid=f"A profile is one of {', '.join(known)}, or the path of a TOML file.",
    )


def table_of(path: Path, above: tuple[Path, ...] = ()) -> Table:
    """Return what a profile says, together with what the one that it extends says.

    Args:
        path: The file of the profile.
        above: The files that extend it, directly or not.

    Raises:
        ConfigurationError: A file cannot be read, is no TOML, or extends what is no profile, or itself.
    """
    chain = (*above, path.resolve())
    if len(set(chain)) < len(chain):
        names = " extends ".join(file.name for file in chain)
        raise ConfigurationError(f"The profile {path} extends itself: {names}.")
    try:
        table = tomllib.loads(read_at_most(path, _LARGEST).decode())
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigurationError(f"The profile {path} cannot be read: {error}.") from error
    except (ValueError, RecursionError) as error:
        raise ConfigurationError(f"The profile {path} is no valid TOML: {error}.") from error
    if _is_deeper(table, _DEEPEST):
        raise ConfigurationError(f"The profile {path} is wrong: its tables are nested more than {_DEEPEST} deep.")
    extended = table.get(_EXTENDS, "")
    if not isinstance(extended, str) or not extended:
        return table
    try:
        below = table_of(path_of(extended, path.parent), chain)
    except ConfigurationError as error:
        if _EXTENDS in error.wrong:
            raise
        raise ConfigurationError(
            f"The profile {path} extends {extended!r}: {error.wrong}", valid=error.valid, next_step=error.next_step
        ) from error
    return _over(below, table)


def _is_deeper(value: object, levels: int) -> bool:
    """Return whether tables and lists are nested deeper than so many levels."""
    if not isinstance(value, dict | list):
        return False
    inner = value.values() if isinstance(value, dict) else value
    return levels == 0 or any(_is_deeper(each, levels - 1) for each in inner)


def _over(below: Mapping[str, Any], above: Mapping[str, Any]) -> Table:
    """Put one table over another: tables are put together, everything else is replaced."""
    together = dict(below)
    for key, value in above.items():
        under = together.get(key)
        together[key] = _over(under, value) if isinstance(under, dict) and isinstance(value, dict) else value
    return together
