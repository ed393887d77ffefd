"""The store of what a URL names, the caches before it, and the connection to an endpoint."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from gateway.cache.store import CachedStore
from gateway.flow.control import FlowControl
from gateway.flow.quota import Quota
from gateway.flow.quota_state import MemoryStorage, QuotaState, QuotaStorage, client_name, shared_storage
from gateway.graph.store import GraphStore
from gateway.schema.cache import SchemaStorage
from gateway.settings.limits import SharedCacheServer
from gateway.settings.profile import Profile
from gateway.settings.storage import database_prefixes, profile_digest
from gateway.settings.urls import check_endpoint_url, is_database_url
from gateway.sparql.engines import timeout_policy
from gateway.sparql.store import SparqlStore
from gateway.stores.databases import database_store, installed
from gateway.telemetry.tally import Clock
from gateway.transport.base import Transport

# A graph in this process needs no aiohttp, which takes long to import.
if TYPE_CHECKING:
    from gateway.cache.shared_values import SharedValues
    from gateway.transport.http import Http

_CACHE_MEGABYTES = 64
"""The default size of the cache; a graph in this process has none by default."""


def cached(below: GraphStore, profile: Profile, clock: Clock, shared: SharedValues | None = None) -> GraphStore:
    """Return the store that answers from what was read before, and asks the store below for the rest."""
    cache = profile.cache
    if shared is not None:
        from gateway.cache.shared import SharedStore  # noqa: PLC0415 - an extra

        below = SharedStore(below, shared, cache.ttl_seconds, partial(_rules_of, below))
    below = _searched(below, profile)
    megabytes = _CACHE_MEGABYTES if cache.megabytes is None else cache.megabytes
    if not megabytes:
        return below
    return CachedStore(below, megabytes=megabytes, ttl_seconds=cache.ttl_seconds, clock=clock)


def shared_values(server: SharedCacheServer, url: str, profile: Profile, prefixes: Mapping[str, str]) -> SharedValues:
    """Return the place of the answers of an endpoint that are read under a profile and the user's own prefixes.

    Raises:
        ConfigurationError: The package for it is not installed.
    """
    with installed("redis"):
        from gateway.cache.shared_values import SharedValues  # noqa: PLC0415 - an extra
    known = json.dumps(database_prefixes(url, profile, prefixes), sort_keys=True)
    who = hashlib.sha256(f"{url}\n{profile_digest(profile)}\n{known}".encode()).hexdigest()
    return SharedValues(server, f"bfsql:{who[:32]}:")


def _rules_of(store: GraphStore) -> str | None:
    """Return by which rules a store reads answers as whole or cut; None while that is not known."""
    return store.read_by if isinstance(store, SparqlStore) else "those of a database"


def _searched(store: GraphStore, profile: Profile) -> GraphStore:
    """Return a store that searches by the API in the profile; the store itself if there is none."""
    search, endpoint = profile.search, profile.endpoint
    if not search.api:
        return store
    from gateway.transport.credentials import access_without_credentials  # noqa: PLC0415 - with aiohttp
    from gateway.wikibase.api import (  # noqa: PLC0415
        ApiClient,
        WikibaseApi,
        api_flow,
    )
    from gateway.wikibase.protocol import ApiRequests  # noqa: PLC0415
    from gateway.wikibase.search import WikibaseStore  # noqa: PLC0415

    access = access_without_credentials(search.api, endpoint, "search.api")
    api = WikibaseApi(search.api, max_bytes=profile.limits.body_bytes, access=access)
    language = search.api_language or next((tag for tag in profile.names.languages if tag != "mul"), "en")
    requests = ApiRequests(ApiClient(api, api_flow(endpoint.requests)), language)
    return WikibaseStore(store, requests)


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


@dataclass(frozen=True, slots=True)
class OpenedGraph:
    """A graph, and how to ask it.

    Attributes:
        profile: The profile in effect.
        store: What answers.
        prefixes: The prefixes that each file declares, by its name.
        storage: Where the gateway stores the schema; None where the store does, or nothing does.
        lasting: The folder for what outlives a change of the graph; None where there is none.
    """

    profile: Profile
    store: GraphStore
    prefixes: Sequence[tuple[str, Mapping[str, str]]] = ()
    storage: SchemaStorage | None = None
    lasting: Path | None = None
