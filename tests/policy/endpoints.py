"""Serves drawn graphs with an engine: each whole, and what a policy leaves of it."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal

from tests.policy.drawn_graph import DrawnGraph, drawn_graph
from tests.servers.fuseki import running_fuseki
from tests.servers.oxigraph import running_oxigraph

PolicyEngine = Literal["oxigraph", "fuseki"]
"""An engine that is shown to keep a policy."""


@dataclass(frozen=True)
class Endpoints:
    """A graph and its endpoints.

    Attributes:
        graph: The graph.
        whole: The endpoint that has all of it.
        left: The endpoint that has what a policy leaves of it.
    """

    graph: DrawnGraph
    whole: str
    left: str


@contextmanager
def served(engine: PolicyEngine, seeds: Sequence[int]) -> Iterator[list[Endpoints]]:
    """Serve the graphs of some seeds."""
    graphs = {seed: drawn_graph(seed) for seed in seeds}
    with TemporaryDirectory() as folder, ExitStack() as stack:
        files: dict[str, Path] = {}
        for seed, graph in graphs.items():
            place = Path(folder) / str(seed)
            place.mkdir()
            files[f"whole{seed}"], files[f"left{seed}"] = graph.write_for_endpoints(place)
        urls = stack.enter_context(started(engine, files, Path(folder)))
        yield [Endpoints(graph, urls[f"whole{seed}"], urls[f"left{seed}"]) for seed, graph in graphs.items()]


@contextmanager
def started(engine: PolicyEngine, files: Mapping[str, Path], folder: Path) -> Iterator[dict[str, str]]:
    """Give the URLs of endpoints that serve one file each; what the servers write goes to a folder."""
    if engine == "fuseki":
        with running_fuseki({name: [file] for name, file in files.items()}, workdir=folder) as server:
            yield {name: server.endpoint(name) for name in files}
        return
    with ExitStack() as stack:
        yield {
            name: stack.enter_context(running_oxigraph([file], workdir=file.parent)).endpoint
            for name, file in files.items()
        }
