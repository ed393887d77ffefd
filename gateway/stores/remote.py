"""The store of an endpoint or a database, with its label index."""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path

from gateway.cache.on_disk import StoredSchema
from gateway.errors import ConfigurationError
from gateway.graph.store import OnProgress
from gateway.search_index.index import IndexInfo
from gateway.search_index.indexed_store import IndexedStore
from gateway.search_index.partial_index import allowance_of, no_progress
from gateway.search_index.sources import StoredIndex, StoredIndexSource
from gateway.settings.found_settings import FoundSettings
from gateway.settings.limits import SharedCacheServer
from gateway.settings.profile import Profile, profile_for_endpoint, under_policy_at_endpoint, without_search_api
from gateway.settings.storage import GraphIdentity, check_private, default_store
from gateway.settings.urls import check_endpoint_url, is_database_url
from gateway.stores.endpoints import OpenedGraph, cached, shared_values, store_at
from gateway.telemetry.tally import Clock
from gateway.terms.prefixes import checked_prefixes


async def make_label_index(
    endpoint: str,
    profile: Profile,
    *,
    prefixes: Mapping[str, str] | None = None,
    store: str | Path | None = None,
    restart: bool = False,
    on_progress: OnProgress = no_progress,
) -> tuple[IndexInfo, Path]:
    """Build the label index of an endpoint, which `open_gateway` then uses.

    Args:
        endpoint: The URL.
        profile: The profile of the endpoint.
        prefixes: Namespaces by prefix, as `open_gateway` takes them: for a database they decide which IRIs its IDs are,
            so an index is used only with the same ones.
        store: The folder for stored indexes and schemas; by default the user's cache directory.
        restart: Whether to read all names again; by default an interrupted build is resumed.
        on_progress: Called with the number of entities that were read, and the total.

    Returns:
        Facts about the index, and its folder.

    Raises:
        Fault: The endpoint could not be asked; the next build resumes here.
        ConfigurationError: The URL or a prefix is wrong, or the folder cannot be written.
    """
    profile = under_policy_at_endpoint(profile)
    own = checked_prefixes(prefixes or {})
    read = store_at(endpoint, profile, own, None, time.time)
    graph = cached(read(without_search_api(profile)), without_search_api(profile), time.monotonic)
    stored = stored_index(endpoint, profile, own, store)
    allowance = allowance_of(profile)
    try:
        names = graph.name_reader()
        if names is None:
            raise ConfigurationError("This graph lists no names, so it can have no label index.")
        await names.find_predicates(allowance())
        return await stored.build(names, allowance, restart=restart, on_progress=on_progress), stored.folder
    finally:
        await graph.close()


def stored_index(url: str, profile: Profile, prefixes: Mapping[str, str], store: str | Path | None) -> StoredIndex:
    """Return the place of the label index of an endpoint or a database.

    Raises:
        ConfigurationError: The folder belongs to somebody else.
    """
    folder = default_store() if store is None else Path(store)
    stored = StoredIndex.of(GraphIdentity.of(url, profile, prefixes), folder)
    check_private(folder, stored.folder)
    return stored


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
    check_endpoint_url(url)
    if not is_database_url(url):
        found = FoundSettings.of(url, profile, None if store is None else Path(store), wall_clock())
        profile = profile if found is None else found.applied(url, profile)
    server = None if shared_cache is None else SharedCacheServer.at(shared_cache)
    read = store_at(url, profile, prefixes, clock, wall_clock, server)
    profile = under_policy_at_endpoint(profile_for_endpoint(profile, url))
    shared = None if server is None else shared_values(server, url, profile, prefixes)
    below = cached(read(profile), profile, clock or time.monotonic, shared)
    stored = stored_index(url, profile, prefixes, store)
    storage = StoredSchema(stored.folder) if keep_schema else None
    lasting = stored.folder if keep_schema or store is not None else None
    return OpenedGraph(profile, IndexedStore(below, StoredIndexSource(stored)), storage=storage, lasting=lasting)
