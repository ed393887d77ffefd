"""How often a property is tried: as often as it deserves, but in `make quick` only a part of that."""

from hypothesis import settings

_USUAL = 100
"""What a property is tried with that says no number, in hypothesis and in every run but the quick one."""

_QUICK = 15
_LEAST = 10


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
