"""A client: the names by which it may call a server, what it may still use, and whom it shares its limits with."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.errors import ConfigurationError
from gateway.server.access.client_access import Bucket, Sessions, Usages
from gateway.server.access.http_access import Names
from gateway.server.client import Client, Context, client_of, origin_of, set_client
from gateway.settings.serving import ClientLimits, HttpSettings, OAuthSettings
from tests.clocks import Clock

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


@given(st.integers(1, 100), st.lists(st.floats(0, 30), max_size=200))
def test_no_minute_gives_more_than_twice_what_flows_in(a_minute: int, pauses: list[float]) -> None:
    clock = Clock(0.0)
    bucket = Bucket(a_minute, clock)
    taken: list[float] = []
    for pause in pauses:
        clock.now += pause
        if bucket.seconds_until(1) == 0:
            bucket.take(1)
            taken.append(clock.now)
    for first in taken:
        # A full bucket at once, and what flows in during the minute.
        assert sum(first <= each < first + 60 for each in taken) <= 2 * a_minute + 1


def test_what_is_owed_must_flow_in_first() -> None:
    clock = Clock(0.0)
    bucket = Bucket(60, clock)
    bucket.take(180)
    assert bucket.seconds_until(1) == 121
    clock.now = 121
    assert bucket.seconds_until(1) == 0


def test_a_client_with_all_its_requests_under_way_must_wait() -> None:
    usage = Usages().of("alice", ClientLimits(under_way=2))
    usage.under_way = 2
    assert usage.pause() == 1
    usage.under_way = 1
    assert usage.pause() == 0


def test_new_limits_begin_anew_with_the_requests_that_are_under_way() -> None:
    usages = Usages()
    before = usages.of("alice", ClientLimits(requests_a_minute=1))
    before.requests.take(1)
    before.under_way = 3
    after = usages.of("alice", ClientLimits(requests_a_minute=2))
    assert (after.requests.seconds_until(1), after.under_way) == (0, 3)


def test_sessions_are_counted_by_client_until_they_end_or_are_idle() -> None:
    clock = Clock(0.0)
    sessions = Sessions(clock)
    for name, client in (("1", "alice"), ("2", "alice"), ("3", "bob")):
        sessions.use(name, client)
    assert (sessions.count("alice"), sessions.count("bob"), sessions.count("eve")) == (2, 1, 0)
    for client, path in (("bob", ""), ("alice", "/other")):
        sessions.end("1", client, path)
        assert sessions.count("alice") == 2
    sessions.end("1", "alice")
    assert sessions.count("alice") == 1
    clock.now = 1_801
    assert sessions.count("alice") == 0


@dataclass
class _Request:
    scope: dict[str, Any]
    headers: dict[str, str] = field(default_factory=dict)


@dataclass
class _Context:
    request: _Request


def _origin_client(scope: dict[str, Any], session: str) -> tuple[object, Client | None]:
    origin = origin_of(cast(Context, _Context(_Request(scope, {"mcp-session-id": session}))))
    return origin.client, origin.authenticated


def test_an_unauthenticated_request_has_no_client_and_shares_the_limits_of_its_session() -> None:
    assert client_of({}) is None
    assert _origin_client({}, "s1") == ("s1", None)


def test_all_sessions_of_an_authenticated_client_share_its_limits() -> None:
    ada = Client("ada")
    scope: dict[str, Any] = {}
    set_client(scope, ada)
    assert client_of(scope) is ada
    assert _origin_client(scope, "s1") == _origin_client(scope, "s2") == (("ada",), ada)


def test_a_client_shares_limits_with_itself_whatever_it_may_see_and_with_nobody_of_the_same_name() -> None:
    clients = [
        Client("x: a b c", frozenset({"films"}), ("x", "a", "b c")),
        Client("x: a b c", None, ("x", "a", "b c")),
        Client("x: a b c", None, ("x", "a b", "c")),
    ]
    scopes: list[dict[str, Any]] = [{}, {}, {}]
    for scope, client in zip(scopes, clients, strict=True):
        set_client(scope, client)
    first, same, other = (_origin_client(scope, "s1")[0] for scope in scopes)
    assert first == same != other


def test_a_client_sees_all_graphs_or_those_that_it_was_given() -> None:
    assert Client("ada").may_see("movies")
    some = Client("bob", frozenset({"movies"}))
    assert some.may_see("movies")
    assert not some.may_see("salaries")
