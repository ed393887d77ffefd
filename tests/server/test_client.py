from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, cast

from gateway.server.client import Client, Context, client_of, origin_of, set_client


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
