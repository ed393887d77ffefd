"""The engines that one test runs on, in this process and behind HTTP, each with the same graphs."""

import functools
import unicodedata
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import pytest

from gateway.api import open_gateway
from gateway.files.loading import LoadedGraph, load_files
from gateway.graph.store import GraphStore
from gateway.settings.limits import OrientationSettings
from gateway.settings.profile import Profile
from gateway.settings.vocabulary import NodeSettings
from gateway.sparql.store import SparqlStore
from gateway.terms.prefixes import PrefixMap, merge
from gateway.tools.gateway import Gateway
from gateway.transport.base import Transport
from gateway.transport.http import Http
from gateway.transport.inprocess import InProcess
from tests.clocks import fixed_wall_clock
from tests.graphs import SHARED, asserted_files, blazegraph_files, graph_files
from tests.servers.engines import Asked, ColumnName, Files, started
from tests.shared_data import shared_data

COLUMNS: tuple[ColumnName, ...] = ("in-process", "oxigraph", "fuseki", "virtuoso", "blazegraph", "rdf4j")
BEHIND_HTTP: Final = [pytest.param(name, marks=pytest.mark.server) for name in COLUMNS if name != "in-process"]
"""Parameters of `engine` for a test that needs a server."""

_MEGABYTE: Final = 1 << 20


WITHOUT_BLANK_NODES: Final = frozenset(
    {
        *("medical", "films", "wikidata-slice", "wikibase", "singletons", "associations", "odd", "names", "priced"),
        *SHARED,
    }
)
"""Graphs with hardly a blank node but evidence, which are asked with every default."""

WITH_A_FEW: Final = frozenset({"wikidata-slice", "wikibase"})
"""Those of them that have a few others, which are nodes at Blazegraph from the first question on: no key is proven."""


def _without_blank_nodes(profile: Profile, graph: str, engine: ColumnName) -> Profile:
    """Return a profile by which blank nodes of most graphs are nodes only if it says so.

    The oracles of most tests know nodes with an IRI alone; tests/blank_nodes has those of blank nodes.
    """
    has_none = graph in WITHOUT_BLANK_NODES and not (engine == "blazegraph" and graph in WITH_A_FEW)
    if "nodes" in profile.model_fields_set or has_none:
        return profile
    return profile.model_copy(update={"nodes": NodeSettings(blank="off")})


