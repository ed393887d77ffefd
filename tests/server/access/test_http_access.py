"""Who is let in over HTTP, by a real server in this process, and by its file of tokens."""

import asyncio
import json
import logging
import os
import signal
import ssl
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any, Final

import pytest
import trustme
from aiohttp import ClientSession, TCPConnector
from hypothesis import given
from hypothesis import strategies as st
from mcp.client.client import ConnectMode
from mcp_types import TextContent
from yarl import URL

from gateway.errors import ConfigurationError
from gateway.server import http_server
from gateway.server.access.http_access import HttpAccess
from gateway.server.access.tokens import TokenFile, hashed, new_token
from gateway.settings.serving import ClientLimits, HttpSettings
from tests.server.access.clients import (
    ACCEPT,
    AUDIENCE,
    INITIALIZE,
    SECONDS,
    Issuer,
    bearer,
    local,
    medical,
    serving,
    token_file,
)
from tests.server.graphs.conftest import connected, graphs
from tests.servers.loopback import HOST, free_port, listening

pytestmark = pytest.mark.anyio

ALICE: Final = "alice-token-of-enough-characters"
BOB: Final = "bob-token-of-enough-characters-too"


@pytest.fixture
def tokens(tmp_path: Path) -> Path:
    """The file of two clients."""
    return token_file(tmp_path, f"alice {ALICE}", f"bob {BOB} requests-a-minute=3 sessions=1")


@asynccontextmanager
async def asking(settings: HttpSettings) -> AsyncIterator[ClientSession]:
    """Give a client of HTTP at the address of a server."""
    async with ClientSession(f"http://{HOST}:{settings.port}") as session:
        yield session


def url_of(settings: HttpSettings) -> str:
    """Return the URL of a server."""
    return f"http://{HOST}:{settings.port}/mcp"


async def status(session: ClientSession, path: str = "/mcp", **given: Any) -> int:
    """Return the status of a request to begin a session."""
    async with session.post(path, json=INITIALIZE, **{"headers": ACCEPT, **given}) as answer:
        await answer.read()
        return answer.status


async def test_a_client_with_a_token_calls_tools_and_one_without_is_refused(tokens: Path, era: ConnectMode) -> None:
    settings = local(token_file=tokens)
    async with serving(medical(), settings):
        async with connected(url_of(settings), era, f"Bearer {ALICE}") as client:
            answer = await client.call_tool("search_entities", {"query": "warfarin"})
        assert isinstance(answer.content[0], TextContent)
        assert "drug:warfarin" in answer.content[0].text
        async with asking(settings) as session:
            for headers in (
                ACCEPT,
                bearer("wrong"),
                bearer(ALICE[:-1]),
                {**ACCEPT, "authorization": f"Basic {ALICE}"},
                {**ACCEPT, "authorization": "Bearer " + "x" * 20_000},
            ):
                assert await status(session, headers=headers) in {401, 400}


async def test_a_slash_at_the_end_of_the_address_leads_nowhere_else(tokens: Path) -> None:
    settings = local(token_file=tokens)
    async with serving(medical(), settings), asking(settings) as session:
        paths = ("/mcp/", "/mcp//", "/mcp/films/")
        found = [await status(session, path, headers=bearer(ALICE), allow_redirects=False) for path in paths]
        assert found == [200, 404, 404]
        assert await status(session, "/mcp/") == 401


def test_a_proxy_ends_a_connection_that_waits_before_the_server_does(tokens: Path) -> None:
    # AWS and nginx after 60 seconds, where nothing else is set.
    options = HttpAccess(local(token_file=tokens), (), explorer=True).uvicorn_options
    assert options["timeout_keep_alive"] > 60


