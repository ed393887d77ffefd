"""The names by which a server may be called."""

import pytest

from gateway.errors import ConfigurationError
from gateway.server.access.names import Names
from gateway.settings.serving import HttpSettings, OAuthSettings

PUBLIC = HttpSettings(
    "0.0.0.0",  # noqa: S104 - what a container listens on
    hosts=["graphs.example.org", "2001:db8::7"],
    origins=["https://app.example.org:8443"],
    open_to_all=True,
)


@pytest.mark.parametrize(
    "host",
    [
        *("graphs.example.org", "Graphs.Example.ORG:443", "graphs.example.org:80", "localhost:8000", "127.0.0.1"),
        *("[::1]:8000", "[::1]", "[2001:db8::7]:443"),
    ],
)
def test_a_server_is_called_by_its_names_with_any_port_or_none(host: str) -> None:
    assert Names(PUBLIC).takes_host(host)


@pytest.mark.parametrize(
    "host",
    [
        *("", "evil.example.org", "graphs.example.org.evil.org", "graphs.example.org:80:80", "graphs.example.org:x"),
        *("0.0.0.0", "[::1]x", "[::1", "127.0.0.1@evil.org", "graphs.example.org:", "localhost evil"),  # noqa: S104
    ],
)
def test_no_other_name_is_taken(host: str) -> None:
    assert not Names(PUBLIC).takes_host(host)


@pytest.mark.parametrize(
    ("origin", "host", "is_taken"),
    [
        ("https://app.example.org:8443", "localhost:8000", True),
        ("https://app.example.org", "localhost:8000", False),
        ("http://localhost:8000", "localhost:8000", True),
        ("http://localhost:3000", "localhost:8000", False),
        ("http://127.0.0.1:8000", "localhost:8000", False),
        ("http://localhost", "localhost:8000", False),
        ("http://localhost:8000", "localhost", False),
        ("http://localhost", "localhost:80", True),
        ("http://localhost:443", "localhost", False),
        ("http://[::1]:8000", "[::1]:8000", True),
        ("http://[::1]:8001", "[::1]:8000", False),
        ("https://graphs.example.org", "graphs.example.org", True),
        ("https://graphs.example.org", "Graphs.Example.org:443", True),
        ("https://graphs.example.org:8443", "graphs.example.org", False),
        ("https://localhost", "graphs.example.org", False),
        ("null", "localhost:8000", False),
        ("", "localhost:8000", False),
        ("file://localhost:8000", "localhost:8000", False),
        ("https://evil.org", "localhost:8000", False),
        ("http://localhost:8000@evil.org", "localhost:8000", False),
    ],
)
def test_pages_that_the_server_serves_itself_and_of_allowed_origins_may_ask(
    origin: str, host: str, is_taken: bool
) -> None:
    assert Names(PUBLIC).takes_origin(origin, host, is_encrypted=False) == is_taken


def test_a_page_that_came_without_encryption_may_not_ask_a_server_with_it() -> None:
    names = Names(PUBLIC)
    for origin, is_taken in (("http://graphs.example.org", False), ("https://graphs.example.org", True)):
        assert names.takes_origin(origin, "graphs.example.org", is_encrypted=True) == is_taken
    assert names.takes_origin("http://graphs.example.org", "graphs.example.org", is_encrypted=False)


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.1", "example.org"])  # noqa: S104 - what must be refused
def test_an_address_that_others_can_reach_needs_tokens_or_the_word_of_the_operator(host: str) -> None:
    with pytest.raises(ConfigurationError, match="not a loopback address"):
        HttpSettings(host)
    HttpSettings(host, open_to_all=True)


@pytest.mark.parametrize(
    ("settings", "problem"),
    [
        ({"port": -1}, "is not a port"),
        ({"port": 70_000}, "is not a port"),
        ({"hosts": ["a.org:80"]}, "has a port"),
        ({"hosts": ["a b"]}, "is not the name of a host"),
        ({"origins": ["https://a.org/"]}, "is not an origin"),
        ({"origins": ["*"]}, "is not an origin"),
        ({"proxies": ["proxy.example.org"]}, "is not an address"),
        ({"open_to_all": True, "token_file": "tokens"}, "lets everybody in"),
    ],
)
def test_wrong_settings_are_clear_errors(settings: dict[str, object], problem: str) -> None:
    with pytest.raises(ConfigurationError, match=problem):
        HttpSettings(**settings)  # type: ignore[arg-type]


def test_keys_are_not_read_without_tls_except_on_this_machine() -> None:
    with pytest.raises(ConfigurationError, match="anybody in between"):
        OAuthSettings("https://a.org", "http://a.org/keys", "https://b.org/mcp")
    OAuthSettings("https://a.org", "http://127.0.0.1:1/keys", "https://b.org/mcp")
    with pytest.raises(ConfigurationError, match="--oauth-audience is wrong"):
        OAuthSettings("https://a.org", "https://a.org/keys", "b.org")
