"""The text that puts a last row of ours behind the rows of a query, which proves that they are all."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache

from gateway.sparql import template_markup as markup
from gateway.terms import render

_PROLOGUE = re.compile(r"(?:PREFIX .*\n)*")
"""What stands before a query and cannot stand before a sub-select."""


def with_sentinel(part: str, query: str, variables: Sequence[str], rows: int, *, is_sorted: bool) -> str:
    """Return a query whose last row is the sentinel.

    Args:
        part: The template of such a query.
        query: The query, rendered.
        variables: What it projects.
        rows: The rows that it has at most.
        is_sorted: Whether the engine has to sort, because it may evaluate the branches of a UNION in any order.
    """
    match = _PROLOGUE.match(query)
    prologue = match[0] if match else ""
    slots = {
        "variables": " ".join(f"?{name}" for name in variables),
        "query": query[len(prologue) :].rstrip(),
        "most": render.integer(rows + 1),
    }
    return prologue + "".join(markup.write(_parts(part), slots, lambda _: [""] * is_sorted))


@cache
def _parts(part: str) -> Sequence[markup.Part]:
    return markup.read(part)
