"""How one endpoint wants to be asked, where the SPARQL protocol leaves it open."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from gateway.graph.deadline import Deadline
from gateway.settings.endpoint import Unit


@dataclass(frozen=True, slots=True)
class TimeoutPolicy:
    """What an engine is told beside the query.

    Attributes:
        timeout_parameter: The form parameter that says how much time is left; none where empty.
        timeout_header: The header that says so.
        timeout_unit: In which unit both say it.
        cancel_by_id: Whether a query that is given up is cancelled by its ID: an engine that goes on with a query
            whose client has left (Blazegraph) knows no other way.
    """

    timeout_parameter: str = ""
    timeout_header: str = ""
    timeout_unit: Unit = "seconds"
    cancel_by_id: bool = False

    @property
    def tells_time(self) -> bool:
        """Whether the engine is told how much time is left."""
        return bool(self.timeout_parameter or self.timeout_header)

    def fields(self, deadline: Deadline) -> Iterator[tuple[str, str]]:
        """Return the form parameters that tell the time left."""
        if self.timeout_parameter:
            yield self.timeout_parameter, self._left(deadline)

    def headers(self, deadline: Deadline) -> dict[str, str]:
        """Return the headers that tell the time left."""
        return {self.timeout_header: self._left(deadline)} if self.timeout_header else {}

    def _left(self, deadline: Deadline) -> str:
        left = deadline.seconds_left * (1000 if self.timeout_unit == "milliseconds" else 1)
        return str(max(1, math.ceil(left)))
