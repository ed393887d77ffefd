"""What HTTP requests pass before the MCP endpoint, and what their answers pass after it."""

import json
import logging
from collections.abc import Iterable

import pytest
from starlette.types import Message, Receive, Send

from gateway.server.http_guard import HttpGuard
from gateway.server.stdio import MAX_BYTES
from tests.hidden import HIDDEN, hidden_in

pytestmark = pytest.mark.anyio

SCOPE: Message = {"type": "http", "method": "POST", "headers": []}
TEXT = json.dumps({"text": HIDDEN.replace("\ud800", "")}, ensure_ascii=False)


class App:
    """Keeps what it was asked, and answers with hidden characters."""

    def __init__(self, *, length: bool = False, parts: int = 1) -> None:
        self.asked: list[bytes] = []
        self._length = length
        self._parts = parts

    async def __call__(self, _scope: Message, receive: Receive, send: Send) -> None:
        """Answer one request."""
        self.asked.append((await receive())["body"])
        body = f"data: {TEXT}\r\n\r\n".encode()
        size = len(body) * self._parts
        headers = [(b"content-length", str(size).encode())] if self._length else []
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        for part in range(self._parts):
            more = part < self._parts - 1
            await send({"type": "http.response.body", "body": body, "more_body": more})


async def asked(app: App, messages: Iterable[Message]) -> list[Message]:
    coming, sent = iter(messages), []

    async def receive() -> Message:
        return next(coming)

    async def send(message: Message) -> None:
        sent.append(message)

    await HttpGuard(app)(SCOPE, receive, send)
    return sent


def part(body: bytes, *, more: bool = False) -> Message:
    return {"type": "http.request", "body": body, "more_body": more}


async def test_a_request_is_handed_on_whole() -> None:
    app = App()
    await asked(app, [part(b"ab", more=True), part(b"cd")])
    assert app.asked == [b"abcd"]


@pytest.mark.parametrize("chunks", [1, 20])
async def test_a_request_that_is_too_long_is_refused_and_not_read_to_its_end(chunks: int) -> None:
    app = App()
    size = MAX_BYTES // chunks + 1
    endless = (part(bytes(size), more=True) for _ in range(chunks))
    start, body = await asked(app, endless)
    assert start["status"] == 413
    assert b"at most 1,048,576 bytes" in body["body"]
    assert app.asked == []


async def test_a_client_that_goes_away_is_one_line_of_the_log(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    app = App()
    for _ in range(3):
        assert await asked(app, [part(b"a", more=True), {"type": "http.disconnect"}]) == []
    assert app.asked == []
    assert [record.getMessage() for record in caplog.records] == ["a client went away before its request was whole"] * 3
    assert all(record.exc_info is None for record in caplog.records)


@pytest.mark.parametrize("length", [False, True])
@pytest.mark.parametrize("parts", [1, 2])
async def test_answers_have_no_hidden_character_and_the_right_length(length: bool, parts: int) -> None:
    start, *bodies = await asked(App(length=length, parts=parts), [part(b"{}")])
    sent = b"".join(body["body"] for body in bodies)
    headers = dict(start["headers"])
    assert headers.get(b"content-length") in (None, str(len(sent)).encode())
    assert (b"content-length" in headers) == (length and parts == 1)
    for event in sent.decode().split("\r\n\r\n")[:-1]:
        text = event.removeprefix("data: ")
        assert hidden_in(text) == []
        assert json.loads(text) == json.loads(TEXT)
