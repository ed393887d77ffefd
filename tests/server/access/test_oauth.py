"""Access tokens of an authorization server: which are taken, and which never."""

import asyncio
import base64
import json
import time
import warnings
from dataclasses import replace
from typing import Any

import jwt
import pytest
from aiohttp import ClientSession
from cryptography.hazmat.primitives.asymmetric import ec, rsa

from gateway.server.access.oauth import KeySet, OAuthClients
from gateway.server.access.tokens import is_name
from gateway.settings.serving import ClientLimits
from tests.server.access.clients import AUDIENCE, INITIALIZE, ISSUER, Issuer, bearer, local, serving
from tests.server.graphs.conftest import graphs
from tests.servers.loopback import HOST

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


async def test_the_graphs_of_a_token_without_scopes_are_those_of_its_roles() -> None:
    issuer = Issuer()
    of_program: dict[str, Any] = {"scope": None, "roles": ["graph:films", "reader"]}
    assert (await found(issuer, issuer.token(**of_program), "films", "pills")).client.graphs == {"films"}
    # Scopes may let a program see less than its user's roles do.
    narrowed: dict[str, Any] = {"scope": "graph:pills", "roles": ["graph:*"]}
    assert (await found(issuer, issuer.token(**narrowed), "films", "pills")).client.graphs == {"pills"}
    assert (await found(issuer, issuer.token(scope=None, roles="graph:*"), "films")).client.graphs is None


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


async def test_no_two_clients_have_one_name_or_one_identity() -> None:
    issuer = Issuer()
    texts = [
        "a",
        "a b",
        "b",
        "b c",
        "c",
        "a # b",
        "#",
        "x" * 200 + "1",
        "x" * 200 + "2",
        "a\x1b",
        "a\\x1b",
        "a\u00a0b",
        "\ud800",
    ]
    async with issuer.published() as settings:
        clients = OAuthClients(settings, ClientLimits(), [])
        pairs = [(program, subject) for program in texts for subject in texts]
        known = [await clients.find(issuer.token(client_id=program, sub=subject)) for program, subject in pairs]
    found_clients = [each.client for each in known if each is not None]
    assert len(found_clients) == len({client.name for client in found_clients}) == len(pairs)
    assert [client.identity for client in found_clients] == [("oauth", *pair) for pair in pairs]
    for client in found_clients:
        assert client.name.startswith("oauth:")
        assert not is_name(client.name)
        assert len(client.name) < 130
        assert "\x1b" not in client.name


@pytest.mark.parametrize(
    "changes",
    [
        {"sub": None},
        {"sub": ""},
        {"sub": 7},
        {"client_id": None},
        {"client_id": ""},
        {"client_id": ["chat"]},
        {"client_id": None, "azp": ""},
        {"client_id": None, "sub": None, "jti": "one"},
    ],
)
async def test_a_token_that_does_not_say_which_client_asks_for_whom_is_of_nobody(changes: dict[str, Any]) -> None:
    issuer = Issuer()
    assert await found(issuer, issuer.token(**changes)) is None


@pytest.mark.parametrize("claim", ["cid", "appid"])
async def test_the_program_of_a_token_may_stand_where_large_issuers_write_it(claim: str) -> None:
    issuer = Issuer()
    known = await found(issuer, issuer.token(client_id=None, **{claim: "chat"}))
    assert known.client.name == "oauth:chat alice"


async def test_tokens_are_for_the_audience_that_the_issuer_writes_and_for_no_other() -> None:
    issuer, other = Issuer(), "api://default"
    async with issuer.published() as published:
        clients = OAuthClients(replace(published, token_audience=other), ClientLimits(), [])
        assert await clients.find(issuer.token(aud=other)) is not None
        assert await clients.find(issuer.token()) is None
        # Clients are told the URL all the same.
        assert json.loads(clients.metadata)["resource"] == AUDIENCE


@pytest.mark.parametrize("claim", [{"typ": "ID"}, {"scope": None}, {"at_hash": "h"}, {"c_hash": "h"}])
async def test_a_token_that_says_only_who_somebody_is_lets_nobody_in(claim: dict[str, Any]) -> None:
    issuer = Issuer()
    async with issuer.published() as published:
        clients = OAuthClients(replace(published, token_audience="chat"), ClientLimits(), [])  # noqa: S106 - no secret
        assert await clients.find(issuer.token(aud="chat")) is not None
        assert await clients.find(issuer.token(aud="chat", headers={"typ": "JWT"}, **claim)) is None


