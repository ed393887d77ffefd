"""Two workers on one Valkey, over one endpoint."""

from pathlib import Path
from typing import Any, Final

import pytest
from aiohttp import ClientSession

from tests.cache.test_shared import answering
from tests.server.access.clients import ACCEPT
from tests.server.workers.test_workers import WORKERS, served, sessions
from tests.servers.unavailable import ServerUnavailable, skip_or_fail
from tests.servers.valkey import running_valkey
from tests.transport.fake_endpoint import fake_endpoint

pytestmark = [pytest.mark.anyio, pytest.mark.server]

HUB: Final = "https://example.org/x/hub"
HOP: Final = f"VALUES ?s {{ <{HUB}> }}"
"""In the query for the edges of the seed. Each worker reads the schema for itself, with other queries."""

CALL: Final[dict[str, Any]] = {
    "jsonrpc": "2.0",
    "id": 3,
    "method": "tools/call",
    "params": {"name": "bfs_query", "arguments": {"seeds": [HUB], "max_hops": 2}},
}


async def traversal(url: str, session: str) -> str:
    """Ask the worker of a session."""
    headers = {**ACCEPT, "mcp-session-id": session, "mcp-protocol-version": "2025-11-25"}
    async with ClientSession(url) as client, client.post("/mcp", json=CALL, headers=headers) as answer:
        return await answer.text()


async def test_a_traversal_asked_of_both_workers_reaches_the_endpoint_once(tmp_path: Path) -> None:
    try:
        with running_valkey(tmp_path) as valkey:
            async with (
                fake_endpoint(answering) as endpoint,
                served("--endpoint", endpoint.url, "--shared-cache", valkey.url) as (_, url),
            ):
                asked: dict[str, int] = {}
                for session in await sessions(url, WORKERS):
                    before = sum(HOP in query for query in endpoint.queries)
                    assert "m8" in await traversal(url, session)
                    asked.setdefault(session[-1], sum(HOP in query for query in endpoint.queries) - before)
                first, second = asked.values()
                assert (first, second) == (1, 0)
    except ServerUnavailable as error:
        skip_or_fail(error)
