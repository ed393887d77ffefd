"""A reverse proxy that records, for each question, what whoever answers it has read.

Each question has its own URL before the same server, so that any client can be used: `/tools/7/mcp` is question 7 over
MCP, `/sparql/7` is question 7 at the SPARQL endpoint.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

import aiohttp
from aiohttp import web

MAX_BODY: Final = 1 << 20
"""Bytes of a request at most."""

_ENDS_HERE: Final = frozenset(
    {"connection", "content-encoding", "content-length", "host", "keep-alive", "transfer-encoding", "accept-encoding"}
)
"""Headers that concern one connection, or the coding of a body that is passed on decoded."""


@dataclass(frozen=True, slots=True)
class Read:
    """One thing that was read.

    Attributes:
        arm: "tools" or "sparql".
        number: The question's.
        what: The tool's name, "query", or "tools/list".
        asked: The arguments as JSON, or the query.
        text: What was read.
        failed: Whether it was an error.
        at: Seconds since the epoch.
    """

    arm: str
    number: int
    what: str
    asked: str
    text: str
    failed: bool
    at: float


class Recorder:
    """Passes requests on to the two servers, and appends what is read to a file.

    Args:
        upstreams: The URL of each arm's server.
        file: JSON Lines, one `Read` each.
        questions: How many questions there are.
    """

    def __init__(self, upstreams: Mapping[str, str], file: Path, questions: int) -> None:
        self._upstreams = upstreams
        self._file = file
        self._questions = questions

    def app(self) -> web.Application:
        """Return the web application."""
        app = web.Application(client_max_size=MAX_BODY)
        app.cleanup_ctx.append(self._session)
        app.router.add_route("*", "/{arm:tools}/{number:[0-9]{1,4}}/mcp", self._pass_on)
        app.router.add_route("*", "/{arm:sparql}/{number:[0-9]{1,4}}", self._pass_on)
        return app

    async def _session(self, app: web.Application) -> Any:
        no_limit = aiohttp.ClientTimeout(total=None)
        async with aiohttp.ClientSession(timeout=no_limit) as session:
            app[_SESSION] = session
            yield

    async def _pass_on(self, request: web.Request) -> web.StreamResponse:
        arm, number = request.match_info["arm"], int(request.match_info["number"])
        if not 1 <= number <= self._questions:
            raise web.HTTPNotFound(text=f"There are questions 1 to {self._questions}.")
        body = await request.read()
        headers = {name: value for name, value in request.headers.items() if name.lower() not in _ENDS_HERE}
        url = self._upstreams[arm]
        session = request.app[_SESSION]
        async with session.request(request.method, url, params=request.query, data=body, headers=headers) as answer:
            passed = {name: value for name, value in answer.headers.items() if name.lower() not in _ENDS_HERE}
            response = web.StreamResponse(status=answer.status, headers=passed)
            await response.prepare(request)
            content = bytearray()
            async for part in answer.content.iter_any():
                # A client reads server events from a GET for as long as it likes; no answer is among them.
                if request.method == "POST" or arm == "sparql":
                    content += part
                await response.write(part)
        await response.write_eof()
        text = content.decode("utf-8", "replace")
        if arm == "sparql":
            form = await request.post() if request.content_type == "application/x-www-form-urlencoded" else {}
            query = request.query.get("query") or form.get("query") or body.decode("utf-8", "replace")
            self._note(Read(arm, number, "query", str(query), text, answer.status != 200, time.time()))  # noqa: PLR2004 - OK
        else:
            for read in _read_over_mcp(number, body, text):
                self._note(read)
        return response

    def _note(self, read: Read) -> None:
        with self._file.open("a", encoding="utf-8") as file:
            file.write(json.dumps(asdict(read), ensure_ascii=False) + "\n")


_SESSION: Final = web.AppKey("session", aiohttp.ClientSession)


def _read_over_mcp(number: int, body: bytes, text: str) -> Iterator[Read]:
    """Give what a model reads of one exchange: the answer of a tool, or the list of tools."""
    try:
        request = json.loads(body)
    except ValueError:
        # A GET has no body, and what is no JSON the server refuses.
        return
    if not isinstance(request, dict) or request.get("method") not in {"tools/call", "tools/list"}:
        return
    for message in _messages(text):
        if message.get("id") != request.get("id") or not {"result", "error"} & message.keys():
            continue
        result = message.get("result", {})
        if request["method"] == "tools/list":
            yield Read("tools", number, "tools/list", "", json.dumps(result), "error" in message, time.time())
            continue
        parameters = request.get("params", {})
        shown = "".join(part.get("text", "") for part in result.get("content", [])) or json.dumps(message)
        failed = "error" in message or bool(result.get("isError"))
        asked = json.dumps(parameters.get("arguments", {}), ensure_ascii=False)
        yield Read("tools", number, str(parameters.get("name")), asked, shown, failed, time.time())


def _messages(text: str) -> Iterator[Mapping[str, Any]]:
    """Give the JSON-RPC messages of a body: one JSON object, or server-sent events."""
    if text.lstrip().startswith("{"):
        yield json.loads(text)
        return
    for line in text.splitlines():
        content = line.removeprefix("data:").strip()
        if line.startswith("data:") and content:
            yield json.loads(content)
