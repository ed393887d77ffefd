"""The gateway from Python: open one over a file, an endpoint or an rdflib graph, and await the six calls.

    from gateway.api import open_gateway

    async with open_gateway("medical.ttl") as graph:
        answer = await graph.bfs_query(["drug:metformin"], max_hops=1)

`docs/python.md` describes it in full.
"""

from __future__ import annotations

import hashlib
import logging
import math
import sys
import time
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from typing_extensions import TypeIs

from gateway import resources
from gateway.cache.store import CachedStore
from gateway.cache.stored_prefixes import StoredPrefixes
from gateway.cache.stored_schema import FixedContentStore, StoredSchema
from gateway.engine.gateway import Gateway, OnRecord, drop_record
from gateway.engine.schema.cache import SchemaStorage
from gateway.errors import ConfigurationError, quoted
from gateway.flow.control import FlowControl
from gateway.flow.quota import Quota
from gateway.flow.quota_state import MemoryStorage, QuotaState, QuotaStorage, client_name, shared_storage
from gateway.graph.deadline import Clock
from gateway.graph.store import GraphStore, OnProgress
from gateway.labels.in_process_index import InProcessIndexSource
from gateway.labels.index import IndexInfo
from gateway.labels.indexed_store import IndexedStore
from gateway.labels.partial_index import allowance_of, no_progress
from gateway.labels.stored_index import StoredIndex, StoredIndexSource
from gateway.settings.database_url import is_database_url
from gateway.settings.graph_identity import GraphIdentity, default_store, profile_digest
from gateway.settings.graphs_file import read_graphs
from gateway.settings.hidden import Policy
from gateway.settings.limits import FileSettings
from gateway.settings.load import DEFAULT, DEMO, default_profile, load_profile, with_contact
from gateway.settings.neo4j_url import is_neo4j_url
from gateway.settings.private_folder import check_private
from gateway.settings.profile import (
    Profile,
    policy_of,
    profile_for_endpoint,
    profile_in_process,
    under_policy_at_endpoint,
    with_hidden,
    without_search_api,
)
from gateway.settings.shared_cache import SharedCacheServer
from gateway.sparql.engines.traits import timeout_policy
from gateway.sparql.sparql_store import SparqlStore
from gateway.telemetry.record import Record
from gateway.terms.coined_prefixes import CoinedPrefixes
from gateway.terms.prefixes import PrefixMap, is_prefix, merge
from gateway.transport.base import Transport
from gateway.transport.files.cached_graph import FileCache, open_cached
from gateway.transport.files.graph_files import graph_files, refuse_stdin
from gateway.transport.files.loading import LoadedGraph, load_files
from gateway.transport.files.parser_process import Progress
from gateway.transport.files.stored_graph import folder_of, open_stored
from gateway.transport.inprocess import InProcess

# A graph in this process needs neither aiohttp nor rdflib, which take half as long to import as all the rest.
if TYPE_CHECKING:
    import rdflib

    from gateway.cache.shared.values import SharedValues
    from gateway.transport.http import Http

__all__ = ["Gateway", "Profile", "Record", "link_graphs", "load_profile", "open_gateway", "open_graphs"]

_log = logging.getLogger(__name__)

_CACHE_MEGABYTES = 64
"""The default size of the cache before an endpoint; a graph in this process has none by default."""

_PAGE_SECONDS = 600.0
"""Time for reading a page of names of a graph in this process; no call waits for it."""

Source: TypeAlias = "str | Path | Sequence[str | Path] | rdflib.Graph"


