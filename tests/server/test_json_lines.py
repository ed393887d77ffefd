"""Lines of a client: bounded, and answered where they are no messages."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcp.shared.message import SessionMessage
from mcp_types import INVALID_REQUEST, PARSE_ERROR, JSONRPCError

from gateway.server.stdio import MAX_BYTES, LineSplitter, message_of


def cut(chunks: list[bytes], most: int = MAX_BYTES) -> list[tuple[bytes, int]]:
    lines = LineSplitter(most)
    return [*(line for chunk in chunks for line in lines.feed(chunk)), *lines.rest()]


@given(st.lists(st.binary(max_size=50)))
def test_lines_do_not_depend_on_where_the_chunks_end(chunks: list[bytes]) -> None:
    whole = b"".join(chunks)
    assert cut(chunks) == cut([whole])
    wanted = whole.split(b"\n")
    assert [line for line, _ in cut(chunks)] == (wanted if wanted[-1] else wanted[:-1])


@given(st.lists(st.binary(max_size=9_000).map(lambda data: data.replace(b"\n", b"")), max_size=5))
def test_a_long_line_is_returned_as_its_beginning_and_its_end(written: list[bytes]) -> None:
    lines = cut([b"".join(line + b"\n" for line in written)], 5_000)
    for line, (returned, dropped) in zip(written, lines, strict=True):
        assert len(returned) + dropped == len(line)
        assert len(returned) <= 5_000
        if dropped:
            assert returned[:2_000] == line[:2_000]
            assert returned[-2_000:] == line[-2_000:]
        else:
            assert returned == line


def test_a_line_that_never_ends_takes_no_memory() -> None:
    lines = LineSplitter()
    for _ in range(100):
        assert list(lines.feed(bytes(MAX_BYTES))) == []
    ((returned, dropped),) = lines.rest()
    assert len(returned) <= MAX_BYTES
    assert len(returned) + dropped == 100 * MAX_BYTES


IDS = st.one_of(st.integers(-(10**17), 10**17), st.text(st.characters(exclude_categories=["Cs"]), max_size=30))


def refused(line: bytes, dropped: int = 0) -> JSONRPCError:
    refusal = message_of(line, dropped)
    assert isinstance(refusal, JSONRPCError)
    return refusal


@given(IDS, st.permutations(["jsonrpc", "id", "method", "params"]), st.booleans())
def test_a_request_that_is_too_long_is_answered_under_its_own_id_or_none(
    identifier: int | str, order: list[str], spaced: bool
) -> None:
    request = {
        "jsonrpc": "2.0",
        "id": identifier,
        "method": "tools/call",
        "params": {"id": 5, "arguments": {"id": 6}, "padding": ["x" * MAX_BYTES], "last": {"id": 7}},
    }
    text = json.dumps({key: request[key] for key in order}, separators=None if spaced else (",", ":"))
    ((line, dropped),) = cut([text.encode()])
    refusal = refused(line, dropped)
    assert refusal.error.code == INVALID_REQUEST
    assert refusal.id in (identifier, None)
    if isinstance(identifier, int):
        assert refusal.id == identifier


@pytest.mark.parametrize(
    ("line", "identifier"),
    [
        (b'{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"x":"\\ud800"}}', 3),
        (b'{"jsonrpc":"2.0","id":"a","method":', "a"),
        (b'{"method":"x","params":{"id":4},"id":5}', 5),
        (b'{"params":{"id":4}}', None),
        (b"\xff\xfe{", None),
        (b"[" * 100_000, None),
        (b'{"id":' + b"9" * 5_000 + b"}", None),
    ],
)
def test_what_is_no_message_is_answered_with_an_error(line: bytes, identifier: int | str | None) -> None:
    refusal = refused(line)
    assert (refusal.id, refusal.error.code) == (identifier, PARSE_ERROR)
    assert len(refusal.error.message) < 100


def test_messages_are_messages_and_blank_lines_are_nothing() -> None:
    assert isinstance(message_of(b'{"jsonrpc":"2.0","id":1,"method":"ping"}\r', 0), SessionMessage)
    assert message_of(b"  \r", 0) is None
