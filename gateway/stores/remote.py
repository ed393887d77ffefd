"""The store of what a URL names: a SPARQL endpoint or a database."""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path

from gateway.cache.stored_schema import StoredSchema
from gateway.graph.deadline import Clock
from gateway.labels.indexed_store import IndexedStore
from gateway.labels.stored_index import StoredIndexSource
from gateway.settings.profile import Profile, profile_for_endpoint, under_policy_at_endpoint
from gateway.settings.shared_cache import SharedCacheServer
from gateway.stores.caches import cached, shared_values
from gateway.stores.endpoints import store_at
from gateway.stores.label_index import stored_index
from gateway.stores.opened import OpenedGraph


def remote_graph(
    url: str,
    profile: Profile,
    prefixes: Mapping[str, str],
    store: str | Path | None,
    clock: Clock | None,
    wall_clock: Clock,
    *,
    keep_schema: bool,
    shared_cache: str | None,
) -> OpenedGraph:
    """Open an endpoint or a database, with its label index; nothing is sent yet.

    Args:
        url: The URL.
        profile: The profile.
        prefixes: The user's own prefixes.
        store: The folder for what is stored; by default the user's cache directory.
        clock: Seconds for every deadline; None for a monotonic clock.
        wall_clock: Seconds since the epoch.
        keep_schema: Whether the schema is stored.
        shared_cache: The URL of the server in which processes share what they read; None for none.

    Raises:
        ConfigurationError: The URL or the profile is wrong, or a package is not installed.
    """
    server = None if shared_cache is None else SharedCacheServer.at(shared_cache)
    read = store_at(url, profile, prefixes, clock, wall_clock, server)
    profile = under_policy_at_endpoint(profile_for_endpoint(profile, url))
    shared = None if server is None else shared_values(server, url, profile, prefixes)
    below = cached(read(profile), profile, clock or time.monotonic, shared)
    stored = stored_index(url, profile, prefixes, store)
    storage = StoredSchema(stored.folder) if keep_schema else None
    lasting = stored.folder if keep_schema or store is not None else None
    return OpenedGraph(profile, IndexedStore(below, StoredIndexSource(stored)), storage=storage, lasting=lasting)
