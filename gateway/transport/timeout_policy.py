"""How an endpoint gets the time left and cancels a query; the SPARQL protocol leaves both open."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from gateway.graph.deadline import Deadline
from gateway.settings.endpoint import Unit


@dataclass(frozen=True, slots=True)
class TimeoutPolicy:
    """How the time left is sent beside a query, and how a query is cancelled.

    Attributes:
        timeout_parameter: The form parameter that carries the time left; none where empty.
        timeout_header: The header that carries it; none where empty.
        timeout_unit: The unit of both.
        cancel_by_id: Whether a query that is given up is cancelled by its ID: an engine that goes on with a query
            whose client has left (Blazegraph) knows no other way.
    """

    timeout_parameter: str = ""
    timeout_header: str = ""
    timeout_unit: Unit = "seconds"
    cancel_by_id: bool = False

    @property
    def sends_time(self) -> bool:
        """Whether the time left is sent."""
        return bool(self.timeout_parameter or self.timeout_header)

    def fields(self, deadline: Deadline) -> Iterator[tuple[str, str]]:
        """Return the form parameters that carry the time left."""
        if self.timeout_parameter:
            yield self.timeout_parameter, self._left(deadline)

    def headers(self, deadline: Deadline) -> dict[str, str]:
        """Return the headers that carry the time left."""
        return {self.timeout_header: self._left(deadline)} if self.timeout_header else {}

    def _left(self, deadline: Deadline) -> str:
        left = deadline.seconds_left * (1000 if self.timeout_unit == "milliseconds" else 1)
        return str(max(1, math.ceil(left)))
