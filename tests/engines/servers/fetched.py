"""Engines that no other test needs: each serves one graph, given to it as a file at its start."""

import http.client
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from http import HTTPStatus
from pathlib import Path
from typing import Final
from urllib.parse import urlencode

from gateway.settings.profile import Profile
from tests.graphs import asserted_files
from tests.oracle import RDF
from tests.servers.engines import Asked, Files
from tests.servers.java import SHORT_RUN, find_java
from tests.servers.loaded import LoadError, check_loaded
from tests.servers.loopback import HOST, ask, free_port, listens_elsewhere, send
from tests.servers.maven import RDF4J, Release, runnable_jar
from tests.servers.maven_libraries import Libraries, fetched
from tests.servers.process import ServerStartError, running
from tests.servers.rdf4j import PATH as RDF4J_PATH
from tests.servers.rdf4j import running_rdf4j
from tests.suites.packages import node_in, npm_modules, python_folder

Command = Callable[[Path, int, Path], Sequence[str | Path]]
"""Returns the command that serves a file of N-Triples at a port, with a folder for the server's own files."""

Fill = Callable[[int, Path], None]
"""Lets a server that has started at a port load a file."""


@contextmanager
def serving(
    files: Files, workdir: Path, *, command: Command, path: str, fill: Fill | None = None, deadline_s: float = 60.0
) -> Iterator[Mapping[str, Asked]]:
    """Serve one graph of one file, and give how it is asked for.

    Args:
        files: The graph and its file.
        workdir: A folder for the server's own files and the log.
        command: What starts the server.
        path: The path of the query endpoint, without the first slash.
        fill: What loads the file, where the start does not.
        deadline_s: Within which it answers.

    Raises:
        ServerStartError: The server died at its start, or other machines could reach it.
        LoadError: It lost a part of the file.
    """
    ((graph, (file,)),) = files.items()
    port = free_port()
    endpoint = f"http://{HOST}:{port}/{path}"
    with running(
        command(file.resolve(), port, workdir),
        ready_url=endpoint,
        is_ready=partial(_answers, endpoint, fill is None),
        log=workdir / "server.log",
        cwd=workdir,
        deadline_s=deadline_s,
    ):
        if listens_elsewhere(port):
            raise ServerStartError(f"the server of {graph} listens on more than loopback")
        if fill is not None:
            fill(port, file.resolve())
        check_loaded(graph, [file], endpoint)
        yield {graph: Asked(endpoint)}


def _answers(endpoint: str, is_filled: bool) -> bool:
    """Return whether a query is answered, or with nothing loaded yet, whether anything is."""
    try:
        status = ask(endpoint, "ASK {}", accept="application/sparql-results+json", timeout_s=2).status
    except (OSError, http.client.HTTPException):
        return False
    return status == HTTPStatus.OK or not is_filled


COMUNICA_VERSION: Final = "4.5.0"
COMUNICA_PATH: Final = "sparql"

_COMUNICA_PACKAGES: Final = Path(__file__).parents[1] / "packages" / "comunica"
_COMUNICA_SCRIPT: Final = "@comunica/query-sparql-file/bin/http.js"
_COMUNICA_LOOPBACK: Final = Path(__file__).with_name("loopback.cjs")


def comunica(file: Path, port: int, _: Path) -> Sequence[str | Path]:
    """Return the command that serves a file.

    Raises:
        ServerUnavailable: npm is absent or could not fetch the packages, or there is no Node new enough.
    """
    modules = npm_modules(_COMUNICA_PACKAGES)
    # Its workers are given the same script.
    return [
        node_in(modules),
        "--require",
        _COMUNICA_LOOPBACK,
        modules / _COMUNICA_SCRIPT,
        "--port",
        str(port),
        "--workers",
        "1",
        file,
    ]


CORESE: Final = Release(
    "fr.inria.corese",
    "corese-server",
    "4.5.0",
    "060034ebe52fda139a5565c6adc358d7218bb6193d44f901ad4fcb99e6af5d0b",
    17,
)
CORESE_PATH: Final = "sparql"

_CORESE_LAUNCHER: Final = Path(__file__).with_name("CoreseServer.java")


def corese(_: Path, port: int, __: Path) -> Sequence[str | Path]:
    """Return the command that serves nothing yet.

    Raises:
        ServerUnavailable: There is no Java Development Kit new enough or no jar.
        ChecksumMismatchError: The jar is not the pinned one.
    """
    java = find_java(CORESE.java)
    return [java.path, "-Xmx1g", *SHORT_RUN, "-cp", runnable_jar(CORESE), _CORESE_LAUNCHER, HOST, str(port)]


def fill_corese(port: int, file: Path) -> None:
    """Load a file, as the server does it at its start.

    Raises:
        LoadError: It was refused.
    """
    for step, form in (("reset", {"entailments": "false", "localhost": "true"}), ("load", {"remote_path": str(file)})):
        answer = send(
            "POST",
            f"http://{HOST}:{port}/{CORESE_PATH}/{step}",
            body=urlencode(form).encode(),
            headers={"Content-Type": "application/x-www-form-urlencoded"},
        )
        if answer.status != 200:
            raise LoadError(f"{file.name}: {step}: {answer.status} {answer.text.strip()[-1000:]}")


