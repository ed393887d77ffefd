"""What an engine supports beyond SPARQL 1.1, by a probe."""

from __future__ import annotations

from gateway.errors import Fault, QueryRefused
from gateway.graph.call import Call
from gateway.settings.endpoint import EndpointSettings
from gateway.sparql.client import SparqlClient

BOUND_ROWS = 2
"""Rows of the probe of LATERAL where the inner query sees the outer variable."""


class Dialect:
    """One endpoint's dialect; what the profile does not say is probed once, when it is first needed."""

    def __init__(self, client: SparqlClient, endpoint: EndpointSettings) -> None:
        self._client = client
        self._lateral = None if endpoint.lateral == "auto" else endpoint.lateral

    async def lateral(self, call: Call) -> bool:
        """Return whether the engine supports LATERAL (SPARQL 1.2 community group, SEP-0006)."""
        if self._lateral is None:
            try:
                rows = (await self._client.rows("lateral/probe", call, {})).whole()
            except QueryRefused:
                self._lateral = False
            except Fault:
                # Unknown: this call uses what every engine supports, and the next one probes again.
                return False
            else:
                self._lateral = len(rows) == BOUND_ROWS
        return self._lateral