def open_gateway(
    source: Source | None = None,
    *,
    endpoint: str | None = None,
    profile: str | Profile | None = None,
    prefixes: Mapping[str, str] | None = None,
    store: str | Path | None = None,
    cache: FileCache | None = None,
    keep_schema: bool = False,
    shared_cache: str | None = None,
    contact: str | None = None,
    progress: Progress | None = None,
    on_record: OnRecord = drop_record,
    clock: Clock | None = None,
    wall_clock: Clock = time.time,
) -> Gateway:
    """Open a gateway over a graph.

    Args:
        source: A graph file, several files (read as one graph), or an rdflib Graph or Dataset, which is copied. Without
            a source and an endpoint: the profile's endpoint, else the demo graph.
        endpoint: The URL of a SPARQL query endpoint, or of a PostgreSQL or Neo4j database (docs/postgres.md,
            docs/neo4j.md), and no source.
        profile: The name of a built-in profile, the path of a TOML file, or a loaded profile. The default is `local`,
            for the demo graph `demo`.
        prefixes: Namespaces by prefix. They override those of the profile, which override those of the files.
        store: For files: a folder that stores parsed files, their label index, their schema and the prefixes coined
            for them, for any number of graphs. Files that have changed are parsed again. Without it, files are parsed
            into memory each time. For an endpoint: the folder of its label index and of the prefixes coined for it; by
            default the user's cache directory, and then the prefixes are stored only with `keep_schema`.
        cache: Where large files are stored once they are parsed, if there is no store; see
            `gateway.transport.files.cached_graph`. Without it, they are parsed into memory each time.
        keep_schema: Whether to store the schema of an endpoint there, for the next run, and the prefixes coined for an
            endpoint or for files that are not stored.
        shared_cache: The URL of a Valkey or Redis server in which several processes share what they read of an endpoint
            (docs/scaling.md); its password is in BFSQL_SHARED_CACHE_PASSWORD. A graph in this process shares nothing.
        contact: Your e-mail address or URL, for the endpoint; overrides that of the profile.
        progress: Called while files load.
        on_record: Called with the cost of each call after it has ended; it must not raise.
        clock: Seconds for every deadline and pause, if the event loop has its own time, as in tests.
        wall_clock: Seconds since the epoch for the dates in answers.

    Returns:
        A gateway. Close it, or use it as an asynchronous context manager.

    Raises:
        ConfigurationError: A file, the profile, a prefix or the URL is wrong, or the store cannot be written.
    """
    if source is not None and endpoint is not None:
        raise ConfigurationError("Both a graph and an endpoint were given.", valid="Give one of them.")
    if isinstance(source, str) and is_database_url(source):
        source, endpoint = None, source
    if profile is None:
        profile = DEMO if source is None and endpoint is None else default_profile(endpoint)
    settings = with_contact(load_profile(profile) if isinstance(profile, str) else profile, contact)
    given = _checked(prefixes or {})
    url = endpoint if endpoint is not None else settings.endpoint.url if source is None else ""
    if url:
        graph = _endpoint_graph(
            url, settings, given, store, clock, wall_clock, keep_schema=keep_schema, shared_cache=shared_cache
        )
    else:
        place = Path(store) if store is not None else cache
        graph = _loaded_graph(source, settings, place, progress, wall_clock, keep_schema=keep_schema)
    sources = [("--prefix", given), ("the profile", settings.prefixes), *graph.prefixes]
    known = _prefix_map(sources, graph.lasting, coins=graph.profile.size.coined_prefixes)
    return Gateway(
        graph.store, graph.profile, known, clock or time.monotonic, on_record=on_record, storage=graph.storage
    )


def link_graphs(graphs: Mapping[str, Gateway]) -> None:
    """Let descriptions of each graph say where else its entities are (`also_in`), by the identity of its profile.

    Args:
        graphs: Open gateways by name.
    """
    for name, gateway in graphs.items():
        gateway.set_others({other: graph for other, graph in graphs.items() if other != name})


@asynccontextmanager
async def open_graphs(path: str | Path, *, contact: str | None = None) -> AsyncIterator[Mapping[str, Gateway]]:
    """Open the graphs of a `graphs.toml`, or of a folder of profiles, linked; and close them after the block.

    Args:
        path: The file or the folder (docs/graphs.md).
        contact: Your e-mail address or URL, for the endpoints.

    Yields:
        The gateways by name.

    Raises:
        ConfigurationError: The file is wrong, or one of the graphs cannot be opened.
    """
    async with AsyncExitStack() as stack:
        graphs: dict[str, Gateway] = {}
        for entry in read_graphs(Path(path)):
            profile = load_profile(entry.profile or DEFAULT)
            limits = profile.limits.model_copy(update=dict(entry.limits))
            gateway = open_gateway(
                entry.graph or None,
                endpoint=entry.endpoint or None,
                profile=with_hidden(profile.model_copy(update={"limits": limits}), entry.hidden),
                prefixes=dict(entry.prefixes),
                store=entry.store or None,
                contact=contact,
            )
            graphs[entry.name] = await stack.enter_async_context(gateway)
        link_graphs(graphs)
        yield graphs


