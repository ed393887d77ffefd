"""Completes the arguments of prompts and resource templates by names and IDs of the graph."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable

from mcp_types import CompleteRequestParams, CompleteResult, Completion, PromptReference, ResourceTemplateReference

from gateway.engine.answers import SearchHit
from gateway.errors import GatewayError
from gateway.escaping import printable
from gateway.server import prompts
from gateway.server.graph_resources import ENTITY_ARGUMENT, ENTITY_TEMPLATE
from gateway.server.origin import SOLE, Origin
from gateway.server.tool_caller import ToolCaller

_log = logging.getLogger(__name__)

MOST_RUNNING = 4
"""Completions that search at once: a client may ask at every key, and tool calls share the endpoint."""

_SHORTEST = 2
"""Characters of a text that is completed; fewer fit too many names."""

_MOST = 10
_LONGEST = 200
"""Characters of a name that is proposed; a longer one would be cut, and then nothing has that name."""

_FITTING = frozenset({"label", "alias", "prefix", "all words", "part"})
"""The other matches are guesses."""


class Completer:
    """Proposes names, or IDs, of entities that fit what was typed; after any fault, none.

    Args:
        caller: Searches.
        seconds: Time for one completion.
    """

    def __init__(self, caller: ToolCaller, seconds: float) -> None:
        self._caller = caller
        self._seconds = seconds
        self._running = 0

    async def complete(self, params: CompleteRequestParams, origin: Origin = SOLE) -> CompleteResult:
        """Return the values that fit what was typed."""
        typed = params.argument.value.strip()
        match params.ref:
            case PromptReference(name=name) if prompts.has_argument(name, params.argument.name):
                hits = await self._hits(typed, origin)
                return _completion(hit.matched or hit.name for hit in hits)
            case ResourceTemplateReference(uri=uri) if (uri, params.argument.name) == (
                ENTITY_TEMPLATE,
                ENTITY_ARGUMENT,
            ):
                prefix, colon, local_name = typed.rpartition(":")
                hits = await self._hits(local_name, origin)
                return _completion(hit.id for hit in hits if hit.id.startswith(prefix + colon))
        return _completion(())

    async def _hits(self, text: str, origin: Origin) -> list[SearchHit]:
        """Return the entities whose names fit; none if there is no time or the search fails."""
        if len(text) < _SHORTEST or self._running >= MOST_RUNNING:
            return []
        self._running += 1
        try:
            async with asyncio.timeout(self._seconds):
                found = await self._caller.run(
                    "search_entities", lambda gateway: gateway.search_entities(text, limit=_MOST), origin=origin
                )
        except (GatewayError, TimeoutError) as error:
            _log.debug("nothing is proposed: %r", error)
            return []
        finally:
            self._running -= 1
        return [hit for hit in found.result if hit.match in _FITTING]


def _completion(values: Iterable[str | None]) -> CompleteResult:
    # A hidden character would not be seen, and an escaped one would be another name.
    proposed = dict.fromkeys(
        value for value in values if value and len(value) <= _LONGEST and printable(value) == value
    )
    return CompleteResult(completion=Completion(values=list(proposed)))
