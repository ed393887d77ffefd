"""A Fuseki with a generated graph of millions of triples, loaded offline and kept for the next run."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from benchmarks import graphs
from tests.servers.cache import CACHE, locked
from tests.servers.java import find_java
from tests.servers.loopback import HOST, free_port
from tests.servers.maven import FUSEKI, runnable_jar
from tests.servers.process import running

_VERSION: Final = "6.2.0"


@contextmanager
def generated_on_fuseki(
    count: int, workdir: Path, lines_of: Callable[[int], Iterator[str]] = graphs.triples
) -> Iterator[str]:
    """Serve a generated graph with Fuseki and TDB2, without a text index; gives the URL of the query endpoint.

    Args:
        count: Its size.
        workdir: Where the server's log goes.
        lines_of: What generates a graph of a size, as lines of N-Triples.

    Raises:
        ServerUnavailable: This machine has no Java new enough, or cannot get the jar.
    """
    release = FUSEKI[_VERSION]
    java = find_java(release.java)
    jar = runnable_jar(release)
    program: list[str | Path] = [java.path, "-Xmx3g", *java.quiet_options, "-cp", jar]
    port = free_port()
    serving = ["org.apache.jena.fuseki.main.cmds.FusekiMainCmd", "--localhost", "--port", str(port), "--ping"]
    with running(
        [*program, *serving, "--tdb2", "--loc", _loaded(program, count, lines_of), "/generated"],
        ready_url=f"http://{HOST}:{port}/$/ping",
        log=workdir / f"fuseki-{count}.log",
        cwd=workdir,
    ):
        yield f"http://{HOST}:{port}/generated/query"


def _loaded(program: list[str | Path], count: int, lines_of: Callable[[int], Iterator[str]]) -> Path:
    key = hashlib.sha256(b"\n".join([Path(graphs.__file__).read_bytes(), _VERSION.encode()])).hexdigest()[:24]
    name = f"fuseki-{lines_of.__name__}-{count}"
    database = CACHE / "data" / f"{name}-{key}"
    with locked(CACHE / "data", name):
        if not database.exists():
            sys.stderr.write(f"Loading {count:,} generated {lines_of.__name__} into Fuseki, once: some minutes.\n")
            for old in (CACHE / "data").glob(f"{name}-*/"):
                shutil.rmtree(old)
            with tempfile.TemporaryDirectory(dir=CACHE / "data", prefix="load-") as scratch:
                file, folder = Path(scratch) / "graph.nt", Path(scratch) / "database"
                with file.open("w", encoding="utf-8") as lines:
                    lines.writelines(lines_of(count))
                # Java and the jar that were found above, on a file of our own.
                subprocess.run(  # noqa: S603
                    [*program, "tdb2.tdbloader", "--loader=phased", "--loc", folder, file],
                    check=True,
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                )
                folder.rename(database)
    return database
