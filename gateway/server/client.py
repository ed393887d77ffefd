"""Who asks: the client that a request over HTTP was authenticated as."""

from __future__ import annotations

from collections.abc import Mapping, MutableMapping
from dataclasses import dataclass
from typing import Any

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
