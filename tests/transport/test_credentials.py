"""Credentials, certificates and proxies: they do their work, go to nobody else, and are never shown."""

import asyncio
import hashlib
import json
import logging
import os
import re
import ssl
import tomllib
import traceback
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
import trustme
from aiohttp import web

from gateway.api import open_gateway
from gateway.cli.main import main
from gateway.errors import ConfigurationError, EndpointFault, Fault, NetworkFault
from gateway.graph.call import Deadline
from gateway.settings.endpoint import AccessSettings, EndpointSettings
from gateway.settings.load import load_profile, with_contact
from gateway.settings.profile import Profile
from gateway.transport.credentials import access_to
from gateway.transport.http import Http
from tests.servers.loopback import HOST, free_port
from tests.tables import Row, decoded
from tests.transport.fake_endpoint import EMPTY, Handler, answering, fake_endpoint, sending
from tests.transport.loopback_proxy import loopback_proxy

pytestmark = pytest.mark.anyio

QUERY = "SELECT ?x { ?x ?p ?o }"
SECRETS = {"TEST_PASSWORD": "s3cret-p\u00e4ss", "TEST_TOKEN": "s3cret-token", "TEST_KEY": "s3cret-key"}
LOCAL = "http://127.0.0.1:9/sparql"


@pytest.fixture(autouse=True)
def _secrets(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in SECRETS.items():
        monkeypatch.setenv(name, value)


@pytest.fixture(scope="module")
def authority() -> trustme.CA:
    """Make a certificate authority that nobody knows."""
    return trustme.CA()


@pytest.fixture(scope="module")
def certificate(authority: trustme.CA) -> ssl.SSLContext:
    """Make the certificate of a server on loopback."""
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    authority.issue_cert(HOST).configure_cert(context)
    return context


@pytest.fixture
def bundle(authority: trustme.CA, tmp_path: Path) -> str:
    """Write the authority's own certificate to a file."""
    path = tmp_path / "ca.pem"
    authority.cert_pem.write_to_path(str(path))
    return str(path)


def settings(toml: str = "") -> EndpointSettings:
    """Return the section about an endpoint with so much about the access to it."""
    return EndpointSettings(access=AccessSettings.model_validate_json(json.dumps(tomllib.loads(toml))))


ALICE = 'user = "alice"\npassword = "env:TEST_PASSWORD"\n'
BEARER = 'token = "env:TEST_TOKEN"\n'
PROXY = 'proxy = "env:TEST_PROXY"\n'
OVER_HTTP = "credentials_over_http = true\n"


def trusting(bundle: str) -> str:
    return f'ca_bundle = "{bundle}"\n'


@asynccontextmanager
async def reaching(url: str, endpoint: EndpointSettings) -> AsyncIterator[Http]:
    transport = Http(url, max_bytes=100_000, access=access_to(url, endpoint))
    try:
        async with asyncio.timeout(20):
            yield transport
    finally:
        await transport.close()


async def ask(transport: Http) -> bytes:
    return await transport.select(QUERY, Deadline.after(20))


async def rows(transport: Http) -> list[Row]:
    return decoded(await ask(transport), "x")


async def header_sent(name: str, endpoint: EndpointSettings) -> str | None:
    """Return a header as it arrives at an endpoint on this machine."""
    async with fake_endpoint(answering()) as there, reaching(there.url, endpoint) as transport:
        assert await ask(transport) == EMPTY
    sent: str | None = there.received[0].headers.get(name)
    return sent


# What is sent


async def test_user_and_password_are_sent_as_basic_authentication() -> None:
    sent = await header_sent("Authorization", settings(ALICE))
    assert sent == "Basic YWxpY2U6czNjcmV0LXDDpHNz"


async def test_a_token_is_sent_as_bearer() -> None:
    assert await header_sent("Authorization", settings(BEARER)) == "Bearer s3cret-token"


async def test_a_secret_may_come_from_a_file_without_the_end_of_its_line(tmp_path: Path) -> None:
    for end in ("", "\n", "\r\n"):
        (tmp_path / "user").write_text("alice" + end, encoding="utf-8")
        (tmp_path / "password").write_text(SECRETS["TEST_PASSWORD"] + end, encoding="utf-8")
        endpoint = settings(f'user = "file:{tmp_path}/user"\npassword = "file:{tmp_path}/password"')
        assert await header_sent("Authorization", endpoint) == "Basic YWxpY2U6czNjcmV0LXDDpHNz"


async def test_a_byte_order_mark_before_a_secret_is_skipped(tmp_path: Path) -> None:
    (tmp_path / "user").write_text("\ufeffalice\r\n", encoding="utf-8")
    (tmp_path / "password").write_text("\ufeff" + SECRETS["TEST_PASSWORD"], encoding="utf-8")
    endpoint = settings(f'user = "file:{tmp_path}/user"\npassword = "file:{tmp_path}/password"')
    assert await header_sent("Authorization", endpoint) == "Basic YWxpY2U6czNjcmV0LXDDpHNz"


def test_a_file_with_a_byte_order_mark_alone_holds_no_secret(tmp_path: Path) -> None:
    (tmp_path / "token").write_text("\ufeff\n", encoding="utf-8")
    with pytest.raises(ConfigurationError, match="which is empty"):
        access_to(LOCAL, settings(f'token = "file:{tmp_path}/token"'))


async def test_further_headers_are_sent_secret_or_not() -> None:
    endpoint = settings('headers = { X-Team = "graphs" }\nsecret_headers = { X-Api-Key = "env:TEST_KEY" }')
    assert await header_sent("X-Team", endpoint) == "graphs"
    assert await header_sent("X-Api-Key", endpoint) == "s3cret-key"


async def test_the_user_agent_says_who_asks_and_how_to_reach_the_operator() -> None:
    library = r" aiohttp/\d[\w.]+"
    assert re.fullmatch(rf"bfsql-gateway/\d+\.\d+\.\d+{library}", await header_sent("User-Agent", settings()) or "")
    sent = await header_sent("User-Agent", EndpointSettings(contact="ops@example.org"))
    assert re.fullmatch(rf"bfsql-gateway/\d+\.\d+\.\d+ \(ops@example\.org\){library}", sent or "")


def digest_of(*parts: str) -> str:
    return hashlib.sha256(":".join(parts).encode()).hexdigest()


def wanting_digest(user: str, password: str) -> Handler:
    """Answer who knows the password by HTTP Digest (RFC 7616)."""
    nonce = "dcd98b7102dd2f0e8b11d0f600bfb0c0"

    async def handle(request: web.BaseRequest) -> web.StreamResponse:
        given = dict(re.findall(r'(\w+)="?([^",]*)"?', request.headers.get("Authorization", "")))
        expected = digest_of(
            digest_of(user, "graph", password),
            nonce,
            given.get("nc", ""),
            given.get("cnonce", ""),
            "auth",
            digest_of(request.method, request.path),
        )
        if given.get("response") == expected:
            return await answering()(request)
        challenge = f'Digest realm="graph", qop="auth", algorithm=SHA-256, nonce="{nonce}"'
        return web.Response(status=401, headers={"WWW-Authenticate": challenge})

    return handle


async def test_digest_authentication_never_sends_the_password() -> None:
    endpoint = settings(ALICE + 'auth = "digest"')
    handler = wanting_digest("alice", SECRETS["TEST_PASSWORD"])
    async with fake_endpoint(handler) as there, reaching(there.url, endpoint) as transport:
        assert await ask(transport) == EMPTY
        assert await ask(transport) == EMPTY
    # The first query is asked again with the answer to the challenge; later ones carry it at once.
    assert [("Authorization" in request.headers) for request in there.received] == [False, True, True]
    assert not any("s3cret" in str(request) for request in there.received)


async def test_a_wrong_password_is_reported_as_a_matter_of_credentials() -> None:
    for auth in ("basic", "digest"):
        endpoint = settings(f'user = "alice"\npassword = "env:TEST_KEY"\nauth = "{auth}"')
        handler = wanting_digest("alice", SECRETS["TEST_PASSWORD"])
        async with fake_endpoint(handler) as there, reaching(there.url, endpoint) as transport:
            with pytest.raises(EndpointFault, match="asks for credentials"):
                await ask(transport)


# TLS


async def test_an_endpoint_is_trusted_by_the_ca_bundle_and_by_nothing_else(
    certificate: ssl.SSLContext, bundle: str
) -> None:
    async with fake_endpoint(answering(), certificate) as there:
        async with reaching(there.url, settings(trusting(bundle) + BEARER)) as transport:
            assert await ask(transport) == EMPTY
        async with reaching(there.url, settings(BEARER)) as transport:
            with pytest.raises(EndpointFault, match="certificate is not trusted") as caught:
                await ask(transport)
    assert "ca_bundle" in caught.value.next_step
    assert not caught.value.again
    assert len(there.received) == 1


async def test_a_certificate_for_another_name_is_not_trusted(authority: trustme.CA, bundle: str) -> None:
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    authority.issue_cert("elsewhere.example").configure_cert(context)
    async with (
        fake_endpoint(answering(), context) as there,
        reaching(there.url, settings(trusting(bundle))) as transport,
    ):
        with pytest.raises(EndpointFault, match="certificate is not trusted"):
            await ask(transport)
    assert there.received == []


async def test_https_to_a_server_that_speaks_http_is_no_secure_connection(bundle: str) -> None:
    async with fake_endpoint(answering()) as there:
        url = there.url.replace("http:", "https:")
        async with reaching(url, settings(trusting(bundle) + BEARER)) as transport:
            with pytest.raises(EndpointFault, match="No secure connection"):
                await ask(transport)


# Proxies


@pytest.mark.parametrize("proxy_is_secure", [False, True], ids=["http proxy", "https proxy"])
@pytest.mark.parametrize("endpoint_is_secure", [False, True], ids=["http endpoint", "https endpoint"])
async def test_an_endpoint_behind_a_proxy_is_answered_and_each_sees_only_its_own_credentials(
    *,
    proxy_is_secure: bool,
    endpoint_is_secure: bool,
    certificate: ssl.SSLContext,
    bundle: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with (
        loopback_proxy(userinfo="bob:pr@xy", tls=certificate if proxy_is_secure else None) as proxy,
        fake_endpoint(answering(), certificate if endpoint_is_secure else None) as there,
    ):
        monkeypatch.setenv("TEST_PROXY", proxy.url("bob:pr%40xy@"))
        endpoint = settings(PROXY + BEARER + OVER_HTTP + trusting(bundle))
        async with reaching(there.url, endpoint) as transport:
            assert await ask(transport) == EMPTY
    (head,) = proxy.heads
    assert head.startswith("CONNECT " if endpoint_is_secure else "POST http://")
    assert "Proxy-Authorization: Basic Ym9iOnByQHh5" in head
    assert ("s3cret-token" in head) == (not endpoint_is_secure)
    (request,) = there.received
    assert request.headers["Authorization"] == "Bearer s3cret-token"
    assert "Proxy-Authorization" not in request.headers


@pytest.mark.parametrize("secure", [False, True], ids=["http endpoint", "https endpoint"])
async def test_a_proxy_that_wants_other_credentials_is_reported(
    *, secure: bool, certificate: ssl.SSLContext, bundle: str
) -> None:
    async with (
        loopback_proxy(userinfo="bob:pr@xy") as proxy,
        fake_endpoint(answering(), certificate if secure else None) as there,
        reaching(there.url, settings(trusting(bundle) + f'proxy = "{proxy.url()}"')) as transport,
    ):
        with pytest.raises(EndpointFault, match="proxy before the endpoint asks for credentials"):
            await ask(transport)
        assert there.received == []


async def test_a_proxy_that_is_not_there_is_a_network_fault() -> None:
    async with reaching(LOCAL, settings(f'proxy = "http://{HOST}:{free_port()}"')) as transport:
        with pytest.raises(NetworkFault, match="proxy could not be reached"):
            await ask(transport)


async def test_a_proxy_of_the_environment_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, f"http://{HOST}:{free_port()}")
    assert await header_sent("Accept", settings())


# What is refused before anything is sent


@pytest.mark.parametrize(
    "given",
    [
        ALICE,
        ALICE + 'auth = "digest"\n',
        BEARER,
        'secret_headers = { X-Api-Key = "env:TEST_KEY" }\n',
    ],
)
def test_credentials_go_unencrypted_to_this_machine_only_unless_the_operator_says_so(given: str) -> None:
    for url in ("http://graph.example/sparql", "http://10.1.2.3/sparql", "http://127.0.0.1.example/sparql"):
        with pytest.raises(ConfigurationError, match="unencrypted") as caught:
            access_to(url, settings(given))
        assert "credentials_over_http" in caught.value.valid
        access_to(url, settings(given + OVER_HTTP))
        access_to(url.replace("http:", "https:"), settings(given))
    for url in (LOCAL, "http://localhost/", "http://[::1]:3030/ds"):
        access_to(url, settings(given))
        with pytest.raises(ConfigurationError, match="unencrypted"):
            access_to(url, settings(given + 'proxy = "http://proxy.example:3128"'))


def test_credentials_of_a_proxy_go_unencrypted_to_this_machine_only_unless_the_operator_says_so(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("TEST_PROXY", "http://bob:s3cret@proxy.example:3128")
    with pytest.raises(ConfigurationError, match="proxy's credentials would go unencrypted"):
        access_to("https://graph.example/", settings(PROXY))
    access_to("https://graph.example/", settings(PROXY + "proxy_credentials_over_http = true"))
    monkeypatch.setenv("TEST_PROXY", "https://bob:s3cret@proxy.example:3128")
    access_to("https://graph.example/", settings(PROXY))


@pytest.mark.parametrize("host", ["query.wikidata.org", "wikidata.org", "commons-query.wikimedia.org"])
def test_wikimedia_is_not_asked_without_a_contact(host: str) -> None:
    with pytest.raises(ConfigurationError, match="Wikimedia") as caught:
        open_gateway(endpoint=f"https://{host}/sparql")
    assert 'contact = "you@example.org" in [endpoint]' in caught.value.valid
    access_to(f"https://{host}/sparql", EndpointSettings(contact="mailto:ops@example.org"))
    access_to("https://notwikidata.org/sparql", settings())


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ('token = "env:TEST_NOT_SET"', "endpoint.access.token refers to the environment variable TEST_NOT_SET"),
        ('token = "env:TEST_EMPTY"', "endpoint.access.token refers to the environment variable TEST_EMPTY"),
        ('token = "file:/does/not/exist"', "endpoint.access.token refers to the file /does/not/exist"),
        ('token = "file:/"', "endpoint.access.token refers to the file /"),
        (
            'token = "env:TEST_LINES"',
            "endpoint.access.token refers to the environment variable TEST_LINES, which is not",
        ),
        ('token = "env:TEST_ACCENT"', "endpoint.access.token is wrong"),
        ('secret_headers = { X-Key = "env:TEST_LINES" }', "X-Key refers to"),
        ('secret_headers = { X-Key = "env:TEST_ACCENT" }', "X-Key is wrong"),
        ('user = "s3cret:user"\npassword = "env:TEST_KEY"', "cannot hold a colon"),
        ('proxy = "env:TEST_TOKEN"', "proxy that endpoint.access.proxy refers to is wrong"),
        ('proxy = "env:TEST_BAD_PROXY"', "proxy that endpoint.access.proxy refers to is wrong"),
        ('ca_bundle = "/does/not/exist"', "ca_bundle is wrong"),
        ('ca_bundle = "/dev/null"', "ca_bundle is wrong"),
    ],
)
def test_what_cannot_be_read_or_sent_is_reported_at_the_start_without_the_secret(
    given: str, told: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TEST_EMPTY", "")
    monkeypatch.setenv("TEST_LINES", "s3cret\r\nX-Other: s3cret")
    monkeypatch.setenv("TEST_ACCENT", "s3cr\u00e9t s3cret")
    monkeypatch.setenv("TEST_BAD_PROXY", "http://bob:12/s3cret@proxy.example:3128")
    with pytest.raises(ConfigurationError, match=re.escape(told)) as caught:
        open_gateway(endpoint=LOCAL, profile=Profile(endpoint=settings(given)))
    assert_hidden(everything_about(caught.value))


@pytest.mark.parametrize("end", ["\n", "\r\n"])
async def test_one_line_end_of_a_secret_is_not_sent(end: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEST_ENDED", f"s3cret-token{end}")
    (tmp_path / "ended").write_bytes(f"s3cret-token{end}".encode())
    for given in ("env:TEST_ENDED", f"file:{tmp_path}/ended"):
        assert await header_sent("Authorization", settings(f'token = "{given}"')) == "Bearer s3cret-token"
    for unreadable, told in ((f"s3cret{end}{end}", "is not a secret"), (end, "is empty or not set")):
        monkeypatch.setenv("TEST_ENDED", unreadable)
        with pytest.raises(ConfigurationError, match=told) as caught:
            access_to(LOCAL, settings('token = "env:TEST_ENDED"'))
        assert_hidden(everything_about(caught.value))


NO_SECRETS = {
    "a private key": b"-----BEGIN OPENSSH PRIVATE KEY-----\ns3cret\n-----END OPENSSH PRIVATE KEY-----\n",
    "a list of accounts": b"root:x:0:0:s3cret:/root:/bin/bash\ndaemon:x:1:1\n",
    "variables of a process": b"HOME=/root\0KEY=s3cret\0",
    "a very long line": b"s3cret" * 5_000,
    "an escape sequence": b"s3cret\x1b[2J",
    "two line ends": b"s3cret\n\n",
}


@pytest.mark.parametrize("content", NO_SECRETS.values(), ids=NO_SECRETS.keys())
@pytest.mark.parametrize(
    "given",
    [
        'user = "alice"\npassword = "{}"',
        'user = "{}"\npassword = "env:TEST_KEY"',
        'token = "{}"',
        'secret_headers = {{ X-Key = "{}" }}',
        'proxy = "{}"',
    ],
)
def test_a_file_that_holds_something_else_than_one_line_is_not_sent_and_not_shown(
    given: str, content: bytes, tmp_path: Path
) -> None:
    (tmp_path / "file").write_bytes(content)
    with pytest.raises(ConfigurationError, match="is not a secret; its content is not sent") as caught:
        access_to(LOCAL, settings(given.format(f"file:{tmp_path}/file")))
    assert_hidden(everything_about(caught.value))


def test_a_file_that_has_no_end_or_waits_for_a_writer_is_not_read(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for place in ("/dev/zero", f"{tmp_path}/pipe"):
        with pytest.raises(ConfigurationError, match="cannot be read"):
            access_to(LOCAL, settings(f'token = "file:{place}"'))


def test_certificates_that_wait_for_a_writer_or_have_no_end_are_not_read(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for place in ("/dev/zero", f"{tmp_path}/pipe"):
        with pytest.raises(ConfigurationError, match="cannot be read as certificates"):
            access_to("https://e.org/sparql", settings(trusting(place)))


def test_a_contact_is_of_bounded_length() -> None:
    with pytest.raises(ConfigurationError, match="500 characters"):
        with_contact(Profile(), f"{'x' * 500}@example.org")


def test_a_secret_file_that_is_no_text_is_reported_without_its_bytes(tmp_path: Path) -> None:
    (tmp_path / "token").write_bytes(b"s3cret\xff")
    with pytest.raises(ConfigurationError, match="cannot be read") as caught:
        access_to(LOCAL, settings(f'token = "file:{tmp_path}/token"'))
    assert_hidden(everything_about(caught.value))


@pytest.mark.parametrize(
    "url",
    [
        "http://alice:s3cret@127.0.0.1/sparql",
        "http://s3cret@127.0.0.1/sparql",
        "http://127.0.0.1/sparql?apikey=s3cret",
        "http://127.0.0.1/sparql?x=1&access_token=s3cret",
        "http://127.0.0.1:99999/s3cret",
        "ftp://127.0.0.1/s3cret",
        "s3cret",
        "http://[s3cret",
        "http://",
    ],
)
def test_a_url_with_a_secret_in_it_is_refused_wherever_it_is_given(url: str, tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(f'[endpoint]\nurl = "{url}"\n', encoding="utf-8")
    for given in ({"endpoint": url}, {"profile": str(path)}):
        with pytest.raises(ConfigurationError) as caught:
            open_gateway(**given)  # type: ignore[arg-type]  # one argument or the other, both are text
        assert_hidden(everything_about(caught.value))


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('password = "s3cret"', "write `env:NAME`"),
        ('token = "Bearer s3cret"', "write `env:NAME`"),
        ("password = 53423", "endpoint.access.password"),
        ('secret_headers = { X-Key = "s3cret" }', "write `env:NAME`"),
        ('secret_headers = ["s3cret"]', "endpoint.access.secret_headers"),
        ('headers = { Authorization = "Basic s3cret" }', "belongs in endpoint.access.secret_headers"),
        ('headers = { X-Api-Key = "s3cret" }', "belongs in endpoint.access.secret_headers"),
        ('headers = { Cookie = "s3cret" }', "belongs in endpoint.access.secret_headers"),
        ('headers = { "X-A\\r\\nB" = "s3cret" }', "not a name of an HTTP header"),
        ('headers = { X-A = "s3cret\\r\\nB: c" }', "printable ASCII"),
        ('headers = { Accept = "s3cret" }', "set by the gateway itself"),
        ('headers = { X-A = "s3cret", x-a = "s3cret" }', "given twice"),
        ('token = "env:A"\nsecret_headers = { Authorization = "env:B" }', "set by the gateway itself"),
        ('user = "s3cret"', "user and password must be given together"),
        ('password = "env:A"', "user and password must be given together"),
        ('user = "s3cret"\npassword = "env:A"\ntoken = "env:B"', "give one of them"),
        ('proxy = "http://bob:s3cret@proxy.example"', "write `env:NAME`"),
        ('proxy = "s3cret"', "write `env:NAME`"),
        ('contact = "nobody"', "an e-mail address or a URL"),
        ('contact = "a@b.example)\\r\\n"', "an e-mail address or a URL"),
    ],
)
def test_a_profile_that_holds_a_secret_or_a_wrong_header_is_refused_without_repeating_it(
    text: str, told: str, tmp_path: Path
) -> None:
    path = tmp_path / "mine.toml"
    table = "endpoint" if text.startswith("contact") else "endpoint.access"
    path.write_text(f"[{table}]\n{text}\n", encoding="utf-8")
    with pytest.raises(ConfigurationError, match=re.escape(told)) as caught:
        load_profile(str(path))
    assert "endpoint" in str(caught.value)
    assert_hidden(everything_about(caught.value))


def test_a_section_that_is_none_is_refused_without_repeating_it(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    for text in (
        'endpoint = "http://alice:s3cret@h/"',
        '[[endpoint]]\npassword = "s3cret"',
        'endpoint.access = "s3cret"',
        '[[endpoint.access]]\npassword = "s3cret"',
        'endpoint.password = "s3cret"',
    ):
        path.write_text(text, encoding="utf-8")
        with pytest.raises(ConfigurationError, match="endpoint") as caught:
            load_profile(str(path))
        assert_hidden(everything_about(caught.value))


def test_a_literal_secret_given_from_python_is_refused_without_repeating_it() -> None:
    literal = SECRETS["TEST_KEY"]
    with pytest.raises(ValueError, match="env:NAME") as caught:
        Profile(endpoint=EndpointSettings(access=AccessSettings(user="alice", password=literal)))
    assert "s3cret" not in f"{caught.value} {caught.value!r} {traceback.format_exception(caught.value)}"


# Nothing is shown


def everything_about(error: BaseException) -> str:
    """Return all that a logger or a tracker of errors may write about an error and what led to it."""
    shown = traceback.format_exception(error)
    seen: list[BaseException | None] = [error]
    for one in seen:
        if one is not None:
            shown += [str(one), repr(one), repr(one.args), *(repr(value) for value in vars(one).values())]
            seen += [other for other in (one.__cause__, one.__context__) if other not in seen]
    return "\n".join(shown)


def assert_hidden(text: str) -> None:
    for secret in ("s3cret", "czNjcmV0", "pr@xy", "Ym9iOnByQHh5"):
        assert secret not in text, text


CREDENTIALS = """
[endpoint.access]
user = "alice"
password = "env:TEST_PASSWORD"
auth = "{auth}"
secret_headers = {{ X-Api-Key = "env:TEST_KEY" }}
credentials_over_http = true
{more}
[endpoint.requests]
retries = 1
[limits]
deadline_seconds = 2
schema_seconds = 1
"""

FAILING = {
    "401": answering(b"", status=401, headers={"WWW-Authenticate": 'Digest realm="x", nonce="y", qop="auth"'}),
    "404": answering(b"", status=404),
    "500": answering(b"java.lang.Exception: Authorization: Basic czNjcmV0", status=500),
    "redirect": answering(b"", status=302, headers={"Location": "http://alice:s3cret@elsewhere.example/?k=s3cret"}),
    "HTML": answering(b"<html>s3cret", content_type="text/html"),
    "broken JSON": answering(b'{"s3cret'),
    "no HTTP": sending(b"s3cret\r\n\r\n"),
    "a bad header": sending(b"HTTP/1.1 200 OK\r\nContent-Length: s3cret\r\n\r\n"),
    "cut": sending(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{"),
    "reset": sending(b"", reset=True),
}


@pytest.mark.slow
@pytest.mark.parametrize("auth", ["basic", "digest"])
@pytest.mark.parametrize("handler", FAILING.values(), ids=FAILING)
async def test_no_secret_is_shown_while_everything_fails(
    handler: Handler,
    auth: str,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
    capsys: pytest.CaptureFixture[str],
) -> None:
    caplog.set_level(logging.DEBUG)
    path = tmp_path / "mine.toml"
    path.write_text(CREDENTIALS.format(auth=auth, more=""), encoding="utf-8")
    profile = load_profile(str(path))
    async with fake_endpoint(handler) as there:
        async with reaching(there.url, profile.endpoint) as transport:
            with pytest.raises(Fault) as caught:
                await rows(transport)
            shown = [everything_about(caught.value), repr(transport), repr(access_to(there.url, profile.endpoint))]
        arguments = ["bfs", "http://example.org/a", "-e", there.url, "-p", str(path), "-vv"]
        for more in ([], ["--json"]):
            assert await asyncio.to_thread(main, [*arguments, *more]) == 2
    out = capsys.readouterr()
    assert_hidden("\n".join([*shown, repr(profile), str(profile), out.out, out.err, caplog.text]))
    assert_hidden("\n".join(repr(vars(record)) for record in caplog.records))


@pytest.mark.parametrize("secure", [False, True], ids=["http endpoint", "https endpoint"])
async def test_no_secret_of_a_proxy_is_shown_while_it_fails(
    *, secure: bool, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    async with loopback_proxy(userinfo="someone:else") as proxy:
        for port in (proxy.port, free_port()):
            monkeypatch.setenv("TEST_PROXY", f"http://bob:pr%40xy@{HOST}:{port}")
            endpoint = settings(PROXY + BEARER + OVER_HTTP)
            url = f"http{'s' if secure else ''}://graph.example/sparql"
            async with reaching(url, endpoint) as transport:
                with pytest.raises(Fault, match="proxy") as caught:
                    await ask(transport)
            assert_hidden(everything_about(caught.value) + caplog.text + repr(access_to(url, endpoint)))
