"""The store of a graph in this process: files, or an rdflib graph."""

from __future__ import annotations

import logging
import math
import sys
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import pyoxigraph
from typing_extensions import TypeIs

from gateway import resources
from gateway.cache.on_disk import FixedContentStore, StoredPrefixes
from gateway.cache.store import CachedStore
from gateway.errors import ConfigurationError, DeadlinePassed, counted
from gateway.files.cached_graph import FileCache, open_cached
from gateway.files.finding import graph_files, no_path
from gateway.files.graph_files import FileChanges, GraphFiles
from gateway.files.loading import LoadedGraph, load_files, refuse_stdin
from gateway.files.parser_process import Progress
from gateway.files.store_files import GRAPH
from gateway.files.stored_graph import folder_of, open_stored
from gateway.graph.call import Deadline
from gateway.graph.store import GraphStore
from gateway.search_index.index import IndexedStore
from gateway.search_index.name_vectors import NameVectorsSource
from gateway.search_index.partial_index import allowance_of
from gateway.search_index.sources import InProcessIndexSource
from gateway.settings.hidden import Policy
from gateway.settings.profile import Profile, has_blank_nodes, policy_of, profile_in_process, with_skipped
from gateway.settings.storage import check_private, default_store, names_digest, profile_digest
from gateway.sparql.store import SparqlStore
from gateway.stores.embedders import embedder_of
from gateway.stores.endpoints import OpenedGraph
from gateway.telemetry.tally import Clock
from gateway.terms.coined_prefixes import MOST_KNOWN, namespace_of
from gateway.terms.iri import OWN
from gateway.transport.inprocess import InProcess

if TYPE_CHECKING:
    import rdflib

# A graph in files needs no rdflib, which takes long to import.


_log = logging.getLogger(__name__)

_PAGE_SECONDS = 3_600.0
"""Time for reading a page of names of a graph in this process; no call waits for it. The first one reads all names of a
predicate, which begins anew where it is ended: millions take minutes on a machine with other work."""

Source: TypeAlias = "str | Path | Sequence[str | Path] | rdflib.Graph"


