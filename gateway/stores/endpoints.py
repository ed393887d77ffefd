"""The store of what a URL names, a SPARQL endpoint or a database, and the connection to an endpoint."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from gateway.flow.control import FlowControl
from gateway.flow.quota import Quota
from gateway.flow.quota_state import MemoryStorage, QuotaState, QuotaStorage, client_name, shared_storage
from gateway.graph.deadline import Clock
from gateway.graph.store import GraphStore
from gateway.settings.database_url import check_endpoint_url, is_database_url
from gateway.settings.profile import Profile
from gateway.settings.shared_cache import SharedCacheServer
from gateway.sparql.engines.traits import timeout_policy
from gateway.sparql.sparql_store import SparqlStore
from gateway.stores.caches import cached
from gateway.stores.databases import database_store
from gateway.stores.extras import installed
from gateway.transport.base import Transport

# A graph in this process needs no aiohttp, which takes long to import.
if TYPE_CHECKING:
    from gateway.cache.shared.values import SharedValues
    from gateway.transport.http import Http


def connect(
    url: str, profile: Profile, clock: Clock | None = None, shared_cache: SharedCacheServer | None = None
) -> Http:
    """Return the HTTP transport to an endpoint; it sends nothing yet.

    Args:
        url: The endpoint.
        profile: The profile.
        clock: The clock of its flow control; by default a monotonic one, and for the quota the system's, which all
            processes share.
        shared_cache: Where processes on several machines share the quota of the endpoint.

    Raises:
        ConfigurationError: The URL is wrong, or the profile's settings for the connection are.
    """
    from gateway.transport.credentials import access_to  # noqa: PLC0415 - with aiohttp
    from gateway.transport.http import Http  # noqa: PLC0415

    endpoint = profile.endpoint
    access = access_to(url, endpoint)
    user_agent = access.headers.get("User-Agent", "")
    storage = _quota_storage(client_name(url, user_agent), shared_cache) if endpoint.quota.is_limited else MemoryStorage
    return Http(
        url,
        max_bytes=profile.limits.body_bytes,
        method=endpoint.requests.method,
        timeout_policy=timeout_policy(endpoint.timeout, "unknown" if endpoint.engine == "auto" else endpoint.engine),
        access=access,
        graphs=endpoint.named_graphs,
        flow=FlowControl(
            endpoint.requests,
            Quota(endpoint.quota, storage=storage, clock=clock or time.time),
            clock=clock or time.monotonic,
        ),
    )


def store_at(
    url: str,
    profile: Profile,
    prefixes: Mapping[str, str],
    clock: Clock | None,
    wall_clock: Clock,
    server: SharedCacheServer | None = None,
) -> Callable[[Profile], GraphStore]:
    """Return what makes the store that asks an endpoint or a database; it sends nothing yet.

    Raises:
        ConfigurationError: The URL is wrong, or the profile's settings for the connection are.
    """
    check_endpoint_url(url)
    monotonic = clock or time.monotonic
    if not is_database_url(url):
        transport = connect(url, profile, clock, server)
        return lambda settings: SparqlStore(transport, settings, clock=monotonic, wall_clock=wall_clock)
    return database_store(url, profile, prefixes, monotonic, wall_clock)


def store_over(
    transport: Transport,
    profile: Profile,
    clock: Clock = time.monotonic,
    wall_clock: Clock = time.time,
    shared: SharedValues | None = None,
) -> GraphStore:
    """Return the store that `open_gateway` puts over the transport to an endpoint.

    Raises:
        ConfigurationError: The profile's settings for the search API are wrong.
    """
    return cached(SparqlStore(transport, profile, clock=clock, wall_clock=wall_clock), profile, clock, shared)


def _quota_storage(client: str, server: SharedCacheServer | None) -> Callable[[QuotaState], QuotaStorage]:
    """Return what stores the quota of a client of an endpoint: a file, and a server where there is one.

    Raises:
        ConfigurationError: The package for the server is not installed.
    """
    storage = shared_storage(client)
    if server is None:
        return storage
    with installed("redis"):
        from gateway.flow.shared_quota import shared_between_machines  # noqa: PLC0415 - an extra
    return shared_between_machines(server, client, storage)
