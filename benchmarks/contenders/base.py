"""What every contender does."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Size:
    """How large an answer is: contenders are compared only where theirs is the same.

    Attributes:
        nodes: Nodes of the answer; -1 where the contender makes none.
        edges: Edges of the answer; likewise.
    """

    nodes: int
    edges: int


NO_ANSWER = Size(-1, -1)
"""Of a contender that reads bytes and throws them away."""

Run = Callable[[], Awaitable[Size]]
"""Answers a question once, from cold caches and over open connections."""


class WrongAnswerError(Exception):
    """A contender's answer is not the one that is known to be right: its speed would mean nothing."""
