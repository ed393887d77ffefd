"""What drawn questions are asked of: the engines of the tests, files as a user opens them, and databases."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final, Literal, get_args

from gateway.api import open_gateway
from gateway.tools.gateway import Gateway
from tests.columns import Column, ColumnName, column
from tests.drawn.questions import profile_for
from tests.graphs import asserted_files
from tests.neo4j.database import Neo4jColumn, address_at, own_database
from tests.postgres.database import PostgresColumn, running_database
from tests.postgres.linked_files import linked

EngineName = Literal["files", "postgres", "neo4j"] | ColumnName
"""`files` is the engine of this process as a user opens it: from the files, with the label index."""

ENGINES: Final[Sequence[EngineName]] = ("files", *get_args(ColumnName), "postgres", "neo4j")

_IN_DATABASES: Final = ("names", "random", "medical", "films", "movies", "medlit")
"""Graphs that a database can hold: of another shape than Wikidata's, and with what states evidence left out."""


@contextmanager
def engine_with(name: EngineName, folder: Path, graphs: Sequence[str]) -> Iterator[Column]:
    """Start an engine, or a database, with some of the graphs, and stop it again."""
    if name == "postgres":
        with running_database(folder) as database:
            yield PostgresColumn("in-process", _without_blank_nodes(folder, graphs), database=database)
    elif name == "neo4j":
        files = _without_blank_nodes(folder, graphs)
        with own_database(folder, files) as server:
            yield Neo4jColumn("in-process", files, address=address_at(server.port))
    else:
        with column("in-process" if name == "files" else name, folder, graphs) as there:
            yield there


def opened(name: EngineName, there: Column, graph: str) -> Gateway:
    """Open a gateway over a graph."""
    if name == "files":
        return open_gateway(*there.files[graph], profile=profile_for(graph))
    return there.open(graph, profile_for(graph))


def _without_blank_nodes(folder: Path, graphs: Sequence[str]) -> dict[str, list[Path]]:
    """Write the graphs without what no table can hold: blank nodes, and nodes that state evidence."""
    files = asserted_files(folder)
    plain = folder / "plain"
    plain.mkdir()
    return {
        graph: [linked(files[graph][0], plain / f"{graph}.nt")]
        for graph in graphs
        if graph in _IN_DATABASES and graph in files
    }
