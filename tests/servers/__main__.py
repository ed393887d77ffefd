"""`python -m tests.servers`: fetch what the server tests need, or serve a graph with Fuseki."""

import argparse
import signal
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from tests.servers.fuseki import running_fuseki
from tests.servers.java import find_java
from tests.servers.loaded import LoadError
from tests.servers.maven import BLAZEGRAPH, FUSEKI, JETTY, RDF4J, ChecksumMismatchError, runnable_jar
from tests.servers.maven_libraries import NEO4J, fetched
from tests.servers.oxigraph import find_oxigraph
from tests.servers.process import ServerStartError
from tests.servers.unavailable import ServerUnavailable
from tests.servers.virtuoso import find_virtuoso
from tests.site.build import LOCK
from tests.suites.packages import CONFORMANCE, FUZZER, python_folder, script

_JARS = (*FUSEKI.values(), BLAZEGRAPH, RDF4J, JETTY)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one of the two commands and return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.servers", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("install", help="fetch the jars, Virtuoso and the suites for MCP; check Java and Oxigraph")
    fuseki = commands.add_parser("fuseki", help="load graph files and serve them until Ctrl-C")
    fuseki.add_argument("--graph", type=Path, action="append", required=True, metavar="FILE")
    fuseki.add_argument("--port", type=int, default=3030)
    fuseki.add_argument("--name", default="ds", help="the dataset's name in the URL")
    options = parser.parse_args(arguments)
    if options.command == "install":
        return install()
    missing = [str(graph) for graph in options.graph if not graph.is_file()]
    if missing:
        parser.error(f"no such file: {', '.join(missing)}")
    return serve(options.graph, port=options.port, name=options.name)


def install() -> int:
    """Fetch and check everything, one line each; return 1 when something is missing."""
    checks: list[tuple[str, Callable[[], object]]] = [
        *((release.artifact, lambda release=release: runnable_jar(release).name) for release in _JARS),
        *((f"Java for {release.file_name}", lambda release=release: _java(release.java)) for release in _JARS),
        (NEO4J.name, lambda: fetched(NEO4J).name),
        ("Oxigraph", lambda: find_oxigraph().name),
        ("Virtuoso", lambda: find_virtuoso().server.name),
        ("MCP suites", lambda: script(CONFORMANCE)[0].name),
        ("mcp-fuzzer", lambda: python_folder(FUZZER).name),
        ("Zensical", lambda: python_folder(LOCK).name),
    ]
    found = [_check(subject, check) for subject, check in checks]
    return 0 if all(found) else 1


def serve(graphs: Sequence[Path], *, port: int, name: str) -> int:
    """Serve the files as one dataset until Ctrl-C or a termination signal."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        with (
            tempfile.TemporaryDirectory(prefix="fuseki-") as folder,
            running_fuseki({name: graphs}, port=port, workdir=Path(folder), java_options=()) as server,
        ):
            endpoint = server.endpoint(name)
            _say(f"Query endpoint: {endpoint}")
            _say(f"bfsql-gateway serve --endpoint {endpoint} --profile fuseki")
            _say("Ctrl-C ends it.")
            return server.process.wait()
    except KeyboardInterrupt:
        return 0
    except (ServerUnavailable, ServerStartError, ChecksumMismatchError, LoadError, ValueError) as error:
        sys.stderr.write(f"{error}\n")
        return 1


def _java(at_least: int) -> str:
    java = find_java(at_least)
    return f"Java {java.major} at {java.path}"


def _check(subject: str, check: Callable[[], object]) -> bool:
    try:
        _say(f"ok       {subject}: {check()}")
    except (ServerUnavailable, ChecksumMismatchError) as error:
        _say(f"MISSING  {subject}: {error}")
        return False
    return True


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
