"""Which server each engine is, and how its graphs are asked for there; `python -m tests.servers.engines` keeps one.

A list of the tests starts some fifty of these processes. So nothing is imported here but what starts servers.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal

from tests.servers.blazegraph import running_blazegraph
from tests.servers.fuseki import running_fuseki
from tests.servers.oxigraph import running_oxigraph
from tests.servers.rdf4j import running_rdf4j
from tests.servers.shared import keep, shared
from tests.servers.virtuoso import running_virtuoso

if TYPE_CHECKING:
    from gateway.settings.profile import Profile

ColumnName = Literal["in-process", "oxigraph", "fuseki", "virtuoso", "blazegraph", "rdf4j"]

Files = Mapping[str, Sequence[Path]]
"""The files of each graph, by the graph's name."""

_VIRTUOSO_ROWS: Final = 9_000
"""Below the row cap of 10,000 that Debian's Virtuoso has."""


@dataclass(frozen=True)
class Asked:
    """How a graph is asked for at an engine.

    Attributes:
        endpoint: The URL.
        graphs: The named graphs that together are the graph; none for the default graph.
        query_rows: Rows that one query may return at most; None where the engine has no cap.
    """

    endpoint: str
    graphs: tuple[str, ...] = ()
    query_rows: int | None = None

    def settle(self, profile: Profile) -> Profile:
        """Return a profile with what this engine needs."""
        update: dict[str, object] = {}
        if self.graphs:
            update["endpoint"] = profile.endpoint.model_copy(update={"graphs": self.graphs})
        if self.query_rows is not None:
            rows = min(profile.limits.query_rows, self.query_rows)
            update["limits"] = profile.limits.model_copy(update={"query_rows": rows})
        return profile.model_copy(update=update)


@contextmanager
def started(name: ColumnName, files: Files, workdir: Path, *, text_index: bool = False) -> Iterator[dict[str, Asked]]:
    """Start a server with graphs, and give how each is asked for there."""
    if name == "fuseki":
        with running_fuseki(files, workdir=workdir) as fuseki:
            yield {graph: Asked(fuseki.endpoint(graph)) for graph in files}
    elif name == "blazegraph":
        with running_blazegraph(files, workdir=workdir) as blazegraph:
            yield {graph: Asked(blazegraph.endpoint(graph)) for graph in files}
    elif name == "rdf4j":
        with running_rdf4j(files, workdir=workdir) as rdf4j:
            yield {graph: Asked(rdf4j.endpoint(graph)) for graph in files}
    elif name == "virtuoso":
        named = {_named(graph): paths for graph, paths in files.items()}
        with running_virtuoso(named, workdir=workdir, text_index=text_index) as virtuoso:
            yield {graph: Asked(virtuoso.endpoint, (_named(graph),), _VIRTUOSO_ROWS) for graph in files}
    else:
        ((graph, paths),) = files.items()
        # The server may have ended here before, when nobody used it for a while.
        place = Path(tempfile.mkdtemp(prefix=f"{graph}-", dir=workdir))
        with running_oxigraph(paths, workdir=place) as oxigraph:
            yield {graph: Asked(oxigraph.endpoint)}


def _named(graph: str) -> str:
    return f"urn:graph:{graph}"


@contextmanager
def shared_server(
    name: ColumnName, folder: Path, files: Files, *, text_index: bool = False
) -> Iterator[dict[str, Asked]]:
    """Use a server with graphs, and give how each is asked for there.

    Args:
        name: The engine.
        folder: Of the server, the same for all processes that share it.
        files: The files of each graph; those of the process that asks first are loaded.
        text_index: Whether Virtuoso has a text index; Fuseki and Blazegraph always have.
    """
    request = json.dumps({"name": name, "files": as_text(files), "text_index": text_index})
    with shared(folder, [sys.executable, "-m", __name__, request]) as said:
        yield {graph: Asked(**{**asked, "graphs": tuple(asked["graphs"])}) for graph, asked in said.items()}


def as_text(files: Files) -> dict[str, list[str]]:
    """Return files as JSON has them."""
    return {graph: [*map(str, paths)] for graph, paths in files.items()}


def as_files(texts: Mapping[str, Sequence[str]]) -> Files:
    """Return files of which JSON has the paths."""
    return {graph: [*map(Path, paths)] for graph, paths in texts.items()}


@contextmanager
def _server(
    folder: Path, name: ColumnName, files: Mapping[str, Sequence[str]], *, text_index: bool
) -> Iterator[object]:
    with started(name, as_files(files), folder, text_index=text_index) as asked:
        yield {graph: asdict(one) for graph, one in asked.items()}


if __name__ == "__main__":
    place = Path(sys.argv[2])
    keep(place, _server(place, **json.loads(sys.argv[1])))