async def test_every_refused_token_gets_the_same_bytes(tokens: Path) -> None:
    settings = local(token_file=tokens)
    bodies = set()
    async with serving(medical(), settings), asking(settings) as session:
        for token in ("", "wrong", ALICE + "x", "sha256:" + "0" * 64):
            async with session.post("/mcp", json=INITIALIZE, headers=bearer(token)) as answer:
                bodies.add((answer.status, await answer.text(), answer.headers["www-authenticate"]))
    [(code, text, challenge)] = bodies
    assert (code, challenge) == (401, 'Bearer error="invalid_token"')
    assert json.loads(text)["error"] == "invalid_token"


async def test_a_session_of_one_client_is_unknown_to_another(tokens: Path) -> None:
    settings = local(token_file=tokens)
    async with serving(medical(), settings), asking(settings) as session:
        async with session.post("/mcp", json=INITIALIZE, headers=bearer(ALICE)) as answer:
            own = answer.headers["mcp-session-id"]
        ping = {"jsonrpc": "2.0", "id": 2, "method": "ping"}
        for token, expected in ((BOB, 404), (ALICE, 200)):
            headers = {**bearer(token), "mcp-session-id": own, "mcp-protocol-version": "2025-11-25"}
            async with session.post("/mcp", json=ping, headers=headers) as answer:
                assert answer.status == expected


async def test_a_client_that_asks_too_much_is_told_when_to_come_back_and_others_are_served(tokens: Path) -> None:
    settings = local(token_file=tokens)
    async with serving(medical(), settings), asking(settings) as session:
        assert await status(session, headers=bearer(BOB)) == 200
        assert await status(session, headers=bearer(BOB)) == 429  # a second session
        for _ in range(2):
            async with session.get("/mcp", headers=bearer(BOB)) as answer:
                await answer.read()
        async with session.get("/mcp", headers=bearer(BOB)) as answer:
            assert answer.status == 429
            assert 1 <= int(answer.headers["retry-after"]) <= 20
        assert await status(session, headers=bearer(ALICE)) == 200


async def test_clients_without_sessions_are_not_counted_as_opening_some(tmp_path: Path) -> None:
    settings = local(token_file=token_file(tmp_path, f"alice {ALICE} sessions=1"))
    async with serving(medical(), settings):
        for _ in range(3):
            async with connected(url_of(settings), "auto", f"Bearer {ALICE}") as client:
                await client.list_tools()


async def test_no_header_and_no_wrong_path_lets_a_client_open_more_sessions_and_streams_than_it_may(
    tmp_path: Path,
) -> None:
    settings = local(token_file=token_file(tmp_path, f"alice {ALICE} sessions=1"))
    async with serving(medical(), settings), asking(settings) as session:
        headers = {**bearer(ALICE), "mcp-protocol-version": "2025-06-18"}
        async with session.post("/mcp", json=INITIALIZE, headers=headers) as answer:
            own = {**headers, "mcp-session-id": answer.headers["mcp-session-id"]}
        async with session.get("/nope", headers=own) as answer:
            assert answer.status == 404
        assert await status(session, headers=headers) == 429
        async with (
            session.get("/mcp", headers=own) as stream,
            session.get("/mcp", headers=own) as another,
        ):
            assert (stream.status, another.status) == (200, 429)


async def test_names_and_origins_are_checked_before_tokens_and_pages_of_allowed_origins_may_ask(tokens: Path) -> None:
    app = "https://app.example.org"
    settings = local(token_file=tokens, hosts=["graphs.example.org"], origins=[app])
    async with serving(medical(), settings), asking(settings) as session:
        assert await status(session, headers={**bearer(ALICE), "host": "evil.example.org"}) == 421
        assert await status(session, headers={**bearer(ALICE), "host": "graphs.example.org"}) == 200
        assert await status(session, headers={**bearer(ALICE), "origin": "https://evil.example.org"}) == 403
        async with session.post("/mcp", json=INITIALIZE, headers={**bearer(ALICE), "origin": app}) as answer:
            assert (answer.status, answer.headers["access-control-allow-origin"]) == (200, app)
        preflight = {
            "origin": app,
            "access-control-request-method": "POST",
            "access-control-request-headers": "authorization",
        }
        async with session.options("/mcp", headers=preflight) as answer:
            assert (answer.status, answer.headers["access-control-allow-origin"]) == (200, app)


