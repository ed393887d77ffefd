"""Jena Fuseki: one read-only server for any number of datasets."""

import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.servers.command import fuseki_command
from tests.servers.database import configuration, place_databases
from tests.servers.java import SHORT_RUN
from tests.servers.loopback import HOST, free_port
from tests.servers.process import Running, running


@dataclass(frozen=True, slots=True)
class FusekiServer:
    """A Fuseki that answers."""

    version: str
    port: int
    process: Running

    def endpoint(self, name: str) -> str:
        """Return the URL of a dataset's query endpoint."""
        return f"http://{HOST}:{self.port}/{name}/sparql"


@contextmanager
def running_fuseki(
    datasets: Mapping[str, Sequence[Path]],
    *,
    version: str = "6.2.0",
    port: int | None = None,
    workdir: Path,
    java_options: Sequence[str] = SHORT_RUN,
) -> Iterator[FusekiServer]:
    """Serve graph files, each list of them as one dataset, configured by deploy/fuseki.

    What is loaded stays under `.servers/data/` by its content, so a second start loads nothing.
    The working folder keeps the configuration and the log; the databases leave it with the server.

    Args:
        datasets: for each dataset's name its files: .ttl, .nt, .rdf, .jsonld, and with named graphs .trig and .nq;
            gzipped or not.
        version: 6.2.0 (Java 21) or 5.6.0 (Java 17).
        port: on loopback; a free one when absent.
        workdir: a folder for the server's own files.
        java_options: how Java compiles and collects; none for a server that runs for long, or is measured.

    Raises:
        ServerUnavailable: this machine has no Java new enough, or cannot get the jar.
        ChecksumMismatchError: the jar is not the pinned one.
        ServerStartError: the server died at its start.
        LoadError: a file is no graph file, or Fuseki refused it.
    """
    port = free_port() if port is None else port
    config = workdir / f"fuseki-{port}.ttl"
    folder = workdir / f"fuseki-{port}"
    command = fuseki_command(version, port=port, config=config, java_options=java_options)
    try:
        placed = place_databases(datasets, version=version, folder=folder)
        config.write_text(configuration(placed), encoding="utf-8")
        with running(
            command,
            ready_url=f"http://{HOST}:{port}/$/ping",
            log=workdir / f"fuseki-{port}.log",
            cwd=workdir,
        ) as process:
            yield FusekiServer(version, port, process)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


_IN_MEMORY = """\
PREFIX fuseki: <http://jena.apache.org/fuseki#>
PREFIX ja:     <http://jena.hpl.hp.com/2005/11/Assembler#>
"""


def _service_in_memory(name: str, files: Sequence[Path]) -> str:
    data = ", ".join(f"<{file.resolve().as_uri()}>" for file in files)
    return (
        f'[] a fuseki:Service ; fuseki:name "{name}" ;\n'
        '  fuseki:endpoint [ fuseki:operation fuseki:query ; fuseki:name "sparql" ] ;\n'
        f"  fuseki:dataset [ a ja:MemoryDataset ; ja:data {data} ] .\n"
    )


@contextmanager
def running_fuseki_in_memory(
    datasets: Mapping[str, Sequence[Path]], *, version: str = "6.2.0", workdir: Path
) -> Iterator[FusekiServer]:
    """Serve graph files from memory, each list of them as one dataset: at each start its blank nodes are others.

    Args:
        datasets: for each dataset's name its files.
        version: 6.2.0 (Java 21) or 5.6.0 (Java 17).
        workdir: a folder for the server's own files.

    Raises:
        ServerUnavailable: this machine has no Java new enough, or cannot get the jar.
        ServerStartError: the server died at its start.
    """
    port = free_port()
    config = workdir / f"fuseki-{port}.ttl"
    config.write_text(_IN_MEMORY + "".join(_service_in_memory(*one) for one in datasets.items()), encoding="utf-8")
    command = fuseki_command(version, port=port, config=config)
    log = workdir / f"fuseki-{port}.log"
    with running(command, ready_url=f"http://{HOST}:{port}/$/ping", log=log, cwd=workdir) as process:
        yield FusekiServer(version, port, process)
