"""The gateway from Python: open one over a file, an endpoint or an rdflib graph, and await the six calls.

    from gateway.api import open_gateway

    async with open_gateway("medical.ttl") as graph:
        answer = await graph.bfs_query(["drug:metformin"], max_hops=1)

`docs/python.md` has the whole story.
"""

from __future__ import annotations

import hashlib
import logging
import math
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import rdflib

from gateway import resources
from gateway.cache.store import CachedStore
from gateway.cache.stored_schema import FixedContentStore, StoredSchema
from gateway.engine.gateway import Gateway, NamesRead, OnRecord, drop_record, no_names
from gateway.engine.schema.cache import SchemaStorage
from gateway.errors import ConfigurationError, quoted
from gateway.flow.control import FlowControl
from gateway.flow.quota import Quota
from gateway.flow.quota_file import shared_storage
from gateway.graph.deadline import Clock
from gateway.graph.store import GraphStore
from gateway.labels.building import OnProgress, allowance_of, no_progress
from gateway.labels.in_process_index import InProcessIndexSource
from gateway.labels.index import IndexInfo
from gateway.labels.indexed_store import IndexedStore
from gateway.labels.stored_index import StoredIndex, StoredIndexSource
from gateway.settings.endpoint import EndpointSettings
from gateway.settings.files import FileSettings
from gateway.settings.load import DEFAULT, DEMO, load_profile, with_contact
from gateway.settings.profile import CacheSettings, Profile
from gateway.settings.storage import Identity, check_private, folder_for_all
from gateway.settings.urls import is_of_own_network
from gateway.sparql.endpoint_discovery import EndpointDiscovery
from gateway.sparql.engines.traits import timeout_policy
from gateway.sparql.store import SparqlStore
from gateway.telemetry.record import Record
from gateway.terms.iri import is_iri
from gateway.terms.prefixes import PrefixMap, merge
from gateway.transport.base import Transport
from gateway.transport.credentials import Access, access_to, access_without_credentials
from gateway.transport.files.loading import LoadedGraph, load_files
from gateway.transport.files.parser_process import Progress
from gateway.transport.files.rdflib_graphs import load_rdflib
from gateway.transport.files.stored_graph import open_stored
from gateway.transport.http import Http
from gateway.transport.inprocess import InProcess
from gateway.transport.wikibase_api import WikibaseApi
from gateway.wikibase.client import ApiClient, api_flow
from gateway.wikibase.requests import ApiRequests
from gateway.wikibase.search import ApiSearch
from gateway.wikibase.store import WikibaseStore

__all__ = ["Gateway", "Profile", "Record", "load_profile", "open_gateway"]

_log = logging.getLogger(__name__)

_MEGABYTE = 1 << 20

_CACHE_MEGABYTES = 64
"""Memory for what was read of an endpoint, where the profile does not say; a graph in this process is asked again."""

_COUNTED_AT_ONCE = 1_000_000
"""Triples of a graph in this process that is counted at the first look, in a second or two."""

_PAGE_SECONDS = 600.0
"""Time for reading a page of names of a graph in this process; no call waits for it."""

Source = str | Path | Sequence[str | Path] | rdflib.Graph


def open_gateway(
    source: Source | None = None,
    *,
    endpoint: str | None = None,
    profile: str | Profile | None = None,
    prefixes: Mapping[str, str] | None = None,
    store: str | Path | None = None,
    keep_schema: bool = False,
    contact: str | None = None,
    progress: Progress | None = None,
    on_record: OnRecord = drop_record,
    clock: Clock | None = None,
) -> Gateway:
    """Open a gateway over a graph.

    Args:
        source: A graph file or several (folded into one graph), or an rdflib Graph or Dataset, of which a copy is
            taken. Without a source and an endpoint: the profile's endpoint, else the demo graph.
        endpoint: The URL of a SPARQL query endpoint, instead of a source.
        profile: The name of a built-in profile, the path of a TOML file, or a loaded profile; `local` where not
            given, and for the demo graph its own.
        prefixes: Names of namespaces; they win over the profile's, which win over the files'.
        store: A folder where parsed files are kept between runs, for any number of graphs, with their names and their
            schema; they are parsed again when one of them has changed. Without it, files are parsed into memory each
            time. What is no file is not kept.
            For an endpoint: where its label index is, if there is one; the user's cache directory where not given.
        keep_schema: Whether the schema of an endpoint is kept there too, for the next run to begin with.
        contact: An e-mail address or a URL of whoever runs this, for the endpoint; wins over the profile's.
        progress: Told while files load.
        on_record: Told what each call cost, when it has ended; it must not raise.
        clock: Seconds, for every deadline and pause, where the event loop has a time of its own: a test's.

    Returns:
        A gateway; close it, or use it as an asynchronous context manager.

    Raises:
        ConfigurationError: A file, the profile, a prefix or the URL is wrong, or nothing can be kept in the store.
    """
    if profile is None:
        profile = DEMO if source is None and endpoint is None else DEFAULT
    settings = with_contact(load_profile(profile) if isinstance(profile, str) else profile, contact)
    if source is not None and endpoint is not None:
        raise ConfigurationError("Both a graph and an endpoint were given.", valid="Give one of them.")
    given = _checked(prefixes or {})
    url = endpoint if endpoint is not None else settings.endpoint.url if source is None else ""
    if url:
        transport = transport_to(url, settings, clock)
        settings = _decent(settings, url)
        over = store_over(transport, settings, clock or time.monotonic)
        stored = _stored_index(url, settings, store)
        storage = StoredSchema(stored.folder) if keep_schema else None
        return _over(IndexedStore(over, StoredIndexSource(stored)), settings, given, [], on_record, storage, clock)
    settings = _oriented_at_once(_without_api(settings))
    graph = _loaded(source, progress, store, settings.files)
    over, labels = _over_loaded(graph, settings)
    return _over(over, settings, given, graph.prefixes, on_record, clock=clock, names_read=labels.built)


