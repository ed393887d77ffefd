"""The servers that are asked, each with one graph, near and far: started when first wanted, stopped at the end."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Final, Literal, Self
from urllib.parse import urlsplit

from benchmarks import graphs
from benchmarks.delay import delayed
from tests.servers.cache import CACHE, locked
from tests.servers.fuseki import FusekiServer, running_fuseki
from tests.servers.loopback import HOST, free_port
from tests.servers.oxigraph import OxigraphLoadError, find_oxigraph, running_oxigraph
from tests.servers.process import running
from tests.servers.unavailable import ServerUnavailable
from tests.servers.virtuoso import running_virtuoso
from tests.shared_data import shared_data_or_none

EngineName = Literal["oxigraph", "fuseki", "virtuoso"]
ENGINES: Final[tuple[EngineName, ...]] = ("oxigraph", "fuseki")
"""Those that every part asks."""

FAR: Final = 0.05
"""Seconds that a far endpoint is away."""


@dataclass(frozen=True, slots=True)
class PublicGraph:
    """A graph of other people that some parts ask.

    Attributes:
        file: Its file in `../shared/data`.
        source: What it was made from, with the licence.
        sha256: The checksum of the file.
    """

    file: str
    source: str
    sha256: str


_FILES: Final = {
    "medlit": PublicGraph(
        "medlit.ttl.gz",
        "36 papers of the graph of https://github.com/wware/kgraph, MIT",
        "dd8fd426aa6039fe30e93284636fb913c36c7ab8df958132bd83bc3eeb741a69",
    ),
    "codex-m": PublicGraph(
        "codex-m.nt.gz",
        "CoDEx-M of https://github.com/tsafavi/codex as RDF, MIT",
        "cd4d9baf3a274c783e064ba3a3a1276d83ce1ca64203044cff5d98400719833e",
    ),
}


@dataclass(frozen=True, slots=True)
class Site:
    """One graph on one engine.

    Attributes:
        engine: The engine.
        graph: The graph's name; for a generated one the number of its triples.
        near: The URL of the query endpoint.
        far: The same endpoint, every request a fixed time later.
        named: The named graphs that are asked; none where it is the endpoint's default graph.
    """

    engine: EngineName
    graph: str
    near: str
    far: str
    named: tuple[str, ...] = ()


class Sites:
    """All sites of one run; a context manager."""

    def __init__(self) -> None:
        self._servers = ExitStack()
        self._known: dict[tuple[EngineName, str], Site] = {}
        self._fuseki: FusekiServer | None = None

    def __enter__(self) -> Self:
        """Make the folder for what the servers write."""
        self._folder = Path(self._servers.enter_context(tempfile.TemporaryDirectory(prefix="bench-")))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stop all servers."""
        self._servers.close()

    def at(self, engine: EngineName, graph: str) -> Site:
        """Return a site, its server started.

        Raises:
            ServerUnavailable: This machine has no such server, or lacks the graph.
        """
        site = self._known.get((engine, graph))
        if site is None:
            url = self._started(engine, graph)
            port = urlsplit(url).port or 0
            far = self._servers.enter_context(delayed(port, FAR))
            named = (_named(graph),) if engine == "virtuoso" else ()
            site = Site(engine, graph, url, url.replace(f":{port}/", f":{far}/"), named)
            self._known[engine, graph] = site
        return site

    def _started(self, engine: EngineName, graph: str) -> str:
        if engine == "fuseki":
            if self._fuseki is None:
                files = {name: [graph_file(name)] for name in _FILES}
                # As an operator runs it: what is measured is no short run.
                server = running_fuseki(files, workdir=self._folder, java_options=())
                self._fuseki = self._servers.enter_context(server)
            return self._fuseki.endpoint(graph)
        if engine == "virtuoso":
            named = {_named(graph): [graph_file(graph)]}
            return self._servers.enter_context(running_virtuoso(named, workdir=self._folder)).endpoint
        if graph.isdigit():
            return self._servers.enter_context(generated_on_oxigraph(int(graph), self._folder))
        place = self._folder / graph
        place.mkdir()
        return self._servers.enter_context(running_oxigraph([graph_file(graph)], workdir=place)).endpoint


def _named(graph: str) -> str:
    """Return the IRI of a graph at an engine whose default graph has triples of its own."""
    return f"urn:graph:{graph}"


def graph_file(graph: str) -> Path:
    """Return the file of a reference graph.

    Raises:
        ServerUnavailable: It is not on this machine.
    """
    public = _FILES[graph]
    path = shared_data_or_none(public.file)
    if path is None:
        raise ServerUnavailable(
            f"needs the public graph ../shared/data/{public.file} ({public.source}; SHA-256 {public.sha256})"
        )
    return path


@contextmanager
def generated_on_oxigraph(
    count: int, workdir: Path, lines_of: Callable[[int], Iterator[str]] = graphs.triples
) -> Iterator[str]:
    """Serve a generated graph with Oxigraph; the loaded database stays for the next run.

    Args:
        count: Its size.
        workdir: Where the server's log goes.
        lines_of: What generates a graph of a size, as lines of N-Triples.
    """
    binary = find_oxigraph()
    database = _loaded(binary, count, lines_of)
    port = free_port()
    url = f"http://{HOST}:{port}/query"
    with running(
        [binary, "serve-read-only", "--location", database, "--bind", f"{HOST}:{port}"],
        ready_url=f"{url}?query=ASK%7B%7D",
        log=workdir / f"generated-{lines_of.__name__}-{count}.log",
        cwd=workdir,
    ):
        yield url


def _loaded(binary: Path, count: int, lines_of: Callable[[int], Iterator[str]]) -> Path:
    # A database is made by the generator's code, by the size and by the binary that reads it.
    parts = [Path(graphs.__file__).read_bytes(), str(count).encode(), str(binary.stat().st_size).encode()]
    key = hashlib.sha256(b"\n".join(parts)).hexdigest()[:24]
    name = f"oxigraph-{lines_of.__name__}-{count}"
    database = CACHE / "data" / f"{name}-{key}"
    with locked(CACHE / "data", name):
        if not database.exists():
            sys.stderr.write(f"Loading {count:,} generated {lines_of.__name__}, once.\n")
            for old in (CACHE / "data").glob(f"{name}-*/"):
                shutil.rmtree(old)
            with tempfile.TemporaryDirectory(dir=CACHE / "data", prefix="load-") as scratch:
                _load(binary, lines_of(count), Path(scratch) / "database")
                (Path(scratch) / "database").rename(database)
    return database


def _load(binary: Path, lines: Iterator[str], folder: Path) -> None:
    """Stream a generated graph into the loader, so that it is never a file."""
    # The binary found above, on a stream of our own.
    with subprocess.Popen(  # noqa: S603
        [binary, "load", "--location", folder, "--format", "nt", "--non-atomic"],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        encoding="utf-8",
    ) as process:
        assert process.stdin is not None
        assert process.stderr is not None
        process.stdin.writelines(lines)
        process.stdin.close()
        said = process.stderr.read()
    if process.returncode != 0:
        raise OxigraphLoadError(said.strip())
