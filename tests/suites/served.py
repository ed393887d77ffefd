"""The gateway as a process of its own, which the suites talk to."""

import http.client
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.graphs import fixture
from tests.servers.loopback import HOST, free_port
from tests.servers.process import running
from tests.shared_data import shared_data_or_none


def medlit() -> Path:
    """Return the file of medlit, or where that is absent of the demo graph."""
    return shared_data_or_none("medlit.ttl.gz") or fixture("medical")


def command(graph: Path, *options: str) -> list[str]:
    """Return the command that serves a graph, over stdio without options."""
    return [sys.executable, "-m", "gateway", "serve", "--quiet", "--graph", str(graph), *options]


@contextmanager
def served_over_http(folder: Path, graph: Path) -> Iterator[str]:
    """Serve a graph over HTTP while the block runs, and return its URL; the log is in the folder."""
    port = free_port()
    address = f"http://{HOST}:{port}"
    with running(
        command(graph, "--http", "--port", str(port)),
        # The explorer page, which needs no graph.
        ready_url=f"{address}/",
        ready_status=http.client.OK,
        log=folder / "gateway.log",
        cwd=folder,
    ):
        yield f"{address}/mcp"
