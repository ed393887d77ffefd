"""How often a property is tried: as often as it deserves, but in `make quick` only a part of that."""

import functools
import inspect
import random
from collections.abc import Callable, Sequence
from typing import Any, Final, Protocol, TypeVar

from hypothesis import HealthCheck, given, settings
from hypothesis.strategies import SearchStrategy

_USUAL = 100
"""What a property is tried with that says no number, in hypothesis and in every run but the quick one."""

_QUICK = 8
_LEAST = 4

_EVERY: Final = 6
"""Of cases that are all tried, one in so many is tried by `make quick`."""

Case = TypeVar("Case")


def register_profiles() -> None:
    """Make the profiles known: one that is in force, and `quick`, which the command line chooses.

    In both no example has a deadline: how fast a machine is decides nothing here.
    """
    settings.register_profile("usual", deadline=None)
    settings.register_profile("quick", settings.get_profile("usual"), max_examples=_QUICK)
    settings.load_profile("usual")


def examples(most: int) -> int:
    """Return how many examples to try, of the number that is right where time is no matter."""
    return max(min(most, _LEAST), most * settings().max_examples // _USUAL)


def are_all_tried() -> bool:
    """Return whether this run tries all that there is, and not the part that is enough for every commit."""
    return settings().max_examples >= _USUAL


def some(cases: Sequence[Case], subject: str) -> Sequence[Case]:
    """Return the cases to ask a subject; in `make quick` a drawn sixth, for each subject the same one every time."""
    if are_all_tried():
        return cases
    drawn = random.Random(subject).sample(range(len(cases)), -(-len(cases) // _EVERY))  # noqa: S311 - not for security
    return [cases[place] for place in sorted(drawn)]


class _AtAColumn(Protocol):
    """What a test on every engine is given: it knows whether the engine runs in this process."""

    @property
    def is_here(self) -> bool: ...


def tried_on_each_engine(
    most: int, /, *, at_a_server: int, **drawn: SearchStrategy[Any]
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Try a property with drawn values, by `given`, on the engine of this process more often than at a server.

    What a server does differently it does in every query of a form, and these repeat; other values find what is wrong
    above it, which one engine shows. `make drawn` sends thousands of questions to each.

    Args:
        most: Examples in this process.
        at_a_server: Examples at any other engine.
        drawn: The arguments that are drawn; the only other one is `session`.
    """

    def decorate(test: Callable[..., None]) -> Callable[..., None]:
        here, there = (
            settings(
                max_examples=examples(count),
                deadline=None,
                derandomize=True,
                # The graph is loaded once, and a slow machine is no failure.
                suppress_health_check=[HealthCheck.too_slow],
            )(given(**drawn)(test))
            for count in (most, at_a_server)
        )

        def tried(session: _AtAColumn) -> None:
            (here if session.is_here else there)(session)

        # Without the attributes by which hypothesis knows a test of its own.
        functools.update_wrapper(tried, test, updated=())
        # What is drawn is no fixture.
        tried.__signature__ = inspect.signature(here)  # type: ignore[attr-defined]
        return tried

    return decorate
