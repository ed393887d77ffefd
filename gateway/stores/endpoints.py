"""The store of what a URL names, the caches and the label index before it, and the connection to an endpoint."""

from __future__ import annotations

import hashlib
import json
import logging
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from gateway.cache.store import CachedStore
from gateway.files.graph_files import NO_FILES, FileChanges
from gateway.flow.control import FlowControl
from gateway.flow.quota import Quota
from gateway.flow.quota_state import MemoryStorage, QuotaState, QuotaStorage, client_name, shared_storage
from gateway.graph.call import Deadline
from gateway.graph.kept import FactStorage
from gateway.graph.store import GraphStore
from gateway.graph.values import Schema
from gateway.schema.cache import SchemaStorage
from gateway.settings.limits import SharedCacheServer
from gateway.settings.profile import Profile
from gateway.settings.storage import database_prefixes, profile_digest
from gateway.settings.urls import check_endpoint_url, is_database_url
from gateway.sparql.engines import timeout_policy
from gateway.sparql.store import SparqlStore, no_schema
from gateway.telemetry.tally import Clock
from gateway.transport.base import Transport

if TYPE_CHECKING:
    from gateway.cache.shared_values import SharedValues
    from gateway.transport.http import Http
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final, Literal

from gateway.cache.on_disk import StoredFacts, StoredSchema
from gateway.errors import ConfigurationError
from gateway.graph.store import OnProgress
from gateway.search_index.index import IndexedStore, IndexInfo
from gateway.search_index.name_vectors import NameVectorsSource
from gateway.search_index.partial_index import allowance_of, no_progress
from gateway.search_index.sources import StoredIndex, StoredIndexSource
from gateway.settings.found_by_check import FoundSettings
from gateway.settings.profile import policy_of, profile_for_endpoint, under_policy_at_endpoint, without_search_api
from gateway.settings.storage import GraphIdentity, check_private, default_store
from gateway.settings.urls import is_neo4j_url
from gateway.terms.prefixes import checked_prefixes

_log = logging.getLogger(__name__)

Extra = Literal["meaning", "postgres", "neo4j", "redis"]

_NEEDS: Final[dict[Extra, str]] = {
    "meaning": "Search by meaning needs the packages numpy, safetensors and tokenizers.",
    "postgres": "A graph in PostgreSQL needs the package asyncpg.",
    "neo4j": "A graph in Neo4j needs the package neo4j.",
    "redis": "A shared cache needs the package redis.",
}


@contextmanager
def installed(extra: Extra) -> Iterator[None]:
    """Say what to install where the block imports what is not.

    Raises:
        ConfigurationError: The package of the extra is not installed.
    """
    try:
        yield
    except ImportError as error:
        raise ConfigurationError(
            _NEEDS[extra], next_step=f"Install it: pip install 'bfsql-gateway[{extra}]'."
        ) from error


def database_store(
    url: str, profile: Profile, prefixes: Mapping[str, str], clock: Clock, wall_clock: Clock
) -> Callable[[Profile], GraphStore]:
    """Return what makes the store over a database; it sends nothing yet.

    Args:
        url: The URL of the database.
        profile: The profile; what it is when the store is made may differ in what is about answers.
        prefixes: The user's own prefixes, which IDs are made with beside those of the profile.
        clock: Seconds for every deadline.
        wall_clock: Seconds since the epoch.

    Raises:
        ConfigurationError: The URL or the profile is wrong, or the package for the database is not installed.
    """
    _refuse_hidden(profile)
    known = database_prefixes(url, profile, prefixes)
    if is_neo4j_url(url):
        with installed("neo4j"):
            from gateway.neo4j import connection as neo4j  # noqa: PLC0415 - an extra
            from gateway.neo4j.store import Neo4jStore  # noqa: PLC0415
        server = neo4j.address_of(url, profile.endpoint)
        return lambda settings: Neo4jStore(server, settings.neo4j, settings, known, clock=clock, wall_clock=wall_clock)
    with installed("postgres"):
        from gateway.postgres import connection as postgres  # noqa: PLC0415 - an extra
        from gateway.postgres.store import PostgresStore  # noqa: PLC0415
    database = postgres.address_of(url, profile.endpoint)
    return lambda settings: PostgresStore(
        database, settings.postgres, settings, known, clock=clock, wall_clock=wall_clock
    )


