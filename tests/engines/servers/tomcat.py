"""RDF4J under Tomcat, as its own documentation runs it; what else runs it is `tests/servers/rdf4j.py`."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from tests.columns import Asked, Files
from tests.servers.loopback import HOST, listens_elsewhere
from tests.servers.maven import RDF4J, runnable_jar
from tests.servers.maven_libraries import Libraries, fetched
from tests.servers.process import ServerStartError
from tests.servers.rdf4j import PATH, running_rdf4j

TOMCAT: Final = Libraries(
    "tomcat-9.0.98",
    Path(__file__).with_name("tomcat.pom.xml"),
    "920dd68f0fa41cd22ecbc5d8100fa119d91b99ab302122dcf9802a46094b2c8a",
    17,
)

_LAUNCHER: Final = Path(__file__).with_name("TomcatServer.java")


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
    return ["-cp", f"{fetched(TOMCAT)}/*", _LAUNCHER, HOST, str(port), PATH, runnable_jar(RDF4J), place]
