"""RDF4J 4.1.3 as Maven Central has it: one server, a repository in memory for each list of files.

How it is started, and what it answers otherwise than other engines: docs/notes/rdf4j.md.
"""

import gzip
import re
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tests.servers.cache import fingerprint, kept, private_copy
from tests.servers.java import SHORT_RUN, find_java
from tests.servers.loaded import LoadError, check_loaded, graph_format
from tests.servers.loopback import HOST, free_port, send
from tests.servers.maven import JETTY, RDF4J, runnable_jar
from tests.servers.process import Running, running

PATH: Final = "/rdf4j-server"
_LOAD_TIMEOUT_S: Final = 600.0
_NAME: Final = re.compile(r"[A-Za-z0-9_-]+")

# Written to disk after each load, so that the next start reads a file in place of parsing.
_REPOSITORY: Final = """\
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix rep: <http://www.openrdf.org/config/repository#> .
@prefix sr: <http://www.openrdf.org/config/repository/sail#> .
@prefix sail: <http://www.openrdf.org/config/sail#> .
@prefix ms: <http://www.openrdf.org/config/sail/memory#> .
[] a rep:Repository ; rep:repositoryID "{name}" ; rdfs:label "{name}" ;
  rep:repositoryImpl [ rep:repositoryType "openrdf:SailRepository" ;
    sr:sailImpl [ sail:sailType "openrdf:MemoryStore" ; ms:persist true ; ms:syncDelay 0 ] ] .
"""


@dataclass(frozen=True, slots=True)
class Rdf4jServer:
    """An RDF4J that answers."""

    port: int
    process: Running

    def endpoint(self, name: str) -> str:
        """Return the URL of a repository, which is its query endpoint."""
        return _repository(self.port, name)


Container = Callable[[int, Path], Sequence[str | Path]]
"""Returns what Java runs, and its arguments: a port, and the folder of the server."""


def in_jetty(port: int, _: Path) -> Sequence[str | Path]:
    """Return what runs the server in Jetty."""
    return ["-jar", runnable_jar(JETTY), "--host", HOST, "--port", str(port), "--path", PATH, runnable_jar(RDF4J)]


@contextmanager
def running_rdf4j(
    graphs: Mapping[str, Sequence[Path]], *, workdir: Path, port: int | None = None, container: Container = in_jetty
) -> Iterator[Rdf4jServer]:
    """Serve graph files, each list of them as one repository.

    What is loaded stays under `.servers/data/` by its content, so a second start loads nothing.

    Args:
        graphs: For each repository's name its files: .ttl and .nt of RDF 1.1, gzipped or not.
        workdir: A folder for the server's own files; the log stays in it.
        port: On loopback; a free one when absent.
        container: What runs it; Jetty where absent, and always where files are loaded.

    Raises:
        ServerUnavailable: This machine has no Java new enough, or cannot get the server.
        ChecksumMismatchError: A file of it is not the pinned one.
        ServerStartError: The server died at its start.
        LoadError: A file is no graph file, or RDF4J refused it or a part of it.
    """
    port = free_port() if port is None else port
    loader = RDF4J.sha256.encode() + Path(__file__).read_bytes()
    database = kept(f"rdf4j-{fingerprint(loader, graphs)}", lambda folder: _load(graphs, folder))
    folder, log = workdir / f"rdf4j-{port}", workdir / f"rdf4j-{port}.log"
    with private_copy(database, folder), _served(folder, port=port, log=log, container=container) as process:
        yield Rdf4jServer(port, process)


def _repository(port: int, name: str) -> str:
    return f"http://{HOST}:{port}{PATH}/repositories/{name}"


@contextmanager
def _served(folder: Path, *, port: int, log: Path, container: Container = in_jetty) -> Iterator[Running]:
    """Run the server on the repositories of a folder."""
    java = find_java(RDF4J.java)
    command: list[str | Path] = [
        *(java.path, "-Xmx2g", *SHORT_RUN),
        # Its reader of memory stores looks into a class of Java's own.
        *("--add-opens=java.base/java.lang=ALL-UNNAMED", f"-Dorg.eclipse.rdf4j.appdata.basedir={folder}"),
        *container(port, folder),
    ]
    ready = f"http://{HOST}:{port}{PATH}/protocol"
    with running(command, ready_url=ready, log=log, cwd=folder) as process:
        yield process


def _load(graphs: Mapping[str, Sequence[Path]], target: Path) -> None:
    port = free_port()
    with _served(target, port=port, log=target.with_name("load.log")):
        for name, files in graphs.items():
            if not _NAME.fullmatch(name):
                raise ValueError(f"repository name {name!r}: letters, digits, _ and - only")
            endpoint = _repository(port, name)
            _send("PUT", endpoint, _REPOSITORY.format(name=name).encode(), name)
            for file in files:
                graph_format(file)
                content = gzip.decompress(file.read_bytes()) if file.suffix == ".gz" else file.read_bytes()
                _send("POST", f"{endpoint}/statements", content, file.name)
            check_loaded(name, files, endpoint)
    for logs in target.rglob("logs"):
        shutil.rmtree(logs, ignore_errors=True)


def _send(method: str, url: str, body: bytes, subject: str) -> None:
    answer = send(method, url, body=body, headers={"Content-Type": "text/turtle"}, timeout_s=_LOAD_TIMEOUT_S)
    if answer.status not in {200, 204}:
        raise LoadError(f"{subject}: {answer.status} {answer.text.strip()[-1000:]}")
