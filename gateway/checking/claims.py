"""What a check finds out: claims with their evidence, and what two clients were answered."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

Value = bool | int | str


@dataclass(frozen=True, slots=True)
class Claim:
    """One thing that is known about an endpoint, or is not.

    Attributes:
        value: What is known; None where it is not determined.
        why: The evidence; or why it is not determined.
        at_least: Whether the value is a lower bound.
    """

    value: Value | None
    why: str
    at_least: bool = False

    @property
    def is_known(self) -> bool:
        """Whether anything is claimed."""
        return self.value is not None

    def as_json(self) -> dict[str, Any]:
        """Return the claim as JSON has it."""
        if self.value is None:
            return {"not_determined": self.why}
        return {"at_least" if self.at_least else "value": self.value, "evidence": self.why}


def not_determined(why: str) -> Claim:
    """Return the claim that nothing is known."""
    return Claim(None, why)


@dataclass(frozen=True, slots=True)
class Claims:
    """What is known about one endpoint.

    Attributes:
        engine: The engine.
        version: Its version.
        post: Whether it takes queries by POST.
        get: Whether it takes queries by GET.
        row_cap: Rows of one answer at most.
        time_limit: The server's own time-out.
        deadline: How it is told the time that is left.
        lateral: Whether it takes LATERAL.
        rdf_1_2: Whether it takes triple terms.
        text_search: The text index that it has.
        named_graphs: How many named graphs it shows.
        union_default_graph: Whether its default graph is the union of them.
        triples: Triples in the graph that the profile asks.
    """

    engine: Claim
    version: Claim
    post: Claim
    get: Claim
    row_cap: Claim
    time_limit: Claim
    deadline: Claim
    lateral: Claim
    rdf_1_2: Claim
    text_search: Claim
    named_graphs: Claim
    union_default_graph: Claim
    triples: Claim

    def by_name(self) -> Mapping[str, Claim]:
        """Return the claims in their order."""
        return {field.name: getattr(self, field.name) for field in fields(self)}


@dataclass(frozen=True, slots=True)
class Comparison:
    """One question that two clients put in two ways.

    Attributes:
        about: What was asked.
        ours: How many rows this gateway got.
        theirs: How many SPARQLWrapper got.
        differences: What only one of them got, in words; empty where they agree.
        not_compared: Why they cannot be compared; empty where they were.
    """

    about: str
    ours: int = 0
    theirs: int = 0
    differences: tuple[str, ...] = ()
    not_compared: str = ""

    def as_json(self) -> dict[str, Any]:
        """Return the comparison as JSON has it."""
        if self.not_compared:
            return {"about": self.about, "not_compared": self.not_compared}
        told = {"about": self.about, "same": not self.differences, "ours": self.ours, "theirs": self.theirs}
        return {**told, "differences": list(self.differences)} if self.differences else told


@dataclass(frozen=True, slots=True)
class Report:
    """What a check found out.

    Attributes:
        place: What was checked: a URL without its query, or the names of files.
        claims: What is known about it.
        comparisons: What two clients were answered; empty where the graph is in this process.
        warnings: What the operator must not miss.
        settings: What belongs into the profile, as TOML; empty where nothing does.
    """

    place: str
    claims: Claims
    comparisons: tuple[Comparison, ...]
    warnings: tuple[str, ...]
    settings: str

    @property
    def agrees(self) -> bool:
        """Whether both clients were answered the same wherever they were compared."""
        return not any(comparison.differences for comparison in self.comparisons)

    def as_json(self) -> dict[str, Any]:
        """Return the report as JSON has it."""
        return {
            "checked": self.place,
            "reachable": True,
            **{name: claim.as_json() for name, claim in self.claims.by_name().items()},
            "compared": [comparison.as_json() for comparison in self.comparisons],
            "agrees": self.agrees,
            "warnings": list(self.warnings),
            "settings": self.settings,
        }
