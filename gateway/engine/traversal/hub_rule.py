"""Which nodes are shown but not expanded, because they have too many edges (docs/contract.md, "Hubs")."""

from __future__ import annotations

from dataclasses import dataclass, field

from gateway.engine import messages
from gateway.settings.limits import HubSettings

_COUNTED_BEYOND = 10
"""Edges are counted up to so many times the rule's limit, for the degree of a hub in the answer."""

_COUNTED = 1_000
"""Edges that are counted in any case."""


@dataclass(frozen=True, slots=True)
class HubRule:
    """Which nodes are shown but not expanded, and how many edges a node shows.

    Attributes:
        max_degree: A node with more edges is not expanded, unless it is a seed; None: every node is.
        max_edges: Edges that an expanded node shows at most; None: all.
        warnings: What the caller asked for and did not get; rules that differ in these only are equal.
    """

    max_degree: int | None = None
    max_edges: int | None = None
    warnings: tuple[str, ...] = field(default=(), compare=False)

    @classmethod
    def of(cls, profile: HubSettings, max_degree: int | None, max_edges: int | None) -> HubRule:
        """Return the rule of one call: its arguments, else the profile, never above the operator's ceilings."""
        warnings: list[str] = []

        def allowed(name: str, wanted: int | None, usual: int | None, ceiling: int | None) -> int | None:
            limit = wanted if wanted is not None else usual
            if ceiling is None or (limit is not None and limit <= ceiling):
                return limit
            if wanted is not None:
                warnings.append(messages.above_ceiling(name, wanted, ceiling))
            return ceiling

        return cls(
            allowed("max_degree", max_degree, profile.max_degree, profile.max_degree_ceiling),
            allowed("max_edges_per_node", max_edges, profile.max_edges_per_node, profile.max_edges_ceiling),
            tuple(warnings),
        )

    @property
    def is_off(self) -> bool:
        """Whether every node is expanded whole."""
        return self.max_degree is None and self.max_edges is None

    @property
    def counted(self) -> int:
        """How many edges of a node are counted at most."""
        return max(
            _COUNTED, *(_COUNTED_BEYOND * limit for limit in (self.max_degree, self.max_edges) if limit is not None)
        )

    def is_hub(self, degree: int) -> bool:
        """Return whether a node with so many edges is not expanded."""
        return self.max_degree is not None and degree > self.max_degree

    def is_capped(self, degree: int) -> bool:
        """Return whether a node with so many edges shows only some."""
        return self.max_edges is not None and degree > self.max_edges
