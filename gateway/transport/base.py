"""What every transport does."""

from __future__ import annotations

from typing import Protocol

from gateway.graph.budget import Deadline


class Transport(Protocol):
    """A way to a SPARQL engine."""

    async def select(self, query: str, deadline: Deadline) -> bytes:
        """Run a SELECT query and return the body of its SPARQL JSON answer, not yet parsed.

        Cancelling the call stops the query as far as the engine allows.

        Args:
            query: Rendered query text.
            deadline: When the answer must be there.

        Raises:
            QueryRefused: The engine will not run this query.
            EndpointFault: The engine answered with something that is no whole answer.
            NetworkFault: No answer came.
            DeadlinePassed: The time is up.
        """
        ...

    async def close(self) -> None:
        """Let go of connections."""
        ...
