"""Whose request it is that one worker passes on to another."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from aiohttp import ClientSession
from starlette.types import Message

from gateway.server.workers.session_router import ClientAddress, SessionRouter
from gateway.server.workers.worker import Worker
from tests.server.serving_app import Recorder, open_port, serving_app
from tests.server.workers.test_session_router import SCOPE, never

pytestmark = pytest.mark.anyio

CLAIMED = (b"bfsql-client", b"192.0.2.66")


async def ignore(_: Message) -> None:
    """Take an answer."""


async def receive() -> Message:
    """Wait for more of a request that has no more."""
    await asyncio.Event().wait()
    raise AssertionError


async def test_a_worker_hears_from_another_who_the_client_is(tmp_path: Path) -> None:
    seen = Recorder()
    first, second = Worker(0, 2, 0, 0, tmp_path), Worker(1, 2, 0, 0, tmp_path)
    async with serving_app(ClientAddress(seen, second), second.listen_to_others()):
        router = ClientAddress(SessionRouter(never, first), first)
        asked: dict[str, Any] = {**SCOPE, "headers": [*SCOPE["headers"], CLAIMED], "server": ("127.0.0.1", 8000)}
        await router(asked, receive, ignore)
        await router({**asked, "client": None}, receive, ignore)
    assert [scope["client"] for scope in seen.scopes] == [("192.0.2.7", 0), None]


async def test_a_client_cannot_say_itself_who_it_is(tmp_path: Path) -> None:
    seen, listening = Recorder(), open_port()
    host, port = listening.getsockname()
    async with (
        serving_app(ClientAddress(seen, Worker(0, 2, 0, 0, tmp_path)), listening),
        ClientSession(f"http://{host}:{port}") as client,
        client.get("/", headers={"bfsql-client": "192.0.2.66"}),
    ):
        pass
    [scope] = seen.scopes
    assert scope["client"][0] == host
    assert CLAIMED not in scope["headers"]
