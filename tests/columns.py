"""The engines that one test runs on: in this process, an Oxigraph server and a Fuseki, each with the same graphs."""

import functools
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import pyoxigraph

from gateway import resources
from gateway.api import open_gateway
from gateway.engine.gateway import Gateway
from gateway.settings.profile import Profile
from gateway.sparql.store import SparqlStore
from gateway.terms.prefixes import PrefixMap, merge
from gateway.transport.base import Transport
from gateway.transport.http import Http
from gateway.transport.inprocess import InProcess
from gateway.transport.loading import LoadedGraph, load_files
from tests.random_graphs import write_corpus
from tests.servers.fuseki import FusekiServer, running_fuseki
from tests.servers.oxigraph import running_oxigraph
from tests.shared_data import shared_data_or_none

ColumnName = Literal["in-process", "oxigraph", "fuseki"]
COLUMNS: tuple[ColumnName, ...] = ("in-process", "oxigraph", "fuseki")

_SHARED = {
    "medlit": "medlit.ttl.gz",
    "movies": "movies.ttl.gz",
    "wd50k": "wd50k.nt.gz",
    "codex-m": "codex-m.nt.gz",
}
_FIXTURES = ("medical", "films", "wikidata-slice", "awkward")
_MEGABYTE = 1 << 20


ODD_TRIPLES = (
    "<http://ex.org/a> <http://ex.org/p> <http://ex.org/docs/../report>",
    "<http://ex.org/docs/../report> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <http://ex.org/Report>",
    "<http://ex.org/docs/../report> <http://ex.org/p> <http://ex.org/c>",
    "<http://ex.org/d> <http://ex.org/p> <http://ex.org/c>",
    "<http://ex.org/a> <http://ex.org/p> <urn:a/../b>",
    "<urn:a/../b> <http://ex.org/p> <http://ex.org/e>",
    "<http://ex.org/a> <http://ex.org/p> <http://EX.org/upper>",
    "<http://EX.org/upper> <http://ex.org/p> <http://ex.org/f>",
)
"""IRIs that some engine takes for others in a query, though it keeps them as they are when it loads N-Triples."""


@dataclass(frozen=True)
class Column:
    """One engine that holds every graph of the tests."""

    name: ColumnName
    _endpoint: Callable[[str], str] | None
    files: Mapping[str, Sequence[Path]]

    def url(self, graph: str) -> str:
        """Return the URL of a graph's query endpoint; only engines behind HTTP have one."""
        assert self._endpoint is not None
        return self._endpoint(graph)

    def open(self, graph: str, profile: Profile | None = None, *, through: str = "") -> Gateway:
        """Open a gateway over a graph; its prefixes are the profile's, and the files' too in process.

        Args:
            graph: The graph's name.
            profile: The profile; the built-in defaults where not given.
            through: The URL of a proxy that stands before the graph's endpoint.
        """
        settings = profile or Profile()
        if self._endpoint is not None:
            return open_gateway(endpoint=through or self._endpoint(graph), profile=settings)
        loaded = _loaded(tuple(self.files[graph]))
        prefixes, _ = merge([("the profile", settings.prefixes), *loaded.prefixes])
        return Gateway(SparqlStore(self.transport(graph), settings), settings, PrefixMap(prefixes))

    def transport(self, graph: str) -> Transport:
        """Return a transport to a graph, for a store that a test puts together itself."""
        if self._endpoint is not None:
            return Http(self._endpoint(graph), max_bytes=64 * _MEGABYTE)
        return InProcess(_loaded(tuple(self.files[graph])).engine, max_bytes=64 * _MEGABYTE)


@functools.cache
def _loaded(files: tuple[Path, ...]) -> LoadedGraph:
    return load_files(files)


def declared_prefixes(path: Path) -> dict[str, str]:
    """Return the prefixes that a graph file declares."""
    return dict(_loaded((path,)).prefixes[0][1])


def graph_files(folder: Path) -> dict[str, list[Path]]:
    """Return the files of every graph that is there, by the graph's name; the random graphs are one graph."""
    files = {name: [resources.folder("fixtures") / f"{name}.ttl"] for name in _FIXTURES}
    for name, file in _SHARED.items():
        path = shared_data_or_none(file)
        if path is not None:
            files[name] = [path]
    odd = folder / "odd.nt"
    odd.write_text("".join(f"{line} .\n" for line in ODD_TRIPLES), encoding="utf-8")
    files["odd"] = [odd]
    corpus = folder / "random.nt"
    write_corpus(corpus)
    files["random"] = [corpus]
    return files


@contextmanager
def column(name: ColumnName, workdir: Path, graphs: Collection[str] | None = None) -> Iterator[Column]:
    """Start an engine with every graph, or with some, and stop it again."""
    files = {graph: paths for graph, paths in graph_files(workdir).items() if graphs is None or graph in graphs}
    with ExitStack() as servers:
        endpoint: Callable[[str], str] | None = None
        if name == "fuseki":
            fuseki: FusekiServer = servers.enter_context(running_fuseki(files, workdir=workdir))
            endpoint = fuseki.endpoint
        elif name == "oxigraph":

            @functools.cache
            def started(graph: str) -> str:
                place = workdir / graph
                place.mkdir()
                return servers.enter_context(running_oxigraph(files[graph], workdir=place)).endpoint

            endpoint = started
        yield Column(name, endpoint, files)


@functools.cache
def existing_nodes(graph: str) -> tuple[str, ...]:
    """Return the IRIs of a fixture that are subject or object of a triple, sorted, read without the gateway."""
    path = resources.folder("fixtures") / f"{graph}.ttl"
    with path.open("rb") as stream:
        quads = list(pyoxigraph.parse(stream, pyoxigraph.RdfFormat.TURTLE))
    terms = (term for quad in quads for term in (quad.subject, quad.object))
    return tuple(sorted({term.value for term in terms if isinstance(term, pyoxigraph.NamedNode)}))
