"""Notifications that the tools changed, when a client has disconnected."""

import asyncio
from typing import Any, cast

import anyio
import pytest
from mcp.server.subscriptions import InMemorySubscriptionBus
from mcp_types import NotificationParams

from gateway.server.client import Context
from gateway.server.resources import ChangeNotifier

pytestmark = pytest.mark.anyio


class Session:
    """A session that counts notifications, or whose client has disconnected."""

    def __init__(self, *, is_gone: bool) -> None:
        self._is_gone = is_gone
        self.notified = 0

    async def send_tool_list_changed(self) -> None:
        """Hear of it."""
        await asyncio.sleep(0)
        if self._is_gone:
            raise anyio.ClosedResourceError
        self.notified += 1


async def test_a_disconnected_client_does_not_stop_two_notifications_at_once() -> None:
    notifier = ChangeNotifier(InMemorySubscriptionBus())
    gone, there = Session(is_gone=True), Session(is_gone=False)
    before = asyncio.all_tasks()
    for session in (gone, there):
        context: Any = type("Its", (), {"session": session})
        await notifier.add(cast("Context", context), NotificationParams())
    notifier.tools_changed()
    notifier.tools_changed()
    await asyncio.gather(*(asyncio.all_tasks() - before))
    assert there.notified == 2