def loaded_graph(
    source: Source | None,
    profile: Profile,
    place: Path | FileCache | None,
    progress: Progress | None,
    wall_clock: Clock,
    *,
    keep_schema: bool,
) -> OpenedGraph:
    """Load a graph into this process, and return the store over it.

    Args:
        source: As `gateway.api.open_gateway` takes it.
        profile: The profile.
        place: Where parsed files are stored; see `load`.
        progress: Called while files load.
        wall_clock: Seconds since the epoch.
        keep_schema: Whether prefixes that are coined are stored, for files that are not.

    Raises:
        ConfigurationError: A file cannot be read or is not a graph, or the store cannot be written.
    """
    profile = profile_in_process(profile)
    # What is wrong with it is said before a graph is loaded.
    embedder = embedder_of(profile)
    files = None if source is None or _is_rdflib(source) else _paths(source)
    changes = FileChanges(files or (), wall_clock)
    graph = _loaded(source if files is None else files, progress, place, profile)
    profile = with_skipped(profile, graph.skipped)
    below = SparqlStore(_in_process(graph, profile), profile, wall_clock=wall_clock)
    folder = None if graph.place is None else graph.place / names_digest(profile)
    meaning = None if embedder is None else NameVectorsSource(embedder, profile.meaning.least, folder)
    lasting = graph.lasting or (_lasting_folder(files, profile) if keep_schema and files is not None else None)
    return OpenedGraph(
        profile,
        store_in_process(below, profile, graph.place, meaning),
        graph.prefixes,
        lasting=lasting,
        changes=changes,
        namespaces=partial(namespaces_in, graph.engine),
        meaning=meaning,
    )


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
        ConfigurationError: A file cannot be read or is not a graph, or the store cannot be written; or something was
            left out because it is not valid.
    """
    graph = _loaded(source, progress, place, profile)
    if graph.skipped:
        raise ConfigurationError(
            f"{counted(graph.skipped, 'part')} of the files not valid; what is made of the rest would not say so.",
            next_step="Repair the files, or do without --lenient, which names the first of these parts.",
        )
    return _in_process(graph, profile), graph.prefixes


def load_as_given(
    source: Sequence[str] | None, profile: Profile, progress: Progress | None, place: Path | FileCache | None
) -> tuple[LoadedGraph, Mapping[str, str]]:
    """Load the very triples of files, blank nodes and lists as they are.

    Args:
        source: The files; None for the demo graph.
        profile: The profile; it hides nothing.
        progress: Called while files load.
        place: Where parsed files are stored; see `load`.

    Returns:
        The graph, and the prefixes that were coined for its IDs.

    Raises:
        ConfigurationError: A file cannot be read or is not a graph, or the store cannot be written.
    """
    limits = profile.files
    if source is None:
        return load_files([resources.demo_graph()], progress, limits, blank_types=None), {}
    paths = _paths(source)
    types = profile.edges.types if has_blank_nodes(profile) else None
    if isinstance(place, FileCache):
        graph = open_cached(paths, place, progress, limits, blank_types=types, is_as_given=True)
    elif place is None or not paths:
        graph = load_files(paths, progress, limits, blank_types=None)
    else:
        refuse_stdin(paths)
        graph = open_stored(paths, place, progress, limits, blank_types=types, is_as_given=True)
    lasting = folder_of(paths, place) / GRAPH if isinstance(place, Path) else _lasting_folder(paths, profile)
    return graph, {} if lasting is None else StoredPrefixes(lasting).load()


def store_in_process(
    below: GraphStore, profile: Profile, place: Path | None, meaning: NameVectorsSource | None = None
) -> GraphStore:
    """Return the store that `open_gateway` puts over a graph in this process.

    Args:
        below: The graph; it need not speak SPARQL. It has no label index if it lists no names.
        profile: The profile in effect.
        place: A folder that belongs to exactly this graph, for its schema and label index; None to store nothing. Its
            names depend on the roles and the type predicates alone, so most profiles share one index.
        meaning: Compares names by their meaning; the store closes it.
    """
    over = below if place is None else FixedContentStore(below, place / profile_digest(profile))
    if megabytes := profile.cache.megabytes:
        # A loaded graph never changes, so its answers do not expire.
        over = CachedStore(over, megabytes=megabytes, ttl_seconds=math.inf)
    names = below.name_reader()
    if names is None:
        return over
    folder = None if place is None else place / names_digest(profile)
    labels = InProcessIndexSource(names, allowance_of(profile, _PAGE_SECONDS), folder)
    return IndexedStore(over, labels, meaning)


def _in_process(graph: LoadedGraph, profile: Profile) -> InProcess:
    return InProcess(graph.engine, max_bytes=profile.limits.body_bytes, lease=graph.lease)


def _lasting_folder(files: Sequence[Path], profile: Profile) -> Path | None:
    """Return a folder for graph files that are not stored; None where there can be none."""
    folder = folder_of(files, default_store(), policy_of(profile))
    try:
        check_private(default_store(), folder)
    except ConfigurationError as error:
        _log.warning("the coined prefixes are not stored: %s", error)
        return None
    return folder


def _loaded(
    source: Source | None, progress: Progress | None, place: Path | FileCache | None, profile: Profile
) -> LoadedGraph:
    """Load what the policy of a profile leaves of a graph.

    Raises:
        ConfigurationError: It cannot be loaded. Under a policy the text, which clients read, quotes nothing of it.
    """
    policy = policy_of(profile)
    if policy is None:
        return _loaded_under(None, source, progress, place, profile)
    try:
        return _loaded_under(policy, source, progress, place, profile)
    except ConfigurationError as error:
        _log.error("the graph cannot be loaded: %s", error)
        raise ConfigurationError("The graph cannot be loaded.", next_step="The operator's log says why.") from None


def _loaded_under(
    policy: Policy | None,
    source: Source | None,
    progress: Progress | None,
    place: Path | FileCache | None,
    profile: Profile,
) -> LoadedGraph:
    limits = profile.files
    blank_types = profile.edges.types if has_blank_nodes(profile) else None
    if _is_rdflib(source):
        from gateway.files.rdflib_graphs import load_rdflib  # noqa: PLC0415 - with rdflib

        return load_rdflib(source, policy, blank_types=blank_types)
    if source is None:
        return load_files([resources.demo_graph()], progress, limits, policy, blank_types=blank_types)
    paths = _paths(source)
    if place is None or not paths:
        return load_files(paths, progress, limits, policy, blank_types=blank_types)
    if isinstance(place, FileCache):
        return open_cached(paths, place, progress, limits, policy, blank_types=blank_types)
    refuse_stdin(paths)
    return open_stored(paths, place, progress, limits, policy, blank_types=blank_types)


def _paths(files: str | Path | Sequence[str | Path]) -> GraphFiles:
    if isinstance(files, GraphFiles):
        return files
    if isinstance(files, str | Path):
        return graph_files([files])
    given: object = files
    # A table is iterated over by the names of its columns.
    if isinstance(given, bytes | Mapping) or hasattr(given, "columns") or not isinstance(given, Iterable):
        raise no_path(given)
    return graph_files(given)


def _is_rdflib(source: Source | None) -> TypeIs[rdflib.Graph]:
    """Return whether a source is an rdflib graph; who has one has imported rdflib."""
    library = sys.modules.get("rdflib")
    return library is not None and isinstance(source, library.Graph)


def namespaces_in(engine: pyoxigraph.Store, deadline: Deadline) -> tuple[list[str], bool]:
    """Return namespaces of the IRIs of a graph, no more than are remembered, and whether these are all."""
    found: set[str] = set()
    try:
        for quads in deadline.slices(engine):
            for quad in quads:
                for term in (quad.subject, quad.predicate, quad.object):
                    if isinstance(term, pyoxigraph.NamedNode):
                        found.add(namespace_of(term.value))
            if len(found) > MOST_KNOWN:
                return _graph_namespaces(found)[:MOST_KNOWN], False
    except DeadlinePassed:
        # Raised further, it would take the engine's iterator along, which only its own thread may drop.
        return _graph_namespaces(found), False
    return _graph_namespaces(found), True


def _graph_namespaces(found: set[str]) -> list[str]:
    return sorted(namespace for namespace in found if namespace and not namespace.startswith(OWN))
