"""The engines that are asked: what each is given, how it is started, and all of them in the order of the table."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Final

from gateway.settings.profile import Profile
from tests.columns import files_for
from tests.engines.servers import fetched
from tests.engines.servers.fetched import TOMCAT, Command, Fill, serving, serving_under_tomcat
from tests.graphs import asserted_files
from tests.servers.engines import Asked, ColumnName, Files, started
from tests.servers.maven import BLAZEGRAPH, RDF4J

Start = Callable[[Files, Path], AbstractContextManager[Mapping[str, Asked]]]
"""Serves the files of some graphs, with a folder for its own files; gives how each graph is asked for."""


def unchanged(profile: Profile) -> Profile:
    """Return a profile as it is."""
    return profile


@dataclass(frozen=True)
class Engine:
    """An engine.

    Attributes:
        name: Its name in the table and on the command line.
        version: Its version.
        bound: What binds it to loopback.
        files: Writes the graphs into a folder, in files that it can load.
        start: Serves some of them; None where it is the engine of this process.
        alone: Whether a server of it holds one graph.
        settled: Adds to a profile what this engine needs, and nothing would find out.
        settings: What is added, for people.
        evidence: Whether what states evidence is then kept out of the graph.
        graphs: The graphs that it is asked about; all of them where none is named.
    """

    name: str
    version: str
    bound: str
    files: Callable[[Path], Mapping[str, Sequence[Path]]]
    start: Start | None
    alone: bool = False
    settled: Callable[[Profile], Profile] = unchanged
    settings: str = ""
    evidence: bool = True
    graphs: tuple[str, ...] = ()

    def served_together(self, files: Files) -> Iterable[Files]:
        """Return the graphs that one server after the other holds."""
        return [{graph: paths} for graph, paths in files.items()] if self.alone else [files]


def _of_the_tests(name: ColumnName, version: str, bound: str) -> Engine:
    """Return an engine that all tests run on."""
    return Engine(name, version, bound, partial(files_for, name), partial(started, name), alone=name == "oxigraph")


def _of_one_graph(name: str, version: str, bound: str, command: Command, path: str, fill: Fill | None = None) -> Engine:
    """Return an engine whose server holds one graph."""
    start = partial(serving, command=command, path=path, fill=fill)
    return Engine(name, version, bound, asserted_files, start, alone=True)


_ALL: Final = (
    Engine("in-process", version("pyoxigraph"), "no port", partial(files_for, "in-process"), None),
    _of_the_tests("oxigraph", version("pyoxigraph"), "`--bind`"),
    _of_the_tests("fuseki", "6.2.0", "`--localhost`"),
    _of_the_tests("virtuoso", "7 (Debian)", "`ServerPort`"),
    _of_the_tests("blazegraph", BLAZEGRAPH.version, "`jetty.host`"),
    _of_the_tests("rdf4j", f"{RDF4J.version} (Jetty)", "`--host`"),
    _of_one_graph(
        "fuseki-3.17", fetched.OLD_FUSEKI.version, "`--localhost`", fetched.old_fuseki, fetched.OLD_FUSEKI_PATH
    ),
    _of_one_graph(
        "rdflib-endpoint",
        fetched.RDFLIB_ENDPOINT_VERSION,
        "`--host`",
        fetched.rdflib_endpoint,
        fetched.RDFLIB_ENDPOINT_PATH,
    ),
    Engine(
        "rdf4j-tomcat",
        f"{RDF4J.version} ({TOMCAT.name})",
        "the connector of an embedded Tomcat, in a launcher of 20 lines",
        asserted_files,
        serving_under_tomcat,
    ),
    _of_one_graph(
        "corese",
        fetched.CORESE.version,
        "a launcher of 20 lines, which serves its resources in its own Jetty",
        fetched.corese,
        fetched.CORESE_PATH,
        fetched.fill_corese,
    ),
    _of_one_graph(
        "comunica",
        fetched.COMUNICA_VERSION,
        "a script that Node loads first, which gives each `listen` the address",
        fetched.comunica,
        fetched.COMUNICA_PATH,
    ),
    replace(
        _of_one_graph(
            "ontop",
            fetched.ONTOP_VERSION,
            "the HTTP handler, which is the tests' own",
            fetched.ontop,
            fetched.ONTOP_PATH,
        ),
        files=fetched.ontop_files,
        settled=fetched.ontop_settled,
        settings=fetched.ONTOP_SETTINGS,
        evidence=False,
        # A table and a mapping for each of a hundred predicates makes each query a union of a thousand.
        graphs=("names", "medical", "films"),
    ),
)

ENGINES: Final[Mapping[str, Engine]] = {engine.name: engine for engine in _ALL}
