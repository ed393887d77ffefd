"""Who asks, and from where."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, MutableMapping
from dataclasses import dataclass
from typing import Any

from mcp.server import ServerRequestContext

_CLIENT = "gateway.client"
"""The key of a `Client` in the scope of an HTTP request."""


@dataclass(frozen=True, slots=True)
class Client:
    """A client that the operator knows.

    Attributes:
        name: The operator's name for it, for logs and counts; it is no secret.
        graphs: The names of the graphs that it may see; None for all.
        parts: What tells it apart from all others, whatever it may see; its name alone where empty.
    """

    name: str
    graphs: frozenset[str] | None = None
    parts: tuple[str, ...] = ()

    @property
    def identity(self) -> tuple[str, ...]:
        """What tells it apart from all others: its limits and sessions are by this."""
        return self.parts or (self.name,)

    def may_see(self, graph: str) -> bool:
        """Return whether the client may see a graph, by its name."""
        return self.graphs is None or graph in self.graphs


def set_client(scope: MutableMapping[str, Any], client: Client) -> None:
    """Record in the scope of an HTTP request who sent it."""
    scope[_CLIENT] = client


def client_of(scope: Mapping[str, Any]) -> Client | None:
    """Return who sent an HTTP request; None without authentication."""
    client = scope.get(_CLIENT)
    return client if isinstance(client, Client) else None


Context = ServerRequestContext[dict[str, Any], Any]

_DISCONNECT = "gateway.disconnect"
"""The key of a `Disconnect` in the scope of an HTTP request."""

_SESSION = "mcp-session-id"
"""The header in which a client of the handshake era names its session."""


class Disconnect:
    """Tells its listeners when the client of an HTTP request closes the connection: nobody waits for an answer then."""

    def __init__(self, scope: MutableMapping[str, Any]) -> None:
        self._listeners: list[Callable[[], object]] = []
        self._has_happened = False
        scope[_DISCONNECT] = self

    def on(self, listener: Callable[[], object]) -> None:
        """Register a function that is called once, at once if the connection is closed already."""
        if self._has_happened:
            listener()
        else:
            self._listeners.append(listener)

    def happened(self) -> None:
        """Tell the listeners."""
        self._has_happened = True
        listeners, self._listeners = self._listeners, []
        for listener in listeners:
            listener()


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a request comes from.

    Attributes:
        client: Identifies the client: requests with equal values share the limits of one client.
        disconnect: Tells when the connection is closed; None over stdio, where the end of the connection ends all.
        authenticated: Who asks; None without authentication.
    """

    client: Hashable = None
    disconnect: Disconnect | None = None
    authenticated: Client | None = None


SOLE = Origin()
"""The origin of all requests where there is one client."""


def origin_of(context: Context) -> Origin:
    """Return where a request comes from.

    A client is who it was authenticated as; without authentication, a session. Requests of the era of 2026-07-28 have
    none, and a connection carries one at a time: there a client is what it says that it is (decision 0025).
    """
    request = context.request
    if request is None:
        return SOLE
    authenticated = client_of(request.scope)
    client: Hashable = request.headers.get(_SESSION) if authenticated is None else authenticated.identity
    if client is None:
        said = context.session.client_params
        name = None if said is None else (said.client_info.name, said.client_info.version)
        client = (request.client and request.client.host, name, request.headers.get("user-agent"))
    return Origin(client, request.scope.get(_DISCONNECT), authenticated)