def _over_loaded(graph: LoadedGraph, profile: Profile) -> tuple[GraphStore, InProcessIndexSource]:
    """Return the store of a graph in this process, and its label index."""
    # What is loaded never changes, so what was read of it is believed for ever.
    forever = profile.cache.model_copy(update={"ttl_seconds": math.inf})
    below = SparqlStore(_in_process(graph, profile), profile)
    place = None if graph.place is None else graph.place / _reading_of(profile)
    labels = InProcessIndexSource(below.name_reader(), allowance_of(profile, _PAGE_SECONDS), place)
    over = below if place is None else FixedContentStore(below, StoredSchema(place))
    return IndexedStore(_cached(over, forever, 0), labels), labels


def _reading_of(profile: Profile) -> str:
    """Return a key for the settings under which a graph is read; the limits of parsing make no difference."""
    return hashlib.sha256(profile.model_dump_json(exclude={"files"}).encode()).hexdigest()[:16]


def _in_process(graph: LoadedGraph, profile: Profile) -> InProcess:
    return InProcess(graph.engine, max_bytes=profile.limits.body_megabytes * _MEGABYTE, lease=graph.lease)


def _oriented_at_once(profile: Profile) -> Profile:
    """Return a profile that has a graph in this process counted at the first look: it is quick, and nobody else's."""
    if "glance_triples" in profile.orientation.model_fields_set:
        return profile
    orientation = profile.orientation.model_copy(update={"glance_triples": _COUNTED_AT_ONCE})
    return profile.model_copy(update={"orientation": orientation})


def _without_api(profile: Profile) -> Profile:
    """Return a profile that has names of a graph in this process found here, and nowhere else."""
    return profile.model_copy(update={"search": profile.search.model_copy(update={"api": ""})})


def _decent(profile: Profile, url: str) -> Profile:
    """Return a profile that has an endpoint not read in full that is somebody else's, unless it says so itself.

    Nor one that is asked one query at a time, or that counts what it is asked: calls would wait for minutes behind the
    reading.
    """
    endpoint = profile.endpoint
    may_read = is_of_own_network(url) and endpoint.concurrency > 1 and not endpoint.has_quota
    if profile.orientation.enumeration_seconds is not None or may_read:
        return profile
    return profile.model_copy(
        update={"orientation": profile.orientation.model_copy(update={"enumeration_seconds": 0.0})}
    )


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
    over = SparqlStore(transport_to(endpoint, profile), profile)
    stored = _stored_index(endpoint, profile, store)
    allowance = allowance_of(profile)
    try:
        names = over.name_reader()
        await names.find_predicates(allowance())
        return await stored.build(names, allowance, restart=restart, on_progress=on_progress), stored.folder
    finally:
        await over.close()


def _stored_index(url: str, profile: Profile, store: str | Path | None) -> StoredIndex:
    folder = folder_for_all() if store is None else Path(store)
    stored = StoredIndex.of(Identity.of(url, profile), folder)
    check_private(folder, stored.folder)
    return stored


def load(
    source: Source | None, profile: Profile, progress: Progress | None = None, store: str | Path | None = None
) -> tuple[InProcess, Sequence[tuple[str, Mapping[str, str]]]]:
    """Load a graph into this process; return the way to it, and the prefixes that its files declare.

    Raises:
        ConfigurationError: A file cannot be read, or is no graph, or nothing can be kept in the store.
    """
    graph = _loaded(source, progress, store, profile.files)
    return _in_process(graph, profile), graph.prefixes


