"""Who hears that the tools' descriptions have changed, in both protocol eras."""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from contextlib import suppress
from typing import Any

import anyio
from mcp.server import ServerRequestContext
from mcp.server.session import ServerSession
from mcp.server.subscriptions import SubscriptionBus, ToolsListChanged
from mcp.shared.exceptions import MCPError
from mcp_types import NotificationParams

_log = logging.getLogger(__name__)

Context = ServerRequestContext[dict[str, Any], Any]

_MOST_SESSIONS = 1_000
"""The SDK does not say when a session has ended; the oldest are forgotten."""

_SECONDS = 5.0
"""For a client that does not read."""


class ToolsChangedNotifier:
    """The clients that are told.

    Args:
        bus: Leads to clients of the era of 2026-07-28, which subscribe.
    """

    def __init__(self, bus: SubscriptionBus) -> None:
        self._bus = bus
        self._sessions: deque[ServerSession] = deque(maxlen=_MOST_SESSIONS)
        self._telling: set[asyncio.Task[None]] = set()

    async def join(self, context: Context, _params: NotificationParams) -> None:
        """Tell a client of the handshake era from now on, because it is ready."""
        self._sessions.append(context.session)

    def tell(self) -> None:
        """Tell everybody, in the background."""
        task = asyncio.get_running_loop().create_task(self._tell())
        self._telling.add(task)
        task.add_done_callback(self._telling.discard)

    async def _tell(self) -> None:
        await self._bus.publish(ToolsListChanged())
        for session in list(self._sessions):
            with anyio.move_on_after(_SECONDS) as scope:
                try:
                    await session.send_tool_list_changed()
                except (anyio.BrokenResourceError, anyio.ClosedResourceError, MCPError) as error:
                    _log.debug("a client went away: %r", error)
                    self._forget(session)
            if scope.cancelled_caught:
                self._forget(session)

    def _forget(self, session: ServerSession) -> None:
        # Two changes one shortly after the other find the same client gone.
        with suppress(ValueError):
            self._sessions.remove(session)
