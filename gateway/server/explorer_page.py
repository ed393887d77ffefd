"""Serves the explorer page at `/`: one file without outside requests, which speaks MCP at `/mcp` like any client."""

from __future__ import annotations

from functools import cache

from gateway.content_policy import policy_of
from gateway.resources import explorer_page
from gateway.server.http_guard import App, Message, Receive, Send


class ExplorerPage:
    """ASGI middleware that answers `GET /` with the page and passes on everything else."""

    def __init__(self, app: App) -> None:
        self._app = app

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Answer one request (ASGI)."""
        if scope["type"] != "http" or scope["path"] != "/" or scope["method"] != "GET":
            await self._app(scope, receive, send)
            return
        body, headers = _page()
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": body})


@cache
def _page() -> tuple[bytes, list[tuple[bytes, bytes]]]:
    """Return the page and its headers."""
    body = explorer_page().read_bytes()
    return body, [
        (b"content-type", b"text/html; charset=utf-8"),
        (b"content-length", str(len(body)).encode()),
        (b"cache-control", b"no-cache"),
        (b"content-security-policy", f"{policy_of(body, connects=True)}; frame-ancestors 'none'".encode()),
        (b"referrer-policy", b"no-referrer"),
        (b"x-content-type-options", b"nosniff"),
        (b"cross-origin-opener-policy", b"same-origin"),
    ]
