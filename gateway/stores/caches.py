"""The caches before the store of an endpoint or a database, and the search API of its Wikibase."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING

from gateway.cache.store import CachedStore
from gateway.graph.deadline import Clock
from gateway.graph.store import GraphStore
from gateway.settings.graph_identity import database_prefixes, profile_digest
from gateway.settings.profile import Profile
from gateway.settings.shared_cache import SharedCacheServer
from gateway.sparql.sparql_store import SparqlStore
from gateway.stores.extras import installed

if TYPE_CHECKING:
    from gateway.cache.shared.values import SharedValues


_CACHE_MEGABYTES = 64
"""The default size of the cache; a graph in this process has none by default."""


def cached(below: GraphStore, profile: Profile, clock: Clock, shared: SharedValues | None = None) -> GraphStore:
    """Return the store that answers from what was read before, and asks the store below for the rest."""
    cache = profile.cache
    if shared is not None:
        from gateway.cache.shared.store import SharedStore  # noqa: PLC0415 - an extra

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
        from gateway.cache.shared.values import SharedValues  # noqa: PLC0415 - an extra
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
    from gateway.transport.wikibase_api import WikibaseApi  # noqa: PLC0415
    from gateway.wikibase.client import ApiClient, api_flow  # noqa: PLC0415
    from gateway.wikibase.requests import ApiRequests  # noqa: PLC0415
    from gateway.wikibase.search import WikibaseStore  # noqa: PLC0415

    access = access_without_credentials(search.api, endpoint, "search.api")
    api = WikibaseApi(search.api, max_bytes=profile.limits.body_bytes, access=access)
    language = search.api_language or next((tag for tag in profile.names.languages if tag != "mul"), "en")
    requests = ApiRequests(ApiClient(api, api_flow(endpoint.requests)), language)
    return WikibaseStore(store, requests)
