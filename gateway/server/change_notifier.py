"""Notifies the clients of a server that its tools or its schema changed."""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Coroutine
from contextlib import suppress
from typing import Any

import anyio
from mcp.server.session import ServerSession
from mcp.server.subscriptions import ResourceUpdated, SubscriptionBus, ToolsListChanged
from mcp.shared.exceptions import MCPError
from mcp_types import NotificationParams

from gateway.server.origin import Context

_log = logging.getLogger(__name__)

_MOST_SESSIONS = 1_000
"""The oldest are dropped: the SDK does not report the end of a session."""

_SECONDS = 5.0
"""For one client, which may have stopped reading."""


class ChangeNotifier:
    """Notifies clients of changes; the bus reaches those of the era of 2026-07-28, which subscribe."""

    def __init__(self, bus: SubscriptionBus) -> None:
        self._bus = bus
        self._sessions: deque[ServerSession] = deque(maxlen=_MOST_SESSIONS)
        self._tasks: set[asyncio.Task[None]] = set()

    async def add(self, context: Context, _params: NotificationParams) -> None:
        """Add the session of a client of the handshake era, which is ready now."""
        self._sessions.append(context.session)

    def tools_changed(self) -> None:
        """Send `tools/list_changed` to all clients, in the background."""
        self._begin(self._send_tools_changed())

    def resource_updated(self, uri: str) -> None:
        """Send `resources/updated` to the clients that subscribe to a resource, in the background."""
        self._begin(self._bus.publish(ResourceUpdated(uri=uri)))

    def _begin(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _send_tools_changed(self) -> None:
        await self._bus.publish(ToolsListChanged())
        for session in list(self._sessions):
            with anyio.move_on_after(_SECONDS) as scope:
                try:
                    await session.send_tool_list_changed()
                except (anyio.BrokenResourceError, anyio.ClosedResourceError, MCPError) as error:
                    _log.debug("a client went away: %r", error)
                    self._remove(session)
            if scope.cancelled_caught:
                self._remove(session)

    def _remove(self, session: ServerSession) -> None:
        # Two notifications at once may find the same client gone.
        with suppress(ValueError):
            self._sessions.remove(session)
