"""Connections that uvicorn alone would treat otherwise."""

import asyncio
import ssl
from pathlib import Path

import pytest
import trustme
from aiohttp import ClientSession, TCPConnector, UnixConnector

from gateway.server import http_server
from gateway.server.workers.worker import Worker
from tests.server.access.clients import SECONDS
from tests.server.serving_app import Recorder, open_port, serving_app
from tests.servers.loopback import HOST

pytestmark = pytest.mark.anyio


@pytest.fixture(scope="module")
def signer() -> trustme.CA:
    """Who signs the certificate of the server."""
    return trustme.CA()


@pytest.fixture
def certificate(signer: trustme.CA, tmp_path: Path) -> dict[str, str]:
    """The options of a server with TLS."""
    issued = signer.issue_cert(HOST)
    chain, key = tmp_path / "chain.pem", tmp_path / "key.pem"
    issued.cert_chain_pems[0].write_to_path(chain)
    issued.private_key_pem.write_to_path(key)
    return {"ssl_certfile": str(chain), "ssl_keyfile": str(key)}


async def test_a_handshake_that_never_ends_is_cut(certificate: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_server, "HANDSHAKE_SECONDS", 0.3)
    listening = open_port()
    async with serving_app(Recorder(), listening, **certificate), asyncio.timeout(SECONDS):
        for begun in (b"", b"\x16\x03\x01"):
            reader, writer = await asyncio.open_connection(*listening.getsockname())
            writer.write(begun)
            assert await reader.read() == b""
            writer.close()


async def test_workers_talk_without_tls_where_clients_need_it(
    certificate: dict[str, str], signer: trustme.CA, tmp_path: Path
) -> None:
    worker, trusting = Worker(0, 1, 0, 0, tmp_path), ssl.create_default_context()
    signer.configure_trust(trusting)
    listening = open_port()
    port = listening.getsockname()[1]
    async with serving_app(Recorder(), listening, worker.listen_to_others(), **certificate):
        async with (
            ClientSession(connector=TCPConnector(ssl=trusting)) as client,
            client.get(f"https://{HOST}:{port}/") as answer,
        ):
            assert answer.status == 204
        async with (
            ClientSession(connector=UnixConnector(str(worker.path_of(0)))) as client,
            client.get("http://localhost/") as answer,
        ):
            assert answer.status == 204