async def test_a_page_of_another_port_of_this_machine_may_not_ask(tokens: Path) -> None:
    settings = local(token_file=tokens)
    async with serving(medical(), settings), asking(settings) as session:
        for port, expected in ((settings.port, 200), (settings.port + 1, 403)):
            assert await status(session, headers={**bearer(ALICE), "origin": f"http://{HOST}:{port}"}) == expected


@pytest.mark.parametrize(
    "two",
    [
        [("mcp-session-id", "a"), ("mcp-session-id", "b")],
        [("mcp-session-id", "a"), ("Mcp-Session-Id", "a")],
        [("mcp-protocol-version", "2025-11-25"), ("mcp-protocol-version", "2026-07-28")],
        [("mcp-method", "tools/list"), ("mcp-method", "subscriptions/listen")],
        [("origin", "http://localhost"), ("origin", "http://localhost")],
        [("content-type", "application/json"), ("content-type", "text/plain")],
        [("content-length", "2"), ("transfer-encoding", "chunked")],
    ],
)
async def test_a_request_with_two_headers_of_a_name_or_two_lengths_is_refused(two: list[tuple[str, str]]) -> None:
    settings = local()
    async with serving(medical(), settings):
        reader, writer = await asyncio.open_connection(HOST, settings.port)
        headers = "".join(f"{name}: {value}\r\n" for name, value in [("host", f"{HOST}:{settings.port}"), *two])
        writer.write(f"POST /mcp HTTP/1.1\r\n{headers}\r\n".encode())
        async with asyncio.timeout(SECONDS):
            answer = await reader.read()
        writer.close()
    assert answer.startswith(b"HTTP/1.1 400")
    assert b"two headers of one name" in answer


@pytest.mark.parametrize("name", ["host", "authorization"])
async def test_a_request_with_two_names_of_the_server_or_two_tokens_is_as_one_without(tokens: Path, name: str) -> None:
    settings = local(token_file=tokens)
    async with serving(medical(), settings):
        reader, writer = await asyncio.open_connection(HOST, settings.port)
        headers = {"host": f"{HOST}:{settings.port}", "authorization": f"Bearer {ALICE}"}
        lines = "".join(f"{each}: {value}\r\n" for each, value in [*headers.items(), (name, headers[name])])
        writer.write(f"POST /mcp HTTP/1.1\r\n{lines}\r\n".encode())
        async with asyncio.timeout(SECONDS):
            answer = await reader.read()
        writer.close()
    # h11 refuses the first by itself.
    assert answer.startswith(b"HTTP/1.1 400" if name == "host" else b"HTTP/1.1 401")


async def test_probes_and_the_explorer_page_need_no_token(tokens: Path) -> None:
    settings = local(token_file=tokens)
    async with serving(medical(), settings), asking(settings) as session:
        for path in ("/healthz", "/"):
            async with session.get(path) as answer:
                assert answer.status == 200
        async with session.get("/healthz", headers={"host": "10.0.0.7"}) as answer:
            assert answer.status == 200


async def test_a_body_is_not_read_before_its_sender_is_let_in(tokens: Path) -> None:
    settings = local(token_file=tokens)
    async with serving(medical(), settings):
        reader, writer = await asyncio.open_connection(HOST, settings.port)
        writer.write(b"POST /mcp HTTP/1.1\r\nhost: localhost\r\ncontent-length: 100000000\r\n\r\n")
        async with asyncio.timeout(SECONDS):
            answer = await reader.read()
        writer.close()
    assert answer.startswith(b"HTTP/1.1 401")