OLD_FUSEKI: Final = Release(
    "org.apache.jena",
    "jena-fuseki-server",
    "3.17.0",
    "9f3b897da44635adcb402796684ef9d132d053468f88e4af1bfd6c9b009b1374",
    17,
)
OLD_FUSEKI_PATH: Final = "ds/sparql"


def old_fuseki(file: Path, port: int, _: Path) -> Sequence[str | Path]:
    """Return the command that serves a file.

    Raises:
        ServerUnavailable: There is no Java new enough or no jar.
        ChecksumMismatchError: The jar is not the pinned one.
    """
    java = find_java(OLD_FUSEKI.java)
    jar = runnable_jar(OLD_FUSEKI)
    return [java.path, "-Xmx1g", *SHORT_RUN, "-jar", jar, "--localhost", "--port", str(port), "--file", file, "/ds"]


ONTOP: Final = Libraries(
    "ontop-5.1.2",
    Path(__file__).with_name("ontop.pom.xml"),
    "1fdaf7694ee30aa2ada790b995480a371b6705e69d53db410f86e6e8496cabc5",
    17,
)
ONTOP_VERSION: Final = "5.1.2 (H2 2.2.224)"
ONTOP_PATH: Final = "sparql"
ONTOP_SETTINGS: Final = '`edges.evidence_nodes = false`, `evidence.ways = "refused"`'

_BLANK_TYPE: Final = re.compile(rf"^\S+ <{re.escape(RDF)}type> _:")

_ONTOP_LAUNCHER: Final = Path(__file__).with_name("OntopServer.java")


def ontop(file: Path, port: int, _: Path) -> Sequence[str | Path]:
    """Return the command that serves a file.

    Raises:
        ServerUnavailable: There is no Java Development Kit new enough, or Maven could not fetch the jars.
        ChecksumMismatchError: The jars are not the pinned ones.
    """
    java = find_java(ONTOP.java)
    return [java.path, "-Xmx1g", *SHORT_RUN, "-cp", f"{fetched(ONTOP)}/*", _ONTOP_LAUNCHER, HOST, str(port), file]


def ontop_files(folder: Path) -> Mapping[str, Sequence[Path]]:
    """Write the graphs without types that are blank nodes: a mapping of Ontop can say none."""
    graphs = asserted_files(folder)
    for (file,) in graphs.values():
        # The shared graphs are not written here, and not asked about.
        if file.parent == folder:
            lines = file.read_text(encoding="utf-8").splitlines(keepends=True)
            file.write_text("".join(line for line in lines if not _BLANK_TYPE.search(line)), encoding="utf-8")
    return graphs


def ontop_settled(profile: Profile) -> Profile:
    """Return a profile that asks for no evidence: Ontop knows neither EXISTS nor IN."""
    edges = profile.edges.model_copy(update={"evidence_nodes": False})
    evidence = profile.evidence.model_copy(update={"ways": "refused"})
    return profile.model_copy(update={"edges": edges, "evidence": evidence})


RDFLIB_ENDPOINT_VERSION: Final = "0.6.3"
RDFLIB_ENDPOINT_PATH: Final = ""

_RDFLIB_ENDPOINT_LOCK: Final = Path(__file__).parents[1] / "packages" / "rdflib-endpoint.lock"


def rdflib_endpoint(file: Path, port: int, _: Path) -> Sequence[str | Path]:
    """Return the command that serves a file.

    Raises:
        ServerUnavailable: pip could not fetch the packages.
    """
    packages = python_folder(_RDFLIB_ENDPOINT_LOCK)
    # -S leaves the packages of the tests out, among which is an RDFLib too.
    serve = [sys.executable, "-S", "-m", "rdflib_endpoint", "serve", "--host", "127.0.0.1", "--port", str(port)]
    return ["env", f"PYTHONPATH={packages}", *serve, file]


TOMCAT: Final = Libraries(
    "tomcat-9.0.98",
    Path(__file__).with_name("tomcat.pom.xml"),
    "920dd68f0fa41cd22ecbc5d8100fa119d91b99ab302122dcf9802a46094b2c8a",
    17,
)

_TOMCAT_LAUNCHER: Final = Path(__file__).with_name("TomcatServer.java")


@contextmanager
def serving_under_tomcat(files: Files, workdir: Path) -> Iterator[Mapping[str, Asked]]:
    """Serve graphs, and give how each is asked for.

    Raises:
        ServerUnavailable: This machine has no Java Development Kit new enough, or cannot get the jars.
        ChecksumMismatchError: What was fetched is not what is pinned.
        ServerStartError: The server died at its start, or other machines could reach it.
        LoadError: RDF4J refused a file or a part of it.
    """
    with running_rdf4j(files, workdir=workdir, container=_in_tomcat) as server:
        if listens_elsewhere(server.port):
            raise ServerStartError("Tomcat listens on more than loopback")
        yield {graph: Asked(server.endpoint(graph)) for graph in files}


def _in_tomcat(port: int, folder: Path) -> Sequence[str | Path]:
    place = folder / "tomcat"
    place.mkdir()
    return ["-cp", f"{fetched(TOMCAT)}/*", _TOMCAT_LAUNCHER, HOST, str(port), RDF4J_PATH, runnable_jar(RDF4J), place]
