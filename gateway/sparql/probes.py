"""What an engine supports, tested by a query; `traits` has what is looked up by the engine's name."""

from __future__ import annotations

import asyncio
import logging

from gateway.errors import Fault, QueryRefused
from gateway.graph.call import Call
from gateway.graph.computing import in_thread
from gateway.settings.endpoint import EndpointSettings
from gateway.sparql.client import SparqlClient
from gateway.terms.names import patterns

_log = logging.getLogger(__name__)

BOUND_ROWS = 2
"""Rows of the probe of LATERAL where the inner query sees the outer variable."""

_WORD = "bjorks"
_MATCHING = (
    "Bj\u00f6rks",
    "\u201cBjo\u0308rks\u201d",
    "BJ\uff2f\u0308RKS",
    "\U0001d401jorks, s",
    "Bj\u00f6rk\u017f\u3001",
)
"""Composed, decomposed, full-width with an accent, beyond the basic plane, and with another s; some beside signs."""

_OTHERS = ("Bjerks", "bj\u00f8rks", "\u00c9bj\u00f6rks", "Bj\u00f6rks\u044f")
_ATTEMPTS = 3
"""Probes that may fail for another reason than the pattern, before no more are sent."""


class LateralProbe:
    """Whether the engine supports LATERAL (SPARQL 1.2 community group, SEP-0006), unless the profile says so."""

    def __init__(self, client: SparqlClient, endpoint: EndpointSettings) -> None:
        self._client = client
        self._known = None if endpoint.lateral == "auto" else endpoint.lateral

    async def is_supported(self, call: Call) -> bool:
        """Return whether it does; it is probed once, when that is first needed."""
        if self._known is None:
            try:
                rows = (await self._client.rows("lateral/probe", call, {})).whole()
            except QueryRefused:
                self._known = False
            except Fault:
                # Unknown: this call uses what every engine supports, and the next one probes again.
                return False
            else:
                self._known = len(rows) == BOUND_ROWS
        return self._known


class LetterClassProbe:
    """Whether the engine's REGEX supports classes of letters and marks, by which names match regardless of accents."""

    def __init__(self, client: SparqlClient) -> None:
        self._client = client
        self._known: bool | None = None
        self._failed = 0
        self._probing = asyncio.Lock()

    async def is_supported(self, call: Call) -> bool:
        """Return whether it does; after a probe that failed, the next search probes again."""
        async with self._probing:
            if self._known is None and self._failed < _ATTEMPTS:
                try:
                    self._known = await self._probe(call)
                except Fault as fault:
                    self._failed += 1
                    _log.info("the probe whether REGEX supports classes of letters failed: %s", fault)
        return bool(self._known)

    async def _probe(self, call: Call) -> bool:
        # The first pattern of a process takes a table of all letters, which takes 60 ms to make.
        (pattern,) = await in_thread(call, lambda _: patterns([_WORD], whole=True))
        try:
            answer = await self._client.rows(
                "search/letter_classes", call, {"pattern": pattern, "matching": _MATCHING, "others": _OTHERS}
            )
        except QueryRefused:
            return False
        return len(answer.whole()) == 1
