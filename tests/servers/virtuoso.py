"""Virtuoso Open Source 7: one read-only server, a named graph for each list of files.

Debian's package as it is, with its row cap. An empty Virtuoso has triples of its own outside of named graphs
(docs/notes/endpoints.md, "What an empty Virtuoso holds"), so a graph is asked for by its IRI, as
`default-graph-uri`.
"""

import hashlib
import shutil
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from string import Template
from typing import Final

from tests.servers.cache import copy_sparsely, fingerprint, kept, private_copy
from tests.servers.debian import library_folders, unpacked
from tests.servers.loaded import LoadError, check_loaded, graph_format
from tests.servers.loopback import HOST, free_port
from tests.servers.process import Running, running

PACKAGE: Final = "virtuoso-opensource-7-bin"
TEMPLATE: Final = Path(__file__).with_name("virtuoso.ini.template")

_LOAD_TIMEOUT_S: Final = 600.0
_INDEXING: Final = (
    "DB.DBA.RDF_OBJ_FT_RULE_ADD(null, null, 'All')",
    "DB.DBA.RDF_OBJ_FT_RECOVER()",
    "DB.DBA.VT_INC_INDEX_DB_DBA_RDF_OBJ()",
)
"""Puts all texts into the index; one that is filled by loading is filled later than that."""


@dataclass(frozen=True, slots=True)
class VirtuosoServer:
    """A Virtuoso that answers."""

    port: int
    process: Running

    @property
    def endpoint(self) -> str:
        """The URL of the query endpoint, the same for every graph."""
        return f"http://{HOST}:{self.port}/sparql"


@dataclass(frozen=True, slots=True)
class Programs:
    """The programs of a Virtuoso.

    Attributes:
        server: The server.
        client: The SQL client, which is also how files are loaded.
        libraries: Folders of shared libraries that are not installed on this machine.
    """

    server: Path
    client: Path
    libraries: tuple[Path, ...] = ()

    def command(self, program: Path, *arguments: str | Path) -> list[str | Path]:
        """Return a command line of one of the programs."""
        found = ":".join(map(str, self.libraries))
        line: list[str | Path] = ["env", f"LD_LIBRARY_PATH={found}"] if found else []
        return [*line, program, *arguments]


@cache
def find_virtuoso() -> Programs:
    """Return an installed Virtuoso, or Debian's, unpacked into the cache.

    Raises:
        ServerUnavailable: There is none to be had.
    """
    server, client = shutil.which("virtuoso-t"), shutil.which("isql-vt")
    if server and client:
        return Programs(Path(server), Path(client))
    root = unpacked(PACKAGE)
    return Programs(root / "usr/bin/virtuoso-t", root / "usr/bin/isql-vt", tuple(library_folders(root)))


@contextmanager
def running_virtuoso(
    graphs: Mapping[str, Sequence[Path]], *, workdir: Path, port: int | None = None, text_index: bool = False
) -> Iterator[VirtuosoServer]:
    """Serve graph files, each list of them as one named graph.

    What is loaded stays under `.servers/data/` by its content, so a second start loads nothing.

    Args:
        graphs: For the IRI of each graph its files: .ttl and .nt of RDF 1.1, gzipped or not.
        workdir: A folder for the server's own files; the log stays in it.
        port: On loopback; a free one when absent.
        text_index: Whether all texts are in an index, for `bif:contains`.

    Raises:
        ServerUnavailable: This machine has no Virtuoso and cannot get one.
        ServerStartError: The server died at its start.
        LoadError: A file is no graph file, or Virtuoso refused it or a part of it.
    """
    programs = find_virtuoso()
    port = free_port() if port is None else port
    with programs.server.open("rb") as binary:
        loader = hashlib.file_digest(binary, "sha256").digest() + Path(__file__).read_bytes() + TEMPLATE.read_bytes()
    # A new database takes the server 8 s to set up, so that is done once.
    empty = kept(f"virtuoso-{fingerprint(loader, {})}", lambda folder: _load(programs, {}, folder))
    kind = "virtuoso-text" if text_index else "virtuoso"
    after = _INDEXING if text_index else ()
    database = kept(
        f"{kind}-{fingerprint(loader, graphs)}", lambda folder: _load(programs, graphs, folder, empty, after)
    )
    folder, log = workdir / f"virtuoso-{port}", workdir / f"virtuoso-{port}.log"
    with private_copy(database, folder), _served(programs, folder, port=port, log=log) as (process, _):
        yield VirtuosoServer(port, process)


@contextmanager
def _served(
    programs: Programs, folder: Path, *, port: int, log: Path, readable: Sequence[Path] = ()
) -> Iterator[tuple[Running, int]]:
    """Run the server on the database of a folder, or on a new one; give its process and the port of its SQL."""
    sql_port = free_port()
    template = Template(TEMPLATE.read_text(encoding="utf-8"))
    values = {"host": HOST, "port": port, "sql_port": sql_port, "readable": ", ".join(map(str, readable)) or "."}
    (folder / "virtuoso.ini").write_text(template.substitute(values), encoding="utf-8")
    command = programs.command(programs.server, "+foreground", "+configfile", "virtuoso.ini")
    ready = f"http://{HOST}:{port}/sparql?query=ASK%7B%7D"
    with running(command, ready_url=ready, log=log, cwd=folder) as process:
        yield process, sql_port


def _load(
    programs: Programs,
    graphs: Mapping[str, Sequence[Path]],
    target: Path,
    start: Path | None = None,
    after: Sequence[str] = (),
) -> None:
    """Load files into a new database, or into a copy of the one to start from, and run statements after that."""
    folder = target.with_name("loading")
    folder.mkdir()
    if start is not None:
        copy_sparsely(start, folder)
    readable = sorted({file.resolve().parent for files in graphs.values() for file in files})
    port = free_port()
    with _served(programs, folder, port=port, log=target.with_name("load.log"), readable=readable) as (_, sql_port):
        for iri, files in graphs.items():
            for file in files:
                graph_format(file)
                opened = "gz_file_open" if file.suffix == ".gz" else "file_open"
                statement = f"DB.DBA.TTLP({opened}({_text(file.resolve())}), '', {_text(iri)}, 0)"
                _execute(programs, sql_port, f"log_enable(2); {statement}", file.name)
            check_loaded(iri, files, f"http://{HOST}:{port}/sparql", iri)
        for statement in (*after, "checkpoint"):
            _execute(programs, sql_port, statement, "the database")
    (folder / "virtuoso.db").rename(target / "virtuoso.db")


def _text(value: object) -> str:
    escaped = str(value).replace("'", "''")
    return f"'{escaped}'"


def _execute(programs: Programs, sql_port: int, statement: str, subject: str) -> None:
    # The user and password that a new Virtuoso has; it listens on loopback only, and is gone when it has loaded.
    login = (f"{HOST}:{sql_port}", "dba", "dba", "VERBOSE=OFF", "BANNER=OFF", "PROMPT=OFF", "ERRORS=STDOUT")
    # The client of the package, on a statement put together above.
    done = subprocess.run(  # noqa: S603
        programs.command(programs.client, *login, f"EXEC={statement}"),
        capture_output=True,
        text=True,
        timeout=_LOAD_TIMEOUT_S,
        check=False,
    )
    if done.returncode != 0 or "*** Error" in done.stdout:
        raise LoadError(f"{subject}: {(done.stdout + done.stderr).strip()}")
