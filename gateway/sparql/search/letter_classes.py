"""Whether the engine's REGEX supports classes of letters and marks, by which names match regardless of accents."""

from __future__ import annotations

import asyncio
import logging

from gateway.errors import Fault, QueryRefused
from gateway.graph.call import Call
from gateway.sparql.client import SparqlClient
from gateway.terms.patterns import patterns

_log = logging.getLogger(__name__)

_WORD = "bjorks"
_MATCHING = ("Bj\u00f6rks", "Bjo\u0308rks", "BJ\uff2f\u0308RKS", "\U0001d401jorks", "Bj\u00f6rk\u017f")
"""Composed, decomposed, full-width with an accent, beyond the basic plane, and with another s."""

_OTHERS = ("Bjerks", "bj\u00f8rks")
_ATTEMPTS = 3
"""Probes that may fail for another reason than the pattern, before no more are sent."""


class LetterClasses:
    """Probes one endpoint, once."""

    def __init__(self, client: SparqlClient) -> None:
        self._client = client
        self._known: bool | None = None
        self._failed = 0
        self._probing = asyncio.Lock()

    async def supported(self, call: Call) -> bool:
        """Return whether the engine supports them; after a probe that failed, the next search probes again."""
        async with self._probing:
            if self._known is None and self._failed < _ATTEMPTS:
                try:
                    self._known = await self._probe(call)
                except Fault as fault:
                    self._failed += 1
                    _log.info("the probe whether REGEX supports classes of letters failed: %s", fault)
        return bool(self._known)

    async def _probe(self, call: Call) -> bool:
        (pattern,) = patterns([_WORD])
        try:
            answer = await self._client.rows(
                "search/folding", call, {"pattern": pattern, "matching": _MATCHING, "others": _OTHERS}
            )
        except QueryRefused:
            return False
        return len(answer.whole()) == 1
