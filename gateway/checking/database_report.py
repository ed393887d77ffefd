"""The result of checking a database."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from gateway.checking.report import Claim


@dataclass(frozen=True, slots=True)
class DatabaseReport:
    """The result of checking a database.

    Attributes:
        system: The name of its program.
        made_of: What the graph is made of there.
        place: What was checked: host, port and name of the database.
        claims: Its properties by name, in their order.
        warnings: Warnings for the operator.
        statements: Statements that make the indexes that are missing, for the operator to run.
    """

    system: str
    made_of: str
    place: str
    claims: Mapping[str, Claim]
    warnings: tuple[str, ...]
    statements: tuple[str, ...]

    def as_json(self) -> dict[str, Any]:
        """Return the report as JSON."""
        return {
            "checked": self.place,
            "reachable": True,
            **{name: claim.as_json() for name, claim in self.claims.items()},
            "warnings": list(self.warnings),
            "statements": list(self.statements),
        }
