"""All engines that are asked, in the order of the table."""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from importlib.metadata import version
from typing import Final

from tests.columns import ColumnName, files_for, started
from tests.engines.engine import Engine
from tests.engines.servers import fetched
from tests.engines.servers.fetched import TOMCAT, Command, Fill, serving, serving_under_tomcat
from tests.graphs import asserted_files
from tests.servers.maven import BLAZEGRAPH, RDF4J


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
