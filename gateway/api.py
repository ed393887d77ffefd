"""The gateway from Python: open one over a file, an endpoint or an rdflib graph, and make the six calls.

    from bfsql_gateway import open_gateway

    with open_gateway("medical.ttl") as graph:
        answer = graph.bfs_query(["drug:metformin"], max_hops=1)

    async with open_gateway("medical.ttl") as graph:
        answer = await graph.bfs_query(["drug:metformin"], max_hops=1)

`docs/python.md` describes it in full.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from gateway.cache.on_disk import StoredPrefixes
from gateway.errors import ConfigurationError
from gateway.files.cached_graph import FileCache
from gateway.files.parser_process import Progress
from gateway.python.async_gateway import AsyncGateway
from gateway.python.open_graphs import OpenGraphs, link_graphs
from gateway.python.wrong_call import checked_call
from gateway.settings.graphs_file import profile_of, read_graphs
from gateway.settings.load import DEMO, default_profile, load_profile, with_contact
from gateway.settings.paths import local_path
from gateway.settings.profile import Profile, with_hidden
from gateway.settings.urls import is_database_url
from gateway.stores.endpoints import remote_graph
from gateway.stores.loaded import Source, loaded_graph
from gateway.telemetry.record import Record
from gateway.telemetry.tally import Clock
from gateway.terms.coined_prefixes import CoinedPrefixes
from gateway.terms.prefixes import PrefixMap, checked_prefixes, merge
from gateway.terms.well_known_prefixes import WELL_KNOWN
from gateway.tools.answering import OnRecord, drop_record
from gateway.tools.gateway import Gateway

__all__ = ["Gateway", "Profile", "Record", "link_graphs", "load_profile", "open_gateway", "open_graphs"]

_log = logging.getLogger(__name__)


@checked_call
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
) -> AsyncGateway:
    """Open a gateway over a graph: by `with`, calls return answers; by `async with`, they are awaited.

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
            `gateway.files.cached_graph`. Without it, they are parsed into memory each time.
        keep_schema: Whether to store the schema of an endpoint there, for the next run, and the prefixes coined for an
            endpoint or for files that are not stored.
        shared_cache: The URL of a Valkey or Redis server in which several processes share what they read of an endpoint
            (docs/scaling.md); its password is in BFSQL_SHARED_CACHE_PASSWORD, or another secret in
            BFSQL_SHARED_CACHE_SECRET. A graph in this process shares nothing.
        contact: Your e-mail address or URL, for the endpoint; overrides that of the profile.
        progress: Called while files load.
        on_record: Called with the cost of each call after it has ended; it must not raise.
        clock: Seconds for every deadline and pause, if the event loop has its own time, as in tests.
        wall_clock: Seconds since the epoch for the dates in answers.

    Returns:
        A gateway. Use it as a context manager of either kind, or close it.

    Raises:
        ConfigurationError: A file, the profile, a prefix or the URL is wrong or empty, or the store cannot be written.
    """
    if source is not None and endpoint is not None:
        raise ConfigurationError("Both a graph and an endpoint were given.", valid="Give one of them.")
    if endpoint is not None and not endpoint.strip():
        raise ConfigurationError(
            "The URL of the endpoint is empty.",
            next_step="Give its URL, or no endpoint, for that of the profile or else the demo graph.",
        )
    if isinstance(source, Sequence) and not source and not isinstance(source, str):
        raise ConfigurationError(
            "The list of graph files is empty.", next_step="Give the path of a file, a folder or a pattern."
        )
    if isinstance(source, str) and is_database_url(source):
        source, endpoint = None, source
    if profile is None:
        profile = DEMO if source is None and endpoint is None else default_profile(endpoint)
    settings = with_contact(load_profile(profile) if isinstance(profile, str) else profile, contact)
    given = checked_prefixes(prefixes or {})
    url = endpoint if endpoint is not None else settings.endpoint.url if source is None else ""
    if url:
        graph = remote_graph(
            url, settings, given, store, clock, wall_clock, keep_schema=keep_schema, shared_cache=shared_cache
        )
    else:
        place = local_path(store) if store is not None else cache
        graph = loaded_graph(source, settings, place, progress, wall_clock, keep_schema=keep_schema)
    sources = [("--prefix", given), ("the profile", settings.prefixes), *graph.prefixes]
    known = _prefix_map(sources, graph.lasting, coins=graph.profile.size.coined_prefixes)
    return AsyncGateway(
        graph.store,
        graph.profile,
        known,
        clock or time.monotonic,
        on_record=on_record,
        storage=graph.storage,
        changes=graph.changes,
        namespaces=graph.namespaces,
        meaning=graph.meaning,
    )


@checked_call
def open_graphs(graphs: str | Path | Mapping[str, AsyncGateway], *, contact: str | None = None) -> OpenGraphs:
    """Open several graphs, linked, by `with` or `async with`; and close them after the block.

    Args:
        graphs: A `graphs.toml` or a folder of profiles (docs/graphs.md), or what `open_gateway` returned, by name.
        contact: Your e-mail address or URL, for the endpoints of a file or a folder.

    Returns:
        A context manager of either kind, which gives the gateways by name. Where it is entered, it raises
        ConfigurationError if the file is wrong, or one of its graphs cannot be opened.
    """
    if isinstance(graphs, Mapping):
        return OpenGraphs(lambda: iter(graphs.items()))
    return OpenGraphs(lambda: _listed_graphs(local_path(graphs), contact))


def _listed_graphs(path: Path, contact: str | None) -> Iterator[tuple[str, AsyncGateway]]:
    for entry in read_graphs(path):
        profile = profile_of(entry)
        limits = profile.limits.model_copy(update=dict(entry.limits))
        gateway = open_gateway(
            entry.graph or None,
            endpoint=entry.endpoint or None,
            profile=with_hidden(profile.model_copy(update={"limits": limits}), entry.hidden),
            prefixes=dict(entry.prefixes),
            store=entry.store or None,
            contact=contact,
        )
        yield entry.name, gateway


def _prefix_map(sources: Sequence[tuple[str, Mapping[str, str]]], folder: Path | None, *, coins: bool) -> PrefixMap:
    """Return the prefixes of all sources, and where it is wanted others: well-known and coined ones."""
    merged, conflicts = merge(sources)
    for conflict in conflicts:
        _log.warning("%s", conflict)
    if not coins:
        return PrefixMap(merged)
    return PrefixMap(merged, CoinedPrefixes(merged, None if folder is None else StoredPrefixes(folder)), WELL_KNOWN)