@pytest.mark.parametrize("framing", ["transfer-encoding: chunked", "content-length: 100000000000"])
@pytest.mark.parametrize(
    "request_line", ["POST /mcp", "POST /", "GET /", "GET /healthz", "DELETE /mcp", "POST /nowhere"]
)
async def test_a_request_without_an_end_is_cut_whether_it_was_answered_or_not(
    tokens: Path, framing: str, request_line: str
) -> None:
    settings = local(token_file=tokens)
    block = b"40000\r\n" + bytes(1 << 18) + b"\r\n" if "chunked" in framing else bytes(1 << 18)
    async with serving(medical(), settings):
        reader, writer = await asyncio.open_connection(HOST, settings.port)
        head = f"{request_line} HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {ALICE}\r\n{framing}\r\n\r\n"
        writer.write(head.encode())
        sent = 0
        async with asyncio.timeout(SECONDS):
            with suppress(ConnectionError):
                while sent < 64 << 20:
                    writer.write(block)
                    await writer.drain()
                    sent += len(block)
            with suppress(ConnectionError):
                while await reader.read(1 << 16):
                    pass
        writer.close()
    # Beyond what the server reads, buffers of the system take some.
    assert sent < 32 << 20


async def test_scopes_of_access_tokens_say_which_graphs_are_seen(era: ConnectMode) -> None:
    issuer = Issuer()
    async with issuer.published() as oauth:
        settings = local(oauth=oauth)
        async with serving(graphs(), settings, "pills", "films", "gone"), asking(settings) as session:
            token = issuer.token(scope="graph:films")
            async with connected(url_of(settings), era, f"Bearer {token}") as client:
                [described] = (await client.call_tool("describe_schema", {})).content
            assert isinstance(described, TextContent)
            assert ("films" in described.text, "pills" in described.text) == (True, False)
            for path in ("/.well-known/oauth-protected-resource", "/.well-known/oauth-protected-resource/mcp"):
                async with session.get(path) as answer:
                    assert (answer.status, (await answer.json())["resource"]) == (200, AUDIENCE)
            async with session.post(
                "/mcp", json=INITIALIZE, headers=bearer(issuer.token(aud="https://x.org"))
            ) as answer:
                assert answer.status == 401
                assert f'resource_metadata="{AUDIENCE[:-4]}/.well-known' in answer.headers["www-authenticate"]


async def test_addresses_have_limits_where_everybody_is_let_in() -> None:
    settings = HttpSettings("0.0.0.0", free_port(), open_to_all=True, limits=ClientLimits(requests_a_minute=2))  # noqa: S104 - as in a container
    async with serving(medical(), settings), asking(settings) as session:
        assert [await status(session) for _ in range(3)] == [200, 200, 429]


@pytest.mark.slow
async def test_slow_connections_are_cut_and_keep_nobody_out(tokens: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_server, "HEADER_SECONDS", 1.0)
    monkeypatch.setattr(http_server, "MOST_WAITING", 20)
    settings = local(token_file=tokens)
    async with serving(medical(), settings), asking(settings) as patient:
        assert await status(patient, headers=bearer(ALICE)) == 200
        slow = [await asyncio.open_connection(HOST, settings.port) for _ in range(60)]
        for _, writer in slow:
            writer.write(b"POST /mcp HTTP/1.1\r\nhost: loc")
        async with connected(url_of(settings), "auto", f"Bearer {ALICE}") as client:
            assert len((await client.list_tools()).tools) == 6
        # A connection that was answered before is not among those that are cut.
        assert await status(patient, headers=bearer(ALICE)) == 200
        async with asyncio.timeout(SECONDS):
            for reader, writer in slow:
                with suppress(ConnectionError):  # closed, or reset
                    assert await reader.read() == b""
                writer.close()


