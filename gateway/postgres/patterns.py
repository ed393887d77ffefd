"""Patterns as PostgreSQL takes them: the rule for edges, and what a search looks for."""

from __future__ import annotations

import re
from collections.abc import Iterable

from gateway.databases.rule import Rule
from gateway.terms.patterns import all_marks

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
