"""A client that the operator lets in, and what it may have."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from gateway.server.client import Client
from gateway.settings.http_serving import ClientLimits


@dataclass(frozen=True, slots=True)
class KnownClient:
    """A client with its limits.

    Attributes:
        client: Who it is.
        limits: What it may have.
    """

    client: Client
    limits: ClientLimits


FindClient = Callable[[str], Awaitable[KnownClient | None]]
"""Returns the client that a token is of; None if it is of nobody."""
