"""What an operator wants to see of a server."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class ObserveSettings:
    """What a server shows of itself beside its answers.

    Attributes:
        metrics: The host and the port at which operators read counts and the state of each graph; None for nowhere.
        audit_log: The file that gets a line for each request that reads a graph; None for none.
    """

    metrics: tuple[str, int] | None = None
    audit_log: Path | None = None


NOTHING = ObserveSettings()
