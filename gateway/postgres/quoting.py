"""The one place where a name of a table or column becomes SQL."""

from __future__ import annotations

from gateway.errors import ConfigurationError, quoted

_LONGEST = 63
"""Bytes; PostgreSQL would cut a longer name without a sign (its documentation, section 4.1.1)."""


def identifier(name: str) -> str:
    """Return a name as a quoted identifier of SQL; `schema.table` as two.

    Raises:
        ConfigurationError: It is no name that can be quoted.
    """
    parts = name.split(".")
    if len(parts) > 2 or not all(map(_is_name, parts)):  # noqa: PLR2004 - a schema and a table
        raise ConfigurationError(
            f"The name {quoted(name)} of a table or column is wrong.",
            valid=f"It has 1 to {_LONGEST} bytes, without quotation marks and control characters.",
            next_step="Correct the section [postgres] of the profile.",
        )
    return ".".join(f'"{part}"' for part in parts)


def _is_name(part: str) -> bool:
    return part.isprintable() and '"' not in part and 0 < len(part.encode(errors="replace")) <= _LONGEST
