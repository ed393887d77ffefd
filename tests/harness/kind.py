"""A kind of drawn questions, as `python -m tests.harness` runs it."""

from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

Say = Callable[[str], object]
"""Told how far a run is."""


class UsageError(Exception):
    """The options of a run do not fit together."""


class Run(Protocol):
    """What came of a run."""

    @property
    def passed(self) -> bool:
        """Whether every answer is as it has to be."""

    def as_text(self) -> str:
        """Return what a person reads."""

    def as_json(self) -> Any:
        """Return what is written to a file."""


def _nothing(_: ArgumentParser) -> None:
    pass


@dataclass(frozen=True)
class Kind:
    """What is asked, and how.

    Attributes:
        about: What is asked, in one line.
        run: Draws the questions, asks them and judges the answers.
        questions: How many are drawn where nobody says how many; 0 where a run goes by time.
        counted: Of what that is the number.
        seed: What they are drawn from where nobody says.
        engines: The engines and stores from which one may choose.
        options: Adds options that no other kind has.
    """

    about: str
    run: Callable[[Namespace, Say], Run]
    questions: int = 0
    counted: str = "in all"
    seed: int = 2026
    engines: Sequence[str] = ()
    options: Callable[[ArgumentParser], None] = _nothing