@dataclass(frozen=True, slots=True)
class _Graph:
    """A graph, the profile in effect, the prefixes that each file declares, and where the gateway stores the schema.

    `lasting` is the folder for what outlives a change of the graph, or None.
    """

    profile: Profile
    store: GraphStore
    prefixes: Sequence[tuple[str, Mapping[str, str]]] = ()
    storage: SchemaStorage | None = None
    lasting: Path | None = None


def _endpoint_graph(
    url: str,
    profile: Profile,
    prefixes: Mapping[str, str],
    store: str | Path | None,
    clock: Clock | None,
    wall_clock: Clock,
    *,
    keep_schema: bool,
    shared_cache: str | None,
) -> _Graph:
    server = None if shared_cache is None else SharedCacheServer.at(shared_cache)
    read = _store_at(url, profile, prefixes, clock, wall_clock, server)
    profile = under_policy_at_endpoint(profile_for_endpoint(profile, url))
    shared = None if server is None else _shared_values(server, url, profile)
    below = _in_front(read(profile), profile, clock or time.monotonic, shared)
    stored = _stored_index(url, profile, store)
    storage = StoredSchema(stored.folder) if keep_schema else None
    lasting = stored.folder if keep_schema or store is not None else None
    return _Graph(profile, IndexedStore(below, StoredIndexSource(stored)), storage=storage, lasting=lasting)


