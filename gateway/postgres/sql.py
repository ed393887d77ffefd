"""Text becomes SQL here, and nowhere else."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache

from gateway import resources
from gateway.databases.edges import Rule
from gateway.errors import ConfigurationError, quoted
from gateway.terms.names import all_marks

_HEADER = re.compile(r"^--.*\n", re.MULTILINE)


@cache
def load(name: str) -> str:
    """Return a query without its comments; names in braces stand for tables, columns and parts.

    Raises:
        FileNotFoundError: There is no such query.
    """
    path = resources.folder("queries") / "postgres" / f"{name}.sql"
    return _HEADER.sub("", path.read_text(encoding="utf-8")).strip()


def filled(name: str, /, **texts: str) -> str:
    """Return a query with SQL in the place of the names in braces."""
    return load(name).format(**texts)


_LONGEST = 63
"""Bytes; PostgreSQL would cut a longer name without a sign (its documentation, section 4.1.1)."""


def identifier(name: str) -> str:
    """Return a name as a quoted identifier of SQL; `schema.table` as two.

    Raises:
        ConfigurationError: It is no name that can be quoted.
    """
    if not is_identifier(name):
        raise ConfigurationError(
            f"The name {quoted(name)} of a table or column is wrong.",
            valid=f"It has 1 to {_LONGEST} bytes, without quotation marks and control characters.",
            next_step="Correct the section [postgres] of the profile.",
        )
    return ".".join(f'"{part}"' for part in name.split("."))


def is_identifier(name: str) -> bool:
    """Return whether a name can be quoted; see `identifier`."""
    parts = name.split(".")
    return len(parts) <= 2 and all(map(_is_name, parts))  # noqa: PLR2004 - a schema and a table


def _is_name(part: str) -> bool:
    return part.isprintable() and '"' not in part and 0 < len(part.encode(errors="replace")) <= _LONGEST


_SPECIAL = re.compile(r"[\\%_]")
"""Characters that mean something in a pattern of LIKE."""


_MARKS = "\\p{M}"
"""The class of marks in the patterns: PostgreSQL's expressions know no Unicode classes, and get all marks."""


def expression(pattern: str) -> str:
    """Return a pattern of a search as a regular expression."""
    return pattern.replace(_MARKS, all_marks())


def parameters_of(rule: Rule) -> tuple[list[str], list[str] | None, list[str] | None]:
    """Return the rule for edges as the first parameters of each query about edges."""
    allowed = None if rule.allowed is None else [*map(_escaped, rule.allowed), *_patterns(rule.begin)]
    return list(rule.excepted), allowed, None if rule.objects is None else _patterns(rule.objects)


def _patterns(beginnings: Iterable[str]) -> list[str]:
    return [f"{_escaped(text)}%" for text in beginnings]


def _escaped(text: str) -> str:
    return _SPECIAL.sub(r"\\\g<0>", text)