@pytest.mark.server
async def test_a_hangup_reads_the_tokens_again(tokens: Path) -> None:
    port = free_port()
    process = await asyncio.create_subprocess_exec(
        *(
            sys.executable,
            "-m",
            "gateway",
            "serve",
            "--http",
            "--port",
            str(port),
            "--token-file",
            str(tokens),
            "--verbose",
        ),
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        assert process.stderr is not None
        said = (await process.stderr.readline()).decode()
        assert "for clients with a token" in said
        await listening(port)
        async with ClientSession(f"http://{HOST}:{port}") as session:
            assert await status(session, headers=bearer(ALICE)) == 200
            await asyncio.to_thread(tokens.write_text, "carol carol-token-of-enough-characters\n")
            os.kill(process.pid, signal.SIGHUP)
            async with asyncio.timeout(SECONDS):
                while b"was read again" not in (line := await process.stderr.readline()):
                    assert line
            assert await status(session, headers=bearer(ALICE)) == 401
            assert await status(session, headers=bearer("carol-token-of-enough-characters")) == 200
    finally:
        process.terminate()
        await asyncio.wait_for(process.communicate(), SECONDS)


@pytest.mark.server
@pytest.mark.parametrize("form", ["text", "json"])
async def test_the_log_of_a_server_has_no_token_of_a_query_and_no_session(tokens: Path, form: str) -> None:
    port = free_port()
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "gateway", "-vv", "serve", "--http", "--port", str(port)),
        *("--token-file", str(tokens), "--log-format", form),
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        await listening(port)
        async with ClientSession(f"http://{HOST}:{port}") as session:
            for path in (f"/mcp?access_token={ALICE}", f"/?a=b&token={ALICE}", f"/mcp%3Faccess_token%3D{ALICE}"):
                async with session.get(URL(f"http://{HOST}:{port}{path}", encoded=True)) as answer:
                    await answer.read()
            async with session.post(f"/mcp?access_token={ALICE}", json=INITIALIZE, headers=bearer(ALICE)) as answer:
                own = answer.headers["mcp-session-id"]
            async with session.delete("/mcp", headers={**bearer(ALICE), "mcp-session-id": own}) as answer:
                assert answer.status == 200
            for headers in ({"mcp-session-id": own}, {"mcp-session-id": own, "host": "evil.org"}):
                async with session.get("/mcp", headers={**bearer(BOB), **headers}) as answer:
                    await answer.read()
    finally:
        process.terminate()
        _, said = await asyncio.wait_for(process.communicate(), SECONDS)
    assert b"GET /mcp HTTP/1.1" in said
    assert b"POST /mcp HTTP/1.1" in said
    assert own[:8].encode() in said
    for secret in (ALICE, BOB, own):
        assert secret.encode() not in said


@pytest.fixture
def certificate(tmp_path: Path) -> tuple[trustme.CA, tuple[Path, Path]]:
    """A certificate of this machine, and who signed it."""
    signer = trustme.CA()
    issued = signer.issue_cert(HOST)
    files = tmp_path / "cert.pem", tmp_path / "key.pem"
    issued.cert_chain_pems[0].write_to_path(files[0])
    issued.private_key_pem.write_to_path(files[1])
    return signer, files


async def test_it_serves_https(certificate: tuple[trustme.CA, tuple[Path, Path]], tokens: Path) -> None:
    signer, files = certificate
    trusting = ssl.create_default_context()
    signer.configure_trust(trusting)
    settings = local(token_file=tokens, certificate=files)
    async with (
        serving(medical(), settings),
        ClientSession(f"https://{HOST}:{settings.port}", connector=TCPConnector(ssl=trusting)) as session,
    ):
        assert await status(session, headers=bearer(ALICE)) == 200


def test_a_certificate_that_cannot_be_used_is_a_clear_error(
    certificate: tuple[trustme.CA, tuple[Path, Path]],
) -> None:
    _, (chain, key) = certificate
    for pair in ((key, chain), (chain, chain)):
        with pytest.raises(ConfigurationError, match="cannot be used"):
            HttpAccess(local(certificate=pair))