@dataclass(frozen=True)
class Column:
    """One engine that holds every graph of the tests.

    Attributes:
        name: The engine.
        files: The files of each graph, as this engine was given them.
        annotated: Whether the engine knows RDF 1.2, so that annotations are among what it holds.
    """

    name: ColumnName
    files: Files
    annotated: bool = True
    _asked: Callable[[str], Asked] | None = field(default=None, repr=False)

    @property
    def is_here(self) -> bool:
        """Whether the engine runs in this process."""
        return self._asked is None

    def url(self, graph: str) -> str:
        """Return the URL of a graph's query endpoint; only engines behind HTTP have one."""
        return self.asked(graph).endpoint

    def asked(self, graph: str) -> Asked:
        """Return how a graph is asked for; only at engines behind HTTP."""
        self._need(graph)
        assert self._asked is not None
        return self._asked(graph)

    def open(self, graph: str, profile: Profile | None = None, *, through: str = "") -> Gateway:
        """Open a gateway over a graph; its prefixes are the profile's, and the files' too in process.

        Args:
            graph: The graph's name.
            profile: The profile, to which the engine's own settings are added; the built-in defaults where not given.
            through: The URL of a proxy that stands before the graph's endpoint.
        """
        self._need(graph)
        settings = profile or Profile()
        if "orientation" not in settings.model_fields_set:
            # What a test asks must not depend on whether the schema was read in full within a second.
            settings = settings.model_copy(update={"orientation": OrientationSettings(patience_seconds=120)})
        settings = _without_blank_nodes(settings, graph, self.name)
        if "coined_prefixes" not in settings.size.model_fields_set:
            # Oracles have whole IRIs; tests/answers/test_coined_prefixes.py has the prefixes.
            size = settings.size.model_copy(update={"coined_prefixes": False})
            settings = settings.model_copy(update={"size": size})
        if self._asked is not None:
            asked = self._asked(graph)
            return open_gateway(
                endpoint=through or asked.endpoint, profile=asked.settle(settings), wall_clock=fixed_wall_clock
            )
        loaded = _loaded(tuple(self.files[graph]))
        prefixes, _ = merge([("the profile", settings.prefixes), *loaded.prefixes])
        store = SparqlStore(self.transport(graph), settings, wall_clock=fixed_wall_clock)
        return Gateway(store, settings, PrefixMap(prefixes))

    def settle(self, graph: str, profile: Profile) -> Profile:
        """Return a profile with what this engine needs for a graph."""
        settings = _without_blank_nodes(profile, graph, self.name)
        return settings if self._asked is None else self._asked(graph).settle(settings)

    def transport(self, graph: str) -> Transport:
        """Return a transport to a graph, for a store that a test puts together itself."""
        self._need(graph)
        if self._asked is None:
            return InProcess(_loaded(tuple(self.files[graph])).engine, max_bytes=64 * _MEGABYTE)
        asked = self._asked(graph)
        return Http(asked.endpoint, max_bytes=64 * _MEGABYTE, graphs=asked.graphs)

    def store(self, graph: str, profile: Profile) -> GraphStore:
        """Return a store over a graph, without a cache."""
        return SparqlStore(self.transport(graph), self.settle(graph, profile), wall_clock=fixed_wall_clock)

    def _need(self, graph: str) -> None:
        """Skip the test that asks for a reference graph where that is absent."""
        if graph not in self.files and graph in SHARED:
            shared_data(SHARED[graph])

    def in_process(self) -> "Column":
        """Return the engine of this process over the same files."""
        return Column("in-process", self.files, self.annotated)

    def as_stored(self, iri: str) -> str:
        """Return an IRI of the test data in the form in which this engine was given it."""
        return unicodedata.normalize("NFC", iri) if self.name == "blazegraph" else iri


@functools.cache
def _loaded(files: tuple[Path, ...]) -> LoadedGraph:
    # All engines are judged alike, and those behind HTTP cannot follow blank nodes; tests/blank_nodes judges files.
    return load_files(files, blank_types=None)


def declared_prefixes(path: Path) -> dict[str, str]:
    """Return the prefixes that a graph file declares."""
    return dict(_loaded((path,)).prefixes[0][1])


@contextmanager
def column(
    name: ColumnName, workdir: Path, graphs: Collection[str] | None = None, *, text_index: bool = False
) -> Iterator[Column]:
    """Start an engine with every graph, or with some, and stop it again.

    Args:
        name: The engine.
        workdir: Where its files go.
        graphs: The graphs; all where not given.
        text_index: Whether Virtuoso has a text index; Fuseki and Blazegraph always have.
    """
    files = {graph: paths for graph, paths in files_for(name, workdir).items() if graphs is None or graph in graphs}
    with ExitStack() as servers:

        def start(some: Files) -> dict[str, Asked]:
            return servers.enter_context(started(name, some, workdir, text_index=text_index))

        yield column_of(name, files, start)


def files_for(name: ColumnName, workdir: Path) -> Files:
    """Return the files of every graph as an engine can load them; what is made of them goes to a folder."""
    make = {"virtuoso": asserted_files, "blazegraph": blazegraph_files, "rdf4j": asserted_files}.get(name, graph_files)
    return make(workdir)


def column_of(name: ColumnName, files: Files, start: Callable[[Files], Mapping[str, Asked]]) -> Column:
    """Return a column over files; `start` returns how the graphs of some files are asked for.

    An Oxigraph serves one graph, so one is started for each graph when that is first asked for.
    """
    annotated = name not in {"virtuoso", "blazegraph", "rdf4j"}
    if name == "in-process":
        return Column(name, files, annotated)
    if name == "oxigraph":
        return Column(name, files, annotated, functools.cache(lambda graph: start({graph: files[graph]})[graph]))
    return Column(name, files, annotated, start(files).__getitem__)
