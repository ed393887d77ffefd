"""Serves the explorer page at `/`: one file without outside requests, which speaks MCP at `/mcp` like any client."""

from __future__ import annotations

import base64
import hashlib
import re
from functools import cache
from pathlib import Path

from gateway.server.http_guard import App, Message, Receive, Send

PAGE = Path(__file__).resolve().parent.parent / "web" / "built" / "explorer.html"

_INLINE = re.compile(rb"<(script|style)\b[^>]*>(.*?)</\1>", re.DOTALL)


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
    body = PAGE.read_bytes()
    return body, [
        (b"content-type", b"text/html; charset=utf-8"),
        (b"content-length", str(len(body)).encode()),
        (b"cache-control", b"no-cache"),
        (b"content-security-policy", policy_of(body).encode()),
        (b"referrer-policy", b"no-referrer"),
        (b"x-content-type-options", b"nosniff"),
        (b"cross-origin-opener-policy", b"same-origin"),
    ]


def policy_of(page: bytes) -> str:
    """Return the Content-Security-Policy of a page: its own scripts and styles alone, and requests to its own server.

    Text of a graph that became markup by a defect would run nothing and load nothing. Source: Content Security Policy
    Level 3, 6.1 and 6.2.
    """
    sources = {"script": "'none'", "style": "'none'"}
    for element in sources:
        inline = [content for name, content in _INLINE.findall(page) if name.decode() == element]
        if inline:
            sources[element] = " ".join(_hash_source(content) for content in inline)
    return "; ".join(
        [
            "default-src 'none'",
            f"script-src {sources['script']}",
            f"style-src {sources['style']}",
            "connect-src 'self'",
            "img-src data:",
            # The layout is computed in a worker, whose text is in the page.
            "worker-src blob: data:",
            "base-uri 'none'",
            "form-action 'none'",
            "frame-ancestors 'none'",
        ]
    )


def _hash_source(content: bytes) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(content).digest()).decode()}'"