async def test_the_word_of_a_named_proxy_about_the_client_is_taken_and_of_no_other() -> None:
    limits = ClientLimits(requests_a_minute=1)
    for proxies, expected in (([HOST], [200, 200, 429]), ([], [200, 429, 429])):
        settings = HttpSettings("0.0.0.0", free_port(), open_to_all=True, limits=limits, proxies=proxies)  # noqa: S104 - as in a container
        async with serving(medical(), settings), asking(settings) as session:
            senders = ("192.0.2.1", "192.0.2.2", "192.0.2.2")
            assert [
                await status(session, headers={**ACCEPT, "x-forwarded-for": sender}) for sender in senders
            ] == expected


PLAIN = "a-token-of-enough-characters"
LIMITS = ClientLimits()


async def test_a_client_is_found_by_its_token_in_plain_text_or_hashed(tmp_path: Path) -> None:
    secret = new_token()
    file = TokenFile(
        token_file(
            tmp_path,
            "# clients",
            "",
            f"alice {PLAIN}",
            f"bob {hashed(secret)} graphs=films,pills requests-a-minute=7",
        ),
        LIMITS,
        ["films", "pills"],
    )
    alice, bob = await file.find(PLAIN), await file.find(secret)
    assert alice is not None
    assert bob is not None
    assert (alice.client.name, alice.client.graphs, alice.limits) == ("alice", None, LIMITS)
    assert (bob.client.name, bob.client.graphs) == ("bob", frozenset({"films", "pills"}))
    assert bob.limits.requests_a_minute == 7
    assert await file.find(hashed(secret)) is None
    assert await file.find("") is None


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> TokenFile:
    """A file with one client."""
    return TokenFile(token_file(tmp_path_factory.mktemp("alone"), f"alice {PLAIN}"), LIMITS, [])


@given(text=st.text(st.characters(codec="utf-8"), max_size=80) | st.text(PLAIN, max_size=len(PLAIN)))
async def test_no_other_text_is_a_token(alone: TokenFile, text: str) -> None:
    assert (await alone.find(text) is None) == (text != PLAIN)


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("-alice " + PLAIN, "not a name"),
        ("alice", "no token after the name"),
        ("alice short", "neither a token"),
        ("alice sha256:abc", "neither a token"),
        ("alice " + "é" * 30, "neither a token"),
        (f"alice {PLAIN} graphs", "not a list of NAME=VALUE"),
        (f"alice {PLAIN} graphs=films graphs=films", "not a list of NAME=VALUE"),
        (f"alice {PLAIN} graphs=filsm", "no graph 'filsm' here"),
        (f"alice {PLAIN} speed=3", "no limit 'speed'"),
        (f"alice {PLAIN} sessions=0", "limit sessions is '0'"),
        (f"alice {PLAIN} sessions=" + "9" * 5_000, "limit sessions is"),
        (f"bob {PLAIN}x\nbob {PLAIN}y", "stands in a line above"),
        (f"bob {PLAIN}\nalice {PLAIN}", "stands in a line above"),
        ("# nobody", "names 0 clients"),
        ("alice graphs=films", "no token after the name"),
        ("alice requests-a-minute=1200", "no token after the name"),
        ("\ufeffalice " + PLAIN, "Line 1 .* byte order mark"),
        ("\ufeff# my clients\nalice " + PLAIN, "Line 1 .* byte order mark"),
        ("# one\u2028\x0cmore\n\nalice", "Line 3 .* no token after the name"),
    ],
)
def test_a_wrong_line_is_refused_and_no_token_is_repeated(tmp_path: Path, line: str, problem: str) -> None:
    with pytest.raises(ConfigurationError, match=problem) as raised:
        TokenFile(token_file(tmp_path, line), LIMITS, ["films"])
    assert PLAIN not in str(raised.value)
    assert len(str(raised.value)) < 600


