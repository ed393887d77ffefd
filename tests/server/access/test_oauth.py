"""Access tokens of an authorization server: which are taken, and which never."""

import asyncio
import json
import time
from typing import Any

import jwt
import pytest

from gateway.server.access.key_set import KeySet
from gateway.server.access.oauth import OAuthClients
from gateway.server.access.token_file import is_name
from gateway.settings.http_serving import ClientLimits
from tests.server.access.issuer import AUDIENCE, ISSUER, Issuer

pytestmark = pytest.mark.anyio


async def found(issuer: Issuer, token: str, *graphs: str) -> Any:
    """Return the client of a token."""
    async with issuer.published() as settings:
        return await OAuthClients(settings, ClientLimits(), graphs).find(token)


async def test_a_token_for_this_server_is_of_a_client_with_the_graphs_of_its_scopes() -> None:
    issuer = Issuer()
    known = await found(issuer, issuer.token(), "films", "pills")
    assert (known.client.name, known.client.graphs) == ("oauth:chat alice", {"pills"})
    assert (await found(issuer, issuer.token(scope="graph:*"), "films")).client.graphs is None
    assert (await found(issuer, issuer.token(scope=None), "films")).client.graphs == set()
    assert (await found(issuer, issuer.token(scope=None))).client.graphs is None
    assert (await found(issuer, issuer.token(aud=["https://x.org", AUDIENCE]))).client.name == "oauth:chat alice"


@pytest.mark.parametrize(
    "changes",
    [
        {"exp": 1},
        {"exp": None},
        {"nbf": 32_503_680_000},
        {"aud": "https://other.example.org/mcp"},
        {"aud": None},
        {"iss": "https://evil.example.org"},
        {"iss": None},
        {"headers": {"kid": "unknown"}},
        {"headers": {"typ": "id_token+jwt"}},
    ],
)
async def test_a_token_that_is_expired_foreign_or_unsigned_is_of_nobody(changes: dict[str, Any]) -> None:
    """The times are far from now: parameters are made when tests are collected, perhaps 20 minutes before they run."""
    issuer = Issuer()
    assert await found(issuer, issuer.token(**changes)) is None


async def test_a_token_signed_with_another_key_or_with_the_public_one_as_a_secret_is_of_nobody() -> None:
    issuer = Issuer()
    assert await found(issuer, Issuer().token()) is None
    claims = {"iss": ISSUER, "aud": AUDIENCE, "exp": time.time() + 60}
    public = json.loads(issuer.keys)["keys"][0]["x"]
    for algorithm, key in (("HS256", public), ("none", None)):
        forged = jwt.encode(claims, key or "", algorithm, {"kid": "one", "typ": "at+jwt"})
        assert await found(issuer, forged) is None


@pytest.mark.parametrize("text", ["", "a", "a.b.c", "." * 100, "é" * 50, "eyJhbGciOiJFUzI1NiJ9.e30.AAAA"])
async def test_what_is_no_token_is_of_nobody(text: str) -> None:
    assert await found(Issuer(), text) is None


async def test_two_clients_with_long_or_odd_names_have_two_names() -> None:
    issuer = Issuer()
    subjects = ["alice", "x" * 200 + "1", "x" * 200 + "2", "a\x1b", "a\x07", ""]
    names = [(await found(issuer, issuer.token(client_id=None, sub=each))).client.name for each in subjects]
    assert len({*names}) == len(subjects)
    assert all(name.startswith("oauth:") and not is_name(name) and len(name) < 130 for name in names)


async def test_a_known_key_waits_for_no_issuer_and_ends_when_it_was_not_seen_for_a_day() -> None:
    issuer, now, hangs = Issuer(), 0.0, asyncio.Event()
    async with issuer.published() as settings:
        keys = KeySet(settings.keys_url, lambda: now)
        assert await keys.find("one") is not None
        issuer.answers = hangs
        now = 3_600.0
        assert await keys.find("one") is not None
        now = 90_000.0
        hangs.set()
        issuer.keys = b"no keys"
        assert await keys.find("one") is None


async def test_unknown_keys_cause_no_more_than_one_request_in_a_while() -> None:
    issuer = Issuer()
    async with issuer.published() as settings:
        clients = OAuthClients(settings, ClientLimits(), [])
        assert await clients.find(issuer.token()) is not None
        for number in range(20):
            assert await clients.find(issuer.token(headers={"kid": f"k{number}"})) is None
        assert await clients.find(issuer.token()) is not None
        assert issuer.asked == 1


@pytest.mark.parametrize(
    "keys", [b"", b"[]", b"{}", b'{"keys": 1}', b'{"keys": [1, {"kty": "oct", "k": "AA", "kid": "one"}]}']
)
async def test_an_issuer_without_usable_keys_lets_nobody_in(keys: bytes) -> None:
    issuer = Issuer()
    issuer.keys = keys
    assert await found(issuer, issuer.token()) is None


async def test_the_answer_of_an_issuer_is_bounded() -> None:
    issuer = Issuer()
    issuer.keys += b" " * 300_000
    assert await found(issuer, issuer.token()) is None


async def test_the_metadata_say_who_gives_tokens_for_which_address() -> None:
    async with Issuer().published() as settings:
        clients = OAuthClients(settings, ClientLimits(), ["films"])
    assert json.loads(clients.metadata) == {
        "resource": AUDIENCE,
        "authorization_servers": [f"{ISSUER}"],
        "scopes_supported": ["graph:films"],
        "bearer_methods_supported": ["header"],
    }
    assert clients.metadata_url == "https://graphs.example.org/.well-known/oauth-protected-resource/mcp"