def _store_at(
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
    monotonic = clock or time.monotonic
    if not is_database_url(url):
        transport = connect(url, profile, clock, server)
        return lambda settings: SparqlStore(transport, settings, clock=monotonic, wall_clock=wall_clock)
    _refuse_hidden(profile)
    known, _ = merge([("--prefix", prefixes), ("the profile", profile.prefixes)])
    at = _neo4j_store_at if is_neo4j_url(url) else _postgres_store_at
    return at(url, profile, known, monotonic, wall_clock)


def _postgres_store_at(
    url: str, profile: Profile, known: Mapping[str, str], clock: Clock, wall_clock: Clock
) -> Callable[[Profile], GraphStore]:
    """Return what makes the store over tables of PostgreSQL; see `_store_at`."""
    with asyncpg_installed():
        from gateway.postgres.address import address_of  # noqa: PLC0415 - an extra
        from gateway.postgres.store import PostgresStore  # noqa: PLC0415
    address = address_of(url, profile.endpoint)
    return lambda settings: PostgresStore(
        address, settings.postgres, settings, known, clock=clock, wall_clock=wall_clock
    )


@contextmanager
def asyncpg_installed() -> Iterator[None]:
    """Say what to install where the block imports what is not.

    Raises:
        ConfigurationError: The package is not installed.
    """
    try:
        yield
    except ImportError as error:
        raise ConfigurationError(
            "A graph in PostgreSQL needs the package asyncpg.",
            next_step="Install it: pip install 'bfsql-gateway[postgres]'.",
        ) from error


def _neo4j_store_at(
    url: str, profile: Profile, known: Mapping[str, str], clock: Clock, wall_clock: Clock
) -> Callable[[Profile], GraphStore]:
    """Return what makes the store over a database of Neo4j; see `_store_at`."""
    try:
        from gateway.neo4j.address import address_of  # noqa: PLC0415 - an extra
        from gateway.neo4j.store import Neo4jStore  # noqa: PLC0415
    except ImportError as error:
        raise ConfigurationError(
            "A graph in Neo4j needs the package neo4j.",
            next_step="Install it: pip install 'bfsql-gateway[neo4j]'.",
        ) from error
    address = address_of(url, profile.endpoint)
    return lambda settings: Neo4jStore(address, settings.neo4j, settings, known, clock=clock, wall_clock=wall_clock)


def _shared_values(server: SharedCacheServer, url: str, profile: Profile) -> SharedValues:
    """Return the place of the answers of an endpoint that are read under a profile.

    Raises:
        ConfigurationError: The package for it is not installed.
    """
    with _redis_installed():
        from gateway.cache.shared.values import SharedValues  # noqa: PLC0415 - an extra
    who = hashlib.sha256(f"{url}\n{profile_digest(profile)}".encode()).hexdigest()
    return SharedValues(server, f"bfsql:{who[:32]}:")


@contextmanager
def _redis_installed() -> Iterator[None]:
    """Say what to install where the block imports what is not.

    Raises:
        ConfigurationError: The package is not installed.
    """
    try:
        yield
    except ImportError as error:
        raise ConfigurationError(
            "A shared cache needs the package redis.", next_step="Install it: pip install 'bfsql-gateway[redis]'."
        ) from error


def _loaded_graph(
    source: Source | None,
    profile: Profile,
    place: Path | FileCache | None,
    progress: Progress | None,
    wall_clock: Clock,
    *,
    keep_schema: bool,
) -> _Graph:
    profile = profile_in_process(profile)
    files = None if source is None or _is_rdflib(source) else _paths(source)
    graph = _loaded(source if files is None else files, progress, place, profile)
    folder = None if graph.place is None else graph.place / profile_digest(profile)
    below = SparqlStore(_in_process(graph, profile), profile, wall_clock=wall_clock)
    lasting = graph.lasting or (_lasting_folder(files, profile) if keep_schema and files is not None else None)
    return _Graph(profile, store_in_process(below, profile, folder), graph.prefixes, lasting=lasting)


def _lasting_folder(files: Sequence[Path], profile: Profile) -> Path | None:
    """Return a folder for graph files that are not stored; None where there can be none."""
    folder = folder_of(files, default_store(), policy_of(profile))
    try:
        check_private(default_store(), folder)
    except ConfigurationError as error:
        _log.warning("the coined prefixes are not stored: %s", error)
        return None
    return folder


def store_in_process(below: GraphStore, profile: Profile, folder: Path | None) -> GraphStore:
    """Return the store that `open_gateway` puts over a graph in this process.

    Args:
        below: The graph; it need not speak SPARQL. It has no label index if it lists no names.
        profile: The profile in effect.
        folder: A folder that belongs to exactly this graph, for its schema and label index; None to store nothing.
    """
    over = below if folder is None else FixedContentStore(below, StoredSchema(folder))
    if megabytes := profile.cache.megabytes:
        # A loaded graph never changes, so its answers do not expire.
        over = CachedStore(over, megabytes=megabytes, ttl_seconds=math.inf)
    names = below.name_reader()
    if names is None:
        return over
    return IndexedStore(over, InProcessIndexSource(names, allowance_of(profile, _PAGE_SECONDS), folder))


def _in_process(graph: LoadedGraph, profile: Profile) -> InProcess:
    return InProcess(graph.engine, max_bytes=profile.limits.body_bytes, lease=graph.lease)


async def make_label_index(
    endpoint: str,
    profile: Profile,
    *,
    store: str | Path | None = None,
    restart: bool = False,
    on_progress: OnProgress = no_progress,
) -> tuple[IndexInfo, Path]:
    """Build the label index of an endpoint, which `open_gateway` then uses.

    Args:
        endpoint: The URL.
        profile: The profile of the endpoint.
        store: The folder for stored indexes and schemas; by default the user's cache directory.
        restart: Whether to read all names again; by default an interrupted build is resumed.
        on_progress: Called with the number of entities that were read, and the total.

    Returns:
        Facts about the index, and its folder.

    Raises:
        Fault: The endpoint could not be asked; the next build resumes here.
        ConfigurationError: The URL is wrong, or the folder cannot be written.
    """
    profile = under_policy_at_endpoint(profile)
    read = _store_at(endpoint, profile, {}, None, time.time)
    graph = _in_front(read(without_search_api(profile)), without_search_api(profile), time.monotonic)
    stored = _stored_index(endpoint, profile, store)
    allowance = allowance_of(profile)
    try:
        names = graph.name_reader()
        if names is None:
            raise ConfigurationError("This graph lists no names, so it can have no label index.")
        await names.find_predicates(allowance())
        return await stored.build(names, allowance, restart=restart, on_progress=on_progress), stored.folder
    finally:
        await graph.close()


def _stored_index(url: str, profile: Profile, store: str | Path | None) -> StoredIndex:
    folder = default_store() if store is None else Path(store)
    stored = StoredIndex.of(GraphIdentity.of(url, profile), folder)
    check_private(folder, stored.folder)
    return stored


def load(
    source: Source | None, profile: Profile, progress: Progress | None = None, place: Path | FileCache | None = None
) -> tuple[InProcess, Sequence[tuple[str, Mapping[str, str]]]]:
    """Load a graph into this process; return a transport to it, and the prefixes that its files declare.

    Args:
        source: As `open_gateway` takes it.
        profile: The profile.
        progress: Called while files load.
        place: Where parsed files are stored: a folder, or a cache for large ones; None for nowhere.

    Raises:
        ConfigurationError: A file cannot be read or is not a graph, or the store cannot be written.
    """
    graph = _loaded(source, progress, place, profile)
    return _in_process(graph, profile), graph.prefixes


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
    return _in_front(SparqlStore(transport, profile, clock=clock, wall_clock=wall_clock), profile, clock, shared)


def _in_front(below: GraphStore, profile: Profile, clock: Clock, shared: SharedValues | None = None) -> GraphStore:
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


def _loaded(
    source: Source | None, progress: Progress | None, place: Path | FileCache | None, profile: Profile
) -> LoadedGraph:
    """Load what the policy of a profile leaves of a graph.

    Raises:
        ConfigurationError: It cannot be loaded. Under a policy the text, which clients read, quotes nothing of it.
    """
    policy = policy_of(profile)
    if policy is None:
        return _loaded_under(None, source, progress, place, profile.files)
    try:
        return _loaded_under(policy, source, progress, place, profile.files)
    except ConfigurationError as error:
        _log.error("the graph cannot be loaded: %s", error)
        raise ConfigurationError("The graph cannot be loaded.", next_step="The operator's log says why.") from None


def _loaded_under(
    policy: Policy | None,
    source: Source | None,
    progress: Progress | None,
    place: Path | FileCache | None,
    limits: FileSettings,
) -> LoadedGraph:
    if _is_rdflib(source):
        from gateway.transport.files.rdflib_graphs import load_rdflib  # noqa: PLC0415 - with rdflib

        return load_rdflib(source, policy)
    if source is None:
        return load_files([resources.demo_graph()], progress, limits, policy)
    paths = _paths(source)
    if place is None or not paths:
        return load_files(paths, progress, limits, policy)
    if isinstance(place, FileCache):
        return open_cached(paths, place, progress, limits, policy)
    refuse_stdin(paths)
    return open_stored(paths, place, progress, limits, policy)


def _paths(files: str | Path | Sequence[str | Path]) -> list[Path]:
    return graph_files([files] if isinstance(files, str | Path) else files)


def _is_rdflib(source: Source | None) -> TypeIs[rdflib.Graph]:
    """Return whether a source is an rdflib graph; who has one has imported rdflib."""
    library = sys.modules.get("rdflib")
    return library is not None and isinstance(source, library.Graph)


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


def _refuse_hidden(profile: Profile) -> None:
    if policy_of(profile) is not None:
        raise ConfigurationError(
            "The profile hides something ([hidden]), and of a database nothing can be hidden.",
            valid="Types, predicates, named graphs and literals are hidden of graphs in files and at endpoints.",
            next_step="Serve views without them: [postgres] in the profile names the tables.",
        )


def _quota_storage(client: str, server: SharedCacheServer | None) -> Callable[[QuotaState], QuotaStorage]:
    """Return what stores the quota of a client of an endpoint: a file, and a server where there is one.

    Raises:
        ConfigurationError: The package for the server is not installed.
    """
    storage = shared_storage(client)
    if server is None:
        return storage
    with _redis_installed():
        from gateway.flow.shared_quota import shared_between_machines  # noqa: PLC0415 - an extra
    return shared_between_machines(server, client, storage)


def _checked(prefixes: Mapping[str, str]) -> Mapping[str, str]:
    for name, namespace in prefixes.items():
        if not is_prefix(name, namespace):
            raise ConfigurationError(
                f"The prefix {quoted(name)} = {quoted(namespace)} is wrong.",
                valid="A prefix has no colon, slash, caret or blank, and its namespace is an IRI.",
            )
    return prefixes


def _prefix_map(sources: Sequence[tuple[str, Mapping[str, str]]], folder: Path | None, *, coins: bool) -> PrefixMap:
    """Return the prefixes of all sources, and where it is wanted others that are coined and stored in a folder."""
    merged, conflicts = merge(sources)
    for conflict in conflicts:
        _log.warning("%s", conflict)
    storage = None if folder is None else StoredPrefixes(folder)
    return PrefixMap(merged, CoinedPrefixes(merged, storage) if coins else None)
