"""Blazegraph 2.1.5 as Maven Central has it: one read-only server, a namespace for each list of files.

How it must be started, and what it answers wrongly: docs/notes/blazegraph.md.
"""

import gzip
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tests.servers.cache import fingerprint, kept, private_copy
from tests.servers.java import SHORT_RUN, find_java
from tests.servers.loaded import LoadError, check_loaded, graph_format
from tests.servers.loopback import HOST, free_port, send
from tests.servers.maven import BLAZEGRAPH, runnable_jar
from tests.servers.process import Running, running

_LOAD_TIMEOUT_S: Final = 600.0
_JOURNAL: Final = "blazegraph.jnl"
# The server's own ceiling; the machine is shared with the tests that wait for it.
_QUERY_TIMEOUT_MS: Final = 240_000
_SEARCH: Final = "http://www.bigdata.com/rdf/search#search"
_SAMPLE: Final = "http://www.bigdata.com/rdf#sample"

_STORE: Final = """\
com.bigdata.rdf.store.AbstractTripleStore.quads=false
com.bigdata.rdf.store.AbstractTripleStore.statementIdentifiers=false
com.bigdata.rdf.store.AbstractTripleStore.textIndex=true
com.bigdata.rdf.store.AbstractTripleStore.axiomsClass=com.bigdata.rdf.axioms.NoAxioms
com.bigdata.rdf.store.AbstractTripleStore.justify=false
com.bigdata.rdf.sail.truthMaintenance=false
"""
_PROPERTIES: Final = f"""\
com.bigdata.journal.AbstractJournal.file={_JOURNAL}
com.bigdata.journal.AbstractJournal.bufferMode=DiskRW
com.bigdata.journal.AbstractJournal.initialExtent=10485760
{_STORE}"""
_WEB: Final = """\
<?xml version="1.0" encoding="UTF-8"?>
<web-app xmlns="http://java.sun.com/xml/ns/javaee" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"
    xsi:schemaLocation="http://java.sun.com/xml/ns/javaee http://java.sun.com/xml/ns/javaee/web-app_3_1.xsd"
    version="3.1">
{}</web-app>
"""
_SETTING: Final = "  <context-param><param-name>{}</param-name><param-value>{}</param-value></context-param>\n"
_SERVING: Final = {
    "readOnly": "true",
    "queryTimeout": str(_QUERY_TIMEOUT_MS),
    "serviceWhitelist": f"{_SEARCH},{_SAMPLE}",
}


@dataclass(frozen=True, slots=True)
class BlazegraphServer:
    """A Blazegraph that answers."""

    port: int
    process: Running

    def endpoint(self, name: str) -> str:
        """Return the URL of a namespace's query endpoint."""
        return _endpoint(self.port, name)


@contextmanager
def running_blazegraph(
    graphs: Mapping[str, Sequence[Path]], *, workdir: Path, port: int | None = None
) -> Iterator[BlazegraphServer]:
    """Serve graph files, each list of them as one namespace of triples.

    What is loaded stays under `.servers/data/` by its content, so a second start loads nothing.

    Args:
        graphs: For each namespace's name its files: .ttl and .nt of RDF 1.1, gzipped or not.
        workdir: A folder for the server's own files; the log stays in it.
        port: On loopback; a free one when absent.

    Raises:
        ServerUnavailable: This machine has no Java new enough, or cannot get the jar.
        ChecksumMismatchError: The jar is not the pinned one.
        ServerStartError: The server died at its start.
        LoadError: A file is no graph file, or Blazegraph refused it or a part of it.
    """
    port = free_port() if port is None else port
    program = _find_blazegraph()
    loader = BLAZEGRAPH.sha256.encode() + Path(__file__).read_bytes()
    database = kept(f"blazegraph-{fingerprint(loader, graphs)}", lambda folder: _load(program, graphs, folder))
    folder, log = workdir / f"blazegraph-{port}", workdir / f"blazegraph-{port}.log"
    with private_copy(database, folder), _served(program, folder, port=port, log=log, settings=_SERVING) as process:
        yield BlazegraphServer(port, process)


def _endpoint(port: int, name: str) -> str:
    return f"http://{HOST}:{port}/blazegraph/namespace/{name}/sparql"


def _find_blazegraph() -> list[str | Path]:
    """Return the command that runs Java on the jar, so far as it is always the same."""
    java = find_java(BLAZEGRAPH.java)
    jar = runnable_jar(BLAZEGRAPH)
    pages = kept(f"blazegraph-war-{BLAZEGRAPH.sha256[:24]}", lambda target: _unpack(jar, target))
    return [java.path, "-Xmx1g", *SHORT_RUN, *java.quiet_options, f"-Djetty.home={pages / 'war'}", "-cp", jar]


@contextmanager
def _served(
    program: Sequence[str | Path], folder: Path, *, port: int, log: Path, settings: Mapping[str, str]
) -> Iterator[Running]:
    """Run the server on the journal of a folder, or on a new one, under settings of its web application."""
    web = folder / "web.xml"
    web.write_text(_WEB.format("".join(_SETTING.format(*one) for one in settings.items())), encoding="utf-8")
    (folder / "RWStore.properties").write_text(_PROPERTIES, encoding="utf-8")
    command = [
        *program,
        f"-Djetty.host={HOST}",
        f"-Djetty.overrideWebXml={web}",
        "com.bigdata.rdf.sail.webapp.NanoSparqlServer",
        *(str(port), "kb", "RWStore.properties"),
    ]
    ready = f"{_endpoint(port, 'kb')}?query=ASK%7B%7D"
    with running(command, ready_url=ready, log=log, cwd=folder) as process:
        yield process


def _unpack(jar: Path, target: Path) -> None:
    """Take the web application out of the jar, in which the server cannot find it on Java 9 or newer."""
    with zipfile.ZipFile(jar) as archive:
        archive.extractall(target, [name for name in archive.namelist() if name.startswith("war/")])


def _load(program: Sequence[str | Path], graphs: Mapping[str, Sequence[Path]], target: Path) -> None:
    folder = target.with_name("loading")
    folder.mkdir()
    port = free_port()
    with _served(program, folder, port=port, log=target.with_name("load.log"), settings={}):
        for name, files in graphs.items():
            properties = f"com.bigdata.rdf.sail.namespace={name}\n{_STORE}".encode()
            _post(f"http://{HOST}:{port}/blazegraph/namespace", properties, "text/plain", name)
            for file in files:
                graph_format(file)
                content = gzip.decompress(file.read_bytes()) if file.suffix == ".gz" else file.read_bytes()
                # N-Triples too: as text/plain they lose what is not ASCII, and by their own type they are refused.
                _post(_endpoint(port, name), content, "text/turtle", file.name)
            check_loaded(name, files, _endpoint(port, name))
    (folder / _JOURNAL).rename(target / _JOURNAL)


def _post(url: str, body: bytes, content_type: str, subject: str) -> None:
    answer = send("POST", url, body=body, headers={"Content-Type": content_type}, timeout_s=_LOAD_TIMEOUT_S)
    if answer.status not in {200, 201}:
        raise LoadError(f"{subject}: {answer.status} {answer.text.strip()[-1000:]}")
