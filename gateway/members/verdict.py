"""What deciding a condition for one node has shown."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether a condition holds for one node.

    Attributes:
        holds: Whether it does; None if that depends on ends that are not known.
        read_as_numbers: How many texts were compared as the numbers that they read as.
        not_comparable: How many ends could not be compared.
    """

    holds: bool | None
    read_as_numbers: int = 0
    not_comparable: int = 0