def _refuse_hidden(profile: Profile) -> None:
    if policy_of(profile) is not None:
        raise ConfigurationError(
            "The profile hides something ([hidden]), and of a database nothing can be hidden.",
            valid="Types, predicates, named graphs and literals are hidden of graphs in files and at endpoints.",
            next_step="Serve views without them: [postgres] in the profile names the tables.",
        )


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

    A profile says where secrets are and not whose, so users with different ones have different places.

    Raises:
        ConfigurationError: The package for it is not installed, or a secret cannot be read.
    """
    with installed("redis"):
        from gateway.cache.shared_values import SharedValues  # noqa: PLC0415 - an extra
    known = json.dumps(database_prefixes(url, profile, prefixes), sort_keys=True)
    secrets = profile.endpoint.access.secrets()
    asker = _hard_to_guess(json.dumps(secrets), server.key) if secrets else ""
    who = hashlib.sha256(f"{url}\n{profile_digest(profile)}\n{known}{asker}".encode()).hexdigest()
    return SharedValues(server, f"bfsql:{who[:32]}:")


def _hard_to_guess(secret: str, key: str) -> str:
    """Return a hash that costs 50 ms and 16 MB, because whoever reaches the server sees the keys made of it."""
    return hashlib.scrypt(secret.encode(), salt=f"bfsql {key}".encode(), n=1 << 14, r=8, p=1, dklen=32).hex()


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
    from gateway.wikibase.search import ApiRequests, WikibaseStore  # noqa: PLC0415

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
    facts: FactStorage | None = None,
    recent: Callable[[float], Schema | None] = no_schema,
) -> Callable[[Profile], GraphStore]:
    """Return what makes the store that asks an endpoint or a database; it sends nothing yet.

    What is stored of an endpoint (`facts`, `recent`; see `SparqlStore`) is not of a database.

    Raises:
        ConfigurationError: The URL is wrong, or the profile's settings for the connection are.
    """
    check_endpoint_url(url)
    monotonic = clock or time.monotonic
    if not is_database_url(url):
        transport = connect(url, profile, clock, server)
        return lambda settings: SparqlStore(
            transport, settings, clock=monotonic, wall_clock=wall_clock, facts=facts, recent=recent
        )
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
        changes: Whether its files are still what they were.
        namespaces: Returns the namespaces of IRIs and whether these are all, for a graph in this process.
        meaning: What compares names by their meaning, for a graph in this process; the store closes it.
    """

    profile: Profile
    store: GraphStore
    prefixes: Sequence[tuple[str, Mapping[str, str]]] = ()
    storage: SchemaStorage | None = None
    lasting: Path | None = None
    changes: FileChanges = NO_FILES
    namespaces: Callable[[Deadline], tuple[Iterable[str], bool]] | None = None
    meaning: NameVectorsSource | None = None


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
    if profile.meaning.embedder:
        _log.warning("meaning.embedder has no effect here: only names of files are found by their meaning")
    settings = under_policy_at_endpoint(profile_for_endpoint(profile, url))
    stored = stored_index(url, settings, prefixes, store)
    digest = profile_digest(settings)
    storage = StoredSchema(stored.folder, digest, wall_clock) if keep_schema else None
    # The secret of another user may be in the same place, and show another graph.
    takes_over = not settings.endpoint.access.has_secrets
    facts = StoredFacts(stored.folder, digest) if keep_schema and takes_over else None
    recent = storage.recent if storage is not None and takes_over else no_schema
    read = store_at(url, profile, prefixes, clock, wall_clock, server, facts, recent)
    profile = settings
    shared = None if server is None else shared_values(server, url, profile, prefixes)
    below = cached(read(profile), profile, clock or time.monotonic, shared)
    lasting = stored.folder if keep_schema or store is not None else None
    return OpenedGraph(profile, IndexedStore(below, StoredIndexSource(stored)), storage=storage, lasting=lasting)