def transport_to(url: str, profile: Profile, clock: Clock | None = None) -> Transport:
    """Return the way to an endpoint that `open_gateway` takes, for whoever watches what passes on it.

    Raises:
        ConfigurationError: The URL is none, or the profile's credentials are not for it.
    """
    return EndpointDiscovery(connect(url, profile, clock))


def store_over(transport: Transport, profile: Profile, clock: Clock = time.monotonic) -> GraphStore:
    """Return the store that `open_gateway` puts over the way to an endpoint.

    Raises:
        ConfigurationError: What the profile says about the API for names is wrong.
    """
    below = SparqlStore(transport, profile, clock=clock)
    return _cached(_searched(below, profile), profile.cache, _CACHE_MEGABYTES, clock)


def _searched(store: GraphStore, profile: Profile) -> GraphStore:
    """Return a store whose names are found by the API that the profile names, if it names one."""
    search, endpoint = profile.search, profile.endpoint
    if not search.api:
        return store
    access = access_without_credentials(search.api, endpoint, "search.api")
    api = WikibaseApi(search.api, max_bytes=profile.limits.body_megabytes * _MEGABYTE, access=access)
    language = search.api_language or next((tag for tag in profile.names.languages if tag != "mul"), "en")
    requests = ApiRequests(ApiClient(api, api_flow(endpoint)), language)
    return WikibaseStore(store, ApiSearch(requests, store))


def _loaded(
    source: Source | None, progress: Progress | None, store: str | Path | None, limits: FileSettings
) -> LoadedGraph:
    if isinstance(source, rdflib.Graph):
        return load_rdflib(source)
    if source is None:
        return load_files([resources.demo_graph()], progress, limits)
    paths = [Path(source)] if isinstance(source, str | Path) else [Path(entry) for entry in source]
    if store is None or not paths:
        return load_files(paths, progress, limits)
    return open_stored(paths, Path(store), progress, limits)


def connect(url: str, profile: Profile, clock: Clock | None = None) -> Http:
    """Return the way to an endpoint, as a profile describes it; nothing is sent yet.

    Args:
        url: The endpoint.
        profile: The profile.
        clock: The clock of its flow control; by default a monotonic one, and for the quota the system's, which all
            processes share.

    Raises:
        ConfigurationError: The URL, or what the profile says about the way there, is wrong.
    """
    endpoint = profile.endpoint
    access = access_to(url, endpoint)
    return Http(
        url,
        max_bytes=profile.limits.body_megabytes * _MEGABYTE,
        method=endpoint.method,
        timeout_policy=timeout_policy(endpoint, "unknown" if endpoint.engine == "auto" else endpoint.engine),
        access=access,
        graphs=_graphs(endpoint),
        flow=FlowControl(endpoint, _quota(url, endpoint, access, clock or time.time), clock=clock or time.monotonic),
    )


def _quota(url: str, endpoint: EndpointSettings, access: Access, clock: Clock) -> Quota:
    if not endpoint.has_quota:
        return Quota(endpoint, clock=clock)
    storage = shared_storage(url, access.headers.get("User-Agent", ""))
    return Quota(endpoint, storage=storage, clock=clock)


def _graphs(endpoint: EndpointSettings) -> Sequence[str]:
    match endpoint.graphs:
        case "default":
            return ()
        case "union":
            return (endpoint.union_graph,)
        case named:
            return named


def _cached(
    store: GraphStore,
    cache: CacheSettings,
    usual_megabytes: int,
    clock: Clock = time.monotonic,
) -> GraphStore:
    megabytes = usual_megabytes if cache.megabytes is None else cache.megabytes
    if not megabytes:
        return store
    return CachedStore(store, megabytes=megabytes, ttl_seconds=cache.ttl_seconds, clock=clock)


def _over(
    store: GraphStore,
    profile: Profile,
    given: Mapping[str, str],
    declared: Sequence[tuple[str, Mapping[str, str]]],
    on_record: OnRecord,
    storage: SchemaStorage | None = None,
    clock: Clock | None = None,
    names_read: NamesRead = no_names,
) -> Gateway:
    merged, conflicts = merge([("--prefix", given), ("the profile", profile.prefixes), *declared])
    for conflict in conflicts:
        _log.warning("%s", conflict)
    known = PrefixMap(merged)
    return Gateway(
        store, profile, known, clock or time.monotonic, on_record=on_record, storage=storage, names_read=names_read
    )


def _checked(prefixes: Mapping[str, str]) -> Mapping[str, str]:
    for name, namespace in prefixes.items():
        if not is_iri(namespace) or any(character in name for character in ":/<> "):
            raise ConfigurationError(
                f"The prefix {quoted(name)} = {quoted(namespace)} is wrong.",
                valid="A prefix has no colon, slash or blank, and its namespace is an IRI.",
            )
    return prefixes