OURS = "bfsql_" + "x" * 43
RANDOM = "Zm9vYmFyYmF6cXV4cXV1eA"
LONG_NAME = "graph-reader-of-the-whole-team"


@pytest.mark.parametrize(
    "line",
    [
        f"{OURS} alice",
        f"{OURS} {LONG_NAME}",
        f"{OURS} {LONG_NAME} graphs=films",
        OURS,
        f"{OURS} {hashed(OURS)}",
        f"{hashed(PLAIN)} alice",
        f"{RANDOM} {LONG_NAME}",
        f"{LONG_NAME} {RANDOM}",
        f"{RANDOM} {hashed(RANDOM)}",
        f"{PLAIN} {LONG_NAME}",
    ],
)
def test_a_line_whose_words_may_be_swapped_is_refused_with_its_number_and_without_its_words(
    tmp_path: Path, line: str
) -> None:
    with pytest.raises(ConfigurationError, match=r"Line 2 .* its first word may be the token") as raised:
        TokenFile(token_file(tmp_path, f"alice {PLAIN}", line), LIMITS, ["films"])
    text = str(raised.value).replace(str(tmp_path), "")
    assert not any(word in text for word in (OURS, RANDOM, LONG_NAME, PLAIN, hashed(PLAIN)))


async def test_a_name_that_could_be_a_token_is_taken_beside_what_can_be_no_name(tmp_path: Path) -> None:
    for token in (hashed(PLAIN), f"{RANDOM}==", f"{RANDOM}/x", "x" * 65):
        file = TokenFile(token_file(tmp_path, f"{LONG_NAME} {token}"), LIMITS, [])
        known = await file.find(PLAIN if token == hashed(PLAIN) else token)
        assert known is not None
        assert known.client.name == LONG_NAME
    TokenFile(token_file(tmp_path, f"alice.of.wonderland@example.org {RANDOM}"), LIMITS, [])


@given(
    name=st.from_regex(r"[A-Za-z0-9][A-Za-z0-9._@-]{0,63}", fullmatch=True),
    token=st.from_regex(r"[A-Za-z0-9._~+/=-]{20,80}", fullmatch=True),
)
def test_of_a_line_and_its_words_swapped_never_both_are_taken(
    tmp_path_factory: pytest.TempPathFactory, name: str, token: str
) -> None:
    folder, taken = tmp_path_factory.mktemp("tokens"), []
    for line in (f"{name} {token}", f"{token} {name}"):
        with suppress(ConfigurationError):
            taken.append(TokenFile(token_file(folder, line), LIMITS, []))
    assert len(taken) <= 1


def test_a_file_that_others_may_read_is_refused_with_what_to_do(tmp_path: Path) -> None:
    path = token_file(tmp_path, f"alice {PLAIN}")
    path.chmod(0o644)
    with pytest.raises(ConfigurationError, match="chmod 600"):
        TokenFile(path, LIMITS, [])
    path.chmod(0o440)  # as an orchestrator mounts it for a group
    TokenFile(path, LIMITS, [])


async def test_a_file_is_read_again_and_a_wrong_one_changes_nothing(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = token_file(tmp_path, f"alice {PLAIN}")
    file = TokenFile(path, LIMITS, [])
    path.write_text("alice short\n")
    with caplog.at_level(logging.ERROR):
        file.reload()
    assert "not read again" in caplog.text
    assert await file.find(PLAIN) is not None
    path.write_text(f"bob {PLAIN}2\n")
    file.reload()
    assert await file.find(PLAIN) is None
    assert await file.find(f"{PLAIN}2") is not None


async def test_a_file_that_has_become_a_pipe_is_not_waited_for(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = token_file(tmp_path, f"alice {PLAIN}")
    file = TokenFile(path, LIMITS, [])
    path.unlink()
    os.mkfifo(path, 0o600)
    file.reload()
    assert "is a pipe, which can be read once" in caplog.text
    assert await file.find(PLAIN) is not None