async def test_the_log_says_why_a_token_is_refused_and_nothing_of_it(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO", logger="gateway.server.access.oauth")
    issuer = Issuer()
    for changes in (
        {"exp": 1},
        {"aud": "https://other.example.org/mcp"},
        {"headers": {"kid": "unknown"}},
        {"sub": None},
    ):
        changed: dict[str, Any] = {**changes}
        assert await found(issuer, issuer.token(**changed)) is None
    assert [record.getMessage().partition(": ")[2] for record in caplog.records] == [
        "ExpiredSignatureError",
        "InvalidAudienceError",
        "the issuer has no such key",
        "it has no sub, or none of client_id, azp, cid, appid",
    ]


async def test_the_program_of_a_token_may_be_its_authorized_party() -> None:
    issuer = Issuer()
    assert (await found(issuer, issuer.token(client_id=None, azp="chat"))).client.identity == ("oauth", "chat", "alice")
    assert (await found(issuer, issuer.token(azp="other"))).client.identity == ("oauth", "chat", "alice")
    assert (await found(issuer, issuer.token(sub="chat"))).client.name == "oauth:chat"


async def test_a_client_has_one_identity_whatever_its_tokens_let_it_see() -> None:
    issuer = Issuer()
    one, two = [
        await found(issuer, issuer.token(scope=f"graph:{name}"), "films", "pills") for name in ("films", "pills")
    ]
    assert one.client != two.client
    assert one.client.identity == two.client.identity


async def test_tokens_of_one_client_with_other_scopes_share_its_limits() -> None:
    issuer = Issuer()
    async with issuer.published() as oauth:
        settings = local(oauth=oauth, limits=ClientLimits(requests_a_minute=2))
        async with (
            serving(graphs(), settings, "films", "pills"),
            ClientSession(f"http://{HOST}:{settings.port}") as http,
        ):
            statuses = []
            for scope in ("graph:films", "graph:pills", "graph:*"):
                async with http.post("/mcp", json=INITIALIZE, headers=bearer(issuer.token(scope=scope))) as answer:
                    statuses.append(answer.status)
            async with http.post("/mcp", json=INITIALIZE, headers=bearer(issuer.token(sub="bob"))) as answer:
                statuses.append(answer.status)
    assert statuses == [200, 200, 429, 200]


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


NESTED: list[Any] = []
for _ in range(900):
    NESTED = [NESTED]

BAD_KEYS: list[Any] = [
    1,
    {"kty": ["RSA"]},
    {"kty": "RSA"},
    {"kty": "RSA", "n": "AQ", "e": "AQ"},
    {"kty": "RSA", "n": 1, "e": None},
    {"kty": "RSA", "n": "AQAB", "e": "AQAB", "alg": ["RS256"]},
    {"kty": "RSA", "n": "AQAB", "e": "AQAB", "alg": "none"},
    {"kty": "EC", "crv": {"P-256": 1}, "x": "AA", "y": "AA"},
    {"kty": "EC", "crv": "P-256", "x": "A" * 100, "y": "A" * 100},
    {"kty": "EC", "crv": "P-256", "x": "\ud800", "y": "AA"},
    {"kty": "OKP", "crv": "Ed448", "x": "AA"},
    {"kty": "EC", "crv": NESTED},
    {"kty": NESTED},
]


@pytest.mark.parametrize("place", [0, 1])
async def test_a_bad_key_of_an_issuer_takes_no_other_with_it(place: int) -> None:
    issuer = Issuer()
    good = json.loads(issuer.keys)["keys"][0]
    for bad in BAD_KEYS:
        listed = [{**bad, "kid": "two"} if isinstance(bad, dict) else bad]
        listed.insert(place, good)
        issuer.keys = json.dumps({"keys": listed}).encode()
        assert await found(issuer, issuer.token()) is not None, bad


async def test_keys_that_are_nested_without_end_let_nobody_in_and_are_no_fault_of_the_server() -> None:
    issuer = Issuer()
    issuer.keys = b'{"keys": ' + b"[" * 100_000
    assert await found(issuer, issuer.token()) is None


async def test_a_token_that_is_nested_without_end_is_of_nobody() -> None:
    issuer = Issuer()
    deep = "[" * 5_000 + "]" * 5_000
    header = base64.urlsafe_b64encode(f'{{"alg":"ES256","kid":{deep}}}'.encode()).decode().rstrip("=")
    assert await found(issuer, f"{header}.e30.AAAA") is None


@pytest.mark.parametrize(("bits", "is_taken"), [(1_024, False), (2_047, False), (2_048, True)])
async def test_an_rsa_key_is_believed_from_2048_bits_on(
    bits: int, is_taken: bool, caplog: pytest.LogCaptureFixture
) -> None:
    issuer, private = Issuer(), rsa.generate_private_key(65_537, bits)
    public = jwt.algorithms.RSAAlgorithm.to_jwk(private.public_key(), as_dict=True)
    issuer.keys = json.dumps({"keys": [{**public, "kid": issuer.kid, "alg": "RS256"}]}).encode()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", jwt.InsecureKeyLengthWarning)
        token = issuer.token(algorithm="RS256", key=private)
    assert (await found(issuer, token) is not None) == is_taken
    assert (f"an RSA key of {bits:,} bits" in caplog.text) != is_taken


async def test_of_a_private_key_that_an_issuer_shows_only_the_public_part_is_read() -> None:
    issuer, private = Issuer(), ec.generate_private_key(ec.SECP256R1())
    shown = jwt.algorithms.ECAlgorithm.to_jwk(private, as_dict=True)
    issuer.keys = json.dumps({"keys": [{**shown, "kid": issuer.kid}]}).encode()
    assert await found(issuer, issuer.token(key=private)) is not None


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
