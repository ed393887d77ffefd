"""When two names mean the same to a person: case, ``_``, ``-`` and blanks aside (contract, "Names of filters")."""

from __future__ import annotations

import re

_SEPARATORS = re.compile(r"[\s_\-]+")


def fold(name: str) -> str:
    """Return the form under which names are compared."""
    return _SEPARATORS.sub(" ", name).strip().casefold()


def compact(name: str) -> str:
    """Return the folded form without separators, so that ``totalMentions`` and ``total_mentions`` are one role."""
    return fold(name).replace(" ", "")
